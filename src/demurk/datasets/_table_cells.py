"""Cells of a table: text, numbers, gaps, and what a column looks like."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import re

import numpy as np

from demurk.datasets._files import MISSING, number_name
from demurk.datasets._table_form import cut_name
from demurk.utils._optional import import_optional

ID_NAMES = frozenset({"", "id", "index", "uid", "uuid", "guid"})
# So few rows may be in order by chance.
FEW_ROWS = 8
LISTS = (list, tuple, set, dict, np.ndarray)


class CellError(ValueError):
    """A cell that cannot be used; whoever knows the file adds the line."""

    def __init__(self, column, row, problem):
        column = cut_name(column)
        super().__init__(f"row {row + 1}: column {column!r} {problem}")
        self.column, self.row, self.problem = column, row, problem


def as_pandas(frame):
    """The frame as pandas knows it, names as text."""
    pd = import_optional("pandas", "tables")
    if not isinstance(frame, pd.DataFrame):
        if not hasattr(frame, "to_pandas"):
            raise TypeError(
                f"The table came as {type(frame).__name__}; give a data frame of "
                "pandas or polars."
            )
        frame = frame.to_pandas()
    if any(not isinstance(name, str) for name in frame.columns):
        frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    return frame


def is_text(cells):
    """Whether the cells of a column are text, or may be."""
    return cells.dtype.name in ("object", "str", "string", "category")


def holds_lists(cells):
    if cells.dtype.name != "object":
        return False
    return any(isinstance(cell, LISTS) for cell in cells)


def as_words(cells):
    """A column as an array of text, "" where a cell is missing; 1.0 is "1"."""
    values = zip(cells.astype(object), cells.isna())
    return np.array(["" if gone else _word(v) for v, gone in values], dtype=object)


def _word(value):
    if isinstance(value, (float, np.floating)):
        return number_name(value) if np.isfinite(value) else str(value)
    return str(value).strip()


def plain_cells(cells):
    """The cells of a column without numpy's types, None where one is missing."""
    values = cells.astype(object)
    return [None if gone else _plain(v) for v, gone in zip(values, cells.isna())]


def _plain(value):
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value


def numbers_of(cells, decimal):
    """A column as floats, NaN for gaps; None if it holds anything else."""
    kind = cells.dtype
    if kind.kind in "biuf":
        return cells.to_numpy(dtype=np.float64, na_value=np.nan)
    if kind.kind == "m":
        return cells.dt.total_seconds().to_numpy(dtype=np.float64, na_value=np.nan)
    if cells.isna().all():
        return np.full(len(cells), np.nan)
    if not is_text(cells):
        return None
    pa = import_optional("pyarrow", "tables")
    if kind.name in ("object", "category"):
        words = as_words(cells)
        if cells.map(lambda v: isinstance(v, (bool, np.bool_))).all():
            return cells.to_numpy(dtype=np.float64)
        array = pa.array(words, pa.large_string())
    else:
        array = cells.array.__arrow_array__()
    return _cast(array, decimal)


def _cast(array, decimal):
    """Text as numbers, or None; the usual column is cast at once."""
    pa = import_optional("pyarrow", "tables")
    pc = import_optional("pyarrow.compute", "tables")
    if decimal == ",":
        array = pc.replace_substring(array, ",", ".")
    for prepare in (lambda words: words, _without_gaps):
        try:
            numbers = pc.cast(prepare(array), pa.float64())
        except pa.ArrowInvalid:
            continue
        return numbers.to_numpy(zero_copy_only=False)
    return None


def _without_gaps(array):
    """Words that stand for a gap as nulls."""
    pa = import_optional("pyarrow", "tables")
    pc = import_optional("pyarrow.compute", "tables")
    array = pc.utf8_trim_whitespace(array)
    gaps = pa.array(sorted(MISSING), array.type)
    gone = pc.is_in(pc.utf8_lower(array), value_set=gaps)
    return pc.if_else(gone, pa.scalar(None, array.type), array)


def strict_numbers(cells, name, decimal):
    """A column that was a number in training."""
    numbers = numbers_of(cells, decimal)
    if numbers is None:
        row, cell = next(_strays(cells), (0, cells.iloc[0]))
        raise CellError(name, row, f"holds {str(cell)[:40]!r}, which is no number.")
    return check_finite(numbers, name, cells)


def check_finite(numbers, name, cells):
    """The numbers, or an error about one that is infinite."""
    if not np.isinf(numbers).any():
        return numbers
    row = int(np.flatnonzero(np.isinf(numbers))[0])
    raise CellError(
        name,
        row,
        f"holds {str(cells.iloc[row])[:40]!r}, which is no finite number; empty the "
        "cell or leave the column out with --drop.",
    )


def _strays(cells):
    """Rows and cells that are neither numbers nor gaps."""
    for row, cell in enumerate(as_words(cells)):
        if cell.lower() not in MISSING:
            try:
                # Python reads 1_5 and the digits of other scripts, tables do not.
                float(cell if cell.isascii() and "_" not in cell else "a word")
            except ValueError:
                yield row, cell


def stray_words(cells):
    """A note about a column of numbers that some word keeps from being one."""
    if not is_text(cells):
        return ""
    head = as_words(cells.iloc[:200])
    if not any(re.fullmatch(r"[-+]?\d*[.,]?\d+", word) for word in head):
        return ""
    strays = [*_strays(cells)]
    if not 0 < 2 * len(strays) <= len(cells):
        return ""
    row, cell = strays[0]
    more = f" and {len(strays) - 1} more" if len(strays) > 1 else ""
    return f"numbers but for {cell[:20]!r} in row {row + 1}{more}"


def is_id(name, cells, numbers):
    """Whether a column names the rows."""
    plain = name.strip().lower()
    called = plain in ID_NAMES or plain.endswith(("_id", " id", "-id"))
    if numbers is None:
        return called and cells.is_unique
    for part in (numbers[:100], numbers):  # most columns show it at once
        if np.isnan(part).any() or (part != np.rint(part)).any():
            return False
    if called:
        return cells.is_unique
    steps = np.diff(numbers)
    return len(numbers) >= FEW_ROWS and bool((steps > 0).all() or (steps < 0).all())
