"""What tasks hand to methods: features as numbers, and two parts of a data set."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, issparse

__all__ = ["Split", "dense"]


@dataclass(frozen=True)
class Split:
    """Training and test part of a data set.

    Attributes
    ----------
    X_train, X_test : {ndarray, csr_array} of shape (n_rows, n_features)
        Features.
    Y_train, Y_test : ndarray of shape (n_rows, n_labels)
        True labels.
    given : ndarray of shape (n_train, n_labels) or None
        What methods are told instead of the true labels of the training part: spoiled
        labels with -1 where there are none, or candidates.
    """

    X_train: np.ndarray | csr_array
    Y_train: np.ndarray
    X_test: np.ndarray | csr_array
    Y_test: np.ndarray
    given: np.ndarray | None = None


def dense(X):
    """Features as an array of float64."""
    return np.asarray(X.toarray() if issparse(X) else X, dtype=np.float64)
