"""Options of the command line to a table: the one place where input is read."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import csv
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

from demurk.audit import LabelAudit
from demurk.cli._console import note
from demurk.cli._options import LISTS, flag_of
from demurk.cli._output import free_name
from demurk.datasets import list_datasets, load_dataset, read_table
from demurk.datasets._table_bunch import table_from_bunch
from demurk.datasets._table_features import NoFeaturesError
from demurk.datasets._table_form import NoLabelsError
from demurk.datasets._table_read import is_table
from demurk.labels import LabelData
from demurk.multilabel import MurkyClassifier
from demurk.review._apply import apply_decisions
from demurk.review._store import Store, store_path

__all__ = [
    "features_of",
    "labels_for",
    "labels_of",
    "names_of",
    "read_input",
    "row_names",
    "samples_of",
    "tell",
]

# Packages that a format needs, and the extra that brings them.
NEEDS = {".xlsx": ("openpyxl", "tables"), ".h5ad": ("anndata", "anndata")}
SHOWN_COLUMNS = 20


def names_of(values):
    """Names of a repeatable option, also separated by commas; quotes protect one."""
    values = [values] if isinstance(values, str) else list(values)
    return [
        name
        for row in csv.reader(values, skipinitialspace=True)
        for name in (cell.strip() for cell in row)
        if name
    ]


def check_packages(source):
    """Find out what is missing before any work is done."""
    wanted = [("pandas", "cli"), ("pyarrow", "cli")]
    wanted += [need for end, need in NEEDS.items() if str(source).endswith(end)]
    for package, extra in wanted:
        if find_spec(package) is None:
            raise ImportError(
                f"Reading {source} needs the package '{package}': install it with "
                f"`pip install demurk[{extra}]`."
            )


def read_input(source, *, data_home=None, needs_labels=True, decided=True, **options):
    """Read a table from a file, the standard input, or a data set known by name.

    What was decided about it in a review is taken over, unless `decided` is False.
    """
    table = _read(str(source), data_home, options)
    if needs_labels and table.labels is None:
        raise NoLabelsError(
            f"{source} has no label column: name it with --labels, --class, --tags or "
            "--candidates."
        )
    return _with_decisions(table) if decided else table


def _read(source, data_home, options):
    check_packages(source)
    options = {k: v for k, v in options.items() if v not in (None, (), [], "")}
    if source == "-" or Path(source).is_file():
        return read_table(source, **_reading(source, options))
    if source not in [entry["name"] for entry in list_datasets()]:
        raise FileNotFoundError(
            f"'{source}' is neither a file nor a known data set: check the path, or "
            "see `demurk datasets`."
        )
    _refuse_columns(source, options)
    return table_from_bunch(load_dataset(source, data_home=data_home))


def _with_decisions(table):
    """The table after its review, if there was one."""
    path = store_path(table.source.path)
    reviewed = Path(table.source.path).is_file() and path.is_file()
    if table.labels is None or not reviewed:
        return table
    with Store(path) as store:
        made = apply_decisions(table, store)
    if made.changes:
        note(f"With the decisions of {path}: {made.sentence}")
    return made.table


def _reading(source, options):
    """Options that are given, as `read_table` takes them."""
    for name in LISTS:
        if name in options and not isinstance(options[name], int):
            options[name] = names_of(options[name])
    labels = options.get("labels")
    if isinstance(labels, list) and len(labels) == 1:
        options["labels"] = int(labels[0]) if labels[0].isdigit() else labels[0]
    if not is_table(source):
        known = {k: options.pop(k) for k in ("labels", "class_") if k in options}
        _refuse_columns(source, options)
        if isinstance(known.get("labels"), (str, list)):
            raise ValueError(
                f"--labels is '{labels[0]}', but for {source} it must be the number of "
                "label columns."
            )
        return known
    return options


def _refuse_columns(source, options):
    """Options about columns and cells mean nothing for other formats."""
    for name, value in options.items():
        if value != "none":
            raise ValueError(
                f"{flag_of(name)} is about the columns of a table, but {source} is "
                "none: leave it out."
            )


def tell(table):
    """Say what a user should know about the table before the work, or refuse it."""
    _refuse_constant(table)
    dialect = table.source.dialect
    if table.source.format == "text" and dialect.encoding not in ("utf-8", "utf-8-sig"):
        note(f"Read as {dialect.encoding} text; --encoding says otherwise.")
    left = [column for column in table.columns if column.role in ("left out", "id")]
    if left and table.vectorizer is not None:
        shown = "; ".join(str(column) for column in left[:SHOWN_COLUMNS])
        more = f"; and {len(left) - SHOWN_COLUMNS} more" * (len(left) > SHOWN_COLUMNS)
        note(f"No features: {shown}{more}. `demurk describe` tells about every column.")
    gaps = sum("filled with" in column.note for column in table.columns)
    if gaps:
        note(f"Gaps in {gaps} column{'s' * (gaps > 1)} filled with the median.")
    if table.leaks:
        note(
            f"Warning: {', '.join(map(repr, table.leaks[:5]))} says the same as a "
            "label; leave it out with --drop unless that is meant."
        )


def _refuse_constant(table):
    """One class alone can be compared with nothing."""
    labels = table.labels
    if labels is None or not labels.single or table.annotations is not None:
        return
    given = labels.classes[(labels.values > 0).any(axis=0)]
    if len(given) == 1:
        raise ValueError(
            f"Every labelled row of {table.source.path} is '{given[0]}', which can be "
            "compared with nothing: give a column with two classes or more."
        )


def features_of(table):
    """The features of a table, or None where it has none."""
    try:
        return table.features
    except NoFeaturesError:
        return None


def labels_for(labels, estimator):
    """Labels in the kind that an estimator reads."""
    if not isinstance(labels, LabelData):
        return labels
    return replace(labels, kind=estimator.__sklearn_tags__().label_tags.kind)


def labels_of(table, estimator):
    """Labels of a table for an estimator; what each person says, where it can weigh it.

    What a review has settled counts more than what people said before it.
    """
    weighs = isinstance(estimator, (LabelAudit, MurkyClassifier))
    settled = table.checked is not None and table.checked[0].any()
    if table.annotations is not None and weighs and not settled:
        return table.annotations
    return labels_for(table.labels, estimator)


def row_names(table):
    """Columns that say what a row is, for tables that we write: number, id and text."""
    named = table.named("id") | table.named("text") | table.named("image")
    numbers = {"row": range(1, len(table) + 1)}
    return numbers | {free_name(k, numbers): cells for k, cells in named.items()}


def samples_of(table):
    """What each row is in words, for pages."""
    named = table.named("text") or table.named("image") or table.named("id")
    if not named:
        return [f"row {row}" for row in range(1, len(table) + 1)]
    return [" · ".join(filter(None, cells)) for cells in zip(*named.values())]
