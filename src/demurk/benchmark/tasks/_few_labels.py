"""Few and noisy labels: a classifier beside a forest."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import time
from functools import lru_cache

import numpy as np
from sklearn.base import is_regressor

from demurk.benchmark.tasks._common import (
    file_checksum,
    make_estimator,
    quiet,
    reason_to_skip,
)
from demurk.benchmark.tasks._data import Split
from demurk.benchmark.tasks._spoiled import dense_data, wrong_entries
from demurk.metrics import multilabel_report
from demurk.out_of_sample import f1_cut, out_of_bag_scores

__all__ = ["few_labels"]


def few_labels(
    data_set,
    method,
    seed,
    *,
    labeled=0.3,
    noise="symmetric",
    rate=0.1,
    told=None,
    first_seed=100,
    n_train=None,
    n_test=None,
):
    """Spoil the labels of a part of the training rows, classify, and score the truth.

    Parameters
    ----------
    data_set : str
        A name that :func:`~demurk.datasets.load_dataset` knows, or "toy".
    method : dict
        ``estimator`` and its ``params``. A classifier is fitted to all training rows,
        -1 where there is no label. A regressor is fitted to the labelled rows and cut
        at one half, or where ``cut``, the dotted path of a MurkyClassifier, would cut
        it. With ``true_labels`` a regressor sees clean labels of all training rows
        and is cut so that it predicts as many labels as there are: a ceiling.
    seed : int
        Seed of the split, the noise and random methods.
    labeled : float, default=0.3
        Share of the training rows that have labels.
    noise, rate : str and float, default="symmetric", 0.1
        See :func:`~demurk.benchmark.tasks._spoiled.wrong_entries`.
    told : dict, default=None
        Parameters given to the classifiers that have them: what a user would know.
    first_seed : int, default=100
        Added to the seed; smaller ones served the design.
    n_train, n_test : int, default=None
        Rows of each part; None takes two thirds, and all others.

    Returns
    -------
    report : dict of str to float
        The seven measures on the test part; "seconds", CPU time of the fit; and "noise
        rate", where the classifier estimates it.

    Examples
    --------
    >>> from demurk.benchmark.tasks import few_labels
    >>> method = {"estimator": "sklearn.ensemble.RandomForestRegressor"}
    >>> report = few_labels("toy", method, 0, n_train=300, n_test=100)
    >>> bool(report["AP"] > 0.6)
    True
    """
    seed += first_seed
    data, rates = _spoiled(data_set, seed, labeled, noise, rate, n_train, n_test)
    reason = reason_to_skip(method, *data.Y_train.shape)
    if reason is not None:
        return {"skipped": reason}
    model = make_estimator(method, seed=seed)
    known = {k: v for k, v in (told or {}).items() if k in model.get_params()}
    model.set_params(**known)
    X, Y = _training_part(data, model, method)
    start = time.process_time()
    with quiet():
        model.fit(X, Y)
        seconds = time.process_time() - start
        if hasattr(model, "_rates") and not method.get("params"):
            rates[_words(told)] = model._rates
        if is_regressor(model):
            scores = model.predict(data.X_test)
            scores = scores - _cut(scores, model, method, data, told, rates, seed)
        else:
            scores = model.decision_function(data.X_test)
    report = multilabel_report(data.Y_test, (scores > 0).astype(int), scores)
    report["seconds"] = seconds
    if hasattr(model, "noise_rate_"):
        report["noise rate"] = float(model.noise_rate_)
    return report


few_labels.checksum = file_checksum


@lru_cache(maxsize=1)
def _spoiled(name, seed, labeled, noise, rate, n_train, n_test):
    """Data of a task; and the rates that were found, by what the method was told."""
    X, Y = dense_data(name, seed if name == "toy" else 0)
    rows = np.random.RandomState(seed).permutation(len(X))
    n_train = 2 * len(X) // 3 if n_train is None else n_train
    train = rows[:n_train]
    test = rows[n_train : None if n_test is None else n_train + n_test]
    part = train[: int(labeled * n_train)]
    rng = np.random.RandomState(1000 + seed)
    wrong = wrong_entries(noise, rate, X[part], Y[part], rng)
    given = np.full((n_train, Y.shape[1]), -1)
    given[: len(part)] = np.where(wrong, 1 - Y[part], Y[part])
    return Split(X[train], Y[train], X[test], Y[test], given), {}


def _words(told):
    return json.dumps(told, sort_keys=True)


def _training_part(data, model, method):
    """What a method is fitted to."""
    if not is_regressor(model):
        return data.X_train, data.given
    if method.get("true_labels", False):
        return data.X_train, data.Y_train
    has = (data.given >= 0).any(axis=1)
    return data.X_train[has], data.given[has]


def _cut(scores, model, method, data, told, rates, seed):
    """Where the scores of a regressor become labels."""
    if method.get("true_labels", False):
        n_true = max(int(data.Y_test.sum()), 1)
        last = np.partition(scores.ravel(), -n_true)[-n_true]
        return np.nextafter(last, -np.inf)  # the last one is predicted too
    if "cut" not in method:
        return 0.5
    X, Y = _training_part(data, model, method)
    if _words(told) not in rates:
        murky = make_estimator(method, key="cut", extra=told, seed=seed)
        rates[_words(told)] = murky.fit(data.X_train, data.given)._rates
    out_of_sample = out_of_bag_scores(model, X.astype(np.float32), Y.astype(float))
    return f1_cut(
        out_of_sample.ravel(),
        Y.ravel().astype(float),
        len(X),
        *rates[_words(told)],
    )
