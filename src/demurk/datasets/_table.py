"""The table that people have: cells, features, labels, and what rows are called."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.sparse import issparse

from demurk.datasets._files import check_known, make_bunch
from demurk.datasets._table_cells import CellError, as_words
from demurk.datasets._table_features import Column, TableFeatures
from demurk.datasets._table_form import LabelForm
from demurk.datasets._table_labels import find_form, read_labels
from demurk.datasets._table_leaks import find_leaks
from demurk.datasets._table_source import Source
from demurk.datasets._table_write import relabelled, write_table
from demurk.utils._optional import import_optional

CORRECTIONS = ("drop", "keep", "text", "categorical")


class Table:
    """A table with labels, as :func:`read_table` gives it.

    Parameters
    ----------
    frame : data frame
        The cells as they stand.
    labels : list of str, int or str, default=None
        Label columns, see :func:`read_table`, likewise the other options.
    class_, tags, candidates : str, default=None
        The column of classes, tags or candidates.
    form : LabelForm, default=None
        How the labels stand in the table, instead of the four before it.
    options : dict, default=None
        `drop`, `keep`, `text`, `categorical` and `image`: lists of columns.
    given : tuple of (array, list of str), default=None
        Features that do not come from the cells, and their names.
    source : Source, default=None
        Where the cells came from.
    **settings
        `tag_sep`, `none` and `noise` of the form.

    Attributes
    ----------
    frame : data frame
        The cells as they stand in the file.
    labels : LabelData or None
        The labels.
    form : LabelForm
        How they stand in the table.
    name : str
        Name of the file without its folder and ending.
    checked : tuple of (ndarray, LabelData) or None
        Entries that a person has settled in a review, and the labels before it.

    See Also
    --------
    read_table : Reads one from a file.

    Examples
    --------
    >>> import pandas as pd
    >>> from demurk.datasets import Table
    >>> frame = pd.DataFrame({"size": [1.5, 2, 4], "kind": ["cat", "dog", None]})
    >>> table = Table(frame, class_="kind")
    >>> table.features.ravel().tolist(), table.labels.classes.tolist()
    ([1.5, 2.0, 4.0], ['cat', 'dog'])
    """

    def __init__(
        self,
        frame,
        *,
        labels=None,
        class_=None,
        tags=None,
        candidates=None,
        form=None,
        options=None,
        given=None,
        source=None,
        **settings,
    ):
        self.frame = frame
        self.source = Source() if source is None else source
        self.name = Path(self.source.path).name.split(".")[0] or "table"
        self.checked = None
        self._given = given
        _check_names(frame.columns, self.source.path)
        self._options = {key: tuple(v) for key, v in (options or {}).items() if v}
        for option, names in self._options.items():
            check_known(names, set(frame.columns), f"--{option}", self.source.path)
        if form is None:
            kept = [c for c in frame.columns if c not in self._options.get("drop", ())]
            path = self.source.path
            form = find_form(frame[kept], path, labels, class_, tags, candidates)
        form = replace(form, **{k: v for k, v in settings.items() if v is not None})
        try:
            self.labels, self.form = read_labels(frame, form, self.source.path)
        except CellError as error:
            raise self._placed(error) from error

    def __len__(self):
        """Give the number of rows."""
        return len(self.frame)

    def __repr__(self):
        """Say what it holds, in one line."""
        return f"<Table {self.name}: {len(self)} rows, {self.form}>"

    def _placed(self, error):
        """The error of a cell, with its place in the file."""
        place = self.source.place(error.row)
        return ValueError(f"{place}: column {error.column!r} {error.problem}")

    # Features

    @property
    def cells(self):
        """The columns that are no labels, as they stand."""
        names = set(self.form.columns)
        return self.frame[[c for c in self.frame.columns if c not in names]]

    @cached_property
    def _made(self):
        """Features, their names, the fitted transformer, what became of each column."""
        chosen = {key: self._options.get(key, ()) for key in CORRECTIONS}
        images = self._options.get("image", ())
        chosen["drop"] = (*chosen["drop"], *images)
        decimal = self.source.dialect.decimal
        if self._given is not None:
            return self._beside(decimal)
        transformer = TableFeatures(**chosen, decimal=decimal)
        try:
            features = transformer.fit_transform(self.cells)
        except CellError as error:
            raise self._placed(error) from error
        return features, list(transformer.get_feature_names_out()), transformer

    def _beside(self, decimal):
        """Features that were given, and the columns that were asked for by name."""
        features, names = self._given
        kinds = self._options.get("categorical", ())
        wanted = {*self._options.get("keep", ()), *kinds}
        cells = self.cells[[c for c in self.cells.columns if c in wanted]]
        if not cells.shape[1]:
            return features, names, None
        transformer = TableFeatures(
            keep=tuple(cells.columns), categorical=kinds, decimal=decimal
        )
        more = transformer.fit_transform(cells)
        dense = features.toarray() if issparse(features) else features
        names = [*names, *transformer.get_feature_names_out()]
        return np.hstack([dense, more]), names, transformer

    @property
    def features(self):
        """Features of shape (n_rows, n_features), without gaps."""
        return self._made[0]

    @property
    def feature_names(self):
        """Their names."""
        return self._made[1]

    @property
    def vectorizer(self):
        """The fitted transformer that made them; None where they were given."""
        return self._made[2]

    def transform(self, vectorizer):
        """Make features as another table's vectorizer makes them, and keep them.

        Parameters
        ----------
        vectorizer : TableFeatures
            Of the table that a model was trained on.

        Returns
        -------
        features : ndarray of shape (n_rows, n_features)
            No gaps.
        """
        vectorizer = copy(vectorizer).set_params(decimal=self.source.dialect.decimal)
        try:
            features = vectorizer.transform(self.cells)
        except CellError as error:
            raise self._placed(error) from error
        except ValueError as error:
            raise ValueError(f"{self.source.path}: {error}") from error
        # Columns are now what they were in the other table.
        names = list(vectorizer.get_feature_names_out())
        self.__dict__["_made"] = features, names, vectorizer
        return features

    @property
    def columns(self):
        """What became of each column, in their order."""
        made = {} if self.vectorizer is None else self.vectorizer.columns_
        found = {column.name: column for column in made}
        for name in self.form.columns:
            found[name] = Column(name, "label")
        for name in self._options.get("image", ()):
            found[name] = Column(name, "image")
        unused = "features come from elsewhere; --keep adds it"
        return [
            found.get(name, Column(name, "left out", unused))
            for name in map(str, self.frame.columns)
        ]

    # What rows are called

    def named(self, role):
        """Give the columns that have a role.

        Parameters
        ----------
        role : {"id", "text", "image"}
            What they say about a row.

        Returns
        -------
        columns : dict of str to ndarray of str
            Their cells.
        """
        said = self._options.get(role, ())
        names = [c.name for c in self.columns if c.role == role or c.name in said]
        return {name: as_words(self.frame[name]) for name in names}

    # Labels

    @property
    def y(self):
        """The labels as any estimator takes them: a frame, or a class per row."""
        pd = import_optional("pandas", "tables")
        labels = self.labels
        if not labels.single:
            Y = np.where(labels.observed, labels.values, -1).astype(np.int8)
            return pd.DataFrame(Y, columns=[str(name) for name in labels.classes])
        best = labels.classes[labels.values.argmax(axis=1)]
        if best.dtype.kind in "iuf":
            return np.where(labels.labeled, best, -1)
        return np.where(labels.labeled, best.astype(object), None)

    @cached_property
    def leaks(self):
        """Names of features that say the same as a label."""
        if self.labels is None or issparse(self.features):
            return []
        return find_leaks(self.features, self.feature_names, self.labels)

    def with_labels(self, labels):
        """Make a copy with other labels; cells whose label stays keep their spelling.

        Parameters
        ----------
        labels : array-like
            Per row and label 1, 0 or -1 for not observed; or a class per row, if the
            table has a column of classes, and None (or -1) for not observed.

        Returns
        -------
        table : Table
            The copy.
        """
        frame = relabelled(self.frame, self.form, self.labels, labels)
        return self._copy(frame)

    def with_columns(self, columns):
        """Make a copy with further columns behind the others.

        Parameters
        ----------
        columns : dict of str to array-like
            Their names and cells.

        Returns
        -------
        table : Table
            The copy.
        """
        frame = self.frame.copy(deep=False)
        for name, cells in columns.items():
            if name in frame.columns:
                raise ValueError(
                    f"{self.source.path} has a column {name!r} already; rename it."
                )
            frame[name] = cells
        return self._copy(frame)

    def _copy(self, frame):
        made = object.__new__(type(self))
        made.__dict__ = dict(vars(self))
        made.frame = frame
        made.labels = read_labels(frame, self.form, self.source.path)[0]
        made.__dict__.pop("leaks", None)
        return made

    def to(self, path, *, format=None, scores=None):
        """Write the table in the format that the name announces.

        Parameters
        ----------
        path : str or path
            The file to write. Text keeps separator, encoding, line ends and spelling of
            what was read.
        format : {"label studio", "doccano"}, default=None
            The tool to write for, where the name does not tell.
        scores : array-like of shape (n_rows,), default=None
            How sure each row is; annotation tools show it.

        Returns
        -------
        path : Path
            The file.
        """
        return write_table(self, Path(path), format, scores)

    def bunch(self):
        """Give data, target and names as the other readers do.

        Returns
        -------
        bunch : :class:`~sklearn.utils.Bunch`
            `data`, `target`, `feature_names`, `target_names`, `name`.
        """
        labels = self.labels
        if labels is None:
            target, names = np.zeros((len(self), 0), dtype=np.int8), []
        elif labels.single:
            best = labels.values.argmax(axis=1)
            target, names = np.where(labels.labeled, best, -1), labels.classes
        else:
            target = np.where(labels.observed, labels.values, -1).astype(np.int8)
            names = labels.classes
        names = [str(name) for name in names]
        data = self.features
        data = data if issparse(data) else np.ascontiguousarray(data)
        return make_bunch(data, target, self.feature_names, names, self.name)


def table_from_bunch(bunch, path=None):
    """The table of a data set whose features are numbers already."""
    pd = import_optional("pandas", "tables")
    target, names = bunch.target, [str(name) for name in bunch.target_names]
    if bunch.get("candidates") is not None:
        sets = [
            "|".join(np.array(names)[row > 0]) if (row >= 0).all() else ""
            for row in np.asarray(bunch.candidates)
        ]
        frame = pd.DataFrame({"class": sets})
        form = LabelForm("candidates", ("class",), "|")
    elif target.ndim == 1:
        words = np.array([*names, ""], dtype=object)
        frame, form = (
            pd.DataFrame({"class": words[target]}),
            LabelForm("class", ("class",)),
        )
    else:
        columns = [f"label:{name}" for name in names]
        frame = pd.DataFrame(target, columns=columns)
        form = LabelForm("labels", tuple(columns))
    source = Source(str(path or bunch.name), "bunch")
    return Table(
        frame, form=form, given=(bunch.data, bunch.feature_names), source=source
    )


def _check_names(names, path):
    seen = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{path} has two columns {name!r}; rename one of them.")
        seen.add(name)
