# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import sys

import numpy as np
import pytest
from scipy import sparse

from demurk.graph import _approximate, nearest_neighbors


def clustered(n=4000, d=20, seed=0):
    rng = np.random.default_rng(seed)
    centres = 10 * rng.standard_normal((40, d))
    return centres[rng.integers(40, size=n)] + rng.standard_normal((n, d))


def true_recall(graph, exact):
    return graph.connectivity.multiply(exact.connectivity).sum() / exact.distances.nnz


def test_missing_faiss_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r"pip install demurk\[ann\]"):
        nearest_neighbors(np.eye(3), 1, method="approx")


def test_sparse_points_are_refused():
    with pytest.raises(ValueError, match="needs dense X"):
        nearest_neighbors(sparse.csr_array(np.eye(3)), 1, method="approx")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_clustered_data(dtype):
    pytest.importorskip("faiss")
    X = (clustered() + 1e3).astype(dtype)
    graph = nearest_neighbors(X, 10, method="approx")
    exact = nearest_neighbors(X, 10)
    assert 0.95 <= graph.recall <= 1.0
    # The sample of 500 rows estimates the recall of 4,000 to a percent or two.
    assert true_recall(graph, exact) > 0.93
    assert graph.distances.dtype == dtype
    assert graph.distances.shape == (4000, 4000)
    d = graph.distances.data.reshape(4000, 10)
    i = graph.distances.indices.reshape(4000, 10)
    assert not np.any(i == np.arange(4000)[:, None])
    assert np.all(np.diff(d, axis=1) >= 0)
    true = np.linalg.norm((X[:, None] - X[i]).astype(np.float64), axis=2)
    np.testing.assert_allclose(d, true, rtol=1e-4)


def test_same_seed_same_graph():
    pytest.importorskip("faiss")
    X = clustered()
    a, b = (nearest_neighbors(X, 5, method="approx", random_state=3) for _ in range(2))
    np.testing.assert_array_equal(a.distances.indices, b.distances.indices)
    assert a.recall == b.recall


def test_queries():
    pytest.importorskip("faiss")
    X = clustered()
    queries = X[:600] + 0.1
    graph = nearest_neighbors(X, 10, queries=queries, method="approx")
    exact = nearest_neighbors(X, 10, queries=queries)
    assert graph.distances.shape == (600, 4000)
    assert true_recall(graph, exact) > 0.93


def test_noise_falls_back_to_exact():
    pytest.importorskip("faiss")
    X = np.random.default_rng(0).standard_normal((2500, 40))
    graph, exact = nearest_neighbors(X, 8, method="approx"), nearest_neighbors(X, 8)
    assert graph.recall == 1.0
    np.testing.assert_array_equal(graph.distances.indices, exact.distances.indices)


def test_few_points_are_searched_exactly():
    pytest.importorskip("faiss")
    X = np.random.default_rng(0).standard_normal((300, 5))
    graph, exact = nearest_neighbors(X, 400, method="approx"), nearest_neighbors(X, 299)
    np.testing.assert_array_equal(graph.distances.indices, exact.distances.indices)


def test_duplicates_count_as_found():
    pytest.importorskip("faiss")
    # 100 copies of each point: any ten of them are right, whatever their indices.
    X = np.repeat(clustered(40), 100, axis=0)
    graph = nearest_neighbors(X, 10, method="approx")
    assert graph.recall == 1.0
    assert np.all(graph.distances.data == 0.0)
    rows = np.repeat(np.arange(4000), 10)
    assert not np.any(graph.distances.indices == rows)


class Short:
    """An index whose lists hold too few points for some of the rows."""

    def __init__(self, index):
        self.index, self.nprobe = index, 1

    def search(self, rows, k):
        self.index.nprobe = self.nprobe
        distances, indices = self.index.search(rows, k)
        if len(rows) == 4000:
            indices[5:9, 3:], distances[5:9, 3:] = -1, np.finfo(np.float32).max
        return distances, indices


def test_rows_with_too_few_answers_are_searched_exactly(monkeypatch):
    pytest.importorskip("faiss")
    build = _approximate._build
    monkeypatch.setattr(_approximate, "_build", lambda *a, **k: Short(build(*a, **k)))
    X = clustered()
    graph, exact = nearest_neighbors(X, 10, method="approx"), nearest_neighbors(X, 10)
    rows = slice(50, 90)
    found, truth = graph.distances, exact.distances
    np.testing.assert_array_equal(found.indices[rows], truth.indices[rows])
    np.testing.assert_allclose(found.data[rows], truth.data[rows], rtol=1e-4)
