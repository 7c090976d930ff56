"""Beliefs and people in turn: expectation and maximisation."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np

from demurk.annotators._class_people import ClassPeople
from demurk.annotators._label_people import LabelPeople

__all__ = ["Fit", "FrequencyPrior", "expectation_maximization", "people_model"]


@dataclass(frozen=True, eq=False)
class Fit:
    """What expectation and maximisation arrive at.

    Attributes
    ----------
    logs : ndarray of shape (n_rows, n_labels)
        Log-probabilities of the classes up to a constant, log-odds of labels.
    beliefs : ndarray of shape (n_rows, n_labels)
        The probabilities.
    n_iter : int
        Rounds taken.
    """

    logs: np.ndarray
    beliefs: np.ndarray
    n_iter: int


def people_model(said, smoothing):
    """The model of people who give classes, or labels."""
    return (ClassPeople if said.single else LabelPeople)(said, smoothing)


class FrequencyPrior:
    """Before any answer, a row has each class or label as often as all rows have.

    Parameters
    ----------
    people : ClassPeople or LabelPeople
        The model of the people.
    """

    def __init__(self, people):
        self.people = people

    def fit_logs(self, beliefs):
        """Logarithms before any answer, from what is believed of all rows."""
        return self.people.frequencies(beliefs)


def expectation_maximization(people, prior, beliefs, max_iter, tol):
    """Estimate rates from beliefs and beliefs from rates, until they settle.

    Parameters
    ----------
    people : ClassPeople or LabelPeople
        The model of the people.
    prior : object
        With ``fit_logs(beliefs)``, what is believed of rows before any answer.
    beliefs : ndarray of shape (n_rows, n_labels)
        Where to begin.
    max_iter : int
        Rounds at most.
    tol : float
        Largest change of a belief that is none.

    Returns
    -------
    fit : Fit
        The result.
    """
    n_iter, change = 0, np.inf
    while n_iter < max_iter and change >= tol:
        logs = people.evidence(people.rates(beliefs)) + prior.fit_logs(beliefs)
        old, beliefs = beliefs, people.beliefs(logs)
        n_iter, change = n_iter + 1, np.abs(beliefs - old).max()
    return Fit(logs, beliefs, n_iter)
