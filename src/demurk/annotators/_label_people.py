"""People who give several labels: two rates for each label, drawn to their own mean."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy import sparse
from scipy.special import expit, logit

__all__ = ["LabelPeople"]

# What nobody ever did is this unlikely, not impossible.
SMALLEST = 1e-10
# Answers that the average of all people counts for in the mean of one of them.
POOLED_ANSWERS = 5.0


class LabelPeople:
    """Dawid and Skene's model for each label, with rates that share a mean.

    Where label l holds (t = 1) or not (t = 0), person j says v of it with probability
    ``confusion[j, l, t, v]``.

    Parameters
    ----------
    said : Annotations
        Labels that people gave.
    smoothing : float
        How many answers a person's mean over the labels counts for, in each rate.
    """

    single = False

    def __init__(self, said, smoothing):
        self.shape = said.n_people, said.n_labels
        self.smoothing = smoothing
        self.votes, self.asked = said.votes()
        self.known = self.asked > 0
        # For each label who gave it and who denied it, both by row and by person.
        self._said = [
            [_answers(said, said.codes[:, label] == value) for value in (0, 1)]
            for label in range(said.n_labels)
        ]
        self._said_by = [[part.T.tocsr() for part in both] for both in self._said]

    def start(self):
        """Beliefs before anything is known about people: shares of the votes."""
        overall = self.votes.sum() / max(self.asked.sum(), 1)
        return np.where(self.known, self.votes / np.maximum(self.asked, 1), overall)

    def counts(self, beliefs):
        """How often each person said v where a label holds or not, (j, l, t, v)."""
        counts = np.empty((*self.shape, 2, 2))
        for label, both in enumerate(self._said_by):
            holds = np.stack([1 - beliefs[:, label], beliefs[:, label]], axis=1)
            for value, answers in enumerate(both):
                counts[:, label, :, value] = answers @ holds
        return counts

    def rates(self, beliefs):
        """What people say of labels that hold or not, (n_people, n_labels, t, v)."""
        counts = self.concentration(beliefs)
        return counts / counts.sum(axis=3, keepdims=True)

    def concentration(self, beliefs):
        """Counts and the answers that the prior counts for, (j, l, t, v)."""
        counts = self.counts(beliefs)
        if self.smoothing:
            counts = counts + self.smoothing * self._prior(counts)
        return np.maximum(counts, SMALLEST)

    def _prior(self, counts):
        """The mean of a person over the labels, drawn to that of all people."""
        whole = counts.sum(axis=(0, 1)) + SMALLEST
        whole = whole / whole.sum(axis=1, keepdims=True)
        own = counts.sum(axis=1) + POOLED_ANSWERS * whole
        own = own / own.sum(axis=2, keepdims=True)
        return own[:, np.newaxis]

    def evidence(self, confusion):
        """Log-odds of each label from all answers to a row, (n_rows, n_labels)."""
        logs = np.log(np.maximum(confusion, SMALLEST))
        ratios = logs[:, :, 1] - logs[:, :, 0]
        odds = [
            both[0] @ ratios[:, label, 0] + both[1] @ ratios[:, label, 1]
            for label, both in enumerate(self._said)
        ]
        return np.stack(odds, axis=1)

    @staticmethod
    def beliefs(logs):
        """Probabilities from log-odds."""
        return expit(logs)

    def shares(self, beliefs):
        """How frequent the labels are among entries with answers."""
        asked = np.maximum(self.known.sum(axis=0), 1)
        return (beliefs * self.known).sum(axis=0) / asked

    def frequencies(self, beliefs):
        """The log-odds of the same."""
        return logit(np.clip(self.shares(beliefs), SMALLEST, 1 - SMALLEST))


def _answers(said, chosen):
    """Ones where a person gave one of the chosen answers, rows by people."""
    places = said.rows[chosen], said.people[chosen]
    shape = said.n_rows, said.n_people
    return sparse.csr_array((np.ones(len(places[0])), places), shape=shape)
