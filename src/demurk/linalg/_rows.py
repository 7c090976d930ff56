"""Rows of a table less their mean, without forming them where X is sparse."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

__all__ = ["CenteredRows"]

Floats = NDArray[np.float64]


class CenteredRows:
    """The rows ``X - mean`` in float64.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Features.
    mean : ndarray of shape (d,)
        What is subtracted from every row.
    copy : bool, default=False
        Whether to subtract it once, in a copy of a dense X. By default, and for a
        sparse X always, it is subtracted inside each product.
    """

    def __init__(self, X: Any, mean: Floats, *, copy: bool = False) -> None:
        self.mean = mean
        self.shape = X.shape
        self.sparse = issparse(X)
        self.implicit = self.sparse or not copy
        self.X = X.astype(np.float64, copy=False) if self.implicit else X - mean

    def __matmul__(self, V: Floats) -> Floats:
        product: Floats = self.X @ V
        if self.implicit:
            product -= self.mean @ V
        return product

    def transposed(self, U: Floats) -> Floats:
        """Product of the transpose with U, whose columns need not be centred."""
        product: Floats = self.X.T @ U
        if self.implicit:
            product -= np.multiply.outer(self.mean, U.sum(axis=0))
        return product

    def dense(self) -> Floats:
        """The rows of a dense X as an array."""
        rows: Floats = self.X - self.mean if self.implicit else self.X
        return rows

    def squares(self, weights: Any = 1.0) -> Floats:
        """Weighted sum of squares of each column."""
        w = np.broadcast_to(weights, self.shape[:1])
        if self.sparse:
            squares = self.X.multiply(self.X).T @ w
        else:
            squares = np.einsum("ij,ij,i->j", self.X, self.X, w)
        if self.implicit:
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

    def scatter(self) -> Floats:
        """Products of all pairs of columns, (d, d)."""
        if not self.sparse:
            rows = self.dense()
            return rows.T @ rows
        raw: Floats = (self.X.T @ self.X).toarray()
        part = self.X.sum(axis=0) - 0.5 * self.shape[0] * self.mean
        raw -= np.multiply.outer(part, self.mean)
        raw -= np.multiply.outer(self.mean, part)
        return raw
