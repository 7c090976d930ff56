"""Gaussian kernels, and the typical distances of a data set that set their widths."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.linalg import cholesky
from scipy.sparse import issparse
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel
from sklearn.utils.extmath import row_norms

__all__ = [
    "gaussian",
    "gaussian_root",
    "mean_distance",
    "mean_squared_distance",
    "neighbor_squares",
]

ALL_PAIRS_ROWS = 400
N_PAIRS = 100_000
# Added to the diagonal of a kernel, so that it has a Cholesky factor.
JITTER = 1e-8


def mean_squared_distance(X):
    """Mean squared distance between two different rows, exactly, in O(n D)."""
    n = X.shape[0]
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    if issparse(X):
        spread = row_norms(X, squared=True).mean(dtype=np.float64) - mean @ mean
    else:
        # Centred first: no digits are lost to an offset.
        spread = np.square(X - mean, dtype=np.float64).sum() / n
    return max(float(spread), 0.0) * 2 * n / (n - 1)


def mean_distance(X, rng):
    """Mean distance between two different rows.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        At least two rows.
    rng : RandomState
        Draws 100,000 pairs where there are more than 400 rows.

    Returns
    -------
    mean : float
        The mean.
    """
    n = X.shape[0]
    if n <= ALL_PAIRS_ROWS:
        distances = euclidean_distances(X)
        np.fill_diagonal(distances, 0.0)
        return float(distances.sum(dtype=np.float64) / (n * (n - 1)))
    first = rng.randint(n, size=N_PAIRS)
    second = (first + rng.randint(1, n, size=N_PAIRS)) % n
    parts = np.array_split(np.arange(N_PAIRS), max(1, N_PAIRS * X.shape[1] // 2**24))
    total = sum(row_norms(X[first[p]] - X[second[p]]).sum() for p in parts)
    return float(total / N_PAIRS)


def neighbor_squares(graph, which=0):
    """Squared distances of all points to their neighbour number `which` (or last)."""
    distances = graph.distances
    counts = np.diff(distances.indptr)
    has = counts > 0
    at = distances.indptr[:-1][has] + np.minimum(counts[has] - 1, which)
    return distances.data[at].astype(np.float64) ** 2


def gaussian(X, centers, gamma):
    """Kernel ``exp(-gamma * distance ** 2)`` in float64."""
    X, centers = X.astype(np.float64, copy=False), centers.astype(np.float64)
    return rbf_kernel(X, centers, gamma=gamma)


def gaussian_root(centers, gamma):
    """Upper triangle R such that R'R is the kernel of the centres with themselves."""
    kernel = gaussian(centers, centers, gamma)
    kernel[np.diag_indices_from(kernel)] = 1.0 + JITTER
    return cholesky(kernel)
