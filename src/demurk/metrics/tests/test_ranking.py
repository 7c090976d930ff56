"""Ranking loss, average precision, one-error and coverage."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from itertools import pairwise, permutations

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

from demurk.metrics import (
    _ranking_rows,
    average_precision,
    coverage,
    one_error,
    ranking_loss,
)

MEASURES = [ranking_loss, average_precision, one_error, coverage]
TIES = ["reference", "worst", "average"]


# Slow references: one row, plain loops. `order` is the labels from best to worst.


def reference_order(scores):
    """Equal scores: the higher label index first."""
    return sorted(range(len(scores)), key=lambda c: (-scores[c], -c))


def slow_loss(relevant, scores):
    pairs = [(a, b) for a in relevant for b in range(len(scores)) if b not in relevant]
    return sum(scores[a] <= scores[b] for a, b in pairs) / len(pairs)


def slow_precision(relevant, order):
    rank = {c: order.index(c) + 1 for c in order}
    shares = [sum(rank[b] <= rank[a] for b in relevant) / rank[a] for a in relevant]
    return sum(shares) / len(relevant)


def slow_coverage(relevant, order):
    return max((order.index(a) + 1 for a in relevant), default=0) - 1


def slow_row(measure, y, scores, ties):
    """Value of one row with at least one relevant and one irrelevant label."""
    relevant = [c for c in range(len(y)) if y[c]]
    if ties == "average":
        orders = [
            order
            for order in permutations(range(len(y)))
            if all(scores[a] >= scores[b] for a, b in pairwise(order))
        ]
        return np.mean([slow_order(measure, relevant, order) for order in orders])
    if measure is ranking_loss:
        return slow_loss(relevant, scores)
    if measure is one_error:
        top = [c for c in range(len(y)) if scores[c] == max(scores)]
        hits = [c in relevant for c in top]
        return float(not (any(hits) if ties == "reference" else all(hits)))
    if ties == "reference":
        return slow_order(measure, relevant, reference_order(scores))
    rank = [sum(other >= score for other in scores) for score in scores]
    if measure is coverage:
        return max(rank[a] for a in relevant) - 1
    return np.mean(
        [sum(rank[b] <= rank[a] for b in relevant) / rank[a] for a in relevant]
    )


def slow_order(measure, relevant, order):
    """Value of one row under a strict order of its labels."""
    if measure is ranking_loss:
        return slow_loss(relevant, [-list(order).index(c) for c in range(len(order))])
    if measure is one_error:
        return float(order[0] not in relevant)
    if measure is coverage:
        return slow_coverage(relevant, order)
    return slow_precision(relevant, order)


def is_degenerate(Y):
    return (Y.sum(axis=1) == 0) | (Y.sum(axis=1) == Y.shape[1])


def random_case(seed, shape=(40, 5), *, ties):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 3, shape) * 1.0 if ties else rng.standard_normal(shape)
    return rng.integers(0, 2, shape), scores


def raw(measure):
    """Options that make coverage comparable with plain steps."""
    return {"normalize": None} if measure is coverage else {}


cases = st.tuples(st.integers(1, 8), st.integers(2, 5)).flatmap(
    lambda shape: st.tuples(
        hnp.arrays(np.int8, shape, elements=st.integers(0, 1)),
        hnp.arrays(np.float64, shape, elements=st.integers(-2, 2).map(float)),
    )
)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("with_ties", [False, True])
def test_rows_against_loops(measure, ties, with_ties):
    Y, scores = random_case(0, ties=with_ties)
    options = {"degenerate": "drop", **raw(measure)}
    values = measure(Y, scores, ties=ties, per_sample=True, **options)
    degenerate = is_degenerate(Y)
    assert degenerate.any()
    np.testing.assert_array_equal(np.isnan(values), degenerate)
    expected = [
        slow_row(measure, Y[i], scores[i], ties) for i in np.flatnonzero(~degenerate)
    ]
    np.testing.assert_allclose(values[~degenerate], expected, rtol=1e-12)
    mean = measure(Y, scores, ties=ties, **options)
    assert type(mean) is float
    assert mean == pytest.approx(np.mean(expected))


@settings(max_examples=100, deadline=None)
@given(cases)
def test_equal_to_scikit_learn_with_ties(case):
    Y, scores = case
    options = {"ties": "worst", "degenerate": "sklearn"}
    assert ranking_loss(Y, scores, **options) == pytest.approx(
        sklearn.metrics.label_ranking_loss(Y, scores), abs=1e-12
    )
    assert average_precision(Y, scores, **options) == pytest.approx(
        sklearn.metrics.label_ranking_average_precision_score(Y, scores), abs=1e-12
    )
    assert coverage(Y, scores, normalize=None, **options) == pytest.approx(
        sklearn.metrics.coverage_error(Y, scores) - 1, abs=1e-12
    )


@pytest.mark.parametrize("seed", range(5))
def test_conversion_of_the_reference_to_scikit_learn(seed):
    Y, scores = random_case(seed, ties=False)
    n, kept = len(Y), np.count_nonzero(~is_degenerate(Y))
    assert kept < n
    loss = sklearn.metrics.label_ranking_loss(Y, scores)
    assert ranking_loss(Y, scores) == pytest.approx(loss * n / kept)
    precision = sklearn.metrics.label_ranking_average_precision_score(Y, scores)
    assert average_precision(Y, scores) == pytest.approx(
        (precision * n - (n - kept)) / kept
    )
    error = sklearn.metrics.coverage_error(Y, scores)
    assert coverage(Y, scores, normalize=None) == pytest.approx(error - 1)


@settings(max_examples=100, deadline=None)
@given(cases)
def test_ranges_and_order_of_the_tie_rules(case):
    Y, scores = case
    for measure in MEASURES:
        options = {"degenerate": "drop", "per_sample": True}
        values = np.array([measure(Y, scores, ties=t, **options) for t in TIES])
        reference, worst, average = values[:, ~np.isnan(values[0])]
        assert np.all((reference >= 0) & (reference <= 1))
        assert np.all((average >= 0) & (average <= 1 + 1e-12))
        assert np.all((worst >= 0) & (worst <= 1))
        if measure is not average_precision:
            assert np.all(worst >= reference)
            assert np.all(worst >= average - 1e-12)


def test_worst_average_precision_may_exceed_every_strict_order():
    # Two relevant labels share ranks 2 and 3: (2/3 + 2/3) / 2 against (1/2 + 2/3) / 2.
    Y, scores = [[1, 0, 1]], [[0.0, 1.0, 0.0]]
    assert average_precision(Y, scores, ties="worst") == pytest.approx(2 / 3)
    assert average_precision(Y, scores, ties="average") == pytest.approx(7 / 12)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("ties", TIES)
def test_label_order_does_not_matter_without_ties(measure, ties):
    Y, scores = random_case(1, ties=False)
    order = np.random.default_rng(0).permutation(Y.shape[1])
    np.testing.assert_allclose(
        measure(Y[:, order], scores[:, order], ties=ties, per_sample=True),
        measure(Y, scores, ties=ties, per_sample=True),
    )


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("ties", ["worst", "average"])
def test_label_order_does_not_matter_with_ties(measure, ties):
    Y, scores = random_case(1, ties=True)
    order = np.random.default_rng(0).permutation(Y.shape[1])
    np.testing.assert_allclose(
        measure(Y[:, order], scores[:, order], ties=ties, per_sample=True),
        measure(Y, scores, ties=ties, per_sample=True),
    )


def test_reference_ranks_the_higher_label_index_first():
    tied = [[0.5, 0.5, 0.1]]
    assert average_precision([[0, 1, 0]], tied) == 1.0
    assert average_precision([[1, 0, 0]], tied) == 0.5
    assert coverage([[0, 1, 0]], tied, normalize=None) == 0.0
    assert coverage([[1, 0, 0]], tied, normalize=None) == 1.0
    assert one_error([[1, 0, 0]], tied) == one_error([[0, 1, 0]], tied) == 0.0
    assert one_error([[1, 0, 0]], tied, ties="worst") == 1.0
    assert one_error([[1, 0, 0]], tied, ties="average") == 0.5
    assert ranking_loss([[1, 0, 0]], tied) == 0.5
    assert ranking_loss([[1, 0, 0]], tied, ties="average") == 0.25


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("ties", TIES)
def test_monotone_transform_of_the_scores(measure, ties):
    Y, scores = random_case(2, ties=True)
    value = measure(Y, scores, ties=ties)
    assert measure(Y, np.exp(scores) * 7 - 3, ties=ties) == value
    assert measure(Y, scores.astype(np.float32), ties=ties) == value
    assert measure(Y, scores.astype(int), ties=ties) == value


@pytest.mark.parametrize("measure", MEASURES)
def test_zeros_of_either_sign_tie(measure):
    Y = [[1, 0]]
    assert measure(Y, [[-0.0, 0.0]]) == measure(Y, [[0.0, 0.0]])


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("ties", TIES)
def test_mask_of_true_changes_nothing(measure, ties):
    Y, scores = random_case(3, ties=True)
    value = measure(Y, scores, ties=ties)
    assert measure(Y, scores, ties=ties, observed=np.ones(Y.shape, bool)) == value
    assert measure(Y, scores, ties=ties, observed=np.ones(len(Y), bool)) == value


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("degenerate", ["drop", "sklearn"])
def test_masking_equals_dropping_the_columns_of_a_row(measure, ties, degenerate):
    Y, scores = random_case(4, ties=True)
    rng = np.random.default_rng(4)
    observed = rng.random(Y.shape) < 0.6
    observed[0] = False
    options = {"ties": ties, "degenerate": degenerate, "per_sample": True}
    hidden = np.where(observed, Y, -1)
    values = measure(hidden, scores, observed=hidden != -1, **options)
    assert np.isnan(values[0])
    for i in range(1, len(Y)):
        kept = observed[i]
        if kept.any():
            row = measure(Y[[i]][:, kept], scores[[i]][:, kept], **options)[0]
            np.testing.assert_allclose(values[i], row)
        else:
            assert np.isnan(values[i])


@pytest.mark.parametrize("measure", MEASURES)
def test_chunks_equal_the_whole(measure, monkeypatch):
    Y, scores = random_case(5, ties=True)
    whole = measure(Y, scores, per_sample=True)
    monkeypatch.setattr(_ranking_rows, "CHUNK_ENTRIES", 15)
    np.testing.assert_array_equal(measure(Y, scores, per_sample=True), whole)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_labels(measure, container):
    Y, scores = random_case(6, ties=True)
    assert measure(container(Y), scores) == measure(Y, scores)


def test_degenerate_rows():
    Y = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0]])
    scores = np.array([[3.0, 2.0, 1.0]] * 3)
    nan = np.nan
    expected = {
        ranking_loss: {"drop": [nan, nan, 0.5], "sklearn": [0, 0, 0.5]},
        average_precision: {"drop": [nan, nan, 0.5], "sklearn": [1, 1, 0.5]},
        one_error: {"drop": [nan, nan, 1], "sklearn": [1, 0, 1]},
        coverage: {
            "drop": [nan, nan, 1],
            "sklearn": [-1, 2, 1],
            "zero": [0, 2, 1],
        },
    }
    for measure, choices in expected.items():
        for degenerate, values in choices.items():
            options = {"degenerate": degenerate, **raw(measure)}
            for ties in TIES:
                np.testing.assert_allclose(
                    measure(Y, scores, ties=ties, per_sample=True, **options), values
                )


def test_default_coverage_is_the_reference():
    Y = [[0, 0, 0], [0, 1, 0]]
    scores = [[3.0, 2.0, 1.0]] * 2
    assert coverage(Y, scores, normalize=None) == 0.0  # (-1 + 1) / 2


def test_normalized_coverage():
    Y, scores = random_case(7, ties=False)
    steps = coverage(Y, scores, normalize=None)
    assert coverage(Y, scores) == pytest.approx(steps / 4)
    assert coverage(Y, scores, normalize="C") == pytest.approx(steps / 5)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("Y", [[[0, 0], [1, 1]], [[1], [0]]])
def test_no_row_left_is_nan_with_a_warning(measure, Y):
    scores = np.ones(np.shape(Y))
    with pytest.warns(UndefinedMetricWarning, match=f"{measure.__name__} is undefined"):
        assert np.isnan(measure(Y, scores, degenerate="drop"))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("Y", "scores", "options", "message"),
    [
        ([[1, -1]], [[1, 0]], {}, r"Y has -1 at row 0, column 1.*observed=Y != -1"),
        ([[1, 2]], [[1, 0]], {}, r"Y has 2 at row 0, column 1"),
        ([[1, 0]], [[1, np.nan]], {}, r"scores has nan at row 0, column 1"),
        ([[1, 0]], [[np.inf, 0]], {}, r"scores has inf at row 0, column 0"),
        ([[1, 0]], [[1, 0, 0]], {}, r"scores has shape \(1, 3\) but Y has shape"),
        ([[1, 0]], [1, 0], {}, r"scores has 1 dimension"),
        ([[1, 0]], [[1, 0]], {"ties": "max"}, r"ties is 'max'; .* 'worst', 'average'"),
        ([[1, 0]], [[1, 0]], {"degenerate": "no"}, r"degenerate is 'no'; it must"),
    ],
)
def test_errors_name_place_and_remedy(measure, Y, scores, options, message):
    with pytest.raises(ValueError, match=message):
        measure(Y, scores, **options)


def test_only_coverage_counts_empty_rows_as_zero():
    with pytest.raises(ValueError, match="degenerate is 'zero'"):
        one_error([[1, 0]], [[1, 0]], degenerate="zero")
    with pytest.raises(ValueError, match="normalize is 'c'"):
        coverage([[1, 0]], [[1, 0]], normalize="c")
