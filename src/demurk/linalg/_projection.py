"""Directions of largest dependence between features and targets."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import qr
from scipy.sparse import csr_array, issparse

from demurk.linalg._eigen import flip_signs
from demurk.linalg._metric import (
    EPS,
    CholeskyMetric,
    IdentityMetric,
    Metric,
    Pairs,
    factor_metric,
)
from demurk.linalg._moments import moments
from demurk.linalg._rows import CenteredRows

Floats = NDArray[np.float64]

NORMALIZATIONS = ("metric", "unit", "orthogonal")
SOLVERS = ("auto", "cholesky", "dual", "cg")


@dataclass(frozen=True)
class Projection:
    """Directions of a linear map and how much dependence each carries.

    Attributes
    ----------
    components : ndarray of shape (d, D)
        One direction per row, by decreasing eigenvalue. The entry of largest
        magnitude of each is positive.
    eigenvalues : ndarray of shape (d,)
        Generalised eigenvalues, decreasing, float64.

    See Also
    --------
    dependence_projection : Directions from statistics.
    dependence_directions : Directions from rows.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.linalg import dependence_projection
    >>> dependence_projection(np.array([[0.0], [-2.0]]))
    Projection(components=array([[0., 1.]]), eigenvalues=array([4.]))
    """

    components: NDArray[Any]
    eigenvalues: Floats


def dependence_projection(
    M: ArrayLike,
    metric: ArrayLike | None = None,
    *,
    n_components: int | None = None,
    normalize: str = "metric",
    rank_tol: float = 1e-10,
) -> Projection:
    """Maximise ``tr((P'BP)^-1 P'AP)`` with ``A = M M'``, from statistics alone.

    The directions solve ``M M' p = lambda B p``. Use this form when M and the metric B
    are at hand, for instance from :class:`~demurk.linalg.Moments`.

    Parameters
    ----------
    M : array-like of shape (D, q)
        Dependence of the features on the targets, such as the cross-products of
        centred features and centred targets.
    metric : array-like of shape (D, D), default=None
        Symmetric positive definite B; the identity by default.
    n_components : int, default=None
        Number of directions; by default, all that carry dependence.
    normalize : {"metric", "unit", "orthogonal"}, default="metric"
        Scale of the directions: ``P'BP = I``, norm one each, or orthonormal (only
        their span is kept).
    rank_tol : float, default=1e-10
        Eigenvalues up to this fraction of the largest count as zero.

    Returns
    -------
    projection : Projection
        At most `n_components` directions, in float32 if M is, computed in float64.

    See Also
    --------
    dependence_directions : The same from rows.

    Notes
    -----
    With ``B = L L'`` the directions are ``L^-T U``, U being the left singular vectors
    of ``L^-1 M``; the condition number of M is never squared. Time is O(D q min(D, q))
    for the identity and O(D^3 + D^2 q) for a metric, memory O(D q) and O(D^2).

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.linalg import dependence_projection
    >>> M = np.array([[3.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    >>> projection = dependence_projection(M, np.diag([9.0, 1.0, 4.0]))
    >>> projection.eigenvalues
    array([1.  , 0.25])
    >>> projection.components.round(3)
    array([[0.333, 0.   , 0.   ],
           [0.   , 0.   , 0.5  ]])
    """
    M = np.asarray(M)
    if M.ndim != 2:
        raise ValueError(f"M has shape {M.shape}; it should be a (D, q) table.")
    check_options(n_components, normalize)
    cross = M.astype(np.float64, copy=False)
    B: Metric
    if metric is None:
        B = IdentityMetric(None, 0.0, 1.0)
    else:
        matrix = np.asarray(metric, dtype=np.float64)
        if matrix.shape != (M.shape[0], M.shape[0]):
            raise ValueError(
                f"metric has shape {matrix.shape}; M has {M.shape[0]} rows, so it "
                f"should be {(M.shape[0], M.shape[0])}."
            )
        B = CholeskyMetric(None, None, 0.0, matrix)
    basis, eigenvalues = leading(B.leading(None, cross), n_components, rank_tol)
    return finish(B.directions(basis), eigenvalues, n_components, normalize, M.dtype)


def dependence_directions(
    X: Any,
    T: ArrayLike,
    *,
    mean: ArrayLike | None = None,
    omega: Any = 0.0,
    reg: float = 1.0,
    n_components: int | None = None,
    normalize: str = "metric",
    solver: str = "auto",
    rank_tol: float = 1e-10,
    tol: float = 1e-10,
    max_iter: int = 1000,
) -> Projection:
    """Maximise ``tr((P'BP)^-1 P'AP)`` for matrices made of rows.

    With ``Xc = X - mean``, the directions solve ``A p = lambda B p`` for
    ``A = Xc'T T'Xc`` and ``B = Xc' Omega Xc + reg I``. Neither A nor, for a sparse X,
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
    reg : float, default=1.0
        Added to the diagonal of B. With 0 and a float `omega`, the directions are
        sought in the row space of Xc.
    n_components : int, default=None
        Number of directions; by default, all that carry dependence.
    normalize : {"metric", "unit", "orthogonal"}, default="metric"
        Scale of the directions, see :func:`dependence_projection`.
    solver : {"auto", "cholesky", "dual", "cg"}, default="auto"
        Which system to solve: of D equations, of n equations, or the first by
        conjugate gradients without forming it. "auto" takes "cholesky" when D <= n and
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
    ========  ==========================  ==============================
    solver    time                        memory beyond X
    ========  ==========================  ==============================
    none      n D q                       D q
    cholesky  n D^2 + D^3                 D^2
    dual      n^2 D + n^3                 n^2 + n D
    cg        n D q per iteration         D q + n q
    ========  ==========================  ==============================

    where n D stands for the stored values of a sparse X. Without a metric, and in
    "cholesky" with a float or diagonal `omega`, X is read in chunks of rows and may be
    memory-mapped; otherwise a float32 X is copied to float64. "dual" and "cg" give a
    basis of the solution, in which the problem is then solved once more, so that
    ``P'BP = I`` holds to round-off and eigenvalues are better than `tol`.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.linalg import dependence_directions
    >>> X = np.array([[0.0, 1.0], [0.0, -1.0], [2.0, 1.0], [2.0, -1.0]])
    >>> T = np.array([[-0.5], [-0.5], [0.5], [0.5]])
    >>> found = dependence_directions(X, T, mean=[1.0, 0.0], omega=1.0, reg=0.0)
    >>> found.components
    array([[0.5, 0. ]])
    >>> found.eigenvalues
    array([1.])
    """
    X, T, center = _check_rows(X, T, mean)
    weights = _check_omega(omega, X.shape[0])
    check_options(n_components, normalize)
    if solver not in SOLVERS:
        raise ValueError(f"solver is {solver!r}; it should be one of {SOLVERS}.")
    if not reg >= 0.0:
        raise ValueError(f"reg is {reg}; it should be zero or positive.")
    parts = moments(X, T)
    shift = parts.weight * (parts.mean_x - center)
    cross = parts.cross + np.multiply.outer(shift, parts.mean_t)
    check_dependence(cross, X, T)
    rows = CenteredRows(X, center)
    metric = factor_metric(rows, weights, reg, solver, tol=tol, max_iter=max_iter)
    basis, eigenvalues = leading(metric.leading(T, cross), n_components, rank_tol)
    directions = metric.directions(basis)
    return finish(directions, eigenvalues, n_components, normalize, X.dtype)


def leading(found: Pairs, n_components: int | None, rank_tol: float) -> Pairs:
    """The leading pairs of those that carry dependence."""
    basis, eigenvalues = found
    if eigenvalues.size == 0 or eigenvalues[0] == 0.0:
        raise no_dependence()
    rank = int(np.count_nonzero(eigenvalues > rank_tol * eigenvalues[0]))
    d = rank if n_components is None else min(n_components, rank)
    return basis[:, :d], eigenvalues[:d]


def finish(
    directions: Floats,
    eigenvalues: Floats,
    n_components: int | None,
    normalize: str,
    dtype: Any,
) -> Projection:
    """Scale, sign and type of the directions; say so if there are too few."""
    found = eigenvalues.size
    if n_components is not None and n_components > found:
        warnings.warn(
            f"n_components is {n_components}, but only {found} directions carry "
            f"dependence on the targets; {found} are returned.",
            UserWarning,
            stacklevel=3,
        )
    if normalize == "unit":
        directions = directions / np.linalg.norm(directions, axis=0)
    elif normalize == "orthogonal":
        directions = qr(directions, mode="economic")[0]
    components = flip_signs(np.ascontiguousarray(directions.T))
    dtype = np.float32 if dtype == np.float32 else np.float64
    return Projection(components.astype(dtype, copy=False), eigenvalues)


def check_options(n_components: int | None, normalize: str) -> None:
    if n_components is not None and (
        not isinstance(n_components, Integral) or n_components < 1
    ):
        raise ValueError(f"n_components is {n_components!r}; give None or an int >= 1.")
    if normalize not in NORMALIZATIONS:
        raise ValueError(
            f"normalize is {normalize!r}; it should be one of {NORMALIZATIONS}."
        )


def no_dependence() -> ValueError:
    return ValueError(
        "There is no direction to find: the labels are constant, or do not depend "
        "linearly on X."
    )


def check_dependence(M: Floats, X: Any, T: Floats) -> None:
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
