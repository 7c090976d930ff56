"""The protocol of the PML-LCom paper, and its printed numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, issparse
from sklearn.metrics import coverage_error, label_ranking_average_precision_score

from demurk.benchmark import published_results
from demurk.benchmark.tasks._pml import (
    PMLData,
    measures,
    pml_choose,
    pml_data,
    pml_score,
    pml_split,
    pml_transductive,
)
from demurk.multilabel import MLkNN
from demurk.partial_multilabel import FPML, PMLLCom


@pytest.fixture
def data(rng):
    X = rng.normal(size=(200, 5)) + 3
    Y = (X[:, :4] + 0.5 * rng.normal(size=(200, 4)) > 3.5).astype(np.int8)
    return PMLData(X, Y, None, "made")


def test_split_adds_noise_to_the_training_part_only(data):
    split = pml_split(data, 3, amount=1)
    assert len(split.Y_test) == 60 and len(split.Y_train) == 140
    assert np.all(split.given >= split.Y_train)
    added = (split.given - split.Y_train).sum(axis=1)
    count = split.Y_train.sum(axis=1)
    assert_array_equal(added, np.minimum(count, 4 - count))
    # Test rows are true rows of the data, standardised with the training rows.
    assert_allclose(split.X_train.mean(axis=0), 0, atol=1e-12)
    assert np.abs(split.X_test.mean(axis=0)).max() > 1e-6
    again = pml_split(data, 3, amount=1)
    assert_array_equal(again.given, split.given)
    assert not np.array_equal(pml_split(data, 4, amount=1).Y_test, split.Y_test)


def test_sparse_features_stay_as_they_are(data):
    sparse = PMLData(csr_array(data.X), data.Y, None, "sparse")
    split = pml_split(sparse, 0, amount=1)
    assert issparse(split.X_train) and split.X_train.mean() > 2


def test_own_candidates_are_used(data):
    own = PMLData(data.X, data.Y, np.ones_like(data.Y), "own")
    assert pml_split(own, 0).given.all()
    with pytest.raises(ValueError, match="has candidates of its own"):
        pml_split(own, 0, amount=1)
    with pytest.raises(ValueError, match="has none"):
        pml_split(data, 0)


def test_measures_are_those_of_the_paper(rng):
    Y = (rng.uniform(size=(30, 6)) < 0.4).astype(int)
    Y[:, 0], Y[:, 1] = 1, 0
    scores = rng.normal(size=(30, 6))
    found = measures(Y, scores > 0, scores)
    assert_allclose(found["coverage"], (coverage_error(Y, scores) - 1) / 6)
    expected = label_ranking_average_precision_score(Y, scores)
    assert_allclose(found["average precision"], expected)
    assert_allclose(found["hamming loss"], np.mean((scores > 0) != Y))


@pytest.mark.parametrize(
    "model", [PMLLCom(random_state=0), MLkNN()], ids=["PMLLCom", "MLkNN"]
)
def test_scores(model, data):
    split = pml_split(data, 0, amount=1)
    report = pml_score(model, split)
    assert report["ranking loss"] < 0.4 and report["seconds"] > 0
    wrong = (split.given > split.Y_train).sum() / split.given.sum()
    assert_allclose(report["noise rate"], wrong)
    assert 0.5 < report["noise AUC"] <= 1


def test_trivial_score_is_beaten_only_among_candidates(data):
    split = pml_split(data, 0, amount=0.5)
    trivial, model = (
        pml_transductive(None, split),
        pml_transductive(FPML(random_state=0), split),
    )
    assert trivial["noise AUC"] == 0.5 < model["noise AUC"]
    assert trivial["hamming loss"] == np.mean(split.given != split.Y_train)
    assert model["ranking loss"] <= trivial["ranking loss"]


def test_choice_never_sees_true_labels(data):
    split = pml_split(data, 0, amount=0.5)
    models = [MLkNN(1), MLkNN(15)]
    chosen = pml_choose(models, split)
    assert chosen is models[1]
    blind = type(split)(split.X_train, None, None, None, split.given)
    assert pml_choose(models, blind) is chosen
    assert pml_choose(models[:1], blind) is models[0]


def test_data_sets_of_the_paper(data_home):
    known = {
        name: pml_data(name, data_home=data_home) for name in ("CAL500", "medical")
    }
    assert known["CAL500"].X.shape == (502, 68) and known["CAL500"].Y.shape[1] == 174
    assert known["medical"].X.shape == (978, 1449) and issparse(known["medical"].X)
    own = pml_data("mirflickr", data_home=data_home)
    assert own.candidates.shape == own.Y.shape == (5000, 7)
    assert np.all(own.candidates >= own.Y)
    with pytest.raises(ValueError, match="square"):
        pml_data("CAL500", transposed=True, data_home=data_home)


def test_data_with_one_class_is_refused():
    with pytest.raises(ValueError, match="one class each"):
        pml_data("digits")


def test_published_tables():
    paper = published_results("pml_lcom")
    n = len(paper["methods"])
    for number in (2, 3):
        values = paper[f"table_{number}"]["values"]
        assert len(values) == 9
        for cells in values.values():
            for cell in cells.values():
                assert len(cell["mean"]) == len(cell["std"]) == n
    assert paper["table_2"]["values"]["CAL500"]["1"]["mean"][-1] == 0.186
    assert paper["table_3"]["values"]["mirflickr"]["own"]["mean"][4] == 0.831
    for method in paper["methods"][:-1]:
        losses = [paper["table_4"][m][method][2] for m in paper["table_4"]]
        assert losses[-1] == sum(losses[:-1])
    for method, seconds in paper["table_5"]["values"].items():
        if method != "PML-fp":
            assert seconds[-1] == sum(seconds[:-1])
    assert paper["table_6"]["YeastMF"]["coverage"]["mean"][-1] == 0.001
