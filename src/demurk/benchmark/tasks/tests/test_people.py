"""Simulated people are as they are said to be."""

import numpy as np
import pytest

from demurk.benchmark.tasks import annotators
from demurk.benchmark.tasks._people import simulated_people


def draw(labels, n_people=6, per_row=2, shared=0.0):
    rng = np.random.RandomState(0)
    if labels:
        true = (rng.random_sample((400, 6)) < 0.3).astype(int)
        X = rng.normal(size=(400, 8)) + 2 * np.pad(true, [(0, 0), (0, 2)])
    else:
        true = rng.randint(6, size=400)
        X = rng.normal(size=(400, 8)) + 2 * np.eye(6, 8)[true]
    return true, simulated_people(X, true, n_people, per_row, shared, rng)


@pytest.mark.parametrize("labels", [False, True])
def test_each_row_is_seen_by_so_many(labels):
    _, people = draw(labels)
    assert (people.asked.sum(axis=1) == 2).all()
    shape = (400, 6, 6) if labels else (400, 6)
    assert people.answers.shape == people.given.shape == shape
    seen = people.given.reshape(400, 6, -1) >= 0
    np.testing.assert_array_equal(seen.all(axis=2), people.asked)
    assert np.ptp(people.asked.sum(axis=0)) > 20


def test_spammers_know_nothing_and_a_specialist_some_classes():
    true, people = draw(False)
    right = people.answers == true[:, np.newaxis]
    assert people.spammers.tolist() == [0, 1]
    assert (right[:, :2].mean(axis=0) < 0.3).all()
    assert np.bincount(people.answers[:, 1]).max() > 0.85 * 400
    by_class = np.array([right[true == k, 2].mean() for k in range(6)])
    assert (by_class > 0.85).sum() == 2 and (by_class < 0.6).sum() == 4
    assert (right[:, 3:].mean(axis=0) > 0.45).all()
    assert draw(False, n_people=3)[1].spammers.size == 0


def test_shared_errors_are_shared():
    alone, together = draw(False)[1], draw(False, shared=0.3)[1]
    true = draw(False)[0]

    def both_wrong_alike(people):
        first, second = people.answers[:, 4], people.answers[:, 5]
        return np.mean((first == second) & (first != true))

    assert both_wrong_alike(together) > both_wrong_alike(alone) + 0.05


@pytest.mark.parametrize("data_set", ["digits", "toy"])
def test_the_task_ranks_people(data_set):
    method = {"estimator": "demurk.annotators.Consensus", "params": {}}
    method["params"] = {"n_estimators": 30}
    options = {"max_samples": 450, "classify": False, "shared": 0.0}
    report = annotators(data_set, method, 0, per_row=5, **options)
    assert report["quality"] > 0.8 and report["spammers last"] == 1
    majority = {"estimator": method["estimator"], "params": {"method": "majority"}}
    plain = annotators(data_set, majority, 0, per_row=5, **options)
    assert report["consensus"] > plain["consensus"]
    assert report["log-loss"] < plain["log-loss"]
    picky = majority | {"least_per_row": 2}
    assert "skipped" in annotators(data_set, picky, 0, per_row=1)
