"""An audit of more labelled rows than one forest should see."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from sklearn.utils import check_random_state

from demurk.audit._class_members import ClassMembers
from demurk.audit._probabilities import out_of_sample_proba, scaled_features
from demurk.cluster._blocks import Blocks, as_array, delayed, read, sample
from demurk.labels import check_labels
from demurk.utils._optional import import_optional
from demurk.utils._rows import far_origin
from demurk.utils._weights import check_weights, weighted_rows

__all__ = ["audit_blocks", "is_large"]

# Rows of Dask above which every block is judged by itself.
WHOLE_ROWS = 200_000


def is_large(X):
    """Whether X has more rows than should be brought here, in several blocks."""
    return X.npartitions > 1 and as_array(X).shape[0] > WHOLE_ROWS


def audit_blocks(
    function, audit, X, y, *, observed=None, sample_weight=None, **options
):
    """Judge the labels of each block by a forest of its own, then all together.

    Out-of-sample probabilities come from the block of a row; the noise model, which has
    few numbers, is fitted to all rows.

    Parameters
    ----------
    function : callable
        `fit` of the audit, for probabilities in memory.
    audit : LabelAudit
        The audit.
    X : dask array or dask data frame of shape (n_samples, n_features)
        Features.
    y, observed, sample_weight, **options
        As for `LabelAudit.fit`, in memory.

    Returns
    -------
    audit : LabelAudit
        Fitted. It knows no features, so that reasons name no neighbours.
    """
    dask = import_optional("dask", "dask")
    rows = as_array(X)
    audit._validate_features(sample(X, rows.dtype))
    labels = check_labels(
        y, n_samples=rows.shape[0], kind=audit._label_kind, observed=observed
    )
    kept, _ = weighted_rows(labels, sample_weight)
    weights = check_weights(sample_weight, labels.values)
    rng, params = check_random_state(audit.random_state), audit.get_params(deep=False)
    judge = delayed(_judge)
    blocks, tasks = Blocks(rows), []
    for part, where in zip(blocks.parts, blocks.slices()):
        seed = {"random_state": rng.randint(np.iinfo(np.int32).max)}
        known = labels.values[where], labels.observed[where], kept[where]
        w = None if weights is None else weights[where]
        tasks.append(judge(part, *known, w, labels.single, params | seed))
    proba = np.concatenate(dask.compute(*tasks))
    return function(
        audit,
        None,
        y,
        observed=observed,
        proba=proba,
        sample_weight=sample_weight,
        **options,
    )


def _judge(part, values, observed, kept, weights, single, params):
    """Probabilities of one block; one half where nothing can or need be judged."""
    proba = np.full(values.shape, 0.5)
    if np.count_nonzero(kept) < 2:
        return proba
    X = read(part)[kept]
    origin = far_origin(X)
    X = X if origin is None else (X - origin).astype(X.dtype)
    weights = None if weights is None else weights[kept]
    rows = X, scaled_features(X), values[kept]
    if single:
        proba[kept] = ClassMembers(*rows, params, weights=weights).proba
    else:
        proba[kept] = out_of_sample_proba(
            *rows, observed[kept], params, weights=weights
        )
    return proba
