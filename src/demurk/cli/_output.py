"""What the commands write: tables that are safe to open, and what was read for them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import gzip
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from scipy.sparse import issparse

from demurk.datasets._catalogue import (
    catalogue,
    data_folders,
    find_file,
    needed_files,
)
from demurk.utils._files import write_text
from demurk.utils._optional import import_optional
from demurk.utils._text import FORMULA

__all__ = [
    "beside",
    "choose_neighbors",
    "choose_trees",
    "csv_text",
    "files_read",
    "free_name",
    "guarded",
    "safe_table",
    "table_of",
    "write_table",
]

# Exact search in so many samples takes a minute or so on two cores.
EXACT_ROWS = 50_000
# Beyond it, trees times samples of a forest of the audit, and trees at least.
GROWN_ROWS, FEWEST_TREES = 3_000_000, 15


def guarded(cell):
    """Text that no spreadsheet runs: an apostrophe goes before a formula."""
    if not isinstance(cell, str) or not cell.startswith(FORMULA):
        return cell
    try:
        float(cell)
    except ValueError:
        return f"'{cell}"
    return cell


def free_name(name, taken):
    """A name for a column of ours that no column of the user's has."""
    while name in taken:
        name += " (2)"
    return name


def beside(names, word):
    """Names of columns that say something about each label."""
    taken = set(names)
    return [free_name(f"{name}: {word}", taken) for name in names]


def table_of(columns):
    """A frame of (name, values); values of the same name stay apart."""
    names, values = zip(*columns)
    frame = pd.DataFrame(dict(enumerate(values)))
    return frame.set_axis(list(names), axis=1)


def safe_table(frame):
    """A table of ours in which text from the user cannot become a formula."""
    frame = frame.set_axis([guarded(str(name)) for name in frame.columns], axis=1)
    for j, kind in enumerate(frame.dtypes):
        if not pd.api.types.is_numeric_dtype(kind):
            frame.isetitem(j, frame.iloc[:, j].astype(object).map(guarded))
    return frame


def csv_text(frame, **options):
    """A table as text in which no cell breaks a line."""
    text = frame.to_csv(lineterminator="\n", **options)
    # Only characters of the line's own end are quoted in a cell.
    return frame.to_csv(lineterminator="\r\n", **options) if "\r" in text else text


def write_table(frame, path):
    """Write a table of ours in the format of its name; CSV if that says nothing."""
    name = path.name.lower()
    frame = safe_table(frame)
    if name.endswith(".xlsx"):
        import_optional("openpyxl", "tables")
        frame.to_excel(path, index=False)
    elif name.endswith((".jsonl", ".ndjson", ".json")):
        lines = not name.endswith(".json")
        text = frame.to_json(orient="records", lines=lines, force_ascii=False)
        write_text(path, text.rstrip("\n") + "\n")
    elif name.endswith((".parquet", ".pq", ".feather", ".arrow")):
        import_optional("pyarrow", "tables")
        # A column has one type there.
        texts = [c for c, kind in frame.dtypes.items() if kind.name == "object"]
        frame = frame.astype(dict.fromkeys(texts, str))
        columns = name.endswith((".parquet", ".pq"))
        (frame.to_parquet if columns else frame.to_feather)(path)
    else:
        plain = name.removesuffix(".gz")
        sep = "\t" if plain.endswith(".tsv") else ","
        text = csv_text(frame, sep=sep, index=False, float_format="%.6g")
        write_text(path, text)
        if plain != name:
            path.write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def files_read(*sources, data_home=None):
    """Every file that is read for these files, models and data set names."""
    found = []
    for source in filter(None, sources):
        if Path(source).is_file():
            found.append(Path(source))
        elif source in catalogue():
            entry, folders = catalogue()[source], data_folders(data_home)
            needed = {file for s in entry["splits"] for file in needed_files(entry, s)}
            files = (find_file(source, file, folders) for file in sorted(needed))
            found += filter(None, files)
    # Names of labels lie beside an ARFF file.
    folders = dict.fromkeys(path.parent for path in found)
    return [*found, *(xml for folder in folders for xml in folder.glob("*.xml"))]


def choose_trees(n_labeled):
    """How many trees a forest of the audit gets for so many samples, in words too.

    Returns
    -------
    n_trees : int or None
        What the audit is told; None leaves it the choice.
    sentence : str
        What the user is told; empty if nothing is unusual.
    """
    if n_labeled <= EXACT_ROWS:
        return None, ""
    n_trees = max(FEWEST_TREES, GROWN_ROWS // n_labeled)
    return n_trees, (
        f"Forests have {n_trees} trees each: for more than {EXACT_ROWS:,} labelled "
        "samples many take long and few are enough."
    )


def choose_neighbors(X):
    """How neighbours are searched among so many samples, and a sentence about it.

    Returns
    -------
    neighbors : {"exact", "approx"}
        What estimators are told.
    sentence : str
        What the user is told; empty for exact search.
    """
    if X.shape[0] <= EXACT_ROWS or issparse(X):
        return "exact", ""
    more = f"more than {EXACT_ROWS:,} samples"
    if find_spec("faiss") is None:
        return "exact", (
            f"Neighbours are searched exactly, which takes long for {more}: install "
            "demurk[ann] for a fast search."
        )
    return "approx", f"Neighbours are approximate, as always for {more}."
