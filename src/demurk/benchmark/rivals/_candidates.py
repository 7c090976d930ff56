"""Usual methods on candidate sets."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from demurk.utils._rows import narrow_indices

__all__ = ["EveryCandidate", "SuspectCandidates"]


class EveryCandidate(ClassifierMixin, BaseEstimator):
    """A classifier fitted to one copy of a sample for each of its candidates.

    Parameters
    ----------
    estimator : classifier
        Classifier for one class per sample that takes weights.

    Notes
    -----
    The copies of a sample weigh one together. This is what ignoring the problem amounts
    to.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from demurk.benchmark.rivals import EveryCandidate
    >>> X, candidates = [[-1.0], [1.0], [2.0]], [[1, 0], [1, 1], [0, 1]]
    >>> EveryCandidate(LogisticRegression()).fit(X, candidates).predict([[3.0]])
    array([1])
    """

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y):
        """Fit to every candidate.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples, n_classes)
            Candidate sets.

        Returns
        -------
        self : EveryCandidate
            Fitted classifier.
        """
        Y = np.asarray(y) > 0
        row, candidate = np.nonzero(Y)
        weights = 1 / Y.sum(axis=1)[row]
        X = np.asarray(X)[row]
        self.estimator_ = clone(self.estimator).fit(X, candidate, sample_weight=weights)
        self.classes_ = self.estimator_.classes_
        return self

    def predict(self, X):
        """Most likely classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        classes : ndarray of int of shape (n_samples,)
            Columns of the candidate sets.
        """
        return self.estimator_.predict(X)


class SuspectCandidates(BaseEstimator):
    """Which candidates are false, by predictions that did not see them.

    Parameters
    ----------
    estimator : estimator
        A forest of regression trees with out-of-bag predictions, or a
        :class:`~demurk.audit.LabelAudit`.

    Attributes
    ----------
    noise_scores_ : csr_array of shape (n_samples, n_labels)
        How suspect each candidate is.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from demurk.benchmark.rivals import SuspectCandidates
    >>> forest = RandomForestRegressor(50, oob_score=True, random_state=0)
    >>> X = [[i % 2] for i in range(40)]
    >>> Y = [[i % 2, 1 - i % 2] for i in range(40)]
    >>> Y[0] = [1, 1]
    >>> found = SuspectCandidates(forest).fit(X, Y).noise_scores_
    >>> bool(found[0, 0] > 0.8 > 0.2 > found[0, 1])
    True
    """

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y):
        """Fit to the candidates and look at each of them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples, n_labels)
            Candidates.

        Returns
        -------
        self : SuspectCandidates
            Fitted estimator.
        """
        Y = np.asarray(y)
        X = narrow_indices(X) if issparse(X) else np.asarray(X)
        fitted = clone(self.estimator).fit(X, Y)
        if hasattr(fitted, "scores_"):
            suspicion = fitted.scores_
        else:
            suspicion = 1 - fitted.oob_prediction_
        row, label = np.nonzero(Y > 0)
        entries = suspicion[row, label], (row, label)
        self.noise_scores_ = csr_array(entries, shape=Y.shape)
        return self
