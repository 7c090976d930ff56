"""Inner products of samples with their neighbours, and graphs of their weights.

Each sample is rebuilt from its k neighbours. The products of the neighbours with each
other and with the sample are all that is needed, k x k numbers for any dimension.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import gen_batches

__all__ = [
    "difference_products",
    "neighbor_products",
    "weight_graph",
]

# Products are handed on a batch at a time; the neighbours of fewer samples are copied
# together, so that the copies stay in the cache.
BATCH_NUMBERS = 2**18
COPY_NUMBERS = 2**18
SPARSE_ROWS = 100


def neighbor_products(points, indices, queries=None):
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


def difference_products(points, indices):
    """Inner products of the differences between a sample and its neighbours.

    Parameters
    ----------
    points : {ndarray, csr_array} of shape (n, d)
        Samples.
    indices : ndarray of shape (n, k)
        Their neighbours.

    Returns
    -------
    products : ndarray of shape (n, k, k)
        For each sample, the products of ``x_i - x_a`` and ``x_i - x_b``.
    """
    n, k = indices.shape
    products = np.empty((n, k, k))
    if issparse(points):
        for rows, gram, cross, square in neighbor_products(points, indices):
            gram += square[:, None, None] - cross[:, :, None] - cross[:, None, :]
            # Small differences of large products may come out indefinite: no more
            # than this is rounding.
            gram += (1e-14 * square)[:, None, None] * np.eye(k)
            products[rows] = gram
        return products
    for rows in _copies(points, indices):
        away = points.take(indices[rows], axis=0).astype(np.float64, copy=False)
        away -= points[rows, None, :]
        products[rows] = away @ away.transpose(0, 2, 1)
    return products


def _copies(points, indices):
    """Slices of samples whose neighbours are copied together."""
    m, k = indices.shape
    return gen_batches(m, max(1, COPY_NUMBERS // (k * points.shape[1])))


def weight_graph(indices, weights):
    """Sparse graph with the weights of the neighbours of each sample, (n, n)."""
    n, k = indices.shape
    return csr_array(
        (weights.ravel(), indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n)
    )
