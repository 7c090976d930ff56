# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

from demurk.graph import (
    NeighborGraph,
    affinity,
    degrees,
    laplacian,
    nearest_neighbors,
    normalize_symmetric,
)


@pytest.fixture
def graph():
    X = np.random.default_rng(0).standard_normal((60, 3))
    X[20:25] = X[:5]  # duplicates
    return nearest_neighbors(X, 4)


def dense_reference(graph, weights, symmetrize, bandwidth):
    """Weights by a loop over the stored neighbours."""
    n = graph.distances.shape[0]
    A = np.zeros((n, n))
    for i in range(n):
        for p in range(graph.distances.indptr[i], graph.distances.indptr[i + 1]):
            d = graph.distances.data[p]
            heat = np.exp(-(d**2) / bandwidth**2)
            A[i, graph.distances.indices[p]] = heat if weights == "heat" else 1.0
    if symmetrize == "mean":
        return (A + A.T) / 2
    return np.maximum(A, A.T) if symmetrize == "or" else np.minimum(A, A.T)


@pytest.mark.parametrize("weights", ["binary", "heat"])
@pytest.mark.parametrize("symmetrize", ["or", "and", "mean"])
def test_affinity_matches_a_loop(graph, weights, symmetrize):
    W = affinity(graph, weights=weights, symmetrize=symmetrize, bandwidth=0.7)
    expected = dense_reference(graph, weights, symmetrize, 0.7)
    np.testing.assert_allclose(W.toarray(), expected, rtol=1e-14)
    assert isinstance(W, sparse.csr_array)
    assert (W != W.T).nnz == 0
    assert not W.diagonal().any()
    # Duplicates, at distance 0, are joined with weight 1.
    if symmetrize == "or":
        assert np.all(W.toarray()[np.arange(5), np.arange(20, 25)] == 1.0)


def test_affinity_leaves_the_graph_alone(graph):
    before = graph.distances.copy()
    affinity(graph, weights="heat")
    np.testing.assert_array_equal(graph.distances.indices, before.indices)
    np.testing.assert_array_equal(graph.distances.data, before.data)


def test_default_bandwidth(graph):
    last = graph.distances.data.reshape(60, 4)[:, -1]
    a = affinity(graph, weights="heat")
    b = affinity(graph, weights="heat", bandwidth=np.median(last))
    np.testing.assert_array_equal(a.toarray(), b.toarray())


def test_default_bandwidth_among_duplicates():
    X = np.array([[0.0]] * 5 + [[1.0], [3.0]])
    graph = nearest_neighbors(X, 2)  # last distances 0, 0, 0, 0, 0, 1, 3
    positive = np.array([1, 1, 2, 3])
    a = affinity(graph, weights="heat")
    b = affinity(graph, weights="heat", bandwidth=positive.mean())
    np.testing.assert_array_equal(a.toarray(), b.toarray())
    constant = affinity(nearest_neighbors(np.zeros((5, 2)), 2), weights="heat")
    np.testing.assert_array_equal(constant.data, 1.0)


def test_stored_diagonal_is_dropped():
    distances = sparse.csr_array([[1.0, 2.0], [2.0, 0.0]])
    W = affinity(NeighborGraph(distances))
    np.testing.assert_array_equal(W.toarray(), [[0, 1], [1, 0]])
    assert W.nnz == 2


def test_weights_that_underflow_are_no_edges():
    graph = nearest_neighbors(np.array([[0.0], [1.0], [1e9]]), 1)
    assert affinity(graph, weights="heat", bandwidth=1.0).nnz == 2


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix, np.asarray])
def test_matrices_of_the_graph(graph, kind):
    dense = affinity(graph, weights="heat", symmetrize="and").toarray()
    dense[3], dense[:, 3] = 0.0, 0.0  # an isolated node
    d = dense.sum(axis=1)
    assert np.any(d == 0)
    inverse = np.zeros(60)
    inverse[d > 0] = d[d > 0] ** -0.5
    normalized = np.diag(inverse) @ dense @ np.diag(inverse)
    np.testing.assert_allclose(degrees(kind(dense)), d, rtol=1e-14)
    S = normalize_symmetric(kind(dense))
    np.testing.assert_allclose(S.toarray(), normalized, rtol=1e-13)
    assert (S != S.T).nnz == 0
    np.testing.assert_allclose(laplacian(kind(dense)).toarray(), np.diag(d) - dense)
    for norm in (False, True):
        np.testing.assert_allclose(
            laplacian(kind(dense), normalized=norm).toarray(),
            csgraph.laplacian(dense, normed=norm),
            atol=1e-14,
        )


def test_inputs_are_not_changed(graph):
    W = affinity(graph, weights="heat")
    before = W.copy()
    normalize_symmetric(W), laplacian(W, normalized=True), degrees(W)
    np.testing.assert_array_equal(W.data, before.data)
    np.testing.assert_array_equal(W.indices, before.indices)


def test_errors(graph):
    with pytest.raises(ValueError, match="'binary' or 'heat'"):
        affinity(graph, weights="cosine")
    with pytest.raises(ValueError, match="'or', 'and' or 'mean'"):
        affinity(graph, symmetrize="xor")
    with pytest.raises(ValueError, match="positive number, got 0"):
        affinity(graph, weights="heat", bandwidth=0)
    with pytest.raises(ValueError, match="queries=None"):
        affinity(nearest_neighbors(np.eye(3), 1, queries=np.ones((2, 3))))
    W = affinity(graph).tolil()
    W[7, 50] += 0.5
    with pytest.raises(ValueError, match=r"not symmetric in row (7|50)"):
        degrees(W)
    with pytest.raises(ValueError, match="negative weight in row 1"):
        laplacian([[0, 1], [-1, 0]])
    with pytest.raises(ValueError, match="square"):
        normalize_symmetric(np.ones((2, 3)))
