"""The metric in which directions are orthonormal, factored once for many targets."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import (
    LinAlgError,
    cho_solve,
    cholesky,
    lu_factor,
    lu_solve,
    qr,
    solve_triangular,
    svd,
)
from scipy.linalg.lapack import dlange, dpocon
from scipy.sparse import issparse

from demurk.linalg._cg import block_cg
from demurk.linalg._rows import CenteredRows, weigh

__all__ = ["SOLVERS", "CholeskyMetric", "Metric", "SpectralMetric", "factor_metric"]

Floats = NDArray[np.float64]
Pairs = tuple[Floats, Floats]  # directions in columns, eigenvalues

EPS = float(np.finfo(np.float64).eps)
SOLVERS = ("auto", "cholesky", "dual", "svd", "gram", "cg")
MAX_PRIMAL = 5_000
MAX_DUAL = 10_000
# Below this reciprocal condition number, a ridge of zero means the row space.
MIN_RCOND = 1e-12
SINGULAR = (
    "The metric is singular to working precision; a larger ridge on its diagonal would "
    "make it positive definite."
)


class Metric:
    """The matrix ``B = Xc' Omega Xc + reg I`` as an operator.

    A kind of metric solves ``B S = Xc'T``. All directions lie in the span of S, where
    the problem is solved once more, so that they are orthonormal to round-off and the
    errors of S count to the second order. A basis of directions is written in
    coordinates of the metric's own, here those of the features.

    Parameters
    ----------
    rows : CenteredRows
        Xc.
    omega : float, ndarray of shape (n,) or csr_array of shape (n, n)
        Positive semidefinite Omega.
    reg : float
        Ridge on the diagonal.
    """

    rank_tol = 1e-10

    def __init__(self, rows: Any, omega: Any, reg: float) -> None:
        self.rows, self.omega, self.reg = rows, omega, reg

    def __matmul__(self, V: Floats) -> Floats:
        product = self.rows.transposed(weigh(self.omega, self.rows @ V))
        product += self.reg * V
        return product

    def inner(self, a: Floats, b: Floats) -> Floats:
        """Products ``a' B b`` of two bases."""
        product = self.rows @ a
        other = product if a is b else self.rows @ b
        return product.T @ weigh(self.omega, other) + self.reg * (a.T @ b)

    def solve(self, targets: Floats, cross: Floats) -> Floats:
        """``B^-1 Xc'T`` from T, or from ``Xc'T``."""
        raise NotImplementedError

    def leading(self, targets: Any, cross: Floats | None = None) -> Pairs:
        """Orthonormal basis of the dependence on T, strongest first, and eigenvalues.

        `cross` holds ``Xc'T`` where it is known already.
        """
        cross = self.rows.transposed(targets) if cross is None else cross
        Q, R, _ = qr(self.solve(targets, cross), mode="economic", pivoting=True)
        size = np.abs(R.diagonal())
        # Columns that add nothing to the span might lie where B is zero.
        Q = Q[:, size > 1e-13 * size.max(initial=0.0)]
        if not Q.size:
            return Q, np.zeros(0)
        small = self.inner(Q, Q)
        L = _factor(0.5 * (small + small.T))
        U, eigenvalues = left_singular(solve_triangular(L, Q.T @ cross, lower=True))
        return Q @ solve_triangular(L, U, lower=True, trans="T"), eigenvalues

    def directions(self, basis: Floats) -> Floats:
        """A basis in coordinates of the features, (d, r)."""
        return basis

    def project(self, basis: Floats) -> Floats:
        """The rows in a basis, (n, r)."""
        return self.rows @ self.directions(basis)

    @cached_property
    def size(self) -> float:
        """Bounds the squares of all rows in coordinates where B is the identity."""
        with np.errstate(divide="ignore", invalid="ignore"):
            squares = self.rows.squares().sum(), min(self.rows.shape)
            return float(np.nanmin(np.array(squares) / (self.reg, self.omega)))


class WhitenedMetric(Metric):
    """A metric with coordinates in which B is the identity.

    With `cross` given, no kind but the spectral one looks at rows or targets.
    """

    def inner(self, a: Floats, b: Floats) -> Floats:
        return a.T @ b

    def whitened(self, targets: Any, cross: Floats) -> Floats:
        """``Xc'T`` in these coordinates."""
        raise NotImplementedError

    def leading(self, targets: Any, cross: Floats | None = None) -> Pairs:
        cross = self.rows.transposed(targets) if cross is None else cross
        return left_singular(self.whitened(targets, cross))


class IdentityMetric(WhitenedMetric):
    """``B = reg I``: nothing to factor."""

    def whitened(self, targets: Any, cross: Floats) -> Floats:
        return cross / np.sqrt(self.reg)

    def directions(self, basis: Floats) -> Floats:
        return basis / np.sqrt(self.reg)


class CholeskyMetric(WhitenedMetric):
    """A factor of the (d, d) matrix B, made from rows or given."""

    def __init__(
        self, rows: Any, omega: Any, reg: float, scatter: Floats | None = None
    ) -> None:
        super().__init__(rows, omega, reg)
        B = rows.scatter(omega) if scatter is None else scatter.copy()
        B.flat[:: B.shape[0] + 1] += reg
        self.L = _factor(B, MIN_RCOND if isinstance(omega, float) else EPS)

    def whitened(self, targets: Any, cross: Floats) -> Floats:
        return solve_triangular(self.L, cross, lower=True)

    def directions(self, basis: Floats) -> Floats:
        return solve_triangular(self.L, basis, lower=True, trans="T")


class SpectralMetric(WhitenedMetric):
    """Singular values of Xc, for a number Omega; no ridge means the row space."""

    def __init__(
        self, rows: CenteredRows, omega: float, reg: float, squares: bool | None = None
    ) -> None:
        super().__init__(rows, omega, reg)
        U, s, V = rows.factors(squares=squares)
        shrink = 1.0 / np.sqrt(omega * s**2 + reg)
        self.back = V * shrink
        self.coordinates = rows @ self.back if U is None else U * (s * shrink)

    def leading(self, targets: Any, cross: Floats | None = None) -> Pairs:
        return left_singular(self.coordinates.T @ targets)

    def project(self, basis: Floats) -> Floats:
        return self.coordinates @ basis

    def directions(self, basis: Floats) -> Floats:
        return self.back @ basis


class DualMetric(Metric):
    """A factor of (n, n) products: ``B^-1 Xc'T = Xc' (Omega K + reg I)^-1 T``."""

    def __init__(self, rows: Any, omega: Any, reg: float) -> None:
        super().__init__(rows, omega, reg)
        if reg == 0.0 and not isinstance(omega, float):
            raise LinAlgError(SINGULAR)
        K = rows.gram()
        self.solver: Callable[[Floats], Floats]
        if issparse(omega):
            K = omega @ K
            K.flat[:: K.shape[0] + 1] += reg
            factors = lu_factor(K, overwrite_a=True)
            self.solver = lambda T: lu_solve(factors, T)
        elif isinstance(omega, float):
            K *= omega
            K.flat[:: K.shape[0] + 1] += reg
            L = _factor(K, MIN_RCOND)
            self.solver = lambda T: cho_solve((L, True), T)
        else:
            self.solver = _weighted_solver(K, omega, reg)

    def solve(self, targets: Floats, cross: Floats) -> Floats:
        return self.rows.transposed(self.solver(targets))


class IterativeMetric(Metric):
    """Conjugate gradients, going on from the solution for the last targets."""

    # The solutions carry the errors of `tol`, of which weak directions consist.
    rank_tol = 1e-6

    def __init__(
        self, rows: Any, omega: Any, reg: float, tol: float, max_iter: int
    ) -> None:
        super().__init__(rows, omega, reg)
        self.options: dict[str, Any] = {"tol": tol, "max_iter": max_iter}
        # Where B may be singular, only plain steps stay in the row space.
        if reg > 0.0:
            w = omega.diagonal() if issparse(omega) else omega
            self.options["diagonal"] = rows.squares(w) + reg
        self.solution: Floats | None = None

    def solve(self, targets: Floats, cross: Floats) -> Floats:
        self.solution, _ = block_cg(self, cross, start=self.solution, **self.options)
        return self.solution


def factor_metric(
    rows: Any,
    omega: Any,
    reg: float,
    solver: str = "auto",
    *,
    scatter: Floats | None = None,
    repeated: bool = False,
    tol: float = 1e-10,
    max_iter: int = 1000,
) -> Metric:
    """The metric in the form that suits its size.

    Parameters
    ----------
    rows : CenteredRows or None
        Xc; None if only sums over the rows are known.
    omega : float, ndarray of shape (n,) or csr_array of shape (n, n)
        Positive semidefinite Omega; 0.0 makes the metric a multiple of the identity.
    reg : float
        Ridge on the diagonal. Where a number Omega leaves B singular, directions are
        sought in the row space.
    solver : {"auto", "cholesky", "dual", "svd", "gram", "cg"}, default="auto"
        Factor the (d, d) matrix, the (n, n) one, take singular values of a dense X, or
        from products of its shorter side, or iterate.
    scatter : ndarray of shape (d, d), default=None
        ``Xc' Omega Xc``, where it is known; then "auto" means "cholesky".
    repeated : bool, default=False
        Whether many targets will come, so that "auto" spends more on the factor.
    tol, max_iter : float, int
        Of the iterations.

    Returns
    -------
    metric : Metric
        With its factor.
    """
    number = isinstance(omega, float)
    if number and omega == 0.0:
        if reg == 0.0:
            raise ValueError("omega and reg are both zero; one should be positive.")
        return IdentityMetric(rows, omega, reg)
    if scatter is not None and solver == "auto":
        solver = "cholesky"
    elif solver == "auto":
        solver = choose_solver(rows.shape)
        if repeated and number and not rows.sparse and solver != "cholesky":
            solver = "svd"
    if solver == "cg":
        return IterativeMetric(rows, omega, reg, tol, max_iter)
    if solver == "svd" and rows.sparse:
        raise ValueError(
            "solver='svd' needs a dense X; choose 'auto', 'gram' or 'cg' for a sparse "
            "one."
        )
    if solver in ("svd", "gram"):
        return SpectralMetric(rows, omega, reg, squares=solver == "gram")
    try:
        if solver == "cholesky":
            return CholeskyMetric(rows, omega, reg, scatter)
        return DualMetric(rows, omega, reg)
    except LinAlgError:
        if not number or rows is None:
            raise
        return SpectralMetric(rows, omega, reg)


def choose_solver(shape: tuple[int, int]) -> str:
    """What "auto" stands for with (n, d) rows and one set of targets."""
    n, d = shape
    if d <= n:
        return "cholesky" if d <= MAX_PRIMAL else "cg"
    return "dual" if n <= MAX_DUAL else "cg"


def left_singular(G: Floats) -> Pairs:
    """Left singular vectors and squared singular values."""
    if G.shape[1] > G.shape[0]:
        # Only left vectors are wanted: a triangular factor has the same.
        G = qr(G.T, mode="r")[0][: G.shape[0]].T
    U, s, _ = svd(G, full_matrices=False)
    return U, s**2


def _factor(B: Floats, min_rcond: float = EPS) -> Floats:
    """Lower Cholesky factor; LinAlgError if B is singular to working precision.

    Features may have any scale: the condition is that of B with a unit diagonal.
    """
    diagonal = B.diagonal()
    singular = LinAlgError(SINGULAR)
    if not (diagonal > 0.0).all():
        raise singular
    scale = np.sqrt(diagonal)
    scaled = B / scale
    scaled /= scale[:, None]
    scaled = scaled.T  # symmetric, and in the order that LAPACK takes without a copy
    norm = dlange("1", scaled)
    try:
        L: Floats = cholesky(scaled, lower=True, overwrite_a=True)
    except LinAlgError:
        raise singular from None
    rcond, _ = dpocon(L, norm, uplo="L")
    if rcond < min_rcond:
        raise singular
    L *= scale[:, None]
    return L


def _weighted_solver(
    K: Floats, weights: Floats, reg: float
) -> Callable[[Floats], Floats]:
    """Solve ``(diag(weights) K + reg I) S = T`` through a symmetric matrix."""
    used = np.flatnonzero(weights)
    unused = np.flatnonzero(weights == 0.0)
    # With S = root * s, dividing the equations by root makes them symmetric.
    root = np.sqrt(weights[used])[:, None]
    matrix = root * K[np.ix_(used, used)] * root.T
    matrix.flat[:: used.size + 1] += reg
    L = _factor(matrix)
    between = root * K[np.ix_(used, unused)]

    def solve(T: Floats) -> Floats:
        solution = T / reg  # all there is to do where the weight is zero
        rhs = T[used] / root - between @ solution[unused]
        solution[used] = root * cho_solve((L, True), rhs)
        return solution

    return solve
