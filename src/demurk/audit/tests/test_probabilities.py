"""Probabilities that do not know the label they judge."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import roc_auc_score

from demurk.audit import _class_members, _probabilities
from demurk.audit._class_members import LEAST_RIDGE, ClassMembers, _whitened
from demurk.audit._probabilities import (
    kernel_ridge,
    mirrored,
    out_of_sample_proba,
    scaled_features,
)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian"])
def test_kernel_ridge_would_read_the_own_label_without_the_mirror(monkeypatch, kernel):
    # Features say nothing about the labels, so that the kernel gives up: its score of a
    # row is the mean of the others, which is lower where the own label is a one.
    X = np.random.RandomState(0).normal(size=(200, 300))
    first = np.arange(200.0) % 2
    Y = np.column_stack([first, 1 - first])

    def told_apart():
        member = kernel_ridge(200, np.random.RandomState(0), kernel=kernel)
        proba = mirrored(member, X, Y, np.ones(Y.shape, bool), None)
        return abs(roc_auc_score(first, proba[:, 0]) - 0.5)

    honest = told_apart()
    monkeypatch.setattr(_probabilities, "mirror", lambda Y, means, n_rows: 0.0)
    leak = told_apart()
    assert leak > 0.45 and honest < 0.1


def test_no_member_reads_the_class_it_judges(rng):
    # Where there are half as many features as rows, a scatter inside the classes knows
    # those of its own rows well.
    given, X = np.arange(400) % 3, rng.normal(size=(400, 150))
    Y = np.eye(3)[given]
    for name, part in members(X, given)._parts.items():
        assert abs(roc_auc_score(Y.ravel(), part.ravel()) - 0.5) < 0.06, name
    own = _whitened(X, Y, None, np.ones(400, bool))
    leak = mirrored(kernel_ridge(400, rng), own, Y, np.ones(Y.shape, bool), None)
    assert roc_auc_score(Y.ravel(), leak.ravel()) > 0.56


def test_whitening_equals_a_slow_reference(rng):
    X, given, weights = (
        rng.normal(size=(50, 4)),
        np.arange(50) % 3,
        rng.uniform(size=50),
    )
    told, scatter = np.arange(50) >= 20, np.zeros((4, 4))
    for i in range(20, 50):
        same = told & (given == given[i])
        off = X[i] - np.average(X[same], axis=0, weights=weights[same])
        scatter += weights[i] * np.outer(off, off) / weights[told].sum()
    ridge = (LEAST_RIDGE + 4 / 30) * np.trace(scatter) / 4
    metric = np.linalg.inv(scatter + ridge * np.eye(4))
    found = _whitened(X, np.eye(3)[given], weights, told)
    for i, j in [(0, 1), (3, 40), (7, 22)]:
        off = X[i] - X[j]
        assert_allclose(((found[i] - found[j]) ** 2).sum(), off @ metric @ off)
    wide = rng.normal(size=(5, 9))
    assert _whitened(wide, np.eye(3)[np.arange(5) % 3], None, wide[:, 0] > -9) is wide


def test_the_member_that_predicts_better_counts_more(rng, monkeypatch):
    # Stripes along two features: steps for a forest, too narrow for the kernel.
    X = rng.uniform(size=(300, 6))
    Y = np.floor(4 * X[:, :2]) % 2
    params = {"n_estimators": 30, "n_jobs": 1, "random_state": 0}

    def error():
        seen = np.ones(Y.shape, bool)
        proba = out_of_sample_proba(X, scaled_features(X), Y, seen, params)
        return np.mean((Y - proba) ** 2)

    weighed = error()
    monkeypatch.setattr(_probabilities, "stack_weights", lambda *_: [0.5, 0.5])
    assert weighed < 0.95 * error()


@pytest.fixture
def spoiled(rng):
    """Three classes that overlap, a fifth of them replaced by the next."""
    true = rng.randint(3, size=240)
    X = rng.normal(size=(240, 6)) + 2 * np.eye(3, 6)[true]
    wrong = rng.uniform(size=240) < 0.2
    return X, np.where(wrong, (true + 1) % 3, true), true, wrong


def members(X, given):
    params = {"n_estimators": 40, "n_jobs": 1, "random_state": 0}
    return ClassMembers(X, scaled_features(X), np.eye(3)[given], params)


def test_a_second_look_learns_less_from_what_seems_wrong(spoiled):
    X, given, true, wrong = spoiled

    def right(proba):
        return proba[np.arange(len(true)), true].mean()

    looked = members(X, given)
    before = looked.proba
    assert looked.look_again(0.9 * wrong)
    assert right(looked.proba) > right(before) + 0.02
    # If nothing seems wrong the kernels see what they saw, and forests grow anew.
    again = members(X, given)
    parts = dict(again._parts)
    again.look_again(np.zeros(len(given)))
    for name in ("laplacian kernel", "whitened kernel"):
        assert_allclose(again._parts[name], parts[name], atol=1e-12)
    assert np.abs(again.proba - before).max() < 0.2


def test_a_second_look_does_not_read_the_own_class(rng):
    # Features say nothing, and rows of one class are said to be wrong.
    given = np.arange(240) % 3
    looked = members(rng.normal(size=(240, 6)), given)
    before = roc_auc_score(given == 0, looked.proba[:, 0])
    wrong = np.where(given == 0, rng.uniform(size=240) < 0.5, 0.0)
    looked.look_again(wrong)
    first = given == 0
    told = roc_auc_score(wrong[first], looked.proba[first, 0])
    assert abs(before - 0.5) < 0.1 and abs(told - 0.5) < 0.15


def test_members_are_weighed_at_the_second_look_only(spoiled, rng, monkeypatch):
    X, given, _, wrong = spoiled
    told = np.array([0.3, 0.3, 0.2, 0.1, 0.1])
    monkeypatch.setattr(_class_members, "stack_weights", lambda *_, start: told)
    beside = rng.uniform(size=(240, 3))
    monkeypatch.setattr(_class_members, "gaussian_proba", lambda *_: beside)
    looked = members(X, given)
    assert_allclose(looked.proba, np.mean(list(looked._parts.values()), axis=0))
    first = np.stack(list(looked._parts.values()))
    again = np.full_like(first[0], 0.25)
    monkeypatch.setattr(ClassMembers, "_judged", lambda *_: again)
    looked.look_again(0.9 * wrong)
    parts = [*(first / 3 + again * 2 / 3), beside]
    assert_allclose(looked.proba, np.tensordot(told, parts, axes=1))


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ([0.2, 0.1, 0.1, 0.0, 0.6], [0.4, 0.2, 0.2, 0, 0.2]),
        ([0.0, 0.0, 0.0, 0.0, 1.0], [0.2, 0.2, 0.2, 0.2, 0.2]),
        ([0.5, 0.5, 0.0, 0.0, 0.0], [0.5, 0.5, 0, 0, 0]),
    ],
)
def test_gaussians_get_a_fifth_at_most(spoiled, monkeypatch, told, expected):
    X, given, *_ = spoiled
    starts = []

    def weights(*_, start):
        starts.append(start)
        return np.array(told)

    monkeypatch.setattr(_class_members, "stack_weights", weights)
    looked = members(X, given)
    looked.weigh()
    assert_allclose(starts, [[0.225, 0.225, 0.225, 0.225, 0.1]])
    assert_allclose(looked._shares, expected)


@pytest.mark.parametrize(("n_features", "n_seen"), [(60, 60), (61, 30)])
def test_gaussians_see_components_of_many_features(
    rng, monkeypatch, n_features, n_seen
):
    seen = []
    own = _class_members.gaussian_proba
    monkeypatch.setattr(
        _class_members,
        "gaussian_proba",
        lambda X, *rows: seen.append(X) or own(X, *rows),
    )
    members(rng.normal(size=(90, n_features)), np.arange(90) % 3).weigh()
    assert [part.shape for part in seen] == [(90, n_seen)]


@pytest.mark.parametrize(("n_rows", "n_trees"), [(60, 200), (1000, 150), (9000, 100)])
def test_small_tables_get_more_trees(n_rows, n_trees):
    assert _class_members._enough_trees(n_rows) == n_trees


def test_many_rows_are_looked_at_once(spoiled, monkeypatch):
    X, given, *_ = spoiled
    looked = members(X, given)
    before = looked.proba
    monkeypatch.setattr(_class_members, "TWICE_ROWS", 239)
    assert not looked.look_again(np.zeros(240))
    assert_array_equal(looked.proba, before)
