"""Answers of several people out of frames and arrays, as codes by row and person."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import narwhals.stable.v2 as nw
import numpy as np

from demurk.annotators._words import read_classes, read_labels, read_words
from demurk.labels._form import frame_index
from demurk.labels._sets import short

__all__ = ["people_columns", "read_array", "read_long", "read_wide"]

CLASS, LABEL, PERSON = "class@", "label:", "@"


def _frame(frame):
    """A data frame of any library behind one set of methods."""
    found = nw.from_native(frame, eager_only=True, pass_through=True)
    if not isinstance(found, nw.DataFrame):
        raise ValueError(
            f"The table is {short(frame)} of type {type(frame).__name__}; give a data "
            "frame of pandas or polars."
        )
    return found


def people_columns(columns):
    """Which columns hold whose answers.

    Parameters
    ----------
    columns : list of str
        Names of columns; those without a person are passed over.

    Returns
    -------
    classes : dict of str to str
        Person to column, of columns ``class@anna``.
    labels : dict of str to dict of str to str
        Person to label to column, of columns ``label:spam@anna``. The first ``@``
        after the prefix ends the label, so that people may be called by their address.
    """
    classes, labels = {}, {}
    for column in map(str, columns):
        if column.startswith(CLASS) and len(column) > len(CLASS):
            classes[column[len(CLASS) :]] = column
        elif column.startswith(LABEL) and PERSON in column:
            label, person = column[len(LABEL) :].split(PERSON, 1)
            if label and person:
                labels.setdefault(person, {})[label] = column
    return classes, labels


def read_wide(frame):
    """Fields of :class:`Annotations` from a column for each person [and label]."""
    table = _frame(frame)
    in_classes, in_labels = people_columns(table.columns)
    if in_classes and in_labels:
        raise ValueError(
            f"The frame has columns like {next(iter(in_classes.values()))!r} and like "
            "'label:...@...'; keep one of the two forms."
        )
    if not (in_classes or in_labels):
        raise ValueError(
            "No column is called like 'class@anna' or 'label:spam@anna'; rename those "
            "that hold what people said."
        )
    names = list(in_classes or in_labels)
    if in_classes:
        found = [table[column].to_numpy() for column in in_classes.values()]
        codes, rows, people, classes = read_classes(found)
    else:
        classes = list(dict.fromkeys(k for own in in_labels.values() for k in own))
        tables = [_label_table(table, in_labels[name], classes) for name in names]
        codes, rows, people = read_labels(tables, np.array(classes))
    return {
        "codes": codes,
        "rows": rows,
        "people": people,
        "n_rows": len(table),
        "names": np.array(names, dtype=str),
        "classes": np.array(classes),
        "single": bool(in_classes),
        "index": frame_index(frame),
    }


def _label_table(table, own, classes):
    """The labels of one person as an array; those without a column are not known."""
    blank = np.full(len(table), np.nan)
    columns = [
        table[own[name]].to_numpy() if name in own else blank for name in classes
    ]
    if any(column.dtype.kind not in "biuf" for column in columns):
        columns = [column.astype(object) for column in columns]
    return np.column_stack(columns)


def read_long(frame, columns, single, index):
    """Fields of :class:`Annotations` from a line for each answer."""
    table = _frame(frame)
    columns = {what: name for what, name in columns.items() if name is not None}
    for name in columns.values():
        if name not in table.columns:
            raise ValueError(
                f"The frame has no column {short(name)}; its columns are "
                f"{', '.join(map(short, table.columns[:20]))}."
            )
    cells = {what: table[name].to_numpy() for what, name in columns.items()}
    ids, rows = read_words(cells["row"], f"column {columns['row']!r}")
    names, people = read_words(cells["annotator"], f"column {columns['annotator']!r}")
    classes, given = read_words(cells["label"], f"column {columns['label']!r}")
    for codes, what in ((rows, "row"), (people, "annotator")):
        if (codes < 0).any():
            raise ValueError(
                f"Column {columns[what]!r} is blank in line {(codes < 0).argmax()}; "
                "say which row and who in every line."
            )
    if index is not None:
        ids, rows = _in_order(ids, rows, index)
    if single is None:
        single = "value" not in cells and not _named_twice(rows, people, given)
    if single:
        known = np.flatnonzero(given >= 0)
        known = known[np.lexsort((people[known], rows[known]))]
        codes, rows, people = given[known], rows[known], people[known]
    else:
        said = None
        if "value" in cells:
            said = read_labels([cells["value"][:, np.newaxis]])
        codes, rows, people = _label_answers(rows, people, given, len(classes), said)
    plain = ids.dtype.kind in "iu" and np.array_equal(ids, np.arange(len(ids)))
    return {
        "codes": codes,
        "rows": rows,
        "people": people,
        "n_rows": len(ids),
        "names": names.astype(str),
        "classes": classes,
        "single": bool(single),
        "index": None if plain else ids,
    }


def _named_twice(rows, people, given):
    """Whether somebody gave two different labels to one row."""
    order = np.lexsort((given, people, rows))
    same = [np.diff(part[order]) == 0 for part in (rows, people, given)]
    return bool((same[0] & same[1] & ~same[2]).any())


def _in_order(ids, rows, index):
    """Rows by their place in a list that the user gives."""
    words, codes = read_words(index, "index")
    if (codes < 0).any() or len(words) < len(codes):
        raise ValueError("index has blanks or names a row twice; name each row once.")
    place = {word: k for k, word in enumerate(words[codes].tolist())}
    missing = [word for word in ids.tolist() if word not in place]
    if missing:
        raise ValueError(
            f"Row {short(missing[0])} is not in index; add it there, or leave its "
            "lines out."
        )
    return words[codes], np.array([place[word] for word in ids.tolist()])[rows]


def _label_answers(rows, people, given, q, said):
    """One answer of all labels for each row and person."""
    n_people = people.max() + 1
    keys = rows.astype(np.int64) * n_people + people
    keys, place = np.unique(keys, return_inverse=True)
    pairs = np.divmod(keys, n_people)
    if said is None:
        codes = np.zeros((len(keys), q), dtype=np.int8)
        codes[place[given >= 0], given[given >= 0]] = 1
        return codes, *pairs
    codes = np.full((len(keys), q), -1, dtype=np.int8)
    values, lines, _ = said
    values, lines = values[given[lines] >= 0, 0], lines[given[lines] >= 0]
    codes[place[lines], given[lines]] = values
    differs = codes[place[lines], given[lines]] != values
    if differs.any():
        raise ValueError(
            f"Line {lines[differs.argmax()]} says 1 and another one 0 of the same row, "
            "person and label; keep one of them."
        )
    return codes, *pairs


def read_array(answers, names, classes):
    """Fields of :class:`Annotations` from an array of rows, people [and labels]."""
    index = frame_index(answers)
    if hasattr(answers, "columns"):
        names = [str(name) for name in answers.columns] if names is None else names
        answers = _frame(answers).to_numpy()
    array = answers
    if not isinstance(array, np.ma.MaskedArray):
        array = np.asarray(answers)
        if array.dtype.kind in "US":  # None among words became the word
            array = np.asarray(answers, dtype=object)
    if array.ndim not in (2, 3) or 0 in array.shape:
        raise ValueError(
            f"answers has shape {array.shape}; give (rows, people) with classes, or "
            "(rows, people, labels) with 1, 0 and -1."
        )
    single = array.ndim == 2
    by_person = [array[:, j] for j in range(array.shape[1])]
    if single:
        codes, rows, people, classes = read_classes(by_person)
    else:
        codes, rows, people = read_labels(by_person)
    q, n_people = array.shape[-1], array.shape[1]
    names = [str(j) for j in range(n_people)] if names is None else names
    classes = np.arange(q) if classes is None else np.asarray(classes)
    if len(names) != n_people or not (single or len(classes) == q):
        raise ValueError(
            f"answers has shape {array.shape}, but there are {len(names)} names and "
            f"{len(classes)} labels; give one of each."
        )
    return {
        "codes": codes,
        "rows": rows,
        "people": people,
        "n_rows": len(array),
        "names": np.array(names, dtype=str),
        "classes": classes,
        "single": single,
        "index": index,
    }
