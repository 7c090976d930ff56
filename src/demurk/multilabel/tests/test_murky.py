"""The calibrated stack: against its own formulas, its limits, and a forest."""

import threading
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from demurk.labels import flip_labels, hide_rows
from demurk.metrics import average_precision, micro_f1
from demurk.multilabel import _murky
from demurk.multilabel._murky import MurkyClassifier
from demurk.multilabel._murky_linear import SparseLogistic, _without_features
from demurk.multilabel._murky_members import OwnMember, make_members
from demurk.out_of_sample import (
    LeaveOneOutKernelRidge,
    corrected_probabilities,
    estimate_flip_rate,
    f1_cut,
    half_cut,
    leave_one_out_means,
    stack_weights,
)

FULL = ["rf", "et1", "rfpca", "rf3m", "et3m", "ksrc", "kpca30", "l1"]


def murky(members="fast", **parameters):
    return MurkyClassifier(members, n_estimators=15, random_state=0, **parameters)


def make_data(rng, n=90, q=3):
    X = rng.normal(size=(n, 6))
    Y = (X @ rng.normal(size=(6, q)) + rng.normal(size=(n, q)) > 0.5).astype(int)
    return X, Y


@pytest.fixture
def data(rng):
    return make_data(rng)


def expected_failures(estimator):
    twin = "of a row given twice, one predicts the other"
    return {
        "check_classifiers_classes": "-1 means unlabelled, not a class",
        "check_sample_weight_equivalence_on_dense_data": twin,
        "check_sample_weight_equivalence_on_sparse_data": twin,
    }


# "f1" predicts below one half on purpose, which one of the checks does not expect.
@parametrize_with_checks(
    [
        # The pools are checked with all other estimators.
        MurkyClassifier(
            ["rf", KNeighborsClassifier(3)], target="hamming", n_estimators=5
        ),
    ],
    expected_failed_checks=expected_failures,
    xfail_strict=True,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_score_is_the_weighted_sum_of_the_members(data):
    X, Y = data
    model = murky("full").fit(X, Y)
    assert list(model.member_weights_) == FULL
    assert sum(model.member_weights_.values()) == pytest.approx(1)
    views = model._views.views(X, {view for view, _ in model._members.values()})
    z = sum(
        model.member_weights_[name] * member.predict(views[view])
        for name, (view, member) in model._members.items()
    )
    mu, c = Y.mean(axis=0), model.calibration_
    expected = c["mean"] + c["evidence"] * (z - mu) + c["frequency"] * (mu - Y.mean())
    scores = model.decision_function(X) + model.thresholds_["f1"]
    assert_allclose(scores, expected)
    rate = model.noise_rate_
    assert_allclose(
        model.predict_proba(X), corrected_probabilities(expected, rate, rate)
    )


def test_one_class_per_sample_is_weighed_from_the_forests(rng, monkeypatch):
    X, asked = rng.standard_normal((60, 4)), []

    def spied(*args, **how):
        asked.append(how)
        return stack_weights(*args, **how)

    monkeypatch.setattr(_murky, "stack_weights", spied)
    y = (X[:, 0] > 0).astype(int)
    for members, target in [("full", y), ("full", np.c_[y, 1 - y]), (["ksrc"], y)]:
        murky(members).fit(X, target)
    first, *others = asked
    assert_allclose(first.pop("start"), [0.2, 0.2, 0.2, 0.2, 0.2, 0, 0, 0])
    assert first == {"spread": 0.1, "way_back": 0.0} and others == [{}, {}]


def test_rates_and_cuts_come_from_out_of_sample_scores(data):
    X, Y = data
    model = murky().fit(X, Y)
    scores = model.out_of_sample_scores_.ravel()
    assert_allclose(model.noise_rate_, estimate_flip_rate(scores, Y.ravel()))
    rates = (model.noise_rate_, model.noise_rate_)
    assert_allclose(model.thresholds_["f1"], f1_cut(scores, Y.ravel(), len(Y), *rates))
    assert_allclose(model.thresholds_["hamming"], half_cut(*rates))


def test_predict_follows_the_target_and_the_noise(data):
    X, Y = data
    rates = {"symmetric": (0.1, 0.1), "extra": (0.1, 0), "missing": (0, 0.1)}
    for noise, (extra, missing) in rates.items():
        model = murky(noise=noise, noise_rate=0.1, target="hamming").fit(X, Y)
        assert model.noise_rate_ == 0.1
        assert_allclose(model.thresholds_["hamming"], half_cut(extra, missing))
        predicted = model.predict(X)
        assert_array_equal(predicted, model.decision_function(X) > 0)
        assert_array_equal(predicted, model.predict_proba(X) > 0.5)
        model.set_params(target="f1")  # needs no new fit
        assert_array_equal(model.predict(X), model.decision_function(X) > 0)
        assert model.predict(X).sum() >= predicted.sum()


def test_out_of_sample_scores_do_not_know_the_own_label(rng):
    """Labels that are pure noise cannot be predicted by out-of-sample scores."""
    X = rng.normal(size=(150, 5))
    Y = (rng.random_sample((150, 4)) < 0.5).astype(int)
    model = murky("full").fit(X, Y)
    inside = model.out_of_sample_scores_ - leave_one_out_means(
        Y, np.ones(Y.shape, bool)
    )
    assert abs(np.corrcoef(inside.ravel(), Y.ravel())[0, 1]) < 0.15


def test_unlabelled_rows_only_help_to_scale(data, rng):
    X, Y = data
    hidden = hide_rows(Y, 0.5, random_state=0).labels
    model = murky("full").fit(X, hidden)
    rows = (hidden >= 0).all(axis=1)
    assert np.isnan(model.out_of_sample_scores_[~rows]).all()
    assert np.isfinite(model.out_of_sample_scores_[rows]).all()
    # What does not look at scaled features does not see them at all.
    forest = [
        murky(["rf", "et1"]).fit(A, B).predict_proba(X)
        for A, B in ((X, hidden), (X[rows], Y[rows]))
    ]
    assert_allclose(forest[0], forest[1])


def test_unobserved_entries_take_no_part(data, rng):
    X, Y = data
    hidden = np.where(rng.random_sample(Y.shape) < 0.3, -1, Y)
    seen = hidden >= 0
    model = murky().fit(X, hidden)
    scores = model.out_of_sample_scores_
    assert_allclose(
        model.noise_rate_, estimate_flip_rate(scores[seen], Y[seen].astype(float))
    )
    assert model.calibration_["mean"] == pytest.approx(Y[seen].mean())
    # The value behind a mask is never read.
    other = murky().fit(X, np.where(seen, Y, 1 - Y), observed=seen)
    assert_allclose(other.predict_proba(X), model.predict_proba(X))


def test_forms_of_features(data):
    X, Y = data
    base = murky("full").fit(X, Y).predict_proba(X)
    S = csr_array(X)
    assert_allclose(murky("full").fit(S, Y).predict_proba(S), base, atol=1e-7)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    named = pd.DataFrame(Y, columns=["sea", "sun", "sky"])
    model = murky("full").fit(frame, named)
    assert_allclose(model.predict_proba(frame), base)
    assert list(model.classes_) == ["sea", "sun", "sky"]
    assert list(model.feature_names_in_) == list("abcdef")


def test_order_of_labels_does_not_matter(data):
    X, Y = data
    order = [2, 0, 1]
    base = murky("full").fit(X, Y).predict_proba(X)
    found = murky("full").fit(X, Y[:, order]).predict_proba(X)
    # liblinear stops at its tolerance, and shuffles the same way for every label.
    assert_allclose(found, base[:, order], atol=1e-10)


def test_threads_do_not_change_the_result(data):
    X, Y = data
    base = murky("full").fit(X, Y)
    found = murky("full", n_jobs=2).fit(X, Y)
    assert_allclose(found.predict_proba(X), base.predict_proba(X), atol=1e-12)
    assert list(found.member_weights_) == list(base.member_weights_)


@pytest.mark.parametrize(
    "members, n_jobs, expected",
    [("full", 2, 1), ("full", 16, 3), ("fast", 2, 2), ("trees", None, 1)],
)
def test_members_share_the_threads(members, n_jobs, expected):
    made = make_members(members, 10, 5, n_jobs, np.random.RandomState(0))
    assert made["rf"][1].n_jobs == expected


class Watcher(ClassifierMixin, BaseEstimator):
    """A classifier that is not safe in threads."""

    def fit(self, X, y):
        assert threading.current_thread() is threading.main_thread()
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        assert threading.current_thread() is threading.main_thread()
        return np.full((len(X), 2), 0.5)


def test_estimators_of_the_user_stay_in_the_main_thread(data):
    X, Y = data
    model = murky([("mine", Watcher()), "fast"], n_jobs=2).fit(X, Y)
    assert list(model.member_weights_) == ["mine", "rf", "ksrc", "l1"]
    assert_allclose(
        model.predict_proba(X),
        model.set_params(n_jobs=None).predict_proba(X),
        atol=1e-12,
    )


def test_an_error_in_a_thread_is_raised(data, monkeypatch):
    def failing(self, X, Y, observed, weights):
        raise ValueError("no kernel today")

    monkeypatch.setattr(LeaveOneOutKernelRidge, "fit_out_of_sample", failing)
    with pytest.raises(ValueError, match="no kernel today"):
        murky("full", n_jobs=2).fit(*data)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_one_class_per_sample(data, n_classes):
    X, _ = data
    y = np.array(["ant", "bee", "cat"])[
        np.digitize(X[:, 0], [0.0, 0.7][: n_classes - 1])
    ]
    y = y.astype(object)
    y[:10] = None
    model = murky().fit(X, y)
    proba, scores = model.predict_proba(X), model.decision_function(X)
    assert_allclose(proba.sum(axis=1), 1)
    assert_array_equal(model.classes_[proba.argmax(axis=1)], model.predict(X))
    assert scores.shape == ((len(X),) if n_classes == 2 else (len(X), 3))
    assert (model.predict(X[10:]) == y[10:]).mean() > 0.85


def test_rate_of_wrong_classes_is_shared_by_the_others(data):
    X, _ = data
    y = np.digitize(X[:, 0], [-0.4, 0.4])
    model = murky(noise_rate=0.2).fit(X, y)
    assert model.noise_rate_ == pytest.approx(0.2)
    assert model._rates[0] == pytest.approx(0.1)


@pytest.mark.parametrize("n_labeled", [2, 3, 8])
def test_very_few_labelled_rows(data, n_labeled):
    X, Y = data
    hidden = np.full_like(Y, -1)
    hidden[:n_labeled] = Y[:n_labeled]
    proba = murky("full").fit(X, hidden).predict_proba(X)
    assert ((proba > 0) & (proba < 1)).all()


def test_one_labelled_row_is_an_error(data):
    X, Y = data
    hidden = np.full_like(Y, -1)
    hidden[4] = Y[4]
    with pytest.raises(ValueError, match="Only one sample is labelled"):
        murky().fit(X, hidden)


def test_no_labelled_row_is_an_error(data):
    X, Y = data
    with pytest.raises(ValueError, match="not observed\\) in every row"):
        murky().fit(X, np.full_like(Y, -1))


@pytest.mark.parametrize("n_rows", [2, 5, 29])
def test_few_rows_with_more_features(rng, n_rows):
    X = rng.normal(size=(n_rows, 50))
    Y = (X[:, :4] > 0).astype(int)
    for features in (X, csr_array(X * (rng.random_sample(X.shape) < 0.1))):
        model = murky("full").fit(features, Y)
        proba = model.predict_proba(features)
        assert ((proba > 0) & (proba < 1)).all()
        assert np.isfinite(model.out_of_sample_scores_).all()


@pytest.mark.parametrize("values", [(0,), (1,), (0, 1)])
def test_constant_labels_are_predicted(data, values):
    X, _ = data
    Y = np.tile(values, (len(X), 2 // len(values)))
    assert_array_equal(murky("full").fit(X, Y).predict(X), Y)


def test_a_constant_label_among_others(data):
    X, Y = data
    Y = np.column_stack([Y, np.zeros(len(Y), int), np.ones(len(Y), int)])
    predicted = murky("full").fit(X, Y).predict(X)
    assert_array_equal(predicted[:, 3], 0)
    assert_array_equal(predicted[:, 4], 1)


def test_one_label(data):
    X, Y = data
    sets = [{"sun"} if value else set() for value in Y[:, 0]]
    model = murky("full").fit(X, sets)
    assert model.predict(X).shape == (90, 1)
    assert micro_f1(Y[:, :1], model.predict(X)) > 0.8


def test_many_labels(rng):
    X, Y = make_data(rng, n=80, q=120)
    scores = murky("full").fit(X, Y).out_of_sample_scores_
    assert average_precision(Y, scores) > Y.mean() + 0.15


def test_wide_sparse_text(rng):
    words = csr_array((rng.random_sample((60, 20_000)) < 0.002).astype(float))
    topics = np.asarray(words[:, :8000].sum(axis=1)).ravel()
    Y = np.column_stack([topics > np.median(topics), rng.random_sample(60) < 0.3])
    model = MurkyClassifier(n_estimators=3, random_state=0).fit(words, Y.astype(int))
    assert model._views.mostly_zero_
    assert model.predict(words).shape == (60, 2)
    assert model._members["rf3m"][1].tree.max_features == 500


@pytest.mark.parametrize("features", [np.ones((90, 2)), csr_array((90, 20_000))])
def test_features_that_do_not_vary(data, features):
    _, Y = data
    proba = murky("full").fit(features, Y).predict_proba(features[:2])
    assert_allclose(proba[0], proba[1])


def test_nystroem_above_the_limit(data, monkeypatch):
    X, Y = data
    smaller = partial(LeaveOneOutKernelRidge, max_exact=50, n_landmarks=20)
    monkeypatch.setattr(
        "demurk.multilabel._murky_members.LeaveOneOutKernelRidge", smaller
    )
    model = murky(["ksrc"]).fit(X, Y)
    assert model._members["ksrc"][1].anchors_.shape[0] == 20
    assert average_precision(Y, model.decision_function(X)) > 0.8


# Members


def test_pools():
    def names(members):
        return list(make_members(members, 10, 5, None, np.random.RandomState(0)))

    assert names("full") == FULL
    assert names("trees") == FULL[:5]
    assert names("fast") == ["rf", "ksrc", "l1"]
    knn = KNeighborsClassifier()
    assert names([knn]) == [*FULL, "kneighborsclassifier"]
    assert names(["rf", ("mine", knn), knn, knn]) == [
        "rf",
        "mine",
        "kneighborsclassifier",
        "kneighborsclassifier-2",
    ]


@pytest.mark.parametrize(
    "members, error, message",
    [
        ("none", ValueError, "members"),
        (["nothing"], ValueError, "no member called 'nothing'"),
        (["rf", 3], TypeError, "must be an estimator"),
        (["rf", ("a", Ridge()), ("a", Ridge())], ValueError, "Two members are called"),
        (["rf", ("a",)], ValueError, "must be \\(name, estimator\\)"),
    ],
)
def test_wrong_members_are_explained(data, members, error, message):
    with pytest.raises(error, match=message):
        murky(members).fit(*data)


def test_l1_equals_folds_by_hand(data):
    X, Y = data
    Y = np.column_stack([Y[:, 0], np.zeros(90)]).astype(float)
    member = SparseLogistic(random_state=3)
    out_of_sample = member.fit_out_of_sample(X, Y, np.ones(Y.shape, bool))
    expected = np.zeros(90)
    for train, test in KFold(2, shuffle=True, random_state=3).split(X):
        for strength in (0.03, 0.1):
            model = LogisticRegression(
                C=strength,
                l1_ratio=1,
                solver="liblinear",
                random_state=3,
                max_iter=1000,
            ).fit(X[train], Y[train, 0])
            expected[test] += model.predict_proba(X[test])[:, 1] / 2
    # Up to the tolerance of the solver, where a model without features is exact.
    assert_allclose(out_of_sample[:, 0], expected, atol=1e-3)
    assert_allclose(out_of_sample[:, 1], 0, atol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_l1_is_that_of_scikit_learn(data, form):
    X, Y = form(3 * data[0]), data[1]  # so that every model uses a feature
    X_test, strengths = X[:10], (0.03, 0.1) if form is np.asarray else (0.3, 1.0)
    member = SparseLogistic(random_state=3)
    member.fit_out_of_sample(X, Y.astype(float), np.ones(Y.shape, bool))
    expected = np.zeros((10, 3))
    for j in range(3):
        for strength in strengths:
            model = LogisticRegression(
                C=strength, l1_ratio=1, solver="liblinear", random_state=3
            ).fit(X, Y[:, j])
            assert model.coef_.any()
            expected[:, j] += model.predict_proba(X_test)[:, 1] / 2
    assert_allclose(member.predict(X_test), expected, rtol=1e-12)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("strength", [0.01, 0.3])
def test_models_without_features_are_those_of_the_solver(rng, share, strength):
    X = rng.normal(size=(60, 4))
    y = (rng.random_sample(60) < share).astype(float)
    model = LogisticRegression(
        C=strength, l1_ratio=1, solver="liblinear", random_state=0, tol=1e-10
    ).fit(X, y)
    level = _without_features(X, y, strength, np.ones(60))
    assert (level is None) == bool(model.coef_.any())
    if level is not None:
        assert level == pytest.approx(model.intercept_[0], abs=1e-6)


def test_l1_learns_from_observed_rows_only(data):
    X, Y = data
    seen = np.ones(Y.shape, bool)
    seen[::3, 1] = False
    base = SparseLogistic(random_state=0)
    base.fit_out_of_sample(X, Y.astype(float), seen)
    other = SparseLogistic(random_state=0)
    other.fit_out_of_sample(X, np.where(seen, Y, 1 - Y).astype(float), seen)
    assert_allclose(other.predict(X), base.predict(X))


class Counter(ClassifierMixin, BaseEstimator):
    """A classifier that remembers how many rows each clone saw."""

    seen = []

    def fit(self, X, y):
        Counter.seen.append(len(X))
        self.classes_ = np.unique(y)
        assert len(self.classes_) == 2
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)

    def predict(self, X):
        return np.ones(len(X), int)


def test_an_estimator_for_single_labels_is_fitted_per_label_in_folds(data):
    X, Y = data
    Counter.seen = []
    seen = np.ones(Y.shape, bool)
    seen[:30, 0] = False
    out_of_sample = OwnMember(Counter(), random_state=0).fit_out_of_sample(
        X, Y.astype(float), seen
    )
    assert_allclose(out_of_sample, 0.5)
    assert len(Counter.seen) == 3 * 7  # once to look for out-of-bag scores
    assert max(Counter.seen) == 90 and sorted(Counter.seen)[0] < 60


def test_out_of_bag_scores_of_an_estimator_are_used(data):
    X, Y = data
    seen = np.ones(Y.shape, bool)
    forest = RandomForestClassifier(60, oob_score=True, random_state=0)
    out_of_sample = OwnMember(forest).fit_out_of_sample(X, Y.astype(float), seen)
    assert_allclose(out_of_sample, clone(forest).fit(X, Y).oob_decision_function_[:, 1])
    forest = RandomForestRegressor(60, oob_score=True, random_state=0)
    out_of_sample = OwnMember(forest).fit_out_of_sample(X, Y.astype(float), seen)
    assert_allclose(out_of_sample, clone(forest).fit(X, Y).oob_prediction_)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        KNeighborsClassifier(),
        Ridge(),
        LinearSVC(),
        RandomForestClassifier(10, random_state=0),
        RandomForestClassifier(40, oob_score=True, random_state=0),
    ],
    ids=lambda e: type(e).__name__,
)
def test_own_members_join(data, estimator):
    X, Y = data
    Y = np.column_stack([Y, np.zeros(len(Y), int)])
    hidden = np.where(np.random.RandomState(0).random_sample(Y.shape) < 0.1, -1, Y)
    model = murky(["rf", ("own", estimator)]).fit(X, hidden)
    assert model.member_weights_["own"] >= 0.25
    assert average_precision(Y, model.decision_function(X)) > 0.9


def test_stages_are_reported(data):
    class Recorder:
        max_propagation_depth = 1
        stages = []

        def setup(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context, **_):
            pass

        def on_fit_task_end(self, estimator, context, **_):
            if context.parent is not None:
                self.stages.append(context.task_name)

        def teardown(self, estimator, context):
            pass

    recorder = Recorder()
    murky(n_jobs=2).set_callbacks(recorder).fit(*data)
    assert recorder.stages == ["features", "rf", "ksrc", "l1", "stack"]


def test_works_in_a_search(data):
    X, Y = data
    search = GridSearchCV(
        murky(["rf"]),
        {"target": ["f1", "hamming"], "members": [["rf"], ["ksrc"]]},
        cv=2,
        scoring="f1_micro",
    ).fit(X, Y)
    assert search.best_score_ > 0.5


# What it is for


def test_better_than_a_forest_on_noisy_labels(rng):
    X = rng.normal(size=(900, 10))
    Y = (X @ rng.normal(size=(10, 6)) + rng.normal(size=(900, 6)) > 1.5).astype(int)
    noisy = flip_labels(Y[:150], 0.1, random_state=0).labels
    forest = RandomForestRegressor(100, max_features="sqrt", random_state=0)
    forest.fit(X[:150], noisy)
    model = MurkyClassifier(n_estimators=100, random_state=0).fit(X[:150], noisy)
    gain = average_precision(Y[150:], model.decision_function(X[150:]))
    gain -= average_precision(Y[150:], forest.predict(X[150:]))
    assert gain > 0.01
    assert model.noise_rate_ == pytest.approx(0.1, abs=0.05)
    f1 = micro_f1(Y[150:], model.predict(X[150:]))
    assert f1 > micro_f1(Y[150:], (forest.predict(X[150:]) > 0.5).astype(int)) + 0.05


def test_no_noise_needs_no_correction(data):
    X, Y = data
    model = murky(noise="none").fit(X, Y)
    assert model.noise_rate_ == 0 and model.thresholds_["hamming"] == 0.5


@pytest.mark.parametrize("noise, rate", [("missing", None), ("none", 0.1)])
def test_rates_that_do_not_fit_the_noise_are_refused(data, noise, rate):
    with pytest.raises(ValueError, match=f"noise_rate is {rate} with noise='{noise}'"):
        murky(noise=noise, noise_rate=rate).fit(*data)


def test_extra_labels_are_corrected(rng):
    X, Y = make_data(rng, n=500, q=4)
    train, test = slice(300), slice(300, None)
    noisy = np.where(rng.random_sample(Y.shape) < 0.2, 1, Y)[train]
    p = {}
    for noise in ("symmetric", "extra"):
        model = murky("trees", noise=noise).fit(X[train], noisy)
        assert model.noise_rate_ == pytest.approx(0.2, abs=0.07)
        p[noise] = model.predict_proba(X[test])
    errors = {noise: ((p[noise] - Y[test]) ** 2).mean() for noise in p}
    assert errors["extra"] < errors["symmetric"]
    assert p["extra"].mean() == pytest.approx(Y[test].mean(), abs=0.05)


@pytest.mark.parametrize(
    ("n_jobs", "order"), [(1, ["l1", "rf", "ksrc"]), (2, ["l1", "ksrc", "rf"])]
)
def test_a_forest_with_threads_fills_what_others_leave(n_jobs, order, rng):
    model = MurkyClassifier("fast", n_jobs=n_jobs)
    model._members = make_members("fast", 5, 10, n_jobs, rng)
    assert model._longest_first() == order
