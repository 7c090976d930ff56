"""Conjugate gradients for many right-hand sides at once."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

Floats = NDArray[np.float64]


def block_cg(
    operator: Any,
    rhs: ArrayLike,
    *,
    diagonal: ArrayLike | None = None,
    start: ArrayLike | None = None,
    tol: float = 1e-10,
    max_iter: int = 1000,
) -> tuple[Floats, int]:
    """Solve ``operator @ solution = rhs`` by preconditioned conjugate gradients.

    All columns advance together, so that one step costs one product with a block,
    but each has step sizes of its own: the result is that of one run per column.
    Columns that have converged are frozen, and leave the block once half of it has.

    Parameters
    ----------
    operator : object with ``@``
        Symmetric positive definite (n, n) array, sparse array or linear operator,
        applied to blocks of shape (n, m) with m <= c.
    rhs : array-like of shape (n,) or (n, c)
        Right-hand sides. A column of zeros has the solution zero.
    diagonal : array-like of shape (n,) or (n, c), default=None
        Positive diagonal of the operator, used as Jacobi preconditioner. With shape
        (n, c) each column may have an operator of its own: `operator` is then always
        given all c columns, in their order.
    start : array-like of the shape of `rhs`, default=None
        First guess; zero by default.
    tol : float, default=1e-10
        A column has converged when its residual norm is at most `tol` times the norm
        of its right-hand side.
    max_iter : int, default=1000
        Largest number of iterations; a :class:`~sklearn.exceptions.ConvergenceWarning`
        is issued when some column needs more.

    Returns
    -------
    solution : ndarray of the shape of `rhs`, float64
        The solution.
    n_iter : int
        Number of iterations, which is that of the slowest column.

    Notes
    -----
    A step costs one block product and O(n c) besides; memory is five blocks of n c.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.linalg import block_cg
    >>> A = np.array([[2.0, 1.0], [1.0, 3.0]])
    >>> solution, n_iter = block_cg(A, np.array([[3.0, 0.0], [4.0, 0.0]]))
    >>> solution.round(6)
    array([[1., 0.],
           [1., 0.]])
    """
    b = np.asarray(rhs, dtype=np.float64)
    if b.ndim == 1:
        if start is not None:
            start = np.asarray(start)[:, None]
        solution, n_iter = block_cg(
            operator,
            b[:, None],
            diagonal=diagonal,
            start=start,
            tol=tol,
            max_iter=max_iter,
        )
        return solution[:, 0], n_iter
    scale = np.sqrt(_column_dots(b, b))
    if not np.isfinite(scale).all():
        column = int(np.argmin(np.isfinite(scale)))
        raise ValueError(f"Column {column} of rhs holds a value that is not finite.")
    solution = _first_guess(start, b.shape)
    solution[:, scale == 0.0] = 0.0
    residual = b.copy() if start is None else b - operator @ solution
    residual[:, scale == 0.0] = 0.0
    weights = _jacobi(diagonal, b.shape)
    shared = weights is None or weights.shape[1] == 1
    n_iter = _iterate(
        operator, solution, residual, weights, tol * scale, shared, max_iter
    )
    return solution, n_iter


def _iterate(
    operator: Any,
    solution: Floats,
    residual: Floats,
    weights: Floats | None,
    limits: Floats,
    shared: bool,
    max_iter: int,
) -> int:
    """Advance `solution` in place until each residual norm is within its limit."""
    columns = np.arange(solution.shape[1])  # those of the block at work
    x, r = solution, residual
    active = np.sqrt(_column_dots(r, r)) > limits
    z = r if weights is None else r * weights
    rz = _column_dots(r, z)
    p = z.copy()
    work = np.empty_like(p)
    n_iter = 0
    while active.any() and n_iter < max_iter:
        if shared and 2 * np.count_nonzero(active) <= active.size:
            solution[:, columns] = x
            columns, limits, rz = columns[active], limits[active], rz[active]
            x, r, p = (np.compress(active, block, axis=1) for block in (x, r, p))
            work = np.empty_like(p)
            active = active[active]
        product = operator @ p
        curvature = _column_dots(p, product)
        _check_curvature(curvature, active, columns)
        # Frozen columns stay in place: their step is zero.
        step = np.divide(rz, curvature, out=np.zeros_like(rz), where=active)
        x += np.multiply(p, step, out=work)
        r -= np.multiply(product, step, out=work)
        rr = _column_dots(r, r)
        active &= np.sqrt(rr) > limits
        if weights is None:
            z, rz_next = r, rr
        else:
            z = np.multiply(r, weights, out=work)
            rz_next = _column_dots(r, z)
        p *= np.divide(rz_next, rz, out=np.zeros_like(rz), where=active)
        p += z
        rz = rz_next
        n_iter += 1
    if x is not solution:
        solution[:, columns] = x
    if active.any():
        warnings.warn(
            f"Conjugate gradients left {np.count_nonzero(active)} of "
            f"{solution.shape[1]} columns unfinished after {n_iter} iterations; raise "
            "max_iter, or tol if less accuracy will do.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return n_iter


def _column_dots(a: Floats, b: Floats) -> Floats:
    return np.einsum("ij,ij->j", a, b)


def _first_guess(start: ArrayLike | None, shape: tuple[int, ...]) -> Floats:
    if start is None:
        return np.zeros(shape)
    guess = np.array(start, dtype=np.float64, order="C")
    if guess.shape != shape:
        raise ValueError(
            f"start has shape {guess.shape} and rhs {shape}; they should agree."
        )
    return guess


def _jacobi(diagonal: ArrayLike | None, shape: tuple[int, ...]) -> Floats | None:
    """Reciprocal of the diagonal, as (n, 1) or (n, c)."""
    if diagonal is None:
        return None
    d = np.asarray(diagonal, dtype=np.float64)
    if d.shape != shape and d.shape != shape[:1]:
        raise ValueError(
            f"diagonal has shape {d.shape}; it should be {shape[:1]} or {shape}."
        )
    if not (d > 0.0).all():
        row = int(np.argmin(d > 0.0)) // (d.size // d.shape[0])
        raise ValueError(f"Row {row} of diagonal is not positive.")
    return 1.0 / (d[:, None] if d.ndim == 1 else d)


def _check_curvature(
    curvature: Floats, active: NDArray[np.bool_], columns: NDArray[np.intp]
) -> None:
    bad = active & ~(curvature > 0.0)
    if bad.any():
        column = int(columns[int(np.argmax(bad))])
        raise ValueError(
            "The operator should be symmetric positive definite, but p'Ap = "
            f"{curvature[int(np.argmax(bad))]:.3g} was met in column {column}."
        )
