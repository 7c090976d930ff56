"""The weight step of SSDR-MC: rebuild every sample from its neighbours.

A sample's features and labels are both written as the same weighted sum of those of
its neighbours. The best weights of a row depend on two k x k matrices only, the
products of the differences between the neighbours and the sample.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.utils import gen_batches

from demurk.linalg import solve_simplex, solve_sum_to_one
from demurk.linalg._reg import ridge_of

__all__ = ["difference_grams", "rebuild_weights", "rebuilding_errors", "weight_graph"]

CHUNK_NUMBERS = 2**22
SPARSE_ROWS = 100


def difference_grams(points, indices, queries=None):
    """Products of the differences between the neighbours of each query and itself.

    Parameters
    ----------
    points : {ndarray, csr_array} of shape (n, d)
        Where the neighbours are.
    indices : ndarray of int of shape (m, k)
        Neighbours of each query.
    queries : {ndarray, csr_array} of shape (m, d), default=None
        The queries; None for the points themselves.

    Returns
    -------
    grams : ndarray of shape (m, k, k)
        ``(x_j - x)'(x_l - x)`` for all pairs of neighbours of each query x.

    Notes
    -----
    Time O(m k^2 d), memory O(m k^2).
    """
    queries = points if queries is None else queries
    m, k = indices.shape
    grams = np.empty((m, k, k))
    if issparse(points) or issparse(queries):
        points, queries = csr_array(points), csr_array(queries)
        for batch in gen_batches(m, SPARSE_ROWS):
            grams[batch] = _sparse_grams(points, indices[batch], queries[batch])
        return grams
    for batch in gen_batches(m, max(1, CHUNK_NUMBERS // (k * points.shape[1]))):
        near = points[indices[batch]].astype(np.float64, copy=False)
        near = near - queries[batch, None, :]
        grams[batch] = near @ near.transpose(0, 2, 1)
    return grams


def _sparse_grams(points, indices, queries):
    """The same from one product of the few points that occur."""
    used, place = np.unique(indices, return_inverse=True)
    place = place.reshape(indices.shape)
    near, queries = points[used].astype(np.float64), queries.astype(np.float64)
    products = (near @ near.T).toarray()
    cross = np.take_along_axis((queries @ near.T).toarray(), place, axis=1)
    square = np.asarray(queries.multiply(queries).sum(axis=1)).ravel()
    grams = products[place[:, :, None], place[:, None, :]]
    return grams - cross[:, :, None] - cross[:, None, :] + square[:, None, None]


def rebuild_weights(grams, kind, reg):
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


def rebuilding_errors(grams, weights):
    """Squared error of each rebuilt sample, w'Gw."""
    return np.einsum("ij,ijk,ik->i", weights, grams, weights, optimize=True)


def weight_graph(indices, weights, n_points):
    """Sparse matrix with the weights of each row's neighbours; zeros are dropped."""
    m, k = indices.shape
    # Copies, because sorting and dropping zeros work in place.
    graph = csr_array(
        (weights.flatten(), indices.flatten(), np.arange(0, m * k + 1, k)),
        shape=(m, n_points),
    )
    graph.sort_indices()
    graph.eliminate_zeros()
    return graph
