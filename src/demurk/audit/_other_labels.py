"""What the other labels of a row say about one of its labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from demurk.audit._noise_model import SMALLEST_SPREAD, fit_noise, standardized
from demurk.out_of_sample import label_means

__all__ = ["OtherLabels", "add_other_labels", "mirror"]

# Penalties per row; the last one shuts the other labels out.
PENALTIES = np.append(np.logspace(-2, 1, 7), 1e9)
SMALLEST_DEVIATION = 0.1
# Beyond so many, only the labels that vary most are looked at.
MAX_LABELS = 200


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
    that was not observed counts as its label's mean. Time O(q (n q^2 + q^3)).
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
    gram = (B.T * weights) @ B
    varies = observed & (Y != means)
    for j in np.flatnonzero(varies.any(axis=0)):
        rows = observed[:, j]
        used = others[others != j]
        if rows.all():
            part, part_gram = B[:, used], gram[np.ix_(used, used)]
        else:
            part = B[np.ix_(rows, used)]
            part = part - np.average(part, axis=0, weights=weights[rows])
            part_gram = (part.T * weights[rows]) @ part
        residuals, found = _one_label(
            P[rows, j], centered[rows, j], part, part_gram, weights[rows]
        )
        times = weights[rows].sum() / weights[rows]
        scores[rows, j] = Y[rows, j] - residuals + mirror(Y[rows, j], means[j], times)
        coefs[used, j] = found / spread[used]
    better = _loss(scores, Y, observed, weights) < _loss(P, Y, observed, weights)
    return OtherLabels(np.where(better, scores, P), np.where(better, coefs, 0.0))


def _one_label(p, y, B, gram, row_weights):
    """Leave-one-out residuals of centred y on p and B, and the coefficients of B."""
    n_rows, roots = row_weights.sum(), np.sqrt(row_weights)
    a = roots * (p - row_weights @ p / n_rows)
    y, B = roots * y, roots[:, None] * B
    scale = np.sqrt(a @ a / n_rows)
    # Evidence that points the wrong way is noise.
    a = a / scale if scale > SMALLEST_SPREAD and a @ y > 0 else np.zeros(len(y))
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
