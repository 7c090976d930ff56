"""Nearest neighbours: one function for every way of finding them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils import check_array

from demurk.graph._approximate import approximate_search
from demurk.graph._exact import exact_search
from demurk.utils._elsewhere import anywhere
from demurk.utils._optional import import_optional
from demurk.utils._rows import canonical, check_magnitudes
from demurk.utils._threads import blas_threads, thread_pools

# Exact search of so many points takes minutes; beyond, say that there is another way.
EXACT_ROWS = 200_000


@dataclass(frozen=True)
class NeighborGraph:
    """Neighbours of every query with their distances.

    Parameters
    ----------
    distances : csr_array of shape (n_queries, n_points)
        Row i stores the neighbours of query i by increasing distance, equal distances
        by the lowest index. A duplicate of the query is stored as an explicit zero.
    recall : float
        Share of the true neighbours found: 1 for exact search, measured on a sample
        for approximate search, taken to be 1 for a graph that was handed over.

    Attributes
    ----------
    connectivity : csr_array of shape (n_queries, n_points)
        The same neighbours with ones (float64) in place of distances.

    See Also
    --------
    nearest_neighbors : Finds them.
    affinity : Symmetric weights made of them.

    Examples
    --------
    >>> from demurk.graph import nearest_neighbors
    >>> graph = nearest_neighbors([[0.0], [1.0], [3.0]], 1)
    >>> graph.connectivity.toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """

    distances: csr_array
    recall: float = 1.0

    @property
    def connectivity(self) -> csr_array:
        """The same neighbours with ones (float64) in place of distances."""
        graph = self.distances.astype(
            np.float64
        )  # a copy: sorting it must not reach us
        graph.data.fill(1.0)
        return graph


@anywhere
def nearest_neighbors(
    X: Any,
    n_neighbors: int,
    *,
    queries: Any = None,
    method: Any = "exact",
    n_jobs: int | None = None,
    random_state: Any = 0,
) -> NeighborGraph:
    """Find the nearest neighbours of every point, or of new points.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_points, n_features)
        The points. With ``method="precomputed"`` a sparse graph of distances, of shape
        (n_points, n_points) or (n_queries, n_points).
    n_neighbors : int
        Neighbours of each query, capped at the points there are.
    queries : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
        Whose neighbours to find among `X`. None stands for the points of `X`, each of
        which is then excluded, by its index, from its own neighbours. With
        ``method="precomputed"`` a graph of shape (n_queries, n_points).
    method : {"exact", "approx", "precomputed"} or object, default="exact"
        - "exact": brute force with scikit-learn; dense or sparse `X`.
        - "approx": FAISS inverted lists (extra ``ann``); dense `X`. Recall is measured
          and raised to 0.95 at least, by exact search where nothing less will do.
        - "precomputed": the smallest stored distances of each row; a row may store
          fewer than `n_neighbors`.
        - an object with `fit` and `kneighbors_graph` or `transform`, such as
          :class:`sklearn.neighbors.KNeighborsTransformer`; a clone of it is fitted.
    n_jobs : int, default=None
        Threads of the search; None means 1, -1 all processors.
    random_state : int, RandomState instance or None, default=0
        Seeds the clustering and the recall sample of approximate search.

    Returns
    -------
    NeighborGraph
        Distances as a sparse graph, and the recall.

    See Also
    --------
    affinity : Symmetric weights made of the distances.

    Notes
    -----
    Exact search takes O(n_queries n_points n_features) time, at the speed of matrix
    products in single precision, and O(n_queries n_neighbors) memory besides a float32
    copy of `X`. The products only filter: all points that may be neighbours are
    compared by direct differences in double precision. Many equal distances, as among
    a handful of different rows, make that the larger part.

    Approximate search takes O(n_queries n_points^(1/2) n_features) time for each 16
    lists probed, and a float32 copy of `X` twice.

    Results do not depend on the order of the points except among equal distances.

    Examples
    --------
    >>> from demurk.graph import nearest_neighbors
    >>> graph = nearest_neighbors([[0.0], [1.0], [1.0], [5.0]], 2)
    >>> graph.distances.indices.reshape(4, 2)
    array([[1, 2],
           [2, 0],
           [1, 0],
           [1, 2]], dtype=int32)
    >>> graph.distances.data.reshape(4, 2)
    array([[1., 1.],
           [0., 1.],
           [0., 1.],
           [4., 4.]])
    """
    if not isinstance(n_neighbors, Integral) or n_neighbors < 1:
        raise ValueError(f"n_neighbors must be an integer >= 1, got {n_neighbors!r}.")
    k = int(n_neighbors)
    if isinstance(method, str) and method == "precomputed":
        return _from_graph(_check_graph(X, queries), k, own=queries is None)
    X, queries = _check_points(X, queries)
    n_available = X.shape[0] - (queries is None)
    if n_available == 0:
        raise ValueError(
            "X holds one sample, which has no neighbour but itself; pass at least two "
            "samples, or the sample to search for as queries."
        )
    k = min(k, n_available)
    with _threads(method, n_jobs):
        if not isinstance(method, str):
            return _from_transformer(method, X, queries, k)
        if method == "approx":
            found, recall = approximate_search(X, queries, k, random_state)
        elif method == "exact":
            _warn_if_large(X.shape[0])
            found, recall = exact_search(X, queries, k), 1.0
        else:
            raise ValueError(
                f"method must be 'exact', 'approx', 'precomputed' or an object with "
                f"fit and kneighbors_graph, got {method!r}."
            )
    return NeighborGraph(_as_csr(*found, X.shape[0], X.dtype), recall)


def _check_points(X: Any, queries: Any) -> tuple[Any, Any]:
    X = check_array(
        X,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        order="C",
        input_name="X",
    )
    if queries is not None:
        queries = check_array(
            queries, accept_sparse="csr", dtype=X.dtype, order="C", input_name="queries"
        )
        if queries.shape[1] != X.shape[1]:
            raise ValueError(
                f"queries have {queries.shape[1]} features, but X has {X.shape[1]}."
            )
        if sparse.issparse(X) != sparse.issparse(queries):
            X, queries = csr_array(X), csr_array(queries)
        queries = canonical(queries)
        check_magnitudes(queries)
    X = canonical(X)
    check_magnitudes(X)
    return X, queries


def _check_graph(X: Any, queries: Any) -> csr_array:
    graph = X if queries is None else queries
    if not sparse.issparse(graph):
        raise TypeError(
            "method='precomputed' needs a sparse graph of distances, got "
            f"{type(graph).__name__}; without a graph choose method='exact'."
        )
    if queries is not None and graph.shape[1] != X.shape[0]:
        raise ValueError(
            f"queries have {graph.shape[1]} columns, one for each of the "
            f"{X.shape[0]} points of X are needed."
        )
    graph = check_array(
        graph, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="X"
    )
    if graph.nnz and graph.data.min() < 0:
        row = np.searchsorted(graph.indptr, np.argmin(graph.data), side="right") - 1
        raise ValueError(
            f"The precomputed graph has a negative distance in row {row}; distances "
            "are >= 0."
        )
    return csr_array(canonical(graph))


def _from_graph(graph: csr_array, k: int, *, own: bool) -> NeighborGraph:
    """Keep the k smallest stored distances of each row, without the row itself."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    columns, values = graph.indices, graph.data
    if own and graph.shape[0] == graph.shape[1]:
        others = columns != rows
        rows, columns, values = rows[others], columns[others], values[others]
    order = np.lexsort((columns, values, rows))
    counts = np.bincount(rows, minlength=graph.shape[0])
    # Rows stay in order under lexsort, so the rank within a row is a difference.
    rank = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    order = order[rank < k]
    indptr = np.concatenate([[0], np.cumsum(np.minimum(counts, k))])
    return NeighborGraph(
        csr_array((values[order], columns[order], indptr), shape=graph.shape)
    )


def _from_transformer(method: Any, X: Any, queries: Any, k: int) -> NeighborGraph:
    search = clone(method, safe=False)
    if not hasattr(search, "fit") or not (
        hasattr(search, "kneighbors_graph") or hasattr(search, "transform")
    ):
        raise TypeError(
            f"method must be a name or an object with fit and kneighbors_graph, got "
            f"{type(method).__name__}."
        )
    search.fit(X)
    targets = X if queries is None else queries
    if hasattr(search, "kneighbors_graph"):
        # Asking for the points by name brings each point itself along: one more.
        n_asked = k + (queries is None)
        graph = search.kneighbors_graph(targets, n_asked, mode="distance")
    else:
        graph = search.transform(targets)
    return _from_graph(csr_array(graph), k, own=queries is None)


def _as_csr(
    distances: NDArray[Any], indices: NDArray[Any], n_points: int, dtype: Any
) -> csr_array:
    n_queries, k = distances.shape
    index = np.int32 if max(n_points, n_queries * k) < 2**31 else np.int64
    indptr = np.arange(0, n_queries * k + 1, k, dtype=index)
    return csr_array(
        (distances.ravel().astype(dtype), indices.ravel().astype(index), indptr),
        shape=(n_queries, n_points),
    )


@contextmanager
def _threads(method: Any, n_jobs: int | None) -> Iterator[None]:
    """Limit the threads of the search."""
    if isinstance(method, str) and method == "approx" and "faiss" not in sys.modules:
        import_optional("faiss", "ann")
        thread_pools.cache_clear()  # a library loaded later has no limit
    n_threads = effective_n_jobs(n_jobs)
    # OpenMP counts for each thread by itself, BLAS for all of them together.
    openmp = thread_pools().limit(limits=n_threads, user_api="openmp")
    with blas_threads(n_threads), openmp:
        yield


def _warn_if_large(n_points: int) -> None:
    if n_points > EXACT_ROWS:
        warnings.warn(
            f"Exact neighbour search among {n_points} points takes minutes; "
            "method='approx' is faster on data with structure.",
            UserWarning,
            stacklevel=3,
        )
