"""Frequencies of labels, with or without the row they are for."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

__all__ = ["label_means", "leave_one_out_means"]


def label_means(Y, observed, weights=None):
    """Frequency of each label among its observed entries.

    Parameters
    ----------
    Y, observed : ndarray of shape (n_samples, n_labels)
        Labels, and which of them were observed.
    weights : ndarray of shape (n_samples,), default=None
        How often each row counts.

    Returns
    -------
    means : ndarray of shape (n_labels,)
        A label that was never observed gets the mean over all labels.
    """
    mass, values = _counted(Y, observed, weights)
    counts, sums = mass.sum(axis=0), values.sum(axis=0)
    overall = _share(sums.sum(), counts.sum())
    return np.where(counts > 0, _share(sums, counts), overall)


def _counted(Y, observed, weights):
    """How often each entry counts, and so many times its value."""
    values = np.where(observed, Y, 0.0)
    if weights is None:
        return observed, values
    return observed * weights[:, np.newaxis], values * weights[:, np.newaxis]


def _share(part, whole):
    return part / np.where(whole > 0, whole, 1)


def leave_one_out_means(Y, observed, weights=None):
    """Frequency of each label among the other rows, for every entry.

    Parameters
    ----------
    Y, observed : ndarray of shape (n_samples, n_labels)
        Labels, and which of them were observed.
    weights : ndarray of shape (n_samples,), default=None
        How often each row counts.

    Returns
    -------
    means : ndarray of shape (n_samples, n_labels)
        Entry (i, j) is the mean of label j over the observed rows other than i; where
        there is no other row, the mean over all labels.
    """
    mass, values = _counted(Y, observed, weights)
    others = mass.sum(axis=0) - mass
    overall = _share(values.sum(), mass.sum())
    means = _share(values.sum(axis=0) - values, others)
    # What rounding leaves of no other row is none.
    return np.where(others > 1e-12 * mass.sum(axis=0), means, overall)
