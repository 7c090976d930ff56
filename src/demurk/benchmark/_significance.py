"""Significance tests over data sets, as the papers use them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.stats import norm, rankdata

__all__ = ["count_best", "wilcoxon_scores", "wilcoxon_signed_rank"]

# Above this many pairs the normal approximation is as good as the exact distribution.
EXACT_LIMIT = 25


def wilcoxon_signed_rank(differences):
    """One-sided p-value of the signed-rank test that differences are positive.

    Zero differences are dropped and tied magnitudes share their mean rank. The null
    distribution is exact up to 25 differences and normal above.

    Parameters
    ----------
    differences : array-like of shape (n_pairs,)
        Paired differences.

    Returns
    -------
    p_value : float
        Probability of a rank sum at least as large if the signs were random; 1 if
        all differences are zero.

    Notes
    -----
    Doubled mid-ranks are whole numbers, so the exact distribution of their signed sum
    is a convolution over 2^n equally likely signs: O(n^3) time.

    Examples
    --------
    >>> from demurk.benchmark import wilcoxon_signed_rank
    >>> wilcoxon_signed_rank([1, 2, 3, 4, 5])
    0.03125
    """
    # Printed values differ in the last decimal they show; below that is round-off.
    d = np.round(np.asarray(differences, dtype=float), 12)
    d = d[d != 0]
    if d.size == 0:
        return 1.0
    ranks = np.rint(2 * rankdata(np.abs(d))).astype(int)
    positive = int(ranks[d > 0].sum())
    if d.size > EXACT_LIMIT:
        mean, variance = ranks.sum() / 2, (ranks.astype(float) ** 2).sum() / 4
        return float(norm.sf((positive - mean) / np.sqrt(variance)))
    ways = np.zeros(ranks.sum() + 1)
    ways[0] = 1
    for rank in ranks:
        shifted = np.zeros_like(ways)
        shifted[rank:] = ways[:-rank]
        ways = ways + shifted
    return float(ways[positive:].sum() / ways.sum())


def wilcoxon_scores(values, *, alpha=0.05, alternative="one-sided"):
    """Score methods against each other by pairwise signed-rank tests.

    A method gets 1 for every other method it beats, 0 for every one that beats it and
    0.5 for every tie.

    Parameters
    ----------
    values : array-like of shape (n_data_sets, n_methods)
        One measure, larger is better.
    alpha : float, default=0.05
        Level of each test.
    alternative : {"one-sided", "two-sided"}, default="one-sided"
        The published tables agree with one-sided tests in each direction, although
        the text only speaks of a 5 % level.

    Returns
    -------
    scores : ndarray of shape (n_methods,)
        Scores between 0 and n_methods - 1.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.benchmark import wilcoxon_scores
    >>> wilcoxon_scores(np.arange(10)[:, None] + np.array([0.0, 0.2]))
    array([0., 1.])
    """
    if alternative not in ("one-sided", "two-sided"):
        raise ValueError(
            f"alternative is '{alternative}' but must be 'one-sided' or 'two-sided'."
        )
    values = np.asarray(values, dtype=float)
    level = alpha if alternative == "one-sided" else alpha / 2
    n_methods = values.shape[1]
    scores = np.zeros(n_methods)
    for a in range(n_methods):
        for b in range(a + 1, n_methods):
            difference = values[:, a] - values[:, b]
            if wilcoxon_signed_rank(difference) <= level:
                scores[a] += 1
            elif wilcoxon_signed_rank(-difference) <= level:
                scores[b] += 1
            else:
                scores[[a, b]] += 0.5
    return scores


def count_best(values):
    """Count on how many data sets each method attains the best value.

    Parameters
    ----------
    values : array-like of shape (n_data_sets, n_methods)
        One measure, larger is better.

    Returns
    -------
    counts : ndarray of int of shape (n_methods,)
        Ties are credited to all.

    Examples
    --------
    >>> from demurk.benchmark import count_best
    >>> count_best([[1, 2], [3, 3]])
    array([1, 2])
    """
    values = np.asarray(values, dtype=float)
    return (values == values.max(axis=1, keepdims=True)).sum(axis=0)
