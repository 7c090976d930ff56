"""Linear least squares with a penalty, for targets that change while X does not.

Everything is centred implicitly: a sparse X stays sparse, and the intercept is never
penalised.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator

from demurk.linalg import block_cg

__all__ = ["CenteredRidge", "FeatureBasis"]

# Above this order a factor takes minutes and gigabytes: iterate instead.
MAX_DENSE = 7000
RANK_TOL = 1e-12


class CenteredRidge:
    """Minimise ``|T - X B - 1 b'|^2 + penalty |B|^2`` for many targets T.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Features in float64; kept, not copied.
    penalty : float
        Positive weight of the squared coefficients.
    fit_intercept : bool, default=True
        Whether b is free; without it b = 0 and X is not centred.

    Notes
    -----
    Once O(n d min(n, d) + min(n, d)^3), or nothing if both are above 7000; then per
    target O(n d + min(n, d)^2), or one such product per step of conjugate gradients.
    """

    def __init__(self, X, penalty, *, fit_intercept=True):
        n, d = X.shape
        self.X, self.penalty = X, penalty
        self.mean = X.mean(axis=0) if fit_intercept else np.zeros(d)
        self.fit_intercept = fit_intercept
        self._dual = n < d
        if min(n, d) > MAX_DENSE:
            self._factor = None
            return
        gram = outer_gram(X, self.mean) if self._dual else inner_gram(X, self.mean)
        gram.flat[:: len(gram) + 1] += penalty
        self._factor = cho_factor(gram, lower=True, overwrite_a=True)

    def solve(self, targets, start=None):
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

    def fitted(self, coef, intercept):
        """Values of a linear model at the rows of X, (n, t)."""
        return self.X @ coef.T + intercept

    def _iterate(self, centered, start):
        n, d = self.X.shape

        def product(B):
            mean = np.multiply.outer(n * self.mean, self.mean @ B)
            return self.X.T @ (self.X @ B) - mean + self.penalty * B

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

    Attributes
    ----------
    mean : ndarray of shape (d,)
        Mean of X, or zero.
    directions : ndarray of shape (d, p)
        Q, for the p <= min(n, d) directions along which X varies.
    squares : ndarray of shape (p,)
        Diagonal of Z'Z, largest first.

    Notes
    -----
    Time O(n d min(n, d) + min(n, d)^3), memory O(d p).
    """

    def __init__(self, X, *, center=True):
        n, d = X.shape
        self.mean = X.mean(axis=0) if center else np.zeros(d)
        dual = n < d
        gram = outer_gram(X, self.mean) if dual else inner_gram(X, self.mean)
        values, vectors = eigh(gram, overwrite_a=True)
        kept = values > RANK_TOL * max(values[-1], 0)
        values, vectors = values[kept][::-1], vectors[:, kept][:, ::-1]
        if dual:
            shift = np.multiply.outer(self.mean, vectors.sum(axis=0))
            vectors = (X.T @ vectors - shift) / np.sqrt(values)
        self.squares, self.directions = values, vectors

    def coordinates(self, X):
        """Z of some rows, (n, p)."""
        return X @ self.directions - self.mean @ self.directions

    def solve(self, rhs, penalty):
        """Solve ``M ((X - mean)'(X - mean) + penalty I) = rhs`` for M, (t, d)."""
        along = rhs @ self.directions
        # The part of rhs across the directions only meets the penalty.
        inside = along / (self.squares + penalty) - along / penalty
        return rhs / penalty + inside @ self.directions.T


def inner_gram(X, mean):
    """Products of the centred features with each other, (d, d)."""
    if issparse(X):
        return (X.T @ X).toarray() - X.shape[0] * np.multiply.outer(mean, mean)
    X = X - mean
    return X.T @ X


def outer_gram(X, mean):
    """Products of the centred rows with each other, (n, n); only where n < d."""
    if not issparse(X):
        X = X - mean
        return X @ X.T
    along = X @ mean
    gram = (X @ X.T).toarray() - along
    return gram - along[:, np.newaxis] + mean @ mean
