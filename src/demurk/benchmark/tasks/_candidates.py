"""One task of the CENDA protocol: a fold, perhaps reduced, and a learner."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import time
from dataclasses import replace
from functools import lru_cache

import numpy as np

from demurk.benchmark.tasks._common import (
    file_checksum,
    make_estimator,
    quiet,
    reason_to_skip,
    unknown_parameter,
)
from demurk.benchmark.tasks._data import dense
from demurk.benchmark.tasks._partial_label import (
    PartialLabelData,
    partial_label_accuracy,
    partial_label_data,
    partial_label_folds,
)
from demurk.benchmark.tasks._tuning import tuned
from demurk.datasets import load_dataset
from demurk.labels import add_candidates

__all__ = ["candidates"]

# PL-ECOC says so where no half of the classes holds enough whole candidate sets.
REFUSAL = "too large for PLECOC"


def candidates(
    data_set,
    method,
    seed,
    *,
    n_extra=None,
    fraction=1.0,
    coupling=None,
    transductive=False,
    reducer_params=None,
    only_reduced=False,
    max_samples=None,
    smallest_class=None,
    n_splits=10,
):
    """Reduce a fold of candidate-set data, learn, and score the true classes.

    Parameters
    ----------
    data_set : str
        Data with candidate sets, or with known classes, to which false ones are added.
    method : dict
        ``estimator``, a learner, and its ``params``; perhaps ``grid``, parameters to be
        chosen in the fold, and ``cheaper``, parameters during that choice; perhaps
        ``reducer`` and ``reducer_params``; perhaps ``like``, another reducer that tells
        how many directions to keep.
    seed : int
        Number of the fold. From `n_splits` on the samples are shuffled anew.
    n_extra, fraction, coupling : int, float, float
        How false candidates are added; see
        :func:`~demurk.benchmark.tasks.partial_label_data`.
    transductive : bool, default=False
        Whether the reduction sees the test rows and their candidates.
    reducer_params : dict, default=None
        Parameters of the reducer, over those of the method; methods with a reducer
        that lacks them are skipped. With ``like`` they are those of the other reducer.
    only_reduced : bool, default=False
        Whether methods without a reducer are skipped.
    max_samples : int, default=None
        Larger data are cut to a random part of this size, the same for all methods.
    smallest_class : int, default=None
        For data with several labels: only samples with one label are kept, of classes
        with at least so many of them.
    n_splits : int, default=10
        Number of folds.

    Returns
    -------
    report : dict of str to float
        "accuracy", "n_components", and CPU "seconds" of the learner and "reduction
        seconds".

    Examples
    --------
    >>> from demurk.benchmark.tasks import candidates
    >>> method = {"estimator": "demurk.partial_label.PLkNN"}
    >>> report = candidates("digits", method, 0, n_extra=1, max_samples=500)
    >>> bool(report["accuracy"] > 0.8)
    True
    """
    made = (n_extra, fraction, coupling, max_samples, smallest_class)
    data = _data(data_set, *made)
    reason = reason_to_skip(method, *data.candidates.shape)
    if "reducer" in method:
        key = "like" if "like" in method else "reducer"
        reason = reason or unknown_parameter(method, reducer_params, key)
    elif only_reduced:
        reason = "has no reducer"
    if reason is not None:
        return {"skipped": reason}
    place = (data_set, made, transductive, n_splits, seed)
    with quiet():
        fold, reduction_seconds = _fold(method, reducer_params, place)
        start = time.process_time()
        learner = make_estimator(method, seed=fold.number)
        try:
            if "grid" in method:
                learner = tuned(learner, method["grid"], fold, method.get("cheaper"))
            accuracy = partial_label_accuracy(learner, fold)
        except ValueError as error:
            if REFUSAL not in str(error):
                raise
            return {"skipped": "the candidate sets are too large for it"}
    return {
        "accuracy": accuracy,
        "n_components": fold.X_train.shape[1],
        "seconds": time.process_time() - start,
        "reduction seconds": reduction_seconds,
    }


candidates.checksum = file_checksum


def _fold(method, extra, place):
    """The fold in the space of the method's reducer, and the CPU seconds it took."""
    if "reducer" not in method:
        return _reduced(None, None, *place)
    params = method.get("reducer_params", {})
    if "like" in method:
        other = {"reducer": method["like"]}
        model, _ = _fold(other, extra, place)
        return _reduced(
            method["reducer"],
            json.dumps({**params, "n_components": model.X_train.shape[1]}),
            *place,
        )
    return _reduced(method["reducer"], json.dumps({**params, **(extra or {})}), *place)


@lru_cache(maxsize=4)
def _reduced(reducer, params, data_set, made, transductive, n_splits, seed):
    """A fold; those of the last reducers are kept for the next learners."""
    number, shuffle = seed % n_splits, seed // n_splits
    if transductive:
        folds, seconds = _all_folds(reducer, params, data_set, made, n_splits, shuffle)
        return folds[number], seconds
    start = time.process_time()
    (fold,) = partial_label_folds(
        _data(data_set, *made),
        _reducer(reducer, params),
        n_splits=n_splits,
        seed=shuffle,
        only=[number],
    )
    return fold, time.process_time() - start


@lru_cache(maxsize=4)
def _all_folds(reducer, params, data_set, made, n_splits, shuffle):
    """All folds of data that were reduced as a whole."""
    start = time.process_time()
    data = _data(data_set, *made)
    folds = partial_label_folds(
        data,
        _reducer(reducer, params),
        n_splits=n_splits,
        seed=shuffle,
        transductive=True,
    )
    return list(folds), time.process_time() - start


def _reducer(path, params):
    if path is None:
        return None
    return make_estimator({"estimator": path, "params": json.loads(params)})


@lru_cache(maxsize=2)
def _data(name, n_extra, fraction, coupling, max_samples, smallest_class, seed=0):
    if smallest_class is not None:
        data = _single_labels(name, n_extra, fraction, coupling, smallest_class, seed)
    else:
        data = partial_label_data(
            name, n_extra, fraction=fraction, coupling=coupling, seed=seed
        )
    if max_samples is None or len(data.X) <= max_samples:
        return data
    rows = np.random.RandomState(seed).permutation(len(data.X))[:max_samples]
    return replace(
        data, X=data.X[rows], candidates=data.candidates[rows], truth=data.truth[rows]
    )


def _single_labels(name, n_extra, fraction, coupling, smallest_class, seed):
    """Samples of multi-label data that have one label, of the larger classes."""
    found = load_dataset(name)
    Y = np.asarray(found.target)
    single = Y.sum(axis=1) == 1
    large = Y[single].sum(axis=0) >= smallest_class
    rows = single & Y[:, large].any(axis=1)
    truth = Y[rows][:, large].argmax(axis=1)
    made = add_candidates(
        truth,
        n_extra,
        classes=range(int(large.sum())),
        fraction=fraction,
        coupling=coupling,
        random_state=seed,
    )
    return PartialLabelData(dense(found.data[rows]), made.labels, truth, name)
