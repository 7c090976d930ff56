"""Usual classifiers on murky labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier

from demurk.utils._optional import import_optional
from demurk.utils._rows import narrow_indices

__all__ = [
    "CleanlabFilter",
    "LabeledRows",
    "SupervisedUMAP",
]

N_FOLDS = 5


class LabeledRows(ClassifierMixin, BaseEstimator):
    """A multi-label classifier of scikit-learn, fitted to the labelled rows.

    Labels that are the same in all labelled rows are left out of the fit and predicted
    as they are. If every labelled row has one label, so has every prediction.

    Parameters
    ----------
    estimator : classifier
        Classifier for several outputs.
    unlabeled : bool, default=False
        Whether it takes the rows without labels too, marked by -1.
    dense : bool, default=False
        Whether it needs dense features.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from demurk.benchmark.rivals import LabeledRows
    >>> X, Y = [[0.0], [1.0], [2.0]], [[0, 1], [1, 1], [-1, -1]]
    >>> LabeledRows(KNeighborsClassifier(1)).fit(X, Y).predict([[1.4]])
    array([[1, 1]])
    """

    def __init__(self, estimator, unlabeled=False, dense=False):
        self.estimator = estimator
        self.unlabeled = unlabeled
        self.dense = dense

    def fit(self, X, y):
        """Fit to the rows that have labels, or to all.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples, n_labels)
            Labels 0 and 1; -1 in rows without labels.

        Returns
        -------
        self : LabeledRows
            Fitted classifier.
        """
        X, Y, labeled = _rows(X, y)
        known = Y[labeled]
        self.varies_ = known.min(axis=0) < known.max(axis=0)
        self.constants_ = known[0].astype(np.float64)
        self.single_ = known.shape[1] > 1 and bool((known.sum(axis=1) == 1).all())
        rows = slice(None) if self.unlabeled else labeled
        if self.varies_.any():
            self._fit(self._features(X[rows]), Y[rows][:, self.varies_])
        return self

    def _fit(self, X, Y):
        # One column is one output, which forests and neighbours want flat.
        one = Y.shape[1] == 1 and not isinstance(self.estimator, MultiOutputClassifier)
        self.estimator_ = clone(self.estimator).fit(X, Y.ravel() if one else Y)

    def predict_proba(self, X):
        """Probability of each label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_labels)
            Labels that nothing speaks for have probability 0.
        """
        X = self._features(X)
        out = np.tile(self.constants_, (X.shape[0], 1))
        if self.varies_.any():
            found = self.estimator_.predict_proba(X)
            found = found if isinstance(found, list) else [found]
            out[:, self.varies_] = np.column_stack([p[:, 1] for p in found])
        return np.nan_to_num(out)

    def predict(self, X):
        """Labels that are more likely than not, or the most likely one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        labels : ndarray of int of shape (n_samples, n_labels)
            0 and 1.
        """
        found = self.predict_proba(X)
        if self.single_:
            return np.eye(found.shape[1], dtype=np.int64)[found.argmax(axis=1)]
        return (found > 0.5).astype(np.int64)

    def _features(self, X):
        if issparse(X):
            return X.toarray() if self.dense else narrow_indices(X)
        return np.asarray(X)


def _rows(X, y):
    """Features that can be indexed, labels, and the rows that have all of theirs."""
    Y = np.asarray(y)
    labeled = (Y >= 0).all(axis=1)
    if not labeled.any():
        raise ValueError("No row of y has all its labels: give some rows without -1.")
    return X if issparse(X) else np.asarray(X), Y, labeled


class CleanlabFilter(BaseEstimator):
    """Classifier for each label, without the entries that cleanlab calls wrong.

    Parameters
    ----------
    estimator : classifier
        Classifier with probabilities for one label.

    Notes
    -----
    cleanlab sees probabilities from five folds. If nothing but one class would be left
    of a label, all its entries are kept.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from demurk.benchmark.rivals import CleanlabFilter
    >>> CleanlabFilter(LogisticRegression())
    CleanlabFilter(estimator=LogisticRegression())
    """

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y):
        """Find suspicious entries and fit to the others.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : ndarray of shape (n_samples, n_labels)
            Labels 0 and 1.

        Returns
        -------
        self : CleanlabFilter
            Fitted classifiers.
        """
        name = "cleanlab.multilabel_classification.filter"
        issues = import_optional(name, "peers")
        Y = y.reshape(len(y), -1)
        p = np.column_stack([self._held_out(X, column) for column in Y.T])
        lists = [np.flatnonzero(row).tolist() for row in Y]
        # The package takes no single label.
        wrong = np.zeros(Y.shape, dtype=bool)
        if Y.shape[1] > 1:
            # Its own processes would be forked from one with threads, and wait forever.
            found = issues.find_multilabel_issues_per_class(lists, p, n_jobs=1)
            wrong = np.asarray(found, dtype=bool)
        self.estimators_ = []
        for column, flags in zip(Y.T, wrong.T):
            kept = ~flags
            if np.ptp(column[kept]) == 0:
                kept[:] = True
            self.estimators_.append(clone(self.estimator).fit(X[kept], column[kept]))
        return self

    def _held_out(self, X, y):
        """Probability of the label from folds that did not see the row."""
        n_folds = min(N_FOLDS, *np.bincount(y, minlength=2))
        if n_folds < 2:
            return np.full(len(y), y.mean())
        folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
        found = cross_val_predict(
            self.estimator, X, y, cv=folds, method="predict_proba"
        )
        return found[:, 1]

    def predict_proba(self, X):
        """Probabilities, as a classifier for several outputs returns them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        probabilities : list of ndarray of shape (n_samples, 2)
            One for each label.
        """
        return [estimator.predict_proba(X) for estimator in self.estimators_]


class SupervisedUMAP(BaseEstimator):
    """Supervised UMAP with the Jaccard distance of label sets, then neighbours.

    Parameters
    ----------
    n_components : int, default=10
        Dimensions of the map.
    n_neighbors : int, default=10
        Neighbours on the map that vote.
    random_state : int, default=None
        Seed.

    Examples
    --------
    >>> from demurk.benchmark.rivals import SupervisedUMAP
    >>> SupervisedUMAP(5)
    SupervisedUMAP(n_components=5)
    """

    def __init__(self, n_components=10, n_neighbors=10, random_state=None):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.random_state = random_state

    def fit(self, X, y):
        """Learn the map, and keep where the samples lie on it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : ndarray of shape (n_samples, n_labels)
            Labels 0 and 1.

        Returns
        -------
        self : SupervisedUMAP
            Fitted map.
        """
        umap = import_optional("umap", "peers")
        sets = np.asarray(y).reshape(len(y), -1) > 0
        self.map_ = umap.UMAP(
            n_components=self.n_components,
            target_metric="jaccard",
            random_state=self.random_state,
        ).fit(X, sets)
        voters = KNeighborsClassifier(min(self.n_neighbors, len(y)))
        self.voters_ = voters.fit(self.map_.embedding_, y)
        return self

    def predict_proba(self, X):
        """Probabilities, as a classifier for several outputs returns them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        probabilities : list of ndarray of shape (n_samples, 2)
            One for each label.
        """
        return self.voters_.predict_proba(self.map_.transform(X))
