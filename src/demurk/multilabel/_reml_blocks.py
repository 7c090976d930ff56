"""The blocks of REML: a model of low rank, and a second one for rare labels.

The objective, in the principal axes Z of the centred features and for centred labels Y,
is

    |Y - ZAB - ZH|^2 + lambda_1 |H|^2 + lambda_2 (|A|^2 + |B|^2) + lambda_3 |ZH|_1.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, svd

from demurk.linalg._admm import admm, soft_threshold

__all__ = ["HeadAndTail"]


class HeadAndTail:
    """Blocks A, B and H of the model, in the principal axes of X.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        Features in principal axes.
    squares : ndarray of shape (p,)
        Diagonal of Z'Z.
    Y : ndarray of shape (n, q)
        Centred labels.
    rank : int
        Columns of A.
    weights : tuple of float
        lambda_1, lambda_2 and lambda_3.
    """

    def __init__(self, Z, squares, Y, rank, weights):
        self.Z, self.squares, self.Y = Z, squares[:, np.newaxis], Y
        self.l1, self.l2, self.l3 = weights
        self.cross = Z.T @ Y
        left, values, right = svd(
            self.cross / (self.squares + self.l2), full_matrices=False
        )
        root = np.sqrt(values[:rank])
        self.A, self.B = left[:, :rank] * root, root[:, np.newaxis] * right[:rank]
        self.H = np.zeros_like(self.cross)
        self.ZH = self.P = self.T = np.zeros_like(Y)

    def sweep(self):
        """Update every block once."""
        self.update_right()
        self.update_left()
        self.update_tail()

    def update_right(self):
        """Exact B: Z'(Y - ZH) is all that A needs of the labels."""
        A, rest = self.A, self.cross - self.squares * self.H
        gram = A.T @ (self.squares * A) + self.l2 * np.eye(A.shape[1])
        self.B = cho_solve(cho_factor(gram), A.T @ rest)

    def update_left(self):
        """Exact A, in the eigenvectors of BB'."""
        values, Q = eigh(self.B @ self.B.T)
        right = (self.cross - self.squares * self.H) @ (self.B.T @ Q)
        self.A = right / (self.squares * values + self.l2) @ Q.T

    def update_tail(self, tol=1e-5, max_iter=10):
        """H by alternating directions with the copy P of ZH, kept if it is better.

        P and the multiplier T live on, so that a few steps a round are enough.

        Returns
        -------
        residuals : ndarray of shape (n_steps, 2)
            Relative primal and dual residual of every step.
        """
        rest = self.Y - self.Z @ (self.A @ self.B)
        size = max(np.linalg.norm(rest), 1e-300)
        old = self.H, self.ZH

        def step(rho):
            before = self.P
            blend = (2 * rest + rho * (self.ZH - self.T)) / (2 + rho)
            self.P = soft_threshold(blend, self.l3 / (2 + rho))
            right = 0.5 * rho * (self.Z.T @ (self.P + self.T))
            self.H = right / (0.5 * rho * self.squares + self.l1)
            self.ZH = self.Z @ self.H
            gap = self.P - self.ZH
            self.T = self.T + gap
            moved = rho * np.linalg.norm(self.P - before)
            return np.linalg.norm(gap) / size, moved / size

        before = self._tail_value(rest)
        residuals = admm(step, settled=tol, tol=tol, max_iter=max_iter)
        if self._tail_value(rest) > before:
            self.H, self.ZH = old
        return residuals

    def _tail_value(self, rest):
        fit = np.sum((rest - self.ZH) ** 2) + self.l3 * np.abs(self.ZH).sum()
        return fit + self.l1 * np.vdot(self.H, self.H)

    def objective(self):
        """Value of the objective."""
        head = self._tail_value(self.Y - self.Z @ (self.A @ self.B))
        sizes = np.vdot(self.A, self.A) + np.vdot(self.B, self.B)
        return float(head + self.l2 * sizes)
