"""Cells that people filled in, as codes."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from demurk.labels._check import read_table
from demurk.labels._load import RawLabels, as_array
from demurk.labels._sets import is_missing, label_array, whole_numbers

__all__ = ["read_classes", "read_labels", "read_words"]


def read_words(values, place):
    """Names of anything, in the order of sorting, and the code of each value.

    Parameters
    ----------
    values : array-like of shape (n,)
        Text or whole numbers; None, NaN, masked values and the number -1 are gaps.
    place : str
        What an error calls them.

    Returns
    -------
    words : ndarray
        The different values.
    codes : ndarray of int of shape (n,)
        Place of each value among them, -1 for a gap.
    """
    array = as_array(values, place)[0]
    gaps = np.zeros(array.shape, dtype=bool)
    if array.dtype.kind not in "biufU":
        array = array.astype(object)
        gaps = np.frompyfunc(is_missing, 1, 1)(array).astype(bool)
    elif array.dtype.kind == "f":
        gaps = np.isnan(array)
    known = np.flatnonzero(~gaps)
    given = array[known]
    if array.dtype.kind == "O":
        given = label_array(given.tolist(), known.tolist(), place)
    elif array.dtype.kind != "U":
        given = whole_numbers(given, known, place)
    if given.dtype.kind in "if":
        known, given = known[given != -1], given[given != -1]
    words, found = np.unique(given, return_inverse=True)
    codes = np.full(len(array), -1, dtype=np.int32)
    codes[known] = found
    return words, codes


def read_classes(columns):
    """Classes that people gave, from one column each.

    Parameters
    ----------
    columns : list of array-like of shape (n_rows,)
        Classes, with the gaps of `read_words` and masked values; one for each person.

    Returns
    -------
    codes, rows, people, classes : ndarray
        Code of the class, row and person of each answer, and the sorted classes.
    """
    arrays = [
        np.where(np.ma.getmaskarray(column), None, column.data)
        if isinstance(column, np.ma.MaskedArray)
        else as_array(column, "the classes")[0]
        for column in columns
    ]
    if any(array.dtype.kind not in "biuf" for array in arrays):
        arrays = [array.astype(object) for array in arrays]
    classes, codes = read_words(np.concatenate(arrays), "the classes")
    codes = codes.reshape(len(columns), -1)
    rows, people = np.nonzero(codes.T >= 0)
    return codes[people, rows], rows, people, classes


def read_labels(tables, names=None):
    """Labels that people gave or denied, from one table each.

    Parameters
    ----------
    tables : list of ndarray of shape (n_rows, n_labels)
        1, 0, and -1, NaN, None or a masked value for what was not said; one for each
        person.
    names : ndarray, default=None
        What errors call the columns of a table.

    Returns
    -------
    codes : ndarray of shape (n_answers, n_labels), int8
        What was said of each label, 1, 0 or -1.
    rows, people : ndarray
        Row and person of each answer.
    """
    found = []
    for table in tables:
        array = np.ma.getdata(table)
        hidden = np.ma.getmaskarray(table)
        if array.dtype.kind in "if":
            hidden = hidden | (array == -1)
            array = np.where(hidden, 0, array)
        elif array.dtype.kind != "b":
            array = array.astype(object)
        values, seen = read_table(RawLabels(array, hidden, names))
        rows = np.flatnonzero(seen.any(axis=1))
        found.append((np.where(seen, values, -1)[rows].astype(np.int8), rows))
    codes = np.concatenate([codes for codes, _ in found])
    rows = np.concatenate([rows for _, rows in found])
    people = np.repeat(np.arange(len(found)), [len(rows) for _, rows in found])
    order = np.lexsort((people, rows))
    return codes[order], rows[order], people[order]
