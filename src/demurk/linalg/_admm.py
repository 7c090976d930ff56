"""Shrinkage, and the loop of the alternating direction method of multipliers."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

__all__ = ["admm", "shrink_singular_values", "soft_threshold"]

Floats = NDArray[np.float64]


def soft_threshold(values: Floats, amount: float) -> Floats:
    """Move every entry towards zero by `amount`, and no further than zero."""
    moved: Floats = np.sign(values) * np.maximum(np.abs(values) - amount, 0)
    return moved


def shrink_singular_values(matrix: Floats, amount: float) -> tuple[Floats, Floats]:
    """Move every singular value towards zero by `amount`, and no further.

    Parameters
    ----------
    matrix : ndarray of shape (n, m)
        Matrix.
    amount : float
        How far.

    Returns
    -------
    shrunk : ndarray of shape (n, m)
        Minimiser of ``|A - matrix|^2 / 2 + amount * nuclear norm of A``.
    values : ndarray of shape (rank,)
        Its positive singular values.

    Notes
    -----
    Time O(n m min(n, m)).
    """
    left, values, right = svd(matrix, full_matrices=False, check_finite=False)
    values = values - amount
    rank = np.count_nonzero(values > 0)
    values = values[:rank]
    return (left[:, :rank] * values) @ right[:rank], values


@contextmanager
def silent(name: str) -> Iterator[Callable[..., bool]]:
    """A stage that reports to nobody."""
    yield lambda attributes=None: False


def admm(
    step: Callable[[float], tuple[float, float]],
    *,
    penalty: float = 1.0,
    growth: float = 1.0,
    max_penalty: float = 1e10,
    settled: float = np.inf,
    tol: float = 1e-6,
    max_iter: int = 500,
    stage: Callable[[str], Any] = silent,
    learned: Callable[[], Any] | None = None,
) -> Floats:
    """Repeat a step of alternating directions until its residuals are small.

    Parameters
    ----------
    step : callable
        ``step(penalty)`` updates all blocks and the multipliers, and returns two
        relative residuals: how far the copies differ (primal), and how far the
        blocks moved, in units of the multipliers (dual).
    penalty : float, default=1.0
        First weight of the augmented term.
    growth : float, default=1.0
        Factor of the weight after a step.
    max_penalty : float, default=1e10
        Largest weight.
    settled : float, default=inf
        The weight grows, and the loop may end, only when the dual residual is below
        this; infinity looks at the primal residual alone.
    tol : float, default=1e-6
        Primal residual at which the loop ends.
    max_iter : int, default=500
        Largest number of iterations.
    stage : callable, default=silent
        ``with stage("iteration") as done:`` opens the report of a step, which ends
        with ``done(learned)``; True asks to stop.
    learned : callable, default=None
        Gives what has been learned so far to the report.

    Returns
    -------
    residuals : ndarray of shape (n_iter, 2)
        Primal and dual residual of every step.
    """
    residuals: list[tuple[float, float]] = []
    stopped = False
    while not stopped and len(residuals) < max_iter:
        with stage("iteration") as done:
            primal, dual = step(penalty)
            residuals.append((primal, dual))
            stopped = done(learned)
        is_settled = dual < settled
        stopped = stopped or (is_settled and primal < tol)
        if is_settled:
            penalty = min(growth * penalty, max_penalty)
    return np.array(residuals)
