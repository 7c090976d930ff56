"""Significance tests over data sets and over folds, as the papers use them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr
from scipy.stats import chi2, f, norm, rankdata, studentized_range

__all__ = [
    "FriedmanResult",
    "count_best",
    "fold_t_test",
    "friedman_test",
    "nemenyi_difference",
    "similar_groups",
    "wilcoxon_scores",
    "wilcoxon_signed_rank",
    "win_tie_loss",
]

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
    >>> from demurk.benchmark.statistics import wilcoxon_signed_rank
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
    >>> from demurk.benchmark.statistics import wilcoxon_scores
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
    >>> from demurk.benchmark.statistics import count_best
    >>> count_best([[1, 2], [3, 3]])
    array([1, 2])
    """
    values = np.asarray(values, dtype=float)
    return (values == values.max(axis=1, keepdims=True)).sum(axis=0)


@dataclass(frozen=True)
class FriedmanResult:
    """What :func:`friedman_test` found.

    Parameters
    ----------
    average_ranks : ndarray of shape (n_methods,)
        Mean rank of each method; 1 is best.
    chi_square, chi_square_p : float
        Friedman's statistic and its p-value.
    f_statistic, f_p : float
        Iman and Davenport's statistic, which is less conservative, and its p-value.
    n_data_sets : int
        Number of complete data sets, the ones that counted.
    n_left_out : int
        Number of data sets left out because a method has no value there.
    """

    average_ranks: np.ndarray
    chi_square: float
    chi_square_p: float
    f_statistic: float
    f_p: float
    n_data_sets: int
    n_left_out: int


def friedman_test(values, *, correct_ties=True):
    """Test whether methods differ at all, from their ranks on several data sets.

    Parameters
    ----------
    values : array-like of shape (n_data_sets, n_methods)
        One measure, larger is better. Data sets with a missing value (NaN) are left
        out, since ranks among fewer methods mean something else.
    correct_ties : bool, default=True
        Whether to divide by the variance that the tied ranks really have. Textbooks
        often leave this out.

    Returns
    -------
    result : FriedmanResult
        Average ranks, where tied methods share their mean rank, and two statistics.

    See Also
    --------
    nemenyi_difference : How far apart two average ranks must be.

    Notes
    -----
    With ranks R of k methods on N data sets, chi-square is ``N (k - 1)`` times the
    variance of the average ranks divided by that of all ranks, and F is
    ``(N - 1) chi2 / (N (k - 1) - chi2)`` with k - 1 and (k - 1)(N - 1) degrees of
    freedom. Time is O(N k log k).

    References
    ----------
    Demsar: Statistical comparisons of classifiers over multiple data sets, Journal of
    Machine Learning Research 7, 2006.

    Examples
    --------
    >>> from demurk.benchmark.statistics import friedman_test
    >>> result = friedman_test([[3, 2, 1], [3, 2, 1], [3, 1, 2], [2, 3, 1]])
    >>> result.average_ranks
    array([1.25, 2.  , 2.75])
    >>> round(result.chi_square, 2), round(result.chi_square_p, 3)
    (4.5, 0.105)
    """
    values = np.asarray(values, dtype=float)
    if values.ndim != 2 or values.shape[1] < 2:
        raise ValueError(
            f"values has shape {values.shape}: give one row for each data set and one "
            "column for each of at least two methods."
        )
    complete = ~np.isnan(values).any(axis=1)
    # Means over seeds that are equal may differ by round-off.
    ranks = rankdata(-np.round(values[complete], 12), axis=1)
    n, k = ranks.shape
    if n < 2:
        raise ValueError(
            f"Only {n} of {len(values)} data sets have a value of every method: at "
            "least two are needed."
        )
    means = ranks.mean(axis=0)
    middle = (k + 1) / 2
    spread = ((ranks - middle) ** 2).mean() if correct_ties else (k * k - 1) / 12
    chi = n * (k - 1) * ((means - middle) ** 2).mean() / spread if spread else 0.0
    rest = n * (k - 1) - chi
    # The same order on every data set leaves nothing but round-off here.
    ratio = (n - 1) * chi / rest if rest > 1e-9 * chi else np.inf
    return FriedmanResult(
        average_ranks=means,
        chi_square=float(chi),
        chi_square_p=float(chi2.sf(chi, k - 1)),
        f_statistic=float(ratio),
        f_p=float(f.sf(ratio, k - 1, (k - 1) * (n - 1))),
        n_data_sets=n,
        n_left_out=int((~complete).sum()),
    )


def nemenyi_difference(n_methods, n_data_sets, *, alpha=0.05):
    """Critical difference of average ranks by Nemenyi's test.

    Parameters
    ----------
    n_methods : int
        Number of methods, any number from two on.
    n_data_sets : int
        Number of data sets.
    alpha : float, default=0.05
        Level for all pairs of methods together.

    Returns
    -------
    difference : float
        Two methods differ significantly if their average ranks differ by this much
        or more.

    Examples
    --------
    >>> from demurk.benchmark.statistics import nemenyi_difference
    >>> round(nemenyi_difference(4, 14), 2)
    1.25
    """
    if n_methods < 2 or n_data_sets < 1:
        raise ValueError(
            f"There are {n_methods} methods and {n_data_sets} data sets: at least two "
            "methods and one data set are needed."
        )
    q = studentized_range.ppf(1 - alpha, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_data_sets)))


def similar_groups(average_ranks, difference):
    """Groups of methods whose average ranks do not differ significantly.

    Parameters
    ----------
    average_ranks : array-like of shape (n_methods,)
        Mean ranks.
    difference : float
        Critical difference.

    Returns
    -------
    groups : list of list of int
        Columns of the methods of each group, best first. Every group has at least two
        methods and none is part of another; the bars of a critical-difference diagram.

    Examples
    --------
    >>> from demurk.benchmark.statistics import similar_groups
    >>> similar_groups([1.0, 3.5, 1.8, 2.4], 1.2)
    [[0, 2], [2, 3], [3, 1]]
    """
    ranks = np.asarray(average_ranks, dtype=float)
    order = np.argsort(ranks, kind="stable")
    groups, reached = [], 0
    for start in range(len(order)):
        near = np.round(ranks[order] - ranks[order[start]], 12) < difference
        stop = int(near.sum())
        if stop > max(reached, start + 1):
            groups.append(order[start:stop].tolist())
            reached = stop
    return groups


def fold_t_test(first, second, *, corrected=False):
    """Two-sided p-value of the paired t-test over folds.

    Parameters
    ----------
    first, second : array-like of shape (n_folds,)
        Scores of two methods on the same folds.
    corrected : bool or float, default=False
        Whether to correct for training sets that overlap (Nadeau and Bengio): the
        variance of the mean gets the factor ``1 / k + 1 / (k - 1)`` for k folds in
        the place of ``1 / k``. For k random splits give the number of test rows
        divided by that of training rows, which stands in the place of
        ``1 / (k - 1)``. Without a correction the test finds too many differences.

    Returns
    -------
    p_value : float
        Probability of a mean difference at least as large if there were none; 1 if
        all differences are zero, 0 if they are equal and not zero.

    Examples
    --------
    >>> from demurk.benchmark.statistics import fold_t_test
    >>> round(fold_t_test([0.8, 0.9, 0.7], [0.7, 0.7, 0.6]), 3)
    0.057
    >>> round(fold_t_test([0.8, 0.9, 0.7], [0.7, 0.7, 0.6], corrected=True), 3)
    0.127
    """
    difference = np.subtract(first, second, dtype=np.float64)
    k = len(difference)
    if difference.ndim != 1 or k < 2:
        raise ValueError(
            f"The scores have shape {difference.shape}: give one score for each of at "
            "least two folds."
        )
    # Accuracies are fractions of small counts: anything below this is rounding.
    difference = np.round(difference, 12)
    mean, variance = difference.mean(), difference.var(ddof=1)
    if np.ptp(difference) == 0:
        return 0.0 if mean else 1.0
    extra = 1 / (k - 1) if corrected is True else float(corrected)
    factor = 1 / k + extra
    return float(2 * stdtr(k - 1, -abs(mean) / np.sqrt(factor * variance)))


def win_tie_loss(first, second, *, level=0.05, corrected=False):
    """Whether the first method wins, ties or loses in a paired t-test.

    Parameters
    ----------
    first, second : array-like of shape (n_folds,)
        Scores of two methods on the same folds, larger is better.
    level : float, default=0.05
        Level of the test.
    corrected : bool or float, default=False
        See :func:`fold_t_test`.

    Returns
    -------
    outcome : {"win", "tie", "loss"}
        A tie unless the difference is significant.

    Examples
    --------
    >>> from demurk.benchmark.statistics import win_tie_loss
    >>> win_tie_loss([0.8, 0.9, 0.7, 0.8], [0.7, 0.7, 0.6, 0.7])
    'win'
    """
    if fold_t_test(first, second, corrected=corrected) >= level:
        return "tie"
    return "win" if np.mean(first) > np.mean(second) else "loss"
