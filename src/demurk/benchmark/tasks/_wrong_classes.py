"""One class per sample, some of them wrong: which, and what to predict nevertheless."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import time
from functools import lru_cache

import numpy as np
from sklearn.base import is_classifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score

from demurk.benchmark.tasks._common import (
    file_checksum,
    make_estimator,
    quiet,
    reason_to_skip,
)
from demurk.benchmark.tasks._data import dense
from demurk.datasets import load_dataset

__all__ = ["NOISES", "spoiled_classes", "wrong_classes"]

NOISES = ("symmetric", "next", "own", "ambiguous")
# A classifier that is sure of the wrong class costs no more than this.
SMALLEST_PROBA = 1e-3


def wrong_classes(
    data_set,
    method,
    seed,
    *,
    noise="symmetric",
    rate=0.1,
    max_samples=2000,
):
    """Spoil classes; let a method find the wrong ones, or predict the true ones.

    Parameters
    ----------
    data_set : str
        A name that :func:`~demurk.datasets.load_dataset` knows.
    method : dict
        ``estimator`` and its ``params``. A classifier is fitted to two thirds of the
        rows and scored by the true classes of the others. Anything else has
        ``scores_`` after ``fit(X, y)``, larger for more suspect rows, and ``flags_`` or
        ``n_suspects_``, how many of the first it lists.
    seed : int
        Seed of the rows, the noise and random methods.
    noise, rate : str and float, default="symmetric", 0.1
        See `spoiled_classes`.
    max_samples : int, default=2000
        Rows at most.

    Returns
    -------
    report : dict of str to float
        - of an audit: "AP" and "flag F1" where there are errors, "share flagged", what
          its other options give, and 1 for the noise that was found;
        - of a classifier: "accuracy", "log-loss" and, where it is estimated, "error of
          the rate";
        - "seconds", CPU time of the fit.

    Examples
    --------
    >>> from demurk.benchmark.tasks import wrong_classes
    >>> method = {"estimator": "demurk.audit.LabelAudit"}
    >>> bool(wrong_classes("digits", method, 0, max_samples=300)["AP"] > 0.6)
    True
    """
    X, true, given = _spoiled(data_set, seed, noise, rate, max_samples)
    reason = reason_to_skip(method, len(X), int(true.max()) + 1)
    if reason is not None:
        return {"skipped": reason}
    model = make_estimator(method, seed=seed)
    predicts = is_classifier(model)
    n_train = 2 * len(X) // 3 if predicts else len(X)
    start = time.process_time()
    with quiet():
        model.fit(X[:n_train], given[:n_train])
        seconds = time.process_time() - start
        if predicts:
            report = _predicted(model, X[n_train:], true[n_train:])
            if hasattr(model, "noise_rate_"):
                wrong = (true != given)[:n_train].mean()
                report["error of the rate"] = abs(model.noise_rate_ - wrong)
        else:
            report = _audited(model, true != given)
    return {key: float(value) for key, value in report.items()} | {"seconds": seconds}


wrong_classes.checksum = file_checksum


def _audited(model, wrong):
    """How well wrong rows are ranked and flagged, by each option there is."""
    flags = model.flags_ if hasattr(model, "flags_") else _listed(model)
    report = {"share flagged": flags.mean()}
    if wrong.any():
        report["AP"] = average_precision_score(wrong, model.scores_)
        report["flag F1"] = _f1(flags, wrong)
        for name, scores in getattr(model, "other_scores_", {}).items():
            report[f"AP {name}"] = average_precision_score(wrong, scores)
        for name, found in getattr(model, "other_flags_", {}).items():
            report[f"flag F1 {name}"] = _f1(found, wrong)
    if hasattr(model, "noise_"):
        report[f"noise {model.noise_}"] = 1.0
    return report


def _listed(audit):
    """The rows that an audit lists as suspects if nobody says how many."""
    flags = np.zeros(len(audit.scores_), dtype=bool)
    flags[np.argsort(-audit.scores_, kind="stable")[: audit.n_suspects_]] = True
    return flags


def _f1(flags, wrong):
    return 2 * (flags & wrong).sum() / (flags.sum() + wrong.sum())


def _predicted(model, X, true):
    # A class that was not seen in training has no column.
    proba = np.zeros((len(X), max(true.max(), max(model.classes_)) + 1))
    proba[:, model.classes_] = model.predict_proba(X)
    own = np.maximum(proba[np.arange(len(X)), true], SMALLEST_PROBA)
    return {
        "accuracy": (model.predict(X) == true).mean(),
        "log-loss": -np.log(own).mean(),
    }


@lru_cache(maxsize=1)
def _spoiled(name, seed, noise, rate, max_samples):
    """Features, true and given classes of some rows."""
    data = load_dataset(name)
    X = dense(data.data)
    rows = np.random.RandomState(seed).permutation(len(X))[:max_samples]
    X, true = X[rows], np.unique(data.target[rows], return_inverse=True)[1]
    X = X[:, np.ptp(X, axis=0) > 0]
    rng = np.random.RandomState(1000 + seed)
    return X, true, spoiled_classes(noise, rate, X, true, rng)


def spoiled_classes(noise, rate, X, true, rng):
    """Replace some classes by others.

    Parameters
    ----------
    noise : str
        - "symmetric": each with probability `rate`, by any other;
        - "next": by the next class;
        - "own": each class has a rate of its own, up to `rate`, and two others that it
          is given as;
        - "ambiguous": a share `rate` of the rows, drawn among three times as many that
          are the most ambiguous for a forest, by the most likely other class.
    rate : float
        How many.
    X : ndarray of shape (n, d)
        Features.
    true : ndarray of int of shape (n,)
        Clean classes 0, 1, ...
    rng : RandomState
        Draws them.

    Returns
    -------
    given : ndarray of int of shape (n,)
        The classes.
    """
    if noise not in NOISES:
        raise ValueError(f"There is no noise {noise!r}; choose {', '.join(NOISES)}.")
    n_rows, q = len(true), int(true.max()) + 1
    if noise == "ambiguous":
        return _spoiled_where_ambiguous(rate, X, true, rng)
    moved = rng.random_sample(n_rows)
    if noise == "symmetric":
        return np.where(moved < rate, (true + rng.randint(1, q, n_rows)) % q, true)
    if noise == "next":
        return np.where(moved < rate, (true + 1) % q, true)
    rates = rng.uniform(0, rate, q)
    targets = np.array(
        [
            rng.choice(np.delete(np.arange(q), c), min(2, q - 1), replace=False)
            for c in range(q)
        ]
    )
    other = targets[true, rng.randint(0, targets.shape[1], n_rows)]
    return np.where(moved < rates[true], other, true)


def _spoiled_where_ambiguous(rate, X, true, rng):
    forest = RandomForestClassifier(
        100, min_samples_leaf=3, oob_score=True, random_state=0
    ).fit(X, true)
    p = np.nan_to_num(forest.oob_decision_function_)
    n_wrong = int(rate * len(true))
    unsure = np.argsort(p.max(axis=1), kind="stable")[: 3 * n_wrong]
    rows = rng.permutation(unsure)[:n_wrong]
    p[np.arange(len(p)), true] = -1
    given = true.copy()
    given[rows] = p[rows].argmax(axis=1)
    return given
