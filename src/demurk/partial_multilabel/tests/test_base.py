"""Thresholds, noise scores and the rows of a fit, against brute force."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from demurk.base import best_cuts, linear_threshold
from demurk.partial_multilabel import PMLLRS, PMLLCom
from demurk.partial_multilabel._base import (
    cardinality_threshold,
    dealt,
    kept_candidates,
    label_order,
    on_candidates,
)


def test_cardinality_threshold_leaves_so_many_above(rng):
    scores = rng.normal(size=(9, 4))
    for wanted in range(1, 37):
        assert np.sum(scores > cardinality_threshold(scores, wanted)) == wanted


def test_kept_candidates_are_as_many_as_expected(rng):
    confidences = rng.uniform(-0.2, 1.3, size=50)
    kept = kept_candidates(confidences)
    assert kept.sum() == round(np.clip(confidences, 0, 1).sum())
    assert confidences[kept].min() > confidences[~kept].max()
    # Never none, and equal ones are treated alike.
    assert kept_candidates(np.full(3, -1.0)).all()
    assert_array_equal(kept_candidates(np.array([0.9, 0.2, 0.9])), [1, 0, 1])
    assert_array_equal(kept_candidates(np.array([0.4, 0.4, 0.1])), [1, 1, 0])


def mistakes(scores, labels, cut):
    return np.sum((scores > cut) != labels)


def test_best_cuts_make_the_fewest_mistakes(rng):
    scores = np.round(rng.normal(size=(40, 5)), 1)  # with ties
    labels = rng.uniform(size=(40, 5)) < 0.4
    labels[0], labels[1] = True, False
    found = best_cuts(scores, labels)
    for row, wanted, cut in zip(scores, labels, found):
        points = np.concatenate([row - 0.05, row + 0.05, row])
        fewest = min(mistakes(row, wanted, point) for point in points)
        assert mistakes(row, wanted, cut) == fewest
    assert_allclose(found[0], scores[0].min() - 0.1)
    assert_allclose(found[1], scores[1].max() + 0.1)


def test_linear_threshold_recovers_linear_cuts(rng):
    # Two labels close around a cut that is linear in the scores.
    mean = rng.normal(size=(200, 1))
    scores = mean + np.array([[-1e-6, 1e-6]])
    weights = linear_threshold(scores, np.tile([False, True], (200, 1)))
    assert_allclose(scores @ weights[:2] + weights[2], mean[:, 0], atol=1e-5)
    # Scores that sum to zero leave the weights open: they stay small.
    scores = rng.normal(size=(50, 3))
    scores -= scores.mean(axis=1, keepdims=True)
    weights = linear_threshold(scores, scores > 0)
    assert np.abs(weights).max() < 10


def test_on_candidates(rng):
    Y = (rng.uniform(size=(6, 4)) < 0.5).astype(float)
    values = rng.normal(size=(6, 4))
    assert_array_equal(on_candidates(values, csr_array(Y)), values[Y > 0])


def test_order_and_start_follow_the_owners(rng):
    X, Y = rng.normal(size=(20, 3)), csr_array(rng.uniform(size=(20, 6)) < 0.5)
    order = rng.permutation(6)
    moved = csr_array(Y.toarray()[:, order])
    assert_array_equal(order[label_order(X, moved)], label_order(X, Y))
    values, keys = rng.normal(size=(20, 2)), rng.normal(size=20)
    order = rng.permutation(20)
    assert_array_equal(dealt(values, keys[order]), dealt(values, keys)[order])


@pytest.fixture
def murky(rng):
    X = rng.normal(size=(60, 6))
    Y = (X[:, :4] + rng.normal(size=(60, 4)) > 0).astype(int)
    return X, Y


@pytest.mark.parametrize("estimator", [PMLLCom(random_state=0), PMLLRS()])
def test_unlabelled_rows_are_left_out(estimator, murky, rng):
    X, Y = murky
    more = np.vstack([X[:30], rng.normal(size=(5, 6)), X[30:]])
    hidden = np.vstack([Y[:30], np.full((5, 4), -1), Y[30:]])
    base = estimator.fit(X, Y).noise_scores_.toarray()
    scores = estimator.decision_function(X)
    estimator.fit(more, hidden)
    assert_allclose(estimator.decision_function(X), scores, atol=1e-10)
    found = estimator.noise_scores_
    assert found.shape == (65, 4) and found[30:35].nnz == 0
    kept = np.r_[:30, 35:65]
    assert_allclose(found.toarray()[kept], base, atol=1e-10)


def test_an_unobserved_entry_is_a_candidate(murky):
    X, Y = murky
    part = Y.copy()
    part[::5, 1] = -1
    filled = np.where(part == -1, 1, part)
    first, second = (
        PMLLCom(random_state=0).fit(X, part),
        PMLLCom(random_state=0).fit(X, filled),
    )
    assert_array_equal(first.predict_proba(X), second.predict_proba(X))


def test_thresholds(murky):
    X, Y = murky
    model = PMLLCom(threshold="cardinality", random_state=0).fit(X, Y)
    confidences = np.clip(1 - model.noise_scores_.data, 0, 1)
    assert model.predict(X).sum() == round(confidences.sum())
    fixed = PMLLCom(threshold=0.3, random_state=0).fit(X, Y)
    assert_array_equal(fixed.predict(X), model._scores(X) > 0.3)
    linear = PMLLCom(threshold="linear", random_state=0).fit(X, Y)
    cuts = linear._scores(X) @ linear.thresholds_[:-1] + linear.thresholds_[-1]
    assert_array_equal(linear.predict(X), linear._scores(X) > cuts[:, None])
    assert_allclose(linear.decision_function(X), linear._scores(X) - cuts[:, None])
