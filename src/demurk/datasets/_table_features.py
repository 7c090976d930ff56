"""Features of a table: numbers as they are, everything else through skrub."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from demurk.datasets._files import check_known
from demurk.datasets._table_cells import (
    as_pandas,
    check_finite,
    holds_lists,
    is_id,
    numbers_of,
    stray_words,
    strict_numbers,
)
from demurk.datasets._table_pieces import apply_piece, category_piece, learn_pieces


class NoFeaturesError(ValueError):
    """No column could be a feature."""

    def __init__(self, columns=(), path="The table"):
        super().__init__(
            f"{path} has no column beside the labels that could be a feature; add "
            "some, or name embeddings with --features."
        )
        self.columns = columns


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
    categories_ : list of str
        Columns that were named as categories.
    encoded_ : list of str
        Columns that skrub takes care of.
    pieces_ : list of dict
        What skrub decided about them, as plain data.

    Notes
    -----
    Time and memory are O(n D) for n rows and D features; a table of numbers costs one
    copy. A model file holds no part of skrub: what it decided is kept as plain data.

    Examples
    --------
    >>> import pandas as pd
    >>> from demurk.datasets import TableFeatures
    >>> colours = ["red", "red", "blue"]
    >>> frame = pd.DataFrame({"size": [1.5, None, 4.0], "colour": colours})
    >>> features = TableFeatures(categorical=("colour",)).fit(frame)
    >>> features.transform(frame).shape[0], str(features.columns_[0])[:4]
    (3, 'size')
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
        self.columns_, self.numbers_ = [], []
        # One column after the other, so that each is held once.
        values = np.empty(frame.shape, order="F")
        for name in names:
            role, note, numbers = self._role(name, frame[name])
            if numbers is not None:
                values[:, len(self.numbers_)] = numbers
                self.numbers_.append(name)
            self.columns_.append(Column(name, role, note, int(numbers is not None)))
        values = values[:, : len(self.numbers_)]
        self.categories_ = [c.name for c in self.columns_ if c.role == "category"]
        self.encoded_ = [c.name for c in self.columns_ if c.role == "other"]
        self.pieces_ = self._learned(frame)
        if not self.numbers_ and not self.pieces_:
            self.medians_ = np.zeros(0)
            self._describe([])
            raise NoFeaturesError(self.columns_)
        return self._filled(values, frame, fit=True)

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
        used = [*self.numbers_, *(piece["column"] for piece in self.pieces_)]
        for name in used:
            if name not in frame.columns:
                raise ValueError(
                    f"There is no column {name!r}, but the model was trained on it; "
                    "give the same columns."
                )
        values = np.empty((len(frame), len(self.numbers_)), order="F")
        for j, name in enumerate(self.numbers_):
            values[:, j] = strict_numbers(frame[name], name, self.decimal)
        return self._filled(values, frame, fit=False)

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

    def _role(self, name, cells):
        """What a column is, a note, and its numbers where it is one of numbers."""
        if name in self.drop:
            return "left out", "as you said", None
        if name in self.categorical:
            return "category", "", None
        if name in self.text:
            return "other", "", None
        if holds_lists(cells):
            return "left out", "holds lists", None
        numbers = numbers_of(cells, self.decimal)
        if numbers is not None and np.isnan(numbers).all():
            return "left out", "is empty", None
        if name not in self.keep and is_id(name, cells, numbers):
            return "id", "names the row; --keep makes it a feature", None
        if numbers is None:
            return "other", stray_words(cells), None
        check_finite(numbers, name, cells)
        return "number", "", numbers

    # Computing

    def _learned(self, frame):
        """How the columns that are no numbers become features."""
        kinds = [category_piece(name, frame[name]) for name in self.categories_]
        text = [name for name in self.encoded_ if name in self.text]
        found = learn_pieces(frame[self.encoded_], text) if self.encoded_ else []
        return [piece for piece in (*kinds, *found) if piece["outputs"]]

    def _filled(self, values, frame, fit):
        """Numbers and what is made of other columns in one array, without gaps."""
        coded = [apply_piece(piece, frame[piece["column"]]) for piece in self.pieces_]
        result = np.hstack([values, *coded]) if coded else values
        missing = [np.flatnonzero(np.isnan(column)) for column in result.T]
        if fit:
            self.medians_ = np.array([_median(column) for column in result.T])
            self._describe([rows.size for rows in missing])
        for column, rows, median in zip(result.T, missing, self.medians_):
            column[rows] = median
        return result

    def _describe(self, gaps):
        """Names of the features, and a note of what skrub and the median did."""
        names = list(self.numbers_)
        notes = {}
        for name, gap, median in zip(names, gaps, self.medians_):
            if gap:
                filled = f"{gap} {'gaps' if gap > 1 else 'gap'} filled with {median:g}"
                notes[name] = ("number", filled, 1)
        for name in self.encoded_:
            notes[name] = ("left out", "is empty", 0)
        for piece in self.pieces_:
            names += piece["outputs"]
            notes[piece["column"]] = (piece["kind"], "", len(piece["outputs"]))
        self.names_out_ = names
        self.columns_ = [_noted(c, *notes.get(c.name, ())) for c in self.columns_]


def _median(column):
    """The median of what is no gap."""
    seen = column[~np.isnan(column)]
    return np.median(seen) if seen.size else 0.0


def _noted(column, role=None, note="", n_features=0):
    """A column with what was found out later."""
    if role is None:
        return column
    note = ", ".join(filter(None, (column.note, note)))
    return Column(column.name, role, note, n_features)
