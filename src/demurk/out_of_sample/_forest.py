"""Forests whose predictions of a row come from trees that did not see it."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from copy import copy
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state

from demurk.metrics._ranking_rows import precision_rows, rank
from demurk.out_of_sample._means import leave_one_out_means
from demurk.out_of_sample._trees import (
    StrippedTrees,
    leaf_means,
    leaf_numbers,
    strip_tree,
)
from demurk.utils._rows import narrow_indices

__all__ = ["OutOfSampleForest", "out_of_bag_scores"]

# Sparse features with more entries than this are faster as a dense array.
DENSE_SHARE = 0.05
MAX_SEED = np.iinfo(np.int32).max
# With so many labels and trees, growing on projected labels is tried; below, it would
# save less than the trial costs.
MANY_LABELS = 80
MIN_PILOT = 15
# Labels per column of the projection, and the share of what the features tell that may
# be lost, at most, one standard error added.
LABELS_PER_COLUMN = 4
TOLERANCE = 0.02
# Entries that are ranked for it; more would take more memory than they tell.
MAX_CHECKED = 10**6


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
    keep_trees : bool, default=True
        Whether `predict` will be called. If not, each tree is forgotten once it has
        voted.
    random_state : int, RandomState instance or None, default=None
        Seed of the trees.

    Attributes
    ----------
    trees_ : StrippedTrees
        The trees, without values; only if they are kept.
    targets_ : ndarray of shape (n_samples, n_labels)
        What the values of their leaves are made of.
    n_columns_ : int or None
        Columns of the projected labels that most trees were grown on; None if all were
        grown on the labels themselves.

    Notes
    -----
    The trees are those of scikit-learn's forest of the same seed, to the last split;
    but only one per thread is held whole at a time. Memory O(trees n) for any number of
    labels, where a forest of scikit-learn takes O(trees n q).

    From 80 labels on, a tenth of the trees is grown twice: on the labels, and each on
    its own random projection of them to a quarter as many columns [1]_, which takes
    about half the time. If these rank the labels of out-of-bag rows as well, all other
    trees are grown so: the average precision, one standard error subtracted, may fall
    by 2 % of what the features add to the frequencies of the labels. On few rows, and
    where little can be predicted, this shows nothing, and the plain forest stays.

    The labels are sorted by their columns first: sums over labels round differently in
    another order, and a tie between two splits could then fall the other way.

    Splitting by the variance of 0/1 targets is splitting by the Gini index summed over
    the labels, and a regression forest does it in about half the time of a
    classification forest.

    References
    ----------
    .. [1] A. Joly, P. Geurts and L. Wehenkel, "Random forests with random projections
       of the output space for high dimensional multi-label classification", ECML PKDD
       2014. Theirs are projected whatever it costs; ours only where nothing is lost.
    """

    def __init__(
        self,
        tree,
        n_estimators=100,
        *,
        n_jobs=None,
        keep_trees=True,
        random_state=None,
    ):
        self.tree = tree
        self.n_estimators = n_estimators
        self.n_jobs = n_jobs
        self.keep_trees = keep_trees
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
            Entries that count where plain and projected labels are compared. The trees
            need complete targets.
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
        grower = _Grower(self.tree, X, sorted_Y, chances, self.n_jobs, self.keep_trees)
        seen = np.ones(Y.shape, dtype=bool) if observed is None else observed[:, order]
        grown, self.n_columns_ = _grow_forest(grower, seeds, seen)
        if self.keep_trees:
            self.trees_ = StrippedTrees.joined(grown.parts, X.shape[1], X.shape[0])
            self.targets_ = Y
        scores = np.empty(Y.shape)
        scores[:, order] = grown.scores(sorted_Y, weights)
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

    def __init__(self, tree, X, targets, chances, n_jobs, keep):
        self.tree, self.targets, self.chances = tree, targets, chances
        self.X, self.n_jobs, self.keep = X, n_jobs, keep
        # Sparse features are split by columns, and followed to the leaves by rows.
        self.columns = X.tocsc() if sparse.issparse(X) else X

    def grow(self, seeds, n_columns=None):
        """Trees of these seeds, on labels projected to so many columns if not None."""
        n_chunks = max(min(effective_n_jobs(self.n_jobs), len(seeds)), 1)
        chunks = Parallel(n_jobs=n_chunks, prefer="threads")(
            delayed(self._grow)(seeds[i::n_chunks], n_columns) for i in range(n_chunks)
        )
        return sum(chunks[1:], start=chunks[0])

    def _grow(self, seeds, n_columns):
        grown = _Grown([], np.zeros(self.targets.shape), np.zeros(len(self.targets)))
        with config_context(skip_parameter_validation=True):
            for seed in seeds:
                self._add_tree(grown, seed, n_columns)
        return grown

    def _add_tree(self, grown, seed, n_columns):
        rng = np.random.RandomState(seed)
        counts = self._draw(rng)
        targets = self.targets
        if n_columns is not None:
            targets = targets @ rng.normal(size=(targets.shape[1], n_columns))
        tree = copy(self.tree)
        tree.random_state = seed
        # Checking the same features again takes longer than a small tree.
        tree.fit(self.columns, targets, counts, check_input=False)
        leaves = leaf_numbers(tree.tree_, self.X)
        if self.keep or n_columns is not None:
            part = strip_tree(tree.tree_, leaves, counts)
        if self.keep:
            grown.parts.append(part)
        if n_columns is None:
            values = tree.tree_.value[tree.tree_.children_left < 0, :, 0]
        else:
            values = leaf_means(*part[-3:], self.targets)
        unseen = np.flatnonzero(counts == 0)
        grown.total[unseen] += values[leaves[unseen]]
        grown.votes[unseen] += 1

    def _draw(self, rng):
        """How often each row is in the bootstrap sample of a tree."""
        n_rows = len(self.targets)
        if self.chances is None:
            drawn = rng.randint(0, n_rows, n_rows)
        else:
            drawn = rng.choice(n_rows, n_rows, p=self.chances)
        return np.bincount(drawn, minlength=n_rows)


def _grow_forest(grower, seeds, observed):
    """All trees, and the columns of the projection that they were grown on."""
    n_labels = grower.targets.shape[1]
    n_pilot = max(len(seeds) // 10, MIN_PILOT)
    if n_labels < MANY_LABELS or len(seeds) < 2 * n_pilot:
        return grower.grow(seeds), None
    n_columns = n_labels // LABELS_PER_COLUMN
    plain = grower.grow(seeds[:n_pilot])
    projected = grower.grow(seeds[:n_pilot], n_columns)
    if not _no_loss(projected, plain, grower.targets, observed):
        n_columns = None
    return plain + grower.grow(seeds[n_pilot:], n_columns), n_columns


def _no_loss(projected, plain, Y, observed):
    """Whether projected trees rank the labels of out-of-bag rows as plain ones do."""
    truth = Y > 0.5
    # Rows with labels to be ranked before others.
    rows = (truth & observed).any(axis=1) & (~truth & observed).any(axis=1)
    rows = np.flatnonzero(rows)
    rows = rows[:: len(rows) * Y.shape[1] // MAX_CHECKED + 1]
    if len(rows) < 2:
        return False
    frequencies = leave_one_out_means(Y, observed)
    ours, theirs, nothing = (
        precision_rows(rank(truth[rows], scores[rows], observed[rows]), "average")
        for scores in (projected.scores(Y), plain.scores(Y), frequencies)
    )
    loss = theirs - ours
    error = loss.std() / np.sqrt(len(loss))
    gained = theirs.mean() - nothing.mean()
    return bool(loss.mean() + error < TOLERANCE * gained)


@dataclass(frozen=True)
class _Grown:
    """Stripped trees, and the sums and numbers of their out-of-bag votes."""

    parts: list
    total: np.ndarray
    votes: np.ndarray

    def scores(self, Y, weights=None):
        """Mean of the votes; of the other rows' targets where there is none."""
        return _mean_votes(self.total, self.votes, Y, weights)

    def __add__(self, other):
        return _Grown(
            self.parts + other.parts,
            self.total + other.total,
            self.votes + other.votes,
        )


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
