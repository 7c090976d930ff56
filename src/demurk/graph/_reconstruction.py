"""Rebuilding samples from their neighbours: products, weights and graphs of them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils import gen_batches

from demurk.linalg import solve_nonnegative, solve_simplex, solve_sum_to_one
from demurk.linalg._reg import ridge_of

__all__ = [
    "difference_products",
    "neighbor_products",
    "rebuild_weights",
    "rebuilding_errors",
    "reconstruction_graph",
    "weight_graph",
]

Floats = NDArray[np.float64]
Indices = NDArray[np.integer]

# Products are handed on a batch at a time; the neighbours of fewer samples are copied
# together, so that the copies stay in the cache.
BATCH_NUMBERS = 2**18
COPY_NUMBERS = 2**18
SPARSE_ROWS = 100


def neighbor_products(
    points: Any, indices: Indices, queries: Any = None
) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
    """Yield inner products of neighbours with each other and with their sample.

    Parameters
    ----------
    points : {ndarray, csr_array} of shape (n, d)
        Where the neighbours are.
    indices : ndarray of shape (m, k)
        Neighbours of each query.
    queries : {ndarray, csr_array} of shape (m, d), default=None
        The queries, None for the points themselves.

    Yields
    ------
    rows : slice
        Which queries.
    gram : ndarray of shape (b, k, k)
        Products of the neighbours with each other.
    cross : ndarray of shape (b, k)
        Products of the neighbours with the query.
    square : ndarray of shape (b,)
        Squared norms of the queries.
    """
    queries = points if queries is None else queries
    m, k = indices.shape
    size = SPARSE_ROWS if issparse(points) else max(1, BATCH_NUMBERS // k**2)
    for rows in gen_batches(m, size):
        index, query = indices[rows], queries[rows].astype(np.float64, copy=False)
        if not issparse(points):
            gram, cross = np.empty((*index.shape, k)), np.empty(index.shape)
            for part in _copies(points, index):
                near = points.take(index[part], axis=0).astype(np.float64, copy=False)
                gram[part] = near @ near.transpose(0, 2, 1)
                cross[part] = (near @ query[part, :, None])[:, :, 0]
            yield rows, gram, cross, np.einsum("ij,ij->i", query, query)
            continue
        # One product of the few points that occur; no row is ever made dense.
        used, place = np.unique(index, return_inverse=True)
        place = place.reshape(index.shape)
        near = points[used].astype(np.float64)
        products, with_query = (near @ near.T).toarray(), (query @ near.T).toarray()
        yield (
            rows,
            products[place[:, :, None], place[:, None, :]],
            np.take_along_axis(with_query, place, axis=1),
            np.asarray(query.multiply(query).sum(axis=1)).ravel(),
        )


def difference_products(points: Any, indices: Indices, queries: Any = None) -> Floats:
    """Inner products of the differences between a query and its neighbours.

    Parameters
    ----------
    points : {ndarray, csr_array} of shape (n, d)
        Where the neighbours are.
    indices : ndarray of shape (m, k)
        Neighbours of each query.
    queries : {ndarray, csr_array} of shape (m, d), default=None
        The queries, None for the points themselves.

    Returns
    -------
    products : ndarray of shape (m, k, k)
        For each query x, the products of ``x - x_a`` and ``x - x_b``.
    """
    queries = points if queries is None else queries
    m, k = indices.shape
    products = np.empty((m, k, k))
    if issparse(points) or issparse(queries):
        points, queries = csr_array(points), csr_array(queries)
        for rows, gram, cross, square in neighbor_products(points, indices, queries):
            gram += square[:, None, None] - cross[:, :, None] - cross[:, None, :]
            # Small differences of large products may come out indefinite: no more
            # than this is rounding.
            gram += (1e-14 * square)[:, None, None] * np.eye(k)
            products[rows] = gram
        return products
    for rows in _copies(points, indices):
        away = points.take(indices[rows], axis=0).astype(np.float64, copy=False)
        away -= queries[rows, None, :]
        products[rows] = away @ away.transpose(0, 2, 1)
    return products


def _copies(points: Any, indices: Indices) -> Any:
    """Slices of samples whose neighbours are copied together."""
    m, k = indices.shape
    return gen_batches(m, max(1, COPY_NUMBERS // (k * points.shape[1])))


def rebuild_weights(grams: Floats, kind: str, reg: float | str) -> Floats:
    """Weights of the neighbours that rebuild each sample, with sum one.

    Parameters
    ----------
    grams : ndarray of shape (m, k, k)
        Products of differences, perhaps a mixture of those of features and labels.
    kind : {"signed", "nonnegative", "simplex"}
        The minimiser; the same with negative weights set to 0 and the others scaled
        to sum one; the minimiser over non-negative weights.
    reg : float or str
        Ridge; "rel:x" is relative to the mean of the diagonal.

    Returns
    -------
    weights : ndarray of shape (m, k)
        The weights; 1/k each where all differences are 0.
    """
    k = grams.shape[1]
    ridge = ridge_of(reg, k, np.trace(grams, axis1=1, axis2=2))
    local = grams + np.reshape(ridge, (-1, 1, 1)) * np.eye(k)
    if kind == "simplex":
        return solve_simplex(local)
    weights = solve_sum_to_one(local)
    if kind == "nonnegative":
        weights = np.maximum(weights, 0.0)
        weights /= weights.sum(axis=1, keepdims=True)
    return weights


def rebuilding_errors(grams: Floats, weights: Floats) -> Floats:
    """Squared error of each rebuilt sample, w'Gw."""
    errors: Floats = np.einsum("ij,ijk,ik->i", weights, grams, weights, optimize=True)
    return errors


def reconstruction_graph(X: Any, indices: Indices) -> csr_array:
    """Non-negative weights that rebuild each sample, rows scaled to sum one.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Samples.
    indices : ndarray of shape (n, k)
        Their neighbours.

    Returns
    -------
    graph : csr_array of shape (n, n)
        Weights; a row that nothing rebuilds is zero.
    """
    weights = np.empty(indices.shape)
    for rows, gram, cross, _ in neighbor_products(X, indices):
        weights[rows] = solve_nonnegative(gram, cross)
    total = weights.sum(axis=1, keepdims=True)
    return weight_graph(indices, weights / np.where(total > 0, total, 1))


def weight_graph(
    indices: Indices,
    weights: Floats,
    n_points: int | None = None,
    *,
    tidy: bool = False,
) -> csr_array:
    """Sparse matrix with the weights of each row's neighbours.

    Neighbours stay in their order, also those of weight zero, unless it should be
    `tidy`.
    """
    m, k = indices.shape
    # Copies, because sorting and dropping zeros work in place.
    graph = csr_array(
        (weights.flatten(), indices.flatten(), np.arange(0, m * k + 1, k)),
        shape=(m, m if n_points is None else n_points),
    )
    if tidy:
        graph.sort_indices()
        graph.eliminate_zeros()
    return graph
