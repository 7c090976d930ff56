"""SemiSupervisedMLkNN is a propagation followed by ML-kNN."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from demurk.labels import flip_labels, hide_rows
from demurk.multilabel import MLkNN, SemiSupervisedMLkNN
from demurk.propagation import NoisyLabelPropagation


@pytest.fixture
def murky(rng):
    X = rng.normal(size=(150, 3))
    truth = (X + 0.3 * rng.normal(size=X.shape) > 0).astype(int)
    noisy = flip_labels(truth, 0.1, random_state=0).labels
    return X, truth, hide_rows(noisy, 0.5, random_state=0).labels


def test_equals_the_two_steps(murky, rng):
    X, _, Y = murky
    queries = rng.normal(size=(20, 3))
    cleaned = NoisyLabelPropagation().fit(X, Y).transduction_
    expected = MLkNN().fit(X, cleaned).predict_proba(queries)
    model = SemiSupervisedMLkNN().fit(X, Y)
    assert_array_equal(model.transduction_, cleaned)
    assert_allclose(model.predict_proba(queries), expected)


def test_one_class_per_sample(murky, rng):
    X, truth, Y = murky
    y = np.where(Y[:, 0] == -1, -1, truth[:, 0] + 2 * truth[:, 1])
    model = SemiSupervisedMLkNN().fit(X, y)
    cleaned = NoisyLabelPropagation().fit(X, y).transduction_
    assert_array_equal(model.transduction_, cleaned)
    expected = MLkNN().fit(X, cleaned).predict_proba(X)
    assert_allclose(model.predict_proba(X), expected)


def test_unreached_rows_are_left_out(murky):
    X, _, Y = murky
    far = np.vstack([X, X[:30] + 1000])
    hidden = np.vstack([Y, np.full((30, 3), -1)])
    with pytest.warns(UserWarning, match="30 of 180"):
        model = SemiSupervisedMLkNN().fit(far, hidden)
    assert (model.transduction_[150:] == -1).all()
    alone = SemiSupervisedMLkNN().fit(X, Y)
    assert_allclose(model.predict_proba(X), alone.predict_proba(X))


def test_beats_mlknn_on_murky_labels(murky):
    X, truth, Y = murky
    plain = MLkNN().fit(X, Y).predict(X)
    semi = SemiSupervisedMLkNN().fit(X, Y).predict(X)
    assert (semi != truth).mean() <= (plain != truth).mean()
