"""PL-AGGD: each of its three steps against a generic solver."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_iris
from sklearn.preprocessing import normalize

from demurk.labels import add_candidates
from demurk.partial_label import PLAGGD, SURE, _plaggd
from demurk.partial_label._plaggd import _spectral_norm, agree


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    rows = np.random.RandomState(0).permutation(150)[:60]
    X, y = X[rows], y[rows]
    return X, y, add_candidates(y, n_extra=1, random_state=1).labels


def on_simplices(objective, slope, S):
    """Generic minimum over confidences on the candidates."""
    n, q = S.shape
    inside = S.ravel() == 1

    def full(v):
        Y = np.zeros(n * q)
        Y[inside] = v
        return Y.reshape(n, q)

    owner = np.repeat(np.arange(n), q)[inside]
    A = (owner == np.arange(n)[:, None]).astype(float)
    start = (S / S.sum(axis=1, keepdims=True)).ravel()[inside]
    found = minimize(
        lambda v: objective(full(v)),
        start,
        jac=lambda v: slope(full(v)).ravel()[inside],
        bounds=[(0, 1)] * inside.sum(),
        constraints={"type": "eq", "fun": lambda v: A @ v - 1, "jac": lambda v: A},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 300},
    )
    return full(found.x), found.fun


@pytest.mark.parametrize("weight", [0.0, 1.0, 0.2])
def test_confidence_step_equals_a_generic_solver(rng, weight, monkeypatch):
    monkeypatch.setattr(_plaggd, "GRADIENT_STEPS", 2000)
    monkeypatch.setattr(_plaggd, "GRADIENT_TOL", 1e-9)
    n, q = 14, 3
    S = (rng.uniform(size=(n, q)) < 0.5).astype(int)
    S[np.arange(n), rng.randint(q, size=n)] = 1
    W = rng.uniform(size=(n, n)) * (rng.uniform(size=(n, n)) < 0.4)
    np.fill_diagonal(W, 0)
    W /= np.maximum(W.sum(axis=1, keepdims=True), 1e-9)
    F = rng.normal(size=(n, q))
    R = np.eye(n) - W

    def objective(Y):
        return ((R @ Y) ** 2).sum() + weight * ((Y - F) ** 2).sum()

    def slope(Y):
        return 2 * R.T @ (R @ Y) + 2 * weight * (Y - F)

    expected, least = on_simplices(objective, slope, S)
    start = S / S.sum(axis=1, keepdims=True)
    Y = agree(csr_array(W), S == 1, start, F, weight)
    assert objective(Y) <= least + 1e-7
    if weight:
        assert_allclose(Y, expected, atol=1e-4)


@pytest.mark.parametrize("label_weight", [1.0, 4.0])
def test_first_turn_step_by_step(iris, label_weight, monkeypatch):
    """One turn, with the graph and the regression written out."""
    X, _, S = iris
    seen = []
    real = _plaggd.agree

    def spy(graph, candidates, start, *rest):
        result = real(graph, candidates, start, *rest)
        seen.append((graph.toarray(), start, result, rest))
        return result

    monkeypatch.setattr(_plaggd, "agree", spy)
    model = PLAGGD(5, max_iter=1, label_weight=label_weight).fit(X, S)
    (W0, start, Y0, _), (W1, again, Y1, (values, weight)) = seen
    units = normalize(X)
    order = np.argsort(cdist(units, units) + 9 * np.eye(60), axis=1, kind="stable")
    near = order[:, :5]
    assert_allclose(start, S / S.sum(axis=1, keepdims=True))
    assert_allclose(again, Y0)
    assert weight == 1 / label_weight
    K = np.exp(-(cdist(X, X) ** 2) / (2 * pdist(X).mean() ** 2))
    bordered = np.zeros((61, 61))
    bordered[0, 1:] = bordered[1:, 0] = 1
    bordered[1:, 1:] = K + 0.05 * np.eye(60)
    solution = np.linalg.solve(bordered, np.vstack([np.zeros(3), Y0]))
    assert_allclose(values, K @ solution[1:] + solution[0], atol=1e-8)
    for i in range(0, 60, 7):
        Dx, Dy = units[i] - units[near[i]], Y0[i] - Y0[near[i]]
        mixed = Dx @ Dx.T + label_weight * Dy @ Dy.T
        for W, G in [(W0, Dx @ Dx.T), (W1, mixed)]:
            w = W[i, near[i]]
            assert w.sum() == pytest.approx(1)
            # Optimal on the simplex: no vertex has a smaller slope.
            assert (G @ w).min() >= w @ G @ w - 1e-8
    assert_allclose(model.label_distributions_, Y1)


def test_regression_is_that_of_sure(iris):
    X, _, S = iris
    labels = S.argmax(axis=1)  # singletons: both keep the confidences as they are
    sure, aggd = SURE().fit(X, labels), PLAGGD().fit(X, labels)
    assert_allclose(aggd.dual_coef_, sure.dual_coef_, atol=1e-12)
    assert_allclose(aggd.intercept_, sure.intercept_, atol=1e-12)


def test_spectral_norm(rng):
    for n in (8, 60):
        W = rng.normal(size=(n, n))
        exact = np.linalg.norm(W, 2)
        assert exact * (1 - 1e-12) <= _spectral_norm(csr_array(W)) <= 1.02 * exact


def test_weights_matter(iris):
    X, y, S = iris
    base = PLAGGD().fit(X, S)
    assert base.score(X, y) > 0.9
    assert base.n_iter_ == 10
    for other in (PLAGGD(feature_weight=0), PLAGGD(label_weight=10)):
        assert not np.allclose(
            other.fit(X, S).label_distributions_, base.label_distributions_
        )
