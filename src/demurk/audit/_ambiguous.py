"""Whether wrong classes sit on ambiguous rows, where no rate can be told."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.special import expit

__all__ = ["swapped_gain"]

N_GROUPS = 200
# What the margins may be multiplied with, without and with swapped rows; the share of
# rows that count as ambiguous, and of those how many are swapped. Fewer than a fifth
# look like the tails of any model.
PLAIN_SLOPES = np.linspace(0.5, 2.0, 16)
SWAPPED_SLOPES = np.array([1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0])
SHARES = np.array([0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5])
SWAPPED = np.arange(0.2, 0.5, 0.05)
# How softly ambiguous rows end, in units of the margin.
WIDTH = 0.5


def swapped_gain(p, given):
    """Log-likelihood that swapping classes of ambiguous rows gains over p alone.

    Parameters
    ----------
    p : ndarray of shape (n_samples, n_classes)
        Calibrated probabilities, made without the row they are for.
    given : ndarray of int of shape (n_samples,)
        Given classes.

    Returns
    -------
    gain : float
        Above zero where the second class is given too often in a middle range of
        margins, and too rarely beyond it.

    Notes
    -----
    Let m be the log-ratio of the two likeliest classes of a row that was given one of
    them. Where classes overlap by nature, the second is given with probability
    sigmoid(-b m). If some of the ambiguous rows were swapped, it is a plateau with an
    edge: ``r (1 - s) + (1 - r) s`` with ``s = sigmoid(-b m)`` and r constant below a
    quantile of m, zero above it. Both are fitted on a grid, to groups of rows with like
    margins. Time O(n (q + log n)).
    """
    margin, second = _margins(p, given)
    if margin.size == 0:
        return 0.0
    groups = np.array_split(np.lexsort((second, margin)), min(N_GROUPS, margin.size))
    sizes = np.array([len(rows) for rows in groups])
    seconds = np.array([second[rows].sum() for rows in groups])
    means = np.array([margin[rows].mean() for rows in groups])

    def fitness(chance):
        chance = np.clip(chance, 1e-9, 1 - 1e-9)
        firsts = (sizes - seconds) * np.log1p(-chance)
        return (seconds * np.log(chance) + firsts).sum(axis=-1).max()

    edges = np.quantile(margin, SHARES)[:, np.newaxis, np.newaxis]
    swapped = SWAPPED[:, np.newaxis] * expit((edges - means) / WIDTH)
    natural = expit(-SWAPPED_SLOPES[:, np.newaxis, np.newaxis, np.newaxis] * means)
    plain = fitness(expit(-PLAIN_SLOPES[:, np.newaxis] * means))
    return float(fitness(swapped * (1 - natural) + (1 - swapped) * natural) - plain)


def _margins(p, given):
    """Log-ratios of the two likeliest classes, and whether the second was given."""
    order = np.argsort(-p, axis=1, kind="stable")[:, :2]
    best = np.maximum(np.take_along_axis(p, order, axis=1), 1e-12)
    first, second = (given == order[:, k] for k in (0, 1))
    rows = first | second
    return np.log(best[rows, 0] / best[rows, 1]), second[rows]
