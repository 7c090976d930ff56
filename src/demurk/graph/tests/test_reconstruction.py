"""Products of samples with their neighbours, against loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from demurk.graph import _reconstruction as _products
from demurk.graph._reconstruction import (
    difference_products,
    neighbor_products,
    weight_graph,
)


@pytest.mark.parametrize("chunk", [2**22, 30])
def test_products(rng, monkeypatch, chunk):
    monkeypatch.setattr(_products, "BATCH_NUMBERS", chunk)
    monkeypatch.setattr(_products, "COPY_NUMBERS", chunk)
    monkeypatch.setattr(_products, "SPARSE_ROWS", 3)
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
