"""Folds that keep unlabelled rows in training."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pandas as pd
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    check_cv,
    cross_val_predict,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading

from demurk.model_selection import LabeledKFold


def two_clusters(seed=0, n_samples=40):
    """Well separated classes 0 and 1, about half of the rows unlabelled."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_samples) % 2
    X = rng.standard_normal((n_samples, 2)) + 10 * y[:, np.newaxis]
    hidden = rng.random(n_samples) < 0.5
    return X, np.where(hidden, -1, y), y


def folds_of(y, **options):
    options = {"n_splits": 3, "random_state": 0, **options}
    return list(LabeledKFold(**options).split(np.zeros((len(y), 1)), y))


def assert_same_folds(first, second):
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
        np.testing.assert_array_equal(one[1], other[1])


@settings(max_examples=100, deadline=None)
@given(
    labeled=st.lists(st.booleans(), min_size=2, max_size=30),
    n_splits=st.integers(2, 6),
    shuffle=st.booleans(),
    seed=st.integers(0, 10),
)
def test_test_folds_partition_the_labelled_rows(labeled, n_splits, shuffle, seed):
    labeled = np.array(labeled + [True] * n_splits)
    y = np.where(labeled, np.arange(len(labeled)) % 2, -1)
    cv = LabeledKFold(n_splits, shuffle=shuffle, random_state=seed if shuffle else None)
    splits = list(cv.split(np.zeros((len(y), 1)), y))
    assert len(splits) == cv.get_n_splits() == n_splits
    tests = np.concatenate([test for _, test in splits])
    np.testing.assert_array_equal(np.sort(tests), np.flatnonzero(labeled))
    sizes = [len(test) for _, test in splits]
    assert max(sizes) - min(sizes) <= 1
    for train, test in splits:
        assert set(np.flatnonzero(~labeled)) <= set(train)
        assert sorted([*train, *test]) == list(range(len(y)))


def test_without_unlabelled_rows_it_is_a_plain_kfold():
    y = np.arange(11) % 3
    plain = KFold(4).split(y)
    ours = LabeledKFold(4, shuffle=False).split(y, y)
    assert_same_folds(list(ours), list(plain))


def test_a_row_with_one_observed_entry_is_tested():
    Y = np.array([[1, -1], [-1, -1], [0, 0], [-1, 0], [-1, -1]])
    tests = np.concatenate([test for _, test in folds_of(Y)])
    assert sorted(tests) == [0, 2, 3]


@pytest.mark.parametrize(
    "y",
    [
        [0, 1, -1, 1, 0, -1],
        [0.0, 1.0, np.nan, 1.0, 0.0, np.nan],
        np.array(["a", "b", None, "b", "a", None], dtype=object),
        ["a", "b", None, "b", "a", None],
        pd.Series([0, 1, -1, 1, 0, -1], index=list("uvwxyz")),
        pd.Series([0, 1, None, 1, 0, None], dtype="Int8"),
        [[0, 1], [1, -1], [-1, -1], [1, 1], [0, 0], [-1, -1]],
        pd.DataFrame({"p": [0, 1, -1, 1, 0, -1], "q": [0, 0, -1, 1, 0, -1]}),
    ],
)
def test_forms_of_labels(y):
    expected = folds_of(np.array([0, 1, -1, 1, 0, -1]))
    assert_same_folds(folds_of(y), expected)


def test_mask_for_sparse_labels():
    Y = sparse.csr_array(np.eye(6, 3, dtype=np.int8))
    observed = np.array([True, True, False, True, True, False])
    cv = LabeledKFold(2, random_state=0)
    X = np.zeros((6, 1))
    y = np.where(observed, 0, -1)
    assert_same_folds(list(cv.split(X, Y, observed=observed)), list(cv.split(X, y)))


def test_random_state():
    y = np.zeros(30, dtype=int)
    assert_same_folds(folds_of(y, random_state=3), folds_of(y, random_state=3))
    first, other = folds_of(y, random_state=3)[0][1], folds_of(y, random_state=4)[0][1]
    assert not np.array_equal(first, other)


def test_repr_and_check_cv():
    cv = LabeledKFold(3, random_state=1)
    assert repr(cv) == "LabeledKFold(n_splits=3, random_state=1, shuffle=True)"
    assert check_cv(cv) is cv


def test_semi_supervised_search():
    X, y, truth = two_clusters()
    cv = LabeledKFold(3, random_state=0)
    model = LabelSpreading(kernel="knn", n_neighbors=3, max_iter=1000)
    search = GridSearchCV(model, {"alpha": [0.2, 0.8]}, cv=cv).fit(X, y)
    assert search.best_score_ == 1.0
    np.testing.assert_array_equal(search.predict(X), truth)


def test_a_plain_kfold_misleads():
    X, y, _ = two_clusters()
    model = LabelSpreading(kernel="knn", n_neighbors=3)
    assert cross_val_score(model, X, y, cv=LabeledKFold(3, random_state=0)).min() == 1
    plain = cross_val_score(model, X, y, cv=KFold(3, shuffle=True, random_state=0))
    # A method that never answers -1 is wrong on each unlabelled test row.
    assert plain.mean() == pytest.approx(np.mean(y != -1), abs=0.02)


class CountUnlabeled(ClassifierMixin, BaseEstimator):
    """Score = unlabelled rows seen in training; accepts a routed mask."""

    def fit(self, X, y, observed=None):
        unlabeled = y == -1 if observed is None else ~np.asarray(observed)
        self.n_unlabeled_ = np.count_nonzero(unlabeled)
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)

    def score(self, X, y):
        return self.n_unlabeled_


def test_training_folds_hold_every_unlabelled_row():
    X, y, _ = two_clusters()
    scores = cross_val_score(CountUnlabeled(), X, y, cv=LabeledKFold(random_state=0))
    np.testing.assert_array_equal(scores, [np.count_nonzero(y == -1)] * 5)


def test_routed_mask():
    X, y, truth = two_clusters()
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_val_score(
            CountUnlabeled().set_fit_request(observed=True),
            X,
            truth,
            cv=LabeledKFold(random_state=0),
            params={"observed": y != -1},
        )
        # Nothing asked for, nothing needed.
        cross_val_score(CountUnlabeled(), X, y, cv=LabeledKFold(random_state=0))
    np.testing.assert_array_equal(scores, [np.count_nonzero(y == -1)] * 5)


def test_cross_val_predict_says_that_it_needs_a_partition():
    X, y, _ = two_clusters()
    with pytest.raises(ValueError, match="only works for partitions"):
        cross_val_predict(KNeighborsClassifier(), X, y, cv=LabeledKFold())


def test_fewer_labelled_rows_than_folds():
    with pytest.raises(ValueError, match=r"y has 2 row\(s\) .* n_splits=3; lower"):
        folds_of([0, 1, -1, -1])


def test_labels_are_needed():
    with pytest.raises(ValueError, match="needs the labels"):
        next(LabeledKFold().split(np.zeros((4, 1))))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        next(LabeledKFold().split(np.zeros((4, 1)), [0, 1]))


def test_groups_are_ignored_with_a_warning():
    y = np.zeros(6, dtype=int)
    with pytest.warns(UserWarning, match="ignores groups"):
        next(LabeledKFold().split(y, y, groups=y))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_splits": 1}, ValueError, "at least 2 folds"),
        ({"n_splits": 2.5}, TypeError, "an integer is needed"),
        ({"n_splits": True}, TypeError, "an integer is needed"),
        ({"shuffle": "yes"}, TypeError, "True or False"),
        ({"shuffle": False, "random_state": 0}, ValueError, "no effect"),
    ],
)
def test_wrong_parameters(options, error, message):
    with pytest.raises(error, match=message):
        LabeledKFold(**options)
