"""Scores from candidate sets, against the definition and against the truth."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, ClassifierMixin

from demurk.labels import add_candidates
from demurk.model_selection._candidates import candidate_scorer


class Oracle(ClassifierMixin, BaseEstimator):
    """Classifier that says what it was told to say; X holds row numbers."""

    def __init__(self, classes_, predictions, probabilities=None):
        self.classes_ = np.asarray(classes_)
        self.predictions = np.asarray(predictions)
        self.probabilities = probabilities

    def predict(self, X):
        return self.classes_[self.predictions[np.ravel(X)]]

    def predict_proba(self, X):
        return np.asarray(self.probabilities)[np.ravel(X)]


S = np.array([[1, 1, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1]])
X = np.arange(4)[:, None]


def test_share_inside():
    model = Oracle([0, 1, 2], [1, 0, 2, 0])
    assert candidate_scorer()(model, X, S) == 0.75
    hidden = S.copy()
    hidden[1] = -1
    assert candidate_scorer("inside")(model, X, hidden) == 1.0
    # What is not known may be.
    part = S.copy()
    part[1, 0] = -1
    assert candidate_scorer()(model, X, part) == 1.0


def test_estimated_accuracy():
    model = Oracle([0, 1, 2], [1, 0, 2, 0])
    # Chances 1/2, 0, 1/2; the last row tells nothing.
    expected = np.mean([(1 - 0.5) / 0.5, 0.0, (1 - 0.5) / 0.5])
    assert candidate_scorer("accuracy")(model, X, S) == pytest.approx(expected)
    with pytest.raises(ValueError, match="All samples have all classes"):
        candidate_scorer("accuracy")(model, X, np.ones_like(S))


@pytest.mark.parametrize("n_extra", [1, 3])
def test_estimate_is_unbiased_for_uniform_candidates(rng, n_extra):
    n, q = 20_000, 6
    truth = rng.randint(q, size=n)
    wrong = (truth + rng.randint(1, q, size=n)) % q
    predictions = np.where(rng.uniform(size=n) < 0.7, truth, wrong)
    sets = add_candidates(truth, n_extra, random_state=0).labels
    model = Oracle(range(q), predictions)
    rows = np.arange(n)[:, None]
    accuracy = (predictions == truth).mean()
    assert candidate_scorer("accuracy")(model, rows, sets) == pytest.approx(
        accuracy, abs=0.015
    )
    assert candidate_scorer()(model, rows, sets) > accuracy + 0.03


def test_likelihood():
    P = [[0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.5, 0.5, 0.0], [1.0, 0.0, 0.0]]
    model = Oracle([0, 1, 2], [1, 0, 0, 0], P)
    expected = np.log([0.7, 0.3, 0.5, 1.0]).mean()
    assert candidate_scorer("likelihood")(model, X, S) == pytest.approx(expected)
    sure = Oracle([0, 1, 2], [0] * 4, np.eye(3)[[2, 0, 1, 0]])
    value = candidate_scorer("likelihood")(sure, X, S)
    assert value == pytest.approx(0.75 * np.log(1e-6))


def test_forms_of_candidates():
    scorer = candidate_scorer()
    model = Oracle(["a", "b", "c"], [1, 0, 2, 0])
    sets = [{"a", "b"}, {"b"}, {"a", "c"}, {"a", "b", "c"}]
    assert scorer(model, X, sets) == 0.75
    # A fold may lack classes.
    assert scorer(model, X[:2], sets[:2]) == 0.5
    frame = pd.DataFrame(S[:, [2, 0, 1]], columns=["c", "a", "b"])
    assert scorer(model, X, frame) == 0.75
    assert scorer(model, X, S) == 0.75
    assert scorer(model, X, csr_array(S), observed=[True, False, True, True]) == 1.0
    # One class per sample; "z" is unknown to the classifier.
    assert scorer(model, X, ["b", "b", "c", "z"]) == 0.5
    accuracy = candidate_scorer("accuracy")
    assert accuracy(model, X, ["b", "b", "c", "z"]) == 0.5


def test_wrong_columns_and_names():
    model = Oracle(["a", "b", "c"], [1, 0, 2, 0])
    frame = pd.DataFrame(S, columns=["x", "y", "z"])
    with pytest.raises(ValueError, match="give the same columns"):
        candidate_scorer()(model, X, frame)
    with pytest.raises(ValueError, match="must be one of 'inside'"):
        candidate_scorer("truth")


def test_unsorted_classes():
    model = Oracle(["c", "a", "b"], [0, 1, 2, 0])
    frame = pd.DataFrame(
        np.eye(4, 3, dtype=int) + [[0], [0], [0], [1]], columns=list("cab")
    )
    assert candidate_scorer()(model, X, frame) == 1.0


def test_pickle_and_routing():
    scorer = candidate_scorer("likelihood")
    assert repr(pickle.loads(pickle.dumps(scorer))) == "candidate_scorer('likelihood')"
    request = scorer.get_metadata_routing().score.requests
    assert request == {"observed": True}
