"""The members of the stack: which there are, and those fitted in folds."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from joblib import effective_n_jobs
from scipy.special import expit
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from demurk.multilabel._murky_linear import SparseLogistic, folds
from demurk.out_of_sample import (
    LeaveOneOutKernelRidge,
    OutOfSampleForest,
    label_means,
    leave_one_out_means,
)

__all__ = ["POOLS", "REDUCED", "OwnMember", "forests_first", "make_members"]

POOLS = {
    "full": ("rf", "et1", "rfpca", "rf3m", "et3m", "ksrc", "kpca30", "l1"),
    "trees": ("rf", "et1", "rfpca", "rf3m", "et3m"),
    "fast": ("rf", "ksrc", "l1"),
}
# Name: tree, view, smallest leaf, features per split.
FORESTS = {
    "rf": (DecisionTreeRegressor, "raw", 1, "sqrt"),
    "et1": (ExtraTreeRegressor, "raw", 1, "sqrt"),
    "rfpca": (DecisionTreeRegressor, "raw+reduced", 3, "sqrt"),
    "rf3m": (DecisionTreeRegressor, "raw", 3, 0.2),
    "et3m": (ExtraTreeRegressor, "raw", 3, 0.3),
}
# The other forests vary the first: with half its trees they tell the stack as much.
FIRST = "rf"
# A share of very many features would take forever; no more per split than this.
MAX_FEATURES = 500
KERNELS = {"ksrc": "scaled", "kpca30": "reduced"}
# With one class per sample the other members must earn their weights, and may have them
# whole: in small tables kernels are far behind forests, or far ahead. Chosen on nine
# sets with seeds that no protocol uses.
FORESTS_FIRST = {"spread": 0.1, "way_back": 0.0}
# Folds of a user's estimator.
OWN_FOLDS = 5
# Views that need principal components.
REDUCED = {"reduced", "raw+reduced"}


def make_members(members, n_features, n_estimators, n_jobs, rng):
    """Build the members asked for, not yet fitted.

    Parameters
    ----------
    members : str or list
        A pool, or a list of pools, member names, estimators and (name, estimator)
        pairs; a list without any string stands for the full pool and its entries.
    n_features : int
        Features of the data.
    n_estimators : int
        Trees of the first forest; the others have half as many.
    n_jobs : int or None
        Threads in all. Members are fitted beside each other, which costs less than
        growing the trees of one forest in threads; forests share what is left over.
    rng : RandomState
        Gives every member its seed.

    Returns
    -------
    members : dict of str to (view, member)
        The view of the features each looks at, and the member itself.
    """
    asked = [members] if isinstance(members, str) else list(members)
    if not any(isinstance(item, str) for item in asked):
        asked = ["full", *asked]
    found = {}
    for item in asked:
        if isinstance(item, str):
            for name in POOLS.get(item, (item,)):
                seed = _seed(rng)
                if name in FORESTS:
                    found[name] = _forest(name, n_features, n_estimators, seed)
                else:
                    found[name] = _other(name, seed)
        else:
            name, estimator = _named(item, found)
            found[name] = "raw", OwnMember(estimator, random_state=_seed(rng))
    forests = [m for _, m in found.values() if isinstance(m, OutOfSampleForest)]
    for forest in forests:
        forest.n_jobs = max(effective_n_jobs(n_jobs) // len(forests), 1)
    return found


def forests_first(members):
    """How the stack of one class per sample is weighed, as `stack_weights` takes it.

    Parameters
    ----------
    members : dict of str to (view, member)
        From `make_members`.

    Returns
    -------
    how : dict
        Weights start at the forests, if there are any.
    """
    forests = np.array([isinstance(m, OutOfSampleForest) for _, m in members.values()])
    return FORESTS_FIRST | {"start": forests / forests.sum()} if forests.any() else {}


def _forest(name, n_features, n_estimators, seed):
    kind, view, leaf, features = FORESTS[name]
    if features != "sqrt":
        features = min(max(int(features * n_features), 1), MAX_FEATURES)
    if name != FIRST:
        n_estimators = (n_estimators + 1) // 2
    tree = kind(min_samples_leaf=leaf, max_features=features)
    return view, OutOfSampleForest(tree, n_estimators, random_state=seed)


def _other(name, seed):
    if name in KERNELS:
        return KERNELS[name], LeaveOneOutKernelRidge(random_state=seed)
    if name == "l1":
        return "linear", SparseLogistic(random_state=seed)
    raise ValueError(
        f"There is no member called '{name}': choose a pool ({', '.join(POOLS)}), one "
        f"of {', '.join(POOLS['full'])}, or give an estimator."
    )


def _named(item, taken):
    """Name and estimator of an entry; two of the same class get numbers."""
    if isinstance(item, tuple):
        name, estimator = item if len(item) == 2 else (None, None)
        if not isinstance(name, str) or not hasattr(estimator, "fit"):
            raise ValueError(f"A member must be (name, estimator), got {item!r}.")
        if name in taken:
            raise ValueError(f"Two members are called '{name}': give each its own.")
        return name, estimator
    if not hasattr(item, "fit"):
        raise TypeError(
            f"A member must be an estimator, a (name, estimator) pair or a name, got "
            f"{item!r}."
        )
    stem = type(item).__name__.lower()
    names = [stem, *(f"{stem}-{i}" for i in range(2, len(taken) + 3))]
    return next(name for name in names if name not in taken), item


def _seed(rng):
    return int(rng.randint(np.iinfo(np.int32).max))


class OwnMember(BaseEstimator):
    """A user's estimator with out-of-bag scores if it has them, else out-of-fold.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor. If it takes several outputs it is fitted to all
        labels at once, with what was not observed filled in: the mean of the label, or
        for a classifier its more frequent value. If not, one clone per label is fitted
        to the rows where the label was observed.
    random_state : int, default=None
        Seed of the folds.

    Attributes
    ----------
    models_ : list of (columns, estimator)
        Fitted clones, and which labels each predicts.
    means_ : ndarray of shape (n_labels,)
        Scores of the labels that do not vary.
    """

    def __init__(self, estimator, random_state=None):
        self.estimator = estimator
        self.random_state = random_state

    def fit_out_of_sample(self, X, Y, observed, weights=None):
        """Fit the estimator, and five folds unless it has out-of-bag scores.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n_samples, n_features)
            Features as the user gave them.
        Y, observed : ndarray of shape (n_samples, n_labels)
            Complete targets, and which of them were observed.
        weights : ndarray of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        out_of_sample : ndarray of shape (n_samples, n_labels)
            Out-of-bag or out-of-fold scores.
        """
        out_of_sample = None
        self._fit_labels(X, Y, observed, weights)
        unseen = [_out_of_bag(model, len(columns)) for columns, model in self.models_]
        if self.models_ and all(scores is not None for scores in unseen):
            whole = [len(scores) == len(Y) for scores in unseen]
            if all(whole):
                out_of_sample = leave_one_out_means(Y, observed, weights)
                for (columns, _), scores in zip(self.models_, unseen):
                    out_of_sample[:, columns] = np.where(
                        np.isfinite(scores), scores, out_of_sample[:, columns]
                    )
        if out_of_sample is None:
            out_of_sample = np.empty(Y.shape)
            for train, test in folds(len(Y), OWN_FOLDS, self.random_state):
                each = None if weights is None else weights[train]
                self._fit_labels(X[train], Y[train], observed[train], each)
                out_of_sample[test] = self.predict(X[test])
            self._fit_labels(X, Y, observed, weights)
        return out_of_sample

    def _fit_labels(self, X, Y, observed, weights):
        self.means_ = label_means(Y, observed, weights)
        if is_classifier(self.estimator):
            Y = (Y > 0.5).astype(np.int64)
        known = np.where(observed, Y, np.nan)
        seen = observed.any(axis=0)
        known = known[:, seen]
        varies = np.flatnonzero(seen)[np.nanmin(known, axis=0) < np.nanmax(known, 0)]
        if _takes_several(self.estimator):
            groups = [varies] if varies.size else []
        else:
            groups = [varies[k : k + 1] for k in range(varies.size)]
        self.models_ = []
        for columns in groups:
            rows = observed[:, columns[0]] if len(columns) == 1 else slice(None)
            target = Y[rows][:, columns]
            target = target.ravel() if len(columns) == 1 else target
            model = clone(self.estimator)
            options = {}
            if weights is not None and has_fit_parameter(model, "sample_weight"):
                options["sample_weight"] = weights[rows]
            model.fit(X[rows], target, **options)
            self.models_.append((columns, model))

    def predict(self, X):
        """Scores of new rows.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels)
            Probabilities, squashed decision values, or predictions.
        """
        scores = np.tile(self.means_, (X.shape[0], 1))
        for columns, model in self.models_:
            scores[:, columns] = _scores(model, X, len(columns))
        return scores


def _takes_several(estimator):
    tags = get_tags(estimator)
    if is_classifier(estimator):
        return tags.classifier_tags is not None and tags.classifier_tags.multi_label
    return tags.target_tags.multi_output


def _scores(model, X, n_labels):
    if hasattr(model, "predict_proba"):
        return _positive(model.predict_proba(X), n_labels)
    if hasattr(model, "decision_function"):
        return expit(np.reshape(model.decision_function(X), (X.shape[0], n_labels)))
    return np.reshape(model.predict(X), (X.shape[0], n_labels))


def _positive(proba, n_labels):
    """Probabilities of the ones, whichever of scikit-learn's shapes they come in."""
    if isinstance(proba, list):
        return np.column_stack([part[:, 1] for part in proba])
    proba = np.asarray(proba)
    if proba.ndim == 3:
        return proba[:, 1, :]
    return proba[:, 1:] if n_labels == 1 and proba.shape[1] == 2 else proba


def _out_of_bag(model, n_labels):
    """Out-of-bag scores of a fitted model, or None."""
    if hasattr(model, "oob_decision_function_"):
        return _positive(model.oob_decision_function_, n_labels)
    if hasattr(model, "oob_prediction_"):
        return np.reshape(model.oob_prediction_, (-1, n_labels))
    return None
