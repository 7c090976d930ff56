"""Linear least squares with a penalty, for targets that change while X does not.

Everything is centred implicitly: a sparse X stays sparse, and the intercept is never
penalised.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator

from demurk.linalg._cg import block_cg
from demurk.linalg._metric import EPS
from demurk.linalg._projection import no_dependence
from demurk.linalg._reg import positive_ridge_of
from demurk.linalg._rows import CenteredRows

__all__ = ["CenteredRidge", "FeatureBasis"]

Floats = NDArray[np.float64]

# Above this order a factor takes minutes and gigabytes: iterate instead.
MAX_DENSE = 7000


class CenteredRidge:
    """Minimise ``|T - X B - 1 b'|^2 + reg |B|^2`` for many targets T.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Features in float64; kept, not copied.
    reg : float or str
        Positive weight of the squared coefficients, or "rel:x" for that share of the
        mean diagonal of X'X.
    fit_intercept : bool, default=True
        Whether b is free; without it b = 0 and X is not centred.

    Notes
    -----
    Once O(n d min(n, d) + min(n, d)^3), or nothing if both are above 7000; then per
    target O(n d + min(n, d)^2), or one such product per step of conjugate gradients.
    """

    def __init__(self, X: Any, reg: float | str, *, fit_intercept: bool = True) -> None:
        n, d = X.shape
        self.X, self.fit_intercept = X, fit_intercept
        self._rows = CenteredRows(X, None if fit_intercept else np.zeros(d))
        self.mean = self._rows.mean
        self.penalty = positive_ridge_of(reg, d, lambda: self._rows.squares().sum())
        self._dual = n < d
        self._factor = None
        if min(n, d) <= MAX_DENSE:
            gram = self._rows.gram() if self._dual else self._rows.scatter()
            gram.flat[:: len(gram) + 1] += self.penalty
            self._factor = cho_factor(gram, lower=True, overwrite_a=True)

    def solve(
        self, targets: Floats, start: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Coefficients (t, d) and intercepts (t,) of targets (n, t).

        `start` holds coefficients of similar targets; only iterations need it.
        """
        means = targets.mean(axis=0) if self.fit_intercept else 0.0
        centered = targets - means
        if self._factor is None:
            coef = self._iterate(centered, start)
        elif self._dual:
            # Dual weights sum to zero, hence X needs no centring here.
            coef = self.X.T @ cho_solve(self._factor, centered)
        else:
            # The centred targets centre X on their own.
            coef = cho_solve(self._factor, self.X.T @ centered)
        coef = np.ascontiguousarray(coef.T)
        intercept = means - coef @ self.mean
        return coef, intercept if self.fit_intercept else np.zeros(len(coef))

    def fitted(self, coef: Floats, intercept: Floats) -> Floats:
        """Values of a linear model at the rows of X, (n, t)."""
        values: Floats = self.X @ coef.T + intercept
        return values

    def _iterate(self, centered: Floats, start: Floats | None) -> Floats:
        rows, d = self._rows, self.X.shape[1]

        def product(B: Floats) -> Floats:
            return rows.transposed(rows @ B) + self.penalty * B

        operator = LinearOperator(
            (d, d), matvec=product, matmat=product, dtype=np.float64
        )
        start = None if start is None else start.T
        return block_cg(operator, self.X.T @ centered, start=start)[0]


class FeatureBasis:
    """Orthonormal directions in which centred features are uncorrelated.

    In the coordinates Z = (X - mean) Q the products ``Z'Z`` are a diagonal, so that a
    ridge regression with any penalty is a division. Coefficients B of Z mean ``Q B``
    for X; singular values and norms are the same for both.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Features in float64.
    center : bool, default=True
        Whether to subtract the mean.
    exact : bool, default=False
        Whether directions of small variance matter: where n < d they are then taken
        from a dense X itself, not from its squares. Rows that are all equal are
        refused.

    Attributes
    ----------
    mean : ndarray of shape (d,)
        Mean of X, or zero.
    directions : ndarray of shape (d, p)
        Q, for the p <= min(n, d) directions along which X varies; p may be 0.
    squares : ndarray of shape (p,)
        Diagonal of Z'Z, largest first.

    Notes
    -----
    Time O(n d min(n, d) + min(n, d)^3), memory O(d p).
    """

    def __init__(self, X: Any, *, center: bool = True, exact: bool = False) -> None:
        self.rows = CenteredRows(X, None if center else np.zeros(X.shape[1]))
        squares = not exact or X.shape[0] >= X.shape[1] or self.rows.sparse
        _, s, self.directions = self.rows.factors(squares=squares)
        self.mean: Floats = self.rows.mean
        self.squares: Floats = s**2
        if exact:
            self._check()

    def _check(self) -> None:
        """Refuse rows that do not differ but for round-off."""
        raw, sparse = self.rows.raw, self.rows.sparse
        size = np.linalg.norm(raw.data if sparse else raw) ** 2
        # A sparse X is centred after squaring, which leaves more round-off.
        limit = 64 * EPS if sparse else (64 * EPS) ** 2
        if self.squares.size == 0 or self.squares[0] <= limit * size:
            raise no_dependence()

    def cross(self, T: Floats) -> Floats:
        """Products of Z with targets, (p, t)."""
        return self.directions.T @ self.rows.transposed(T)

    def coordinates(self, X: Any) -> Floats:
        """Z of some rows, (n, p)."""
        Z: Floats = X @ self.directions - self.mean @ self.directions
        return Z

    def solve(self, rhs: Floats, penalty: float) -> Floats:
        """Solve ``M ((X - mean)'(X - mean) + penalty I) = rhs`` for M, (t, d)."""
        along = rhs @ self.directions
        # The part of rhs across the directions only meets the penalty.
        inside = along / (self.squares + penalty) - along / penalty
        return rhs / penalty + inside @ self.directions.T
