"""Gaussians of the classes, each row judged by those of other rows."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.special import softmax

__all__ = ["gaussian_proba"]

N_FOLDS = 5
# How much of the scatter of each class is that of all classes, and how far densities
# are trusted: features that depend on each other are counted twice.
COMMON = (0.05, 0.2, 0.5, 0.8)
SHARPNESS = (1.0, 0.5, 0.25, 0.12, 0.06)
# Added to the common scatter, in units of its mean eigenvalue.
RIDGE = 0.02
# Log-density of a class that no other row has.
NEVER = -1e9


def gaussian_proba(X, Y, weights, rng):
    """Out-of-fold probabilities of regularised quadratic discriminant analysis.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features.
    Y : ndarray of shape (n_samples, n_classes)
        Given classes, one 1 in each row.
    weights : ndarray of shape (n_samples,) or None
        How often each row counts, more than zero.
    rng : RandomState
        Draws the folds.

    Returns
    -------
    proba : ndarray of shape (n_samples, n_classes)
        Rows sum to one.

    Notes
    -----
    The share of the common scatter, and the power of the densities, are those with the
    least squared error. With D features time O(n D^2 q + q D^3), memory O(n q + D^2).
    """
    n_rows = len(Y)
    weights = np.ones(n_rows) if weights is None else weights
    fold = rng.permutation(n_rows) % N_FOLDS
    least, best, densities = np.inf, None, np.empty(Y.shape)
    for share in COMMON:
        for k in np.unique(fold):
            told, judged = fold != k, fold == k
            rows = X[told], Y[told], weights[told]
            densities[judged] = _log_densities(*rows, X[judged], share)
        for power in SHARPNESS:
            proba = softmax(power * densities, axis=1)
            error = weights @ ((proba - Y) ** 2).sum(axis=1)
            if error < least:
                least, best = error, proba
    return best


def _log_densities(X, Y, weights, judged, share):
    """Log of frequency times density, up to a constant, (judged rows, classes)."""
    n_features, n_classes = X.shape[1], Y.shape[1]
    given = Y.argmax(axis=1)
    mass = np.bincount(given, weights, n_classes)
    centers = (Y.T * weights) @ X / np.maximum(mass, 1e-300)[:, np.newaxis]
    inside = (X - centers[given]) * np.sqrt(weights)[:, np.newaxis]
    common = inside.T @ inside / weights.sum()
    ridge = max(RIDGE * np.trace(common) / n_features, 1e-12)
    common += ridge * np.eye(n_features)
    found = np.full((len(judged), n_classes), NEVER)
    for c in np.flatnonzero(mass):
        own = inside[given == c]
        scatter = (1 - share) * (own.T @ own) / mass[c] + share * common
        root = cholesky(scatter, lower=True)
        away = solve_triangular(root, (judged - centers[c]).T, lower=True)
        size = np.log(np.diag(root)).sum()
        found[:, c] = np.log(mass[c]) - size - (away**2).sum(axis=0) / 2
    return found
