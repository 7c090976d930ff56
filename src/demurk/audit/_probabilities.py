"""Probabilities of every label that were made without the row they are for."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import math
from contextlib import nullcontext

import numpy as np
from scipy import sparse
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.utils import check_random_state

from demurk.audit._other_labels import mirror
from demurk.out_of_sample import (
    FeatureViews,
    LeaveOneOutKernelRidge,
    OutOfSampleForest,
    label_means,
    stack_weights,
)

__all__ = ["MEMBERS", "ClassMembers", "out_of_sample_proba", "scaled_features"]

REGS = np.logspace(-3, 3, 13)
# Rows up to which the kernel is exact, with several labels and with one class per
# sample; above, half as many landmarks serve, up to a limit.
MAX_EXACT = {False: 600, True: 2000}
N_LANDMARKS = 600
# The width is chosen on so many rows: on twice as many it is no better.
SELECTION_ROWS = 500
# Kernel widths of one class per sample, and features per split of the extra trees.
WIDTHS = (0.5, 2.0, 4.0, 8.0)
EXTRA_FEATURES = 0.3
MAX_FEATURES = 500
# Trees of a forest; the noise of few is smoothed by the kernel that stands beside it.
N_TREES = {False: 60, True: 100}
MEMBERS = {False: ("forest", "kernel ridge"), True: ("forest", "trees", "kernel ridge")}
# Trees that grow for a second look, for each of the first; how often a row counts there
# whose class is surely wrong; and the most rows that are looked at twice.
TREES_AGAIN = 0.6
LEAST_WEIGHT = 0.05
TWICE_ROWS = 50_000


def out_of_sample_proba(
    X, features, Y, seen, single, params, stage=nullcontext, weights=None
):
    """Mix of an out-of-bag forest and leave-one-out kernel ridge regression.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n_samples, n_features)
        Features of the labelled rows.
    features : {ndarray, csr_array} of shape (n_samples, n_features)
        The same, scaled.
    Y, seen : ndarray of shape (n_samples, n_labels)
        Given labels, and which of them were observed.
    single : bool
        Whether there is one class per sample: extra trees join in then, both forests
        see the principal components beside the features, the kernel has one width and
        penalty for all classes, and all members count alike.
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
    if single:
        return ClassMembers(X, features, Y, params, stage, weights).proba
    rng = check_random_state(params["random_state"])
    full = np.where(seen, Y, label_means(Y, seen, weights))
    parts = []
    for name in MEMBERS[False]:
        with stage(name):
            rows = features if name == "kernel ridge" else X
            parts.append(_scores(name, rows, full, seen, False, params, rng, weights))
    shares = stack_weights(parts, full, seen, weights)
    return sum(share * part for share, part in zip(shares, parts))


class ClassMembers:
    """Out-of-sample probabilities of one class per sample, which may look again.

    Parameters
    ----------
    X, features, Y, params, stage, weights
        As for `out_of_sample_proba`.

    Attributes
    ----------
    proba : ndarray of shape (n_samples, n_classes)
        Mean of the members.
    """

    def __init__(self, X, features, Y, params, stage=nullcontext, weights=None):
        self._rng = check_random_state(params["random_state"])
        self._X = _with_components(X, self._rng)
        self._Y, self._params, self._weights = Y, params, weights
        self._parts = {}
        for name in MEMBERS[True]:
            with stage(name):
                rows = features if name == "kernel ridge" else self._X
                self._parts[name] = self._judged(name, rows, weights)

    @property
    def proba(self):
        return sum(self._parts.values()) / len(self._parts)

    def look_again(self, wrong):
        """Grow each forest once more, on rows as often as their class seems right.

        Trees that learn from wrong classes give some of them to their neighbours. The
        trees that judge a row have still not seen it; its class reaches them only
        through how right those of its neighbours seemed at the first look.

        Parameters
        ----------
        wrong : ndarray of shape (n_samples,)
            Probability that the given class is wrong.

        Returns
        -------
        looked : bool
            False with so many rows that it would take too long.
        """
        if len(wrong) > TWICE_ROWS:
            return False
        weights = np.maximum(1 - wrong, LEAST_WEIGHT)
        if self._weights is not None:
            weights = weights * self._weights
        n_trees = self._params["n_estimators"] or N_TREES[True]
        fewer = {"n_estimators": math.ceil(TREES_AGAIN * n_trees)}
        for name, part in self._parts.items():
            if name != "kernel ridge":
                again = self._judged(name, self._X, weights, **fewer)
                self._parts[name] = (part + again) / 2
        return True

    def _judged(self, name, rows, weights, **other):
        seen, params = np.ones(self._Y.shape, dtype=bool), self._params | other
        return _scores(name, rows, self._Y, seen, True, params, self._rng, weights)


def _scores(name, rows, Y, seen, single, params, rng, weights):
    """Out-of-sample probabilities of one member."""
    makers = {"forest": _forest, "trees": _trees, "kernel ridge": _kernel_ridge}
    member = makers[name](rows.shape, single, params, rng)
    scores = member.fit_out_of_sample(rows, Y, seen, weights)
    if name == "kernel ridge":
        scores += mirror(Y, label_means(Y, seen, weights), _times(Y, weights))
    return np.clip(scores, 0, 1)


def _with_components(X, rng):
    """Principal components beside the features: trees cannot cut across axes."""
    views = FeatureViews(tfidf=False, random_state=rng.randint(np.iinfo(np.int32).max))
    return views.fit(X).views(X, ["raw+reduced"])["raw+reduced"]


def _times(Y, weights):
    """How often all rows count for each time that one does."""
    if weights is None:
        return len(Y)
    return weights.sum() / weights[:, np.newaxis]


def _forest(shape, single, params, rng):
    tree = DecisionTreeRegressor(min_samples_leaf=3, max_features="sqrt")
    return _grown(tree, single, params, rng)


def _trees(shape, single, params, rng):
    n_tried = min(max(int(EXTRA_FEATURES * shape[1]), 1), MAX_FEATURES)
    tree = ExtraTreeRegressor(min_samples_leaf=3, max_features=n_tried)
    return _grown(tree, single, params, rng)


def _grown(tree, single, params, rng):
    return OutOfSampleForest(
        tree,
        params["n_estimators"] or N_TREES[single],
        n_jobs=params["n_jobs"],
        keep_trees=False,
        random_state=rng.randint(np.iinfo(np.int32).max),
    )


def _kernel_ridge(shape, single, params, rng):
    return LeaveOneOutKernelRidge(
        widths=WIDTHS if single else (1.0,),
        ridges=REGS,
        per_label=not single,
        max_exact=MAX_EXACT[single],
        n_landmarks=min(shape[0] // 2, N_LANDMARKS),
        selection_rows=SELECTION_ROWS,
        random_state=rng,
    )


def scaled_features(X):
    """Standardised features, or unit rows of mostly zero ones."""
    views = FeatureViews(tfidf=False, n_components=0).fit(X)
    scaled = views.views(X, ["scaled"])["scaled"]
    return scaled if sparse.issparse(scaled) else np.ascontiguousarray(scaled)
