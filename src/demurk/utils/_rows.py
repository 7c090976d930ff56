"""Features as every method may take them: canonical, of a size that can be squared."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from mmap import mmap
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

__all__ = [
    "BLOCK_BYTES",
    "as_rows",
    "canonical",
    "check_magnitudes",
    "far_origin",
    "mapped",
    "narrow_indices",
]

# Squares of distances and sums of them over any table must stay below the largest
# number of the type: 1e70 of 1e308 in double precision, 1e30 of 3e38 in single. Trees
# hold all features in single precision, which ends at 3e38, so that more room in double
# precision would be of no use.
LARGEST = {8: 1e35, 4: 1e15}
# How many times its spread a table may lie from zero. At 100 times a penalty on the
# intercept hides the labels; real tables that have not been scaled lie below 30.
FAR = 100.0
# Rows that lie in a file are taken in blocks of this size where they would be copied.
BLOCK_BYTES = 128 * 2**20


def canonical(X: Any) -> Any:
    """A sparse X with sorted indices, each once, in 32 bits where they fit.

    What was handed in is neither changed nor, where something had to be moved, shared:
    scipy's products and slices sort the indices of their operands in place.
    """
    if not issparse(X):
        return X
    # A new object knows nothing of what the old one believed about its order.
    fresh = type(X)((X.data, X.indices, X.indptr), shape=X.shape)
    if not fresh.has_canonical_format:
        fresh = fresh.copy()
        fresh.sum_duplicates()
    return narrow_indices(fresh)


def narrow_indices(X: Any) -> Any:
    """Indices of a sparse X in 32 bits where they fit; trees take no others."""
    if not issparse(X) or X.indices.dtype == np.int32:
        return X
    if max(*X.shape, X.nnz) > np.iinfo(np.int32).max:
        return X
    parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return type(X)(parts, shape=X.shape)


def mapped(X: Any) -> bool:
    """Whether dense rows lie in a file, and are more than one block."""
    if issparse(X) or X.nbytes <= BLOCK_BYTES:
        return False
    while isinstance(X, np.ndarray):
        X = X.base
    return isinstance(X, mmap)


def check_magnitudes(X: Any, names: Any = None) -> None:
    """Refuse numbers whose squares could overflow; `names` are those of the columns."""
    values = X.data if issparse(X) else X
    if not values.size:
        return
    limit = LARGEST.get(values.dtype.itemsize, LARGEST[8])
    if -limit <= values.min() and values.max() <= limit:
        return
    if issparse(X):
        place = int(np.argmax(np.abs(values)))
        row = int(np.searchsorted(X.indptr, place, side="right")) - 1
        column, value = int(X.indices[place]), values[place]
    else:
        row, column = np.unravel_index(np.argmax(np.abs(X)), X.shape)
        value = X[row, column]
    name = column if names is None else repr(str(names[column]))
    raise ValueError(
        f"Column {name} of X holds {value:.3g} in row {row}, too large to be squared "
        f"safely in {values.dtype}: divide the column so that no magnitude is above "
        f"{limit:.0e}."
    )


def far_origin(X: Any) -> Any:
    """Mean of dense rows that lie far from zero, as rows go apart; else None."""
    if issparse(X):  # zeros are where most of it lies
        return None
    mean = X.mean(axis=0, dtype=np.float64)
    square = np.einsum("ij,ij->", X, X, dtype=np.float64) / len(X)
    if square <= (1 + FAR**2) * (square - mean @ mean):
        return None
    return mean if (X != X[0]).any() else None  # equal rows have no spread to lose


def as_rows(X):
    """Features in float64, sparse ones as csr_array."""
    if issparse(X):
        return csr_array(X, dtype=np.float64)
    return np.asarray(X, dtype=np.float64)
