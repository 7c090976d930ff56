"""Coordinates of graphs against dense generalised eigenproblems."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import block_diag, eigh
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from demurk.graph import SparseLowRank
from demurk.manifold._spectral import (
    embed_graph,
    graph_parts,
    part_contrasts,
    spectral_coordinates,
)


def random_graph(rng, n, share=0.3):
    W = rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < share)
    W = np.triu(W, 1)
    W += np.diag(np.full(n - 1, 0.5), 1)  # a path keeps it in one piece
    return W + W.T


def dense_map(W, m):
    """Generalised eigenvectors of (D - W, D), the constant one left out."""
    D = np.diag(W.sum(axis=1))
    values, vectors = eigh(D - W, D)
    return values[1 : m + 1], vectors[:, 1 : m + 1]


def assert_same_up_to_sign(Z, expected, **tolerance):
    signs = np.sign(np.einsum("ij,ij->j", Z, expected))
    assert_allclose(Z * signs, expected, **tolerance)


@pytest.mark.parametrize("n, m", [(12, 3), (60, 5), (700, 4)])
def test_sparse_graph_equals_dense_problem(rng, n, m):
    W = random_graph(rng, n, 0.3 if n < 100 else 0.01)
    found = embed_graph(csr_array(W), m)
    values, vectors = dense_map(W, m)
    assert_allclose(found.eigenvalues, values, atol=1e-10)
    assert_same_up_to_sign(found.coordinates, vectors, atol=1e-6)
    assert_allclose(found.degrees, W.sum(axis=1))


@pytest.mark.parametrize("n", [40, 700])
@pytest.mark.parametrize("sparse_core", [False, True])
def test_low_rank_part_equals_dense_problem(rng, n, sparse_core):
    W = random_graph(rng, n, 0.1)
    group = rng.randint(5, size=n)
    U, C = np.eye(5)[group], np.eye(5) + 0.1
    total = W + U @ C @ U.T
    core = csr_array(C) if sparse_core else C
    found = embed_graph(SparseLowRank(csr_array(W), csr_array(U), core), 3)
    values, vectors = dense_map(total, 3)
    assert_allclose(found.eigenvalues, values, atol=1e-10)
    assert_same_up_to_sign(found.coordinates, vectors, atol=1e-6)


def test_constraints_and_sign(rng):
    W = random_graph(rng, 80)
    found = embed_graph(csr_array(W), 4)
    Z, D = found.coordinates, found.degrees
    assert_allclose(Z.T @ (D[:, None] * Z), np.eye(4), atol=1e-10)
    assert_allclose(Z.T @ D, 0, atol=1e-10)
    assert (Z[np.abs(Z).argmax(axis=0), range(4)] > 0).all()
    # The eigenvalue is the cost of the coordinate.
    cost = [0.5 * (W * (z[:, None] - z) ** 2).sum() for z in Z.T]
    assert_allclose(cost, found.eigenvalues, atol=1e-10)


def test_complete_graph_has_negative_eigenvalues_only(rng):
    """The constant, moved out of the way, must not come back as a coordinate."""
    n = 30
    complete = SparseLowRank(csr_array(-np.eye(n)), np.ones((n, 1)), np.eye(1))
    found = embed_graph(complete, 2)
    assert_allclose(found.eigenvalues, n / (n - 1))
    assert_allclose(found.coordinates.sum(axis=0), 0, atol=1e-12)


def test_long_path_needs_a_factorisation():
    """Eigenvalues of 1e-6 apart, for which iterations alone would take for ever."""
    n = 3000
    W = csr_array(np.eye(n, k=1) + np.eye(n, k=-1))
    found = embed_graph(W, 2)
    # Of the normalised Laplacian of a path: 1 - cos(pi j / (n - 1)).
    expected = 1 - np.cos(np.pi * np.arange(1, 3) / (n - 1))
    assert_allclose(found.eigenvalues, expected, rtol=1e-6)
    assert (np.diff(np.abs(found.coordinates[: n // 2, 0])) < 0).all()


def three_parts(rng):
    blocks = [random_graph(rng, n) for n in (8, 20, 13)]
    return block_diag(*blocks), np.repeat([0, 1, 2], [8, 20, 13])


@pytest.mark.parametrize("low_rank", [False, True])
def test_parts_are_told_apart(rng, low_rank):
    W, part = three_parts(rng)
    weights = csr_array(W)
    if low_rank:
        weights = SparseLowRank(weights, csr_array((41, 2)), np.eye(2))
    with pytest.warns(UserWarning, match="falls into 3 parts"):
        found = embed_graph(weights, 4)
    Z, D = found.coordinates, found.degrees
    assert_allclose(found.eigenvalues[:2], 0, atol=1e-12)
    for p in range(3):
        assert_allclose(np.ptp(Z[part == p, :2], axis=0), 0, atol=1e-12)
    assert len(np.unique(Z[:, :2].round(8), axis=0)) == 3
    # The others are the best eigenvectors within the parts.
    inside = [dense_map(W[part == p][:, part == p], 2)[0] for p in range(3)]
    values = np.sort(np.concatenate(inside))
    assert_allclose(found.eigenvalues[2:], values[:2], atol=1e-10)
    assert_allclose(Z.T @ (D[:, None] * Z), np.eye(4), atol=1e-10)
    assert_allclose(Z.T @ D, 0, atol=1e-10)


def test_many_parts_need_no_eigenvectors():
    W = block_diag(*[np.ones((2, 2)) - np.eye(2)] * 10)
    with pytest.warns(UserWarning, match="falls into 10 parts"):
        found = embed_graph(csr_array(W), 3)
    assert_allclose(found.eigenvalues, 0)
    assert_allclose(found.coordinates[::2], found.coordinates[1::2])


def test_isolated_nodes_lie_at_the_origin(rng):
    W = np.zeros((22, 22))
    W[1:21, 1:21] = random_graph(rng, 20)
    with pytest.warns(UserWarning, match="3 parts, 2 of them single samples"):
        found = embed_graph(csr_array(W), 2)
    values, vectors = dense_map(W[1:21, 1:21], 2)
    assert_allclose(found.eigenvalues, values, atol=1e-10)
    assert_same_up_to_sign(found.coordinates[1:21], vectors, atol=1e-7)
    assert_array_equal(found.coordinates[[0, 21]], 0)


@pytest.mark.parametrize("kind", ["sparse", "low rank", "low rank, sparse core"])
def test_teleport_joins_everything(rng, kind):
    W, _ = three_parts(rng)
    W = block_diag(W, np.zeros((1, 1)))
    n = len(W)
    weights, total = csr_array(W), W.copy()
    if kind != "sparse":
        U = np.eye(2)[rng.randint(2, size=n)] * (np.arange(n) < 8)[:, None]
        core = 0.3 * np.eye(2)
        total += U @ core @ U.T
        core = csr_array(core) if "core" in kind else core
        weights = SparseLowRank(weights, csr_array(U), core)
    total = total + 1e-3 * total.sum() / n**2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = embed_graph(weights, 2, on_disconnected="teleport")
    values, vectors = dense_map(total, 2)
    assert_allclose(found.eigenvalues, values, atol=1e-10)
    assert_same_up_to_sign(found.coordinates, vectors, atol=1e-6)


def test_teleport_leaves_connected_graphs_alone(rng):
    W = csr_array(random_graph(rng, 30))
    assert_array_equal(
        embed_graph(W, 2, on_disconnected="teleport").coordinates,
        embed_graph(W, 2).coordinates,
    )


def test_refusing_parts(rng):
    W, _ = three_parts(rng)
    with pytest.raises(ValueError, match="3 parts; a larger n_neighbors"):
        embed_graph(csr_array(W), 2, on_disconnected="raise")


@pytest.mark.parametrize("n, m", [(3, 3), (2, 2), (1, 1)])
def test_too_many_coordinates(n, m):
    W = csr_array(np.ones((n, n)) - np.eye(n))
    with pytest.raises(ValueError, match=f"has only {n - 1} coordinates"):
        embed_graph(W, m)


def test_parts_of_a_low_rank_graph_equal_those_of_the_dense_one(rng):
    for seed in range(20):
        rng = np.random.RandomState(seed)
        W = np.triu(rng.uniform(size=(15, 15)) < 0.05, 1).astype(float)
        W += W.T
        U = np.eye(6)[rng.randint(6, size=15)] * (rng.uniform(size=(15, 1)) < 0.5)
        C = np.triu(rng.uniform(size=(6, 6)) < 0.2, 1) + np.eye(6)
        C = np.maximum(C, C.T)
        total = W + U @ C @ U.T
        expected = connected_components(csr_array(total), directed=False)
        n_parts, part = graph_parts(SparseLowRank(csr_array(W), csr_array(U), C))
        assert n_parts == expected[0]
        # The same partition, whatever the names of the parts.
        assert len(set(zip(part, expected[1]))) == n_parts


def test_contrasts_are_orthonormal_in_the_degrees(rng):
    degree, part = rng.uniform(0.5, 2, size=50), rng.randint(6, size=50)
    Z = part_contrasts(degree, part, 5)
    assert_allclose(Z.T @ (degree[:, None] * Z), np.eye(5), atol=1e-12)
    assert_allclose(Z.T @ degree, 0, atol=1e-12)
    order = rng.permutation(50)
    assert_allclose(part_contrasts(degree[order], part[order], 5), Z[order])
    renamed = np.array([3, 1, 5, 0, 2, 4])[part]
    assert_allclose(part_contrasts(degree, renamed, 5), Z)


def test_rebuilding_matrix(rng):
    """The problem of SSDR-MC, which is no graph but has the same constant."""
    A = np.eye(30) - random_graph(rng, 30)
    A -= np.diag(A.sum(axis=1))
    M = A.T @ A
    theta, Z = spectral_coordinates(
        csr_array(np.eye(30) - M), np.ones(30), np.zeros(30, dtype=int), 3
    )
    values, vectors = np.linalg.eigh(M)
    assert_allclose(1 - theta, values[1:4], atol=1e-9)
    assert_same_up_to_sign(Z, vectors[:, 1:4], atol=1e-6)
