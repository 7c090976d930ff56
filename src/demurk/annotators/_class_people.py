"""People who give one class: a confusion matrix each, drawn to how they guess."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy import sparse
from scipy.special import softmax

__all__ = ["ClassPeople"]

# What nobody ever did is this unlikely, not impossible.
SMALLEST = 1e-10
# Answers that the average of all people counts for in how much one of them knows.
POOLED_ANSWERS = 2.0


class ClassPeople:
    """Dawid and Skene's model of people, with a prior.

    Where class k is true, person j says l with probability ``confusion[j, k, l]``.

    Parameters
    ----------
    said : Annotations
        Classes that people gave.
    smoothing : float
        How many answers the prior counts for, in each row of a confusion matrix.
    """

    single = True

    def __init__(self, said, smoothing):
        self.shape = said.n_people, said.n_labels
        self.smoothing = smoothing
        columns = said.people.astype(np.int64) * said.n_labels + said.codes
        self._given = sparse.csr_array(
            (np.ones(len(columns)), (said.rows, columns)),
            shape=(said.n_rows, said.n_people * said.n_labels),
        )
        self._given_to = self._given.T.tocsr()
        self.votes, asked = said.votes()
        self.known = asked[:, 0] > 0

    def start(self):
        """Beliefs before anything is known about people: shares of the votes."""
        shares = self.votes / np.maximum(self.votes.sum(axis=1, keepdims=True), 1)
        return np.where(self.known[:, np.newaxis], shares, 1 / self.shape[1])

    def counts(self, beliefs):
        """How often each person said l where k holds, (n_people, k, l)."""
        people, q = self.shape
        return (self._given_to @ beliefs).reshape(people, q, q).transpose(0, 2, 1)

    def rates(self, beliefs):
        """Confusion matrices, (n_people, k, l)."""
        counts = self.concentration(beliefs)
        return counts / counts.sum(axis=2, keepdims=True)

    def concentration(self, beliefs):
        """Counts and the answers that the prior counts for, (n_people, k, l)."""
        counts = self.counts(beliefs)
        if self.smoothing:
            counts = counts + self.smoothing * self._prior(counts)
        return np.maximum(counts, SMALLEST)

    def _prior(self, counts):
        """Who knows a share of the answers and guesses the others, in his own way.

        Hovy and others' model (MACE), whose share is what accuracy lies above chance.
        """
        q = self.shape[1]
        total = counts.sum(axis=(1, 2))
        said, truth = counts.sum(axis=1) + 1 / q, counts.sum(axis=2) + 1 / q
        guess = said / said.sum(axis=1, keepdims=True)
        truth = truth / truth.sum(axis=1, keepdims=True)
        chance = (guess * truth).sum(axis=1)
        room = np.maximum(1 - chance, SMALLEST)
        gained = np.trace(counts, axis1=1, axis2=2) - chance * total
        pooled = gained.sum() / max(room @ total, SMALLEST)
        knows = gained / room + POOLED_ANSWERS * pooled
        knows = np.clip(knows / (total + POOLED_ANSWERS), 0, 1)
        knows = knows[:, np.newaxis, np.newaxis]
        return knows * np.eye(q) + (1 - knows) * guess[:, np.newaxis, :]

    def evidence(self, confusion):
        """Log-likelihood of all answers to a row under each class, (n_rows, k)."""
        people, q = self.shape
        logs = np.log(np.maximum(confusion, SMALLEST))
        return self._given @ logs.transpose(0, 2, 1).reshape(people * q, q)

    @staticmethod
    def beliefs(logs):
        """Probabilities from their logarithms, up to a constant in each row."""
        return softmax(logs, axis=1)

    def shares(self, beliefs):
        """How frequent the classes are among rows with answers."""
        return beliefs[self.known].mean(axis=0)

    def frequencies(self, beliefs):
        """The logarithms of the same."""
        return np.log(np.maximum(self.shares(beliefs), SMALLEST))
