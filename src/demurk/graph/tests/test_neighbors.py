# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsTransformer, NearestNeighbors

from demurk.graph import _exact, _neighbors, nearest_neighbors


def reference(X, k, queries=None):
    """Neighbours by sorting all direct distances, ties by index."""
    X = np.asarray(X, dtype=np.float64)
    Q = X if queries is None else np.asarray(queries, dtype=np.float64)
    distances, indices = [], []
    for i, x in enumerate(Q):
        d = np.sqrt(np.einsum("ij,ij->i", X - x, X - x))
        if queries is None:
            d[i] = np.inf
        order = np.lexsort((np.arange(len(X)), d))[:k]
        distances.append(d[order])
        indices.append(order)
    return np.array(distances), np.array(indices)


def check_rows(graph, distances, indices, rtol=1e-7):
    shape = indices.shape
    np.testing.assert_array_equal(graph.distances.indices.reshape(shape), indices)
    np.testing.assert_allclose(
        graph.distances.data.reshape(shape), distances, rtol=rtol, atol=0
    )


DATA = {
    "continuous": lambda rng: rng.standard_normal((120, 7)),
    "binary": lambda rng: (rng.random((120, 9)) < 0.3) * 1.0,
    "large integers": lambda rng: 1000.0 * rng.integers(0, 5, (120, 3)),
    "grid": lambda rng: 0.1 * rng.integers(0, 3, (120, 3)),
    "far from 0": lambda rng: rng.integers(0, 9, (120, 3)) + 1e6,
    "duplicates": lambda rng: np.repeat(rng.standard_normal((6, 4)), 20, axis=0),
    "constant": lambda rng: np.full((40, 3), 0.3),
    "close": lambda rng: 1 + 1e-4 * rng.standard_normal((120, 3)),
    "clusters": lambda rng: (
        np.repeat(rng.standard_normal((12, 5)), 10, axis=0)
        + 1e-7 * rng.standard_normal((120, 5))
    ),
}


@pytest.fixture(params=DATA)
def X(request):
    return DATA[request.param](np.random.default_rng(0))


@pytest.mark.parametrize("k", [1, 5, 30])
def test_exact_search_matches_sorting_all_distances(X, k):
    check_rows(nearest_neighbors(X, k), *reference(X, k))


def test_exact_search_of_queries(X):
    queries = np.vstack([X[::3], X[:5] + 0.5])
    check_rows(nearest_neighbors(X, 4, queries=queries), *reference(X, 4, queries))


@pytest.mark.parametrize(
    "kind", [sparse.csr_array, sparse.csr_matrix, sparse.csc_array]
)
def test_sparse_equals_dense(X, kind):
    dense, found = nearest_neighbors(X, 5), nearest_neighbors(kind(X), 5)
    shape = (len(X), 5)
    d, f = dense.distances, found.distances
    np.testing.assert_array_equal(d.indices.reshape(shape), f.indices.reshape(shape))
    # Without an offset to take away, points far from 0 differ in the last digits.
    np.testing.assert_allclose(d.data, f.data, rtol=1e-7, atol=0)


def test_sparse_points_and_dense_queries():
    X = DATA["continuous"](np.random.default_rng(1))
    a = nearest_neighbors(sparse.csr_array(X), 3, queries=X[:9] + 0.1)
    check_rows(a, *reference(X, 3, X[:9] + 0.1))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_float32_stays_float32(X, kind):
    X = X.astype(np.float32)
    graph = nearest_neighbors(kind(X), 5)
    assert graph.distances.dtype == np.float32
    assert graph.connectivity.dtype == np.float64
    check_rows(graph, *reference(X, 5), rtol=1e-6)


def test_small_chunks_give_the_same(X, monkeypatch):
    whole = nearest_neighbors(X, 5).distances
    monkeypatch.setattr(_exact, "_CHUNK_BYTES", 1)
    monkeypatch.setattr(_exact, "_MIN_ROWS", 1)
    parts = nearest_neighbors(X, 5).distances
    np.testing.assert_array_equal(whole.indices, parts.indices)
    np.testing.assert_array_equal(whole.data, parts.data)


def test_duplicates_have_distance_zero_and_never_themselves():
    rng = np.random.default_rng(0)
    # Large norms: the matrix-product formula gives 1e-6 here instead of 0.
    X = np.repeat(100 * rng.standard_normal((30, 20)), 3, axis=0)
    graph = nearest_neighbors(X, 4)
    rows = np.repeat(np.arange(90), 4)
    assert not np.any(graph.distances.indices == rows)
    d = graph.distances.data.reshape(90, 4)
    assert np.all(d[:, :2] == 0.0) and np.all(d[:, 2:] > 0.0)
    assert graph.distances.nnz == graph.connectivity.sum() == 360


def test_large_offset_does_not_blur_neighbours():
    X = np.random.default_rng(0).standard_normal((200, 10))
    # Adding 2^26 is exact for numbers with 26 bits after the point.
    X = np.rint(X * 2**20) / 2**20
    a, b = nearest_neighbors(X, 5), nearest_neighbors(X + 2.0**26, 5)
    np.testing.assert_array_equal(a.distances.indices, b.distances.indices)
    np.testing.assert_allclose(a.distances.data, b.distances.data, rtol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_the_filter_leaves_few_points(offset, monkeypatch):
    compared = []
    direct = _exact._pair_squares

    def counted(queries, points, rows, columns):
        compared.append(len(rows))
        return direct(queries, points, rows, columns)

    monkeypatch.setattr(_exact, "_pair_squares", counted)
    X = np.random.default_rng(0).standard_normal((2000, 10)) + offset
    nearest_neighbors(X, 5)
    assert sum(compared) < 3 * 5 * 2000


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_extreme_units(scale):
    X = np.random.default_rng(0).standard_normal((300, 4))
    a, b = nearest_neighbors(X, 5), nearest_neighbors(X * scale, 5)
    np.testing.assert_array_equal(a.distances.indices, b.distances.indices)
    np.testing.assert_allclose(b.distances.data, a.distances.data * scale, rtol=1e-9)


def test_crowded_distances_are_ranked_by_index():
    # Eight different points, each some 125 times: all neighbours are duplicates.
    X = np.random.default_rng(0).integers(0, 2, size=(1000, 3)).astype(float)
    check_rows(nearest_neighbors(X, 5), *reference(X, 5))


def test_permutation_of_the_points():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((150, 6))
    order = rng.permutation(150)
    a = nearest_neighbors(X, 6).distances.toarray()
    b = nearest_neighbors(X[order], 6).distances.toarray()
    np.testing.assert_allclose(b, a[np.ix_(order, order)], rtol=1e-9)


def test_as_many_neighbours_as_there_are():
    X = np.random.default_rng(0).standard_normal((6, 2))
    check_rows(nearest_neighbors(X, 50), *reference(X, 5))
    check_rows(nearest_neighbors(X, 50, queries=X[:2]), *reference(X, 6, X[:2]))
    assert nearest_neighbors(X[:1], 3, queries=X).distances.shape == (6, 1)


def test_connectivity_is_a_copy():
    graph = nearest_neighbors(np.random.default_rng(0).standard_normal((30, 2)), 4)
    before = graph.distances.indices.copy()
    graph.connectivity.sort_indices()
    np.testing.assert_array_equal(graph.distances.indices, before)


@pytest.mark.parametrize("n_jobs", [1, -1])
def test_threads_do_not_matter(n_jobs):
    X = np.random.default_rng(0).standard_normal((300, 5))
    a, b = nearest_neighbors(X, 5), nearest_neighbors(X, 5, n_jobs=n_jobs)
    np.testing.assert_array_equal(a.distances.indices, b.distances.indices)


@pytest.mark.parametrize(
    "method",
    [
        KNeighborsTransformer(n_neighbors=3),
        NearestNeighbors(n_neighbors=3, algorithm="brute"),
    ],
)
def test_transformer_route_equals_exact(method):
    X = np.random.default_rng(0).standard_normal((80, 4))
    X[7] = X[3]
    check_rows(nearest_neighbors(X, 5, method=method), *reference(X, 5))
    graph = nearest_neighbors(X, 5, queries=X[:9] + 0.1, method=method)
    check_rows(graph, *reference(X, 5, X[:9] + 0.1))
    assert not hasattr(method, "n_features_in_")


class OnlyTransform:
    """A neighbours transformer of another library: no kneighbors_graph, no clone."""

    def fit(self, X):
        self.search = KNeighborsTransformer(n_neighbors=9).fit(X)
        return self

    def transform(self, X):
        return self.search.transform(X)


def test_object_with_transform_only():
    X = np.random.default_rng(0).standard_normal((80, 4))
    check_rows(nearest_neighbors(X, 5, method=OnlyTransform()), *reference(X, 5))


@pytest.mark.parametrize(
    "kind", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array]
)
def test_precomputed_route_equals_exact(X, kind):
    # A generous graph, self included, stored in any order.
    n = len(X)
    d, i = reference(X, n, X)
    full = sparse.csr_array((d.ravel(), i.ravel(), np.arange(0, n * n + 1, n)))
    graph = nearest_neighbors(kind(full), 5, method="precomputed")
    check_rows(graph, *reference(X, 5))
    queries = kind(full[:7])
    graph = nearest_neighbors(full, 5, queries=queries, method="precomputed")
    check_rows(graph, d[:7, :5], i[:7, :5])
    graph = nearest_neighbors(queries, 5, method="precomputed")
    assert graph.distances.shape == (7, n)


def test_precomputed_rows_may_be_short():
    dense = np.array([[0.0, 2, 1, 3], [2, 0, 0, 0], [0, 0, 0, 0], [3, 0, 0, 0]])
    graph = nearest_neighbors(sparse.csr_array(dense), 2, method="precomputed")
    np.testing.assert_array_equal(graph.distances.indptr, [0, 2, 3, 3, 4])
    np.testing.assert_array_equal(graph.distances.indices, [2, 1, 0, 0])
    np.testing.assert_array_equal(graph.distances.data, [1, 2, 2, 3])


def test_warning_above_the_row_limit(monkeypatch):
    X = np.random.default_rng(0).standard_normal((30, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nearest_neighbors(X, 3)
    monkeypatch.setattr(_neighbors, "EXACT_ROWS", 20)
    with pytest.warns(UserWarning, match="method='approx'"):
        nearest_neighbors(X, 3)


@pytest.mark.parametrize(
    ("kwargs", "error", "match"),
    [
        ({"n_neighbors": 0}, ValueError, ">= 1"),
        ({"n_neighbors": 2.5}, ValueError, "integer"),
        ({"X": np.ones((1, 2))}, ValueError, "at least two samples"),
        ({"queries": np.ones((4, 3))}, ValueError, "3 features, but X has 2"),
        ({"method": "kdtree"}, ValueError, "'exact', 'approx'"),
        ({"method": 3}, TypeError, "kneighbors_graph"),
        ({"method": "precomputed"}, TypeError, "sparse graph"),
        ({"X": np.array([[0.0, np.nan], [1, 1]])}, ValueError, "NaN"),
        (
            {"X": sparse.csr_array([[0, 1.0], [-1, 0]]), "method": "precomputed"},
            ValueError,
            "negative distance in row 1",
        ),
        (
            {
                "X": sparse.csr_array((5, 5)),
                "queries": sparse.csr_array((2, 4)),
                "method": "precomputed",
            },
            ValueError,
            "4 columns, one for each of the 5",
        ),
    ],
)
def test_errors(kwargs, error, match):
    X = np.arange(8.0).reshape(4, 2)
    with pytest.raises(error, match=match):
        nearest_neighbors(**({"X": X, "n_neighbors": 2} | kwargs))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows_too_large_to_be_squared_are_refused(form, rng):
    X = rng.normal(size=(30, 4))
    X[5, 2] = 1e200
    with pytest.raises(ValueError, match=r"Column 2 of X holds 1e\+200 in row 5"):
        nearest_neighbors(form(X), 3)
    with pytest.raises(ValueError, match=r"Column 2 of X holds 1e\+200 in row 5"):
        nearest_neighbors(form(X[:4]), 3, queries=form(X))


def test_sparse_points_are_only_read(rng):
    X = sparse.random_array((30, 8), density=0.4, format="csr", rng=0)
    expected = nearest_neighbors(X, 3).distances
    turned = sparse.csr_array(X.shape)
    order = np.concatenate(
        [np.arange(a, b)[::-1] for a, b in zip(X.indptr, X.indptr[1:])]
    )
    turned.data, turned.indices = X.data[order], X.indices[order].astype(np.int64)
    turned.indptr = X.indptr.astype(np.int64)
    before = turned.data.copy(), turned.indices.copy()
    found = nearest_neighbors(turned, 3, queries=turned).distances
    assert found.shape == expected.shape
    found = nearest_neighbors(turned, 3).distances
    np.testing.assert_array_equal(found.toarray(), expected.toarray())
    np.testing.assert_array_equal(turned.data, before[0])
    np.testing.assert_array_equal(turned.indices, before[1])
