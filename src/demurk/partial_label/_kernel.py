"""Gaussian kernel ridge regression on confidences, shared by SURE and PL-AGGD.

Targets P of shape (n, q) are fitted with a free intercept. With H the centring, K the
kernel matrix and r the penalty, the dual coefficients solve (H K H + r I) A = H P, and
the fitted values are simply P - r A. One Cholesky factor serves all targets.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral, Real

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.utils import check_random_state

from demurk.linalg import project_simplex
from demurk.linalg._kernel import (
    gaussian_of,
    gaussian_product,
    mean_root,
    nystroem_map,
    squared_distances,
)
from demurk.linalg._ridge import CenteredRidge
from demurk.partial_label._base import CandidateClassifier, DecisionMixin
from demurk.utils._compat import Interval

__all__ = ["KERNEL_CONSTRAINTS", "KernelCandidateClassifier", "fit_kernel_ridge"]

# Beyond so many rows a dense kernel matrix is 800 MB and its factor takes minutes.
MAX_KERNEL_ROWS = 10_000
DEFAULT_LANDMARKS = 1000

KERNEL_CONSTRAINTS: dict = {
    "reg": [Interval(Real, 0, None, closed="neither")],
    "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
    "n_landmarks": [Interval(Integral, 1, MAX_KERNEL_ROWS, closed="both"), None],
    "random_state": ["random_state"],
}


def fit_kernel_ridge(X, reg, *, bandwidth=None, n_landmarks=None, random_state=None):
    """Prepare a kernel ridge regression for targets that will change.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Features.
    reg : float
        Penalty on the squared norm of the regression function.
    bandwidth : float, default=None
        The kernel is ``exp(-d^2 / (2 bandwidth^2))``; None takes the mean distance
        between two different centres.
    n_landmarks : int, default=None
        Number of rows that serve as centres of the kernel, drawn at random. None takes
        all of up to 10,000 rows, and 1,000 of more.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    ridge : ExactRidge or NystroemRidge
        Object with `fitted(targets)`, `solution(targets)`, `centers` and `bandwidth`.
    """
    n = X.shape[0]
    if n_landmarks is None:
        n_landmarks = n if n <= MAX_KERNEL_ROWS else DEFAULT_LANDMARKS
    centers = X
    if n_landmarks < n:
        rng = check_random_state(random_state)
        centers = X[np.sort(rng.permutation(n)[:n_landmarks])]
    squared = squared_distances(centers)
    bandwidth = (mean_root(squared) or 1.0) if bandwidth is None else bandwidth
    kernel = gaussian_of(squared, gamma_of(bandwidth))
    if centers is X:
        return ExactRidge(centers, kernel, bandwidth, reg)
    return NystroemRidge(X, centers, kernel, bandwidth, reg)


class ExactRidge:
    """All rows are centres."""

    def __init__(self, centers, kernel, bandwidth, reg):
        self.centers, self.bandwidth, self.reg = centers, bandwidth, reg
        self.kernel_mean = kernel.mean(axis=0)
        kernel -= self.kernel_mean
        kernel -= (self.kernel_mean - self.kernel_mean.mean())[:, None]
        kernel.flat[:: len(kernel) + 1] += reg
        # The transpose is in Fortran's order, so that the factor takes its place.
        self.factor = cho_factor(kernel.T, lower=True, overwrite_a=True)

    def _dual(self, targets):
        centered = targets - targets.mean(axis=0)
        return cho_solve(self.factor, centered, check_finite=False)

    def fitted(self, targets):
        """Values of the regression at the training samples."""
        return targets - self.reg * self._dual(targets)

    def solution(self, targets):
        """Weights of the centres and intercepts."""
        dual = self._dual(targets)
        return dual, targets.mean(axis=0) - self.kernel_mean @ dual


class NystroemRidge:
    """Regression on features that reproduce the kernel among a few centres."""

    def __init__(self, X, centers, kernel, bandwidth, reg):
        self.centers, self.bandwidth = centers, bandwidth
        self.map = nystroem_map(kernel)
        features = gaussian_product(X, centers, gamma_of(bandwidth), self.map)
        self.ridge = CenteredRidge(features, reg)

    def fitted(self, targets):
        """Values of the regression at the training samples."""
        return self.ridge.fitted(*self.ridge.solve(targets))

    def solution(self, targets):
        """Weights of the centres and intercepts."""
        coef, intercept = self.ridge.solve(targets)
        return self.map @ coef.T, intercept


def gamma_of(bandwidth):
    """The factor of the squared distance that a width stands for."""
    return 0.5 / bandwidth**2


class KernelCandidateClassifier(DecisionMixin, CandidateClassifier):
    """Base of the methods whose model is a kernel ridge regression.

    A method has the parameters of `KERNEL_CONSTRAINTS`.
    """

    def _ridge(self, X):
        return fit_kernel_ridge(
            X,
            self.reg,
            bandwidth=self.bandwidth,
            n_landmarks=self.n_landmarks,
            random_state=self.random_state,
        )

    def _learned(self, ridge, confidences, n_iter):
        """Fitted attributes that belong to some confidences."""
        dual, intercept = ridge.solution(confidences)
        return {
            "dual_coef_": dual,
            "intercept_": intercept,
            "_centers": ridge.centers,
            "bandwidth_": float(ridge.bandwidth),
            "label_distributions_": confidences,
            "labels_": self.classes_[confidences.argmax(axis=1)],
            "n_iter_": n_iter,
        }

    def _scores(self, X):
        gamma = gamma_of(self.bandwidth_)
        scores = gaussian_product(X, self._centers, gamma, self.dual_coef_)
        return scores + self.intercept_

    def _probabilities(self, scores):
        # The nearest distribution, as the confidences are found in training.
        return project_simplex(scores, self._possible)
