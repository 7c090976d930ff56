"""What the other labels of a row say about one of its labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, inv
from sklearn.utils import gen_batches

from demurk.audit._noise_model import SMALLEST_SPREAD, fit_noise, standardized
from demurk.out_of_sample import label_means

__all__ = ["OtherLabels", "add_other_labels", "mirror"]

# Penalties per row; the last one shuts the other labels out.
PENALTIES = np.append(np.logspace(-2, 1, 7), 1e9)
SMALLEST_DEVIATION = 0.1
# Beyond so many, only the labels that vary most are looked at.
MAX_LABELS = 200
# Entries of a block of labels that are judged at once.
BLOCK_ENTRIES = 2**22


@dataclass(frozen=True)
class OtherLabels:
    """Scores that use the other given labels, and how much each label counts.

    Attributes
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Out-of-sample scores; made without the entry itself.
    coefs : ndarray of shape (n_labels, n_labels)
        Entry (k, j) is what label k, when given, adds to the score of label j. Zero
        where the other labels do not help.
    """

    scores: np.ndarray
    coefs: np.ndarray


def mirror(Y, means, n_rows):
    """Undo the mirror image of a row's own label in a leave-one-out mean.

    Parameters
    ----------
    Y : ndarray of shape (n_samples, n_labels)
        Labels.
    means : ndarray of shape (n_labels,)
        Their means over all rows.
    n_rows : int or ndarray that goes with Y
        Rows behind the means; with weights, in units of the own one.

    Returns
    -------
    correction : ndarray of shape (n_samples, n_labels)
        What to add to leave-one-out scores.

    Notes
    -----
    The mean without row i falls when y_i rises. Where a label cannot be predicted, its
    leave-one-out score is that mean, and whatever is fitted to it would read the own
    label back, perfectly.
    """
    return (Y - means) / np.maximum(n_rows - 1, 1)


def add_other_labels(P, Y, observed, weights=None):
    """Add the other given labels of a row to the evidence for each label.

    Parameters
    ----------
    P : ndarray of shape (n_samples, n_labels)
        Out-of-sample scores from the features.
    Y, observed : ndarray of shape (n_samples, n_labels)
        Given labels, and which of them were observed.
    weights : ndarray of shape (n_samples,), default=None
        How often each row counts.

    Returns
    -------
    OtherLabels
        Scores and coefficients; a label keeps its column of `P` unless the new one
        predicts it better.

    Notes
    -----
    Per label a ridge regression on the out-of-sample score (penalty 1) and the others,
    with closed-form leave-one-out residuals, whose squares choose the penalty. An entry
    that was not observed counts as its label's mean. Time O(n q^2 + q^3) for all labels
    that were observed in every row, and as much for each of the others.
    """
    n_labels = Y.shape[1]
    scores, coefs = P.copy(), np.zeros((n_labels, n_labels))
    if n_labels < 2:
        return OtherLabels(scores, coefs)
    weights = np.ones(len(Y)) if weights is None else weights
    means = label_means(Y, observed, weights)
    centered = np.where(observed, Y - means, 0.0)
    spread = np.maximum(centered.std(axis=0), SMALLEST_DEVIATION)
    others = np.sort(np.argsort(-centered.var(axis=0), kind="stable")[:MAX_LABELS])
    B = centered / spread
    varying = (observed & (Y != means)).any(axis=0)
    whole = observed.all(axis=0)
    together = np.flatnonzero(varying & whole)
    if together.size:
        residuals, found = _whole_labels(P, centered, B, others, together, weights)
        times = (weights.sum() / weights)[:, np.newaxis]
        given = Y[:, together]
        scores[:, together] = given - residuals + mirror(given, means[together], times)
        coefs[np.ix_(others, together)] = found / spread[others][:, np.newaxis]
    for j in np.flatnonzero(varying & ~whole):
        rows = observed[:, j]
        used = others[others != j]
        part = B[np.ix_(rows, used)]
        part = part - np.average(part, axis=0, weights=weights[rows])
        gram = (part.T * weights[rows]) @ part
        residuals, found = _one_label(
            P[rows, j], centered[rows, j], part, gram, weights[rows]
        )
        times = weights[rows].sum() / weights[rows]
        scores[rows, j] = Y[rows, j] - residuals + mirror(Y[rows, j], means[j], times)
        coefs[used, j] = found / spread[used]
    better = _loss(scores, Y, observed, weights) < _loss(P, Y, observed, weights)
    return OtherLabels(np.where(better, scores, P), np.where(better, coefs, 0.0))


def _whole_labels(P, Y, B, others, labels, row_weights):
    """`_one_label` for many labels at once, whose rows were all observed.

    One inverse per penalty serves all of them: without its own column, the inverse for
    a label is ``M - m m' / d`` with m the column and d the diagonal entry of M.
    """
    n_rows, roots = row_weights.sum(), np.sqrt(row_weights)[:, np.newaxis]
    P, Y, B = P[:, labels], roots * Y[:, labels], roots * B[:, others]
    gram = B.T @ B
    residuals, coefs = np.empty_like(Y), np.empty((len(others), len(labels)))
    least = np.full(len(labels), np.inf)
    A = np.column_stack([_evidence(p, y, row_weights) for p, y in zip(P.T, Y.T)])
    places = np.searchsorted(others, labels).clip(max=len(others) - 1)
    is_other = others[places] == labels
    for penalty in PENALTIES:
        M = inv(gram + n_rows * penalty * np.eye(len(gram)))
        U = B @ M
        leverages = np.einsum("ij,ij->i", U, B) + row_weights / n_rows
        for block in gen_batches(len(labels), max(BLOCK_ENTRIES // len(Y), 1)):
            a, y, own = A[:, block], Y[:, block], places[block]
            # What the own column had a part in.
            u, d = U[:, own] * is_other[block], M[own, own]
            rest = a - U @ (B.T @ a) + u * ((u * a).sum(axis=0) / d)
            slope = (rest * y).sum(axis=0) / ((rest * a).sum(axis=0) + 1)
            left = y - slope * a
            right = B.T @ left
            fitted = U @ right - u * ((u * left).sum(axis=0) / d)
            leverage = leverages[:, np.newaxis] - u**2 / d
            leverage += rest**2 / ((rest * a).sum(axis=0) + 1)
            found = (left - fitted) / (1 - leverage)
            errors = (found**2).sum(axis=0)
            better = np.flatnonzero(errors < least[block])
            columns = np.arange(len(labels))[block][better]
            least[columns] = errors[better]
            residuals[:, columns] = found[:, better] / roots
            slopes = M @ right[:, better]
            taken = slopes[own[better], np.arange(len(better))] / d[better]
            slopes -= M[:, own[better]] * (taken * is_other[columns])
            coefs[:, columns] = slopes
    return residuals, coefs


def _evidence(p, y, row_weights):
    """Standardised score of a label; zero where it points the wrong way: noise."""
    n_rows = row_weights.sum()
    a = np.sqrt(row_weights) * (p - row_weights @ p / n_rows)
    scale = np.sqrt(a @ a / n_rows)
    return a / scale if scale > SMALLEST_SPREAD and a @ y > 0 else np.zeros(len(y))


def _one_label(p, y, B, gram, row_weights):
    """Leave-one-out residuals of centred y on p and B, and the coefficients of B."""
    n_rows, roots = row_weights.sum(), np.sqrt(row_weights)
    y, B = roots * y, roots[:, None] * B
    a = _evidence(p, y, row_weights)
    energy = a @ a + 1
    overlap = a @ B
    values, vectors = eigh(gram - np.outer(overlap, overlap) / energy)
    values = np.maximum(values, 0)
    rotated = B @ vectors - np.outer(a, overlap @ vectors) / energy
    rest = y - a * (a @ y) / energy
    shrink = 1 / (values[:, None] + n_rows * PENALTIES)
    weights = (rotated.T @ y)[:, None] * shrink
    leverage = (a**2 / energy + row_weights / n_rows)[:, None] + rotated**2 @ shrink
    residuals = (rest[:, None] - rotated @ weights) / (1 - leverage)
    best = np.argmin((residuals**2).sum(axis=0))
    return residuals[:, best] / roots, vectors @ weights[:, best]


def _loss(scores, Y, observed, weights):
    """Log-loss of each label after a logistic fit of its own."""
    Z = standardized(scores, observed)
    return -fit_noise(Z, Y, observed, "none", weights=weights).log_likelihood
