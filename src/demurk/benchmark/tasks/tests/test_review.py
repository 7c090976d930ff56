"""The simulated person, and what its decisions bring."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

from demurk.benchmark.tasks import review
from demurk.benchmark.tasks._few_labels import _spoiled
from demurk.benchmark.tasks._review import Review
from demurk.metrics import average_precision
from demurk.multilabel import MurkyClassifier

SIZES = {"n_train": 200, "n_test": 100, "first_seed": 0}
FOREST = {
    "estimator": "demurk.benchmark.tasks._review.ForestOrder",
    "params": {"n_estimators": 10},
}
AUDIT = {"estimator": "demurk.audit.LabelAudit", "params": {"n_estimators": 10}}


class Scores(BaseEstimator):
    """A model with the scores and probabilities that it is given."""

    def __init__(self, scores_, wrong_proba_=None):
        self.scores_, self.wrong_proba_ = scores_, wrong_proba_


@pytest.fixture
def labels():
    rng = np.random.RandomState(0)
    true = rng.randint(2, size=(50, 4))
    return np.where(rng.random_sample(true.shape) < 0.2, 1 - true, true), true


def test_decisions_follow_the_order_and_are_not_asked_twice(labels):
    given, true = labels
    scores = np.random.RandomState(1).random_sample(given.shape)
    run = Review(given, true, 0.0, np.random.RandomState(0))
    run.take(Scores(scores))
    for _ in range(30):
        run.decide(0)
    top = np.argsort(-scores, axis=None)[:30]
    assert sorted(np.flatnonzero(run.trusted)) == sorted(top)
    wrong = (given != true).ravel()
    assert run.hits == wrong[top].tolist()
    assert run.standing("W")["fixed W"] == pytest.approx(wrong[top].sum() / wrong.sum())
    run.take(Scores(scores))
    run.decide(0)
    assert run.trusted.sum() == 31


def test_every_tenth_is_drawn_at_random(labels):
    given, true = labels
    scores = np.arange(given.size, dtype=float).reshape(given.shape)
    run = Review(given, true, 0.0, np.random.RandomState(0))
    run.take(Scores(scores))
    for _ in range(40):
        run.decide(10)
    among_last = np.flatnonzero(run.trusted) >= given.size - 40
    assert run.trusted.sum() == 40
    assert 36 <= among_last.sum() < 40


def test_a_person_who_errs_makes_errors_that_count(labels):
    _, true = labels
    run = Review(true.copy(), true, 1.0, np.random.RandomState(0))
    run.given[0, 0] = 1 - true[0, 0]
    run.values = run.given.copy()
    run.take(Scores(np.zeros(true.shape)))
    run.decide(0)
    assert run.hits == [False]
    assert run.standing("W")["fixed W"] == 0
    run.decide(0)
    assert run.hits == [False, True]
    assert run.standing("W")["fixed W"] == -1


def test_the_interval_is_about_what_was_not_looked_at(labels):
    given, true = labels
    wrong = (given != true) * 0.98 + 0.01
    run = Review(given, true, 0.0, np.random.RandomState(0))
    run.take(Scores(wrong, wrong))
    for _ in range(10):
        run.decide(0)
    assert run.shown == [0.99] * 10
    standing = run.standing("W/4")
    assert standing["covered W/4"] == 1
    assert abs(standing["bias W/4"]) < 0.2 and standing["width W/4"] < 0.6


def test_an_audit_is_told_what_was_decided():
    once = review("toy", AUDIT, 5, labeled=1.0, classify=False, **SIZES)
    again = review(
        "toy", AUDIT | {"reranked": True}, 5, labeled=1.0, classify=False, **SIZES
    )
    assert once["fixed W"] < again["fixed W"] <= 1
    assert again["seconds"] > 3 * once["seconds"]
    assert {"covered W", "width W", "bias W"} <= set(again)
    order = {"estimator": "demurk.benchmark.tasks._review.RandomOrder"}
    chance = review("toy", order, 5, labeled=1.0, classify=False, **SIZES)
    assert 2 * chance["fixed W"] < once["fixed W"]


def test_what_decisions_are_worth():
    found = review("toy", FOREST, 3, members="fast", **SIZES)
    assert "covered W" not in found
    stops = ("0", "W/4", "W/2", "W", "clean")
    assert {f"gap {stop}" for stop in stops} <= set(found)
    data, _ = _spoiled("toy", 3, 0.3, "symmetric", 0.1, 200, 100)
    known = (data.given >= 0).any(axis=1)
    clean = np.where(known[:, np.newaxis], data.Y_train, -1)
    for stop, labels in (("0", data.given), ("clean", clean)):
        model = MurkyClassifier("fast", random_state=3)
        scores = model.fit(data.X_train, labels).decision_function(data.X_test)
        precision = average_precision(data.Y_test, scores)
        assert found[f"AP {stop}"] == pytest.approx(precision)


def test_no_more_rows_than_asked_for():
    few = review("toy", FOREST, 0, labeled=1.0, classify=False, max_labeled=20, **SIZES)
    n_wrong = round(1 / min(v for k, v in few.items() if "fixed" in k and v > 0))
    assert n_wrong < 40
