"""Sums of rows by group, the one operation that all models here are made of."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy import sparse

__all__ = ["grouping"]


def grouping(groups, n_groups):
    """A sparse matrix whose product with values is their sum by group.

    Parameters
    ----------
    groups : ndarray of int of shape (n,)
        Group of each entry.
    n_groups : int
        How many there are.

    Returns
    -------
    matrix : csr_array of shape (n_groups, n)
        Of ones and zeros, float64.
    """
    order = np.argsort(groups, kind="stable")
    pointers = np.concatenate([[0], np.cumsum(np.bincount(groups, minlength=n_groups))])
    ones = np.ones(len(groups))
    return sparse.csr_array((ones, order, pointers), shape=(n_groups, len(groups)))
