"""How much each sample counts."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import replace

import numpy as np

from demurk.utils._compat import _check_sample_weight

__all__ = ["check_weights", "keep_labeled", "keep_weighted", "refuse_weightless"]


def check_weights(sample_weight, X):
    """Weights of samples as an array, or None where all are alike."""
    if sample_weight is None:
        return None
    return _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True
    )


def refuse_weightless(weights):
    """Refuse weights that leave no labelled sample."""
    if not weights.any():
        raise ValueError(
            "No sample with an observed label has a sample_weight above zero; give "
            "weight to one of them."
        )


def keep_labeled(X, labels):
    """The labelled rows; nothing is copied where that is all of them."""
    return keep_weighted(X, labels, None)[:2]


def keep_weighted(X, labels, weights):
    """The labelled rows, less those without weight, and their weights."""
    kept = labels.labeled
    if weights is not None:
        kept = kept & (weights > 0)
        refuse_weightless(kept)
        weights = weights[kept]
    if kept.all():
        return X, labels, weights
    values, observed = labels.values[kept], labels.observed[kept]
    return X[kept], replace(labels, values=values, observed=observed), weights
