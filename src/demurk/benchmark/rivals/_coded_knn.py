"""PL-kNN as the program behind the tables of the CENDA paper has it."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

__all__ = ["WithoutNearest"]


class WithoutNearest(ClassifierMixin, BaseEstimator):
    """Neighbours that vote with their candidate sets, but for the nearest one.

    Among training samples the nearest one is the sample itself; the program leaves it
    out for new samples too. Features are standardised.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours that vote, from the second on.

    See Also
    --------
    demurk.partial_label.PLkNN : Lets the nearest one vote.

    Examples
    --------
    >>> from demurk.benchmark.rivals import WithoutNearest
    >>> X, candidates = [[0.0], [1.0], [1.5]], [[1, 0], [1, 0], [0, 1]]
    >>> WithoutNearest(1).fit(X, candidates).predict([[2.0]])
    array([0])
    """

    def __init__(self, n_neighbors=10):
        self.n_neighbors = n_neighbors

    def fit(self, X, y):
        """Keep the samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples, n_classes)
            Candidate sets.

        Returns
        -------
        self : WithoutNearest
            Fitted classifier.
        """
        self.candidates_ = np.asarray(y) > 0
        self.classes_ = np.arange(self.candidates_.shape[1])
        self.scaler_ = StandardScaler().fit(X)
        k = min(self.n_neighbors + 1, len(self.candidates_))
        self.search_ = NearestNeighbors(n_neighbors=k).fit(self.scaler_.transform(X))
        return self

    def predict(self, X):
        """Classes with most votes, a vote being one minus the share of the distance.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.

        Returns
        -------
        classes : ndarray of int of shape (n_samples,)
            Columns of the candidate sets.
        """
        distances, near = self.search_.kneighbors(self.scaler_.transform(X))
        distances, near = distances[:, 1:], near[:, 1:]
        total = distances.sum(axis=1, keepdims=True)
        weights = 1 - distances / np.where(total > 0, total, 1)
        if near.shape[1] == 1:
            weights[:] = 1
        votes = np.einsum("ik,ikq->iq", weights, self.candidates_[near])
        return self.classes_[votes.argmax(axis=1)]
