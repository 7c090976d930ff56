"""Rows of a table less their mean, without forming them where X is sparse."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, svd
from scipy.sparse import issparse

from demurk.linalg._moments import CHUNK_BYTES, moments

__all__ = ["CenteredRows", "weigh"]

Floats = NDArray[np.float64]

# Singular values from squares hold half the digits.
SQUARES_TOL = 1e-12
RANK_TOL = 1e-10


def weigh(omega: Any, U: Floats) -> Floats:
    """``Omega U`` for a number, a diagonal or a sparse matrix Omega."""
    if issparse(omega):
        return omega @ U
    return U * (omega if np.ndim(omega) == 0 else omega[:, None])


class CenteredRows:
    """The rows ``X - mean`` in float64.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Features.
    mean : ndarray of shape (d,), default=None
        What is subtracted from every row; by default, the mean of the columns.
    copy : bool, default=False
        Whether to subtract it once, in a copy of a dense X. By default, and for a
        sparse X always, it is subtracted inside each product.
    """

    def __init__(
        self, X: Any, mean: Floats | None = None, *, copy: bool = False
    ) -> None:
        if mean is None:
            mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        self.mean = mean
        self.shape = X.shape
        self.sparse = issparse(X)
        self.implicit = self.sparse or not copy
        self.raw = X if self.implicit else X - mean

    @cached_property
    def X(self) -> Any:
        """What products are taken with: float64, made when first needed."""
        return self.raw.astype(np.float64, copy=False)

    def __matmul__(self, V: Floats) -> Floats:
        product: Floats = self.X @ V
        if self.implicit:
            product -= self.mean @ V
        return product

    def transposed(self, U: Floats) -> Floats:
        """Product of the transpose with U, whose columns need not be centred.

        U may be sparse if X is dense.
        """
        product: Floats = self.X.T @ U
        if self.implicit:
            product -= np.multiply.outer(self.mean, U.sum(axis=0))
        return product

    def dense(self) -> Floats:
        """The rows as an array, which a sparse X had better not become."""
        X = self.X.toarray() if self.sparse else self.X
        rows: Floats = X - self.mean if self.implicit else X
        return rows

    def squares(self, weights: Any = 1.0) -> Floats:
        """Weighted sum of squares of each column."""
        w = np.broadcast_to(weights, self.shape[:1])
        if not self.sparse:
            step = max(1, CHUNK_BYTES // (8 * max(self.shape[1], 1)))
            total = np.zeros(self.shape[1])
            for first in range(0, self.shape[0], step):
                rows = self.raw[first : first + step]
                rows = rows - self.mean if self.implicit else rows
                total += np.einsum("ij,ij,i->j", rows, rows, w[first : first + step])
            return total
        squares = self.X.multiply(self.X).T @ w
        squares += self.mean * (w.sum() * self.mean - 2.0 * (self.X.T @ w))
        found: Floats = np.maximum(squares, 0.0)
        return found

    def gram(self) -> Floats:
        """Products of all pairs of rows, (n, n)."""
        if not self.sparse:
            rows = self.dense()
            return rows @ rows.T
        gram: Floats = (self.X @ self.X.T).toarray()
        part = self.X @ self.mean - 0.5 * (self.mean @ self.mean)
        gram -= part
        gram -= part[:, None]
        return gram

    def scatter(self, omega: Any = 1.0) -> Floats:
        """``Xc' Omega Xc`` for a number, a diagonal or a sparse Omega, (d, d).

        Unless Omega is sparse, X is read in chunks of rows.
        """
        if issparse(omega):
            return self._graph_scatter(omega)
        w = None if np.ndim(omega) == 0 else omega
        if w is None and not self.implicit:
            return omega * (self.X.T @ self.X)
        parts = moments(
            self.raw, np.empty((self.shape[0], 0)), scatter=True, sample_weight=w
        )
        assert parts.scatter is not None
        shift = parts.mean_x - (self.mean if self.implicit else 0.0)
        B: Floats = parts.scatter
        B += np.multiply.outer(parts.weight * shift, shift)
        return B * omega if w is None else B

    def _graph_scatter(self, omega: Any) -> Floats:
        n, d = self.shape
        if self.sparse:
            ones = omega.sum(axis=1)
            part = self.X.T @ ones - 0.5 * ones.sum() * self.mean
            B: Floats = (self.X.T @ (omega @ self.X)).toarray()
            B -= np.multiply.outer(part, self.mean)
            B -= np.multiply.outer(self.mean, part)
            return B
        # A block of columns at a time: Omega Xc has the size of X.
        B = np.empty((d, d))
        step = max(1, CHUNK_BYTES // (8 * n))
        mean = self.mean if self.implicit else np.zeros(d)
        for first in range(0, d, step):
            block = slice(first, first + step)
            B[:, block] = self.transposed(omega @ (self.X[:, block] - mean[block]))
        return 0.5 * (B + B.T)

    def factors(
        self, *, squares: bool | None = None
    ) -> tuple[Floats | None, Floats, Floats]:
        """Factors ``Xc = U diag(s) V'`` without the singular values that are zero.

        With `squares` they come from the products of the shorter side, which is
        faster and loses half the digits of small values; a sparse X leaves no choice.
        U is None where it would have to be made from V.
        """
        if not (self.sparse if squares is None else squares):
            U, s, Vt = svd(self.dense(), full_matrices=False)
            kept = s > RANK_TOL * s[0]
            return U[:, kept], s[kept], Vt[kept].T
        wide = self.shape[0] < self.shape[1]
        e, W = eigh(self.gram() if wide else self.scatter(), overwrite_a=True)
        order = np.flatnonzero(e > SQUARES_TOL * max(e[-1], 0))[::-1]
        W, s = W[:, order], np.sqrt(e[order])
        return (W, s, self.transposed(W) / s) if wide else (None, s, W)
