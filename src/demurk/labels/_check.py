"""The one door through which labels come in."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning

from demurk.labels._data import KINDS, LabelData, Mask
from demurk.labels._load import ENTRIES, RawLabels, as_array, load_labels
from demurk.labels._sets import (
    NUMBER_TYPES,
    is_missing,
    label_array,
    short,
    whole_numbers,
)


def check_labels(
    y: Any,
    n_samples: int | None = None,
    *,
    kind: str = "labels",
    observed: Any = None,
    columns: str | None = None,
) -> LabelData:
    """Read labels in any of the accepted forms.

    Parameters
    ----------
    y : array-like, sparse, data frame, series, list of sets or LabelData
        One of

        - one class per sample: numbers with -1 (or NaN) for an unlabelled sample, or
          strings with None (or NaN);
        - an indicator matrix of shape (n_samples, n_labels), dense, sparse or a data
          frame: 1 has the label, 0 has it not, -1 (or NaN, None, a masked entry) not
          observed. A row of zeros is a labelled row without a label;
        - a list with a set of labels per sample, None for an unlabelled one.
    n_samples : int, default=None
        The number of rows that `y` must have.
    kind : {"labels", "noisy", "candidates", "extra"}, default="labels"
        What a 1 means, see :class:`LabelData`. With "candidates" each labelled row
        needs at least one candidate; a 1-D `y` means sets of one.
    observed : bool array-like of shape (n_samples,) or (n_samples, n_labels), \
            default=None
        Which rows or entries are known. It takes the place of -1 and NaN, so entries
        where it is False are not looked at; made for sparse `y`.
    columns : {"labels", "class"}, default=None
        What a single column is: "labels" for one label, has it or has it not, and
        "class" for one class per sample. By default a data frame with one column of 0,
        1 and -1 holds a label (a class with ``kind="candidates"``, where a label alone
        would say nothing), and any other single column holds a class.

    Returns
    -------
    LabelData
        Values, mask of observed entries, classes. It shares no memory with `y`.

    Raises
    ------
    ValueError
        If `y` is none of these; the message says where and what would be right.

    Warns
    -----
    DataConversionWarning
        If `y` is a column vector, which is read as one class per sample, and `columns`
        does not say so.
    UserWarning
        If `y` holds only -1 and 1, where -1 might have been meant as "negative".

    Notes
    -----
    Time and memory are O(n q) for n samples and q labels: one float64 and one boolean
    array. Arrays of Python objects need a Python call per entry.

    Examples
    --------
    >>> from demurk.labels import check_labels
    >>> data = check_labels([[1, 0, -1], [0, 0, 0]])
    >>> data.observed.tolist()
    [[True, True, False], [True, True, True]]
    >>> check_labels([{"sea", "sun"}, None, {"sun"}]).classes.tolist()
    ['sea', 'sun']
    >>> check_labels([[1], [0]], columns="labels").values.tolist()
    [[1.0], [0.0]]
    """
    if kind not in KINDS:
        raise ValueError(f"kind is {short(kind)}; give one of {', '.join(KINDS)}.")
    if columns not in (None, "labels", "class"):
        raise ValueError(
            f"columns is {short(columns)}; give 'labels', 'class' or None."
        )
    if isinstance(y, LabelData):
        if y.kind != kind or observed is not None:
            raise ValueError(
                f"y is LabelData of kind '{y.kind}', but labels of kind '{kind}' are "
                "needed; pass the raw y (and `observed`) instead."
            )
        if columns is not None and y.single != (columns == "class"):
            raise ValueError(
                f"y is LabelData that holds {'a class' if y.single else 'labels'}, but "
                f"columns is '{columns}'; pass the raw y instead."
            )
        _check_length(y.n_samples, n_samples, "y")
        data = y
    else:
        data = read_raw(load_labels(y), n_samples, kind, observed, columns)
    _check_content(data)
    return data


def read_raw(
    raw: RawLabels,
    n_samples: int | None,
    kind: str,
    observed: Any = None,
    columns: str | None = None,
) -> LabelData:
    """Read labels out of their container, were there none observed at all."""
    raw = _shaped(raw, columns, kind)
    _check_length(len(raw.array), n_samples, "y")
    mask = None if observed is None else _read_mask(observed, raw.array.shape)
    single = raw.array.ndim == 1
    if single:
        values, seen, classes = read_column(raw, mask)
    else:
        values, seen = read_table(raw, mask)
        classes = np.arange(values.shape[1]) if raw.names is None else raw.names
    return LabelData(values, seen, classes, kind, single)


def read_column(
    raw: RawLabels, observed: Mask | None
) -> tuple[NDArray[np.float64], Mask, NDArray[Any]]:
    """One class per sample: indicator values, mask and the sorted classes."""
    array = raw.array
    marks = np.zeros(len(array), dtype=bool) if raw.hidden is None else raw.hidden
    if array.dtype.kind == "O":
        marks = marks | _each(is_missing, array)
        kept = np.flatnonzero(~marks if observed is None else observed & ~marks)
        plain = label_array(array[kept].tolist(), kept.tolist())
        array = np.zeros(len(array), dtype=plain.dtype)
        array[kept] = plain
    elif array.dtype.kind == "f":
        marks = marks | np.isnan(array)
    negative = array == -1 if array.dtype.kind in "if" else np.zeros_like(marks)
    negative = negative & ~marks
    seen = _combine(marks | negative, observed, raw)
    rows = np.flatnonzero(seen)
    labels = array[rows]
    if labels.dtype.kind in "iuf":
        labels = whole_numbers(labels, rows)
    classes, codes = np.unique(labels, return_inverse=True)
    if observed is None and negative.any() and np.array_equal(classes, [1]):
        _warn_only_signs()
    values = np.zeros((len(array), len(classes)))
    values[rows, codes] = 1
    return values, np.repeat(seen[:, np.newaxis], len(classes), axis=1), classes


def read_table(
    raw: RawLabels, observed: Mask | None = None
) -> tuple[NDArray[np.float64], Mask]:
    """Indicator matrix: values and mask."""
    array, hidden = raw.array, raw.hidden
    if array.dtype.kind == "O":
        skip = np.zeros(array.shape, dtype=bool) if observed is None else ~observed
        array = _numbers(array, skip if hidden is None else skip | hidden, raw)
    marks = array == -1
    if array.dtype.kind == "f":
        marks |= np.isnan(array)
    if hidden is not None:
        marks |= hidden
    seen = _combine(marks, observed, raw)
    is_one = array == 1
    wrong = seen & ~is_one & (array != 0)
    if wrong.any():
        _refuse_entry(array, wrong, raw)
    values = is_one.astype(np.float64)
    if hidden is not None or observed is not None:
        values[~seen] = 0
    n_ones = np.count_nonzero(values)
    if observed is None and 0 < n_ones == np.count_nonzero(seen):
        if np.any(array == -1 if hidden is None else (array == -1) & ~hidden):
            _warn_only_signs()
    return values, seen


def _shaped(raw: RawLabels, columns: str | None, kind: str) -> RawLabels:
    """Two dimensions for labels, one for a class."""
    width = 1 if raw.array.ndim == 1 else raw.array.shape[1]
    if columns == "class" and (width > 1 or raw.from_sets):
        raise ValueError(
            f"y holds {width} columns of labels, but columns='class' reads one class "
            "per sample; give one column, or columns='labels'."
        )
    if raw.from_sets or width > 1:
        return raw
    label = columns == "labels" or (
        columns is None and kind != "candidates" and _is_named_label(raw)
    )
    if columns is None and not label and raw.array.ndim == 2:
        _warn_column_vector()
    shape = (-1, 1) if label else (-1,)
    return replace(
        raw,
        array=raw.array.reshape(shape),
        hidden=None if raw.hidden is None else raw.hidden.reshape(shape),
        names=raw.names if label else None,
    )


def _is_named_label(raw: RawLabels) -> bool:
    """Whether this is a data frame that may hold nothing but 0, 1, -1 and gaps."""
    if raw.names is None:
        return False
    entries = (value for value in raw.array.ravel().tolist() if not is_missing(value))
    return all(
        isinstance(value, NUMBER_TYPES) and value in (0, 1, -1) for value in entries
    )


def _warn_column_vector() -> None:
    warnings.warn(
        "A column-vector y was passed when a 1d array was expected; it is read as one "
        "class per sample. Please change the shape of y to (n_samples,), for example "
        "using ravel().",
        DataConversionWarning,
        stacklevel=5,
    )


def _numbers(array: NDArray[Any], skip: Mask, raw: RawLabels) -> NDArray[np.float64]:
    """Python objects as floats, NaN for what is missing or to be skipped."""
    array = np.where(skip, np.nan, array)
    wrong = ~_each(lambda v: isinstance(v, NUMBER_TYPES) or is_missing(v), array)
    if wrong.any():
        _refuse_entry(array, wrong, raw)

    def number(value: Any) -> float:
        try:
            return np.nan if is_missing(value) else float(value)
        except OverflowError:  # an integer without end is as wrong as infinity
            return np.inf

    return np.frompyfunc(number, 1, 1)(array).astype(np.float64)


def _each(test: Callable[[Any], bool], array: NDArray[Any]) -> Mask:
    """Ask a question of each Python object of an array."""
    return np.frompyfunc(test, 1, 1)(array).astype(bool)


def _read_mask(observed: Any, shape: tuple[int, ...]) -> Mask:
    """Bring the `observed` argument to the shape of y."""
    array, _ = as_array(observed, "observed")
    _check_length(len(array) if array.ndim else 0, shape[0], "observed")
    mask = array[:, np.newaxis] if array.ndim == 1 else array
    table_shape = (*shape, 1)[:2]
    if mask.shape not in (table_shape, (shape[0], 1)):
        raise ValueError(
            f"observed has shape {array.shape}, but y has shape {shape}; give one "
            "value per row, or one per entry of y."
        )
    if mask.dtype.kind in "biuf":
        wrong = (mask != 0) & (mask != 1)
    else:
        wrong = ~_each(lambda v: isinstance(v, (bool, np.bool_)), mask.astype(object))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"observed is {short(mask[row, column])} in row {row}; give True where y "
            "is known and False where not."
        )
    return np.broadcast_to(mask, table_shape).reshape(shape).astype(bool)


def _combine(marks: Mask, observed: Mask | None, raw: RawLabels) -> Mask:
    """Mask of what is known, from the marks in y or from `observed`."""
    if observed is None:
        return ~marks
    clash = observed & marks
    if clash.any():
        raise ValueError(
            f"y is marked as not observed at {_place(clash, raw)}, where `observed` is "
            "True; give its value, or set `observed` to False."
        )
    return observed


def _check_length(n_rows: int, n_samples: int | None, name: str) -> None:
    if n_samples is not None and n_rows != n_samples:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"{[n_samples, n_rows]}; give {name} one row per sample, {n_samples} rows "
            f"instead of {n_rows}."
        )


def _check_content(data: LabelData) -> None:
    """Refuse what no method, or not this one, can use."""
    if not data.observed.any():
        raise ValueError(
            "Input y contains NaN, None or -1 (not observed) in every row; give the "
            "label of at least one sample."
        )
    if data.kind == "candidates":
        empty = np.flatnonzero(data.labeled & ~data.values.any(axis=1))
        if empty.size:
            raise ValueError(
                f"Row {empty[0]} of y has no candidate label; give it at least one 1, "
                "or fill it with -1 if nothing is known about it."
            )


def _place(wrong: Mask, raw: RawLabels) -> str:
    """Name the first True entry."""
    row, *rest = (int(index) for index in np.argwhere(wrong)[0])
    if not rest:
        return f"row {row}"
    column = rest[0] if raw.names is None else short(raw.names[rest[0]])
    return f"row {row}, column {column}"


def _refuse_entry(array: NDArray[Any], wrong: Mask, raw: RawLabels) -> None:
    """Say which entry of an indicator matrix is wrong, and why."""
    value = array[tuple(np.argwhere(wrong)[0])]
    place = f"at {_place(wrong, raw)}; every entry is {ENTRIES}"
    if not isinstance(value, NUMBER_TYPES):
        place += ", and samples with named labels are given as sets"
        reason = f"y holds {short(value)}"
    elif not np.isfinite(value):
        reason = "Input y contains infinity or a value too large for dtype('float64')"
    elif value != int(value):
        reason = f"Unknown label type: continuous-multioutput, with {short(value)}"
    else:
        reason = f"y holds {short(value)}"
    raise ValueError(f"{reason} {place}.")


def _warn_only_signs() -> None:
    warnings.warn(
        "y holds only 1 and -1, and -1 is read as 'not observed'; write 0 where a "
        "sample does not have the label.",
        UserWarning,
        stacklevel=5,
    )
