"""SURE against quadratic programmes and the published linear system."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_iris

from demurk.labels import add_candidates
from demurk.partial_label import SURE
from demurk.partial_label._sure import sharpen


def quadratic_programme(value, mask, sharpness):
    """The label step as published: the best candidate is the maximum."""
    inside = np.flatnonzero(mask)
    v = value[inside]
    j = int(v.argmax())

    def objective(p):
        return ((p - v) ** 2).sum() - sharpness * p[j]

    def slope(p):
        out = 2 * (p - v)
        out[j] -= sharpness
        return out

    found = minimize(
        objective,
        np.full(len(inside), 1 / len(inside)),
        jac=slope,
        bounds=[(0, 1)] * len(inside),
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1},
            {"type": "ineq", "fun": lambda p: p[j] - p},
        ],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    solution = np.zeros(len(value))
    solution[inside] = found.x
    return solution


def cases(rng, n, q):
    values = rng.normal(scale=0.7, size=(n, q))
    mask = rng.uniform(size=(n, q)) < 0.5
    mask[np.arange(n), rng.randint(q, size=n)] = True
    return values, mask


@pytest.mark.parametrize("sharpness", [0.0, 0.3, 1.5])
def test_label_step_equals_the_quadratic_programme(rng, sharpness):
    values, mask = cases(rng, 60, 5)
    expected = [quadratic_programme(v, m, sharpness) for v, m in zip(values, mask)]
    assert_allclose(sharpen(values, mask, sharpness), expected, atol=1e-6)


def test_label_step_is_best_over_all_maxima(rng):
    # The reward is for the largest entry, whichever it is: no other choice is better.
    values, mask = cases(rng, 100, 4)
    chosen = sharpen(values, mask, 0.3)

    def objective(p):
        return ((p - values) ** 2).sum(axis=-1) - 0.3 * p.max(axis=-1)

    others = np.where(mask, rng.gamma(0.5, size=(2000, *mask.shape)), 0)
    others /= others.sum(axis=2, keepdims=True)
    assert (objective(others) >= objective(chosen) - 1e-9).all()


def literal_sure(X, S, n_iter, reg=0.05, sharpness=0.3):
    """Alternate the published system and one programme per sample."""
    m = len(X)
    K = np.exp(-(cdist(X, X) ** 2) / (2 * pdist(X).mean() ** 2))
    P = S / S.sum(axis=1, keepdims=True)
    ones = np.ones((m, m))

    def fit(P):
        A = np.linalg.solve(K + reg * np.eye(m) - ones @ K / m, P - ones @ P / m)
        return A, (P.sum(axis=0) - A.T @ K.sum(axis=1)) / m

    values = []
    for _ in range(n_iter):
        A, b = fit(P)
        Q = K @ A + b
        loss = ((Q - P) ** 2).sum() + reg * np.trace(A.T @ K @ A)
        values.append(loss - sharpness * P.max(axis=1).sum())
        P = np.array([quadratic_programme(q, s, sharpness) for q, s in zip(Q, S)])
    A, b = fit(P)
    return P, K @ A + b, values


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    rows = np.random.RandomState(0).permutation(150)[:45]
    X, y = X[rows], y[rows]
    return X, y, add_candidates(y, n_extra=1, random_state=1).labels


def test_equals_the_literal_method(iris):
    X, _, S = iris
    P, scores, values = literal_sure(X, S, 6)
    model = SURE(max_iter=6, tol=0).fit(X, S)
    assert model.n_iter_ == 6
    assert_allclose(model.label_distributions_, P, atol=1e-5)
    assert_allclose(model.decision_function(X), scores, atol=1e-5)
    assert_allclose(model.objective_, values, atol=1e-4)


def test_objective_never_increases(iris):
    X, _, S = iris
    objective = SURE(tol=0, max_iter=50).fit(X, S).objective_
    assert (np.diff(objective) <= 1e-12).all()


def test_start_and_sharpness(iris):
    X, y, S = iris
    uniform = SURE(max_iter=1).fit(X, S)
    indicator = SURE(max_iter=1, start="indicator").fit(X, S)
    assert not np.allclose(uniform.label_distributions_, indicator.label_distributions_)
    decided = SURE(max_iter=1, sharpness=2).fit(X, S).label_distributions_
    assert_array_equal(decided.max(axis=1), 1)
    assert SURE(start="indicator").fit(X, S).score(X, y) > 0.9


def test_landmarks(iris):
    X, y, S = iris
    model = SURE(n_landmarks=20, random_state=0).fit(X, S)
    assert model.dual_coef_.shape == (20, 3)
    assert model.score(X, y) > 0.9
    assert SURE(n_landmarks=1000).fit(X, S).dual_coef_.shape == (45, 3)
    with pytest.raises(ValueError, match="n_landmarks"):
        SURE(n_landmarks=20_000).fit(X, S)


def test_probabilities_are_the_projected_scores(iris):
    X, _, S = iris
    model = SURE().fit(X, S)
    scores = model.decision_function(X)
    assert_allclose(scores.sum(axis=1), 1)
    inside = (scores >= 0).all(axis=1)
    assert inside.any()
    assert_allclose(model.predict_proba(X)[inside], scores[inside], atol=1e-12)
