"""Rates and cuts against counting."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from demurk.out_of_sample import (
    corrected_probabilities,
    estimate_flip_rate,
    f1_cut,
    half_cut,
)


@pytest.fixture
def noisy(rng):
    """Calibrated scores of labels flipped in both directions with 10 %."""
    truth = rng.beta(0.2, 0.8, size=20_000)
    clean = rng.random_sample(truth.size) < truth
    noisy = clean ^ (rng.random_sample(truth.size) < 0.1)
    return 0.1 + 0.8 * truth, noisy.astype(float), clean


def test_flip_rate_is_the_least_frequency_among_low_scores(noisy):
    scores, labels, _ = noisy
    order = np.argsort(scores)
    parts = [labels[order[: int(f * len(order))]] for f in (0.1, 0.2, 0.3, 0.4, 0.5)]
    found = estimate_flip_rate(scores, labels)
    assert_allclose(found, min(part.mean() for part in parts))
    assert found == pytest.approx(0.1, abs=0.015)


def test_flip_rate_is_limited():
    assert estimate_flip_rate(np.arange(10.0), np.ones(10)) == 0.45
    assert estimate_flip_rate(np.zeros(1), np.zeros(1)) == 0.0


def test_probabilities_are_those_of_the_clean_labels(noisy):
    scores, _, clean = noisy
    p = corrected_probabilities(scores, 0.1, 0.1)
    for low in np.arange(0, 1, 0.25):
        part = (p >= low) & (p < low + 0.25)
        assert p[part].mean() == pytest.approx(clean[part].mean(), abs=0.03)


@settings(max_examples=50)
@given(
    st.lists(st.floats(-3, 3), min_size=2, max_size=20),
    st.floats(0, 0.45),
    st.floats(0, 0.45),
)
def test_probabilities_keep_order_and_stay_inside(values, r0, r1):
    scores = np.sort(values)
    p = corrected_probabilities(scores, r0, r1)
    plain = np.clip((scores - r0) / (1 - r0 - r1), 0, 1)
    assert (p > 0).all() and (p < 1).all()
    assert (np.diff(p) >= 0).all()
    far = np.diff(scores) > 1e-6
    assert (np.diff(p)[far] > 0).all()
    assert np.abs(p - plain).max() <= 0.005 + 1e-12


def test_half_cut():
    assert half_cut(0.1, 0.1) == pytest.approx(0.5)
    assert half_cut(0.2, 0.0) == pytest.approx(0.6)


def slow_f1_cut(scores, labels, n_rows, r0, r1):
    order = np.argsort(-scores, kind="stable")
    value = (labels - r0) / (1 - r0 - r1)
    n_true = max(value.sum(), n_rows / 4)
    best, cut = -np.inf, None
    for k in range(5, len(scores) + 1):
        if 0.2 * n_true <= k <= 4 * n_true:
            f1 = 2 * value[order[:k]].sum() / (k + n_true)
            if f1 > best:
                best = f1
                below = (
                    scores[order[k]] if k < len(scores) else scores[order[-1]] - 1e-6
                )
                cut = (scores[order[k - 1]] + below) / 2
    return min(cut, half_cut(r0, r1))


@pytest.mark.parametrize("r0, r1", [(0.1, 0.1), (0.2, 0.0), (0.0, 0.0)])
def test_f1_cut_equals_a_loop(noisy, r0, r1):
    scores, labels, _ = (part[:400] for part in noisy)
    found = f1_cut(scores, labels, 100, r0, r1)
    assert found == pytest.approx(slow_f1_cut(scores, labels, 100, r0, r1))


def test_f1_cut_is_nearly_as_good_as_knowing_the_truth(noisy):
    scores, labels, clean = noisy

    def f1(cut):
        hit = scores > cut
        return 2 * (hit & clean).sum() / (hit.sum() + clean.sum())

    best = max(f1(cut) for cut in np.linspace(0.1, 0.9, 81))
    assert f1(f1_cut(scores, labels, 5000, 0.1, 0.1)) > best - 0.005
    assert f1_cut(scores, labels, 5000, 0.1, 0.1) <= 0.5


def test_f1_cut_expects_a_quarter_of_a_label_per_row():
    # One label in fifty entries is given, however low the score: F1 rises with every
    # further one, and only the number of true labels that is expected sets an end. The
    # 80 labels that are given would allow 320 entries, a quarter of 400 rows 400.
    scores = np.linspace(0.4, 0.0, 4000)
    labels = (np.arange(1, 4001) % 50 == 0).astype(float)
    cut = f1_cut(scores, labels, 400, 0.0, 0.0)
    assert np.count_nonzero(scores > cut) == 400
    # With 200 rows the labels that are given are more than that.
    assert np.count_nonzero(scores > f1_cut(scores, labels, 200, 0.0, 0.0)) == 300
