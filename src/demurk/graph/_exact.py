"""Exact nearest neighbours with ties broken by the lowest index.

scikit-learn's brute-force search evaluates ||x||^2 - 2 x'y + ||y||^2 with matrix
products. That is fast, but rounding makes equal distances differ in the last digits
and leaves duplicates at 1e-8 instead of 0, and the search keeps any of several points
at the k-th distance. The few rows where this matters are found from the returned
distances and settled by direct differences.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms, safe_sparse_dot

Found = tuple[NDArray[Any], NDArray[Any]]

# Relative to the squared norms: gaps below _TIE may be rounding (whose bound is about
# n_features * 2e-16), squared distances below _SMALL have lost half of their digits.
_TIE = 1e-10
_TIE_SINGLE = 1e-6  # distances between float32 points come back in float32
_SMALL = 1e-6
# Each of the handful of arrays alive in a chunk stays below this.
_CHUNK_BYTES = 32 * 2**20


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
    points, queries = _without_offset(points, queries)
    own = queries is None
    # One more than needed shows whether the last neighbour is tied with the next.
    n_found = min(n_neighbors + 1 + own, points.shape[0])
    search = NearestNeighbors(n_neighbors=n_found, algorithm="brute").fit(points)
    distances, indices = search.kneighbors(points if own else queries)
    if own:
        distances, indices = drop_self(distances, indices)
        queries = points

    squared = distances**2
    scale = row_norms(queries, squared=True) + squared[:, -1]
    slack = scale * (_TIE_SINGLE if points.dtype == np.float32 else _TIE)
    tied = np.diff(squared, axis=1) <= slack[:, None]
    unsettled = tied[:, : n_neighbors - 1].any(axis=1)
    unsettled |= squared[:, 0] <= _SMALL * scale
    distances, indices = distances[:, :n_neighbors], indices[:, :n_neighbors]
    if tied.shape[1] == n_neighbors:  # there is a next one
        cut = tied[:, -1]
        unsettled &= ~cut
        limits = squared[:, n_neighbors - 1] + 2 * slack
        rows = np.flatnonzero(cut)
        _settle_cut(points, queries, own, rows, limits, distances, indices)
    _settle_order(points, queries, np.flatnonzero(unsettled), distances, indices)
    return distances, indices


def drop_self(distances: NDArray[Any], indices: NDArray[Any]) -> Found:
    """Remove each row's own index, or the last entry where it was not found."""
    own = indices == np.arange(len(indices))[:, None]
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
    if norm <= 1e3 * (norm - mean @ mean):
        return points, queries
    origin = points[0].copy()
    return points - origin, None if queries is None else queries - origin


def _settle_order(
    points: Any,
    queries: Any,
    rows: NDArray[Any],
    distances: NDArray[Any],
    indices: NDArray[Any],
) -> None:
    """Recompute the distances of some rows and sort them again, in place."""
    if not len(rows):
        return
    columns = np.sort(indices[rows], axis=1)
    pairs = _pair_distances(
        points, queries, np.repeat(rows, columns.shape[1]), columns.ravel()
    ).reshape(columns.shape)
    order = np.argsort(pairs, axis=1, kind="stable")
    distances[rows] = np.take_along_axis(pairs, order, axis=1)
    indices[rows] = np.take_along_axis(columns, order, axis=1)


def _settle_cut(
    points: Any,
    queries: Any,
    own: bool,
    rows: NDArray[Any],
    limits: NDArray[Any],
    distances: NDArray[Any],
    indices: NDArray[Any],
) -> None:
    """Search some rows again among all points, in place.

    Matrix products find the points whose ||y||^2 - 2 x'y allows a squared distance
    within the limit; only of these are direct differences taken.
    """
    if not len(rows):
        return
    n_points, k = points.shape[0], distances.shape[1]
    points = points.astype(np.float64, copy=False)
    norms = row_norms(points, squared=True)
    products_exact = _products_are_exact(points) and _products_are_exact(queries)
    for batch in gen_batches(len(rows), max(1, _CHUNK_BYTES // (8 * n_points))):
        part = rows[batch]
        left = queries[part].astype(np.float64)
        near = safe_sparse_dot(-2 * left, points.T, dense_output=True)
        near += norms
        own_norms = row_norms(left, squared=True)
        if own:
            near[np.arange(len(part)), part] = np.inf
        flat = np.flatnonzero(near <= (limits[part] - own_norms)[:, None])
        at, columns = np.divmod(flat, n_points)
        if products_exact:
            found = np.sqrt(near.ravel()[flat] + own_norms[at])
        else:
            found = _pair_distances(points, queries, part[at], columns)
        order = np.lexsort((found, at))  # stable: columns are in order already
        starts = np.searchsorted(at, np.arange(len(part)))
        chosen = order[starts[:, None] + np.arange(k)]
        distances[part], indices[part] = found[chosen], columns[chosen]


def _products_are_exact(X: Any) -> bool:
    """Whether squared distances of small integers (counts, 0/1) carry no rounding."""
    values = X.data if sparse.issparse(X) else X
    if not np.array_equal(values, np.rint(values)):
        return False
    return bool(4 * row_norms(X, squared=True).max() < 2**52)


def _pair_distances(
    points: Any, queries: Any, rows: NDArray[Any], columns: NDArray[Any]
) -> NDArray[Any]:
    """Distances ||queries[rows] - points[columns]|| by direct differences."""
    width = points.shape[1]
    if sparse.issparse(points):  # index and value, of both rows and of their difference
        width = 4 * (
            1 + points.nnz // points.shape[0] + queries.nnz // queries.shape[0]
        )
    out = np.empty(len(rows))
    for batch in gen_batches(len(rows), max(1, _CHUNK_BYTES // (8 * width))):
        left, right = queries[rows[batch]], points[columns[batch]]
        difference = left.astype(np.float64) - right.astype(np.float64)
        out[batch] = row_norms(difference)
    return out
