"""Forests whose predictions of a row come from trees that did not see it."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from copy import copy

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state

from demurk.out_of_sample._calibration import leave_one_out_means
from demurk.out_of_sample._trees import StrippedTrees, strip_tree
from demurk.utils._rows import narrow_indices

__all__ = ["OutOfSampleForest", "out_of_bag_scores"]

# Sparse features with more entries than this are faster as a dense array.
DENSE_SHARE = 0.05
MAX_SEED = np.iinfo(np.int32).max


class OutOfSampleForest(BaseEstimator):
    """A regression forest on all labels at once, with out-of-bag scores.

    Parameters
    ----------
    tree : DecisionTreeRegressor or ExtraTreeRegressor
        A tree as all are grown, depth first and each on a bootstrap sample.
    n_estimators : int, default=100
        Number of trees.
    n_jobs : int, default=None
        Threads; None means 1, -1 all processors.
    random_state : int, RandomState instance or None, default=None
        Seed of the trees.

    Attributes
    ----------
    trees_ : StrippedTrees
        The trees, without values.
    targets_ : ndarray of shape (n_samples, n_labels)
        What the values of their leaves are made of.

    Notes
    -----
    The trees are those of scikit-learn's forest of the same seed, to the last split;
    but only one per thread is held whole at a time. Memory O(trees n) for any number of
    labels, where a forest of scikit-learn takes O(trees n q).

    The labels are sorted by their columns first: sums over labels round differently in
    another order, and a tie between two splits could then fall the other way.

    Splitting by the variance of 0/1 targets is splitting by the Gini index summed over
    the labels, and a regression forest does it in about half the time of a
    classification forest.
    """

    def __init__(self, tree, n_estimators=100, *, n_jobs=None, random_state=None):
        self.tree = tree
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs
        self.random_state = random_state

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
        X = _tree_rows(X)
        if sparse.issparse(X) and X.nnz >= DENSE_SHARE * X.shape[0] * X.shape[1]:
            X = X.toarray()
        order = np.lexsort(Y)
        sorted_Y = np.ascontiguousarray(Y[:, order])
        # Equal weights are none to a forest, but it would draw other rows with them.
        even = weights is None or np.ptp(weights) == 0
        chances = None if even else weights / weights.sum()
        rng = check_random_state(self.random_state)
        seeds = rng.randint(MAX_SEED, size=self.n_estimators)
        n_chunks = min(effective_n_jobs(self.n_jobs), len(seeds))
        grower = _Grower(self.tree, X, sorted_Y, chances)
        chunks = Parallel(n_jobs=n_chunks, prefer="threads")(
            delayed(grower.grow)(seeds[i::n_chunks]) for i in range(n_chunks)
        )
        stripped, totals, votes = zip(*chunks)
        parts = [part for chunk in stripped for part in chunk]
        self.trees_ = StrippedTrees.joined(parts, X.shape[1], X.shape[0])
        self.targets_ = Y
        scores = np.empty(Y.shape)
        scores[:, order] = _mean_votes(sum(totals), sum(votes), sorted_Y, weights)
        return scores

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
        return self.trees_.mean_targets(_tree_rows(X), self.targets_)


class _Grower:
    """Grows trees and forgets all but their splits and leaves."""

    def __init__(self, tree, X, targets, chances):
        self.tree, self.targets, self.chances = tree, targets, chances
        self.X = X
        # Splits are searched along columns, leaves along rows.
        self.columns = X.tocsc() if sparse.issparse(X) else np.asfortranarray(X)

    def grow(self, seeds):
        """Trees of these seeds, and the sums and numbers of their out-of-bag votes."""
        n_rows = len(self.targets)
        parts, total, votes = [], np.zeros(self.targets.shape), np.zeros(n_rows)
        with config_context(skip_parameter_validation=True):
            for seed in seeds:
                counts = self._draw(seed, n_rows)
                tree = copy(self.tree)
                tree.random_state = seed
                # Checking the same features again takes longer than a small tree.
                tree.fit(self.columns, self.targets, counts, check_input=False)
                nodes = tree.tree_.apply(self.X)
                parts.append(strip_tree(tree.tree_, nodes, counts))
                unseen = np.flatnonzero(counts == 0)
                total[unseen] += tree.tree_.value[nodes[unseen], :, 0]
                votes[unseen] += 1
        return parts, total, votes

    def _draw(self, seed, n_rows):
        """How often each row is in the bootstrap sample of a tree."""
        rng = np.random.RandomState(seed)
        if self.chances is None:
            drawn = rng.randint(0, n_rows, n_rows)
        else:
            drawn = rng.choice(n_rows, n_rows, p=self.chances)
        return np.bincount(drawn, minlength=n_rows)


def _tree_rows(X):
    """Features in the single precision of trees."""
    return narrow_indices(check_array(X, accept_sparse="csr", dtype=np.float32))


def _mean_votes(total, votes, Y, weights):
    """Mean of the votes; of the other rows' targets where there is none."""
    votes = votes[:, np.newaxis]
    means = leave_one_out_means(Y, np.isfinite(Y), weights)
    return np.where(votes > 0, total / np.maximum(votes, 1), means)


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
    totals, votes = zip(*parts)
    return _mean_votes(sum(totals), sum(votes), Y, weights)


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
