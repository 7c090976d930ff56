"""The classifier on what several people said."""

import numpy as np
import pytest

from demurk.annotators import Annotations
from demurk.multilabel import MurkyClassifier
from demurk.multilabel._murky_linear import SparseLogistic

QUICK = {"n_estimators": 20, "random_state": 0}


def draw(labels, n=300):
    rng = np.random.RandomState(0)
    if labels:
        true = (rng.random_sample((n, 3)) < 0.4).astype(int)
        X = rng.normal(size=(n, 6)) + 2 * np.pad(true, [(0, 0), (0, 3)])
        flips = rng.random_sample((n, 4, 3)) < 0.25
        answers = np.where(flips, 1 - true[:, np.newaxis], true[:, np.newaxis])
        answers[:, :2] = 0
    else:
        true = rng.randint(3, size=n)
        X = rng.normal(size=(n, 6)) + 2 * np.eye(3, 6)[true]
        right = rng.random_sample((n, 4)) < 0.75
        answers = np.where(right, true[:, np.newaxis], rng.randint(3, size=(n, 4)))
        answers[:, :2] = 0
    return X, true, answers


@pytest.mark.parametrize("members", ["fast", ["rf"]])
@pytest.mark.parametrize("labels", [False, True])
def test_learns_more_than_from_the_majority(labels, members):
    X, true, answers = draw(labels)
    said = Annotations.from_array(answers[:200])
    most = (answers[:200].mean(axis=1) >= 0.5).astype(int)
    if not labels:
        most = np.array([np.bincount(row).argmax() for row in answers[:200]])
    model = MurkyClassifier(members, **QUICK)
    found = np.mean(model.fit(X[:200], said).predict(X[200:]) == true[200:])
    plain = np.mean(model.fit(X[:200], most).predict(X[200:]) == true[200:])
    assert found > 0.8 and found > plain + (0 if labels else 0.1)


def test_names_and_rows_without_answers():
    X, true, answers = draw(False)
    answers[250:] = -1
    words = np.where(answers >= 0, np.array(["x", "y", "z"])[answers], None)
    model = MurkyClassifier(["rf"], **QUICK).fit(X, Annotations.from_array(words))
    assert model.classes_.tolist() == ["x", "y", "z"]
    assert np.isnan(model.out_of_sample_scores_[250:]).all()
    assert np.isfinite(model.out_of_sample_scores_[:250]).all()
    assert np.mean(model.predict(X) == np.array(["x", "y", "z"])[true]) > 0.85


def test_hard_labels_are_soft_ones_without_doubt():
    """The sparse member sees 0 and 1 as before; doubt of a half is no label."""
    rng = np.random.RandomState(1)
    X = rng.normal(size=(80, 4))
    Y = (X[:, :1] + rng.normal(0, 0.5, (80, 1)) > 0).astype(float)
    seen = np.ones(Y.shape, dtype=bool)
    hard = SparseLogistic(random_state=0).fit_out_of_sample(X, Y, seen)
    doubled = np.vstack([X, X[:30]])
    soft = np.vstack([Y, np.full((30, 1), 0.5)])
    model = SparseLogistic(random_state=0)
    model.fit_out_of_sample(doubled, soft, np.ones(soft.shape, dtype=bool))
    plain = SparseLogistic(random_state=0)
    plain.fit_out_of_sample(X, Y, seen)
    np.testing.assert_allclose(model.predict(X), plain.predict(X), atol=0.02)
    assert np.isfinite(hard).all()
