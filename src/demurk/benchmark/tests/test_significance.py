"""Significance tests against enumeration and against the paper's own rows."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata, wilcoxon

from demurk.benchmark import (
    count_best,
    published_results,
    wilcoxon_scores,
    wilcoxon_signed_rank,
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
