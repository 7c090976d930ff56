"""The protocol files: complete, true to the papers, and quick where they say so."""

from inspect import signature
from types import SimpleNamespace

import numpy as np
import pytest

from demurk.benchmark import published_results
from demurk.benchmark.engine._protocol import (
    FOLDER,
    kind_function,
    list_protocols,
    load_protocol,
)
from demurk.benchmark.report._published import published_value
from demurk.benchmark.statistics import wilcoxon_scores
from demurk.benchmark.tasks._common import make_estimator

NAMES = list_protocols()
EXPECTED = {
    *("nmlsdr-table1", "nmlsdr-tables", "nmlsdr-parameters", "nmlsdr-case-study"),
    *("cenda-controlled", "cenda-variants", "cenda-real", "cenda-sensitivity"),
    "cenda-slashdot",
    *("pml-lcom-tables", "pml-lcom-own", "pml-lcom-transductive"),
    *("pml-lcom-sensitivity", "ssdrmc-figure3"),
    *("ssdrmc-figure4", "sleml-figures"),
}
BUILT_IN = {"toy", "digits", "synthetic", "torus", "clusdat", "health_records"}


def test_every_table_has_its_file():
    assert set(NAMES) >= EXPECTED


@pytest.mark.parametrize("name", NAMES)
def test_says_what_it_is_about(name):
    protocol = load_protocol(name)
    assert protocol.title and protocol.claim.endswith(".")
    assert "\n" not in protocol.claim
    assert all(reason for reason in protocol.not_run.values())
    assert len(protocol.tasks()) == (
        len(protocol.data_sets)
        * max(len(protocol.settings), 1)
        * protocol.seeds
        * len(protocol.methods)
    )


@pytest.mark.parametrize("name", NAMES)
def test_methods_can_be_made(name):
    for about in load_protocol(name).methods.values():
        for key in ("estimator", "reducer", "like", "classifier"):
            if key in about and about[key] != "trivial":
                model = make_estimator(
                    about | {"params": without_words(about.get("params", {}))},
                    key=key,
                    n_labels=4,
                )
                assert hasattr(model, "fit")
        for parameter in about.get("grid", {}):
            assert parameter in make_estimator(about, n_labels=4).get_params()
        unknown = set(about) - KEYS
        assert not unknown


KEYS = {
    *("estimator", "params", "grid", "cheaper", "group", "needs"),
    *("reducer", "reducer_params", "like", "classifier", "classifier_params"),
    *("true_labels", "cut", "variance", "max_labels", "max_samples", "features"),
    *("reranked", "random_every", "learns", "least_per_row"),
}


def without_words(params):
    """Parameters without the word that the embedding kind alone replaces."""
    return {name: value for name, value in params.items() if value != "paper"}


@pytest.mark.parametrize("name", NAMES)
def test_options_are_those_of_the_kind(name):
    protocol = load_protocol(name)
    known = signature(kind_function(protocol.kind)).parameters
    for task in protocol.tasks():
        assert set(task.arguments) <= set(known)


@pytest.mark.parametrize("name", NAMES)
def test_a_user_would_pick_is_in_it(name):
    protocol = load_protocol(name)
    groups = {about.get("group", "paper") for about in protocol.methods.values()}
    predicts = not protocol.kind.endswith(".embedding")
    assert ("alternative" in groups) == predicts
    if predicts:
        assert any(method.startswith("Random forest") for method in protocol.methods)


@pytest.mark.parametrize("name", NAMES)
def test_quick_runs_on_built_in_data(name, monkeypatch):
    monkeypatch.setenv("DEMURK_DATA", "/nowhere")
    protocol = load_protocol(name, quick=True)
    function = kind_function(protocol.kind)
    tasks = protocol.tasks()
    assert {task.arguments["data_set"] for task in tasks} <= BUILT_IN
    assert protocol.seeds == 1
    # The first method and the last; the engine's own test runs all of them.
    for task in (tasks[0], tasks[-1]):
        report = function(**task.arguments)
        if "skipped" not in report:
            assert report[protocol.measures[0]] >= 0
            assert all(np.isfinite(value) for value in report.values())


def value(name, *place):
    return published_value(load_protocol(name), *place)


def test_printed_numbers_are_found():
    assert value("nmlsdr-table1", "toy", "", "NMLSDR*", "MiF1") == 0.859
    assert value("nmlsdr-tables", "scene", "", "MVMD", "RL'") == 0.9
    assert value("nmlsdr-case-study", "health_records", "", "CCA", "AP") == 0.866
    place = "slashdot", "r=1", "PL-kNN"
    assert value("cenda-slashdot", *place, "accuracy") == 0.162
    place = "slashdot", "r=1, all rows", "SURE + CENDA"
    table = published_results("cenda")["table_3"]["values"]["1"]["SURE"]["CENDA"]
    assert value("cenda-slashdot", *place, "accuracy") == table["mean"][2]
    place = "lost", "0.99, all rows", "IPAL + DELIN"
    assert value("cenda-real", *place, "accuracy") == 0.822
    assert value("cenda-real", *place, "n_components") == 11
    coded = (*place[:2], "IPAL + DELIN, as coded")
    assert value("cenda-real", *coded, "accuracy") == 0.822
    assert value("cenda-real", "FG-NET", "0.9", "SURE", "accuracy") == 0.07
    place = "medical", "a=0.5", "PML-LCom"
    assert value("pml-lcom-tables", *place, "ranking loss") == 0.039
    assert value("pml-lcom-tables", *place, "seconds") == 3
    raw = (*place[:2], "PML-LCom, as printed, raw features")
    assert value("pml-lcom-tables", *raw, "ranking loss") == 0.039
    place = "YeastCC", "", "PML-LCom"
    assert value("pml-lcom-own", *place, "ranking loss") == 0.198
    assert value("pml-lcom-transductive", *place, "ranking loss") == 0.001


def test_where_nothing_is_printed():
    assert value("nmlsdr-table1", "toy", "", "Random forest", "HL'") is None
    assert value("nmlsdr-tables", "toy", "", "NMLSDR", "Cov'") is None
    assert value("nmlsdr-tables", "toy", "", "NMLSDR", "Cov'/C") == 0.849
    assert value("cenda-controlled", "digits", "r=1", "SURE", "accuracy") is None
    place = "delicious", "a=0.5", "PML-fp"
    assert value("pml-lcom-tables", *place, "ranking loss") is None
    assert value("pml-lcom-tables", *place, "one error") is None
    assert value("sleml-figures", "digits", "", "LE", "label agreement") is None
    # A part of the data is not what the paper ran.
    quick = load_protocol("nmlsdr-table1", quick=True)
    assert published_value(quick, "toy", "", "NMLSDR", "HL'") is None
    nothing = SimpleNamespace(paper=None, published={}, data_sets={})
    assert published_value(nothing, "toy", "", "NMLSDR", "HL'") is None


def test_every_paper_cell_of_a_protocol_is_printed():
    for name in ("nmlsdr-table1", "nmlsdr-tables", "nmlsdr-case-study"):
        protocol = load_protocol(name)
        for method, about in protocol.methods.items():
            printed = [
                published_value(protocol, data_set, "", method, measure)
                for data_set in protocol.data_sets
                for measure in protocol.measures
                if measure != "map agreement"
            ]
            assert (None not in printed) == (about.get("group") is None)


def test_figure_2_is_the_mean_of_the_printed_scores():
    paper = published_results("nmlsdr")
    printed = [paper["figure_2"][method] for method in paper["methods"]]
    rows = np.array(list(paper["wilcoxon"].values()))
    np.testing.assert_allclose(printed, rows.mean(axis=0), atol=0.005)
    # Recomputed from the printed cells, one score in ten is off by a half.
    tables = paper["tables_3_to_9"].values()
    scores = [wilcoxon_scores(list(table.values())) for table in tables]
    np.testing.assert_allclose(np.mean(scores, axis=0), printed, atol=0.3)


def test_shared_files_are_no_protocols():
    shared = {path.stem for path in (FOLDER / "shared").glob("*.toml")}
    assert shared and not shared & set(NAMES)
