"""Spread labels over a graph until they no longer change."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_array

from demurk.graph._affinity import (
    check_weights,
    inverse_sqrt,
    row_sums,
    scale_symmetric,
)
from demurk.linalg import block_cg

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Propagation:
    """What `propagate` found.

    Parameters
    ----------
    values : ndarray of shape (n, c)
        Soft labels.
    reached : ndarray of shape (n,)
        Whether a row is connected with any labelled row. Soft labels of the others
        are 0 because nothing is known of them.
    n_iter : int
        Iterations of the linear solver.

    See Also
    --------
    propagate : Finds it.

    Examples
    --------
    >>> from demurk.graph import propagate
    >>> result = propagate([[0, 1], [1, 0]], [[1.0], [0.0]], [0.0, 0.5])
    >>> result.values
    array([[1. ],
           [0.5]])
    >>> result.reached
    array([ True,  True])
    """

    values: NDArray[np.float64]
    reached: NDArray[np.bool_]
    n_iter: int


def propagate(
    W: Any,
    Y: Any,
    alpha: Any,
    *,
    labeled: Any = None,
    start: Any = None,
    tol: float = 1e-10,
    max_iter: int = 1000,
) -> Propagation:
    """Let every node take up a share of its neighbours' mean label.

    Solves ``F = alpha * (T @ F) + (1 - alpha) * Y``, where T averages over the
    neighbours: the rows of ``D**-1/2 @ W @ D**-1/2``, with D the degrees of W, divided
    by their sums.

    Parameters
    ----------
    W : sparse matrix of shape (n, n)
        Symmetric non-negative weights, as from `affinity`.
    Y : array-like of shape (n, c)
        Given labels; 0 where nothing is given.
    alpha : float or array-like of shape (n,) or (n, c)
        Share taken from the neighbours, in [0, 1). 0 keeps the given label. Nodes
        without edges have nobody to listen to and keep theirs too.
    labeled : array-like of bool of shape (n,) or (n, c), default=None
        Which rows or entries of `Y` are given; None for all. An entry that is given
        as 0 is information, one that is not given is none.
    start : array-like of shape (n, c), default=None
        First guess of the solution, for instance that of a similar problem.
    tol : float, default=1e-10
        Relative residual at which the solver stops. The default holds soft labels
        within 1e-8 of the exact solution also where alpha is 0.999.
    max_iter : int, default=1000
        Most iterations of the solver.

    Returns
    -------
    Propagation
        Soft labels `values`, which rows were `reached`, and `n_iter`. Components of
        the graph without any given label (in a column) are 0 (in that column).

    See Also
    --------
    affinity : Weights of a neighbour graph.

    Notes
    -----
    With Wt = D^-1/2 W D^-1/2, Dt its row sums and S = (alpha / Dt)^1/2, the system is
    ``(I - S Wt S) G = S (Dt (1/alpha - 1) Y + Wt Y_kept), F = S G``, symmetric and
    positive definite with a condition of at most (1 + alpha) / (1 - alpha). Where
    alpha is 0, S is 0 and the node drops out. Conjugate gradients run on all columns
    together, in O(nnz(W) c) time an iteration: some 20 to 50 iterations where labels
    lie everywhere, a few hundred where large parts of the graph are far from any.
    Memory is O(nnz(W) + n c). With `alpha` of shape (n, c) the systems of the
    columns differ, but share the product with Wt.

    If `Y` lies in [0, 1], so do the soft labels.

    Examples
    --------
    >>> from demurk.graph import affinity, nearest_neighbors, propagate
    >>> W = affinity(nearest_neighbors([[0.0], [1.0], [2.0], [3.0]], 1))
    >>> Y = [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0]]
    >>> propagate(W, Y, [0.0, 0.5, 0.5, 0.0]).values.round(4)
    array([[1.    , 0.    ],
           [0.306 , 0.0634],
           [0.0634, 0.306 ],
           [0.    , 1.    ]])
    """
    W = check_weights(W)
    Y, alpha, labeled, start = _check_labels(W.shape[0], Y, alpha, labeled, start)
    Wt = scale_symmetric(W, inverse_sqrt(row_sums(W)))
    del W  # of many rows each copy of the graph counts
    Wt.eliminate_zeros()
    sums = row_sums(Wt)[:, None]

    informed = _informed(Wt, labeled)
    free = informed & (alpha > 0) & (sums > 0)
    # Each column of these three is one column of Y, or one serves all.
    scale = np.sqrt(np.divide(alpha, sums, out=np.zeros(free.shape), where=free))
    inverse = np.divide(1.0, scale, out=np.zeros(free.shape), where=free)
    rhs = (inverse * (1 - alpha)) * Y
    if not free.all():
        rhs += scale * (Wt @ np.where(free, 0.0, Y))
    system = _system(Wt, scale)
    del Wt
    guess, n_iter = block_cg(
        system,
        rhs,
        # Unit diagonals, but (n, c) of them: each column has a system of its own.
        diagonal=None if scale.shape[1] == 1 else np.ones(Y.shape),
        start=None if start is None else inverse * start,
        tol=tol,
        max_iter=max_iter,
    )
    values = np.where(free, scale * guess, Y)
    if Y.size and Y.min() >= 0 and Y.max() <= 1:
        values = np.clip(values, 0.0, 1.0, out=values)
    reached = np.asarray(informed.any(axis=1))
    return Propagation(values, reached, n_iter)


class _PerColumn:
    """I - diag(s) Wt diag(s) with a vector s for each column."""

    def __init__(self, Wt: csr_array, scale: Floats) -> None:
        self.Wt, self.scale = Wt, scale

    def __matmul__(self, block: Floats) -> Floats:
        product: Floats = self.Wt @ (self.scale * block)
        product *= self.scale
        return np.subtract(block, product, out=product)


class _Shared:
    """I - M for one sparse matrix M."""

    def __init__(self, M: csr_array) -> None:
        self.M = M

    def __matmul__(self, block: Floats) -> Floats:
        product: Floats = self.M @ block
        return np.subtract(block, product, out=product)


def _system(Wt: csr_array, scale: Floats) -> _PerColumn | _Shared:
    if scale.shape[1] > 1:
        return _PerColumn(Wt, scale)
    M = scale_symmetric(Wt, scale[:, 0])
    if not scale.all():
        M.eliminate_zeros()
    return _Shared(M)


def _informed(Wt: csr_array, labeled: Mask) -> Mask:
    """Whether a node's component holds a label, in one column or for each."""
    n_components, component = connected_components(Wt, connection="weak")
    rows, columns = np.nonzero(labeled)
    holds = np.zeros((n_components, labeled.shape[1]), dtype=bool)
    holds[component[rows], columns] = True
    informed: Mask = holds[component]
    return informed


def _check_labels(
    n: int, Y: Any, alpha: Any, labeled: Any, start: Any
) -> tuple[Floats, Floats, Mask, Floats | None]:
    """Validate, and give `alpha` and `labeled` two dimensions with 1 or c columns."""
    Y = check_array(Y, dtype=np.float64, input_name="Y")
    if Y.shape[0] != n:
        raise ValueError(f"Y has {Y.shape[0]} rows, but W has {n}.")
    alpha = _columns("alpha", np.asarray(alpha, dtype=np.float64), Y.shape)
    bad = ~((alpha >= 0) & (alpha < 1))
    if bad.any():
        row = int(np.nonzero(bad)[0][0])
        raise ValueError(
            f"alpha must lie in [0, 1), got {alpha[row][bad[row]][0]} in row {row}."
        )
    given = np.asarray(True if labeled is None else labeled, dtype=bool)
    given = _columns("labeled", given, Y.shape)
    stray = (Y != 0) & ~given
    if stray.any():
        row = int(np.nonzero(stray)[0][0])
        raise ValueError(
            f"Y must be 0 where it is not labelled, got {Y[row][stray[row]][0]} in row "
            f"{row}."
        )
    if start is not None:
        start = check_array(start, dtype=np.float64, input_name="start")
        if start.shape != Y.shape:
            raise ValueError(f"start must have shape {Y.shape}, got {start.shape}.")
    return Y, alpha, given, start


def _columns(name: str, values: NDArray[Any], shape: tuple[int, int]) -> NDArray[Any]:
    if values.ndim == 0:
        values = np.full(shape[0], values)
    if values.shape not in (shape, shape[:1]):
        raise ValueError(
            f"{name} must have shape {shape[:1]} or {shape}, got {values.shape}."
        )
    return values[:, None] if values.ndim == 1 else values
