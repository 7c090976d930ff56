"""Directions for problems whose metric or criterion is more than one product."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from scipy.sparse import issparse

from demurk.linalg._directions import (
    _check_rows,
    _thin_svd,
    dependence_directions,
)
from demurk.linalg._eigen import flip_signs
from demurk.linalg._moments import moments
from demurk.linalg._projection import (
    EPS,
    Projection,
    dependence_projection,
    no_dependence,
    output_dtype,
)
from demurk.linalg._rows import CenteredRows

Floats = NDArray[np.float64]

# Eigenvalues that come out of squares hold no more digits than this.
SQUARES_TOL = 1e-12


@dataclass(frozen=True, eq=False)
class ScatterEigen:
    """Centred rows in the eigenvectors of their scatter ``Xc'Xc``.

    Attributes
    ----------
    values : ndarray of shape (r,)
        Positive eigenvalues, decreasing.
    vectors : ndarray of shape (D, r)
        Orthonormal eigenvectors: a basis of the row space of Xc.
    cross : ndarray of shape (r, q)
        ``vectors' Xc'T``.
    """

    values: Floats
    vectors: Floats
    cross: Floats


def scatter_eigen(X: Any, T: ArrayLike) -> ScatterEigen:
    """Diagonalise the scatter of rows on whichever side is shorter.

    In this basis the scatter is diagonal, and what lies outside plays no part in a
    problem made of ``Xc`` and multiples of the identity: each such problem is one of
    diagonal matrices and the thin `cross`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, D)
        Features; they are centred here.
    T : array-like of shape (n, q)
        Centred targets.

    Returns
    -------
    basis : ScatterEigen
        Eigenvalues, eigenvectors, and the targets seen in them.

    Notes
    -----
    Time O(n D min(n, D)), memory O(D min(n, D)). A sparse X is never made dense, but
    the vectors are.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.linalg._scatter import scatter_eigen
    >>> X = np.array([[0.0, 1.0], [0.0, -1.0], [2.0, 1.0], [2.0, -1.0]])
    >>> scatter_eigen(X, np.array([[-0.5], [-0.5], [0.5], [0.5]])).values
    array([4., 4.])
    """
    X, targets, _ = _check_rows(X, T, None)
    n, n_features = X.shape
    if n_features > n:
        mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        U, s, V = _thin_svd(CenteredRows(X, mean))
        order = np.argsort(-s, kind="stable")
        U, s, V = U[:, order], s[order], V[:, order]
        values, cross = s**2, s[:, None] * (U.T @ targets)
    else:
        parts = moments(X, targets, scatter=True)
        assert parts.scatter is not None
        e, V = eigh(parts.scatter)
        kept = np.flatnonzero(e > SQUARES_TOL * e[-1])[::-1]
        values, V = e[kept], V[:, kept]
        cross = V.T @ parts.cross
    size = np.linalg.norm(X.data if issparse(X) else X) ** 2
    # A sparse X is centred after squaring, which leaves more round-off.
    limit = 64 * EPS if issparse(X) else (64 * EPS) ** 2
    if values.size == 0 or values[0] <= limit * size:
        raise no_dependence()
    return ScatterEigen(values, V, cross)


def downdated_directions(
    X: Any,
    T: ArrayLike,
    U: ArrayLike,
    *,
    mean: ArrayLike,
    omega: Any,
    ridge: float,
    n_components: int | None = None,
) -> Projection:
    """Maximise ``tr((P'BP)^-1 P'AP)`` with a metric from which something is taken.

    As :func:`~demurk.linalg.dependence_directions`, but with
    ``B = Xc' Omega Xc - Xc'U U'Xc + ridge I``: within-class scatters and the
    Laplacians of low-rank graphs have this form.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, D)
        Features.
    T : array-like of shape (n, q)
        Targets, used as they are.
    U : array-like of shape (n, p)
        Thin factor of what is taken from Omega; ``Omega - U U'`` must be positive
        semidefinite on the columns of Xc.
    mean : array-like of shape (D,)
        Subtracted from every row of X.
    omega : float, array-like of shape (n,) or sparse matrix (n, n)
        The rest of Omega.
    ridge : float
        Added to the diagonal of B.
    n_components : int, default=None
        Number of directions; by default, all that carry dependence.

    Returns
    -------
    projection : Projection
        Directions with ``P'BP = I``.

    Notes
    -----
    By Woodbury's identity all solutions lie in the span of ``B1^-1 Xc'[T, U]``, where
    B1 is B without the thin part. The first solve finds a basis of this span that is
    orthonormal in B1, the second solves the problem in it, of size q + p. The cost is
    that of :func:`~demurk.linalg.dependence_directions` with q + p targets.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.linalg._scatter import downdated_directions
    >>> X = np.array([[0.0, 1.0], [0.0, -1.0], [2.0, 1.0], [2.0, -1.0]])
    >>> T = np.array([[-0.5], [-0.5], [0.5], [0.5]])
    >>> found = downdated_directions(X, T, T, mean=[1.0, 0.0], omega=1.0, ridge=1.0)
    >>> found.eigenvalues
    array([4.])
    """
    X, targets, center = _check_rows(X, T, mean)
    removed = np.asarray(U, dtype=np.float64)
    dtype = output_dtype(X)
    X = X.astype(np.float64, copy=False)  # rounding half way would cost digits
    first = dependence_directions(
        X,
        np.hstack([targets, removed]),
        mean=center,
        omega=omega,
        ridge=ridge,
        # The span must hold weak directions too; the second solve judges them.
        rank_tol=1e-16,
    )
    basis = first.components
    rows = X @ basis.T - center @ basis.T
    thin = rows.T @ removed
    second = dependence_projection(
        rows.T @ targets,
        np.eye(len(basis)) - thin @ thin.T,
        n_components=n_components,
    )
    components = flip_signs(second.components @ basis).astype(dtype, copy=False)
    return Projection(components, second.eigenvalues)
