"""From scores of noisy labels to probabilities and decisions about true ones."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

__all__ = ["corrected_probabilities", "estimate_flip_rate", "f1_cut", "half_cut"]

LOWEST_SHARES = (0.1, 0.2, 0.3, 0.4, 0.5)
LARGEST_RATE = 0.45
# Probabilities bend away from 0 and 1 from here on, so that none is quite certain.
MARGIN = 0.01


def estimate_flip_rate(scores, labels, weights=None):
    """How often an absent label was given, seen where it is least expected.

    Parameters
    ----------
    scores : ndarray of shape (n_entries,)
        Calibrated out-of-sample scores.
    labels : ndarray of shape (n_entries,)
        Noisy labels, 0 or 1.
    weights : ndarray of shape (n_entries,), default=None
        How often each entry counts.

    Returns
    -------
    rate : float
        The smallest frequency of ones among the 10, 20, ... 50 % of the entries with
        the lowest scores, at most 0.45.
    """
    order = np.argsort(scores, kind="stable")
    each = np.ones(labels.size) if weights is None else weights[order]
    mass = np.append(0.0, np.cumsum(each))
    given = np.append(0.0, np.cumsum(each * labels[order]))
    lowest = [max(int(s * mass[-1]), min(1.0, mass[-1])) for s in LOWEST_SHARES]
    return float(min(LARGEST_RATE, *np.interp(lowest, mass, given) / lowest))


def corrected_probabilities(scores, extra, missing):
    """Probability of the true label behind a noisy one.

    Parameters
    ----------
    scores : ndarray
        Probabilities of the noisy labels.
    extra : float
        How often an absent label is given, e1.
    missing : float
        How often a present label is not given, e0.

    Returns
    -------
    probabilities : ndarray
        ``(scores - e1) / (1 - e1 - e0)``, squeezed into (0, 1) without losing the
        order; within 0.005 of the value cut to [0, 1].
    """
    p = (scores - extra) / (1 - extra - missing)
    low = MARGIN / (2 - np.minimum(p, MARGIN) / MARGIN)
    high = 1 - MARGIN / (2 - np.minimum(1 - p, MARGIN) / MARGIN)
    return np.where(p < MARGIN, low, np.where(p > 1 - MARGIN, high, p))


def half_cut(extra, missing):
    """The score of a label that is as likely to be true as not.

    Parameters
    ----------
    extra, missing : float
        How often an absent label is given, and a present one is not.

    Returns
    -------
    cut : float
        Where the corrected probability is one half.
    """
    return extra + (1 - extra - missing) / 2


def f1_cut(scores, labels, n_rows, extra, missing, weights=None):
    """The score above which labels are predicted for the best micro-F1.

    Parameters
    ----------
    scores : ndarray of shape (n_entries,)
        Calibrated out-of-sample scores.
    labels : ndarray of shape (n_entries,)
        Noisy labels, 0 or 1.
    n_rows : int or float
        Labelled rows, as often as they count; a quarter of a true label per row is the
        least to be expected.
    extra, missing : float
        How often an absent label is given, and a present one is not.
    weights : ndarray of shape (n_entries,), default=None
        How often each entry counts.

    Returns
    -------
    cut : float
        Predict labels with a score above it.

    Notes
    -----
    ``(y - e1) / (1 - e1 - e0)`` is an unbiased estimate of a true label, so that sums
    of it over the entries above a cut estimate the true positives. Only cuts that
    predict 0.2 to 4 times the estimated number of true labels are tried, and none above
    the score where a label is as likely true as not: the best cut for F1 of calibrated
    probabilities never lies above one half.
    """
    order = np.argsort(-scores, kind="stable")
    each = np.ones(labels.size) if weights is None else weights[order]
    hits = np.cumsum(each * (labels[order] - extra) / (1 - extra - missing))
    n_true = max(hits[-1], n_rows / 4)
    n_predicted = np.cumsum(each)
    low = min(max(np.ceil(0.2 * n_true), 5), n_predicted[-1])
    high = min(max(np.floor(4 * n_true), low), n_predicted[-1])
    first, last = np.searchsorted(n_predicted, low), labels.size - 1
    # At least one entry, where few of great weight make a jump over the range.
    end = max(np.searchsorted(n_predicted, high, side="right"), first + 1)
    ratio = 2 * hits[first:end] / (n_predicted[first:end] + n_true)
    best = first + int(np.argmax(ratio))
    ranked = scores[order]
    below = ranked[best + 1] if best < last else ranked[-1] - 1e-6
    cut = (ranked[best] + below) / 2
    return float(min(cut, half_cut(extra, missing)))
