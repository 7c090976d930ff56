"""Entries of a label matrix: probabilities handed over, and corrections."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from sklearn.utils import check_array

__all__ = ["check_proba", "corrected_classes", "corrected_values"]


def check_proba(proba, labels):
    """Probabilities of the user, one per entry; 0 where nothing was observed.

    Parameters
    ----------
    proba : array-like of shape (n_samples, n_labels)
        Probabilities.
    labels : LabelData
        The labels they are for.

    Returns
    -------
    proba : ndarray of shape (n_samples, n_labels)
        The same, checked.
    """
    proba = check_array(proba, dtype=np.float64, ensure_all_finite=False)
    if proba.shape != labels.values.shape:
        raise ValueError(
            f"proba has shape {proba.shape}, but the labels have shape "
            f"{labels.values.shape}: give one probability per entry."
        )
    wrong = labels.observed & ~((proba >= 0) & (proba <= 1))
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"proba is {proba[row, column]} at row {row}, column {column}, where a "
            "label is given: every probability lies between 0 and 1."
        )
    return np.where(labels.observed, proba, 0.0)


def corrected_values(labels, wrong, threshold):
    """Labels after the correction of what is probably wrong.

    Parameters
    ----------
    labels : LabelData
        The labels as given.
    wrong : ndarray of shape (n_samples, n_labels)
        Probability of each entry to be wrong; NaN where nothing was observed.
    threshold : float
        Entries above it are changed.

    Returns
    -------
    values : ndarray of shape (n_samples, n_labels), bool
        The new labels.
    """
    _check_threshold(threshold)
    return (labels.values > 0) ^ (np.nan_to_num(wrong) > threshold)


def corrected_classes(labels, wrong, suggested, threshold):
    """One class per sample after the correction of what is probably wrong.

    Parameters
    ----------
    labels : LabelData
        The classes as given.
    wrong : ndarray of shape (n_samples,)
        Probability of each class to be wrong; NaN where none was given.
    suggested : ndarray of int of shape (n_samples,)
        The class to give instead.
    threshold : float
        Rows above it are changed.

    Returns
    -------
    values : ndarray of shape (n_samples, n_labels), bool
        The new classes.
    """
    _check_threshold(threshold)
    rows = np.flatnonzero(np.nan_to_num(wrong) > threshold)
    cleaned = labels.values > 0
    cleaned[rows] = False
    cleaned[rows, suggested[rows]] = True
    return cleaned


def _check_threshold(threshold):
    if not 0 <= threshold <= 1:
        raise ValueError(
            f"threshold is {threshold}; give a probability between 0 and 1."
        )
