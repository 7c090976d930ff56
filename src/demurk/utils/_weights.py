"""How much each sample counts."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import replace

import numpy as np

from demurk.utils._compat import _check_sample_weight

__all__ = [
    "check_weights",
    "keep_labeled",
    "keep_weighted",
    "refuse_weightless",
    "weighted_rows",
]


def check_weights(sample_weight, X):
    """Weights of samples as an array, or None where all are alike."""
    if sample_weight is None:
        return None
    return _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )


def weighted_rows(labels, sample_weight):
    """Which rows are labelled and have a weight, and the weights of these."""
    weights = check_weights(sample_weight, labels.values)
    if weights is None:
        return labels.labeled, None
    kept = labels.labeled & (weights > 0)
    refuse_weightless(kept)
    return kept, weights[kept]


def refuse_weightless(weights):
    """Refuse weights that leave no labelled sample."""
    if not weights.any():
        raise ValueError(
            "No sample with an observed label has a sample_weight above zero; give "
            "weight to one of them."
        )


def keep_labeled(X, labels):
    """The labelled rows; nothing is copied where that is all of them."""
    return keep_weighted(X, labels)[:2]


def keep_weighted(X, labels, sample_weight=None):
    """The labelled rows, less those without weight, and their weights."""
    kept, weights = weighted_rows(labels, sample_weight)
    if kept.all():
        return X, labels, weights
    values, observed = labels.values[kept], labels.observed[kept]
    return X[kept], replace(labels, values=values, observed=observed), weights
