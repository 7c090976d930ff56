"""Noise identification against scikit-learn and brute force over ties."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.metrics import average_precision_score, roc_auc_score

from demurk.metrics._noise import noise_report


@pytest.fixture
def data(rng):
    truth = (rng.uniform(size=(20, 6)) < 0.3).astype(int)
    candidates = np.maximum(truth, rng.uniform(size=(20, 6)) < 0.3)
    return candidates, truth, np.round(rng.normal(size=(20, 6)), 1)  # with ties


def test_equals_scikit_learn_among_candidates(data):
    candidates, truth, scores = data
    inside = candidates > 0
    wrong, suspicion = 1 - truth[inside], scores[inside]
    report = noise_report(candidates, truth, scores)
    assert_allclose(report["AUC"], roc_auc_score(wrong, suspicion))
    assert_allclose(report["AP"], average_precision_score(wrong, suspicion))
    assert_allclose(report["noise"], wrong.mean())


def test_precision_is_the_mean_over_orders_of_ties(data, rng):
    candidates, truth, scores = data
    inside = candidates > 0
    wrong, suspicion = 1 - truth[inside], scores[inside]
    found = []
    for _ in range(4000):
        order = np.lexsort((rng.uniform(size=len(wrong)), -suspicion))
        found.append(wrong[order[: wrong.sum()]].mean())
    # Four standard errors of the mean.
    error = 4 * np.std(found) / np.sqrt(len(found))
    report = noise_report(candidates, truth, scores)
    assert abs(report["P@n"] - np.mean(found)) <= error + 1e-12


def test_a_trivial_score_gains_nothing(data):
    candidates, truth, _ = data
    report = noise_report(candidates, truth, candidates.astype(float))
    assert report["AUC"] == 0.5
    assert_allclose([report["AP"], report["P@n"]], report["noise"])


def test_entries_off_the_candidates_are_not_read(data, rng):
    candidates, truth, scores = data
    base = noise_report(candidates, truth, scores)
    moved = np.where(candidates > 0, scores, rng.normal(size=scores.shape))
    assert noise_report(candidates, truth, moved) == base
    stored = csr_array(np.where(candidates > 0, scores, 0))
    assert noise_report(csr_array(candidates), csr_array(truth), stored) == base


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.1, 5))
def test_only_the_order_counts(seed, factor):
    rng = np.random.RandomState(seed)
    candidates, scores = np.ones((5, 3)), rng.normal(size=(5, 3))
    truth = np.zeros((5, 3))
    truth.flat[: rng.randint(1, 15)] = 1
    base = noise_report(candidates, truth, scores)
    moved = noise_report(candidates, truth, factor * scores + 1)
    assert moved == pytest.approx(base)
    best = noise_report(candidates, truth, 1 - truth)
    assert best["AUC"] == best["AP"] == best["P@n"] == 1
    worst = noise_report(candidates, truth, truth)
    assert worst["AUC"] == 0


def test_undefined_and_wrong_input():
    ones = np.ones((2, 2))
    with pytest.warns(UndefinedMetricWarning, match="no candidate is wrong"):
        report = noise_report(ones, ones, ones)
    assert np.isnan(report["AUC"]) and report["noise"] == 0
    with pytest.warns(UndefinedMetricWarning, match="no candidate is true"):
        assert noise_report(ones, 0 * ones, ones)["noise"] == 1
    with pytest.warns(UndefinedMetricWarning, match="there is no candidate"):
        assert np.isnan(noise_report(0 * ones, 0 * ones, ones)["noise"])
    with pytest.raises(ValueError, match="shape"):
        noise_report(ones, ones, np.ones((3, 2)))
