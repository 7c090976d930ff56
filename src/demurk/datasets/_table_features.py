"""Features of a table: numbers as they are, everything else through skrub."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import re
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.validation import check_is_fitted

from demurk.datasets._files import MISSING, check_known, number_name
from demurk.utils._optional import import_optional

ID_NAMES = frozenset({"", "id", "index", "uid", "uuid", "guid"})
# So few rows may be in order by chance.
FEW_ROWS = 8


class CellError(ValueError):
    """A cell that cannot be used; whoever knows the file adds the line."""

    def __init__(self, column, row, problem):
        super().__init__(f"row {row + 1}: column {column!r} {problem}")
        self.column, self.row, self.problem = column, row, problem


@dataclass(frozen=True)
class Column:
    """What became of a column of a table.

    Parameters
    ----------
    name : str
        Its name in the table.
    role : {"label", "number", "category", "date", "text", "id", "image", "left out"}
        What it is read as.
    note : str
        What there is to say about it, perhaps nothing.
    n_features : int
        How many features it became.

    Examples
    --------
    >>> from demurk.datasets import Column
    >>> print(Column("age", "number", "3 gaps filled with 41", 1))
    age: number, 3 gaps filled with 41
    """

    name: str
    role: str
    note: str = ""
    n_features: int = 0

    def __str__(self):
        size = f" ({self.n_features} features)" if self.n_features > 1 else ""
        note = f", {self.note}" if self.note else ""
        return f"{self.name or '(no name)'}: {self.role}{size}{note}"


def table_features(*, drop=(), keep=(), text=(), categorical=(), decimal="."):
    """Make the transformer that turns a table's columns into features.

    It is what :func:`read_table` uses, for pipelines of your own.

    Parameters
    ----------
    drop : list of str, default=()
        Columns to leave out.
    keep : list of str, default=()
        Columns to use though they look like a name of the row.
    text : list of str, default=()
        Columns to read as text, however few their values.
    categorical : list of str, default=()
        Columns of categories, also if they are numbers: a feature per value.
    decimal : {".", ","}, default="."
        The mark in numbers that are written as text.

    Returns
    -------
    transformer : TableFeatures
        Takes a data frame and gives a float array without gaps. Once fitted, `columns_`
        says what became of each column.

    See Also
    --------
    read_table : Reads a file and does this.

    Examples
    --------
    >>> import pandas as pd
    >>> from demurk.datasets import table_features
    >>> frame = pd.DataFrame({"size": [1.0, None, 4.0], "old": ["yes", "no", "yes"]})
    >>> table_features().fit_transform(frame).tolist()
    [[1.0, 1.0], [2.5, 0.0], [4.0, 1.0]]
    """
    return TableFeatures(
        drop=drop, keep=keep, text=text, categorical=categorical, decimal=decimal
    )


class TableFeatures(TransformerMixin, BaseEstimator):
    """Features of a table, as :func:`table_features` makes them.

    Columns of numbers stay as they are, in double precision; numbers written as text
    become numbers. A column that is unique, whole and in order, or called id, names the
    row and is no feature. Everything else goes through skrub's ``TableVectorizer``:
    dates, categories, text. Gaps are filled with the median of the column.

    Parameters
    ----------
    drop, keep, text, categorical : list of str, default=()
        Corrections, see :func:`table_features`.
    decimal : {".", ","}, default="."
        The mark in numbers that are written as text.

    Attributes
    ----------
    columns_ : list of Column
        What became of each column.
    feature_names_in_ : ndarray of str
        Columns of the table in `fit`.
    n_features_in_ : int
        Their number.
    numbers_ : list of str
        Columns that are used as numbers.
    medians_ : ndarray of shape (n_features_out,)
        What fills the gaps.
    encoder_ : ``skrub.TableVectorizer`` or None
        What made the other features.

    Notes
    -----
    Time and memory are O(n D) for n rows and D features; a table of numbers costs one
    copy. skrub computes in single precision.
    """

    def __init__(self, *, drop=(), keep=(), text=(), categorical=(), decimal="."):
        self.drop = drop
        self.keep = keep
        self.text = text
        self.categorical = categorical
        self.decimal = decimal

    def fit(self, X, y=None):
        """Decide what each column is.

        Parameters
        ----------
        X : data frame of shape (n_samples, n_columns)
            The table without its labels.
        y : None
            Ignored.

        Returns
        -------
        self : TableFeatures
            The fitted transformer.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X, y=None):
        """Decide what each column is, and give the features.

        Parameters
        ----------
        X : data frame of shape (n_samples, n_columns)
            The table without its labels.
        y : None
            Ignored.

        Returns
        -------
        features : ndarray of shape (n_samples, n_features_out)
            No gaps.
        """
        frame = as_pandas(X)
        names = [str(name) for name in frame.columns]
        self.feature_names_in_ = np.array(names, dtype=object)
        self.n_features_in_ = len(names)
        for option in ("drop", "keep", "text", "categorical"):
            check_known(getattr(self, option), names, f"--{option}", "The table")
        self.columns_, self.numbers_, self.encoded_ = [], [], []
        # One column after the other, so that each is held once.
        values = np.empty(frame.shape, order="F")
        for name in names:
            numbers = self._decide(name, frame[name])
            if numbers is not None:
                values[:, len(self.numbers_) - 1] = numbers
        values = values[:, : len(self.numbers_)]
        coded = self._encode(frame, fit=True)
        if not self.numbers_ and not coded:
            raise ValueError(
                "The table has no column beside the labels that could be a feature; "
                "add some, or name embeddings with --features."
            )
        return self._filled(values, coded, fit=True)

    def transform(self, X):
        """Give the features of other rows.

        Parameters
        ----------
        X : data frame of shape (n_samples, n_columns)
            The same columns in any order; further ones are not looked at.

        Returns
        -------
        features : ndarray of shape (n_samples, n_features_out)
            No gaps. A category that `fit` has not seen is none of those it has.
        """
        check_is_fitted(self)
        frame = as_pandas(X)
        for name in [*self.numbers_, *self.encoded_, *self._kinds]:
            if name not in frame.columns:
                raise ValueError(
                    f"There is no column {name!r}, but the model was trained on it; "
                    "give the same columns."
                )
        values = np.empty((len(frame), len(self.numbers_)), order="F")
        for j, name in enumerate(self.numbers_):
            values[:, j] = _strict_numbers(frame[name], name, self.decimal)
        return self._filled(values, self._encode(frame, fit=False), fit=False)

    def get_feature_names_out(self, input_features=None):
        """Give the names of the features.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        names : ndarray of str
            Names of columns, with the part of a date or the value of a category added.
        """
        check_is_fitted(self)
        return np.array(self.names_out_, dtype=object)

    # Deciding

    def _decide(self, name, cells):
        """The numbers of a column, or None; notes what it is."""
        role, note, numbers = self._role(name, cells)
        if role == "number":
            self.numbers_.append(name)
        elif role == "other":
            self.encoded_.append(name)
        self.columns_.append(Column(name, role, note, int(role == "number")))
        return numbers

    def _role(self, name, cells):
        if name in self.drop:
            return "left out", "as you said", None
        if name in self.categorical:
            return "category", "", None
        if name in self.text:
            return "other", "", None
        if _holds_lists(cells):
            return "left out", "holds lists", None
        numbers = numbers_of(cells, self.decimal)
        if numbers is None and _is_empty(cells):
            numbers = np.full(len(cells), np.nan)
        if numbers is not None and np.isnan(numbers).all():
            return "left out", "is empty", None
        if name not in self.keep and _is_id(name, cells, numbers):
            return "id", "names the row; --keep makes it a feature", None
        if numbers is None:
            return "other", _stray_words(cells), None
        check_finite(numbers, name, cells)
        return "number", "", numbers

    # Computing

    @property
    def _kinds(self):
        return [c.name for c in self.columns_ if c.role == "category" and not c.note]

    def _encode(self, frame, fit):
        """Categories that were named, and what skrub makes of the rest."""
        blocks, n_rows = [], len(frame)
        if self._kinds:
            cells = np.column_stack([as_words(frame[name]) for name in self._kinds])
            if fit:
                self.kinds_ = OneHotEncoder(handle_unknown="ignore", dtype=np.float64)
                self.kinds_.fit(cells)
            blocks.append(self.kinds_.transform(cells).toarray())
        if self.encoded_:
            part = frame[self.encoded_]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if fit:
                    self.encoder_ = _encoder(self.text)
                    table = self.encoder_.fit_transform(part)
                else:
                    table = self.encoder_.transform(part)
            blocks.append(np.asarray(table, dtype=np.float64).reshape(n_rows, -1))
        elif fit:
            self.encoder_ = None
        return blocks

    def _filled(self, values, coded, fit):
        """One array without gaps."""
        result = np.hstack([values, *coded]) if coded else values
        width = result.shape[1]
        gaps = np.zeros(width, dtype=np.intp)
        medians = np.zeros(width) if fit else self.medians_
        for j in range(width):
            column = result[:, j]
            missing = np.isnan(column)
            gaps[j] = np.count_nonzero(missing)
            if fit:
                seen = column[~missing] if gaps[j] else column
                medians[j] = np.median(seen) if seen.size else 0.0
            if gaps[j]:
                column[missing] = medians[j]
        if fit:
            self.medians_ = medians
            self._describe(gaps)
        return result

    def _describe(self, gaps):
        """Names of the features, and a note of what skrub and the median did."""
        names = list(self.numbers_)
        notes = {}
        for name, gap, median in zip(names, gaps, self.medians_):
            if gap:
                filled = f"{gap} gap{'s' * (gap > 1)} filled with {median:g}"
                notes[name] = ("number", filled, 1)
        if self._kinds:
            for name, values in zip(self._kinds, self.kinds_.categories_):
                names += [f"{name}={value}" for value in values]
                notes[name] = ("category", "", len(values))
        if self.encoder_ is not None:
            names += [str(name) for name in self.encoder_.get_feature_names_out()]
            for name in self.encoded_:
                notes[name] = self._encoded_note(name)
        self.names_out_ = names
        self.columns_ = [_noted(c, *notes.get(c.name, ())) for c in self.columns_]

    def _encoded_note(self, name):
        kinds = {"datetime": "date", "low_cardinality": "category"}
        kind = self.encoder_.column_to_kind_.get(name)
        outputs = self.encoder_.input_to_outputs_.get(name, [])
        if not outputs:
            return "left out", "is empty", 0
        if kind == "numeric":
            return "number", "", len(outputs)
        return kinds.get(kind, "text"), "", len(outputs)


def _noted(column, role=None, note="", n_features=0):
    """A column with what was found out later."""
    if role is None:
        return column
    note = ", ".join(filter(None, (column.note, note)))
    return Column(column.name, role, note, n_features)


def _encoder(text):
    skrub = import_optional("skrub", "tables")
    words = skrub.StringEncoder(random_state=0)
    chosen = [(skrub.StringEncoder(random_state=0), list(text))] if len(text) else ()
    return skrub.TableVectorizer(high_cardinality=words, specific_transformers=chosen)


# Cells


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
    return cells.dtype == object or cells.dtype.name in ("str", "string", "category")


def _holds_lists(cells):
    if cells.dtype != object:
        return False
    return any(isinstance(cell, (list, dict, set, tuple, np.ndarray)) for cell in cells)


def _is_empty(cells):
    return bool(cells.isna().all())


def as_words(cells):
    """A column as an array of text, "" where a cell is missing; 1.0 is "1"."""
    if cells.dtype.kind in "iufb" and not cells.dtype.name == "category":
        values = cells.to_numpy(dtype=object, na_value=None)
        return np.array([_word(v) for v in values], dtype=object)
    gone = cells.isna().to_numpy()
    words = [_word(v) for v in cells.astype(object)]
    return np.where(gone, "", np.array(words, dtype=object))


def _word(value):
    if value is None or value != value:
        return ""
    if isinstance(value, (float, np.floating)):
        return number_name(value) if np.isfinite(value) else str(value)
    return str(value).strip()


def numbers_of(cells, decimal="."):
    """A column as floats, NaN for gaps; None if it holds anything else."""
    kind = cells.dtype
    if kind.kind in "biuf":
        return cells.to_numpy(dtype=np.float64, na_value=np.nan)
    if not is_text(cells):
        return None
    pa = import_optional("pyarrow", "tables")
    if kind == object or kind.name == "category":
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


def _strict_numbers(cells, name, decimal):
    """A column that was a number in training."""
    numbers = numbers_of(cells, decimal)
    if numbers is None and _is_empty(cells):
        return np.full(len(cells), np.nan)
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
                float(cell)
            except ValueError:
                yield row, cell


def _stray_words(cells):
    """A note about a column of numbers that some word keeps from being one."""
    if not is_text(cells):
        return ""
    head = as_words(cells.iloc[:200])
    if not any(re.fullmatch(r"[-+]?\d*[.,]?\d+", word) for word in head):
        return ""
    strays = [*_strays(cells)]
    if 2 * len(strays) > len(cells):
        return ""
    row, cell = strays[0]
    more = f" and {len(strays) - 1} more" if len(strays) > 1 else ""
    return f"numbers but for {cell[:20]!r} in row {row + 1}{more}"


def _is_id(name, cells, numbers):
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
