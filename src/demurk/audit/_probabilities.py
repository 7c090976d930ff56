"""Probabilities of every label that were made without the row they are for."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from contextlib import nullcontext

import numpy as np
from scipy import sparse
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import check_random_state

from demurk.audit._other_labels import mirror
from demurk.out_of_sample import (
    FeatureViews,
    LeaveOneOutKernelRidge,
    OutOfSampleForest,
    label_means,
    stack_weights,
)

__all__ = [
    "MEMBERS",
    "forest",
    "kernel_ridge",
    "mirrored",
    "out_of_sample_proba",
    "scaled_features",
]

MEMBERS = ("forest", "kernel ridge")
# Trees; the noise of few is smoothed by the kernel that stands beside them.
N_TREES = 60
REGS = np.logspace(-3, 3, 13)
# Up to so many rows a kernel is exact; above, half as many landmarks serve, up to a
# limit.
MAX_EXACT, N_LANDMARKS = 600, 600
# The width is chosen on so many rows: on twice as many it is no better.
SELECTION_ROWS = 500


def out_of_sample_proba(X, features, Y, seen, params, stage=nullcontext, weights=None):
    """Mix of an out-of-bag forest and leave-one-out kernel ridge regression.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n_samples, n_features)
        Features of the labelled rows.
    features : {ndarray, csr_array} of shape (n_samples, n_features)
        The same, scaled.
    Y, seen : ndarray of shape (n_samples, n_labels)
        Given labels, and which of them were observed.
    params : dict
        "n_estimators", "n_jobs" and "random_state".
    stage : callable, default=nullcontext
        Context of a member, by name.
    weights : ndarray of shape (n_samples,), default=None
        How often each row counts.

    Returns
    -------
    proba : ndarray of shape (n_samples, n_labels)
        Probabilities; rows need not sum to one.
    """
    rng = check_random_state(params["random_state"])
    full = np.where(seen, Y, label_means(Y, seen, weights))
    rows, parts = (full, seen, weights), []
    with stage("forest"):
        tree = DecisionTreeRegressor(min_samples_leaf=3, max_features="sqrt")
        member = forest(tree, params["n_estimators"] or N_TREES, params["n_jobs"], rng)
        parts.append(np.clip(member.fit_out_of_sample(X, *rows), 0, 1))
    with stage("kernel ridge"):
        member = kernel_ridge(len(Y), rng, widths=(1.0,), per_label=True)
        parts.append(mirrored(member, features, *rows))
    shares = stack_weights(parts, full, seen, weights)
    return sum(share * part for share, part in zip(shares, parts))


def forest(tree, n_trees, n_jobs, rng):
    """A forest whose trees are forgotten once they have judged."""
    return OutOfSampleForest(
        tree,
        n_trees,
        n_jobs=n_jobs,
        keep_trees=False,
        random_state=rng.randint(np.iinfo(np.int32).max),
    )


def kernel_ridge(n_rows, rng, **options):
    """Kernel ridge regression with landmarks where there are many rows."""
    return LeaveOneOutKernelRidge(
        ridges=REGS,
        max_exact=MAX_EXACT,
        n_landmarks=min(n_rows // 2, N_LANDMARKS),
        selection_rows=SELECTION_ROWS,
        random_state=rng,
        **options,
    )


def mirrored(member, rows, Y, seen, weights):
    """Leave-one-out scores in which a row's own label has left no mirror image."""
    scores = member.fit_out_of_sample(rows, Y, seen, weights)
    times = len(Y) if weights is None else weights.sum() / weights[:, np.newaxis]
    return np.clip(scores + mirror(Y, label_means(Y, seen, weights), times), 0, 1)


def scaled_features(X):
    """Standardised features, or unit rows of mostly zero ones."""
    views = FeatureViews(tfidf=False, n_components=0).fit(X)
    scaled = views.views(X, ["scaled"])["scaled"]
    return scaled if sparse.issparse(scaled) else np.ascontiguousarray(scaled)
