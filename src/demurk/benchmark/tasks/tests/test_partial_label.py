"""The protocol of the CENDA paper: folds, no leak, tests over folds."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import t as student
from scipy.stats import ttest_rel
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from demurk.benchmark import published_results
from demurk.benchmark.statistics import fold_t_test, win_tie_loss
from demurk.benchmark.tasks._partial_label import (
    PartialLabelData,
    partial_label_accuracy,
    partial_label_data,
    partial_label_folds,
)
from demurk.labels import add_candidates
from demurk.partial_label import PLECOC, PLkNN


class Spy(TransformerMixin, BaseEstimator):
    """Reducer that halves the features and remembers what it was fitted to."""

    fitted_to = []

    def fit(self, X, y):
        Spy.fitted_to.append((X.copy(), y.copy()))
        self.label_distributions_ = y / y.sum(axis=1, keepdims=True) + 0.0
        return self

    def transform(self, X):
        return 3 * X[:, ::2]


@pytest.fixture
def data(rng):
    truth = rng.randint(3, size=50)
    X = rng.normal(size=(50, 6), scale=4) + 5 * truth[:, None]
    X[:, 5] = 7.0
    return PartialLabelData(
        X, add_candidates(truth, 1, random_state=0).labels, truth, "toy"
    )


def test_data_with_made_candidates():
    data = partial_label_data("digits", 2, seed=1)
    assert data.X.shape == (1797, 64)
    assert data.candidates.shape == (1797, 10)
    assert_array_equal(data.candidates.sum(axis=1), 3)
    assert data.candidates[np.arange(1797), data.truth].all()
    assert_array_equal(
        partial_label_data("digits", 2, seed=1).candidates, data.candidates
    )
    other = partial_label_data("digits", 2, seed=2).candidates
    assert not np.array_equal(other, data.candidates)
    some = partial_label_data("digits", 1, fraction=0.5).candidates
    assert (some.sum(axis=1) == 2).sum() == round(0.5 * 1797)


def test_data_with_given_candidates(data_home):
    lost = partial_label_data("lost", data_home=data_home)
    assert lost.X.shape == (1122, 108)
    assert lost.candidates[np.arange(1122), lost.truth].all()
    with pytest.raises(ValueError, match="leave n_extra at None"):
        partial_label_data("lost", 1, data_home=data_home)


def test_wrong_data():
    with pytest.raises(ValueError, match="give the number n_extra"):
        partial_label_data("digits")
    with pytest.raises(ValueError, match="several labels"):
        partial_label_data("synthetic", 1)


def test_folds_are_standardised_on_the_training_rows(data):
    folds = list(partial_label_folds(data, n_splits=5, seed=3))
    splits = list(KFold(5, shuffle=True, random_state=3).split(data.X))
    for number, (fold, (train, test)) in enumerate(zip(folds, splits)):
        scaler = StandardScaler().fit(data.X[train])
        assert fold.number == number
        assert_allclose(fold.X_train, scaler.transform(data.X[train]))
        assert_allclose(fold.X_test, scaler.transform(data.X[test]))
        assert_array_equal(fold.candidates, data.candidates[train])
        assert_array_equal(fold.truth, data.truth[test])
        assert fold.confidences is None
    some = list(partial_label_folds(data, n_splits=5, seed=3, only=[1, 4]))
    assert [fold.number for fold in some] == [1, 4]
    assert_array_equal(some[1].X_test, folds[4].X_test)


def test_reducers_see_the_training_rows_only(data):
    Spy.fitted_to.clear()
    folds = list(partial_label_folds(data, Spy(), n_splits=5, seed=3))
    assert [len(X) for X, _ in Spy.fitted_to] == [40] * 5
    for fold, (X, sets) in zip(folds, Spy.fitted_to):
        assert_allclose(X.mean(axis=0), 0, atol=1e-12)
        assert_array_equal(sets, fold.candidates)
        assert fold.X_train.shape[1] == 3
        assert np.mean(fold.X_train.var(axis=0)) == pytest.approx(1)
        assert fold.confidences.shape == (40, 3)


def test_transductive_reduction_sees_all_rows_once(data):
    Spy.fitted_to.clear()
    folds = list(
        partial_label_folds(data, Spy(), n_splits=5, seed=3, transductive=True)
    )
    assert [len(X) for X, _ in Spy.fitted_to] == [50]
    assert_allclose(Spy.fitted_to[0][0].mean(axis=0), 0, atol=1e-12)
    for fold in folds:
        assert_array_equal(fold.confidences > 0, fold.candidates > 0)


def test_accuracy_is_that_of_the_learner(data):
    fold = next(partial_label_folds(data, n_splits=5))
    model = PLkNN(3).fit(fold.X_train, fold.candidates)
    expected = np.mean(model.predict(fold.X_test) == fold.truth)
    assert partial_label_accuracy(PLkNN(3), fold) == expected


def test_learners_get_seed_and_confidences(data, monkeypatch):
    seen = []
    monkeypatch.setattr(
        PLECOC, "fit", lambda self, X, y: seen.append(self.random_state) or self
    )
    monkeypatch.setattr(PLECOC, "predict", lambda self, X: np.zeros(len(X)))
    for fold in partial_label_folds(data, n_splits=5, only=[2]):
        partial_label_accuracy(PLECOC(), fold)
        partial_label_accuracy(PLECOC(random_state=7), fold)
    assert seen == [2, 7]

    def fit(self, X, y, label_distributions=None):
        seen.append(label_distributions)
        return self

    monkeypatch.setattr(PLkNN, "fit", fit)
    monkeypatch.setattr(PLkNN, "predict", lambda self, X: np.zeros(len(X)))
    for fold in partial_label_folds(data, Spy(), n_splits=5, only=[2]):
        partial_label_accuracy(PLkNN(), fold)
        partial_label_accuracy(PLkNN(vote="confidence"), fold)
        assert seen[-2] is None
        assert seen[-1] is fold.confidences


def test_paired_test(rng):
    first, second = rng.uniform(size=10), rng.uniform(size=10)
    plain = fold_t_test(first, second)
    assert plain == pytest.approx(ttest_rel(first, second).pvalue)
    assert fold_t_test(second, first) == pytest.approx(plain)
    assert fold_t_test(first, second, corrected=True) > plain
    # The correction divides the statistic by sqrt(1 + 10 / 9).
    shifted = second + 0.5
    t = ttest_rel(first, shifted).statistic / np.sqrt(1 + 10 / 9)
    expected = 2 * student.sf(abs(t), 9)
    assert fold_t_test(first, shifted, corrected=True) == pytest.approx(expected)


def test_constant_differences():
    scores = np.array([0.5, 0.6, 0.7])
    assert fold_t_test(scores, scores) == 1
    assert fold_t_test(scores + 0.1, scores) == 0
    assert win_tie_loss(scores, scores) == "tie"
    assert win_tie_loss(scores + 0.1, scores) == "win"
    assert win_tie_loss(scores, scores + 0.1, corrected=True) == "loss"
    with pytest.raises(ValueError, match="at least two folds"):
        fold_t_test([0.5], [0.6])


def test_outcomes(rng):
    scores = rng.uniform(0.4, 0.6, size=10)
    noisy = scores + rng.normal(scale=0.01, size=10)
    assert win_tie_loss(noisy + 0.1, scores) == "win"
    assert win_tie_loss(scores, noisy + 0.1) == "loss"
    assert win_tie_loss(noisy, scores) == "tie"
    close = scores + np.array([0.02, 0.0] * 5)
    assert win_tie_loss(close, scores) == "win"
    assert win_tie_loss(close, scores, corrected=True) == "tie"


def test_published_tables_agree_with_each_other():
    paper = published_results("cenda")
    learners = paper["learners"]
    # A mean that is larger by three standard deviations was counted as a win.
    for name, outcomes in paper["table_6"]["against none"].items():
        table = paper["table_7"][name]
        for learner in learners:
            reduced, spread = table["0.999"]["CENDA"][learner]
            raw, _ = table["none"][learner]
            if abs(reduced - raw) > 3 * max(spread, 0.01):
                expected = "win" if reduced > raw else "loss"
                assert outcomes[learner] == expected, (name, learner)
    for against in paper["table_4"].values():
        for row in against.values():
            assert all(sum(counts) == 8 for counts in row.values())
    values = paper["table_3"]["values"]
    assert set(values) == {"1", "2", "3"}
    for tables in values.values():
        for learner in learners:
            for cell in tables[learner].values():
                known = [v for v in cell["mean"] if v is not None]
                assert len(cell["mean"]) == len(cell["std"]) == 8
                assert all(0 < v < 1 for v in known)
    # CENDA won all of the 40 comparisons with one false candidate.
    one = values["1"]
    for learner in learners:
        gain = np.subtract(one[learner]["CENDA"]["mean"], one[learner]["none"]["mean"])
        assert (gain > 0).all()
