"""Several people label the same rows: what holds, who is good, what to predict."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import time
from functools import lru_cache

import numpy as np
from scipy.stats import spearmanr
from sklearn.metrics import average_precision_score, f1_score

from demurk.annotators import Annotations
from demurk.annotators._quality import person_quality
from demurk.benchmark.tasks._common import (
    file_checksum,
    make_estimator,
    quiet,
    reason_to_skip,
)
from demurk.benchmark.tasks._data import dense
from demurk.benchmark.tasks._people import simulated_people
from demurk.datasets import load_dataset, make_multilabel_blocks
from demurk.multilabel import MurkyClassifier

__all__ = ["annotators"]

# A method that is sure of what is wrong costs no more than this.
SMALLEST_PROBA = 1e-3
# What learns from each consensus; cheap members, since all methods get the same.
MEMBERS, N_TREES = ["rf", "ksrc"], 100


def annotators(
    data_set,
    method,
    seed,
    *,
    n_people=10,
    per_row=3,
    shared=0.1,
    max_samples=1500,
    classify=True,
):
    """Let simulated people label two thirds of the rows, and a method weigh them.

    Parameters
    ----------
    data_set : str
        A name that :func:`~demurk.datasets.load_dataset` knows, with classes or labels.
    method : dict
        ``estimator`` and its ``params``: ``fit(X, annotations)`` and then
        ``label_distributions_``, ``labels_`` and perhaps ``quality_``. With
        ``learns = "annotations"`` the classifier is given these instead of the
        consensus. ``least_per_row`` is how many answers a row must have.
    seed : int
        Seed of the rows, the people and random methods.
    n_people, per_row, shared : int, int and float, default=10, 3, 0.1
        See `simulated_people`.
    max_samples : int, default=1500
        Rows at most.
    classify : bool, default=True
        Whether a MurkyClassifier learns from the consensus.

    Returns
    -------
    report : dict of str to float
        - "consensus": accuracy of the consensus, micro-F1 of several labels;
        - "log-loss" of the soft consensus, by row or by entry;
        - "quality": rank correlation with Cohen's kappa of all that people would
          answer and the truth; "spammers last": whether those who guess are below all
          others;
        - "test": accuracy, or the mean average precision of the labels, of a
          MurkyClassifier on the last third of the rows;
        - "seconds", CPU time of the fit.

    Examples
    --------
    >>> from demurk.benchmark.tasks import annotators
    >>> method = {"estimator": "demurk.annotators.Consensus",
    ...           "params": {"method": "dawid-skene"}}
    >>> report = annotators("digits", method, 0, max_samples=300, classify=False)
    >>> sorted(report)
    ['consensus', 'log-loss', 'quality', 'seconds', 'spammers last']
    """
    if per_row < method.get("least_per_row", 1):
        return {"skipped": f"needs {method['least_per_row']} answers a row"}
    X, true, people = _labeled(data_set, seed, n_people, per_row, shared, max_samples)
    reason = reason_to_skip(method, len(X), 0)
    if reason is not None:
        return {"skipped": reason}
    n_train = len(people.answers)
    said = Annotations.from_array(people.given)
    model = make_estimator(method, seed=seed)
    start = time.process_time()
    with quiet():
        model.fit(X[:n_train], said)
        seconds = time.process_time() - start
        report = _weighed(model, said, true[:n_train])
        if getattr(model, "quality_", None) is not None:
            report |= _ranked(model, people, true[:n_train])
        if classify:
            own = method.get("learns") == "annotations"
            given = said if own else model.labels_
            report["test"] = _learned(X, true, n_train, given, seed)
    return {key: float(value) for key, value in report.items()} | {"seconds": seconds}


annotators.checksum = file_checksum


@lru_cache(maxsize=1)
def _labeled(name, seed, n_people, per_row, shared, max_samples):
    """Features, truth, and what people say of the first two thirds."""
    if name == "toy":
        data = make_multilabel_blocks(max_samples, random_state=seed)
    else:
        data = load_dataset(name)
    rows = np.random.RandomState(seed).permutation(data.data.shape[0])[:max_samples]
    X, true = dense(data.data[rows]), np.asarray(data.target)[rows]
    X = X[:, np.ptp(X, axis=0) > 0]
    n_train = 2 * len(rows) // 3
    if true.ndim == 1:
        true = np.unique(true, return_inverse=True)[1]
    else:
        true = true.astype(int)[:, true[:n_train].any(axis=0)]
    rng = np.random.RandomState(1000 + seed)
    people = simulated_people(
        X[:n_train], true[:n_train], n_people, per_row, shared, rng
    )
    return X, true, people


def _weighed(model, said, true):
    """Consensus against the truth."""
    beliefs = model.label_distributions_
    if said.single:
        # A class that nobody gave has no column.
        own = np.zeros(len(true))
        known = np.isin(true, said.classes)
        columns = np.searchsorted(said.classes, true[known])
        own[known] = beliefs[np.flatnonzero(known), columns]
        hit = np.mean(model.labels_ == true)
    else:
        own = np.where(true == 1, beliefs, 1 - beliefs)
        hit = f1_score(true, model.labels_ == 1, average="micro")
    return {
        "consensus": hit,
        "log-loss": -np.log(np.maximum(own, SMALLEST_PROBA)).mean(),
    }


def _ranked(model, people, true):
    """Estimated quality against that of all answers people would give."""
    found = np.asarray(model.quality_["quality"])
    if true.ndim == 1:
        truth = np.eye(people.answers.max() + 1)[true]
        answers = np.eye(truth.shape[1])[people.answers]
    else:
        truth, answers = true, people.answers
    given, shares = truth[:, np.newaxis] == 1, truth.mean(axis=0)
    missing = (given & (answers == 0)).sum(axis=0) / np.maximum(given.sum(axis=0), 1)
    extra = (~given & (answers == 1)).sum(axis=0) / np.maximum((~given).sum(axis=0), 1)
    quality = person_quality(extra, missing, shares, true.ndim == 1)[1]
    report = {"quality": spearmanr(found, quality).statistic}
    if len(people.spammers):
        others = np.delete(found, people.spammers)
        report["spammers last"] = found[people.spammers].max() < others.min()
    return report


def _learned(X, true, n_train, given, seed):
    """What a classifier makes of the consensus."""
    model = MurkyClassifier(MEMBERS, n_estimators=N_TREES, random_state=seed)
    model.fit(X[:n_train], given)
    if true.ndim == 1:
        return np.mean(model.predict(X[n_train:]) == true[n_train:])
    proba, test = model.predict_proba(X[n_train:]), true[n_train:]
    held = test.any(axis=0)
    return average_precision_score(test[:, held], proba[:, held], average="macro")
