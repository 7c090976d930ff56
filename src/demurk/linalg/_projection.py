"""Directions of largest dependence between features and targets."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cholesky, qr, solve_triangular, svd
from scipy.linalg.lapack import dlange, dpocon

from demurk.linalg._eigen import flip_signs

Floats = NDArray[np.float64]
FloatType = type[np.float32] | type[np.float64]

EPS = float(np.finfo(np.float64).eps)
NORMALIZATIONS = ("metric", "unit", "orthogonal")


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
    dtype = output_dtype(M)
    M = M.astype(np.float64, copy=False)
    if metric is None:
        directions, eigenvalues = leading(M, n_components, rank_tol)
    else:
        B = np.asarray(metric, dtype=np.float64)
        if B.shape != (M.shape[0], M.shape[0]):
            raise ValueError(
                f"metric has shape {B.shape}; M has {M.shape[0]} rows, so it should "
                f"be {(M.shape[0], M.shape[0])}."
            )
        L = factor(B)
        if L is None:
            raise singular_metric()
        directions, eigenvalues = leading_in_metric(M, L, n_components, rank_tol)
    return finish(directions, eigenvalues, n_components, normalize, dtype)


def leading(
    G: Floats, n_components: int | None, rank_tol: float
) -> tuple[Floats, Floats]:
    """Leading eigenvectors (in columns) and eigenvalues of ``G G'``."""
    n_features, n_targets = G.shape
    if n_targets > n_features:
        # Only left singular vectors are wanted: a triangular factor has the same.
        G = qr(G.T, mode="r")[0][:n_features].T
    U, s, _ = svd(G, full_matrices=False)
    if s.size == 0 or s[0] == 0.0:
        raise no_dependence()
    eigenvalues = s**2
    rank = int(np.count_nonzero(eigenvalues > rank_tol * eigenvalues[0]))
    d = rank if n_components is None else min(n_components, rank)
    return U[:, :d], eigenvalues[:d]


def leading_in_metric(
    M: Floats, L: Floats, n_components: int | None, rank_tol: float
) -> tuple[Floats, Floats]:
    """Leading generalised eigenvectors of ``(M M', L L')``, of metric norm one."""
    G = solve_triangular(L, M, lower=True)
    U, eigenvalues = leading(G, n_components, rank_tol)
    return solve_triangular(L, U, lower=True, trans="T"), eigenvalues


def factor(B: Floats, min_rcond: float = EPS) -> Floats | None:
    """Cholesky factor, or None where B is singular or too close to it.

    The closeness is that of B scaled to a unit diagonal, since neither the rank nor
    the accuracy of the factor depends on the units of the features.
    """
    diagonal = B.diagonal()
    if not (diagonal > 0.0).all():
        return None
    scale = np.sqrt(diagonal)
    scaled = B / scale
    scaled /= scale[:, None]
    scaled = scaled.T  # symmetric, and in the order that LAPACK takes without a copy
    norm = dlange("1", scaled)
    try:
        L = cholesky(scaled, lower=True, overwrite_a=True)
    except LinAlgError:
        return None
    rcond, _ = dpocon(L, norm, uplo="L")
    if rcond < min_rcond:
        return None
    L *= scale[:, None]
    return L


def finish(
    directions: Floats,
    eigenvalues: Floats,
    n_components: int | None,
    normalize: str,
    dtype: FloatType,
) -> Projection:
    """Scale the directions (columns), fix their signs, and say if there are fewer."""
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
    return Projection(components.astype(dtype, copy=False), eigenvalues)


def check_options(n_components: int | None, normalize: str) -> None:
    """Refuse options that no form of the problem knows."""
    if n_components is not None and (
        not isinstance(n_components, Integral) or n_components < 1
    ):
        raise ValueError(f"n_components is {n_components!r}; give None or an int >= 1.")
    if normalize not in NORMALIZATIONS:
        raise ValueError(
            f"normalize is {normalize!r}; it should be one of {NORMALIZATIONS}."
        )


def output_dtype(array: Any) -> FloatType:
    """float32 for float32 input, float64 for anything else."""
    return np.float32 if array.dtype == np.float32 else np.float64


def no_dependence() -> ValueError:
    """Error for a problem whose matrix A is zero."""
    return ValueError(
        "There is no direction to find: the labels are constant, or do not depend "
        "linearly on X."
    )


def singular_metric() -> ValueError:
    """Error for a matrix B that is not positive definite."""
    return ValueError(
        "The metric is singular to working precision; a larger ridge on its diagonal "
        "would make it positive definite."
    )
