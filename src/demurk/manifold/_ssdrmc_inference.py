"""The label step of SSDR-MC: labels that the weights rebuild best.

With W the weights of the neighbours (rows sum to one) and A = I - W, the labels F
should make A F small and agree with what is given. The four forms differ in which
rows of A F count and in how firmly the given labels are held.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.sparse import csc_array, csr_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from demurk.linalg import block_cg

__all__ = ["infer", "informed_entries"]

# Larger systems would fill their factors with too many numbers; conjugate gradients
# on the normal equations take over.
MAX_FACTOR_ROWS = 5000
TOL = 1e-9
MAX_ITER = 5000


def infer(W, Y, given, form, *, fit_weight=1.0, start=None):
    """Soft labels of all samples.

    Parameters
    ----------
    W : csr_array of shape (n, n)
        Weights of the neighbours, rows with sum one.
    Y : ndarray of shape (n, c)
        Given labels, 0 elsewhere.
    given : ndarray of bool of shape (n, 1) or (n, c)
        Which rows or entries are given.
    form : {"exact", "harmonic", "relaxed", "paper"}
        "exact" minimises ``|A F|^2`` with the given labels fixed. "harmonic" sets the
        rows of A F that are not given to zero (equation 7). "relaxed" minimises
        ``|A F|^2 + fit_weight |F - Y|^2``, the second term over given entries.
        "paper" is ``(A / fit_weight + I)^-1 Y`` (equation 12).
    fit_weight : float, default=1.0
        How firmly "relaxed" and "paper" hold the given labels.
    start : ndarray of shape (n, c), default=None
        First guess.

    Returns
    -------
    F : ndarray of shape (n, c)
        Soft labels.
    """
    n = W.shape[0]
    A = csr_array(eye_array(n) - W)
    if form == "paper":
        system = csr_array(eye_array(n) + A / fit_weight)
        return _solve_square(system, Y, start)
    if form == "harmonic" and given.shape[1] == 1:
        free = np.flatnonzero(~given[:, 0])
        F = Y.copy()
        if free.size:
            guess = None if start is None else start[free]
            F[free] = _solve_square(A[free][:, free], (W @ Y)[free], guess)
        return F
    return Y + _solve_normal(A, Y, given, form, fit_weight, start)


def _solve_normal(A, Y, given, form, fit_weight, start):
    """What is to be added to the given labels, by conjugate gradients on A'A."""
    free = (~given).astype(np.float64)
    diagonal = np.asarray(A.multiply(A).sum(axis=0)).ravel()[:, None]
    if form == "relaxed":
        held = fit_weight * given
        operator, movable = _Normal(A, shift=held), 1.0
        diagonal = diagonal + held
    else:
        rows = free if form == "harmonic" else None
        operator, movable = _Normal(A, free=free, rows=rows), free
        diagonal = np.where(free > 0, diagonal, 1.0)
    if diagonal.shape[1] == 1:
        diagonal = diagonal[:, 0]  # one operator for all columns
    found, _ = block_cg(
        operator,
        -movable * operator.normal(Y),
        diagonal=diagonal,
        start=None if start is None else movable * (start - Y),
        tol=TOL,
        max_iter=MAX_ITER,
    )
    return found


class _Normal:
    """``A'A`` on the free entries plus a shift, one column after another.

    Entries that are not free keep the identity, so that the system stays definite.
    """

    def __init__(self, A, *, free=None, rows=None, shift=None):
        self.A, self.At = A, csr_array(A.T)
        self.free, self.rows, self.shift = free, rows, shift

    def normal(self, block):
        """A'A, with only some rows of A."""
        image = self.A @ block
        return self.At @ (image if self.rows is None else self.rows * image)

    def __matmul__(self, block):
        if self.free is None:
            return self.normal(block) + self.shift * block
        return self.free * self.normal(self.free * block) + (1 - self.free) * block


def _solve_square(system, rhs, start):
    """Solve with a matrix that is not symmetric, by its factors if it is small."""
    if system.shape[0] <= MAX_FACTOR_ROWS:
        try:
            return splu(csc_array(system)).solve(rhs)
        except RuntimeError:  # singular: the least-squares solution will do
            pass
    operator = _Normal(system, shift=0.0)
    squares = np.asarray(system.multiply(system).sum(axis=0)).ravel()
    found, _ = block_cg(
        operator,
        system.T @ rhs,
        diagonal=np.where(squares > 0, squares, 1.0),
        start=start,
        tol=TOL,
        max_iter=MAX_ITER,
    )
    return found


def informed_entries(W, given):
    """Entries whose part of the graph holds a given label.

    Parameters
    ----------
    W : csr_array of shape (n, n)
        Weights; a row and its neighbours are joined both ways.
    given : ndarray of bool of shape (n, 1) or (n, c)
        Given rows or entries.

    Returns
    -------
    informed : ndarray of bool of the shape of `given`
        Whether anything is known in the row's part, for each column.
    """
    n_parts, part = connected_components(W, directed=False)
    holds = np.zeros((n_parts, given.shape[1]), dtype=bool)
    rows, columns = np.nonzero(given)
    holds[part[rows], columns] = True
    return holds[part]
