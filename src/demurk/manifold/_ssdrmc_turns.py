"""The loop of SSDR-MC: weights and labels in turns."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from dataclasses import dataclass

import numpy as np

from demurk.graph._reconstruction import (
    difference_products,
    rebuild_weights,
    rebuilding_errors,
    weight_graph,
)
from demurk.manifold._ssdrmc_inference import infer, informed_entries

__all__ = ["Turn", "Turns"]


@dataclass(frozen=True)
class Turn:
    """What one turn found.

    Attributes
    ----------
    weights : ndarray of shape (n, k)
        Weights of the neighbours.
    scores : ndarray of shape (n, q)
        Soft labels.
    hard : ndarray of bool of shape (n, q)
        Given labels, and soft ones that reach the threshold.
    objective : float
        Rebuilding error of features and hard labels.
    """

    weights: np.ndarray
    scores: np.ndarray
    hard: np.ndarray
    objective: float


class Turns:
    """The loop: weights from labels, labels from weights, until the labels stay.

    Parameters
    ----------
    model : SSDRMC
        Parameters of the method.
    labels : LabelData
        Given labels.
    grams : ndarray of shape (n, k, k)
        Products of the differences between neighbours and samples, in features.
    indices : ndarray of int of shape (n, k)
        Neighbours of each sample.

    Attributes
    ----------
    best : Turn
        What the loop came to.
    n_turns : int
        Turns taken.
    objectives : list of float
        Objective after each turn.
    finished, finished_well : bool
        Whether the loop is over, and whether the labels stay or cycle.
    """

    def __init__(self, model, labels, grams, indices):
        self.model, self.grams, self.indices = model, grams, indices
        observed = labels.observed
        if np.array_equal(observed.all(axis=1), observed.any(axis=1)):
            # Whole rows are given or not: one system serves all labels.
            observed = observed[:, :1]
        self.given, self.Y = observed, labels.values.copy()
        counts = np.maximum(labels.observed.sum(axis=0), 1)
        self.prior = labels.values.sum(axis=0) / counts
        self.hard, self.scores = labels.values > 0, None
        self.n_turns, self.objectives, self.best = 0, [], None
        self.seen, self.to_go = {}, None
        self.finished = self.finished_well = False

    def advance(self):
        """One turn."""
        model = self.model
        from_features = model.start == "features" and not self.n_turns
        share = 0.0 if from_features else model.label_weight
        labels = self.hard.astype(np.float64)
        label_grams = difference_products(labels, self.indices)
        mixed = (1 - share) * self.grams + share * label_grams
        weights = rebuild_weights(mixed, model.weights, model.reg)
        scores = self._infer(weight_graph(self.indices, weights, tidy=True))
        hard = np.where(self.given, self.Y > 0, scores >= model.threshold)
        if model.inference == "paper":
            # Confident labels join the given ones and stay.
            self.Y = np.maximum(self.Y, scores >= model.threshold)
            hard = self.Y > 0
        changed = np.count_nonzero(hard != self.hard)
        new_grams = difference_products(hard.astype(np.float64), self.indices)
        errors = rebuilding_errors(
            (1 - model.label_weight) * self.grams + model.label_weight * new_grams,
            weights,
        )
        step = Turn(weights, scores, hard, float(errors.sum()))
        self.hard, self.scores = hard, scores
        self.n_turns += 1
        self.objectives.append(step.objective)
        settled = changed < model.tolerance
        if from_features and model.label_weight:
            settled = False  # the labels have had no say yet
        self._judge(step, settled)

    def _infer(self, W):
        model, Y, given = self.model, self.Y, self.given
        if model.inference != "paper":
            informed = informed_entries(W, given)
            if not informed.all():
                if not self.n_turns:
                    self._warn_uninformed(informed)
                Y = np.where(given | informed, Y, self.prior)
                given = given | ~informed
        return infer(
            W,
            Y,
            given,
            model.inference,
            fit_weight=model.fit_weight,
            start=self.scores,
        )

    def _warn_uninformed(self, informed):
        count = np.count_nonzero(~informed.any(axis=1))
        warnings.warn(
            f"{count} of {len(informed)} samples cannot be reached from any labelled "
            "sample and get the mean label; a larger n_neighbors would connect them.",
            UserWarning,
            stacklevel=7,
        )

    def _judge(self, step, settled):
        """Decide whether to go on; in a cycle, take the best of its states."""
        if self.to_go is None:
            self.best = step
            key = hash(np.packbits(step.hard).tobytes())
            if not settled and key in self.seen:
                self.to_go = self.n_turns - self.seen[key]
            self.seen[key] = self.n_turns
        elif step.objective < self.best.objective:
            self.best = step
        if self.to_go is not None:
            self.to_go -= 1
        self.finished_well = settled or self.to_go == 0
        self.finished = self.finished_well or self.n_turns >= self.model.max_iter
