"""What every method of the room must do: edge cases and invariances."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demurk import partial_multilabel
from demurk.labels import add_extra_labels
from demurk.metrics import ranking_loss

METHODS = [getattr(partial_multilabel, name)() for name in partial_multilabel.__all__]
for method in METHODS:
    if "random_state" in method.get_params():
        method.set_params(random_state=0)
VARIANTS = [*METHODS, partial_multilabel.PARTICLE(decision="map", random_state=0)]

every_method = pytest.mark.parametrize("method", VARIANTS, ids=str)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(200, 6))
    Y = (X[:, :4] + 0.3 * rng.normal(size=(200, 4)) > 0.5).astype(np.int8)
    return X, Y, add_extra_labels(Y, 1, random_state=0).labels


@every_method
def test_learns_the_true_labels(method, data):
    X, Y, candidates = data
    model = clone(method).fit(X[:150], candidates[:150])
    new, truth = X[150:], Y[150:]
    scores = model.decision_function(new)
    assert ranking_loss(truth, scores) < 0.35  # chance is one half
    assert_array_equal(model.predict(new), scores > 0)
    assert set(np.unique(model.predict(new))) <= {0, 1}


@every_method
def test_noise_scores_are_those_of_the_candidates(method, data):
    X, Y, candidates = data
    found = clone(method).fit(X, candidates).noise_scores_
    assert issparse(found) and found.shape == Y.shape
    # Zeros are stored where a candidate is beyond doubt.
    assert_array_equal(
        csr_array(
            (np.ones(found.nnz), found.indices, found.indptr), shape=Y.shape
        ).toarray(),
        candidates,
    )
    wrong = found.toarray()[(candidates > 0) & (Y == 0)]
    right = found.toarray()[Y > 0]
    assert np.mean(wrong) > np.mean(right)


@every_method
def test_rows_without_candidates(method, data):
    X, _, candidates = data
    candidates = candidates.copy()
    candidates[:10] = 0
    model = clone(method).fit(X, candidates)
    assert np.isfinite(model.decision_function(X)).all()
    assert model.noise_scores_[:10].nnz == 0


@every_method
def test_no_candidate_in_any_row_is_an_error(method, data):
    X, Y, _ = data
    with pytest.raises(ValueError, match="no candidate label in any row"):
        clone(method).fit(X, np.zeros_like(Y))


@every_method
def test_rows_with_all_candidates_and_a_label_nobody_has(method, data):
    X, _, candidates = data
    candidates = np.column_stack([candidates, np.zeros(200, np.int8)])
    candidates[:10] = 1
    candidates[:10, 4] = 0
    model = clone(method).fit(X, candidates)
    scores = model.decision_function(X)
    assert np.isfinite(scores).all()
    # It is never predicted: everything speaks against it.
    assert not model.predict(X)[:, 4].any()
    full = clone(method).fit(X, np.vstack([np.ones((10, 5), np.int8), candidates[10:]]))
    assert np.isfinite(full.decision_function(X)).all()


@every_method
def test_one_label(method, rng):
    X = rng.normal(size=(40, 3))
    sets = [{"sea"} if x > 0 else set() for x in X[:, 0]]
    model = clone(method).fit(X, sets)
    assert list(model.classes_) == ["sea"]
    assert model.predict(X).shape == (40, 1)
    scores = model.decision_function(X)[:, 0]
    assert scores[X[:, 0] > 0].mean() > scores[X[:, 0] <= 0].mean()


@every_method
def test_more_labels_than_samples(method, rng):
    X = rng.normal(size=(12, 4))
    Y = (rng.uniform(size=(12, 20)) < 0.3).astype(int)
    model = clone(method).fit(X, Y)
    assert model.predict(X).shape == (12, 20)
    assert np.isfinite(model.predict_proba(X)).all()


@every_method
def test_constant_features(method, data):
    X, _, candidates = data
    extended = np.column_stack([X, np.full(200, 7.0)])
    assert np.isfinite(
        clone(method).fit(extended, candidates).predict_proba(extended)
    ).all()
    # Nothing to learn from: all samples look alike.
    same = clone(method).fit(np.ones((200, 2)), candidates)
    scores = same.decision_function(np.ones((3, 2)))
    assert_allclose(scores, np.tile(scores[:1], (3, 1)))


@every_method
def test_few_samples(method, rng):
    X = rng.normal(size=(3, 2))
    model = clone(method).fit(X, [[1, 0], [0, 1], [1, 1]])
    assert np.isfinite(model.decision_function(X)).all()
    # Only one of them is labelled.
    model = clone(method).fit(X, [[1, 0], [-1, -1], [-1, -1]])
    assert np.isfinite(model.decision_function(X)).all()


@every_method
def test_permuting_labels_permutes_scores(method, data):
    X, _, candidates = data
    order = [2, 0, 3, 1]
    first = clone(method).fit(X, candidates).decision_function(X)
    second = clone(method).fit(X, candidates[:, order]).decision_function(X)
    assert_allclose(second, first[:, order], atol=1e-8)


@every_method
def test_permuting_rows_permutes_noise_scores(method, data, rng):
    X, _, candidates = data
    rows = rng.permutation(200)
    first = clone(method).fit(X, candidates).noise_scores_.toarray()[rows]
    second = clone(method).fit(X[rows], candidates[rows]).noise_scores_.toarray()
    # Solvers that stop at a tolerance may stop elsewhere.
    assert_allclose(second, first, atol=2e-3)


@every_method
def test_class_names_and_pipelines(method, data):
    X, Y, _ = data
    y = np.array(["cat", "dog", "owl"])[Y[:, 0] + Y[:, 1] * (1 - Y[:, 0])]
    model = make_pipeline(StandardScaler(), clone(method)).fit(X, y)
    assert set(model.predict(X)) <= {"cat", "dog", "owl"}
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.score(X, y) > 0.6
