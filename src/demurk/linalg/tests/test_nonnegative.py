"""Stacks of small quadratic programs against one general solver at a time."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize, nnls

from demurk.linalg._nonnegative import (
    solve_nonnegative,
    solve_simplex,
    solve_sum_to_one,
)


def stack(rng, n, k, d):
    """Neighbours minus their sample, and their products."""
    A = rng.normal(size=(n, k, d)) + 0.5 * rng.normal(size=(n, 1, d))
    return A, A @ A.transpose(0, 2, 1)


@pytest.mark.parametrize("k, d", [(1, 3), (5, 8), (12, 30), (15, 4)])
def test_nonnegative_equals_nnls(rng, k, d):
    A, gram = stack(rng, 60, k, d)
    target = rng.normal(size=(60, d))
    cross = (A @ target[:, :, None])[:, :, 0]
    weights = solve_nonnegative(gram, cross)
    assert weights.min() >= 0
    for i in range(60):
        best, error = nnls(A[i].T, target[i], maxiter=1000)
        # With more neighbours than features the weights are not unique, and the
        # ridge is felt where they are in the hundreds; the error hardly moves.
        found = np.linalg.norm(A[i].T @ weights[i] - target[i])
        assert found <= error + 1e-6 * (1 + best.max())
        if k <= d:
            assert_allclose(weights[i], best, atol=1e-7)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 9), st.integers(1, 12))
def test_optimality_conditions(seed, k, d):
    rng = np.random.RandomState(seed)
    _, gram = stack(rng, 8, k, d)
    cross = rng.normal(size=(8, k))
    # A ridge keeps the least value finite where there are more weights than features.
    gram = gram + 0.1 * np.eye(k)
    weights = solve_nonnegative(gram, cross)
    level = np.trace(gram, axis1=1, axis2=2) / k
    gram = gram + 1e-10 * level[:, None, None] * np.eye(k)  # the documented ridge
    slope = cross - (gram @ weights[:, :, None])[:, :, 0]
    assert weights.min() >= 0
    assert slope.max() < 1e-8
    assert np.abs(weights * slope).max() < 1e-8


def test_one_at_a_time_gives_the_same(rng):
    _, gram = stack(rng, 20, 8, 12)
    cross = rng.normal(size=(20, 8))
    assert_allclose(
        solve_nonnegative(gram, cross, max_rounds=0),
        solve_nonnegative(gram, cross),
        atol=1e-9,
    )


@pytest.mark.parametrize("k, d", [(1, 2), (4, 6), (8, 20)])
def test_simplex_equals_general_solver(rng, k, d):
    _, gram = stack(rng, 12, k, d)
    weights = solve_simplex(gram)
    assert weights.min() >= 0
    assert_allclose(weights.sum(axis=1), 1)
    for G, w in zip(gram, weights):
        best = minimize(
            lambda v, G=G: v @ G @ v,
            np.full(k, 1 / k),
            jac=lambda v, G=G: 2 * G @ v,
            bounds=[(0, None)] * k,
            constraints={"type": "eq", "fun": lambda v: v.sum() - 1},
            options={"ftol": 1e-12, "maxiter": 500},
        )
        assert w @ G @ w <= best.fun + 1e-7 * np.trace(G)
        assert_allclose(w, best.x, atol=1e-4)  # the accuracy of SLSQP


def test_sum_to_one_is_the_closed_form(rng):
    _, gram = stack(rng, 30, 6, 10)
    for G, w in zip(gram, solve_sum_to_one(gram)):
        inverse = np.linalg.solve(G, np.ones(6))
        assert_allclose(w, inverse / inverse.sum(), rtol=1e-6)


@pytest.mark.parametrize("solve", [solve_simplex, solve_sum_to_one])
def test_duplicates_share_and_nothing_known_is_even(solve):
    same = np.full((3, 3), 2.0)
    assert_allclose(solve(np.array([np.zeros((3, 3)), same])), 1 / 3, atol=1e-6)
    # A neighbour that is the sample itself takes all the weight.
    exact = np.diag([0.0, 1.0, 4.0])
    assert_allclose(solve(exact[None]), [[1, 0, 0]], atol=1e-8)


@pytest.mark.parametrize("factor", [1e-12, 1e12])
def test_scale_of_the_data_does_not_matter(rng, factor):
    _, gram = stack(rng, 10, 5, 9)
    assert_allclose(solve_simplex(factor * gram), solve_simplex(gram), atol=1e-9)
    assert_allclose(solve_sum_to_one(factor * gram), solve_sum_to_one(gram), atol=1e-9)
    cross = rng.normal(size=(10, 5))
    assert_allclose(
        solve_nonnegative(factor * gram, factor * cross),
        solve_nonnegative(gram, cross),
        atol=1e-9,
    )


def test_no_problems_at_all():
    assert solve_simplex(np.empty((0, 4, 4))).shape == (0, 4)
    assert solve_nonnegative(np.empty((0, 4, 4)), np.empty((0, 4))).shape == (0, 4)
