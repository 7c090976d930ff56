"""Scores of classifiers when not every label is observed."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.base import clone, is_classifier
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    StratifiedKFold,
    cross_val_score,
)

from demurk.labels import NothingObserved, hide_entries
from demurk.model_selection import LabeledKFold, candidate_scorer, observed_scorer
from demurk.multilabel import MLkNN, MurkyClassifier
from demurk.partial_label import PLkNN
from demurk.tests.test_common import ESTIMATORS

CLASSIFIERS = [estimator for estimator in ESTIMATORS if is_classifier(estimator)]
each_classifier = pytest.mark.parametrize(
    "classifier", CLASSIFIERS, ids=lambda e: type(e).__name__
)


@pytest.fixture
def classes(rng):
    """Features, a class per sample, and the same with half of them hidden."""
    X = rng.normal(size=(90, 5))
    truth = X[:, :3].argmax(axis=1)
    return X, truth, np.where(rng.uniform(size=90) < 0.5, -1, truth)


@pytest.fixture
def labels(rng):
    """Features, labels, and the same with entries hidden."""
    X = rng.normal(size=(90, 5))
    truth = (X[:, :3] + rng.normal(scale=0.3, size=(90, 3)) > 0).astype(int)
    return X, truth, hide_entries(truth, 0.4, random_state=0).labels


def small_murky():
    return MurkyClassifier("fast", n_estimators=10, random_state=0)


@each_classifier
def test_samples_without_a_class_do_not_count(classifier, classes):
    X, truth, y = classes
    model = clone(classifier).fit(X, truth)
    known = y != -1
    expected = accuracy_score(truth[known], model.predict(X[known]))
    assert 0 < expected
    assert model.score(X, y) == pytest.approx(expected, abs=1e-12)
    assert model.score(X, truth) == accuracy_score(truth, model.predict(X))


@each_classifier
def test_entries_not_observed_are_not_compared(classifier, labels):
    X, truth, Y = labels
    if classifier._label_kind == "candidates":
        pytest.skip("predicts one class")
    model = clone(classifier).fit(X, truth)
    X = X + 0.5  # so that no one is right everywhere
    predicted, observed = model.predict(X), Y != -1
    rows = observed.any(axis=1)
    expected = np.mean(((predicted == Y) | ~observed).all(axis=1)[rows])
    assert expected < 1
    assert model.score(X, Y) == pytest.approx(expected, abs=1e-12)
    assert model.score(X, truth) == accuracy_score(truth, predicted)


@pytest.mark.filterwarnings("ignore:y holds only 1 and -1")
def test_candidates_that_are_not_observed_do_not_count():
    X, S = np.arange(4.0)[:, np.newaxis], np.eye(4, 3, dtype=int)
    S[3] = [0, 1, 1]
    model = PLkNN(1).fit(X, S)
    predicted = model.predict(X)
    inside = S[np.arange(4), predicted]
    assert model.score(X, S) == inside.mean()
    hidden = S.copy()
    hidden[np.arange(4), predicted] = [-1, inside[1], inside[2], inside[3]]
    hidden[0] = -1
    assert model.score(X, hidden) == inside[1:].mean()
    assert model.score(X, hidden) == candidate_scorer()(model, X, hidden)


def forms(Y):
    """The labels in every form, with the mask where one is needed."""
    hidden = Y == -1
    sets = [set(np.flatnonzero(row == 1).tolist()) for row in Y]
    whole = [None if hide.any() else one for one, hide in zip(sets, hidden)]
    whole_rows = np.where(hidden.any(axis=1, keepdims=True), -1, Y)
    return [
        (np.where(hidden, np.nan, Y), None, Y),
        (pd.DataFrame(np.where(hidden, np.nan, Y)), None, Y),
        (pd.DataFrame(Y, columns=list("abc")), None, Y),
        (csr_array(np.maximum(Y, 0)), ~hidden, Y),
        (whole, None, whole_rows),
    ]


def test_every_form_of_labels_has_the_same_score(labels):
    X, truth, Y = labels
    model = MLkNN().fit(X, truth)
    for form, mask, same in forms(Y):
        assert model.score(X, form, observed=mask) == model.score(X, same)


def test_columns_of_a_frame_are_found_by_name(labels):
    X, truth, _ = labels
    frame = pd.DataFrame(truth, columns=list("abc"))
    model = MLkNN().fit(X, frame)
    assert model.score(X, frame[["c", "a", "b"]]) == model.score(X, truth)
    with pytest.raises(ValueError, match="give the same columns"):
        model.score(X, frame.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="give the same columns"):
        model.score(X, frame[["a", "b"]])
    with pytest.raises(ValueError, match="give the same columns"):
        model.score(X, truth[:, :2])


def test_sets_may_lack_labels_and_name_others():
    X = np.arange(6.0)[:, np.newaxis]
    model = MLkNN(1, smoothing=0.1).fit(X, [{"a"}] * 3 + [{"b"}] * 3)
    assert model.score(X[:3], [{"a"}, {"a"}, {"a"}]) == 1
    assert model.score(X[:3], [{"a"}, {"a", "new"}, None]) == 0.5


def test_a_class_that_training_lacked_is_wrong(classes):
    X, truth, _ = classes
    model = MLkNN().fit(X[truth < 2], truth[truth < 2])
    assert model.score(X[truth == 2], truth[truth == 2]) == 0
    assert model.score(X, truth) == np.mean(model.predict(X) == truth)


def test_weights_of_samples(labels):
    X, truth, Y = labels
    model = MLkNN().fit(X, truth)
    weights = np.arange(len(Y)) % 3
    rows = np.repeat(np.arange(len(Y)), weights)
    repeated = model.score(X[rows], Y[rows])
    assert model.score(X, Y, sample_weight=weights) == pytest.approx(repeated)
    right = [model.score(X[[i]], truth[[i]]) for i in range(len(X))]
    assert model.score(X, truth, sample_weight=right) == 1 > model.score(X, truth)
    with pytest.raises(ValueError, match="sample_weight above zero"):
        model.score(X, Y, sample_weight=(Y == -1).all(axis=1))


def folds_by_hand(model, X, y, cv, score):
    """What cross-validation should say, from its definition."""
    return [
        score(clone(model).fit(X[train], y[train]).predict(X[test]), y[test])
        for train, test in cv.split(X, y)
    ]


def class_share(predicted, y):
    return np.mean((predicted == y)[y != -1])


def label_share(predicted, Y):
    rows = (Y != -1).any(axis=1)
    return np.mean(((predicted == Y) | (Y == -1)).all(axis=1)[rows])


def test_cross_validation_of_classes_is_right(classes):
    X, _, y = classes
    model = small_murky()
    scores = cross_val_score(model, X, y, cv=3)
    expected = folds_by_hand(model, X, y, StratifiedKFold(3), class_share)
    np.testing.assert_allclose(scores, expected)
    # A -1 that counts as a class would be missed by every prediction.
    assert np.mean(scores) > np.mean(y != -1)


def test_cross_validation_of_labels_is_right(labels):
    X, _, Y = labels
    model = small_murky()
    scores = cross_val_score(model, X, Y, cv=3)
    expected = folds_by_hand(model, X, Y, KFold(3), label_share)
    np.testing.assert_allclose(scores, expected)


def test_cross_validation_of_a_frame_with_nan(labels):
    X, _, Y = labels
    frame = pd.DataFrame(np.where(Y == -1, np.nan, Y), columns=list("abc"))
    cv = LabeledKFold(3, random_state=0)
    scores = cross_val_score(MLkNN(), X, frame, cv=cv)
    expected = folds_by_hand(MLkNN(), X, Y, cv, label_share)
    np.testing.assert_allclose(scores, expected)
    # scikit-learn asks no one of ours before it refuses to make folds of its own.
    with pytest.raises(ValueError, match="Input y contains NaN"):
        cross_val_score(MLkNN(), X, frame)


@pytest.mark.parametrize("scoring", [None, observed_scorer("hamming")])
def test_a_search_never_selects_by_nan(labels, scoring):
    X, Y, _ = labels
    Y = np.where((np.arange(90) < 60)[:, np.newaxis], Y, -1)
    grid = {"n_neighbors": [3, 5]}
    with pytest.raises(NothingObserved, match=r"18 test samples.*LabeledKFold\(\)"):
        GridSearchCV(MLkNN(), grid, scoring=scoring).fit(X, Y)
    cv = LabeledKFold(3, random_state=0)
    search = GridSearchCV(MLkNN(), grid, scoring=scoring, cv=cv).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_a_search_over_candidates_never_selects_by_nan(classes):
    X, truth, _ = classes
    y = np.where(np.arange(90) < 30, truth, -1)
    search = GridSearchCV(PLkNN(), {"n_neighbors": [3, 5]}, cv=KFold(3))
    for scoring in (None, candidate_scorer()):
        with pytest.raises(NothingObserved, match="LabeledKFold"):
            search.set_params(scoring=scoring).fit(X, y)


def test_the_mask_of_sparse_labels_is_routed(labels):
    X, _, Y = labels
    cv = LabeledKFold(3, random_state=0)
    grid = {"n_neighbors": [3, 5]}
    expected = GridSearchCV(MLkNN(), grid, cv=cv).fit(X, Y).best_score_
    with sklearn.config_context(enable_metadata_routing=True):
        model = MLkNN().set_fit_request(observed=True).set_score_request(observed=True)
        search = GridSearchCV(model, grid, cv=cv)
        search.fit(X, csr_array(np.maximum(Y, 0)), observed=Y != -1)
    assert search.best_score_ == expected
