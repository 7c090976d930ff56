"""The papers' printed numbers."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
from functools import cache, partial
from importlib.resources import files

__all__ = ["published_results", "published_value"]

# Coverage is defined over C - 1 but printed over C.
PRINTED_NAMES = {"Cov'/C": "Cov'"}
NOT_PRINTED = ("Cov'",)
PML_TABLES = {"ranking loss": "table_2", "average precision": "table_3"}


def published_results(paper):
    """Numbers printed in a paper, as data.

    Parameters
    ----------
    paper : {"cenda", "nmlsdr", "pml_lcom", "ssdrmc"}
        Short name of the paper.

    Returns
    -------
    results : dict
        Its tables; the key "source" names the paper.

    Examples
    --------
    >>> from demurk.benchmark import published_results
    >>> published_results("nmlsdr")["table_1"]["values"]["NMLSDR"][0]
    0.913
    """
    folder = files("demurk.benchmark") / "published"
    known = sorted(p.name.removesuffix(".json") for p in folder.iterdir())
    if paper not in known:
        raise ValueError(
            f"There are no published numbers for '{paper}': choose one of "
            f"{', '.join(known)}."
        )
    return json.loads((folder / f"{paper}.json").read_text(encoding="utf-8"))


def published_value(protocol, data_set, setting, method, measure):
    """The number that a paper prints for a cell of a protocol's tables.

    Parameters
    ----------
    protocol : Protocol
        The protocol. Its table ``published`` names the ``table`` of the paper, and
        under ``data_sets`` and ``settings`` those names that the paper writes
        otherwise.
    data_set, setting, method, measure : str
        Names in the protocol.

    Returns
    -------
    value : float or None
        The printed mean; None where nothing is printed, or where the protocol takes
        only a part of the data.

    Examples
    --------
    >>> from demurk.benchmark import load_protocol, published_value
    >>> protocol = load_protocol("nmlsdr-table1")
    >>> published_value(protocol, "toy", "", "NMLSDR", "HL'")
    0.913
    >>> published_value(protocol, "toy", "", "Random forest", "HL'")
    """
    about = protocol.published
    find = _FINDERS.get(about.get("table"))
    cut = {"max_samples", "n_samples"} & set(protocol.data_sets.get(data_set, {}))
    if find is None or cut or measure in NOT_PRINTED:
        return None
    data_set = about.get("data_sets", {}).get(data_set, data_set)
    setting = about.get("settings", {}).get(setting, setting)
    measure = PRINTED_NAMES.get(measure, measure)
    try:
        return find(_results(protocol.paper), data_set, setting, method, measure)
    except (KeyError, ValueError):
        return None


_results = cache(published_results)


def _by_method(table, paper, data_set, setting, method, measure):
    values = paper[table]["values"][method]
    values = values["mean"] if isinstance(values, dict) else values
    return values[paper[table]["measures"].index(measure)]


def _nmlsdr_tables(paper, data_set, setting, method, measure):
    cells = paper["tables_3_to_9"][measure][data_set]
    return cells[paper["methods"].index(method)]


def _learner_and_reduction(method):
    """Both parts of a name; the papers print what their programs computed."""
    learner, _, reduction = method.partition(" + ")
    return learner, reduction.partition(", as coded")[0]


def _cenda_table_3(paper, data_set, setting, method, measure):
    if measure != "accuracy":
        return None
    learner, reduction = _learner_and_reduction(method)
    cells = paper["table_3"]["values"][setting][learner][reduction or "none"]
    return cells["mean"][paper["table_3"]["data_sets"].index(data_set)]


def _cenda_table_7(paper, data_set, setting, method, measure):
    learner, reduction = _learner_and_reduction(method)
    cells = paper["table_7"][data_set]
    if measure == "n_components" and reduction:
        return cells[setting]["n_components"]
    if measure != "accuracy":
        return None
    cells = cells[setting][reduction] if reduction else cells["none"]
    return cells[learner][0]


def _pml_tables(paper, data_set, setting, method, measure):
    method = method.partition(", as printed")[0]
    if measure == "seconds":
        table = paper["table_5"]
        return table["values"][method][table["data_sets"].index(data_set)]
    cells = paper[PML_TABLES[measure]]["values"][data_set][setting]
    return cells["mean"][paper["methods"].index(method)]


def _pml_table_6(paper, data_set, setting, method, measure):
    method = method.partition(", as printed")[0]
    cells = paper["table_6"][data_set][measure]
    return cells["mean"][paper["methods"].index(method)]


_FINDERS = {
    "table_1": partial(_by_method, "table_1"),
    "table_3": _cenda_table_3,
    "table_6": _pml_table_6,
    "table_7": _cenda_table_7,
    "table_11": partial(_by_method, "table_11"),
    "tables_2_and_3": _pml_tables,
    "tables_3_to_9": _nmlsdr_tables,
}
