"""What the commands write: tables that are safe to open, and what was read for them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import gzip
import json
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline

from demurk import io
from demurk.cli._console import note
from demurk.datasets._catalogue import catalogue
from demurk.datasets._read import files_here
from demurk.utils._files import OutputFolder, write_text
from demurk.utils._optional import import_optional
from demurk.utils._text import FORMULA

__all__ = [
    "beliefs_table",
    "beside",
    "choose_neighbors",
    "choose_trees",
    "csv_text",
    "files_read",
    "folder_with_copy",
    "free_name",
    "graph_options",
    "guarded",
    "safe_table",
    "save_model",
    "table_of",
    "write_summary",
    "write_table",
]

# Formats in which a copy of a table is written as the original was.
COPIES = (".tsv", ".xlsx", ".parquet", ".feather", ".jsonl", ".json", ".h5ad")
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


def beliefs_table(beliefs, classes):
    """What is believed about each label of each row."""
    names = [str(name) for name in classes]
    table = pd.DataFrame(beliefs, columns=names)
    table.insert(0, free_name("row", names), range(1, len(table) + 1))
    return table


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


def write_summary(path, facts):
    """Write what a command has found out as JSON."""
    write_text(path, json.dumps(facts, indent=1, ensure_ascii=False) + "\n")


def save_model(table, steps, path):
    """Save a fitted pipeline, and before it what makes features of such a table."""
    first = [] if table.vectorizer is None else [("table", table.vectorizer)]
    io.save(Pipeline([*first, *steps.steps]), path)


def files_read(*sources, data_home=None):
    """Every file that is read for these files, models and data set names."""
    found = []
    for source in filter(None, sources):
        if Path(source).is_file():
            found.append(Path(source))
        elif source in catalogue():
            found += files_here(source, data_home)
    # Names of labels lie beside an ARFF file.
    folders = dict.fromkeys(path.parent for path in found)
    return [*found, *(xml for folder in folders for xml in folder.glob("*.xml"))]


def folder_with_copy(source, output, names, copy, force, reading):
    """A folder for these files, one of them a copy of what was read, and its name.

    The copy has the format of the original, where that holds tables.
    """
    originals = files_read(source, data_home=reading.get("data_home"))
    plain = Path(str(source)).name.lower().removesuffix(".gz")
    ending = next((end for end in COPIES if plain.endswith(end)), ".csv")
    written = copy.replace(".csv", ending)
    names = [written if name == copy else name for name in names]
    room = sum(path.stat().st_size for path in originals[:1])
    folder = OutputFolder(output, names, read=originals, force=force, room=room)
    return folder, written


def choose_trees(n_labeled):
    """How many trees a forest of the audit gets; None for its own choice.

    The user is told if it is unusual.
    """
    if n_labeled <= EXACT_ROWS:
        return None
    n_trees = max(FEWEST_TREES, GROWN_ROWS // n_labeled)
    note(
        f"Forests have {n_trees} trees each: for more than {EXACT_ROWS:,} labelled "
        "samples many take long and few are enough."
    )
    return n_trees


def graph_options(X, n_neighbors):
    """What every graph is told: how many neighbours, and how they are searched."""
    search = {"neighbors": choose_neighbors(X), "n_jobs": -1}
    return search if n_neighbors is None else search | {"n_neighbors": n_neighbors}


def choose_neighbors(X):
    """How neighbours are searched among so many samples, "exact" or "approx".

    The user is told if there are many.
    """
    if X.shape[0] <= EXACT_ROWS or issparse(X):
        return "exact"
    more = f"more than {EXACT_ROWS:,} samples"
    if find_spec("faiss") is None:
        note(
            f"Neighbours are searched exactly, which takes long for {more}: install "
            "demurk[ann] for a fast search."
        )
        return "exact"
    note(f"Neighbours are approximate, as always for {more}.")
    return "approx"
