"""Label propagation on a device."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings

import torch
from sklearn.exceptions import ConvergenceWarning

from demurk.device._graph import connected_parts
from demurk.graph import Propagation

__all__ = ["block_cg", "propagate"]


def propagate(weights, Y, alpha, labeled, *, tol=1e-10, max_iter=1000):
    """Solve ``F = alpha * (T @ F) + (1 - alpha) * Y``.

    Parameters
    ----------
    weights : Weights
        Symmetric weights W; T averages over the neighbours.
    Y : Tensor of shape (n, c), float64
        Given labels, 0 where nothing is given.
    alpha : Tensor of shape (n, 1) or (n, c), float64
        Share taken from the neighbours.
    labeled : Tensor of bool of the shape of `alpha`
        What is given.
    tol, max_iter : float, int
        Of the solver.

    Returns
    -------
    result : demurk.graph.Propagation
        Soft labels and which rows a label reaches, as tensors, and the steps taken.

    See Also
    --------
    demurk.graph.propagate : The same in memory, with the reasons.
    """
    degree = weights.sums()
    Wt = weights.scaled(_reciprocal(degree.sqrt()))
    sums = Wt.sums()[:, None]
    informed = _informed(Wt, labeled)
    free = informed & (alpha > 0) & (sums > 0)
    scale = torch.where(free, (alpha * _reciprocal(sums)).sqrt(), 0.0)
    inverse = _reciprocal(scale)
    rhs = (inverse * (1 - alpha)) * Y
    if not bool(free.all()):
        rhs += scale * (Wt @ torch.where(free, 0.0, Y))
    shared = scale.shape[1] == 1
    M = Wt.scaled(scale[:, 0]) if shared else None

    def product(block):
        return block - (M @ block if shared else scale * (Wt @ (scale * block)))

    guess, n_iter = block_cg(product, rhs, tol=tol, max_iter=max_iter)
    values = torch.where(free, scale * guess, Y)
    low, high = (limit.item() for limit in Y.aminmax())
    if low >= 0 and high <= 1:
        values.clamp_(0.0, 1.0)
    return Propagation(values, informed.any(dim=1), n_iter)


def _reciprocal(values):
    """1 / values, and 0 where a value is 0."""
    return torch.where(values > 0, 1 / values, 0.0)


def _informed(Wt, labeled):
    """Whether a node's part of the graph holds a label, for each column."""
    part = connected_parts(Wt.rows, Wt.columns, Wt.n)
    holds = torch.zeros_like(labeled, dtype=torch.int32)
    holds.index_add_(0, part, labeled.to(torch.int32))
    return holds[part] > 0


def block_cg(product, rhs, *, tol=1e-10, max_iter=1000):
    """Conjugate gradients on all columns at once, each with its own steps.

    Parameters
    ----------
    product : callable
        Symmetric positive definite operator with a unit diagonal, given (n, c) blocks.
    rhs : Tensor of shape (n, c), float64
        Right-hand sides.
    tol : float, default=1e-10
        A column has converged when its residual norm is at most `tol` times the norm
        of its right-hand side.
    max_iter : int, default=1000
        Most steps; a warning is issued when some column needs more.

    Returns
    -------
    solution : Tensor of shape (n, c)
        The solution.
    n_iter : int
        Steps of the slowest column.
    """
    limits = tol * rhs.norm(dim=0)
    x, r = torch.zeros_like(rhs), rhs.clone()
    p = r.clone()
    squares = (r * r).sum(dim=0)
    active = squares.sqrt() > limits
    n_iter = 0
    while bool(active.any()) and n_iter < max_iter:
        direction = product(p)
        # Columns that have converged stay in place: their step is zero.
        step = torch.where(active, squares / (p * direction).sum(dim=0), 0.0)
        x.addcmul_(p, step)
        r.addcmul_(direction, step, value=-1)
        before, squares = squares, (r * r).sum(dim=0)
        active &= squares.sqrt() > limits
        p.mul_(torch.where(active, squares / before, 0.0)).add_(r)
        n_iter += 1
    if bool(active.any()):
        warnings.warn(
            f"Conjugate gradients left {int(active.sum())} of {rhs.shape[1]} columns "
            f"unfinished after {n_iter} iterations; raise max_iter, or tol if less "
            "accuracy will do.",
            ConvergenceWarning,
            stacklevel=3,
        )
    return x, n_iter
