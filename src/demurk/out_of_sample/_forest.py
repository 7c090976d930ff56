"""Forests whose predictions of a row come from trees that did not see it."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array

from demurk.out_of_sample._calibration import leave_one_out_means

__all__ = ["OutOfSampleForest", "out_of_bag_scores"]

# Sparse features with more entries than this are faster as a dense array.
DENSE_SHARE = 0.05


class OutOfSampleForest(BaseEstimator):
    """A regression forest on all labels at once, with out-of-bag scores.

    Parameters
    ----------
    forest : RandomForestRegressor or ExtraTreesRegressor
        The forest; its trees must draw bootstrap samples.

    Attributes
    ----------
    forest_ : estimator
        The fitted forest.
    order_ : ndarray of shape (n_labels,)
        Order in which the forest sees the labels.

    Notes
    -----
    The labels are sorted by their columns first: sums over labels round differently in
    another order, and a tie between two splits could then fall the other way.

    Splitting by the variance of 0/1 targets is splitting by the Gini index summed over
    the labels, and a regression forest does it in about half the time of a
    classification forest.
    """

    def __init__(self, forest):
        self.forest = forest

    def fit_out_of_sample(self, X, Y, observed=None, weights=None):
        """Grow the trees.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n_samples, n_features)
            Features.
        Y : ndarray of shape (n_samples, n_labels)
            Complete targets.
        observed : ndarray of bool of shape (n_samples, n_labels), default=None
            Ignored: trees need complete targets.
        weights : ndarray of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        out_of_sample : ndarray of shape (n_samples, n_labels)
            Out-of-bag scores.
        """
        X = check_array(X, accept_sparse="csr", dtype=np.float32)
        if sparse.issparse(X) and X.nnz >= DENSE_SHARE * X.shape[0] * X.shape[1]:
            X = X.toarray()
        self.order_ = np.lexsort(Y)
        Y = Y[:, self.order_]
        # A single target is handed over flat, as scikit-learn wants it.
        target = Y.ravel() if Y.shape[1] == 1 else Y
        # Equal weights are none to a forest, but it would draw other rows with them.
        each = None if weights is None or np.ptp(weights) == 0 else weights
        self.forest_ = clone(self.forest).fit(X, target, sample_weight=each)
        return self._restored(out_of_bag_scores(self.forest_, X, Y, weights))

    def _restored(self, scores):
        return scores[:, np.argsort(self.order_)]

    def predict(self, X):
        """Scores of new rows.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels)
            Mean of the leaves.
        """
        return self._restored(self.forest_.predict(X).reshape(X.shape[0], -1))


def out_of_bag_scores(forest, X, Y, weights=None):
    """Average, for each row, the trees whose bootstrap sample left it out.

    Parameters
    ----------
    forest : RandomForestRegressor or ExtraTreesRegressor
        Fitted with ``bootstrap=True``.
    X : {ndarray, csr_array} of shape (n_samples, n_features), float32
        The rows it was fitted on.
    Y : ndarray of shape (n_samples, n_labels)
        Their targets.
    weights : ndarray of shape (n_samples,), default=None
        How often each row counts.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_labels)
        A row that every tree has seen gets the mean of the other rows' targets.
    """
    trees = list(zip(forest.estimators_, forest.estimators_samples_))
    n_chunks = min(effective_n_jobs(forest.n_jobs), len(trees))
    parts = Parallel(n_jobs=n_chunks, prefer="threads")(
        delayed(_sum_unseen)(trees[i::n_chunks], X, Y.shape) for i in range(n_chunks)
    )
    total = np.sum([part[0] for part in parts], axis=0)
    votes = np.sum([part[1] for part in parts], axis=0)[:, np.newaxis]
    unseen = votes > 0
    means = leave_one_out_means(Y, np.isfinite(Y), weights)
    return np.where(unseen, total / np.maximum(votes, 1), means)


def _sum_unseen(trees, X, shape):
    total, votes = np.zeros(shape), np.zeros(shape[0])
    for tree, sampled in trees:
        unseen = np.ones(shape[0], dtype=bool)
        unseen[sampled] = False
        rows = np.flatnonzero(unseen)
        if rows.size == 0:
            continue
        part = X[rows]
        if sparse.issparse(part):
            part.sort_indices()
        # The tree below the estimator: checking its input again for each of hundreds
        # of trees takes longer than the prediction.
        predicted = tree.tree_.predict(part)
        total[rows] += predicted.reshape(rows.size, -1)
        votes[rows] += 1
    return total, votes
