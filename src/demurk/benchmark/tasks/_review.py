"""A person decides about suspects: what is found, and what it is worth."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import inspect
import time
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestRegressor

from demurk.audit import LabelAudit, soft_labels
from demurk.benchmark.tasks._common import (
    file_checksum,
    make_estimator,
    quiet,
    reason_to_skip,
)
from demurk.benchmark.tasks._few_labels import _spoiled
from demurk.benchmark.tasks._spoiled import dense_data
from demurk.labels import check_labels
from demurk.metrics import average_precision
from demurk.multilabel import MurkyClassifier
from demurk.out_of_sample import out_of_bag_scores
from demurk.review._estimate import remaining_errors
from demurk.review._order import mean_order

__all__ = ["ForestOrder", "RandomOrder", "review"]

# Decisions, as shares of the errors there are, after which is measured.
STOPS = {"W/4": 0.25, "W/2": 0.5, "W": 1.0}


class RandomOrder(BaseEstimator):
    """Suspects in any order."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        """Draw the order."""
        self.scores_ = np.random.RandomState(self.random_state).random_sample(y.shape)
        return self


class ForestOrder(BaseEstimator):
    """Suspects by how far a forest is from what was given, out of bag."""

    def __init__(self, n_estimators=100, random_state=None):
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X, y):
        """Fit the forest."""
        forest = RandomForestRegressor(
            self.n_estimators,
            max_features="sqrt",
            min_samples_leaf=3,
            random_state=self.random_state,
        ).fit(X, y)
        p = out_of_bag_scores(forest, X.astype(np.float32), y.astype(float))
        self.scores_ = np.abs(y - p)
        return self


def review(
    data_set,
    method,
    seed,
    *,
    labeled=0.3,
    noise="symmetric",
    rate=0.1,
    person=0.0,
    classify=True,
    members="full",
    n_turns=10,
    first_seed=100,
    max_labeled=800,
    n_train=None,
    n_test=None,
):
    """Spoil labels, let a simulated person look at suspects, and count what it brings.

    Parameters
    ----------
    data_set : str
        A name that :func:`~demurk.datasets.load_dataset` knows, or "toy".
    method : dict
        ``estimator`` and its ``params``: after ``fit(X, Y)`` it has ``scores_``, larger
        for more suspect entries. With ``reranked`` it is fitted again after every part
        of the decisions, and told what was decided if it asks for ``trusted``. With
        ``random_every`` every so many cards one is drawn at random.
    seed : int
        Seed of the split, the noise, the person and random methods.
    labeled : float, default=0.3
        Share of the training rows that have labels.
    noise, rate : str and float, default="symmetric", 0.1
        See :func:`~demurk.benchmark.tasks._spoiled.wrong_entries`.
    person : float, default=0.0
        How often the person decides wrongly.
    classify : bool, default=True
        Whether to train classifiers, as `demurk predict` does: before a decision on
        the given labels, afterwards on :func:`~demurk.audit.soft_labels`.
    members : str, default="full"
        Members of the classifier.
    n_turns : int, default=10
        How often a method ranks.
    first_seed : int, default=100
        Added to the seed; smaller ones served the design.
    max_labeled : int, default=800
        Labelled rows at most.
    n_train, n_test : int, default=None
        Rows of each part; None takes two thirds, and all others.

    Returns
    -------
    report : dict of str to float
        With W errors, after W/4, W/2 and W decisions: "fixed", the share of the errors
        that are gone (errors that the person made count against it); where the method
        has ``wrong_proba_``, "covered", whether the interval of what remains holds the
        true number, its "width" and "bias" in shares of W; if classified, "AP" of
        :class:`~demurk.multilabel.MurkyClassifier` (also after 0, and "clean", with
        every error fixed) and "gap", the share that it closes between a forest on the
        given labels and one on clean and complete ones. "seconds" is the CPU time of
        the ranking.

    Examples
    --------
    >>> from demurk.benchmark.tasks import review
    >>> method = {"estimator": "demurk.benchmark.tasks._review.ForestOrder"}
    >>> report = review("toy", method, 0, classify=False, n_train=300, n_test=100)
    >>> bool(report["fixed W"] > 0.3)
    True
    """
    seed += first_seed
    n_rows = len(dense_data(data_set, seed if data_set == "toy" else 0)[0])
    n_train = 2 * n_rows // 3 if n_train is None else n_train
    labeled = min(labeled, max_labeled / n_train)
    key = (data_set, seed, labeled, noise, rate, n_train, n_test)
    data, _ = _spoiled(*key)
    has = (data.given >= 0).any(axis=1)
    given, true = data.given[has], data.Y_train[has]
    reason = reason_to_skip(method, *given.shape)
    if reason is not None:
        return {"skipped": reason}
    run = Review(given, true, person, np.random.RandomState(2000 + seed))
    n_wrong = int((given != true).sum())
    turns = set(np.rint(np.linspace(0, n_wrong, n_turns + 1)).astype(int).tolist())
    stops = {name: round(share * n_wrong) for name, share in STOPS.items()}
    report, model, seconds = {}, None, 0.0
    if classify:
        report = _named(_worth(key, members, run), "0")
        clean = Review(true, true, 0.0, run.rng)
        report |= _named(_worth(key, members, clean), "clean")
    for n_done in range(n_wrong):
        if model is None or (method.get("reranked") and n_done in turns):
            start = time.process_time()
            model = _rank(method, data.X_train[has], run, seed)
            seconds += time.process_time() - start
            run.take(model)
        run.decide(method.get("random_every", 0))
        for name, stop in stops.items():
            if n_done + 1 == stop:
                report |= run.standing(name)
                if classify:
                    report |= _named(_worth(key, members, run), name)
    return report | {"seconds": seconds}


review.checksum = file_checksum


@dataclass
class Review:
    """A person who decides about entries, one after the other."""

    given: np.ndarray
    true: np.ndarray
    person: float
    rng: np.random.RandomState
    shown: list = field(default_factory=list)
    hits: list = field(default_factory=list)

    def __post_init__(self):
        self.values = self.given.copy()
        self.trusted = np.zeros(self.given.shape, dtype=bool)
        self.order, self.first, self.wrong = None, None, None

    def take(self, model):
        """Take a new order."""
        order = np.argsort(-model.scores_.ravel(), kind="stable")
        if self.first is None:
            self.first = order
        order = order[~self.trusted.ravel()[order]]
        self.order = iter(mean_order(order, self.first))
        self.wrong = getattr(model, "wrong_proba_", None)

    def decide(self, random_every):
        """Decide about the next card."""
        trusted = self.trusted.ravel()
        if random_every and len(self.hits) % random_every == random_every - 1:
            entry = self.rng.choice(np.flatnonzero(~trusted))
        else:
            entry = next(entry for entry in self.order if not trusted[entry])
        place = np.unravel_index(entry, self.given.shape)
        errs = self.rng.random_sample() < self.person
        self.values[place] = 1 - self.true[place] if errs else self.true[place]
        self.trusted[place] = True
        self.hits.append(self.values[place] != self.given[place])
        self.shown.append(np.nan if self.wrong is None else self.wrong[place])

    def standing(self, name):
        """What was reached, and how well what remains is known."""
        n_wrong = (self.given != self.true).sum()
        left = (self.values != self.true).sum()
        out = {f"fixed {name}": float(1 - left / n_wrong)}
        if self.wrong is None:
            return out
        found = remaining_errors(self.wrong[~self.trusted], self.shown, self.hits)
        remain = ((self.given != self.true) & ~self.trusted).sum()
        out[f"covered {name}"] = float(found.low <= remain <= found.high)
        out[f"width {name}"] = float((found.high - found.low) / n_wrong)
        out[f"bias {name}"] = float((found.expected - remain) / n_wrong)
        return out


def _rank(method, X, run, seed):
    """Fit a method to the labels as they are now."""
    model = make_estimator(method, seed=seed)
    known = {}
    if "trusted" in inspect.signature(model.fit).parameters:
        known = {"trusted": run.trusted, "given": run.given}
    with quiet():
        return model.fit(X, run.values, **known)


def _worth(key, members, run):
    """Average precision of a classifier after the decisions, and the gap it closes."""
    found = _learned(key, members, run.values.tobytes(), run.trusted.tobytes())
    low, high = _ends(*key)
    return {"AP": found, "gap": (found - low) / (high - low)}


@lru_cache(maxsize=8)
def _learned(key, members, values, trusted):
    """Average precision of a classifier; several orders lead to the same decisions."""
    data, _ = _spoiled(*key)
    labels = check_labels(data.given, kind="noisy")
    given = data.given[labels.labeled]
    now = np.frombuffer(values, given.dtype).reshape(given.shape)
    trusted = np.frombuffer(trusted, bool).reshape(given.shape)
    labels.values[labels.labeled] = now
    if trusted.any():
        audit = LabelAudit(random_state=key[1])
        with quiet():
            X = data.X_train[labels.labeled]
            audit.fit(X, now, trusted=trusted, given=given)
        labels.values[labels.labeled] = soft_labels(audit).values
    model = MurkyClassifier(members, random_state=key[1])
    with quiet():
        model.fit(data.X_train, labels)
    return _precision(data, model.decision_function(data.X_test))


def _named(values, stop):
    return {f"{name} {stop}": value for name, value in values.items()}


@lru_cache(maxsize=4)
def _ends(*key):
    """Average precision of forests on the given, and on clean and complete labels."""
    (data, _), ends = _spoiled(*key), []
    has = (data.given >= 0).any(axis=1)
    for X, Y in ((data.X_train[has], data.given[has]), (data.X_train, data.Y_train)):
        forest = RandomForestRegressor(300, max_features="sqrt", random_state=key[1])
        ends.append(_precision(data, forest.fit(X, Y).predict(data.X_test)))
    return ends


def _precision(data, scores):
    return float(average_precision(data.Y_test, scores))
