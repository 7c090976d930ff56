"""Non-negative least squares for many samples at once, on small Gram matrices.

Each sample is rebuilt from its k neighbours. The products of the neighbours with each
other and with the sample are all that is needed, k x k numbers for any dimension.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import nnls
from scipy.sparse import csr_array, issparse
from sklearn.utils import gen_batches

__all__ = [
    "difference_products",
    "neighbor_products",
    "solve_nonnegative",
    "solve_simplex",
    "weight_graph",
]

# Relative to the mean of the diagonal. It makes the solution unique where neighbours
# are duplicates or more than the dimension, and splits weights evenly between twins.
RIDGE = 1e-10
# Signs below this, relative to the largest number they came from, are rounding.
SIGN_TOL = 1e-12
MAX_ROUNDS = 200
# Exchanges of all wrong entries that may fail to reduce their number.
PATIENCE = 3
CHUNK_NUMBERS = 2**22
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
    for rows in _batches(points, indices):
        index, query = indices[rows], queries[rows].astype(np.float64, copy=False)
        if not issparse(points):
            near = points[index].astype(np.float64, copy=False)
            gram = near @ near.transpose(0, 2, 1)
            cross = (near @ query[:, :, None])[:, :, 0]
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
    for rows in _batches(points, indices):
        away = points[indices[rows]].astype(np.float64) - points[rows, None, :]
        products[rows] = away @ away.transpose(0, 2, 1)
    return products


def _batches(points, indices):
    """Slices of queries whose neighbours fit in memory together."""
    m, k = indices.shape
    size = max(1, CHUNK_NUMBERS // (k * points.shape[1]))
    return gen_batches(m, SPARSE_ROWS if issparse(points) else size)


def solve_nonnegative(gram, cross, *, max_rounds=MAX_ROUNDS):
    """Minimise ``w'Gw/2 - c'w`` over w >= 0, for a stack of small problems.

    Parameters
    ----------
    gram : ndarray of shape (n, k, k)
        Symmetric positive semi-definite G of each problem.
    cross : ndarray of shape (n, k)
        Linear term c.
    max_rounds : int, default=200
        Rounds before the few problems left are solved one at a time.

    Returns
    -------
    weights : ndarray of shape (n, k)
        Solutions. All meet the optimality conditions with a relative ridge of 1e-10
        on G, which leaves well-posed solutions alone and makes the others unique.

    Notes
    -----
    Block principal pivoting: solve for the entries thought positive, exchange all that
    have the wrong sign of solution or gradient, and one at a time when that does not
    reduce their number. A round costs O(n k^3); a handful is usual.
    """
    n, k = cross.shape
    level = np.trace(gram, axis1=1, axis2=2) / k
    level[level <= 0] = 1.0
    gram = gram + (RIDGE * level)[:, None, None] * np.eye(k)
    weights = np.zeros((n, k))
    free = np.zeros((n, k), dtype=bool)
    size = np.abs(cross).max(axis=1, keepdims=True)
    wrong = cross > SIGN_TOL * size
    fewest = np.full(n, k + 1)
    patience = np.full(n, PATIENCE)
    active = np.flatnonzero(wrong.any(axis=1))
    for _ in range(max_rounds):
        if not active.size:
            return weights
        flips = _exchange(wrong[active], fewest, patience, active)
        now_free = free[active] ^ flips
        G, c = gram[active], cross[active]
        both = now_free[:, :, None] & now_free[:, None, :]
        matrix = np.where(both, G, np.eye(k))
        w = np.linalg.solve(matrix, np.where(now_free, c, 0)[:, :, None])[:, :, 0]
        slope = c - (G @ w[:, :, None])[:, :, 0]
        w_tol = SIGN_TOL * np.abs(w).max(axis=1, keepdims=True)
        slope_tol = SIGN_TOL * size[active] + w_tol * k * level[active, None]
        free[active], weights[active] = now_free, np.maximum(w, 0)
        wrong[active] = np.where(now_free, w < -w_tol, slope > slope_tol)
        active = active[wrong[active].any(axis=1)]
    for row in active:
        values, vectors = eigh(gram[row])
        roots = np.sqrt(np.maximum(values, RIDGE * level[row]))
        weights[row] = nnls(roots[:, None] * vectors.T, vectors.T @ cross[row] / roots)[
            0
        ]
    return weights


def _exchange(wrong, fewest, patience, active):
    """Which entries change sides; updates the counters of the active problems."""
    n_wrong = wrong.sum(axis=1)
    better = n_wrong < fewest[active]
    patience[active] = np.where(better, PATIENCE, patience[active] - 1)
    fewest[active] = np.where(better, n_wrong, fewest[active])
    # Out of patience: only the last wrong entry, which cannot cycle.
    last = wrong.shape[1] - 1 - wrong[:, ::-1].argmax(axis=1)
    single = np.arange(wrong.shape[1]) == last[:, None]
    return np.where(patience[active][:, None] >= 0, wrong, single)


def solve_simplex(gram):
    """Minimise ``w'Gw`` over w >= 0 with sum one, for a stack of small problems.

    With G positive definite the solution is that of ``min u'Gu/2 - sum(u)`` over
    u >= 0, scaled to sum one: both have the same optimality conditions.

    Parameters
    ----------
    gram : ndarray of shape (n, k, k)
        Symmetric positive semi-definite G of each problem.

    Returns
    -------
    weights : ndarray of shape (n, k)
        Solutions.
    """
    level = np.trace(gram, axis1=1, axis2=2)
    # To unit size first, so that the linear term does not drown it.
    gram = gram / np.where(level > 0, level, 1)[:, None, None]
    weights = solve_nonnegative(gram, np.ones(gram.shape[:2]))
    return weights / weights.sum(axis=1, keepdims=True)


def weight_graph(indices, weights):
    """Sparse graph with the weights of the neighbours of each sample, (n, n)."""
    n, k = indices.shape
    return csr_array(
        (weights.ravel(), indices.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n)
    )
