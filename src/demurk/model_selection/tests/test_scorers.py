"""Scorers that ignore unobserved labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import pickle

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demurk import metrics
from demurk.model_selection import LabeledKFold, observed_scorer

NAMES = {
    "hamming": "hamming_loss",
    "ranking_loss": "ranking_loss",
    "average_precision": "average_precision",
    "one_error": "one_error",
    "coverage": "coverage",
    "macro_f1": "macro_f1",
    "micro_f1": "micro_f1",
}


class Fixed(BaseEstimator):
    """Answers with the arrays it was given, whatever X is."""

    def __init__(self, labels=None, scores=None):
        self.labels = labels
        self.scores = scores

    def fit(self, X, y):
        return self

    def predict(self, X):
        return self.labels

    def decision_function(self, X):
        return self.scores


class FillZeros(BaseEstimator):
    """Linear classifier that reads unobserved training labels as 0."""

    def __init__(self, alpha=1.0):
        self.alpha = alpha

    def fit(self, X, y, observed=None):
        y = y.toarray() if sparse.issparse(y) else y
        self.model_ = RidgeClassifier(alpha=self.alpha).fit(X, np.maximum(y, 0))
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def decision_function(self, X):
        return self.model_.decision_function(X)


def linear_case(n_samples=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, 4))
    truth = (X @ rng.standard_normal((4, 3)) > 0).astype(np.int8)
    Y = np.where(rng.random(truth.shape) < 0.3, -1, truth)
    Y[:10] = -1
    return X, Y, truth


@pytest.mark.parametrize(("name", "function"), NAMES.items())
def test_value_is_the_measure_with_greater_better(name, function):
    X, Y, _ = linear_case()
    rng = np.random.default_rng(1)
    model = Fixed(rng.integers(0, 2, Y.shape), rng.standard_normal(Y.shape))
    ranks = name in ("ranking_loss", "average_precision", "one_error", "coverage")
    result = model.scores if ranks else model.labels
    value = getattr(metrics, function)(Y, result, observed=Y != -1)
    if name in ("hamming", "ranking_loss", "one_error", "coverage"):
        value = 1 - value
    assert observed_scorer(name)(model, X, Y) == value


@pytest.mark.parametrize("name", NAMES)
def test_unobserved_entries_do_not_matter(name):
    X, Y, _ = linear_case()
    rng = np.random.default_rng(2)
    model = Fixed(rng.integers(0, 2, Y.shape), rng.standard_normal(Y.shape))
    value = observed_scorer(name)(model, X, Y)
    hidden = Y == -1
    model.labels = np.where(hidden, 1 - model.labels, model.labels)
    model.scores = np.where(hidden, -5 * model.scores, model.scores)
    assert observed_scorer(name)(model, X, Y) == value
    assert observed_scorer(name)(model, X, np.where(hidden, np.nan, Y)) == value


def test_mask_for_sparse_labels():
    X, Y, truth = linear_case()
    model = Fixed(1 - truth)
    scorer = observed_scorer("hamming")
    labels = sparse.csr_array(np.maximum(Y, 0))
    assert scorer(model, X, labels, observed=Y != -1) == scorer(model, X, Y) == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_pickle_clone_repr(name):
    X, Y, truth = linear_case()
    scorer = observed_scorer(name)
    model = Fixed(truth, truth + 0.0)
    copies = [pickle.loads(pickle.dumps(scorer)), clone(scorer, safe=False)]
    copies.append(clone(GridSearchCV(model, {}, scoring=scorer)).scoring)
    for copy in copies:
        assert copy(model, X, Y) == scorer(model, X, Y)
        assert repr(copy) == f"observed_scorer({name!r})"


def test_options_reach_the_measure():
    scorer = observed_scorer("one_error", ties="worst", degenerate="sklearn")
    assert repr(scorer) == "observed_scorer('one_error', ties='worst', " + (
        "degenerate='sklearn')"
    )
    Y, scores = np.array([[1, 0], [0, 0]]), np.ones((2, 2))
    assert scorer(Fixed(scores=scores), Y, Y) == 0.0
    assert observed_scorer("one_error")(Fixed(scores=scores), Y, Y) == 1.0


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(5, random_state=0),
        MultiOutputClassifier(LogisticRegression()),
        make_pipeline(StandardScaler(), RandomForestClassifier(5, random_state=0)),
        OneVsRestClassifier(LogisticRegression()),
    ],
)
def test_scores_from_probabilities(model):
    X, _, truth = linear_case()
    model.fit(X, truth)
    scores = model.predict_proba(X)
    if isinstance(scores, list):
        scores = np.column_stack([table[:, 1] for table in scores])
    expected = metrics.average_precision(truth, scores)
    assert observed_scorer("average_precision")(model, X, truth) == expected


def test_probability_of_a_label_with_one_value_in_training():
    X, _, truth = linear_case()
    Y = truth.copy()
    Y[:, 1] = 0
    Y[:, 2] = 1
    model = RandomForestClassifier(5, random_state=0).fit(X, Y)
    assert [len(classes) for classes in model.classes_] == [2, 1, 1]
    scores = np.column_stack(
        [model.predict_proba(X)[0][:, 1], np.zeros(len(X)), np.ones(len(X))]
    )
    expected = metrics.average_precision(truth, scores)
    assert observed_scorer("average_precision")(model, X, truth) == expected


def test_probability_of_label_one_where_minus_one_was_learned_as_a_class():
    X, Y, truth = linear_case()
    model = RandomForestClassifier(5, random_state=0).fit(X, Y)
    assert [list(classes) for classes in model.classes_] == [[-1, 0, 1]] * 3
    scores = np.column_stack([table[:, 2] for table in model.predict_proba(X)])
    expected = 1 - metrics.ranking_loss(truth, scores)
    assert observed_scorer("ranking_loss")(model, X, truth) == expected


@pytest.mark.parametrize("name", NAMES)
def test_in_a_search(name):
    X, Y, _ = linear_case()
    search = GridSearchCV(
        FillZeros(),
        {"alpha": [0.1, 1e6]},
        scoring=observed_scorer(name),
        cv=LabeledKFold(3, random_state=0),
        error_score="raise",
    ).fit(X, Y)
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert search.best_score_ == max(scores)


def test_several_scorers_at_once():
    X, Y, _ = linear_case()
    scoring = {name: observed_scorer(name) for name in NAMES}
    cv = LabeledKFold(3, random_state=0)
    results = cross_validate(FillZeros(), X, Y, cv=cv, scoring=scoring)
    for name, scorer in scoring.items():
        alone = cross_val_score(FillZeros(), X, Y, cv=cv, scoring=scorer)
        np.testing.assert_array_equal(results[f"test_{name}"], alone)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_routed_mask(container):
    X, Y, _ = linear_case()
    cv, scorer = LabeledKFold(3, random_state=0), observed_scorer("micro_f1")
    expected = cross_val_score(FillZeros(), X, Y, cv=cv, scoring=scorer)
    labels = container(np.maximum(Y, 0))
    with sklearn.config_context(enable_metadata_routing=True):
        model = FillZeros().set_fit_request(observed=True)
        search = GridSearchCV(model, {"alpha": [1.0]}, cv=cv, scoring=scorer)
        search.fit(X, labels, observed=Y != -1)
    scores = [search.cv_results_[f"split{fold}_test_score"][0] for fold in range(3)]
    np.testing.assert_array_equal(scores, expected)


def test_a_model_that_learns_minus_one_as_a_class_is_refused():
    X, Y, _ = linear_case()
    model = RandomForestClassifier(5, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match=r"Y_pred has -1.* predictions must be 0 or 1"):
        observed_scorer("hamming")(model, X, np.zeros_like(Y))


def test_one_class_per_sample_is_refused():
    with pytest.raises(ValueError, match="y is 1-D; use a scorer of scikit-learn"):
        observed_scorer("hamming")(Fixed(), np.zeros((3, 1)), [0, 1, 2])


def test_model_without_scores_is_refused():
    class OnlyPredict(BaseEstimator):
        pass

    Y = np.eye(3)
    with pytest.raises(TypeError, match="OnlyPredict has neither decision_function"):
        observed_scorer("coverage")(OnlyPredict(), Y, Y)


def test_wrong_name_or_option():
    with pytest.raises(ValueError, match=r"name is 'f1'; it must be one of 'hamming'"):
        observed_scorer("f1")
    with pytest.raises(ValueError, match="'normalize' is no option of the 'one_error'"):
        observed_scorer("one_error", normalize="C")
    with pytest.raises(ValueError, match="'observed' is no option of the 'hamming'"):
        observed_scorer("hamming", observed=None)
