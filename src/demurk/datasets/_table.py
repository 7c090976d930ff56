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
from demurk.datasets._table_features import Column, NoFeaturesError, TableFeatures
from demurk.datasets._table_form import check_names, cut_name, refuse_dropped
from demurk.datasets._table_labels import as_given, find_form, read_labels
from demurk.datasets._table_leaks import find_leaks
from demurk.datasets._table_people import find_people, is_stem, person_columns
from demurk.datasets._table_settled import check_lines, labels_among, settled
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
    annotator, row : str, default=None
        In a table with a line for each answer of a person, the columns that say who and
        about which sample.
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
        The cells as they stand in the file. Where several people gave the labels, a row
        per sample, with what they say together in place of what each of them says.
    labels : LabelData or None
        The labels; of several people, what they say together.
    annotations : Annotations or None
        What each of several people says.
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
        annotator=None,
        row=None,
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
        check_names(frame.columns, self.source.path)
        self._options = {key: tuple(v) for key, v in (options or {}).items() if v}
        for option, names in self._options.items():
            check_known(names, frame.columns, f"--{option}", self.source.path)
        self.annotations, self._beside_labels = None, []
        settings = {k: v for k, v in settings.items() if v is not None}
        said = {"labels": labels, "class_": class_, "tags": tags}
        said["candidates"] = candidates
        try:
            if form is None:
                form = self._find_form(said, row, annotator, settings)
            self.form = replace(form, **settings)
            if self.annotations is None:
                self.labels, self.form = read_labels(frame, self.form, self.source.path)
        except CellError as error:
            raise self._placed(error) from error

    def __len__(self):
        """Give the number of rows."""
        return len(self.frame)

    def __repr__(self):
        """Say what it holds, in one line."""
        return f"<Table {self.name}: {len(self)} rows, {self.form}>"

    def _find_form(self, said, row, annotator, settings):
        """How the labels stand in the table; several people become one answer."""
        path, frame = self.source.path, self.frame
        drop = self._options.get("drop", ())
        refuse_dropped(path, said, drop)
        people = find_people(frame, path, said, row, annotator, drop, settings)
        if people is None:
            kept = frame[[c for c in frame.columns if c not in drop]]
            form = find_form(kept, path, said)
            # What others say is no feature.
            self._beside_labels = [
                Column(c, "left out", f"what {who} says")
                for c, (stem, who) in person_columns(kept.columns).items()
                if c not in form.columns and is_stem(stem, form)
            ]
            return form
        self._beside_labels = people.columns
        self.frame, form, self.labels, self.annotations = settled(people)
        if people.lines is not None:
            check_lines(people, self.source, self._options)
            self.source = replace(self.source, rows=people.lines)
        return form

    def _placed(self, error):
        """The error of a cell, with its place in the file."""
        place = self.source.place(error.row)
        return ValueError(f"{place}: column {error.column!r} {error.problem}")

    # Features

    @property
    def cells(self):
        """The columns that are no labels, as they stand."""
        names = {*self.form.columns, *(c.name for c in self._beside_labels)}
        return self.frame[[c for c in self.frame.columns if c not in names]]

    @cached_property
    def _made(self):
        """Features, their names, the fitted transformer, what became of each column."""
        gone = {column.name for column in self._beside_labels}
        chosen = {
            key: tuple(name for name in self._options.get(key, ()) if name not in gone)
            for key in CORRECTIONS
        }
        images = self._options.get("image", ())
        chosen["drop"] = (*chosen["drop"], *images)
        decimal = self.source.dialect.decimal
        try:
            if self._given is not None:
                return self._beside(decimal)
            transformer = TableFeatures(**chosen, decimal=decimal)
            features = transformer.fit_transform(self.cells)
        except CellError as error:
            raise self._placed(error) from error
        except NoFeaturesError as error:
            raise NoFeaturesError(error.columns, self.source.path) from error
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
        try:
            made = () if self.vectorizer is None else self.vectorizer.columns_
        except NoFeaturesError as error:
            made = error.columns
        found = {column.name: column for column in made}
        note = ""
        if self.annotations is not None:
            note = f"what {self.annotations.n_people} people say together"
        images = self._options.get("image", ())
        found |= {name: Column(name, "label", note) for name in self.form.columns}
        found |= {name: Column(name, "image") for name in images}
        found |= {column.name: column for column in self._beside_labels}
        unused = "features come from elsewhere; --keep adds it"
        names = dict.fromkeys([*map(str, self.frame.columns), *found])
        return [found.get(name, Column(name, "left out", unused)) for name in names]

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
        labels, y = self.labels, as_given(self.labels)
        if not labels.single:
            return pd.DataFrame(y, columns=[str(name) for name in labels.classes])
        return y if y.dtype.kind in "iuf" else y.astype(object)

    @cached_property
    def leaks(self):
        """Columns, or features from elsewhere, that say the same as a label."""
        if self.labels is None or issparse(self.features):
            return []
        pieces = () if self.vectorizer is None else self.vectorizer.pieces_
        return find_leaks(self.features, self.feature_names, self.labels, pieces)

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
        return self._copy(relabelled(self.frame, self.form, self.labels, labels))

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
                    f"{self.source.path} has a column {cut_name(name)!r} already; "
                    "rename it."
                )
            frame[name] = cells
        return self._copy(frame)

    def _copy(self, frame):
        made = copy(self)
        made.frame = frame
        if self.annotations is None:
            made.labels = read_labels(frame, self.form, self.source.path)[0]
        else:
            made.labels = labels_among(frame, self.form, self.labels)
        made.__dict__.pop("leaks", None)
        return made

    def to(self, path, *, format=None, scores=None):
        """Write the table in the format that the name announces.

        Parameters
        ----------
        path : str or path
            The file to write. Text keeps separator, encoding, line ends and spelling of
            what was read, JSON its records, a workbook its formulas, looks and sheets.
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
            target, names = as_given(labels), labels.classes
        names = [str(name) for name in names]
        data = self.features
        data = data if issparse(data) else np.ascontiguousarray(data)
        return make_bunch(data, target, self.feature_names, names, self.name)
