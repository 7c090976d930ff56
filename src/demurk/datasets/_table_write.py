"""Tables back to files, with other labels where they changed."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import csv
import json
from collections import Counter, defaultdict

import numpy as np

from demurk.datasets._table_cells import as_words, holds_lists
from demurk.datasets._table_labels import as_given, cell_sets, truth
from demurk.utils._optional import import_optional

__all__ = ["relabelled", "write_table"]


def relabelled(frame, form, given, labels):
    """The frame with the label cells changed that say something else."""
    labels = labels.to_numpy() if hasattr(labels, "to_numpy") else np.asarray(labels)
    if len(labels) != len(frame):
        raise ValueError(
            f"There are {len(labels)} rows of labels for {len(frame)} rows of the "
            "table; give one per row."
        )
    frame = frame.copy(deep=False)
    if form.form == "labels":
        for j, column in enumerate(form.columns):
            frame[column] = _truth_cells(frame[column], column, labels[:, j])
    elif form.form == "class":
        frame[form.columns[0]] = _class_cells(frame[form.columns[0]], given, labels)
    else:
        column = form.columns[0]
        frame[column] = _set_cells(frame[column], form, given, labels)
    return frame


def _kept(cells, changed, new):
    """A column with some cells replaced, of the old type where it can hold them."""
    pd = import_optional("pandas", "tables")
    values = cells.astype(object).to_numpy(copy=True)
    for row in np.flatnonzero(changed):
        values[row] = new[row]
    result = pd.Series(values, index=cells.index, dtype=object)
    try:
        return result.astype(cells.dtype)
    except (TypeError, ValueError):
        return result


def _truth_cells(cells, column, labels):
    before = truth(cells, column)
    after = np.where(np.isnan(labels.astype(float)), -1, labels.astype(float))
    changed = before != after
    if not changed.any():
        return cells
    old = cells.astype(object).to_numpy()
    text = isinstance(old[0], str)
    spelling = {-1: "" if text else None}
    for value in (0, 1):
        same, other = (np.flatnonzero(before == v) for v in (value, 1 - value))
        if same.size:
            spelling[value] = _usual(old[same])
        elif other.size:
            spelling[value] = _opposite(old[other[0]], value)
        else:
            spelling[value] = str(value) if text else value
    return _kept(cells, changed, [spelling[int(value)] for value in after])


def _usual(cells):
    """The cell that occurs most, the first of several."""
    return Counter(cells).most_common(1)[0][0]


PAIRS = (("yes", "no"), ("true", "false"), ("y", "n"), ("t", "f"), ("1", "0"))


def _opposite(cell, plain):
    """How a value is spelled whose opposite alone occurs."""
    if not isinstance(cell, str):
        return type(cell)(plain)
    word = cell.strip()
    for pair in PAIRS:
        if word.lower() in pair:
            other = pair[1 - pair.index(word.lower())]
            if word.isupper() and len(word) > 1:
                return other.upper()
            return other.capitalize() if word[0].isupper() else other
    return str(plain)


def _class_cells(cells, given, labels):
    before = np.where(given.labeled, as_given(given), None)
    after = np.array([_known(label) for label in labels.tolist()], dtype=object)
    changed = np.array([a != b for a, b in zip(before, after)])
    old = cells.astype(object).to_numpy()
    if holds_lists(cells):
        spelling = {value: [value] for value in given.classes.tolist()}
        blank = []
    else:
        spelled = defaultdict(list)
        for row in np.flatnonzero(given.labeled):
            spelled[before[row]].append(old[row])
        spelling = {value: _usual(cells) for value, cells in spelled.items()}
        blank = "" if isinstance(old[0], str) else None
    new = [blank if a is None else spelling.get(a, a) for a in after]
    return _kept(cells, changed, new) if changed.any() else cells


def _known(label):
    if label is None or label != label or (label == -1 and not isinstance(label, str)):
        return None
    return label


def _set_cells(cells, form, given, labels):
    sets, form = cell_sets(cells, form)
    names = [str(name) for name in given.classes]
    lists = holds_lists(cells)
    words = None if lists else as_words(cells)
    new, changed = [], np.zeros(len(cells), dtype=bool)
    for row, members in enumerate(sets):
        if (labels[row] < 0).all():
            wanted = None
        else:
            chosen = {names[j] for j in np.flatnonzero(labels[row] > 0)}
            wanted = [member for member in members or () if member in chosen]
            wanted += [name for name in names if name in chosen - set(wanted)]
        changed[row] = (None if members is None else set(members)) != (
            None if wanted is None else set(wanted)
        )
        new.append(wanted if lists else _joined(wanted, form, words[row]))
    return _kept(cells, changed, new) if changed.any() else cells


def _joined(members, form, before):
    """Tags as one text, a JSON list where the cell had one before."""
    if members is None:
        return ""
    if before.startswith("["):
        return json.dumps(members, ensure_ascii=False)
    return form.sep.join(members) if members else form.none


# Writing


def write_table(table, path, format=None, scores=None):
    """Write a table in the format of its name."""
    name = path.name.lower().removesuffix(".gz")
    format = format or (
        table.source.format if name.endswith((".json", ".jsonl")) else None
    )
    frame = table.frame
    if name.endswith(".h5ad"):
        from demurk.datasets._anndata import write_anndata

        write_anndata(table, path)
    elif format == "label studio":
        from demurk.datasets._label_studio import write_tasks

        write_tasks(table, path, scores)
    elif format == "doccano" or name.endswith((".jsonl", ".ndjson", ".json")):
        from demurk.datasets._table_json import write_json

        write_json(table, path, lines=not name.endswith(".json"))
    elif name.endswith((".parquet", ".pq")):
        frame.to_parquet(path)
    elif name.endswith((".feather", ".arrow")):
        frame.to_feather(path)
    elif name.endswith(".xlsx"):
        from demurk.datasets._table_excel import write_book

        write_book(table, path)
    else:
        _write_text(table.frame, path, table.source.dialect, name)
    return path


def _write_text(frame, path, dialect, name):
    sep = "\t" if name.endswith(".tsv") else dialect.sep
    decimal = dialect.decimal if sep != "," else "."
    compression = "gzip" if str(path).endswith(".gz") else None
    frame.to_csv(
        path,
        sep=sep,
        decimal=decimal,
        encoding=dialect.encoding,
        lineterminator=dialect.newline,
        header=dialect.header,
        quoting=csv.QUOTE_ALL if dialect.quote_all else csv.QUOTE_MINIMAL,
        compression=compression,
        index=any(frame.index.names),
    )
