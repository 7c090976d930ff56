"""Kernel ridge regression with closed-form leave-one-out scores."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from sklearn.base import BaseEstimator
from sklearn.metrics.pairwise import manhattan_distances
from sklearn.utils import check_random_state, gen_batches

from demurk.linalg._kernel import CHUNK_NUMBERS, nystroem_map, squared_distances
from demurk.utils._rows import as_rows

__all__ = ["LeaveOneOutKernelRidge", "leave_one_out_residuals"]

# A kernel is exp(-gamma d) with one of these as d.
DISTANCES = {"gaussian": squared_distances, "laplacian": manhattan_distances}


@dataclass(frozen=True)
class Basis:
    """Eigenvectors of a centred kernel, and the way back to kernel columns."""

    vectors: np.ndarray  # (n, r), orthonormal columns
    values: np.ndarray  # (r,)
    lift: np.ndarray  # (anchors, r)
    center: np.ndarray  # (anchors,), mean kernel row
    weights: np.ndarray  # (n,), how often each row counts

    @property
    def roots(self):
        """What rows of kernel and targets are multiplied with, (n, 1)."""
        return np.sqrt(self.weights)[:, np.newaxis]


class LeaveOneOutKernelRidge(BaseEstimator):
    """Kernel ridge regression, tuned by its leave-one-out error.

    Parameters
    ----------
    kernel : {"gaussian", "laplacian"}, default="gaussian"
        ``exp(-gamma d)`` with d the squared distance, or the sum of the absolute
        differences, which single far features disturb less.
    widths : sequence of float, default=(0.1, 0.25, 0.5, 1, 2, 4)
        Candidates for gamma, as multiples of one over the median of d.
    ridges : sequence of float, default=None
        Candidates for the penalty, as multiples of the mean eigenvalue of the centred
        kernel; None for 19 logarithmic steps from 1e-3 to 1e3.
    per_label : bool, default=False
        Whether each label has its own penalty. One for all labels is the safer choice
        in a stack: the best of 19 penalties per label makes the leave-one-out score
        optimistic.
    max_exact : int, default=3000
        Above so many rows the kernel is approximated (Nystroem).
    n_landmarks : int, default=2000
        Landmarks of the approximation.
    selection_rows : int, default=1000
        Above so many rows the kernel width is chosen on a random part of them.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks.

    Attributes
    ----------
    gamma_ : float
        Kernel coefficient.
    width_ : float
        The same as one of `widths`.
    ridge_ : ndarray of shape (n_labels,)
        Penalty of each label.
    anchors_ : {ndarray, csr_array} of shape (n_anchors, n_features)
        Rows the kernel is taken with: all, or the landmarks.
    dual_coef_ : ndarray of shape (n_anchors, n_labels)
        Coefficients of the kernel columns.
    intercept_ : ndarray of shape (n_labels,)
        Unpenalised intercept.

    Notes
    -----
    With the centred kernel ``U diag(s) U'``, label means m and ``f = s / (s + l)``, the
    residual of a model that never saw row i is
    ``(y - m - U f U'(y - m))_i / (1 - h_i)`` with ``h_i = sum_k U_ik^2 f_k + 1/n``.
    With weights, rows of kernel and targets are multiplied with their roots, and the
    whole weight of row i is left out.

    Time O(n^2 D + n^3) per width and O(n^2 q) per penalty, memory O(n^2), with n the
    labelled rows; with m landmarks O(n D m + n m^2) and O(n m).
    """

    def __init__(
        self,
        *,
        kernel="gaussian",
        widths=(0.1, 0.25, 0.5, 1.0, 2.0, 4.0),
        ridges=None,
        per_label=False,
        max_exact=3000,
        n_landmarks=2000,
        selection_rows=1000,
        random_state=None,
    ):
        self.kernel = kernel
        self.widths = widths
        self.ridges = ridges
        self.per_label = per_label
        self.max_exact = max_exact
        self.n_landmarks = n_landmarks
        self.selection_rows = selection_rows
        self.random_state = random_state

    def fit_out_of_sample(self, X, Y, observed, weights=None):
        """Choose width and penalty, and fit.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n_samples, n_features)
            Features, at least two rows.
        Y : ndarray of shape (n_samples, n_labels)
            Complete targets.
        observed : ndarray of bool of shape (n_samples, n_labels)
            Entries whose errors count.
        weights : ndarray of shape (n_samples,), default=None
            How often each row counts, more than zero.

        Returns
        -------
        out_of_sample : ndarray of shape (n_samples, n_labels)
            Leave-one-out scores.
        """
        rng = check_random_state(self.random_state)
        X = as_rows(X)
        n_rows = X.shape[0]
        weights = np.ones(n_rows) if weights is None else weights
        n_part = self.selection_rows
        unit = 1 / self._median_distance(X, n_part, rng)
        candidates = [unit * width for width in self.widths]
        if len(candidates) > 1 and n_rows > n_part:
            part = rng.choice(n_rows, n_part, replace=False)
            rows = X[part], Y[part], observed[part], weights[part]
            self._search(*rows, candidates, part.size, rng)
            candidates = [self.gamma_]
        rows = X, Y, observed, weights
        out_of_sample = self._search(*rows, candidates, self.max_exact, rng)
        self.width_ = self.gamma_ / unit
        return out_of_sample

    def _search(self, X, Y, observed, weights, gammas, max_exact, rng):
        """Fit every width; keep the best by the leave-one-out squared error."""
        best, out_of_sample = np.inf, None
        means = np.average(Y, axis=0, weights=weights)
        counts = observed * weights[:, np.newaxis]
        exact = X.shape[0] <= max_exact
        anchors = X if exact else X[self._landmarks(X.shape[0], rng)]
        distances = self._distances(X, anchors)
        for gamma in gammas:
            kernel = np.exp(-gamma * distances)
            if exact:
                basis = _exact_basis(kernel, weights)
            else:
                own = np.exp(-gamma * self._distances(anchors))
                basis = _nystroem(kernel, own, weights)
            ridges = _mean_eigenvalue(basis) * self._ridge_steps()
            errors = np.array(
                [
                    (counts * residuals**2).sum(axis=0)
                    for residuals in leave_one_out_residuals(basis, Y - means, ridges)
                ]
            )
            if not self.per_label:
                errors = np.broadcast_to(errors.sum(axis=1)[:, None], errors.shape)
            error = errors.min(axis=0).sum()
            if error < best:
                best = error
                self.gamma_, self.ridge_ = gamma, ridges[errors.argmin(axis=0)]
                out_of_sample = self._solve(basis, Y, means)
        self.anchors_ = anchors
        return out_of_sample

    def _distances(self, X, anchors=None):
        return DISTANCES[self.kernel](X, anchors)

    def _median_distance(self, X, n_part, rng):
        """Median over pairs of different rows; 1 if more than half coincide."""
        if X.shape[0] > n_part:
            X = X[rng.choice(X.shape[0], n_part, replace=False)]
        distances = self._distances(X)
        median = np.median(distances[~np.tri(X.shape[0], dtype=bool)])
        return median if median > 0 else 1.0

    def _landmarks(self, n_rows, rng):
        return rng.choice(n_rows, min(self.n_landmarks, n_rows), replace=False)

    def _ridge_steps(self):
        return np.logspace(-3, 3, 19) if self.ridges is None else np.array(self.ridges)

    def _solve(self, basis, Y, means):
        projected = basis.vectors.T @ (basis.roots * (Y - means))
        weights = projected / (basis.values[:, None] + self.ridge_)
        self.dual_coef_ = basis.lift @ weights
        self.intercept_ = means - basis.center @ self.dual_coef_
        residuals = np.empty_like(Y)
        for ridge in np.unique(self.ridge_):
            same = self.ridge_ == ridge
            (residuals[:, same],) = leave_one_out_residuals(
                basis, Y[:, same] - means[same], [ridge]
            )
        return Y - residuals

    def predict(self, X):
        """Scores of new rows.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels)
            Values of the regression.
        """
        X = as_rows(X)
        step = max(1, CHUNK_NUMBERS // self.anchors_.shape[0])
        blocks = [
            np.exp(-self.gamma_ * self._distances(X[rows], self.anchors_))
            @ self.dual_coef_
            for rows in gen_batches(X.shape[0], step)
        ]
        return np.concatenate(blocks) + self.intercept_


def leave_one_out_residuals(basis, Y, ridges):
    """Residuals of models that never saw the row, for several penalties.

    Parameters
    ----------
    basis : Basis
        Eigenvectors and eigenvalues of the centred kernel.
    Y : ndarray of shape (n_samples, n_labels)
        Centred targets.
    ridges : array-like of float
        Penalties.

    Yields
    ------
    residuals : ndarray of shape (n_samples, n_labels)
        For one penalty.
    """
    vectors, values = basis.vectors, basis.values
    roots = basis.roots
    projected = vectors.T @ (roots * Y)
    shrinks = values[:, None] / (values[:, None] + np.asarray(ridges))
    shares = basis.weights / basis.weights.sum()
    # All at once: the squares are read from memory but once.
    leverages = vectors**2 @ shrinks + shares[:, None]
    for shrink, leverage in zip(shrinks.T, leverages.T):
        fitted = vectors @ (shrink[:, None] * projected) / roots
        yield (Y - fitted) / (1 - leverage)[:, None]


def _mean_eigenvalue(basis):
    mean = basis.values.sum() / basis.weights.sum()
    return mean if mean > 0 else 1.0  # all rows coincide: any penalty will do


def _exact_basis(kernel, weights):
    shares, roots = weights / weights.sum(), np.sqrt(weights)
    center = shares @ kernel
    centered = kernel - center - center[:, None] + shares @ center
    centered *= roots
    centered *= roots[:, None]
    # Divide and conquer: faster for all eigenvectors, at the price of memory O(n^2).
    values, vectors = eigh(centered, overwrite_a=True, check_finite=False, driver="evd")
    lift = roots[:, None] * vectors
    return Basis(vectors, np.maximum(values, 0), lift, center, weights)


def _nystroem(kernel, own, weights):
    """The same from the kernel with landmarks, (n, m), and that of them, (m, m)."""
    to_features = nystroem_map(own)
    center = weights @ kernel / weights.sum()
    features = (kernel - center) @ to_features * np.sqrt(weights)[:, None]
    values, rotation = eigh(features.T @ features, check_finite=False, driver="evd")
    kept = values > 1e-10 * max(values[-1], 1e-300)
    values, rotation = values[kept], rotation[:, kept]
    vectors = features @ (rotation / np.sqrt(values))
    lift = to_features @ (rotation * np.sqrt(values))
    return Basis(vectors, values, lift, center, weights)
