"""Significance tests against enumeration, scipy and the papers' own rows."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import f, friedmanchisquare, norm, rankdata, t, ttest_rel, wilcoxon

from demurk.benchmark.report._published import published_results
from demurk.benchmark.statistics._significance import (
    count_best,
    fold_t_test,
    friedman_test,
    nemenyi_difference,
    similar_groups,
    wilcoxon_scores,
    wilcoxon_signed_rank,
    win_tie_loss,
)


def enumerated(d):
    d = np.asarray([x for x in d if x != 0])
    ranks = rankdata(np.abs(d))
    observed = ranks[d > 0].sum()
    sums = [ranks[np.array(s)].sum() for s in product([False, True], repeat=len(d))]
    return np.mean([s >= observed - 1e-9 for s in sums])


@pytest.mark.parametrize("n", [1, 4, 9])
def test_exact_with_ties_and_zeros(rng, n):
    for _ in range(20):
        d = rng.randint(-3, 4, size=n)
        expected = enumerated(d) if d.any() else 1.0
        assert wilcoxon_signed_rank(d) == pytest.approx(expected)


def test_agrees_with_scipy_without_ties(rng):
    d = rng.normal(size=20)
    expected = wilcoxon(d, alternative="greater", method="exact").pvalue
    assert wilcoxon_signed_rank(d) == pytest.approx(expected)
    d = rng.normal(size=60)
    expected = wilcoxon(d, alternative="greater", method="asymptotic").pvalue
    assert wilcoxon_signed_rank(d) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("measure", ["AP", "Cov'", "MiF1"])
def test_rows_of_the_nmlsdr_paper(measure):
    paper = published_results("nmlsdr")
    values = np.array(list(paper["tables_3_to_9"][measure].values()))
    np.testing.assert_array_equal(wilcoxon_scores(values), paper["wilcoxon"][measure])


def test_counts_of_the_nmlsdr_paper():
    paper = published_results("nmlsdr")
    for measure, table in paper["tables_3_to_9"].items():
        counts = count_best(list(table.values()))
        np.testing.assert_array_equal(counts, paper["best_values"][measure])


def test_two_sided_is_stricter(rng):
    values = rng.normal(size=(8, 2)) + [0, 0.9]
    one = wilcoxon_scores(values)
    two = wilcoxon_scores(values, alternative="two-sided")
    assert abs(two - 0.5).sum() <= abs(one - 0.5).sum()
    with pytest.raises(ValueError, match="one-sided"):
        wilcoxon_scores(values, alternative="both")


def test_unknown_paper():
    with pytest.raises(ValueError, match="nmlsdr"):
        published_results("nobody")


# Ranks of four classifiers on fourteen data sets, the example of Demsar (2006).
DEMSAR = """
4 3 2 1 | 1 2 3 4 | 4 1 2 3 | 4 1 3 2 | 4 2 3 1 | 1 2.5 4 2.5 | 3 2 4 1
2.5 2.5 4 1 | 4 3 2 1 | 2.5 2.5 2.5 2.5 | 4 2.5 1 2.5 | 3 2 4 1 | 4 1 2 3 | 3 1 4 2
"""


def demsar():
    return np.array(DEMSAR.replace("|", " ").split(), dtype=float).reshape(14, 4)


def test_friedman_on_the_textbook_example():
    ranks = demsar()
    n, k = ranks.shape
    result = friedman_test(-ranks, correct_ties=False)
    means = ranks.mean(axis=0)
    np.testing.assert_allclose(result.average_ranks, means)
    assert means.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    chi = 12 * n / (k * (k + 1)) * ((means**2).sum() - k * (k + 1) ** 2 / 4)
    assert result.chi_square == pytest.approx(chi)
    assert round(result.chi_square, 2) == 9.28
    ratio = (n - 1) * chi / (n * (k - 1) - chi)
    assert result.f_statistic == pytest.approx(ratio)
    assert round(result.f_statistic, 2) == 3.69
    assert result.f_p == pytest.approx(f.sf(ratio, 3, 39))
    # The book's verdict: the first and the third do not differ from each other, but
    # the first from the second and fourth only at the 10 % level.
    assert round(nemenyi_difference(4, 14, alpha=0.1), 2) == 1.12
    groups = similar_groups(means, nemenyi_difference(4, 14, alpha=0.1))
    assert groups == [[3, 1, 2], [2, 0]]


@pytest.mark.parametrize("tied", [False, True])
def test_friedman_agrees_with_scipy(rng, tied):
    values = rng.normal(size=(12, 5))
    if tied:
        values = np.round(values)
    expected = friedmanchisquare(*values.T)
    result = friedman_test(values)
    assert result.chi_square == pytest.approx(expected.statistic)
    assert result.chi_square_p == pytest.approx(expected.pvalue)


def test_friedman_counts_complete_data_sets_only(rng):
    values = rng.normal(size=(8, 3))
    broken = values.copy()
    broken[[2, 5], [0, 1]] = np.nan
    result = friedman_test(broken)
    whole = friedman_test(np.delete(values, [2, 5], axis=0))
    np.testing.assert_array_equal(result.average_ranks, whole.average_ranks)
    assert (result.n_data_sets, result.n_left_out) == (6, 2)
    assert result.f_p == whole.f_p


def test_friedman_at_the_ends():
    same = friedman_test(np.ones((4, 3)))
    assert same.average_ranks.tolist() == [2, 2, 2]
    assert (same.chi_square, same.chi_square_p, same.f_p) == (0, 1, 1)
    # The larger value has the smaller rank, and no data set disagrees.
    sure = friedman_test(np.tile([3.0, 2.0, 1.0], (4, 1)))
    assert sure.average_ranks.tolist() == [1, 2, 3]
    assert sure.chi_square == pytest.approx(8)
    assert (sure.f_statistic, sure.f_p) == (np.inf, 0)


def test_friedman_ignores_round_off():
    result = friedman_test([[0.3, 0.1 + 0.2], [0.6, 0.1 + 0.5]])
    assert result.average_ranks.tolist() == [1.5, 1.5]


@pytest.mark.parametrize(
    "values", [[[1.0, 2.0]], [[1.0], [2.0]], [1.0, 2.0], [[1, 2], [1, np.nan]]]
)
def test_friedman_refuses_too_little(values):
    with pytest.raises(ValueError, match="at least two"):
        friedman_test(values)


def test_nemenyi_agrees_with_printed_tables():
    # Demsar's table 5, at 5 %, for 2 to 10 methods.
    printed = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
    for k, q in enumerate(printed, 2):
        expected = q * np.sqrt(k * (k + 1) / (6 * 20))
        assert nemenyi_difference(k, 20) == pytest.approx(expected, rel=3e-4)


def test_nemenyi_beyond_the_tables(rng):
    # Of two methods it is the normal test; of many, the range of normal variables.
    expected = norm.ppf(0.995) * np.sqrt(2 * 3 / (6 * 9))
    assert nemenyi_difference(2, 9, alpha=0.01) == pytest.approx(expected)
    ranges = np.ptp(rng.normal(size=(20_000, 40)), axis=1)
    q = np.quantile(ranges, 0.95) / np.sqrt(2)
    expected = q * np.sqrt(40 * 41 / (6 * 30))
    assert nemenyi_difference(40, 30) == pytest.approx(expected, rel=0.01)
    with pytest.raises(ValueError, match="at least two"):
        nemenyi_difference(1, 9)


@settings(max_examples=60)
@given(st.lists(st.integers(0, 12), min_size=1, max_size=7), st.integers(1, 14))
def test_groups_are_the_maximal_ones(ranks, difference):
    alike = {
        group
        for size in range(2, len(ranks) + 1)
        for group in combinations(range(len(ranks)), size)
        if max(ranks[i] for i in group) - min(ranks[i] for i in group) < difference
    }
    maximal = {g for g in alike if not any(set(g) < set(other) for other in alike)}
    found = similar_groups(ranks, difference)
    assert {tuple(sorted(group)) for group in found} == maximal
    assert len(found) == len(maximal)
    assert all(np.all(np.diff([ranks[i] for i in g]) >= 0) for g in found)


def test_paired_t_test(rng):
    first, second = rng.normal(size=(2, 10))
    expected = ttest_rel(first, second).pvalue
    assert fold_t_test(first, second) == pytest.approx(expected)
    # Nadeau and Bengio: with ten folds the test part is a ninth of the training part.
    folds = fold_t_test(first, second, corrected=True)
    assert folds == pytest.approx(fold_t_test(first, second, corrected=1 / 9))
    d = first - second
    statistic = d.mean() / np.sqrt((1 / 10 + 0.3 / 0.7) * d.var(ddof=1))
    split = fold_t_test(first, second, corrected=0.3 / 0.7)
    assert split == pytest.approx(2 * t.sf(abs(statistic), 9))
    assert expected < folds < split


def test_win_tie_loss(rng):
    noise = 0.01 * rng.normal(size=10)
    scores = np.linspace(0, 1, 10)
    assert win_tie_loss(scores + 0.1 + noise, scores) == "win"
    assert win_tie_loss(scores, scores + 0.1 + noise) == "loss"
    assert win_tie_loss(scores, scores) == "tie"
