"""Shrinkage, and the loop of the alternating direction method of multipliers."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from contextlib import contextmanager

import numpy as np
from scipy.linalg import svd

__all__ = ["admm", "shrink_singular_values", "soft_threshold"]


def soft_threshold(values, amount):
    """Move every entry towards zero by `amount`, and no further than zero."""
    return np.sign(values) * np.maximum(np.abs(values) - amount, 0)


def shrink_singular_values(matrix, amount):
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
def silent(name):
    """A stage that reports to nobody; stands in for that of `fit_progress`."""
    yield lambda attributes=None: False


def admm(
    step,
    *,
    penalty=1.0,
    growth=1.0,
    max_penalty=1e10,
    settled=np.inf,
    tol=1e-6,
    max_iter=500,
    stage=silent,
    learned=None,
):
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
        Largest number of steps.
    stage : callable, default=silent
        Reports each step, see `fit_progress`.
    learned : callable, default=None
        Gives the attributes of the half-fitted model to the report.

    Returns
    -------
    residuals : ndarray of shape (n_iter, 2)
        Primal and dual residual of every step.
    """
    residuals, stopped = [], False
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
