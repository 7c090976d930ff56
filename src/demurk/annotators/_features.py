"""The features as one more witness: models that did not see the row."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.special import logit
from sklearn.tree import DecisionTreeRegressor

from demurk.out_of_sample import (
    FeatureViews,
    LeaveOneOutKernelRidge,
    OutOfSampleForest,
    matrix_threads,
)

__all__ = ["FeaturePrior", "Witness"]

SMALLEST = 1e-2
SLOPE_START, LARGEST_SLOPE = 1.5, 5.0
# Rows that the slope is learned from; more would not change it.
MAX_ROWS = 20_000
N_DIGITS = 6
WIDTHS = (0.5, 1.0, 2.0)
RIDGES = np.logspace(-3, 3, 13)
MAX_EXACT, N_LANDMARKS = 2000, 300


class Witness:
    """What the features say of each row, from models of all other rows.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n_rows, n_features)
        Features.
    n_estimators : int
        Trees of the forest.
    n_jobs : int or None
        Threads.
    rng : RandomState
        Draws the seeds.
    """

    def __init__(self, X, n_estimators, n_jobs, rng):
        self.X, self.n_jobs, self.rng = X, n_jobs, rng
        self.n_estimators = n_estimators
        views = FeatureViews(tfidf=False, n_components=0).fit(X)
        self._scaled = views.views(X, ["scaled"])["scaled"]

    def forest(self, beliefs):
        """Beliefs of a forest about each row, out of bag.

        Parameters
        ----------
        beliefs : ndarray of shape (n_rows, n_labels)
            What the forest learns.

        Returns
        -------
        beliefs : ndarray of shape (n_rows, n_labels)
            Between zero and one.
        """
        forest = OutOfSampleForest(
            DecisionTreeRegressor(max_features="sqrt", min_samples_leaf=3),
            self.n_estimators,
            n_jobs=self.n_jobs,
            keep_trees=False,
            random_state=self.rng.randint(np.iinfo(np.int32).max),
        )
        # Sums over people round differently in another order, and trees break ties by
        # the last digit.
        beliefs = np.round(beliefs, N_DIGITS)
        return np.clip(forest.fit_out_of_sample(self.X, beliefs), 0, 1)

    def beliefs(self, beliefs):
        """The mean of the forest and of kernel ridge regression, leaving one out.

        Parameters
        ----------
        beliefs : ndarray of shape (n_rows, n_labels)
            What both learn.

        Returns
        -------
        beliefs : ndarray of shape (n_rows, n_labels)
            Between zero and one.
        """
        kernel = LeaveOneOutKernelRidge(
            widths=WIDTHS,
            ridges=RIDGES,
            max_exact=MAX_EXACT,
            n_landmarks=N_LANDMARKS,
            random_state=self.rng.randint(np.iinfo(np.int32).max),
        )
        rows = np.round(beliefs, N_DIGITS), np.ones(beliefs.shape, dtype=bool)
        with matrix_threads(len(beliefs), self.n_jobs):
            scores = kernel.fit_out_of_sample(self._scaled, *rows)
        return (self.forest(beliefs) + np.clip(scores, 0, 1)) / 2


class FeaturePrior:
    """What the features say of a row before any answer.

    The frequency of a class or label, moved by what the witness sees in the row. It
    shrinks what it sees, so this is multiplied with a slope, which is learned from the
    beliefs as a part of the maximisation.

    Parameters
    ----------
    people : ClassPeople or LabelPeople
        The model of the people.
    scores : ndarray of shape (n_rows, n_labels)
        Beliefs of the witness, who did not see the row.
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
