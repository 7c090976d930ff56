"""DRAMA: feasible and optimal confidences, and boosting that can be replayed."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.preprocessing import normalize

from demurk.graph import nearest_neighbors
from demurk.graph._reconstruction import reconstruction_graph
from demurk.labels import add_extra_labels
from demurk.linalg._admm import admm
from demurk.partial_multilabel import DRAMA
from demurk.partial_multilabel._drama import SmoothConfidences


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 4))
    Y = (X @ rng.normal(size=(4, 5)) > 0.5).astype(np.int8)
    Y = add_extra_labels(Y, 1, random_state=0).labels
    Y[:2], Y[2] = 0, 1  # no candidate; all labels are candidates
    return X, Y


def graph_of(X, k=5):
    found = nearest_neighbors(X, k).distances
    return reconstruction_graph(X, found.indices.reshape(len(X), -1))


def assert_feasible(C, candidates, low, high):
    assert np.all(C[candidates] >= -low - 1e-12)
    assert np.all(C[~candidates] <= -high + 1e-12)
    total = np.sum(C, axis=1, where=candidates)
    assert np.all(total[candidates.any(axis=1)] >= 1 - 1e-10)


@pytest.mark.parametrize("low, high", [(0.01, 0.5), (0.3, 0.0)])
def test_projection_is_the_nearest_feasible_point(rng, low, high):
    candidates = rng.uniform(size=(30, 4)) < 0.5
    candidates[0], candidates[1] = False, True
    values = rng.normal(size=(30, 4))
    smooth = SmoothConfidences(csr_array((30, 30)), candidates, low, high)
    found = smooth.project(values)
    assert_feasible(found, candidates, low, high)
    for row, inside, nearest in zip(values, candidates, found):
        bounds = [(-low, None) if c else (None, -high) for c in inside]
        total = {"type": "ineq", "fun": lambda c, inside=inside: c[inside].sum() - 1}
        solved = minimize(
            lambda c, row=row: np.sum((c - row) ** 2),
            np.where(inside, 1.0, -high),
            bounds=bounds,
            constraints=[total] if inside.any() else [],
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert_allclose(nearest, solved.x, atol=1e-5)


def test_confidences_are_optimal(rng):
    """Against a generic solver of the whole quadratic programme."""
    X = normalize(rng.normal(size=(10, 3)))
    candidates = rng.uniform(size=(10, 3)) < 0.6
    candidates[~candidates.any(axis=1), 0] = True
    smooth = SmoothConfidences(graph_of(X, 3), candidates, 0.01, 0.5)
    residuals = admm(smooth.step, settled=1e-9, tol=1e-9, max_iter=5000)
    assert np.all(residuals[-1] < 1e-9)
    sums = [
        {
            "type": "ineq",
            "fun": lambda c, i=i: c.reshape(10, 3)[i][candidates[i]].sum() - 1,
        }
        for i in range(10)
    ]
    solved = minimize(
        lambda c: smooth.objective(c.reshape(10, 3)),
        np.where(candidates, 1.0, -0.5).ravel(),
        bounds=[(-0.01, None) if c else (None, -0.5) for c in candidates.ravel()],
        constraints=sums,
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 1000},
    )
    assert solved.success
    assert_feasible(smooth.B, candidates, 0.01, 0.5)
    assert_allclose(smooth.objective(smooth.B), solved.fun, rtol=1e-5)


def test_fitted_confidences_are_feasible(data):
    X, Y = data
    model = DRAMA(random_state=0).fit(X, Y)
    assert_feasible(model.label_distributions_, Y > 0, 0.01, 0.5)
    assert np.all(model.residuals_[-1] < 1e-5)
    expected = 1 - model.label_distributions_[Y > 0]
    assert_allclose(model.noise_scores_.toarray()[Y > 0], expected)


def test_boosting_approaches_the_confidences(data):
    X, Y = data
    errors = []
    for rounds in (0, 1, 4, 10):
        model = DRAMA(n_estimators=rounds, random_state=0).fit(X, Y)
        errors.append(np.linalg.norm(model._scores(X) - model.label_distributions_))
    assert np.all(np.diff(errors) < 0)
    assert len(model.trees_) == len(model.tree_weights_) == 10


def test_first_round_is_a_ridge_regression(data):
    X, Y = data
    model = DRAMA(n_estimators=0, reg=0.5, random_state=0).fit(X, Y)
    Z = normalize(X)
    Zc, C = Z - Z.mean(axis=0), model.label_distributions_
    coef = np.linalg.solve(Zc.T @ Zc + 0.5 * np.eye(4), Zc.T @ C).T
    assert_allclose(model.coef_, coef, atol=1e-10)
    assert_allclose(model._scores(X), Zc @ coef.T + C.mean(axis=0), atol=1e-9)


def test_prediction_replays_training(data):
    """A tree sees the scores before its round, at test time as in training."""
    X, Y = data
    model = DRAMA(n_estimators=3, threshold="cardinality", random_state=0).fit(X, Y)
    scores = normalize(X) @ model.coef_.T + model.intercept_
    order = model._order
    for tree, step in zip(model.trees_, model.tree_weights_):
        design = np.hstack([normalize(X), scores[:, order]]).astype(np.float32)
        found = np.empty_like(scores)
        found[:, order] = tree.predict(design)
        scores = scores + step * found
    assert_allclose(model._scores(X), scores, atol=1e-9)


def test_scale_of_a_row_does_not_matter(data):
    X, Y = data
    base = DRAMA(random_state=0).fit(X, Y)
    assert_array_equal(base.predict(3 * X), base.predict(X))


def test_sparse_is_dense(data):
    X, Y = data
    X = np.where(X > 0, X, 0)
    base = DRAMA(3, tol=1e-8, max_iter=1000, random_state=0).fit(X, Y)
    sparse = DRAMA(3, tol=1e-8, max_iter=1000, random_state=0).fit(
        csr_array(X), csr_array(Y)
    )
    assert_allclose(sparse.label_distributions_, base.label_distributions_, atol=1e-6)
    assert_allclose(sparse.coef_, base.coef_, atol=1e-5)
    # Trees may split ties differently: only most labels agree.
    same = sparse.predict(csr_array(X)) == base.predict(X)
    assert same.mean() > 0.9
