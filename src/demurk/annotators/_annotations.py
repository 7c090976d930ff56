"""What several people said about the same rows."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from demurk.annotators._agreement import measure_agreement
from demurk.annotators._read import read_array, read_long, read_wide
from demurk.annotators._sums import grouping
from demurk.labels import LabelData
from demurk.labels._sets import short
from demurk.utils._optional import import_optional

__all__ = ["Annotations"]


@dataclass(frozen=True, eq=False)
class Annotations:
    """Answers of several people, each to some of the rows.

    One answer is what one person said about one row: a class, or for each of several
    labels whether it applies. Most people make it with :meth:`from_wide`,
    :meth:`from_long` or :meth:`from_array`, and hand it to
    :class:`~demurk.annotators.Consensus`, :class:`~demurk.multilabel.MurkyClassifier`
    or :class:`~demurk.audit.LabelAudit` in place of y.

    Read more in the :ref:`User Guide <annotators>`.

    Parameters
    ----------
    codes : ndarray of shape (n_answers,) or (n_answers, n_labels)
        Place of the given class in `classes`; or for each label 1 (applies), 0 (does
        not) and -1 (not said).
    rows, people : ndarray of int of shape (n_answers,)
        Which row each answer is about, and whose it is. Nobody answers a row twice.
    n_rows : int
        Number of rows; some may have no answer.
    names : ndarray of shape (n_people,)
        What the people are called; some may have no answer.
    classes : ndarray of shape (n_labels,)
        What the classes or labels are called.
    single : bool
        Whether a row has one class; otherwise any number of labels.
    index : ndarray of shape (n_rows,), default=None
        What the rows are called, where not 0, 1, ...

    See Also
    --------
    Consensus : What probably holds, and how good each person is.

    Notes
    -----
    Memory is O(answers) for classes and O(answers q) bytes for q labels: what nobody
    was asked costs nothing.

    Examples
    --------
    >>> from demurk.annotators import Annotations
    >>> said = Annotations.from_array([[0, 0, -1], [1, 0, 1]], names=["a", "b", "c"])
    >>> said.n_rows, said.n_people, len(said.codes)
    (2, 3, 5)
    >>> said.counts()
       0  1
    a  1  1
    b  2  0
    c  0  1
    """

    codes: np.ndarray
    rows: np.ndarray
    people: np.ndarray
    n_rows: int
    names: np.ndarray
    classes: np.ndarray
    single: bool
    index: Any = None

    def __post_init__(self):
        if not len(self.codes) == len(self.rows) == len(self.people):
            raise ValueError(
                f"There are {len(self.codes)} codes, {len(self.rows)} rows and "
                f"{len(self.people)} people; give one of each for every answer."
            )
        for places, n, what in (
            (self.rows, self.n_rows, "rows"),
            (self.people, self.n_people, "people"),
        ):
            if len(places) and (places.min() < 0 or places.max() >= n):
                raise ValueError(
                    f"Answers name {what} from {places.min()} to {places.max()}, but "
                    f"there are {n}, counted from 0."
                )
        _refuse_twice(self.rows, self.people, self.names)

    @classmethod
    def from_wide(cls, frame):
        """Read a table with a column for each person.

        Parameters
        ----------
        frame : DataFrame of pandas or polars
            Columns ``class@anna``, ``class@ben``, ... with classes, or columns
            ``label:spam@anna``, ... with 1 and 0; a blank or -1 is no answer. All other
            columns are passed over.

        Returns
        -------
        annotations : Annotations
            With people and labels in the order of the columns, and the frame's index.

        Examples
        --------
        >>> import pandas as pd
        >>> from demurk.annotators import Annotations
        >>> said = {"class@anna": ["dog", "cat"], "class@ben": ["dog", None]}
        >>> Annotations.from_wide(pd.DataFrame(said)).names.tolist()
        ['anna', 'ben']
        """
        return cls(**read_wide(frame))

    @classmethod
    def from_long(
        cls,
        frame,
        row="row",
        annotator="annotator",
        label="label",
        *,
        value=None,
        single=None,
        index=None,
    ):
        """Read a table with a line for each answer.

        Parameters
        ----------
        frame : DataFrame of pandas or polars
            One line for each class or label that somebody gave.
        row, annotator, label : str
            Columns that say which row, who, and what.
        value : str, default=None
            Column of 1 and 0 that says whether the label applies, 1 by default. With
            it, a label of which a person says nothing is not known; without it, the
            labels that a person does not name do not apply, and a line with a blank
            label says that none does.
        single : bool, default=None
            Whether a row has one class. By default it has unless somebody gave two
            labels to one row, or there is a `value`.
        index : array-like of shape (n_rows,), default=None
            All rows in the order of X, as the column `row` calls them. By default those
            that occur, sorted.

        Returns
        -------
        annotations : Annotations
            With people and classes sorted.

        Examples
        --------
        >>> import pandas as pd
        >>> from demurk.annotators import Annotations
        >>> frame = pd.DataFrame({"row": [7, 7, 9], "annotator": ["a", "b", "b"],
        ...                       "label": ["cat", "dog", "dog"]})
        >>> said = Annotations.from_long(frame)
        >>> said.rows.tolist(), said.index.tolist(), said.classes.tolist()
        ([0, 0, 1], [7, 9], ['cat', 'dog'])
        """
        columns = {"row": row, "annotator": annotator, "label": label, "value": value}
        return cls(**read_long(frame, columns, single, index))

    @classmethod
    def from_array(cls, answers, *, names=None, classes=None):
        """Read an array.

        Parameters
        ----------
        answers : array-like of shape (n_rows, n_people) or \
                (n_rows, n_people, n_labels)
            Classes, or 1 and 0 for each label. -1, NaN, None and masked values are no
            answer.
        names : sequence of str, default=None
            What the people are called; the columns of a frame, else "0", "1", ...
        classes : array-like of shape (n_labels,), default=None
            What the labels are called; 0, 1, ... by default. Classes name themselves.

        Returns
        -------
        annotations : Annotations
            The answers.

        Examples
        --------
        >>> from demurk.annotators import Annotations
        >>> said = Annotations.from_array([[[1, 0], [1, 1]], [[0, 0], [-1, -1]]])
        >>> said.codes.tolist()
        [[1, 0], [1, 1], [0, 0]]
        """
        return cls(**read_array(answers, names, classes))

    def __len__(self):
        return self.n_rows

    def __getitem__(self, rows):
        """The answers about some rows: places, a mask or a slice."""
        picked = np.atleast_1d(np.arange(self.n_rows)[rows])
        by_row = grouping(self.rows, self.n_rows)
        starts, counts = by_row.indptr[picked], np.diff(by_row.indptr)[picked]
        ends = np.cumsum(counts)
        shift = np.repeat(starts - ends + counts, counts)
        kept = by_row.indices[np.arange(len(shift)) + shift]
        return replace(
            self,
            codes=self.codes[kept],
            rows=np.repeat(np.arange(len(picked)), counts),
            people=self.people[kept],
            n_rows=len(picked),
            index=None if self.index is None else self.index[picked],
        )

    @property
    def n_people(self):
        """Number of people."""
        return len(self.names)

    @property
    def n_labels(self):
        """Number of classes or labels."""
        return len(self.classes)

    @property
    def answers_per_row(self):
        """How many people answered each row, shape (n_rows,)."""
        return np.bincount(self.rows, minlength=self.n_rows)

    @property
    def answers_per_person(self):
        """How many rows each person answered, shape (n_people,)."""
        return np.bincount(self.people, minlength=self.n_people)

    def votes(self):
        """Votes for and votes in all.

        Returns
        -------
        votes : ndarray of shape (n_rows, n_labels)
            How many people gave each class, or said that the label applies.
        asked : ndarray of shape (n_rows, n_labels)
            How many said anything about it.
        """
        if self.single:
            votes = self._given(self.rows, self.n_rows)
            return votes, np.repeat(
                self.answers_per_row[:, np.newaxis], self.n_labels, axis=1
            )
        by_row = grouping(self.rows, self.n_rows)
        asked = (by_row @ (self.codes >= 0)).astype(int)
        return self._given(self.rows, self.n_rows), asked

    def _given(self, groups, n_groups):
        """How often each class or label was given, by group of answers."""
        if not self.single:
            return (grouping(groups, n_groups) @ (self.codes == 1)).astype(int)
        places = groups.astype(np.int64) * self.n_labels + self.codes
        size = n_groups * self.n_labels
        return np.bincount(places, minlength=size).reshape(n_groups, self.n_labels)

    def counts(self):
        """How often each person gave each class or label.

        Returns
        -------
        counts : pandas.DataFrame of shape (n_people, n_labels)
            Names of the people as index, of the classes or labels as columns.
        """
        pandas = import_optional("pandas", "tables")
        counts = self._given(self.people, self.n_people)
        return pandas.DataFrame(counts, index=self.names, columns=self.classes)

    def agreement(self, *, n_draws=500, random_state=None):
        """How far people agree beyond chance.

        Parameters
        ----------
        n_draws : int, default=500
            Bootstrap draws of the rows for the intervals of alpha.
        random_state : int, RandomState instance or None, default=None
            Seed of the draws.

        Returns
        -------
        agreement : Agreement
            Krippendorff's alpha with a 95 % interval, over all and by label; Cohen's
            kappa of every two people; and for each person the share of rows where the
            others agree, and whether he only ever gives one class.
        """
        return measure_agreement(self, n_draws, random_state)

    def consensus(self, X=None, **params):
        """What probably holds.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features), default=None
            Features; without them people alone are weighed.
        **params : dict
            Parameters of :class:`Consensus`.

        Returns
        -------
        consensus : Consensus
            Fitted.
        """
        # It knows this class, so it is imported here.
        from demurk.annotators._consensus import Consensus

        method = {"method": "dawid-skene"} if X is None else {}
        return Consensus(**method | params).fit(X, self)

    def to_learn(self, X, **params):
        """Soft labels that a classifier can learn from.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features)
            Features.
        **params : dict
            Parameters of :class:`Consensus`.

        Returns
        -------
        labels : LabelData
            The soft consensus, values between 0 and 1; observed where anybody said
            something.
        """
        beliefs = self.consensus(X, **params).label_distributions_
        known = self.votes()[1] > 0
        return LabelData(beliefs * known, known, self.classes, "noisy", self.single)

    def of_row(self, row):
        """What everybody said about a row.

        Parameters
        ----------
        row : int
            Its place.

        Returns
        -------
        answers : dict of str to object
            Person to class, or to the list of labels that apply.
        """
        found = {}
        for place in np.flatnonzero(self.rows == row):
            code = self.codes[place]
            said = (
                self.classes[code] if self.single else self.classes[code == 1].tolist()
            )
            found[str(self.names[self.people[place]])] = said
        return found


def _refuse_twice(rows, people, names):
    """Nobody answers one row twice."""
    keys = np.sort(rows.astype(np.int64) * len(names) + people)
    twice = np.flatnonzero(np.diff(keys) == 0)
    if twice.size:
        row, person = divmod(int(keys[twice[0]]), len(names))
        raise ValueError(
            f"Row {row} has two answers of {short(names[person])}; keep one, or read "
            "several labels with single=False."
        )
