"""From the soft labels of SSDR-MC to answers, for training samples and for new ones."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from sklearn.utils.validation import check_is_fitted

from demurk.graph import nearest_neighbors
from demurk.graph._reconstruction import (
    difference_products,
    rebuild_weights,
    weight_graph,
)
from demurk.manifold._out_of_sample import known_places

__all__ = ["SoftLabelsMixin"]

# A weighted mean of labels is never certain.
UNCERTAIN = 1e-9


class SoftLabelsMixin:
    """Labels of the training samples and of samples that `fit` has not seen.

    The weights that rebuild the features of a new sample from its neighbours among the
    training samples are given to their soft labels. `_rebuilt` does the same with any
    other numbers, such as their places on the map.
    """

    def _transduce(self, step, labels):
        """Labels of the training samples after the last turn."""
        if self._single:
            chosen = step.scores.argmax(axis=1)
            if self.inference in ("exact", "harmonic"):
                seen = labels.labeled
                chosen[seen] = labels.values[seen].argmax(axis=1)
            return self.classes_[chosen]
        hard = step.hard
        if self.inference in ("relaxed", "paper"):
            hard = step.scores >= self.threshold
        hard = hard.astype(np.int64)
        if self.fallback == "argmax":
            bare = ~hard.any(axis=1) & ~labels.labeled
            hard[bare, step.scores[bare].argmax(axis=1)] = 1
        return hard

    def predict_proba(self, X):
        """Soft labels of samples, with the weights that rebuild their features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_labels)
            Soft labels, cut to (0, 1); rows sum to one only if `fit` had a 1-D y.
        """
        scores = np.clip(self._scores(X), UNCERTAIN, 1.0 - UNCERTAIN)
        return self._normalized(scores)

    def predict(self, X):
        """Labels of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        labels : ndarray of shape (n_samples, n_labels) or (n_samples,)
            1 where the soft label reaches `threshold`, or one class per sample if
            `fit` had a 1-D y.
        """
        scores = self._scores(X)
        if self._single:
            return self._decide(scores)
        return (scores >= self.threshold).astype(np.int64)

    def _scores(self, X):
        check_is_fitted(self)
        return self._rebuilt(self._validate_new(X), self.label_distributions_)

    def _rebuilt(self, X, values):
        """Weighted sums of what the neighbours of new samples have."""
        k = min(self.n_neighbors, self._fit_X.shape[0])
        graph = nearest_neighbors(
            self._fit_X, k, queries=X, method=self.neighbors, n_jobs=self.n_jobs
        )
        indices = graph.distances.indices.reshape(X.shape[0], -1)
        grams = difference_products(self._fit_X, indices, X)
        weights = rebuild_weights(grams, self.weights, self.reg)
        out = weight_graph(indices, weights, len(values), tidy=True) @ values.astype(
            np.float64
        )
        known, at = known_places(graph, values)
        out[known] = at
        return out
