"""Batched non-negative least squares against scipy, one problem at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize, nnls
from scipy.sparse import csr_array

from demurk.partial_label import _nonnegative
from demurk.partial_label._nonnegative import (
    difference_products,
    neighbor_products,
    solve_nonnegative,
    solve_simplex,
    weight_graph,
)


def problems(rng, n, d, k, *, shift=1.0):
    A = rng.normal(size=(n, k, d)) + shift
    b = rng.normal(size=(n, d)) + shift
    return A, b, A @ A.transpose(0, 2, 1), (A @ b[:, :, None])[:, :, 0]


@pytest.mark.parametrize("shift", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("max_rounds", [0, 1, 200])
def test_equals_scipy(rng, shift, max_rounds):
    A, b, gram, cross = problems(rng, 200, 12, 8, shift=shift)
    expected = [nnls(a.T, target)[0] for a, target in zip(A, b)]
    weights = solve_nonnegative(gram, cross, max_rounds=max_rounds)
    # The ridge of 1e-10 moves solutions of condition 1e3 by less than this.
    assert_allclose(weights, expected, atol=1e-6)


def test_more_neighbours_than_dimensions(rng):
    A, b, gram, cross = problems(rng, 200, 3, 10)
    weights = solve_nonnegative(gram, cross)
    assert (weights >= 0).all()
    fitted = (weights[:, None, :] @ A)[:, 0]
    best = [nnls(a.T, target)[1] for a, target in zip(A, b)]
    # Many solutions, one value.
    assert_allclose(np.linalg.norm(fitted - b, axis=1), best, atol=1e-5)


def test_optimality_conditions(rng):
    _, _, gram, cross = problems(rng, 500, 20, 10)
    weights = solve_nonnegative(gram, cross)
    slope = cross - (gram @ weights[:, :, None])[:, :, 0]
    scale = np.abs(cross).max(axis=1, keepdims=True)
    assert (slope <= 1e-8 * scale).all()
    assert (np.abs(slope * (weights > 0)) <= 1e-8 * scale).all()


def test_duplicates_share_their_weight(rng):
    _, _, gram, cross = problems(rng, 20, 6, 3)
    twice = np.repeat(np.arange(3), 2)
    weights = solve_nonnegative(gram[:, twice][:, :, twice], cross[:, twice])
    assert_allclose(weights[:, ::2], weights[:, 1::2], atol=1e-6)
    once = solve_nonnegative(gram, cross)
    assert_allclose(weights[:, ::2] + weights[:, 1::2], once, atol=1e-5)


def test_nothing_to_rebuild_with(rng):
    gram, cross = np.zeros((2, 3, 3)), np.zeros((2, 3))
    assert_allclose(solve_nonnegative(gram, cross), 0)
    opposite = -np.ones((1, 3))
    assert_allclose(solve_nonnegative(np.eye(3)[None], opposite), 0)


@pytest.mark.parametrize("d, k", [(8, 5), (2, 6)])
def test_simplex_equals_a_generic_solver(rng, d, k):
    A = rng.normal(size=(30, k, d)) + 0.5
    gram = A @ A.transpose(0, 2, 1)
    weights = solve_simplex(gram)
    assert_allclose(weights.sum(axis=1), 1)
    assert (weights >= 0).all()
    for G, w in zip(gram, weights):
        found = minimize(
            lambda v, G=G: v @ G @ v,
            np.full(k, 1 / k),
            jac=lambda v, G=G: 2 * G @ v,
            bounds=[(0, 1)] * k,
            constraints={"type": "eq", "fun": lambda v: v.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert w @ G @ w <= found.fun + 1e-8


def test_simplex_of_identical_points():
    assert_allclose(solve_simplex(np.zeros((1, 4, 4))), 0.25)


@pytest.mark.parametrize("chunk", [2**22, 30])
def test_products(rng, monkeypatch, chunk):
    monkeypatch.setattr(_nonnegative, "CHUNK_NUMBERS", chunk)
    monkeypatch.setattr(_nonnegative, "SPARSE_ROWS", 3)
    X = rng.normal(size=(10, 4)) * (rng.uniform(size=(10, 4)) < 0.5)
    Q = rng.normal(size=(7, 4))
    indices = rng.randint(10, size=(7, 3))
    gram, cross, square = np.empty((7, 3, 3)), np.empty((7, 3)), np.empty(7)
    for points, queries in [(X, Q), (csr_array(X), csr_array(Q))]:
        for rows, g, c, s in neighbor_products(points, indices, queries):
            gram[rows], cross[rows], square[rows] = g, c, s
        for i, near in enumerate(X[indices]):
            assert_allclose(gram[i], near @ near.T, atol=1e-12)
            assert_allclose(cross[i], near @ Q[i], atol=1e-12)
            assert_allclose(square[i], Q[i] @ Q[i])
    own = rng.randint(10, size=(10, 3))
    away = X[own] - X[:, None, :]
    expected = away @ away.transpose(0, 2, 1)
    assert_allclose(difference_products(X, own), expected, atol=1e-12)
    assert_allclose(difference_products(csr_array(X), own), expected, atol=1e-12)


def test_weight_graph():
    graph = weight_graph(
        np.array([[1, 2], [2, 0], [0, 1]]), np.arange(6.0).reshape(3, 2)
    )
    assert_allclose(graph.toarray(), [[0, 0, 1], [3, 0, 2], [4, 5, 0]])
