"""Conditions on the columns of a table, written as plain data."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import datetime
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fnmatch import fnmatchcase
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from demurk.labels._data import Mask
from demurk.labels._sets import NUMBER_TYPES, is_missing, short

LISTS = ("all", "any", "none")
KEYWORDS = (*LISTS, "not", "at_least", "of")
COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    "<": operator.lt,
}
TESTS = "'>= 7' (or <=, ==, !=, >, <), 'known', 'missing', a number, or a list of these"
# Both are matched with text stripped of spaces: no two parts compete for one space.
_TEST = re.compile(r"(>=|<=|==|!=|>|<)\s*(\S.*)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?", re.ASCII)
# Wide enough for all dates that people write, and fine enough for all but clocks.
_INSTANT = "datetime64[us]"

# By the kind of a column: what it is compared with, and what to say otherwise.
_KINDS: dict[str, tuple[type, str]] = {
    "f": (float, "numbers; give a number"),
    "M": (np.datetime64, "dates; write one as in '>= 2024-01-31'"),
    "O": (str, "text; write '== word'"),
}

# What a condition says of each row: surely true, and possibly true. They differ where
# a value is missing.
Truth = tuple[Mask, Mask]
Reader = Callable[[str], list[NDArray[Any]]]


def plain_condition(condition: Any, where: str) -> Any:
    """Copy a condition as str, dict and list, or refuse it; `where` names the rule."""
    if isinstance(condition, str) and condition:
        return condition
    if not isinstance(condition, Mapping) or not condition:
        raise ValueError(
            f"{where} has the condition {short(condition)}; give the name of a column, "
            "or a dict such as {'any': ['I10', 'C09*']} or {'glucose': '>= 7'}."
        )
    if ("at_least" in condition) != ("of" in condition):
        raise ValueError(
            f"{where} has one of 'at_least' and 'of' without the other; write "
            "{'at_least': 2, 'of': [...]}."
        )
    plain: dict[str, Any] = {}
    for key, value in condition.items():
        if not isinstance(key, str) or not key:
            raise ValueError(
                f"{where} has the key {short(key)} in a condition; give a column name "
                f"or one of {', '.join(KEYWORDS)}."
            )
        plain[key] = _plain_entry(key, value, where)
    n_parts = len(plain.get("of", ()))
    if "of" in plain and not 1 <= plain["at_least"] <= n_parts:
        raise ValueError(
            f"{where} asks for at least {short(plain['at_least'])} of {n_parts} "
            f"conditions; give a number from 1 to {n_parts}."
        )
    return plain


def _plain_entry(key: str, value: Any, where: str) -> Any:
    if key == "not":
        return plain_condition(value, where)
    if key == "at_least":
        if type(value) is not int:
            raise ValueError(
                f"{where} has {short(value)} after 'at_least'; give a whole number."
            )
        return value
    if key in KEYWORDS:
        if not isinstance(value, (list, tuple)) or not value:
            raise ValueError(
                f"{where} has {short(value)} after '{key}'; give a list of conditions."
            )
        return [plain_condition(part, where) for part in value]
    tests = value if isinstance(value, (list, tuple)) and value else [value]
    for test in tests:
        _parse_test(test, key, where)
    plain = [test.item() if isinstance(test, np.generic) else test for test in tests]
    return plain if isinstance(value, (list, tuple)) else plain[0]


def _parse_test(test: Any, column: str, where: str) -> tuple[str, Any]:
    """Name of the comparison and what to compare with: number, date or text."""
    if isinstance(test, NUMBER_TYPES) and not is_missing(test):
        with suppress(OverflowError):
            return "==", float(test)
    if isinstance(test, str):
        if test in ("known", "missing"):
            return test, None
        if match := _TEST.fullmatch(test.strip()):
            name, text = match.groups()
            operand = _operand(text)
            if not isinstance(operand, str) or name in ("==", "!="):
                return name, operand
    raise ValueError(
        f"{where} tests the column {short(column)} with {short(test)}; give {TESTS}."
    )


def _operand(text: str) -> float | np.datetime64 | str:
    """What a test compares with; "nan" and what is neither number nor date is text."""
    with suppress(ValueError):
        value = float(text)
        return text if math.isnan(value) else value
    if _DATE.fullmatch(text):
        with suppress(ValueError):  # the 31st of February
            return np.datetime64(text, "us")
    return text


def patterns_of(condition: Any) -> Iterator[str]:
    """All names and patterns of columns in a plain condition."""
    if isinstance(condition, str):
        yield condition
        return
    for key, value in condition.items():
        if key == "not":
            yield from patterns_of(value)
        elif key in (*LISTS, "of"):
            for part in value:
                yield from patterns_of(part)
        elif key != "at_least":
            yield key


def find_columns(pattern: str, names: list[str]) -> list[int]:
    """Positions of the columns that a name or a pattern means."""
    if pattern in names:  # a name may hold * or [ itself
        return [names.index(pattern)]
    return [place for place, name in enumerate(names) if fnmatchcase(name, pattern)]


def evaluate(condition: Any, read: Reader, where: str) -> Truth:
    """Truth of a plain condition in every row; `read` gives the columns of a pattern.

    Missing values follow Kleene's three-valued logic: a test of one is possible but not
    sure, and counting sure and possible parts carries that through.
    """
    if isinstance(condition, str):
        condition = {condition: "> 0"}
    parts = []
    for key, value in condition.items():
        if key == "not":
            parts.append(_negate(evaluate(value, read, where)))
        elif key in (*LISTS, "of"):
            within = [evaluate(part, read, where) for part in value]
            needed = {"all": len(within), "of": condition.get("at_least")}.get(key, 1)
            counted = _at_least(needed, within)
            parts.append(_negate(counted) if key == "none" else counted)
        elif key != "at_least":
            tests = value if isinstance(value, list) else [value]
            columns = []
            for values in read(key):
                held = [_compare(values, test, key, where) for test in tests]
                columns.append(_at_least(len(held), held))
            parts.append(_at_least(1, columns))
    return _at_least(len(parts), parts)


def _negate(truth: Truth) -> Truth:
    sure, possible = truth
    return ~possible, ~sure


def _at_least(needed: int, parts: list[Truth]) -> Truth:
    """Rows in which at least so many of the parts hold."""
    if len(parts) == 1:
        return parts[0]
    counts = np.zeros((2, len(parts[0][0])), dtype=np.int32)
    for part in parts:
        counts += part
    sure, possible = counts >= needed
    return sure, possible


def _missing(values: NDArray[Any]) -> Mask:
    if values.dtype.kind == "O":
        return np.array([value is None for value in values], dtype=bool)
    return np.isnat(values) if values.dtype.kind == "M" else np.isnan(values)


def _compare(values: NDArray[Any], test: Any, column: str, where: str) -> Truth:
    """One test on one column."""
    name, operand = _parse_test(test, column, where)
    kind = values.dtype.kind
    missing = _missing(values)
    if name in ("known", "missing"):
        holds = missing if name == "missing" else ~missing
        return holds, holds
    if missing.all():  # neither text nor numbers
        return ~missing, missing
    if kind == "O" and isinstance(test, str) and name in ("==", "!="):
        operand = _TEST.fullmatch(test.strip())[2]  # type: ignore[index]
    if not isinstance(operand, _KINDS[kind][0]):
        raise ValueError(
            f"{where} tests the column {short(column)} with {short(test)}, but it "
            f"holds {_KINDS[kind][1]}."
        )
    sure = COMPARISONS[name](values, operand).astype(bool) & ~missing
    return sure, sure | missing


@dataclass(frozen=True, eq=False)
class Table:
    """A table of any kind: names of its columns, and a way to take one out."""

    shape: tuple[int, int]
    column: Callable[[int], NDArray[Any]]
    names: list[str] | None = None


def load_table(X: Any) -> Table:
    """Wrap a data frame, sparse matrix or array; no column is read yet."""
    if sparse.issparse(X):
        columns = X.tocsc()
        return Table(X.shape, lambda at: _values(columns[:, [at]].toarray(), at))
    try:
        frame = nw.from_native(X, eager_only=True, pass_through=True)
    except Exception as error:  # frames fail with errors of any type
        reason = " ".join(str(error).split())
        raise ValueError(
            f"X of type {type(X).__name__} could not be read ({reason}); give a table "
            "whose columns have different names."
        ) from error
    if isinstance(frame, nw.DataFrame):
        series = list(frame.iter_columns())
        names = [str(name) for name in frame.columns]
        return Table(
            frame.shape, lambda at: _values(series[at].to_numpy(), names[at]), names
        )
    array = X if isinstance(X, np.ma.MaskedArray) else np.asarray(X)
    if array.ndim != 2:
        raise ValueError(
            f"X of type {type(X).__name__} has shape {array.shape}; Reshape your data "
            "to one row per sample and one column per feature."
        )
    return Table(array.shape, lambda at: _values(array[:, at], at))


def _values(column: Any, name: str | int) -> NDArray[Any]:
    """A column as floats with NaN, as dates with NaT, or as text with None."""
    column = column.ravel()
    hidden = np.ma.getmaskarray(column)
    column = np.asarray(column)
    if column.dtype.kind in "biuf":
        return np.where(hidden, np.nan, column.astype(np.float64))
    if column.dtype.kind == "M":
        return np.where(hidden, np.datetime64("NaT"), column.astype(_INSTANT))
    if column.dtype.kind == "m":  # numpy counts spans of time among the integers
        raise _unreadable(str(column[0]), 0, name)
    entries = [
        None if hide or is_missing(entry) else entry
        for entry, hide in zip(column.tolist(), hidden)
    ]
    known = [entry for entry in entries if entry is not None]
    if all(isinstance(entry, (*NUMBER_TYPES, Decimal)) for entry in known):
        return np.array([_as_float(e, i, name) for i, e in enumerate(entries)])
    if all(isinstance(entry, datetime.date) for entry in known):
        return np.array([_in_utc(entry) for entry in entries], dtype=_INSTANT)
    for row, entry in enumerate(entries):
        if entry is not None and not isinstance(entry, str):
            raise _unreadable(entry, row, name)
    text = np.empty(len(entries), dtype=object)
    text[:] = entries
    return text


def _as_float(entry: Any, row: int, name: str | int) -> float:
    try:
        return math.nan if entry is None else float(entry)
    except (OverflowError, ValueError):  # 400 digits; a signalling NaN
        raise _unreadable(entry, row, name) from None


def _in_utc(entry: Any) -> Any:
    """Times with a zone as frames give them, in UTC; everything else as it is."""
    if getattr(entry, "tzinfo", None) is None:
        return entry
    return entry.astimezone(datetime.UTC).replace(tzinfo=None)


def _unreadable(entry: Any, row: int, name: str | int) -> ValueError:
    return ValueError(
        f"Column {short(name)} of X holds {short(entry)} in row {row}; rules can read "
        "columns of numbers, of text or of dates."
    )
