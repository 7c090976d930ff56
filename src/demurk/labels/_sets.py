"""Label sets to indicator matrix, and the rules for what may name a label."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

NUMBER_TYPES = (int, float, np.integer, np.floating, np.bool_)
# Whole numbers up to here are exact as floats, so they can become integers.
EXACT_FLOAT = 2.0**53


def is_missing(value: object) -> bool:
    """Whether a single Python object stands for "not known"."""
    if isinstance(value, (float, np.floating)):
        return bool(value != value)
    # pandas is not imported for this: its NA and NaT are known by the type's name.
    return (
        value is None
        or value is np.ma.masked
        or type(value).__name__ in ("NAType", "NaTType")
    )


def short(value: object) -> str:
    """Write a value for an error message, cut where it gets long."""
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 40 else text[:37] + "..."


def whole_numbers(
    array: NDArray[Any], rows: Sequence[int] | NDArray[np.intp], name: str = "y"
) -> NDArray[Any]:
    """Class numbers as int64 (booleans stay); `rows` says where each stood in y."""
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):  # long doubles may become infinite: refused
            array = array.astype(np.float64, copy=False)
        if not np.isfinite(array).all():
            row = rows[int(np.flatnonzero(~np.isfinite(array))[0])]
            raise ValueError(
                f"Input {name} contains infinity or a value too large for "
                f"dtype('float64') in row {row}; give a class, or -1 or NaN for an "
                "unlabelled sample."
            )
        broken = np.flatnonzero(array != np.floor(array))
        if broken.size:
            raise ValueError(
                f"Unknown label type: continuous, because row {rows[broken[0]]} of "
                f"{name} is {short(array[broken[0]])}; give whole numbers or strings "
                "as classes."
            )
        if not (np.abs(array) < EXACT_FLOAT).all():
            return array
    if array.dtype.kind == "b" or (
        array.dtype.kind == "u" and array.size and array.max() > np.iinfo(np.int64).max
    ):
        return array
    return array.astype(np.int64)


def label_array(
    values: Sequence[Any], rows: Sequence[int], name: str = "y"
) -> NDArray[Any]:
    """Python objects as one array of text or of whole numbers, none of them missing."""
    families = [_family(value) for value in values]
    for value, row, family in zip(values, rows, families):
        if family is None:
            raise ValueError(
                f"Row {row} of {name} holds {short(value)} of type "
                f"{type(value).__name__}; a label is a string or a whole number, "
                "several labels of a sample are a set, and None in place of all of "
                "them stands for an unlabelled sample."
            )
        if family is not families[0]:
            raise ValueError(
                f"Row {row} of {name} holds {short(value)} but row {rows[0]} holds "
                f"{short(values[0])}; give all labels as strings or all as numbers, "
                "and None for an unlabelled sample."
            )
    if families and families[0] is str:
        return np.array(values, dtype=str)
    array = np.array(values) if families else np.zeros(0, dtype=np.int64)
    if array.dtype.kind not in "biuf":  # integers beyond 64 bits stay objects
        largest = max(range(len(values)), key=lambda place: abs(values[place]))
        raise ValueError(
            f"Input {name} contains infinity or a value too large for dtype('float64') "
            f"in row {rows[largest]}; give integers of at most 64 bits, or strings."
        )
    return whole_numbers(array, rows, name)


def _family(value: object) -> type | None:
    """Text or number; None for what cannot name a label."""
    if isinstance(value, str):
        return str
    if isinstance(value, NUMBER_TYPES) and not is_missing(value):
        return float
    return None


def labels_from_sets(
    sets: Iterable[Iterable[Any] | None], classes: Iterable[Any] | None = None
) -> tuple[NDArray[np.int8], NDArray[Any]]:
    """Turn one set of labels per sample into an indicator matrix.

    Parameters
    ----------
    sets : iterable of (iterable of labels, or None)
        The labels of each sample: strings or whole numbers. None is an unlabelled
        sample; an empty set is a labelled sample that has no label.
    classes : iterable of labels, default=None
        All labels, in the order of the columns. By default the labels that occur,
        sorted.

    Returns
    -------
    Y : ndarray of shape (n_samples, n_labels), int8
        1 where the label is in the set, 0 where not, and rows of -1 for None.
    classes : ndarray of shape (n_labels,)
        The label of each column.

    Notes
    -----
    Time and memory are O(n q) for n sets over q labels.

    Examples
    --------
    >>> from demurk.labels import labels_from_sets
    >>> Y, classes = labels_from_sets([{"sea", "sun"}, set(), None, {"sea"}])
    >>> Y.tolist()
    [[1, 1], [0, 0], [-1, -1], [1, 0]]
    >>> classes.tolist()
    ['sea', 'sun']
    """
    members = [_members(row, labels) for row, labels in enumerate(_listed(sets))]
    counts = [0 if labels is None else len(labels) for labels in members]
    row_of = np.repeat(np.arange(len(members)), counts)
    flat = list(chain.from_iterable(labels for labels in members if labels is not None))
    given = label_array(flat, row_of.tolist())
    _refuse_minus_one(given, row_of, "y")
    known = np.unique(given) if classes is None else _given_classes(classes)
    if not known.size:
        raise ValueError(
            "No set in y holds a label; give at least one label, or name the labels "
            "with `classes`."
        )
    column_of = {label: column for column, label in enumerate(known.tolist())}
    columns = [column_of.get(label) for label in given.tolist()]
    if None in columns:
        place = columns.index(None)
        raise ValueError(
            f"Row {row_of[place]} of y holds the label {short(given[place])}, which is "
            "not in `classes`; add it there or remove it from the row."
        )
    Y = np.zeros((len(members), known.size), dtype=np.int8)
    Y[row_of, np.array(columns, dtype=np.intp)] = 1
    Y[np.array([labels is None for labels in members], dtype=bool)] = -1
    return Y, known


def _listed(sets: object) -> list[Any]:
    if isinstance(sets, (str, bytes, Mapping)) or not isinstance(sets, Iterable):
        raise ValueError(
            f"The label sets came as {short(sets)}; give a list with one set of labels "
            "(or None) per sample."
        )
    listed = list(sets)
    if not listed:
        raise ValueError("Found 0 sample(s) in y; give one set of labels per sample.")
    return listed


def _members(row: int, labels: object) -> list[Any] | None:
    """Labels of one sample; None when it is unlabelled."""
    if is_missing(labels):
        return None
    if isinstance(labels, (str, bytes, Mapping)) or not isinstance(labels, Iterable):
        raise ValueError(
            f"Row {row} of y is {short(labels)}, not a set of labels; write it as "
            "{...}, or as None for an unlabelled sample."
        )
    return list(labels)


def _given_classes(classes: Iterable[Any]) -> NDArray[Any]:
    """Classes in the order given, each once."""
    if isinstance(classes, (str, bytes)) or not isinstance(classes, Iterable):
        raise ValueError(
            f"`classes` is {short(classes)}; give a list of different labels."
        )
    listed = list(classes)
    known = label_array(listed, range(len(listed)), "classes")
    _refuse_minus_one(known, np.arange(known.size), "classes")
    distinct, counts = np.unique(known, return_counts=True)
    if distinct.size < known.size:
        raise ValueError(
            f"`classes` holds {short(distinct[counts > 1][0])} more than once; give "
            "each label once."
        )
    return known


def _refuse_minus_one(labels: NDArray[Any], rows: NDArray[np.intp], name: str) -> None:
    if labels.dtype.kind != "U" and (labels == -1).any():
        raise ValueError(
            f"Row {rows[np.flatnonzero(labels == -1)[0]]} of {name} holds the label "
            "-1, which stands for 'not observed'; give None in place of the set for an "
            "unlabelled sample, or rename the label."
        )
