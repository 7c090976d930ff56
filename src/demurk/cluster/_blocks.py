"""The rows of a dask array or data frame as blocks that a task can read."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from sklearn.utils import check_array

from demurk.utils._optional import import_optional
from demurk.utils._rows import check_magnitudes

__all__ = ["Blocks", "as_array", "delayed", "is_dask", "is_frame", "read", "sample"]


def is_dask(X):
    """Whether X is a collection of Dask."""
    return type(X).__module__.partition(".")[0] == "dask"


def is_frame(X):
    """Whether X is a dask data frame."""
    return is_dask(X) and hasattr(X, "columns")


def delayed(thing):
    """What Dask makes of a function, or of what one is given; each call is a task."""
    return import_optional("dask", "dask").delayed(thing, pure=False)


def sample(X, dtype=None):
    """Two rows that look like X; a dtype is for arrays."""
    if is_frame(X):
        return X._meta_nonempty
    _check_dimensions(X)
    return np.zeros((2, X.shape[1]), dtype=X.dtype if dtype is None else dtype)


def _check_dimensions(X):
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions; it should have rows and columns.")


def as_array(X):
    """A dask array of two dimensions, chunked by rows only, of known lengths.

    Parameters
    ----------
    X : dask array or dask data frame
        Rows. Where the lengths of chunks are not known, as after a filter or of a
        file, they are counted.

    Returns
    -------
    X : dask array of shape (n_samples, n_features)
        Of float32 if all of X is, else of float64.
    """
    da = import_optional("dask.array", "dask")
    if is_frame(X):
        single = all(kind == np.float32 for kind in X.dtypes)
        X = X.to_dask_array(lengths=True)
    elif not isinstance(X, da.Array):
        raise TypeError(
            f"X is a {type(X).__module__}.{type(X).__name__}, which has no rows and "
            "columns; give a dask array or a dask data frame."
        )
    else:
        single = X.dtype == np.float32
    _check_dimensions(X)
    if np.isnan(X.shape[1]):
        raise ValueError(
            "The number of columns of X is not known; make the array with its shape."
        )
    if np.isnan(X.shape[0]):
        # On a copy: lengths are written into the array.
        X = da.Array(X.dask, X.name, X.chunks, meta=X._meta).compute_chunk_sizes()
    if X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    return X.astype(np.float32 if single else np.float64)


class Blocks:
    """Blocks of rows, those without rows left out.

    Parameters
    ----------
    X : dask array of shape (n_samples, n_features)
        From `as_array`.

    Attributes
    ----------
    parts : list
        What `read` reads, one for each block.
    starts, sizes : ndarray of shape (n_blocks,)
        First row and number of rows of each.
    """

    def __init__(self, X):
        sizes = np.array(X.chunks[0], dtype=np.intp)
        starts = np.cumsum(sizes) - sizes
        kept = np.flatnonzero(sizes)
        self.sizes, self.starts = sizes[kept], starts[kept]
        if _in_workers(X):
            parts = X.to_delayed().ravel()
            self.parts = [parts[number] for number in kept]
        else:
            self.parts = [_Block(X.blocks[int(number)], number) for number in kept]

    def __len__(self):
        return len(self.parts)

    def slices(self):
        """Rows of each block."""
        return [slice(a, a + n) for a, n in zip(self.starts, self.sizes)]


class _Block:
    """A block that a task reads by itself.

    As a dependency, Dask would keep each block, and copies of it, until the last task
    that needs it is done; to read it again costs little beside comparing two blocks.
    """

    def __init__(self, part, number):
        dask = import_optional("dask", "dask")
        self.part, self.number = dask.optimize(part)[0], number

    def read(self):
        return self.part.compute(scheduler="synchronous")


def read(part):
    """Checked rows of a block, in the memory of who calls."""
    number = getattr(part, "number", None)
    rows = part.read() if isinstance(part, _Block) else part
    try:
        rows = check_array(rows, dtype=[np.float64, np.float32], order="C")
        check_magnitudes(rows)
    except ValueError as error:
        if number is None:
            raise
        raise ValueError(f"Chunk {number} of X: {error}") from error
    return rows


def _in_workers(X):
    """Whether the rows are in the memory of workers already, after `persist`."""
    try:
        from distributed.client import futures_of
    except ImportError:
        return False
    return bool(futures_of(X))
