"""Simulated people who label rows: good ones, a specialist, and spammers."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from demurk.out_of_sample import out_of_bag_scores

__all__ = ["People", "simulated_people"]

# With fewer people than this nobody guesses: two of three would be most of them.
FEWEST_WITH_SPAMMERS = 5
N_SPAMMERS = 2
# How often a person falls for what everybody falls for.
TEMPTED = 0.5


@dataclass(frozen=True, eq=False)
class People:
    """What simulated people would answer to every row, and whom each row was given to.

    Attributes
    ----------
    answers : ndarray of shape (n_rows, n_people) or (n_rows, n_people, n_labels)
        Classes, or labels 1 and 0.
    asked : ndarray of bool of shape (n_rows, n_people)
        Whom each row was given to.
    spammers : ndarray of int
        Those who guess.
    """

    answers: np.ndarray
    asked: np.ndarray
    spammers: np.ndarray

    @property
    def given(self):
        """The answers that were asked for, -1 elsewhere."""
        asked = self.asked if self.answers.ndim == 2 else self.asked[:, :, np.newaxis]
        return np.where(asked, self.answers, -1)


def simulated_people(X, true, n_people, per_row, shared, rng):
    """Let people label some rows.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Features, which say what is ambiguous.
    true : ndarray of int of shape (n_rows,) or (n_rows, n_labels)
        True classes 0, 1, ... or labels.
    n_people : int
        How many. With five or more, the first two are spammers: one answers at random,
        the other nearly always gives the most frequent class, or always the most
        frequent label alone. The next one is a specialist, very good at a third of the
        classes or labels and bad at the others. All others err in their own way.
    per_row : int
        How many of them see a row, some people more often than others.
    shared : float
        Share of the rows (of the entries of several labels), those where a forest errs
        most, at which all but spammers give the forest's answer half of the time.
    rng : RandomState
        Draws everything.

    Returns
    -------
    people : People
        The answers.
    """
    Y = true if true.ndim == 2 else np.eye(true.max() + 1)[true]
    forest = RandomForestRegressor(
        100, max_features="sqrt", min_samples_leaf=3, random_state=0
    ).fit(X, Y)
    p = out_of_bag_scores(forest, X.astype(np.float32), Y.astype(float))
    n_spammers = N_SPAMMERS if n_people >= FEWEST_WITH_SPAMMERS else 0
    make = _class_answers if true.ndim == 1 else _label_answers
    answers = make(true, p, n_people, n_spammers, shared, rng)
    # The people with the largest keys see a row; some have larger ones than others.
    load = rng.uniform(0.5, 1.5, n_people)
    keys = rng.random_sample((len(X), n_people)) ** (1 / load)
    asked = keys.argsort(axis=1).argsort(axis=1) >= n_people - per_row
    return People(answers, asked, np.arange(n_spammers))


def _class_answers(true, p, n_people, n_spammers, shared, rng):
    n, q = p.shape
    others = p.copy()
    others[np.arange(n), true] = -1
    tempting = others.argmax(axis=1)
    pull = others.max(axis=1) - p[np.arange(n), true]
    hard = pull >= np.quantile(pull, 1 - shared)
    answers = np.empty((n, n_people), dtype=int)
    for person in range(n_people):
        if person < n_spammers:
            answers[:, person] = rng.randint(0, q, n)
            if person == 1:
                often = np.bincount(true).argmax()
                lazy = rng.random_sample(n) < 0.9
                answers[lazy, person] = often
            continue
        kept = np.clip(rng.uniform(0.55, 0.9) + rng.normal(0, 0.1, q), 0.2, 0.98)
        if person == n_spammers:
            kept = np.where(rng.permutation(q) < max(q // 3, 1), 0.95, 0.4)
        confusion = rng.dirichlet(np.full(q, 0.3), q) + 1e-9
        np.fill_diagonal(confusion, 0)
        confusion *= ((1 - kept) / confusion.sum(axis=1))[:, np.newaxis]
        confusion[np.arange(q), np.arange(q)] = kept
        edges = confusion.cumsum(axis=1)[true]
        own = (rng.random_sample((n, 1)) > edges).sum(axis=1).clip(0, q - 1)
        tempted = hard & (rng.random_sample(n) < TEMPTED)
        answers[:, person] = np.where(tempted, tempting, own)
    return answers


def _label_answers(true, p, n_people, n_spammers, shared, rng):
    n, q = p.shape
    pull = np.abs(true - p)
    hard = pull >= np.quantile(pull, 1 - shared)
    answers = np.empty((n, n_people, q), dtype=int)
    for person in range(n_people):
        if person < n_spammers:
            often = true.mean(axis=0)
            if person == 1:
                often = (np.arange(q) == often.argmax()).astype(float)
            answers[:, person] = rng.random_sample((n, q)) < often
            continue
        missing = rng.uniform(0.1, 0.4) * np.exp(rng.normal(0, 0.4, q))
        extra = rng.uniform(0.01, 0.1) * np.exp(rng.normal(0, 0.4, q))
        if person == n_spammers:
            knows = rng.permutation(q) < max(q // 3, 1)
            missing, extra = np.where(knows, [[0.05], [0.01]], [[0.5], [0.1]])
        wrong = rng.random_sample((n, q)) < np.where(true == 1, missing, extra)
        wrong |= hard & (rng.random_sample((n, q)) < TEMPTED)
        answers[:, person] = np.where(wrong, 1 - true, true)
    return answers
