"""A sparse matrix plus a low-rank one, used without ever being formed."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csr_array
from scipy.sparse.linalg import LinearOperator
from sklearn.utils import gen_batches

from demurk.graph._affinity import scale_symmetric

_CHUNK_BYTES = 16 * 2**20


class SparseLowRank(LinearOperator):  # type: ignore[misc]
    """The symmetric operator ``W + U @ C @ U.T``.

    A graph of features is sparse; a graph that joins all samples of the same or of
    similar label sets is dense, but of low rank: one-hot memberships U of samples in
    label sets, and the similarities C of the sets. Their sum multiplies vectors at the
    cost of the parts.

    Parameters
    ----------
    W : sparse matrix of shape (n, n) or None
        Symmetric sparse part; None for zero.
    U : {ndarray, sparse matrix} of shape (n, r)
        Factor, for instance one-hot memberships of n samples in r groups.
    C : {ndarray, sparse matrix} of shape (r, r)
        Symmetric core.

    Attributes
    ----------
    W : csr_array of shape (n, n) or None
        Sparse part.
    U : {ndarray, csr_array} of shape (n, r)
        Factor.
    C : {ndarray, csr_array} of shape (r, r)
        Core.

    Notes
    -----
    A product with one vector costs O(nnz(W) + nnz(U) + nnz(C)); nothing of size n x n
    is stored. The symmetry of `W` is not checked.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from demurk.graph import SparseLowRank
    >>> W = csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> groups = csr_array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> operator = SparseLowRank(W, groups, np.eye(2))
    >>> operator @ np.eye(3)
    array([[1., 1., 0.],
           [1., 1., 1.],
           [0., 1., 1.]])
    >>> operator.degrees()
    array([2., 3., 2.])
    """

    def __init__(self, W: Any, U: Any, C: Any) -> None:
        U, C = _as_float(U), _as_float(C)
        n, rank = U.shape
        if C.shape != (rank, rank):
            raise ValueError(
                f"C must have shape ({rank}, {rank}) to fit U with {rank} columns, got "
                f"{C.shape}."
            )
        gap = abs(C - C.T)
        if gap.size and gap.max() > 1e-10 * abs(C).max():
            raise ValueError("C is not symmetric; take (C + C.T) / 2.")
        if W is not None:
            W = csr_array(W, dtype=np.float64)
            if W.shape != (n, n):
                raise ValueError(
                    f"W must have shape ({n}, {n}) to fit U with {n} rows, got "
                    f"{W.shape}."
                )
        self.W, self.U, self.C = W, U, C
        super().__init__(dtype=np.dtype(np.float64), shape=(n, n))

    def _matmat(self, block: NDArray[Any]) -> NDArray[Any]:
        product = self.U @ (self.C @ (self.U.T @ block))
        if self.W is not None:
            product += self.W @ block
        return product

    def _matvec(self, vector: NDArray[Any]) -> NDArray[Any]:
        return self._matmat(vector.ravel())

    def _adjoint(self) -> "SparseLowRank":
        return self

    _transpose = _adjoint

    def degrees(self) -> NDArray[np.float64]:
        """Sum each row.

        Returns
        -------
        ndarray of shape (n,)
            Row sums.
        """
        return np.asarray(self @ np.ones(self.shape[1]))

    def diagonal(self) -> NDArray[np.float64]:
        """Compute the diagonal, by chunks of rows of `U`.

        Returns
        -------
        ndarray of shape (n,)
            Diagonal entries.
        """
        n, rank = self.U.shape
        out = np.zeros(n) if self.W is None else self.W.diagonal()
        for batch in gen_batches(n, max(1, _CHUNK_BYTES // (8 * max(1, rank)))):
            rows = self.U[batch]
            product = rows @ self.C
            if sparse.issparse(rows):
                out[batch] += rows.multiply(product).sum(axis=1)
            else:
                out[batch] += np.einsum("ij,ij->i", rows, product)
        return out

    def scaled(self, scale: Any) -> "SparseLowRank":
        """Multiply rows and columns by the same numbers.

        Parameters
        ----------
        scale : array-like of shape (n,)
            The numbers, for instance ``degrees ** -0.5``.

        Returns
        -------
        SparseLowRank
            ``diag(scale) @ self @ diag(scale)``.
        """
        scale = np.asarray(scale, dtype=np.float64)
        if scale.shape != self.shape[:1]:
            raise ValueError(
                f"scale must have shape ({self.shape[0]},), got {scale.shape}."
            )
        W = None if self.W is None else scale_symmetric(self.W, scale)
        if sparse.issparse(self.U):
            U = csr_array(sparse.diags_array(scale) @ self.U)
        else:
            U = scale[:, None] * self.U
        return SparseLowRank(W, U, self.C)


def _as_float(matrix: Any) -> Any:
    if sparse.issparse(matrix):
        return csr_array(matrix, dtype=np.float64)
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(f"U and C must have two dimensions, got shape {matrix.shape}.")
    return matrix
