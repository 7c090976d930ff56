"""Out-of-sample probabilities of one class per sample."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import math
from contextlib import nullcontext

import numpy as np
from scipy import sparse
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.utils import check_random_state

from demurk.audit._class_gaussians import gaussian_proba
from demurk.audit._probabilities import forest, kernel_ridge, mirrored
from demurk.out_of_sample import FeatureViews, stack_weights

__all__ = ["CLASS_MEMBERS", "ClassMembers"]

CLASS_MEMBERS = ("forest", "extra trees", "laplacian kernel", "whitened kernel")
# Trees of each forest, more in small tables, where a row is out of the bag of few trees
# that differ much; and of these the share that grows for a second look.
N_TREES, MANY_TREES, TREES_BY_ROWS, TREES_AGAIN = 100, 200, 150_000, 0.6
# Features per split of the extra trees.
EXTRA_FEATURES, MAX_FEATURES = 0.3, 500
# Kernel widths.
WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
# The least ridge of the scatter inside the classes, in units of its mean eigenvalue,
# and the most features for which it is made.
LEAST_RIDGE, MAX_WHITENED = 0.05, 1000
# The share that Gaussians start with, and their largest: they are surer of themselves
# than the others, which the squared error of the given classes takes for knowledge. The
# most features for which they do without principal components.
GAUSSIANS, MAX_GAUSSIAN = (0.1, 0.2), 60
# How often a row counts at the second look whose class is surely wrong, the share of
# that look, and the most rows that are looked at twice.
LEAST_WEIGHT, AGAIN, TWICE_ROWS = 0.05, 2 / 3, 50_000


class ClassMembers:
    """The mean of two forests and two kernels, each of which may look again.

    When they are weighed, Gaussians of the classes stand beside them, which are far
    ahead of them in some tables and far behind in others.

    Both forests see the principal components beside the features, since trees cannot
    cut across axes. The Laplacian kernel looks at the features, the Gaussian one at
    directions in units of how much they vary inside the given classes, which each half
    of the rows takes from the other.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n_samples, n_features)
        Features of the labelled rows.
    features : {ndarray, csr_array} of shape (n_samples, n_features)
        The same, scaled.
    Y : ndarray of shape (n_samples, n_classes)
        Given classes, one 1 in each row.
    params : dict
        "n_estimators", "n_jobs" and "random_state".
    stage : callable, default=nullcontext
        Context of a member, by name.
    weights : ndarray of shape (n_samples,), default=None
        How often each row counts.

    Attributes
    ----------
    proba : ndarray of shape (n_samples, n_classes)
        Mean of the members; rows need not sum to one. Later they are weighed by what
        they tell of the given classes beyond their frequencies; at the first look, how
        sharp they are must not depend on that.
    """

    def __init__(self, X, features, Y, params, stage=nullcontext, weights=None):
        self._rng = check_random_state(params["random_state"])
        self._X, reduced = _with_components(X, self._rng)
        self._features = features
        many = sparse.issparse(features) or features.shape[1] > MAX_GAUSSIAN
        self._directions = reduced if many else features
        self._Y, self._weights = Y, weights
        self._parts, self._widths = {}, {}
        self._half = self._rng.permutation(len(Y)) % 2 == 0
        self._shares = np.full(len(CLASS_MEMBERS), 1 / len(CLASS_MEMBERS))
        self._n_jobs = params["n_jobs"]
        self._n_trees = params["n_estimators"] or _enough_trees(len(Y))
        for name in CLASS_MEMBERS:
            with stage(name):
                self._parts[name] = self._judged(name, self._n_trees, weights)

    @property
    def proba(self):
        parts = self._parts.values()
        return sum(share * part for share, part in zip(self._shares, parts))

    def look_again(self, wrong):
        """Ask each member once more, each row counting as its class seems right.

        Members that learn from wrong classes give some of them to the neighbours. What
        judges a row has still not seen it; its class reaches it only through how right
        those of its neighbours seemed at the first look.

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
        n_trees = math.ceil(TREES_AGAIN * self._n_trees)
        for name, part in self._parts.items():
            again = self._judged(name, n_trees, weights)
            self._parts[name] = (1 - AGAIN) * part + AGAIN * again
        self.weigh(weights)
        return True

    def weigh(self, weights=None, **how):
        """Weigh the members, and Gaussians of the classes beside them.

        Parameters
        ----------
        weights : ndarray of shape (n_samples,), default=None
            How often each row counts for the Gaussians, if not as it always does.
        **how
            See :func:`~demurk.out_of_sample.stack_weights`.
        """
        least, most = GAUSSIANS
        weights = self._weights if weights is None else weights
        beside = gaussian_proba(self._directions, self._Y, weights, self._rng)
        self._parts["gaussians"] = beside
        seen = np.ones(self._Y.shape, dtype=bool)
        rows = list(self._parts.values()), self._Y, seen, self._weights
        start = np.append((1 - least) * self._shares, least)
        shares = stack_weights(*rows, start=start, **how)
        others, share = shares[:-1], min(shares[-1], most)
        if others.any():
            self._shares = others / others.sum()
        self._shares = np.append((1 - share) * self._shares, share)

    def _judged(self, name, n_trees, weights):
        """Out-of-sample probabilities of one member."""
        seen = np.ones(self._Y.shape, dtype=bool)
        rows = self._Y, seen, weights
        if name in ("forest", "extra trees"):
            tree = _tree(name, self._X.shape[1])
            member = forest(tree, n_trees, self._n_jobs, self._rng)
            return np.clip(member.fit_out_of_sample(self._X, *rows), 0, 1)
        if name == "laplacian kernel":
            return self._kernel("laplacian", self._features, rows)
        scores = np.empty(self._Y.shape)
        for judged in (self._half, ~self._half):
            features = _whitened(self._features, self._Y, weights, ~judged)
            scores[judged] = self._kernel("gaussian", features, rows)[judged]
        return scores

    def _kernel(self, kernel, features, rows):
        """Scores of one kernel, whose width is chosen at the first look."""
        widths = self._widths.get(kernel, WIDTHS)
        member = kernel_ridge(len(self._Y), self._rng, kernel=kernel, widths=widths)
        scores = mirrored(member, features, *rows)
        self._widths[kernel] = (member.width_,)
        return scores


def _enough_trees(n_rows):
    return min(max(TREES_BY_ROWS // n_rows, N_TREES), MANY_TREES)


def _with_components(X, rng):
    """Principal components beside the features, and by themselves."""
    views = FeatureViews(tfidf=False, random_state=rng.randint(np.iinfo(np.int32).max))
    found = views.fit(X).views(X, ["raw+reduced", "reduced"])
    return found["raw+reduced"], found["reduced"]


def _tree(name, n_features):
    if name == "forest":
        return DecisionTreeRegressor(min_samples_leaf=3, max_features="sqrt")
    n_tried = min(max(int(EXTRA_FEATURES * n_features), 1), MAX_FEATURES)
    return ExtraTreeRegressor(min_samples_leaf=3, max_features=n_tried)


def _whitened(features, Y, weights, told):
    """Directions in units of how much they vary inside the given classes.

    The scatter inside the classes knows those of its own rows: it must come from other
    rows than are judged by it. The fewer they are the less they say of it, so that the
    number of features per row is added to its ridge.
    """
    n_rows, n_features = np.count_nonzero(told), features.shape[1]
    if sparse.issparse(features) or n_features > min(MAX_WHITENED, n_rows):
        return features
    inside, Y = features[told], Y[told]
    weights = np.ones(n_rows) if weights is None else weights[told]
    weighted = Y * weights[:, np.newaxis]
    mass = np.maximum(weighted.sum(axis=0), 1e-12)
    inside = inside - ((weighted.T @ inside) / mass[:, np.newaxis])[Y.argmax(axis=1)]
    scatter = (inside * weights[:, np.newaxis]).T @ inside / weights.sum()
    ridge = (LEAST_RIDGE + n_features / n_rows) * np.trace(scatter) / n_features
    values, vectors = np.linalg.eigh(scatter)
    return features @ (vectors / np.sqrt(np.maximum(values, 0) + max(ridge, 1e-12)))
