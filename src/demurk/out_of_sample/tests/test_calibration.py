"""Stack weights and calibration against explicit regressions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls

from demurk.out_of_sample import (
    calibrate,
    fit_calibration,
    label_means,
    leave_one_out_means,
    stack_weights,
)


@pytest.fixture
def stack(rng):
    truth = rng.random_sample((60, 4)) * [1.0, 0.6, 0.4, 0.2]
    Y = (rng.random_sample((60, 4)) < truth).astype(float)
    out_of_sample = [
        np.clip(truth + spread * rng.normal(size=truth.shape), 0, 1)
        for spread in (0.05, 0.3, 0.6)
    ]
    observed = rng.random_sample(Y.shape) < 0.8
    return out_of_sample, np.where(observed, Y, 0.0), observed


def slow_means(Y, observed):
    means = np.empty(Y.shape)
    for i in range(len(Y)):
        for j in range(Y.shape[1]):
            rows = [r for r in range(len(Y)) if r != i and observed[r, j]]
            means[i, j] = np.mean(Y[rows, j])
    return means


def test_means(stack):
    _, Y, observed = stack
    assert_allclose(leave_one_out_means(Y, observed), slow_means(Y, observed))
    expected = [Y[observed[:, j], j].mean() for j in range(4)]
    assert_allclose(label_means(Y, observed), expected)


def test_a_label_seen_once_or_never_takes_the_overall_mean():
    Y = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    observed = np.array(
        [[True, True, False], [True, False, False]] + [[True, False, False]]
    )
    assert_allclose(label_means(Y, observed), [2 / 3, 1, 3 / 4])
    assert_allclose(leave_one_out_means(Y, observed)[0], [0.5, 3 / 4, 3 / 4])


def test_weights_equal_nonnegative_least_squares(stack):
    out_of_sample, Y, observed = stack
    m = slow_means(Y, observed)
    A = np.column_stack([(part - m)[observed] for part in out_of_sample])
    y = (Y - m)[observed]
    a = A.mean(axis=1)
    s0 = np.clip(a @ y / (a @ a), 0.3, 2)
    kappa = np.mean((y - s0 * a) ** 2) / 0.2**2
    # Ridge as extra rows: the same minimum, found by scipy on the long system.
    long = np.vstack([A, np.sqrt(kappa) * np.eye(3)])
    right = np.append(y, np.full(3, np.sqrt(kappa) * s0 / 3))
    w = nnls(long, right)[0]
    expected = w / w.sum() / 2 + 1 / 6
    found = stack_weights(out_of_sample, Y, observed)
    assert_allclose(found, expected, atol=1e-10)
    assert found.sum() == pytest.approx(1) and found.argmax() == 0


def test_weights_may_start_elsewhere_and_stay_away(stack):
    out_of_sample, Y, observed = stack
    m, start = slow_means(Y, observed), np.array([0.0, 0.3, 0.7])
    A = np.column_stack([(part - m)[observed] for part in out_of_sample])
    y = (Y - m)[observed]
    s0 = np.clip(A @ start @ y / (A @ start @ A @ start), 0.3, 2)
    kappa = np.mean((y - s0 * A @ start) ** 2) / 0.5**2
    long = np.vstack([A, np.sqrt(kappa) * np.eye(3)])
    w = nnls(long, np.append(y, np.sqrt(kappa) * s0 * start))[0]
    how = {"start": start, "spread": 0.5}
    found = stack_weights(out_of_sample, Y, observed, **how, way_back=0.0)
    assert_allclose(found, w / w.sum(), atol=1e-10)
    back = stack_weights(out_of_sample, Y, observed, **how, way_back=0.25)
    assert_allclose(back, 0.75 * found + 0.25 * start, atol=1e-10)


def test_weights_of_members_that_know_nothing_are_where_they_start(stack):
    _, Y, observed = stack
    same = leave_one_out_means(Y, observed)
    both = [same, same.copy()]
    assert_allclose(stack_weights(both, Y, observed), 0.5)
    start = np.array([0.2, 0.8])
    assert_allclose(stack_weights(both, Y, observed, start=start), start)


def test_weights_follow_the_order_of_members(stack):
    out_of_sample, Y, observed = stack
    found = stack_weights(out_of_sample, Y, observed)
    assert_allclose(stack_weights(out_of_sample[::-1], Y, observed), found[::-1])


def test_calibration_equals_regression(stack):
    (scores, *_), Y, observed = stack
    m = slow_means(Y, observed)
    mean = Y[observed].mean()
    A = np.column_stack([(scores - m)[observed], m[observed] - m[observed].mean()])
    y = Y[observed] - mean
    start = np.array([1.5, 1.0])
    kappa = np.mean((y - A @ start) ** 2) / 0.5**2
    # Prior as two extra observations.
    long = np.vstack([A, np.sqrt(kappa) * np.eye(2)])
    expected = np.linalg.lstsq(long, np.append(y, np.sqrt(kappa) * start))[0]
    found = fit_calibration(scores, Y, observed)
    assert_allclose([found["evidence"], found["frequency"]], expected)
    assert found["mean"] == pytest.approx(mean)


def test_calibrated_scores(stack):
    (scores, *_), Y, observed = stack
    c = fit_calibration(scores, Y, observed)
    mu = label_means(Y, observed)
    expected = c["mean"] + c["evidence"] * (scores - mu)
    expected += c["frequency"] * (mu - c["mean"])
    assert_allclose(calibrate(scores, mu, c), expected)


def test_shrunken_scores_are_stretched(rng):
    """Members that halve the evidence get a coefficient of about two."""
    truth = rng.random_sample((800, 3))
    Y = (rng.random_sample(truth.shape) < truth).astype(float)
    observed = np.ones(Y.shape, dtype=bool)
    shrunk = 0.5 + (truth - 0.5) / 2
    assert fit_calibration(shrunk, Y, observed)["evidence"] == pytest.approx(2, abs=0.2)


def test_equally_frequent_labels_do_not_break_it(rng):
    """Means without the row mirror its label exactly when there is one label."""
    truth = rng.random_sample((200, 1))
    Y = (rng.random_sample(truth.shape) < truth).astype(float)
    found = fit_calibration(truth, Y, np.ones(Y.shape, dtype=bool))
    assert 0.8 < found["evidence"] < 1.3
