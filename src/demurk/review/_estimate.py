"""How many errors remain, from what is expected and from what was found."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import betainc, expit, logit

__all__ = [
    "Remaining",
    "remaining_errors",
    "remaining_from_tallies",
    "tallies_of_decided",
    "tally",
]

# No label is beyond doubt.
FLOOR = 1e-3
N_BINS = 60
EDGE = logit(1 - FLOOR)
LOGITS = np.linspace(-EDGE, EDGE, N_BINS)
# How far the probabilities of an audit are off, before anything was looked at: those of
# suspects and doubtful labels by one shift of their logits, those of labels that nobody
# suspects by another, since what is found among the former says little of the latter.
# People err, too. Set on nine sets of the protocol `review`, with other seeds.
SHIFT_SPREAD, TAIL_SPREAD, PERSON_RATE = 0.8, 0.6, 0.01
SHIFTS, TAILS = np.linspace(-3.5, 3.5, 29), np.linspace(-3, 3, 13)
PERSONS = np.array([0.0, 0.01, 0.02, 0.04, 0.06, 0.09])
SUSPECT, IN_TAIL = expit((LOGITS + 2) / 0.7), expit(-1 - LOGITS)
TINY = 1e-9
LEAST_WEIGHT = 1e-7


@dataclass(frozen=True)
class Remaining:
    """Errors among what was not looked at.

    Attributes
    ----------
    expected : float
        How many.
    low, high : int
        The interval.
    """

    expected: float
    low: int
    high: int


def remaining_errors(wrong, shown=(), hits=(), level=0.9):
    """Estimate how many errors remain among what was not looked at.

    Parameters
    ----------
    wrong : array-like of shape (n_open,)
        Probability of being wrong of each label that was not looked at.
    shown : array-like of shape (n_decided,), default=()
        The same for those that were, as it stood when they were shown; first to last.
    hits : array-like of bool of shape (n_decided,), default=()
        Whether they were found to be wrong.
    level : float, default=0.9
        How often the interval is to hold the true number.

    Returns
    -------
    Remaining
        Expected number and interval.

    Notes
    -----
    The probabilities of an audit may be off, and what people found says how. A label
    that the audit gives the logit l is taken to be wrong with the logit
    ``l + a sigmoid((l + 2) / 0.7) + d sigmoid(-1 - l)``, and people to err at a rate of
    their own; the posterior of the three numbers is summed over a grid, and the errors
    that remain are counted at each of its points.

    An audit that is told of the decisions learns: how far off it was when the review
    began says less of it than the last decisions do. The i-th of n counts i / n.

    Which labels were looked at may depend on their probabilities. So suspects and
    labels drawn at random count alike, but only the latter say much about d: how many
    of the labels that nobody suspects are wrong. Before anything was looked at the
    interval is too sure of itself: with few rows, audits underestimate.

    Examples
    --------
    >>> from demurk.review._estimate import remaining_errors
    >>> before = remaining_errors([0.1] * 200)
    >>> after = remaining_errors([0.1] * 200, shown=[0.1] * 100, hits=[0] * 100)
    >>> after.expected < before.expected and after.high < before.high
    True
    """
    return remaining_from_tallies(tally(wrong), *tallies_of_decided(shown, hits), level)


def tallies_of_decided(shown, hits):
    """Count what was found to be wrong, and to be right; the last decision as one.

    Parameters
    ----------
    shown, hits : array-like of shape (n_decided,)
        As in `remaining_errors`.

    Returns
    -------
    found, kept : ndarray of shape (60,)
        Their tallies.
    """
    shown, hits = np.asarray(shown, dtype=float), np.asarray(hits, dtype=bool)
    counts = np.arange(1, len(shown) + 1) / max(len(shown), 1)
    return tally(shown[hits], counts[hits]), tally(shown[~hits], counts[~hits])


def tally(wrong, counts=None):
    """Count probabilities by their logits.

    Parameters
    ----------
    wrong : array-like
        Probabilities.
    counts : ndarray of the same length, default=None
        As how many each counts; one each by default.

    Returns
    -------
    counts : ndarray of shape (60,)
        How many fall on each of the logits of a grid. Tallies of two lists add up to
        that of both: a large one need not be made anew when a label is decided.
    """
    logits = logit(np.clip(np.asarray(wrong, dtype=float), FLOOR, 1 - FLOOR))
    place = np.rint((logits + EDGE) / (2 * EDGE) * (N_BINS - 1)).astype(np.intp)
    return np.bincount(place.ravel(), counts, minlength=N_BINS)


def remaining_from_tallies(left, found, kept, level=0.9):
    """Do the same from tallies, in a time that does not depend on the number of labels.

    Parameters
    ----------
    left : ndarray of shape (60,)
        Tally of the labels that were not looked at.
    found, kept : ndarray of shape (60,)
        From `tallies_of_decided`.
    level : float, default=0.9
        How often the interval is to hold the true number.

    Returns
    -------
    Remaining
        Expected number and interval.
    """
    n_left = int(left.sum())
    if n_left == 0:
        return Remaining(0.0, 0, 0)
    weight, p = _posterior(found, kept)
    mean, spread = p @ left, (p * (1 - p)) @ left
    tail = (1 - level) / 2
    low, high = (_quantile(weight, mean, spread, q, n_left) for q in (tail, 1 - tail))
    return Remaining(float(weight @ mean), low, high)


@lru_cache(maxsize=1)
def _calibrations():
    """Log-prior of each calibration, chances of a hit and of none, and of an error."""
    a, d, errs = (
        values.reshape(-1, 1)
        for values in np.meshgrid(SHIFTS, TAILS, PERSONS, indexing="ij")
    )
    p = expit(LOGITS + SHIFT_SPREAD * a * SUSPECT + TAIL_SPREAD * d * IN_TAIL)
    hit = np.clip(p + errs * (1 - 2 * p), TINY, 1 - TINY)
    prior = -(a**2 + d**2).ravel() / 2 - errs.ravel() / PERSON_RATE
    return prior, np.log(hit), np.log1p(-hit), p


def _posterior(found, kept):
    """Probable calibrations: their weights, and what each makes of the logits."""
    prior, hit, missed, p = _calibrations()
    value = prior + hit @ found + missed @ kept
    weight = np.exp(value - value.max())
    keep = weight > LEAST_WEIGHT
    return weight[keep] / weight[keep].sum(), p[keep]


def _quantile(weight, mean, spread, q, largest):
    """The smallest number that the errors stay at or below with probability q."""
    # For each calibration, a binomial number of the same mean and variance.
    chance = np.clip(1 - spread / mean, TINY, 1 - TINY)
    n_trials = mean / chance
    low, high = -1, largest
    while high - low > 1:
        k = (low + high) // 2
        below = betainc(np.maximum(n_trials - k, TINY), k + 1, 1 - chance)
        low, high = (low, k) if weight @ below >= q else (k, high)
    return high
