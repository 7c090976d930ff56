"""From any container of labels to a plain array; the content is checked later."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from demurk.labels._data import Mask
from demurk.labels._sets import is_missing, labels_from_sets, short

ENTRIES = "1 (has the label), 0 (has it not) or -1 (not observed)"


@dataclass(frozen=True, eq=False)
class RawLabels:
    """Labels as an array of one or two dimensions, their content not yet checked."""

    array: NDArray[Any]
    hidden: Mask | None = None  # entries that the container itself calls missing
    names: NDArray[Any] | None = None
    from_sets: bool = False


def load_labels(y: Any) -> RawLabels:
    """Take the array out of its container; check type and shape only."""
    if y is None:
        raise ValueError(
            "The method requires y to be passed, but the target y is None; give one "
            "class or one row of labels per sample."
        )
    hidden = names = None
    if isinstance(y, np.ma.MaskedArray):
        array, hidden = np.asarray(y.data), np.ma.getmaskarray(y)
    else:
        array, columns = as_array(y, "y")
        names = None if columns is None else _name_array(columns)
    if array.dtype.kind == "T" or (array.dtype.kind == "U" and array.ndim == 2):
        array = array.astype(object)  # read entry by entry
    if array.dtype.kind not in "biufUO":
        raise ValueError(
            f"y has dtype {array.dtype}, which holds no labels; convert it to integers "
            "or strings."
        )
    if array.ndim not in (1, 2) or array.size == 0:
        raise ValueError(
            f"y of type {type(y).__name__} has shape {short(array.shape)}; give at "
            "least one sample, as a 1d array of classes or as a 2d array whose entries "
            f"are {ENTRIES}."
        )
    if array.ndim == 1 and array.dtype.kind == "O":
        return _read_objects(RawLabels(array, hidden, names))
    return RawLabels(array, hidden, names)


def as_array(y: Any, name: str) -> tuple[NDArray[Any], Sequence[Any] | None]:
    """Any container as an array, with the column names of a data frame."""
    # Foreign containers fail with errors of any type; a user needs to read just one.
    try:
        if sparse.issparse(y):
            if hasattr(y, "check_format"):
                # On an object of our own: the check may change the type of indices.
                y = type(y)((y.data, y.indices, y.indptr), shape=y.shape)
                y.check_format(full_check=True)
            return y.toarray(), None
        if isinstance(y, (list, tuple)):
            return _from_sequence(y), None
        native = nw.from_native(
            y, eager_only=True, allow_series=True, pass_through=True
        )
        if isinstance(native, nw.DataFrame):
            return native.to_numpy(), native.columns
        if isinstance(native, nw.Series):
            return native.to_numpy(), None
        return np.asarray(y), None
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise ValueError(
            f"{name} of type {type(y).__name__} could not be read as an array "
            f"({reason}); give an array, a data frame with different column names or a "
            "list, with one entry per sample."
        ) from error


def _from_sequence(y: Any) -> NDArray[Any]:
    try:
        array = np.asarray(y)
    except ValueError:  # ragged: rows stay lists, and the content check names one
        return np.asarray(y, dtype=object)
    # numpy would write numbers and NaN among strings as text.
    return np.asarray(y, dtype=object) if array.dtype.kind in "US" else array


def _name_array(names: Sequence[Any]) -> NDArray[Any]:
    if all(isinstance(name, str) for name in names):
        return np.array(names, dtype=str)
    if all(type(name) is int for name in names):
        return np.array(names)
    array = np.empty(len(names), dtype=object)
    array[:] = names
    return array


def _read_objects(raw: RawLabels) -> RawLabels:
    """Indicator matrix where every element is a set, else the same as given."""
    rows = raw.array.tolist()
    if raw.hidden is not None:
        rows = [None if hide else labels for labels, hide in zip(rows, raw.hidden)]
    is_set = [isinstance(labels, (set, frozenset)) for labels in rows]
    if not any(is_set):
        _refuse_ragged(rows)
        return raw
    for row, labels in enumerate(rows):
        if not is_set[row] and not is_missing(labels):
            raise ValueError(
                f"Row {row} of y is {short(labels)} while row {is_set.index(True)} is "
                "a set; give every row as a set, or as None if it is unlabelled."
            )
    table, classes = labels_from_sets(rows)
    return RawLabels(table, table == -1, classes, from_sets=True)


def _refuse_ragged(rows: list[Any]) -> None:
    lengths = [_length(row) for row in rows]
    if lengths[0] is None:
        return
    for row, length in enumerate(lengths):
        if length != lengths[0]:
            raise ValueError(
                f"Row {row} of y is {short(rows[row])}, but row 0 has {lengths[0]} "
                "entries; give every row one entry per label, or all rows as sets of "
                "labels."
            )


def _length(row: object) -> int | None:
    if isinstance(row, np.ndarray) and row.ndim == 0:
        return None
    return len(row) if isinstance(row, (list, tuple, np.ndarray)) else None
