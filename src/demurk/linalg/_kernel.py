"""Gaussian kernels, their widths, and features whose products they are."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from demurk.linalg._rows import CenteredRows

__all__ = [
    "gaussian",
    "gaussian_blocks",
    "gaussian_of",
    "gaussian_product",
    "gaussian_root",
    "mean_distance",
    "mean_root",
    "mean_squared_distance",
    "nystroem_map",
    "squared_distances",
]

Floats = NDArray[np.float64]

ALL_PAIRS_ROWS = 400
N_PAIRS = 100_000
# Numbers of a kernel that are held at a time.
CHUNK_NUMBERS = 2**22
# Added to the diagonal of a kernel, so that it has a Cholesky factor.
JITTER = 1e-8


def mean_squared_distance(X: Any) -> float:
    """Mean squared distance between two different rows, exactly, in O(n D)."""
    return float(CenteredRows(X).squares().sum()) * 2 / (X.shape[0] - 1)


def mean_distance(X: Any, rng: np.random.RandomState) -> float:
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
        Exact with up to 400 rows.
    """
    n = X.shape[0]
    if n <= ALL_PAIRS_ROWS:
        return mean_root(squared_distances(X))
    first = rng.randint(n, size=N_PAIRS)
    second = (first + rng.randint(1, n, size=N_PAIRS)) % n
    parts = np.array_split(np.arange(N_PAIRS), max(1, N_PAIRS * X.shape[1] // 2**24))
    total = sum(row_norms(X[first[p]] - X[second[p]]).sum() for p in parts)
    return float(total / N_PAIRS)


def squared_distances(A: Any, B: Any = None) -> Floats:
    """Squared distances between rows, in float64, zero on the diagonal if B is None."""
    A = A.astype(np.float64, copy=False)
    B = None if B is None else B.astype(np.float64, copy=False)
    distances: Floats = euclidean_distances(A, B, squared=True)
    return distances


def mean_root(squared: Floats) -> float:
    """Mean distance between two different rows, from all squared distances."""
    n = len(squared)
    batches = gen_batches(n, max(1, CHUNK_NUMBERS // n))
    total = sum(np.sqrt(squared[batch]).sum() for batch in batches)
    return float(total / max(n * (n - 1), 1))


def gaussian_of(squared: Floats, gamma: float) -> Floats:
    """``exp(-gamma squared)``, in the place of `squared`."""
    squared *= -gamma
    return np.exp(squared, out=squared)


def gaussian(X: Any, centers: Any, gamma: float) -> Floats:
    """Kernel ``exp(-gamma |x - c|^2)`` between rows, (n, m)."""
    return gaussian_of(squared_distances(X, centers), gamma)


def gaussian_blocks(X: Any, centers: Any, gamma: float) -> Iterator[Floats]:
    """The same, some rows of X at a time."""
    for rows in gen_batches(X.shape[0], max(1, CHUNK_NUMBERS // centers.shape[0])):
        yield gaussian(X[rows], centers, gamma)


def gaussian_product(X: Any, centers: Any, gamma: float, coef: Floats) -> Floats:
    """The kernel times coefficients of the centres, without forming it, (n, t)."""
    blocks = gaussian_blocks(X, centers, gamma)
    return np.concatenate([block @ coef for block in blocks])


def gaussian_root(centers: Any, gamma: float) -> Floats:
    """Upper triangular R with ``R'R`` the kernel of the centres."""
    kernel = gaussian(centers, centers, gamma)
    kernel[np.diag_indices_from(kernel)] = 1.0 + JITTER
    root: Floats = cholesky(kernel)
    return root


def nystroem_map(kernel: Floats) -> Floats:
    """A matrix that makes features of kernel rows, from the kernel of the landmarks.

    Products of ``k(x)' map`` approximate the kernel, and are exact on the landmarks.
    """
    values, vectors = eigh(kernel, check_finite=False)
    kept = values > 1e-10 * values[-1]
    return vectors[:, kept] / np.sqrt(values[kept])
