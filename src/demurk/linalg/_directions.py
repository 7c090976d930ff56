"""Directions of largest dependence, from rows."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_solve, eigh, qr, solve, svd
from scipy.sparse import csr_array, issparse

from demurk.linalg._cg import block_cg
from demurk.linalg._moments import CHUNK_BYTES, moments
from demurk.linalg._projection import (
    EPS,
    Projection,
    check_options,
    factor,
    finish,
    leading,
    leading_in_metric,
    no_dependence,
    output_dtype,
    singular_metric,
)
from demurk.linalg._rows import CenteredRows

Floats = NDArray[np.float64]
Pairs = tuple[Floats, Floats]  # directions in columns, eigenvalues
Keep = tuple[int | None, float]  # n_components, rank_tol

SOLVERS = ("auto", "primal", "dual", "cg")
MAX_PRIMAL = 5_000
MAX_DUAL = 10_000
# Below this reciprocal condition number, a ridge of zero means the row space.
MIN_RCOND = 1e-12


def dependence_directions(
    X: Any,
    T: ArrayLike,
    *,
    mean: ArrayLike | None = None,
    omega: Any = 0.0,
    ridge: float = 1.0,
    n_components: int | None = None,
    normalize: str = "metric",
    solver: str = "auto",
    rank_tol: float = 1e-10,
    tol: float = 1e-10,
    max_iter: int = 1000,
) -> Projection:
    """Maximise ``tr((P'BP)^-1 P'AP)`` for matrices made of rows.

    With ``Xc = X - mean``, the directions solve ``A p = lambda B p`` for
    ``A = Xc'T T'Xc`` and ``B = Xc' Omega Xc + ridge I``. Neither A nor, for a sparse X,
    Xc is formed.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, D)
        Features.
    T : array-like of shape (n, q)
        Targets, used as they are: centre them first if the method says so.
    mean : array-like of shape (D,), default=None
        Subtracted from every row of X; nothing by default.
    omega : float, array-like of shape (n,) or sparse matrix (n, n), default=0.0
        Positive semidefinite Omega: a multiple of the identity, a diagonal, or a
        symmetric matrix such as a graph Laplacian. With 0 the metric is the identity.
    ridge : float, default=1.0
        Added to the diagonal of B. With 0 and a float `omega`, the directions are
        sought in the row space of Xc.
    n_components : int, default=None
        Number of directions; by default, all that carry dependence.
    normalize : {"metric", "unit", "orthogonal"}, default="metric"
        Scale of the directions, see :func:`dependence_projection`.
    solver : {"auto", "primal", "dual", "cg"}, default="auto"
        Which system to solve: of D equations, of n equations, or the first by
        conjugate gradients without forming it. "auto" takes "primal" when D <= n and
        D <= 5000, "dual" when n < D and n <= 10000, else "cg". Without a metric there
        is nothing to solve.
    rank_tol : float, default=1e-10
        Eigenvalues up to this fraction of the largest count as zero.
    tol, max_iter : float, int
        Passed to :func:`block_cg` by the solver "cg".

    Returns
    -------
    projection : Projection
        At most `n_components` directions, in float32 if X is, computed in float64.

    See Also
    --------
    dependence_projection : The same from statistics.

    Notes
    -----
    ======  ==========================  ==============================
    solver  time                        memory beyond X
    ======  ==========================  ==============================
    none    n D q                       D q
    primal  n D^2 + D^3                 D^2
    dual    n^2 D + n^3                 n^2 + n D
    cg      n D q per iteration         D q + n q
    ======  ==========================  ==============================

    where n D stands for the stored values of a sparse X. Without a metric, and in
    "primal" with a float or diagonal `omega`, X is read in chunks of rows and may be
    memory-mapped; otherwise a float32 X is copied to float64. "dual" and "cg" give a
    basis of the solution, in which the problem is then solved once more, so that
    ``P'BP = I`` holds to round-off and eigenvalues are better than `tol`.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.linalg import dependence_directions
    >>> X = np.array([[0.0, 1.0], [0.0, -1.0], [2.0, 1.0], [2.0, -1.0]])
    >>> T = np.array([[-0.5], [-0.5], [0.5], [0.5]])
    >>> found = dependence_directions(X, T, mean=[1.0, 0.0], omega=1.0, ridge=0.0)
    >>> found.components
    array([[0.5, 0. ]])
    >>> found.eigenvalues
    array([1.])
    """
    X, T, center = _check_rows(X, T, mean)
    weights = _check_omega(omega, X.shape[0])
    check_options(n_components, normalize)
    solver = _choose(solver, X.shape)
    if not ridge >= 0.0:
        raise ValueError(f"ridge is {ridge}; it should be zero or positive.")
    M = _cross(X, T, center)
    _check_dependence(M, X, T)
    keep = (n_components, rank_tol)
    if isinstance(weights, float) and weights == 0.0:
        if ridge == 0.0:
            raise ValueError("omega and ridge are both zero; one should be positive.")
        directions, eigenvalues = leading(M / np.sqrt(ridge), *keep)
        directions = directions / np.sqrt(ridge)
    elif solver == "primal":
        directions, eigenvalues = _primal(X, T, M, center, weights, ridge, keep)
    elif solver == "dual":
        directions, eigenvalues = _dual(X, T, M, center, weights, ridge, keep)
    else:
        metric = _Metric(CenteredRows(X, center), weights, ridge)
        # Where B may be singular, only plain steps stay in the row space.
        diagonal = metric.diagonal() if ridge > 0.0 else None
        basis, _ = block_cg(metric, M, diagonal=diagonal, tol=tol, max_iter=max_iter)
        directions, eigenvalues = _within_basis(metric, M, basis, keep)
    return finish(directions, eigenvalues, n_components, normalize, output_dtype(X))


class _Metric:
    """The matrix ``B = Xc' Omega Xc + ridge I`` as an operator."""

    def __init__(self, rows: CenteredRows, weights: Any, ridge: float) -> None:
        self.rows = rows
        self.weights = weights
        self.ridge = ridge

    def __matmul__(self, V: Floats) -> Floats:
        weighted = _weigh(self.weights, self.rows @ V)
        product = self.rows.transposed(weighted)
        product += self.ridge * V
        return product

    def diagonal(self) -> Floats:
        """Diagonal of B, for which only that of Omega is looked at."""
        w = self.weights.diagonal() if issparse(self.weights) else self.weights
        return self.rows.squares(w) + self.ridge


def _primal(
    X: Any, T: Floats, M: Floats, mean: Floats, weights: Any, ridge: float, keep: Keep
) -> Pairs:
    """Solve with the (D, D) matrix B."""
    B = _scatter(X, mean, weights)
    B.flat[:: B.shape[0] + 1] += ridge
    if isinstance(weights, float):
        L = factor(B, MIN_RCOND)
        if L is None:
            return _row_space(CenteredRows(X, mean), T, weights, ridge, keep)
    else:
        L = factor(B)
        if L is None:
            raise singular_metric()
    return leading_in_metric(M, L, *keep)


def _scatter(X: Any, mean: Floats, weights: Any) -> Floats:
    """``Xc' Omega Xc`` as a dense (D, D) matrix."""
    if not issparse(weights):
        w = None if isinstance(weights, float) else weights
        parts = moments(X, np.empty((X.shape[0], 0)), scatter=True, sample_weight=w)
        assert parts.scatter is not None
        shift = parts.mean_x - mean
        B = parts.scatter
        B += np.multiply.outer(parts.weight * shift, shift)
        return B * weights if w is None else B
    rows = CenteredRows(X, mean)
    if issparse(X):
        ones = weights.sum(axis=1)
        part = rows.X.T @ ones - 0.5 * ones.sum() * mean
        B = (rows.X.T @ (weights @ rows.X)).toarray()
        B -= np.multiply.outer(part, mean)
        B -= np.multiply.outer(mean, part)
        return B
    # A block of columns at a time: Omega Xc has the size of X.
    n, n_features = X.shape
    B = np.empty((n_features, n_features))
    step = max(1, CHUNK_BYTES // (8 * n))
    for first in range(0, n_features, step):
        block = slice(first, first + step)
        B[:, block] = rows.transposed(weights @ (rows.X[:, block] - mean[block]))
    return 0.5 * (B + B.T)


def _dual(
    X: Any, T: Floats, M: Floats, mean: Floats, weights: Any, ridge: float, keep: Keep
) -> Pairs:
    """Solve with (n, n) products: ``B^-1 Xc'T = Xc' (Omega K + ridge I)^-1 T``."""
    rows = CenteredRows(X, mean)
    if isinstance(weights, float):
        K = rows.gram() * weights
        K.flat[:: K.shape[0] + 1] += ridge
        L = factor(K, MIN_RCOND)
        if L is None:
            return _row_space(rows, T, weights, ridge, keep)
        solution = cho_solve((L, True), T)
    elif ridge == 0.0:
        raise singular_metric()
    elif issparse(weights):
        K = weights @ rows.gram()
        K.flat[:: K.shape[0] + 1] += ridge
        solution = solve(K, T, overwrite_a=True)
    else:
        solution = _solve_weighted(rows.gram(), T, weights, ridge)
    basis = rows.transposed(solution)
    return _within_basis(_Metric(rows, weights, ridge), M, basis, keep)


def _solve_weighted(K: Floats, T: Floats, weights: Floats, ridge: float) -> Floats:
    """Solve ``(diag(weights) K + ridge I) S = T`` through a symmetric matrix."""
    solution = T / ridge  # all there is to do where the weight is zero
    used = np.flatnonzero(weights)
    unused = np.flatnonzero(weights == 0.0)
    root = np.sqrt(weights[used])[:, None]
    # With S = root * s, dividing the equations by root makes them symmetric.
    rhs = T[used] / root - root * (K[np.ix_(used, unused)] @ solution[unused])
    matrix = K[np.ix_(used, used)]
    matrix *= root
    matrix *= root.T
    matrix.flat[:: used.size + 1] += ridge
    L = factor(matrix)
    if L is None:
        raise singular_metric()
    solution[used] = root * cho_solve((L, True), rhs)
    return solution


def _within_basis(metric: _Metric, M: Floats, basis: Floats, keep: Keep) -> Pairs:
    """Solve the problem among combinations of the columns of `basis`.

    The basis spans ``B^-1 M``, in which all solutions lie. Its errors count only to
    the second order. Columns that add nothing to the span are left out, since what
    stands for them might lie where B is zero.
    """
    Q, R, _ = qr(basis, mode="economic", pivoting=True)
    size = np.abs(R.diagonal())
    Q = Q[:, size > 1e-13 * size[0]]
    small = Q.T @ (metric @ Q)
    L = factor(0.5 * (small + small.T))
    if L is None:
        raise singular_metric()
    directions, eigenvalues = leading_in_metric(Q.T @ M, L, *keep)
    return Q @ directions, eigenvalues


def _row_space(
    rows: CenteredRows, T: Floats, weight: float, ridge: float, keep: Keep
) -> Pairs:
    """Solve for a float omega in the row space of Xc, where B may be singular."""
    U, s, V = _thin_svd(rows)
    shrink = 1.0 / np.sqrt(weight * s**2 + ridge)
    G, eigenvalues = leading((s * shrink)[:, None] * (U.T @ T), *keep)
    return V @ (shrink[:, None] * G), eigenvalues


def _thin_svd(rows: CenteredRows) -> tuple[Floats, Floats, Floats]:
    """Factors ``Xc = U diag(s) V'`` without the singular values that are zero."""
    if not rows.sparse:
        U, s, Vt = svd(rows.dense(), full_matrices=False)
        kept = s > 1e-10 * s[0]
        return U[:, kept], s[kept], Vt[kept].T
    # A sparse X leaves only the products of the shorter side. They hold the squares
    # of s, of which half the digits are lost.
    n, n_features = rows.X.shape
    wide = n < n_features
    e, W = eigh(rows.gram() if wide else rows.scatter())
    kept = e > 1e-12 * e[-1]
    W, s = W[:, kept], np.sqrt(e[kept])
    if wide:
        return W, s, rows.transposed(W) / s
    return (rows @ W) / s, s, W


def _weigh(weights: Any, U: Floats) -> Floats:
    """``Omega U`` for the three kinds of Omega."""
    if issparse(weights):
        return weights @ U
    return U * (weights if isinstance(weights, float) else weights[:, None])


def _cross(X: Any, T: Floats, mean: Floats) -> Floats:
    """``Xc'T``, reading X in chunks of rows."""
    parts = moments(X, T)
    shift = parts.mean_x - mean
    return parts.cross + np.multiply.outer(parts.weight * shift, parts.mean_t)


def _check_dependence(M: Floats, X: Any, T: Floats) -> None:
    """Refuse cross-products that are zero but for round-off."""
    size = np.linalg.norm(X.data if issparse(X) else X) * np.linalg.norm(T)
    if np.linalg.norm(M) <= 64 * EPS * size:
        raise no_dependence()


def _check_rows(
    X: Any, T: ArrayLike, mean: ArrayLike | None
) -> tuple[Any, Floats, Floats]:
    X = csr_array(X) if issparse(X) else np.asarray(X)
    targets = np.asarray(T, dtype=np.float64)
    if X.ndim != 2 or targets.ndim != 2 or X.shape[0] != targets.shape[0]:
        raise ValueError(
            f"X has shape {X.shape} and T {targets.shape}; both should be tables with "
            "the same number of rows."
        )
    if mean is None:
        return X, targets, np.zeros(X.shape[1])
    center = np.asarray(mean, dtype=np.float64)
    if center.shape != X.shape[1:]:
        raise ValueError(
            f"mean has shape {center.shape}; X has {X.shape[1]} columns, so it should "
            f"be {X.shape[1:]}."
        )
    return X, targets, center


def _check_omega(omega: Any, n: int) -> Any:
    """A float, an (n,) array with some positive entry, or a csr_array."""
    if issparse(omega):
        omega = csr_array(omega).astype(np.float64, copy=False)
        if omega.shape != (n, n):
            raise ValueError(f"omega has shape {omega.shape}; it should be {(n, n)}.")
        gap = abs(omega - omega.T).max() if omega.nnz else 0.0
        if gap > 1e-10 * abs(omega).max():
            raise ValueError(f"omega is not symmetric: entries differ by {gap:.3g}.")
        return omega if omega.nnz else 0.0
    weights = np.asarray(omega, dtype=np.float64)
    if weights.ndim > 1 or (weights.ndim == 1 and weights.shape != (n,)):
        raise ValueError(
            f"omega has shape {weights.shape}; it should be a number, one weight for "
            f"each of {n} rows, or a sparse matrix."
        )
    if not (weights >= 0.0).all():
        raise ValueError("omega holds a value that is negative or not a number.")
    if weights.ndim == 0 or not weights.any():
        return float(weights.max(initial=0.0))
    return weights


def _choose(solver: str, shape: tuple[int, int]) -> str:
    if solver not in SOLVERS:
        raise ValueError(f"solver is {solver!r}; it should be one of {SOLVERS}.")
    if solver != "auto":
        return solver
    n, n_features = shape
    if n_features <= n:
        return "primal" if n_features <= MAX_PRIMAL else "cg"
    return "dual" if n <= MAX_DUAL else "cg"
