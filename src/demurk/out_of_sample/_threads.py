"""How many threads the matrix products of a fit may use."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from joblib import effective_n_jobs

from demurk.utils._threads import blas_threads

__all__ = ["matrix_threads"]

# Below so many rows a second thread waits longer than it works: with other processes
# on the machine, eigenvectors of 500 rows took 30 times longer on two threads.
ROWS_PER_THREAD = 1500


def matrix_threads(n_rows, n_jobs):
    """Limit the threads of matrix products while a ``with`` block runs.

    Parameters
    ----------
    n_rows : int
        Rows of the matrices.
    n_jobs : int or None
        Threads the user allows; None means 1.

    Returns
    -------
    context : context manager
        One thread for small matrices, `n_jobs` for large ones.
    """
    allowed = effective_n_jobs(n_jobs)
    return blas_threads(allowed if n_rows > ROWS_PER_THREAD else 1)
