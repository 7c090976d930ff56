"""A forest at its best."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestRegressor

from demurk.metrics import multilabel_report
from demurk.out_of_sample import out_of_bag_scores

__all__ = ["TunedForest"]


class TunedForest(RegressorMixin, BaseEstimator):
    """Random forest whose leaf size is chosen out of bag.

    Parameters
    ----------
    leaf_sizes : tuple of int, default=(1, 2, 3, 5, 10)
        Samples in a leaf at least, to choose from.
    n_estimators : int, default=300
        Number of trees.
    random_state : int, default=None
        Seed.

    Attributes
    ----------
    forest_ : RandomForestRegressor
        The forest with the best average precision of the given labels, out of bag; the
        smaller leaves on ties.

    Examples
    --------
    >>> from demurk.benchmark.rivals import TunedForest
    >>> TunedForest((1, 5))
    TunedForest(leaf_sizes=(1, 5))
    """

    def __init__(
        self, leaf_sizes=(1, 2, 3, 5, 10), n_estimators=300, random_state=None
    ):
        self.leaf_sizes = leaf_sizes
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X, y):
        """Grow a forest of every leaf size and keep the best.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Features.
        y : ndarray of shape (n_samples, n_labels)
            Labels 0 and 1.

        Returns
        -------
        self : TunedForest
            The fitted forest.
        """
        best = -np.inf
        for size in self.leaf_sizes:
            forest = RandomForestRegressor(
                self.n_estimators,
                max_features="sqrt",
                min_samples_leaf=size,
                random_state=self.random_state,
            ).fit(X, y)
            unseen = out_of_bag_scores(forest, X.astype(np.float32), y.astype(float))
            found = multilabel_report(y, (unseen > 0.5).astype(int), unseen)["AP"]
            if found > best:
                best, self.forest_ = found, forest
        return self

    def predict(self, X):
        """Scores of new rows.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels)
            Mean of the leaves.
        """
        return self.forest_.predict(X)
