"""The step over the other labels against explicit refits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from demurk.audit._other_labels import (
    PENALTIES,
    _one_label,
    _whole_labels,
    add_other_labels,
    mirror,
)


@pytest.fixture
def data(rng):
    hidden = rng.normal(size=(60, 1))
    Y = (hidden + 0.7 * rng.normal(size=(60, 5)) > 0).astype(float)
    P = np.clip(0.5 + 0.1 * hidden + 0.1 * rng.normal(size=(60, 5)), 0, 1)
    return P, Y, np.ones(Y.shape, bool)


def ridge_without(rows, a, B, y, penalty):
    """Ridge with a free intercept on some rows; predictions for all."""
    D = np.column_stack([a, B])
    A, t = D[rows] - D[rows].mean(axis=0), y[rows] - y[rows].mean()
    scale = np.diag([1.0] + [penalty] * B.shape[1])
    weights = np.linalg.solve(A.T @ A + scale, A.T @ t)
    return y[rows].mean() + (D - D[rows].mean(axis=0)) @ weights


def slow_column(P, Y, j):
    """Leave-one-out scores of label j by refitting without each row."""
    n = len(Y)
    others = np.delete(np.arange(Y.shape[1]), j)
    centered = Y - Y.mean(axis=0)
    B = centered[:, others] / np.maximum(centered[:, others].std(axis=0), 0.1)
    a = P[:, j] - P[:, j].mean()
    a = a / a.std() if a @ centered[:, j] > 0 else np.zeros(n)
    scores = np.empty((n, len(PENALTIES)))
    for k, penalty in enumerate(n * PENALTIES):
        for i in range(n):
            rows = np.arange(n) != i
            scores[i, k] = ridge_without(rows, a, B, Y[:, j], penalty)[i]
    best = ((Y[:, [j]] - scores) ** 2).sum(axis=0).argmin()
    return scores[:, best] + (Y[:, j] - Y[:, j].mean()) / (n - 1)


def test_equals_refits_without_the_row(data):
    P, Y, seen = data
    found = add_other_labels(P, Y, seen)
    for j in range(5):
        if np.allclose(found.scores[:, j], P[:, j]):
            continue
        assert_allclose(found.scores[:, j], slow_column(P, Y, j), atol=1e-8)
    used = (found.coefs != 0).any(axis=0)
    assert used.sum() >= 3  # the labels depend on each other


def test_evidence_that_points_the_wrong_way_is_dropped(data):
    P, Y, _ = data
    centered = Y[:, 0] - Y[:, 0].mean()
    B = Y[:, 1:] - Y[:, 1:].mean(axis=0)
    with_wrong, _ = _one_label(1 - P[:, 0], centered, B, B.T @ B, np.ones(60))
    without, _ = _one_label(np.zeros(60), centered, B, B.T @ B, np.ones(60))
    assert_allclose(with_wrong, without)


def test_independent_labels_keep_their_scores(rng):
    """Labels that know nothing of each other leave most columns alone."""
    P = rng.random_sample((300, 6))
    Y = (rng.random_sample(P.shape) < P).astype(float)
    found = add_other_labels(P, Y, np.ones(Y.shape, bool))
    change = np.abs(found.scores - P).mean()
    assert change < 0.05


def test_pure_noise_does_not_read_itself_back(rng):
    """Without the mirror correction the score would be a copy of the own label."""
    Y = (rng.random_sample((80, 4)) < 0.3).astype(float)
    P = (Y.sum(axis=0) - Y) / 79 + mirror(Y, Y.mean(axis=0), 80)
    assert_allclose(P, np.broadcast_to(Y.mean(axis=0), P.shape))
    found = add_other_labels(P, Y, np.ones(Y.shape, bool)).scores
    for j in range(4):
        if found[:, j].std() > 1e-12:
            assert abs(np.corrcoef(found[:, j], Y[:, j])[0, 1]) < 0.5


def test_unobserved_entries(data, rng):
    P, Y, _ = data
    seen = rng.random_sample(Y.shape) < 0.8
    base = add_other_labels(P, Y, seen)
    other = add_other_labels(P, np.where(seen, Y, 1 - Y), seen)
    assert_allclose(other.scores, base.scores)
    assert_allclose(base.scores[~seen], P[~seen])


def test_order_of_labels_does_not_matter(data):
    P, Y, seen = data
    order = [4, 2, 0, 1, 3]
    base = add_other_labels(P, Y, seen)
    found = add_other_labels(P[:, order], Y[:, order], seen)
    assert_allclose(found.scores, base.scores[:, order], atol=1e-9)
    assert_allclose(found.coefs, base.coefs[np.ix_(order, order)], atol=1e-9)


def test_one_label_and_constant_labels(data):
    P, Y, seen = data
    assert_allclose(add_other_labels(P[:, :1], Y[:, :1], seen[:, :1]).scores, P[:, :1])
    Y = Y.copy()
    Y[:, 0], Y[:, 1] = 0, 1
    found = add_other_labels(P, Y, seen)
    assert_allclose(found.scores[:, :2], P[:, :2])
    assert np.isfinite(found.scores).all()


def test_many_labels_look_at_the_most_varied_only(data, monkeypatch):
    P, Y, seen = data
    monkeypatch.setattr("demurk.audit._other_labels.MAX_LABELS", 2)
    found = add_other_labels(P, Y, seen)
    assert ((found.coefs != 0).sum(axis=0) <= 2).all()


@pytest.mark.parametrize(
    "noise, expected",
    [(0.0, 0.01), (0.3, None), (3.0, None), (np.inf, 1e9)],
    ids=["certain", "little noise", "much noise", "nothing"],
)
def test_penalties_per_row_from_a_hundredth_to_ten_and_out(rng, noise, expected):
    n = 50
    B = rng.normal(size=(n, 3))
    B -= B.mean(axis=0)
    y = rng.normal(size=n) if np.isinf(noise) else B[:, 0] + noise * rng.normal(size=n)
    y -= y.mean()
    steps = [0.01, 10**-1.5, 0.1, 10**-0.5, 1.0, 10**0.5, 10.0, 1e9]
    residuals = np.empty((n, len(steps)))
    for k, penalty in enumerate(steps):
        for i in range(n):
            fitted = ridge_without(np.arange(n) != i, np.zeros(n), B, y, n * penalty)
            residuals[i, k] = y[i] - fitted[i]
    best = (residuals**2).sum(axis=0).argmin()
    assert expected is None or steps[best] == expected
    found, coefs = _one_label(np.zeros(n), y, B, B.T @ B, np.ones(n))
    assert_allclose(found, residuals[:, best], atol=1e-8)
    weights = np.linalg.solve(B.T @ B + n * steps[best] * np.eye(3), B.T @ y)
    assert_allclose(coefs, weights, atol=1e-8)


def test_weights_count_rows_in_the_fit_and_leave_out_all_of_one(data, rng):
    P, Y, seen = data
    weights = rng.randint(1, 4, size=60)
    scores = add_other_labels(P, Y, seen, weights * 1.0).scores
    same = add_other_labels(P, Y, seen, np.ones(60)).scores
    assert_allclose(same, add_other_labels(P, Y, seen).scores)
    assert np.abs(scores - same).max() > 0.01
    y, B = Y[:, 0] - np.average(Y[:, 0], weights=weights), Y[:, 1:]
    B = B - np.average(B, axis=0, weights=weights)
    gram = (B.T * weights) @ B
    found, coefs = _one_label(np.zeros(60), y, B, gram, weights)
    rows, n = np.repeat(np.arange(60), weights), weights.sum()
    losses = []
    for penalty in n * PENALTIES:
        residuals = np.empty(60)
        for i in range(60):
            kept = rows[rows != i]
            residuals[i] = y[i] - ridge_without(kept, np.zeros(60), B, y, penalty)[i]
        losses.append((weights @ residuals**2, residuals))
    assert_allclose(found, min(losses, key=lambda loss: loss[0])[1], atol=1e-8)
    assert coefs.shape == (4,)


@pytest.mark.parametrize("limit", [2**22, 1])
def test_all_labels_at_once_equal_each_by_itself(data, rng, limit, monkeypatch):
    monkeypatch.setattr("demurk.audit._other_labels.BLOCK_ENTRIES", limit)
    P, Y, _ = data
    P[:, 4] = 1 - P[:, 4]  # points the wrong way
    weights = rng.uniform(0.5, 2, size=60)
    centered = Y - np.average(Y, axis=0, weights=weights)
    others, labels = np.array([0, 2, 3]), np.array([0, 1, 3, 4])
    residuals, coefs = _whole_labels(P, centered, centered, others, labels, weights)
    for k, j in enumerate(labels):
        used = others[others != j]
        part = centered[:, used]
        expected, found = _one_label(
            P[:, j], centered[:, j], part, (part.T * weights) @ part, weights
        )
        assert_allclose(residuals[:, k], expected, atol=1e-10)
        assert_allclose(coefs[np.isin(others, used), k], found, atol=1e-10)
        assert_allclose(coefs[others == j, k], 0, atol=1e-12)
