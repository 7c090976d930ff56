"""Many small quadratic programs at once: weights of neighbours from Gram matrices.

Every row of a neighbour graph asks for weights w that rebuild a sample from its k
neighbours. The k x k products of the neighbours are all that is needed, whatever the
number of features, and numpy solves the stack of all rows together.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

Floats = NDArray[np.float64]

# Relative to the mean of the diagonal: makes solutions unique where neighbours are
# duplicates, and disappears in the rounding of well-posed problems.
RIDGE = 1e-10
# Signs of numbers below this, relative to the largest, are rounding.
SIGN_TOL = 1e-12
# Rounds in which all wrong signs may change without there being fewer of them.
PATIENCE = 3
MAX_ROUNDS = 200


def solve_sum_to_one(gram: Floats) -> Floats:
    """Minimise ``w'Gw`` over weights that sum to one, of any sign.

    Parameters
    ----------
    gram : ndarray of shape (n, k, k)
        Symmetric positive semi-definite matrices G.

    Returns
    -------
    weights : ndarray of shape (n, k)
        ``G^-1 1 / (1'G^-1 1)`` with a relative ridge of 1e-10 on G; 1/k each where G
        is zero.

    Notes
    -----
    Time O(n k^3).

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.linalg import solve_sum_to_one
    >>> solve_sum_to_one(np.array([[[1.0, 0.0], [0.0, 3.0]]])).round(4)
    array([[0.75, 0.25]])
    """
    ones = np.ones((*gram.shape[:2], 1))
    weights = np.linalg.solve(_unit_size(gram), ones)[:, :, 0].astype(np.float64)
    return weights / weights.sum(axis=1, keepdims=True)


def solve_simplex(gram: Floats) -> Floats:
    """Minimise ``w'Gw`` over non-negative weights that sum to one.

    Parameters
    ----------
    gram : ndarray of shape (n, k, k)
        Symmetric positive semi-definite matrices G.

    Returns
    -------
    weights : ndarray of shape (n, k)
        The solutions.

    Notes
    -----
    The minimiser of ``u'Gu/2 - sum(u)`` over u >= 0, divided by its sum, has the same
    optimality conditions.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.linalg import solve_simplex
    >>> solve_simplex(np.array([[[1.0, 2.0], [2.0, 5.0]]])).round(4)
    array([[1., 0.]])
    """
    weights = solve_nonnegative(_unit_size(gram), np.ones(gram.shape[:2]))
    return weights / weights.sum(axis=1, keepdims=True)


def solve_nonnegative(
    gram: Floats, cross: Floats, *, max_rounds: int = MAX_ROUNDS
) -> Floats:
    """Minimise ``w'Gw/2 - c'w`` over w >= 0: least squares by normal equations.

    Parameters
    ----------
    gram : ndarray of shape (n, k, k)
        Symmetric positive semi-definite matrices G.
    cross : ndarray of shape (n, k)
        Linear terms c.
    max_rounds : int, default=200
        Rounds before the problems left are solved one by one.

    Returns
    -------
    weights : ndarray of shape (n, k)
        The solutions, with a relative ridge of 1e-10 on G.

    Notes
    -----
    Block principal pivoting. Each round solves for the entries thought positive and
    exchanges all whose weight or gradient has the wrong sign; a problem in which this
    stops helping exchanges one entry at a time, which cannot cycle. A round costs
    O(n k^3), and a handful is usual.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.linalg import solve_nonnegative
    >>> G, c = np.eye(2)[None], np.array([[2.0, -1.0]])
    >>> solve_nonnegative(G, c).round(4)
    array([[2., 0.]])
    """
    n, k = cross.shape
    level = _level(gram)
    G = gram + (RIDGE * level)[:, None, None] * np.eye(k)
    size = np.abs(cross).max(axis=1, initial=0.0)
    weights = np.zeros((n, k))
    free = np.zeros((n, k), dtype=bool)
    wrong = cross > SIGN_TOL * size[:, None]
    fewest, patience = np.full(n, k + 1), np.full(n, PATIENCE)
    todo = np.flatnonzero(wrong.any(axis=1))
    for _ in range(max_rounds):
        if not todo.size:
            break
        n_wrong = wrong[todo].sum(axis=1)
        better = n_wrong < fewest[todo]
        fewest[todo] = np.where(better, n_wrong, fewest[todo])
        patience[todo] = np.where(better, PATIENCE, patience[todo] - 1)
        last = k - 1 - wrong[todo][:, ::-1].argmax(axis=1)
        one = np.arange(k) == last[:, None]
        free[todo] ^= np.where(patience[todo][:, None] >= 0, wrong[todo], one)

        inside, now = free[todo], G[todo]
        system = np.where(inside[:, :, None] & inside[:, None, :], now, np.eye(k))
        rhs = np.where(inside, cross[todo], 0.0)
        w = np.linalg.solve(system, rhs[:, :, None])[:, :, 0]
        slope = cross[todo] - (now @ w[:, :, None])[:, :, 0]
        largest = np.abs(w).max(axis=1)
        slack = SIGN_TOL * (size[todo] + k * level[todo] * largest)
        wrong[todo] = np.where(
            inside, w < -SIGN_TOL * largest[:, None], slope > slack[:, None]
        )
        weights[todo] = np.maximum(w, 0.0)
        todo = todo[wrong[todo].any(axis=1)]
    for row in todo:
        R = cholesky(G[row])
        weights[row] = nnls(R, solve_triangular(R, cross[row], trans="T"))[0]
    return weights


def project_simplex(points: Floats, mask: NDArray[np.bool_]) -> Floats:
    """Nearest point, row by row, of the simplex over the entries of a mask.

    Parameters
    ----------
    points : ndarray of shape (n, q)
        Rows to project; entries outside the mask are not looked at.
    mask : ndarray of shape (n, q), bool
        Entries that may be positive, at least one in each row.

    Returns
    -------
    projected : ndarray of shape (n, q)
        Non-negative, zero outside the mask, rows sum to one.

    Notes
    -----
    The projection subtracts one number from all entries of a row and cuts at zero.
    Entries below the number that gives the others the sum one are dropped until there
    are none. Time O(n q) a round; a few are usual, as many as there are candidates the
    most.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.linalg import project_simplex
    >>> mask = np.array([[True, True]])
    >>> project_simplex(np.array([[0.75, 0.5]]), mask)
    array([[0.625, 0.375]])
    """
    values = np.where(mask, points, 0.0)
    positive = np.broadcast_to(mask, points.shape).astype(np.float64)
    while True:
        excess = np.einsum("ij,ij->i", values, positive) - 1
        shift = (excess / np.einsum("ij->i", positive))[:, None]
        kept = positive * (values > shift)
        if np.array_equal(kept, positive):
            return positive * (values - shift)
        positive = kept


def _level(gram: Floats) -> Floats:
    """Mean of the diagonals, 1 where they are 0."""
    level: Floats = np.trace(gram, axis1=1, axis2=2) / gram.shape[1]
    return np.where(level > 0, level, 1.0)


def _unit_size(gram: Floats) -> Floats:
    """Matrices of unit mean diagonal with a ridge; the identity for zero matrices."""
    level = _level(gram)[:, None, None]
    empty = np.trace(gram, axis1=1, axis2=2) <= 0
    ridge = np.where(empty, 1.0, RIDGE)[:, None, None]
    unit: Floats = gram / level + ridge * np.eye(gram.shape[1])
    return unit
