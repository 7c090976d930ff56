"""The features as one more witness: a forest that did not see the row."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.special import logit
from sklearn.tree import DecisionTreeRegressor

from demurk.out_of_sample import OutOfSampleForest

__all__ = ["FeaturePrior", "forest_beliefs"]

SMALLEST = 1e-2
SLOPE_START, LARGEST_SLOPE = 1.5, 5.0
# Rows that the slope is learned from; more would not change it.
MAX_ROWS = 20_000
N_DIGITS = 6


def forest_beliefs(X, beliefs, n_estimators, n_jobs, rng):
    """Beliefs about each row of a forest on those about all other rows.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n_rows, n_features)
        Features.
    beliefs : ndarray of shape (n_rows, n_labels)
        What the forest learns.
    n_estimators : int
        Number of trees.
    n_jobs : int or None
        Threads.
    rng : RandomState
        Draws the seed.

    Returns
    -------
    beliefs : ndarray of shape (n_rows, n_labels)
        Out of bag, between zero and one.
    """
    forest = OutOfSampleForest(
        DecisionTreeRegressor(max_features="sqrt", min_samples_leaf=3),
        n_estimators,
        n_jobs=n_jobs,
        keep_trees=False,
        random_state=rng.randint(np.iinfo(np.int32).max),
    )
    # Sums over people round differently in another order, and trees break ties by it.
    beliefs = np.round(beliefs, N_DIGITS)
    return np.clip(forest.fit_out_of_sample(X, beliefs), 0, 1)


class FeaturePrior:
    """What the features say of a row before any answer.

    The frequency of a class or label, moved by what a forest sees in the row. A forest
    shrinks what it sees, so this is multiplied with a slope; it is learned from the
    beliefs, which is the maximisation of expectation and maximisation.

    Parameters
    ----------
    people : ClassPeople or LabelPeople
        The model of the people.
    scores : ndarray of shape (n_rows, n_labels)
        Beliefs of a forest that did not see the row.
    """

    def __init__(self, people, scores):
        self.people = people
        q = scores.shape[1]
        if people.single:
            scores = scores + SMALLEST / q
            self.seen = np.log(scores / scores.sum(axis=1, keepdims=True))
        else:
            self.seen = logit(np.clip(scores, SMALLEST, 1 - SMALLEST))
        self.slope = SLOPE_START
        step = -(-len(scores) // MAX_ROWS)
        self._part = np.flatnonzero(people.known.reshape(len(scores), -1).any(axis=1))
        self._part = self._part[::step]

    def fit_logs(self, beliefs):
        """Logarithms before any answer, from what is believed of all rows."""
        frequent = self.people.frequencies(beliefs)
        moved = self.seen - frequent
        part, known = moved[self._part], self.people.known[self._part]
        for _ in range(2):
            own = self.people.beliefs(frequent + self.slope * part)
            rest = (beliefs[self._part] - own) * part
            if self.people.single:
                mean = (own * part).sum(axis=1, keepdims=True)
                bend = own * (part - mean) ** 2
            else:
                rest, bend = rest * known, own * (1 - own) * part**2 * known
            # One row's worth of a prior keeps the slope where nothing is known.
            step = rest.sum() - (self.slope - SLOPE_START)
            slope = self.slope + step / (bend.sum() + 1)
            self.slope = float(np.clip(slope, 0, LARGEST_SLOPE))
        return frequent + self.slope * moved
