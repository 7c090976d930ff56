"""Places for samples that were not there when the map was made.

The map is a table, one row per training sample. A new sample is placed between its
neighbours ("harmonic", "nystroem"), or by a regression of the coordinates on the
features ("linear", "kernel").
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular
from sklearn.linear_model import Ridge
from sklearn.utils import check_random_state

from demurk.linalg._kernel import (
    gaussian_blocks,
    gaussian_root,
    mean_squared_distance,
)

__all__ = [
    "fit_kernel_map",
    "fit_linear_map",
    "known_places",
    "neighbor_average",
]

# Of the regressions, relative to the size of a feature or of the kernel.
LINEAR_RIDGE = 1e-3
KERNEL_RIDGE = 1e-2
MAX_LANDMARKS = 2000
# Below, a coordinate that hardly follows the graph would be blown up.
MIN_EIGENVALUE = 1e-3


def neighbor_average(graph, places, eigenvalues=None):
    """Mean of the places of the neighbours.

    Parameters
    ----------
    graph : NeighborGraph
        Neighbours of the new samples among the training samples.
    places : ndarray of shape (n, m)
        Coordinates of the training samples.
    eigenvalues : ndarray of shape (m,), default=None
        Cost of each coordinate. Given, the mean is divided by one minus the cost,
        which makes up for the shrinking that averages cause (Nystroem).

    Returns
    -------
    Z : ndarray of shape (n_queries, m)
        Coordinates; the origin for a sample without neighbours.
    """
    counts = np.diff(graph.distances.indptr)
    Z = graph.connectivity @ places.astype(np.float64, copy=False)
    Z /= np.maximum(counts, 1)[:, None]
    if eigenvalues is not None:
        Z /= np.maximum(1.0 - eigenvalues, MIN_EIGENVALUE)
    known, at = known_places(graph, places)
    Z[known] = at
    return Z


def known_places(graph, places):
    """Places of queries that are training samples.

    Parameters
    ----------
    graph : NeighborGraph
        Neighbours of the queries among the training samples.
    places : ndarray of shape (n, m)
        What the training samples have.

    Returns
    -------
    known : ndarray of int of shape (n_known,)
        Queries at distance 0 from a training sample.
    at : ndarray of shape (n_known, m)
        The place of that sample, or the mean if several lie there.
    """
    same = graph.distances.copy()
    same.data = (same.data == 0).astype(np.float64)
    counts = np.asarray(same.sum(axis=1)).ravel()
    known = np.flatnonzero(counts)
    return known, (same[known] @ places) / counts[known, None]


def fit_linear_map(X, Z, weight):
    """Ridge regression of the coordinates on the features.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Features.
    Z : ndarray of shape (n, m)
        Coordinates.
    weight : ndarray of shape (n,)
        Weight of each sample.

    Returns
    -------
    coef : ndarray of shape (m, d)
        Coefficients.
    intercept : ndarray of shape (m,)
        Constant terms.
    """
    size = mean_squared_distance(X) / (2 * X.shape[1])
    ridge = LINEAR_RIDGE * X.shape[0] * size
    weight = weight / weight.mean()
    model = Ridge(alpha=ridge or 1.0).fit(X, Z, sample_weight=weight)
    return model.coef_, model.intercept_


def fit_kernel_map(X, Z, weight, gamma, random_state=0):
    """Kernel ridge regression of the coordinates, with at most 2000 landmarks.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Features.
    Z : ndarray of shape (n, m)
        Coordinates.
    weight : ndarray of shape (n,)
        Weight of each sample.
    gamma : float
        Inverse width of the kernel.
    random_state : int, RandomState instance or None, default=0
        Draws the landmarks.

    Returns
    -------
    landmarks : ndarray of int of shape (r,)
        The rows of X the kernel is taken with. With all of them this is plain
        weighted kernel ridge regression.
    coef : ndarray of shape (r, m)
        Coefficients.

    Notes
    -----
    Time O(n r^2 + r^3) for r landmarks, memory O(r^2 + n).
    """
    n = X.shape[0]
    rng = check_random_state(random_state)
    r = min(n, MAX_LANDMARKS)
    landmarks = np.arange(n) if r == n else np.sort(rng.permutation(n)[:r])
    centers = X[landmarks]
    weight = weight / weight.mean()
    R = gaussian_root(centers, gamma)
    gram, cross = KERNEL_RIDGE * np.eye(r), np.zeros((r, Z.shape[1]))
    start = 0
    for block in gaussian_blocks(X, centers, gamma):
        # Features whose products are the kernel.
        phi = solve_triangular(R, block.T, trans="T")
        batch = slice(start, start + len(block))
        weighted, start = phi * weight[batch], batch.stop
        gram += weighted @ phi.T
        cross += weighted @ Z[batch]
    coef = solve_triangular(R, cho_solve(cho_factor(gram), cross))
    return landmarks, coef
