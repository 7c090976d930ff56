"""The solver of RankSVM: its certificate, its conditions, its parts."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import rbf_kernel

from demurk.multilabel._ranksvm_solver import (
    Kernel,
    Pairs,
    best_scale,
    fit_ranking,
    make_pairs,
)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 4))
    Y = (X @ rng.normal(size=(4, 5)) + 0.5 * rng.normal(size=(60, 5)) > 0).astype(int)
    return X, Y


def all_pairs(Y, C):
    return make_pairs(Y.astype(float), np.ones(Y.shape, dtype=bool), C)


def values(K, Y, C, coef, alpha):
    """Primal and dual value, one pair after another in the order of the rows."""
    scores = K @ coef
    primal, beta, at = 0.5 * np.sum(coef * scores), np.zeros(coef.shape), 0
    for i, y in enumerate(Y):
        pairs = [(k, m) for k in np.flatnonzero(y) for m in np.flatnonzero(1 - y)]
        for k, m in pairs:
            bound = C / len(pairs)
            assert 0 <= alpha[at] <= bound
            primal += bound * max(0, 1 - (scores[i, k] - scores[i, m]))
            beta[i, k] += alpha[at]
            beta[i, m] -= alpha[at]
            at += 1
    assert at == len(alpha)
    return primal, alpha.sum() - 0.5 * np.sum(beta * (K @ beta))


@pytest.mark.parametrize("C", [1e-3, 1.0, 30.0, 1e3, 1e6])
@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_gap_is_what_it_says(data, C, tol):
    """Large C leave no errors: bounds are idle and the margin is hard."""
    X, Y = data
    K = rbf_kernel(X, gamma=0.1)
    found = fit_ranking(Kernel(K), all_pairs(Y, C), 5, tol=tol)
    primal, dual = values(K + 1, Y, C, found.coef, found.alpha)
    assert_allclose(found.gap, (primal - dual) / primal, atol=1e-9)
    assert -1e-9 <= found.gap <= tol
    assert 0 < found.n_iter < 20000


def test_dual_conditions(data):
    """Pairs below the margin have the full weight, pairs above it none."""
    X, Y = data
    pairs = all_pairs(Y, 1.0)
    found = fit_ranking(Kernel(X @ X.T), pairs, 5, tol=1e-9)
    assert found.gap <= 1e-9
    scores = (X @ X.T + 1) @ found.coef
    margin = scores[pairs.row, pairs.relevant] - scores[pairs.row, pairs.irrelevant]
    assert_allclose(found.alpha[margin > 1.001], 0, atol=1e-4)
    full = pairs.bound[margin < 0.999]
    assert_allclose(found.alpha[margin < 0.999], full, atol=1e-4)
    assert np.count_nonzero(margin > 1.001) and len(full)
    # The point follows from the dual variables.
    beta = np.zeros(Y.shape)
    np.add.at(beta, (pairs.row, pairs.relevant), found.alpha)
    np.add.at(beta, (pairs.row, pairs.irrelevant), -found.alpha)
    assert_allclose((X @ X.T + 1) @ beta, scores, atol=1e-3)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_features_and_kernel_say_the_same(data, form, rng):
    X, Y = data
    whole, thin = Kernel(X @ X.T), Kernel.of_features(form(X))
    assert thin.features
    assert Kernel.of_features(np.eye(60)).features is False
    block, rows = rng.normal(size=(60, 5)), rng.permutation(60)[:20]
    assert_allclose(whole @ block, (X @ X.T + 1) @ block)
    assert_allclose(thin @ block, whole @ block)
    assert_allclose(thin[rows] @ block[rows], whole[rows] @ block[rows])
    assert_allclose(thin.level(), np.mean(np.sum(X**2, axis=1)) + 1)
    assert_allclose(whole.level(), thin.level())
    found = [fit_ranking(k, all_pairs(Y, 5.0), 5, tol=1e-8) for k in (whole, thin)]
    assert_allclose(whole @ found[0].coef, whole @ found[1].coef, atol=1e-3)


def test_steps_run_out(data):
    X, Y = data
    for steps in (1, 7, 50):
        found = fit_ranking(Kernel(X @ X.T), all_pairs(Y, 1e4), 5, max_iter=steps)
        primal, dual = values(X @ X.T + 1, Y, 1e4, found.coef, found.alpha)
        assert_allclose(found.gap, (primal - dual) / primal, atol=1e-9)
        assert found.gap > 1e-3
        # The last product of a direction may be followed by that of its step.
        assert steps <= found.n_iter <= steps + 3


def test_no_pairs():
    none = np.empty(0, dtype=np.intp)
    found = fit_ranking(Kernel(np.eye(3)), Pairs(none, none, none, np.empty(0)), 2)
    assert found.gap == 0 and found.n_iter == 0
    assert found.coef.shape == (3, 2) and not found.coef.any()


def test_pairs():
    Y = np.array([[1, 0, 0], [1, 1, 1], [0, 0, 0], [1, 0, 1]])
    pairs = make_pairs(Y, np.ones(Y.shape, dtype=bool), 6.0)
    found = set(zip(pairs.row, pairs.relevant, pairs.irrelevant))
    assert found == {(0, 0, 1), (0, 0, 2), (3, 0, 1), (3, 2, 1)}
    assert_allclose(pairs.bound, 3.0)
    seen = np.ones(Y.shape, dtype=bool)
    seen[0, 1] = seen[3, 0] = False
    pairs = make_pairs(Y, seen, 6.0)
    found = set(zip(pairs.row, pairs.relevant, pairs.irrelevant))
    assert found == {(0, 0, 2), (3, 2, 1)}
    assert_allclose(pairs.bound, 6.0)


@pytest.mark.parametrize("shift", [-5.0, -1.0, 0.0, 1.0, 5.0])
@pytest.mark.parametrize("norm", [1e-3, 1.0, 1e3])
def test_best_scale_against_a_search(rng, shift, norm):
    margins, bound = rng.normal(shift, size=30), rng.uniform(size=30)

    def value(t):
        return t**2 * norm + bound @ np.maximum(1 - t * margins, 0)

    scale, found = best_scale(norm, margins, bound)
    assert scale >= 0
    assert_allclose(found, value(scale))
    best = minimize_scalar(value, bounds=(0, 100), options={"xatol": 1e-10})
    assert found <= best.fun * (1 + 1e-9)
    assert best_scale(0.0, np.zeros(30), bound) == (1.0, pytest.approx(bound.sum()))
