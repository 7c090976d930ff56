"""The task of the protocol wrong-classes, and the rivals in it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from demurk.benchmark.rivals import _classes as rivals
from demurk.benchmark.rivals._audited import AuditedClasses
from demurk.benchmark.tasks import wrong_classes
from demurk.benchmark.tasks._wrong_classes import NOISES, spoiled_classes


@pytest.fixture(scope="module")
def blobs():
    rng = np.random.RandomState(0)
    true = np.arange(600) % 4
    return rng.standard_normal((600, 4)) + 3 * np.eye(4)[true], true


@pytest.mark.parametrize("noise", NOISES)
def test_each_noise_spoils_what_it_names(blobs, noise):
    X, true = blobs
    given = spoiled_classes(noise, 0.2, X, true, np.random.RandomState(1))
    wrong = given != true
    assert_array_equal(np.unique(given), np.arange(4))
    if noise == "own":
        pairs = {(a, b) for a, b in zip(true[wrong], given[wrong])}
        assert 0 < wrong.mean() < 0.2 and len(pairs) <= 8
        return
    assert abs(wrong.mean() - 0.2) < 0.05
    if noise == "next":
        assert_array_equal(given[wrong], (true[wrong] + 1) % 4)
    if noise == "ambiguous":
        center = np.abs(X - 3 * np.eye(4)[true]).sum(axis=1)
        assert center[wrong].mean() > center[~wrong].mean() + 0.3


def test_unknown_noise_is_named(blobs):
    with pytest.raises(ValueError, match="choose symmetric, next, own, ambiguous"):
        spoiled_classes("odd", 0.1, *blobs, np.random.RandomState(0))


@pytest.mark.parametrize("name", ["ForestClasses", "NeighborVote"])
def test_rivals_find_wrong_rows(name):
    method = {"estimator": f"demurk.benchmark.rivals._classes.{name}"}
    report = wrong_classes("digits", method, 0, max_samples=300)
    assert report["AP"] > 0.5 and 0 < report["flag F1"] <= 1
    clean = wrong_classes("digits", method, 0, rate=0.0, max_samples=300)
    assert "AP" not in clean and clean["share flagged"] < report["share flagged"]


def test_a_classifier_is_scored_on_other_rows():
    method = {
        "estimator": "sklearn.ensemble.RandomForestClassifier",
        "params": {"n_estimators": 20},
    }
    report = wrong_classes("digits", method, 0, max_samples=300)
    assert report["accuracy"] > 0.6 and report["log-loss"] > 0
    assert "AP" not in report


def test_cleanlab_shows_all_options(blobs):
    pytest.importorskip("cleanlab")
    X, true = blobs
    given = np.where(np.random.RandomState(2).rand(600) < 0.1, (true + 1) % 4, true)
    found = AuditedClasses(random_state=0).fit(X, given)
    assert list(found.other_flags_) == list(rivals.FILTERS)
    assert list(found.other_scores_) == list(rivals.RANKINGS)
    assert (given != true)[np.argsort(-found.scores_)[:20]].mean() > 0.8
    learner = rivals.CleanlabLearner(random_state=0).fit(X, given)
    assert (learner.predict(X) == true).mean() > 0.85
