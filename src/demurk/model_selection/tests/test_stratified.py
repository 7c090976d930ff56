"""Folds with even counts of every label."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.model_selection import cross_val_score

from demurk.labels import hide_entries
from demurk.model_selection import LabeledKFold, StratifiedLabeledKFold, _stratified
from demurk.multilabel import MLkNN


def folds_of(cv, y, **options):
    return [test for _, test in cv.split(np.zeros((len(y), 1)), y, **options)]


def label_counts(tests, Y):
    return np.array([np.count_nonzero(Y[test] == 1, axis=0) for test in tests])


def assert_partition(cv, y, labeled):
    splits = list(cv.split(np.zeros((len(y), 1)), y))
    tests = np.concatenate([test for _, test in splits])
    np.testing.assert_array_equal(np.sort(tests), np.flatnonzero(labeled))
    for train, test in splits:
        np.testing.assert_array_equal(np.sort([*train, *test]), np.arange(len(y)))


@settings(max_examples=100, deadline=None)
@given(
    y=st.lists(st.integers(-1, 4), min_size=1, max_size=60),
    n_splits=st.integers(2, 7),
    seed=st.none() | st.integers(0, 5),
)
def test_counts_of_classes_and_sizes_are_within_one(y, n_splits, seed):
    y = np.array(y + [0] * n_splits)
    cv = StratifiedLabeledKFold(n_splits, shuffle=seed is not None, random_state=seed)
    assert_partition(cv, y, y != -1)
    tests = folds_of(cv, y)
    counts = np.array([[np.sum(y[test] == c) for c in range(5)] for test in tests])
    assert np.ptp(counts, axis=0).max() <= 1
    assert np.ptp([len(test) for test in tests]) <= 1


@settings(max_examples=60, deadline=None)
@given(data=st.data(), n_splits=st.integers(2, 5), seed=st.integers(0, 5))
def test_folds_of_labels_are_a_partition_in_even_parts(data, n_splits, seed):
    n, q = data.draw(st.integers(n_splits, 40)), data.draw(st.integers(2, 4))
    row = st.lists(st.integers(-1, 1), min_size=q, max_size=q)
    Y = np.array(data.draw(st.lists(row, min_size=n, max_size=n)) + [[0] * q] * n)
    cv = StratifiedLabeledKFold(n_splits, random_state=seed)
    assert_partition(cv, Y, (Y != -1).any(axis=1))
    counts = label_counts(folds_of(cv, Y), Y)
    assert np.abs(counts - counts.mean(axis=0)).max() < 2


@pytest.mark.parametrize(
    "n_rows, n_labels, share, n_splits",
    [(60, 4, 0.3, 5), (200, 10, 0.2, 5), (400, 20, 0.1, 10), (300, 5, 0.02, 3)],
)
def test_counts_of_labels_are_within_one_of_even(n_rows, n_labels, share, n_splits):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        Y = (rng.random((n_rows, n_labels)) < share).astype(np.int8)
        Y = hide_entries(Y, 0.2, random_state=seed).labels
        cv = StratifiedLabeledKFold(n_splits, random_state=seed)
        counts = label_counts(folds_of(cv, Y), Y)
        assert np.abs(counts - counts.mean(axis=0)).max() <= 1
        # Folds dealt at random are not.
        plain = label_counts(folds_of(LabeledKFold(n_splits, random_state=seed), Y), Y)
        assert np.abs(plain - plain.mean(axis=0)).max() > 1


def test_a_rare_label_is_in_every_fold():
    Y = np.zeros((100, 2), dtype=int)
    Y[:50, 0] = Y[[3, 4, 60, 61, 62], 1] = 1
    counts = label_counts(folds_of(StratifiedLabeledKFold(5, random_state=0), Y), Y)
    np.testing.assert_array_equal(counts, [[10, 1]] * 5)


def test_exchanges_even_out_what_dealing_did_not(monkeypatch):
    Y = (np.random.default_rng(3).random((40, 12)) < 0.4).astype(int)

    def worst():
        cv = StratifiedLabeledKFold(4, shuffle=False)
        counts = label_counts(folds_of(cv, Y), Y)
        return np.abs(counts - counts.mean(axis=0)).max()

    assert worst() <= 1
    monkeypatch.setattr(_stratified, "_exchange", lambda *_: None)
    assert worst() > 1


def test_entries_that_are_not_observed_do_not_count():
    Y = np.array([[1, -1], [1, -1], [0, -1], [0, -1], [-1, 1], [-1, 1], [-1, 0]])
    counts = label_counts(folds_of(StratifiedLabeledKFold(2, random_state=0), Y), Y)
    np.testing.assert_array_equal(counts, [[1, 1]] * 2)


def test_random_state():
    y = np.arange(60) % 3

    def first(seed):
        return folds_of(StratifiedLabeledKFold(3, random_state=seed), y)[0]

    np.testing.assert_array_equal(first(1), first(1))
    assert not np.array_equal(first(1), first(2))


def test_forms_of_labels():
    rng = np.random.default_rng(0)
    Y = hide_entries((rng.random((30, 3)) < 0.4) * 1, 0.3, random_state=0).labels
    cv = StratifiedLabeledKFold(3, random_state=0)
    expected = folds_of(cv, Y)
    frame = pd.DataFrame(np.where(Y == -1, np.nan, Y), columns=list("abc"))
    X = np.zeros((30, 1))
    sparse = [t for _, t in cv.split(X, csr_array(np.maximum(Y, 0)), observed=Y != -1)]
    for other in (folds_of(cv, frame), sparse):
        for one, two in zip(expected, other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_in_cross_validation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = np.where(rng.random(60) < 0.5, (X[:, 0] > 0).astype(int), -1)
    cv = StratifiedLabeledKFold(3, random_state=0)
    assert repr(cv).startswith("StratifiedLabeledKFold(n_splits=3")
    assert cross_val_score(MLkNN(3), X, y, cv=cv).mean() > 0.7


def test_labels_are_needed():
    with pytest.raises(ValueError, match="StratifiedLabeledKFold needs the labels"):
        next(StratifiedLabeledKFold().split(np.zeros((4, 1))))
    with pytest.raises(ValueError, match=r"y has 2 row\(s\)"):
        next(StratifiedLabeledKFold().split(np.zeros((4, 1)), [0, 1, -1, -1]))
