"""Exact nearest neighbours: filtered in single precision, ranked in double.

A matrix product in float32 gives every distance to about seven digits, at twice the
speed of float64. All points that could be among the nearest, given these errors, are
then compared by direct differences in float64, so that the result is exact, duplicates
lie at distance 0, and equal distances are ordered by the lowest index.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from demurk.utils._compat import _openmp_effective_n_threads
from demurk.utils._rows import BLOCK_BYTES, mapped
from demurk.utils._threads import blas_threads

Found = tuple[NDArray[Any], NDArray[Any]]

# Products held at a time by each thread should stay in the cache, but a matrix product
# of fewer rows is slow.
_CHUNK_BYTES = 8 * 2**20
_MIN_ROWS = 64
# Differences of pairs are read again at once: they should stay close to the core.
_PAIR_BYTES = 2**19
# Points whose smallest product stands for them when the filter is set.
_BLOCK = 128


def exact_search(points: Any, queries: Any, n_neighbors: int) -> Found:
    """Find the exact nearest neighbours, rows sorted by (distance, index).

    Parameters
    ----------
    points : {ndarray, csr_array} of shape (n_points, n_features)
        Where to look; float32 or float64.
    queries : {ndarray, csr_array} of shape (n_queries, n_features) or None
        Whose neighbours to find, of the same type as `points`; None for the points
        themselves, each of which is not its own neighbour.
    n_neighbors : int
        At most the number of points, less one for the points themselves.

    Returns
    -------
    distances : ndarray of shape (n_queries, n_neighbors)
        Euclidean distances in float64.
    indices : ndarray of shape (n_queries, n_neighbors)
        Which points.
    """
    if mapped(points):
        return _search_blocks(points, queries, n_neighbors)
    points, queries = _without_offset(points, queries)
    search = _Search(points, queries, n_neighbors)
    n_queries = search.queries.shape[0]
    distances = np.empty((n_queries, n_neighbors))
    indices = np.empty((n_queries, n_neighbors), dtype=np.intp)

    def fill(rows: slice) -> None:
        distances[rows], indices[rows] = search.rank(rows)

    batches = list(gen_batches(n_queries, search.batch_size))
    n_threads = min(_openmp_effective_n_threads(), len(batches))
    if n_threads == 1:
        for rows in batches:
            fill(rows)
        return distances, indices
    # The batches share the cores; matrix products must not ask for them again.
    with blas_threads(1), ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(fill, batches))
    return distances, indices


def _search_blocks(points: Any, queries: Any, n_neighbors: int) -> Found:
    """The same with no more than two blocks of rows in memory at a time."""
    own = queries is None
    targets = points if own else queries
    n_wanted = n_neighbors + own  # the point itself comes along
    rows = max(n_wanted, BLOCK_BYTES // (points.itemsize * points.shape[1]))
    parts = []
    for batch in gen_batches(targets.shape[0], rows):
        best = None
        for block in gen_batches(points.shape[0], rows):
            near = np.array(points[block])
            k = min(n_wanted, len(near))
            distances, indices = exact_search(near, np.array(targets[batch]), k)
            found = distances, indices + block.start
            best = found if best is None else nearest_of(best, found, n_wanted)
        assert best is not None
        parts.append(drop_self(*best, batch.start) if own else best)
    distances, indices = (np.concatenate(part) for part in zip(*parts))
    return distances, indices


def nearest_of(first: Found, second: Found, n_neighbors: int) -> Found:
    """The nearest of two sets of neighbours, rows sorted by (distance, index)."""
    distances, indices = (np.hstack(pair) for pair in zip(first, second))
    order = np.lexsort((indices, distances), axis=1)[:, :n_neighbors]
    return (
        np.take_along_axis(distances, order, axis=1),
        np.take_along_axis(indices, order, axis=1),
    )


def drop_self(distances: NDArray[Any], indices: NDArray[Any], first: int = 0) -> Found:
    """Remove each row's own index, or the last entry where it was not found."""
    own = indices == np.arange(first, first + len(indices))[:, None]
    own[~own.any(axis=1), -1] = True
    shape = len(indices), indices.shape[1] - 1
    return distances[~own].reshape(shape), indices[~own].reshape(shape)


def _without_offset(points: Any, queries: Any) -> tuple[Any, Any]:
    """Move points that lie far from the origin, compared with their spread, near it.

    The matrix-product formula loses digits in proportion to the squared norms.
    Subtracting a point of the data, unlike the mean, is exact for such points.
    """
    if sparse.issparse(points):
        return points, queries
    mean = points.mean(axis=0, dtype=np.float64)
    norm = row_norms(points, squared=True).mean(dtype=np.float64)
    if norm <= 1e2 * (norm - mean @ mean):
        return points, queries
    origin = points[0].copy()
    return points - origin, None if queries is None else queries - origin


class _Search:
    """Points and queries prepared for ranking in batches of queries."""

    def __init__(self, points: Any, queries: Any, n_neighbors: int) -> None:
        self.own = queries is None
        self.points, self.queries = points, points if self.own else queries
        self.n_neighbors = n_neighbors
        self.n_wanted = n_neighbors + self.own  # the point itself comes along
        n, width = points.shape
        self.sparse = sparse.issparse(points)
        # scipy multiplies sparse matrices in either precision at the same speed.
        dtype = np.float64 if self.sparse else np.float32
        # A power of two takes no digits, and keeps squares from running out of range.
        size = float(abs(points).max()) if n else 0.0
        self.scale = 2.0 ** -np.rint(np.log2(size)) if size > 0 else 1.0
        scaled = self.scale * points
        norms = row_norms(scaled.astype(np.float64, copy=False), squared=True)
        self.norms = norms.astype(dtype)
        self.other = scaled.astype(dtype, copy=False).T
        if self.sparse:
            self.other = self.other.tocsr()
            width = int(np.diff(points.indptr).max(initial=0))
        # Sums of `width` rounded products, of their operands and of the norms.
        self.unit = 4 * (width + 4) * float(np.finfo(dtype).eps)
        self.largest = float(norms.max(initial=0.0))
        self.block = int(np.clip(n // (8 * self.n_wanted), 1, _BLOCK))
        row_bytes = np.dtype(dtype).itemsize * n
        self.batch_size = max(_MIN_ROWS, _CHUNK_BYTES // row_bytes)

    def rank(self, rows: slice) -> Found:
        """Neighbours of one batch of queries."""
        queries = self.queries[rows]
        products = self._products(queries)
        limit = self._limits(products) + self._slack(queries)
        with np.errstate(over="ignore"):  # no smaller than before it is rounded
            limit = np.nextafter(limit.astype(products.dtype), np.inf)
        flat = np.flatnonzero(products <= limit[:, None])
        at, columns = np.divmod(flat, products.shape[1])
        if self.own:
            other = columns != at + rows.start
            at, columns = at[other], columns[other]
        squares = _pair_squares(queries, self.points, at, columns)
        # The candidates of a row stand together, by increasing index.
        counts = np.bincount(at, minlength=len(products))
        first = np.cumsum(counts) - counts
        found = np.full((len(products), counts.max()), np.inf)
        found[at, np.arange(len(at)) - first[at]] = squares
        squares, best = _smallest(found, self.n_neighbors)
        return np.sqrt(squares), columns[first[:, None] + best]

    def _products(self, queries: Any) -> NDArray[Any]:
        """Squared distances less the squared norms of the queries, with errors."""
        scaled = (-2 * self.scale * queries).astype(self.other.dtype)
        found = scaled @ self.other
        products: NDArray[Any] = found.toarray() if self.sparse else found
        products += self.norms
        return products

    def _limits(self, products: NDArray[Any]) -> NDArray[Any]:
        """A bound on the products of enough points in each row.

        The smallest products of some blocks are products of as many different points.
        Points of a block lie equal steps apart, which makes the minima quick to find.
        """
        n_rows, n = products.shape
        whole = n - n % self.block
        if whole < self.block * self.n_wanted:
            return np.full(n_rows, np.inf)
        smallest = products[:, :whole].reshape(n_rows, self.block, -1).min(axis=1)
        kth = self.n_wanted - 1
        return np.partition(smallest, kth, axis=1)[:, kth].astype(np.float64)

    def _slack(self, queries: Any) -> NDArray[Any]:
        """What rounding may hide of a neighbour: the errors of two products."""
        squares = row_norms(self.scale * queries.astype(np.float64), squared=True)
        return 2 * self.unit * (squares + self.largest)


def _smallest(values: NDArray[Any], k: int) -> Found:
    """Return the k smallest of each row, equal values by lowest column."""
    if values.shape[1] <= 8 * k:
        columns = np.argsort(values, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(values, columns, axis=1), columns
    kth = np.partition(values, k - 1, axis=1)[:, k - 1, None]
    below, equal = values < kth, values == kth
    room = k - below.sum(axis=1, keepdims=True)
    keep = below | (equal & (np.cumsum(equal, axis=1, dtype=np.int32) <= room))
    columns = np.nonzero(keep)[1].reshape(-1, k)
    chosen = np.take_along_axis(values, columns, axis=1)
    order = np.argsort(chosen, axis=1, kind="stable")
    return (
        np.take_along_axis(chosen, order, axis=1),
        np.take_along_axis(columns, order, axis=1),
    )


def _pair_squares(
    queries: Any, points: Any, rows: NDArray[Any], columns: NDArray[Any]
) -> NDArray[Any]:
    """Squares of ``queries[rows] - points[columns]`` by direct differences."""
    width = points.shape[1]
    if sparse.issparse(points):
        width = 1 + points.nnz // points.shape[0] + queries.nnz // queries.shape[0]
    out = np.empty(len(rows))
    for batch in gen_batches(len(rows), max(1, _PAIR_BYTES // (8 * width))):
        at, near = rows[batch], columns[batch]
        if sparse.issparse(points):
            difference = queries[at].astype(np.float64) - points[near]
        else:  # take copies rows faster than an index
            difference = queries.take(at, axis=0).astype(np.float64, copy=False)
            difference -= points.take(near, axis=0)
        out[batch] = row_norms(difference, squared=True)
    return out
