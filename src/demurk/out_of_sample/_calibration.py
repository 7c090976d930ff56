"""Stacking scores; label frequency and evidence on one scale."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls

from demurk.out_of_sample._means import leave_one_out_means

__all__ = ["calibrate", "entry_weights", "fit_calibration", "stack_weights"]

# How far stack weights and calibration coefficients stray from where they start, in
# standard deviations of a Gaussian prior, and which share of the way weights go back;
# chosen once on four data sets.
WEIGHT_SPREAD, WAY_BACK = 0.2, 0.5
COEFFICIENT_SPREAD = 0.5
COEFFICIENT_START = np.array([1.5, 1.0])
COEFFICIENT_FLOOR = 0.05


def stack_weights(
    out_of_sample,
    Y,
    observed,
    weights=None,
    *,
    start=None,
    spread=WEIGHT_SPREAD,
    way_back=WAY_BACK,
):
    """Weights of the members of a stack, from their out-of-sample scores.

    Parameters
    ----------
    out_of_sample : sequence of K ndarrays of shape (n_samples, n_labels)
        Scores of every row that were made without this row.
    Y, observed : ndarray of shape (n_samples, n_labels)
        Noisy labels, and which of them were observed.
    weights : ndarray of shape (n_samples,), default=None
        How often each row counts.
    start : ndarray of shape (K,), default=None
        Weights that nothing speaks against, with sum one; None for equal ones.
    spread, way_back : float, default=0.2, 0.5
        How far they stray from there, and which share of the way they go back.

    Returns
    -------
    weights : ndarray of shape (K,)
        Non-negative, with sum one.

    Notes
    -----
    What a member says beyond the label frequency is regressed on what the labels say
    beyond it: non-negative least squares with a Gaussian prior around the start, then
    part of the way back to it. If flips depend neither on the row nor on the label,
    noisy labels are an affine function of the true ones on average, so this squared
    error ranks the members as the true labels would.
    """
    n_members = len(out_of_sample)
    start = np.full(n_members, 1 / n_members) if start is None else start
    means = leave_one_out_means(Y, observed, weights)
    evidence = np.column_stack([(scores - means)[observed] for scores in out_of_sample])
    target = (Y - means)[observed]
    mass, root = entry_weights(observed, weights)
    evidence, target = evidence * root[:, np.newaxis], target * root
    average = evidence @ start
    energy = average @ average
    if energy <= 1e-12 * mass:
        return start
    slope = np.clip(average @ target / energy, 0.3, 2.0)
    variance = np.sum((target - slope * average) ** 2) / mass
    strength = variance / spread**2
    # A tiny ridge keeps the factorisation alive where members agree exactly.
    ridge = max(strength, 1e-10 * energy)
    gram = evidence.T @ evidence + ridge * np.eye(n_members)
    factor = cholesky(gram, lower=True)
    right = evidence.T @ target + ridge * slope * start
    weights, _ = nnls(factor.T, solve_triangular(factor, right, lower=True))
    total = weights.sum()
    if total <= 0:
        return start
    return (1 - way_back) * weights / total + way_back * start


def entry_weights(observed, weights):
    """How often the observed entries count in all, and the root of it for each.

    Parameters
    ----------
    observed : ndarray of bool of shape (n_samples, n_labels)
        Which entries were observed.
    weights : ndarray of shape (n_samples,) or None
        How often each row counts.

    Returns
    -------
    mass : float
        Sum over the entries.
    roots : ndarray of shape (n_entries,)
        What to multiply a residual with before it is squared.
    """
    if weights is None:
        n_entries = np.count_nonzero(observed)
        return n_entries, np.ones(n_entries)
    each = np.broadcast_to(weights[:, np.newaxis], observed.shape)[observed]
    return each.sum(), np.sqrt(each)


def fit_calibration(scores, Y, observed, weights=None):
    """Two coefficients that weigh label frequency against the evidence of a row.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-sample scores of the stack.
    Y, observed : ndarray of shape (n_samples, n_labels)
        Noisy labels, and which of them were observed.
    weights : ndarray of shape (n_samples,), default=None
        How often each row counts.

    Returns
    -------
    calibration : dict
        "evidence" and "frequency" are the coefficients, "mean" is the mean of all
        observed entries.

    Notes
    -----
    One regression over all entries, with a Gaussian prior around 1.5 and 1. Members
    shrink what they see, so "evidence" is usually above 1; frequencies of noisy labels
    scatter, so "frequency" is usually below.
    """
    means = leave_one_out_means(Y, observed, weights)
    mass, root = entry_weights(observed, weights)
    mean = root**2 @ Y[observed] / mass
    evidence = (scores - means)[observed]
    frequency = means[observed] - root**2 @ means[observed] / mass
    design = np.column_stack([evidence, frequency]) * root[:, np.newaxis]
    target = (Y[observed] - mean) * root
    # Not the residual of the free fit: where all labels are equally frequent, the means
    # without a row mirror its own label and leave none.
    variance = np.sum((target - design @ COEFFICIENT_START) ** 2) / mass
    strength = max(variance, 1e-12) / COEFFICIENT_SPREAD**2
    coefficients = np.linalg.solve(
        design.T @ design + strength * np.eye(2),
        design.T @ target + strength * COEFFICIENT_START,
    )
    coefficients = np.maximum(coefficients, COEFFICIENT_FLOOR)
    return {
        "evidence": float(coefficients[0]),
        "frequency": float(coefficients[1]),
        "mean": float(mean),
    }


def calibrate(scores, means, calibration):
    """Apply a calibration.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Scores of the stack.
    means : ndarray of shape (n_labels,) or (n_samples, n_labels)
        Label frequencies; those without the own row for out-of-sample scores.
    calibration : dict
        From `fit_calibration`.

    Returns
    -------
    scores : ndarray of shape (n_samples, n_labels)
        Scores that rank, on the scale of the noisy labels.
    """
    mean = calibration["mean"]
    return (
        mean
        + calibration["evidence"] * (scores - means)
        + calibration["frequency"] * (means - mean)
    )
