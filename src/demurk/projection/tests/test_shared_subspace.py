"""The shared subspace against its eigenproblem and its objective."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, orth, subspace_angles
from scipy.sparse import csr_array

from demurk.projection import SharedSubspace


@pytest.fixture(params=[(80, 12), (20, 35)], ids=["n>D", "D>n"])
def data(request, rng):
    n, D = request.param
    X = rng.normal(size=(n, D)) + 3
    Y = (X[:, :4] + rng.normal(size=(n, 4)) > 3).astype(int)
    return X, Y


def naive(X, Y, a, b):
    n, D = X.shape
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    inverse = np.linalg.inv(Xc.T @ Xc / n + (a + b) * np.eye(D))
    S1 = np.eye(D) - a * inverse
    S2 = inverse @ Xc.T @ Yc @ Yc.T @ Xc @ inverse
    values, vectors = eigh(S2, S1)
    return values[::-1], vectors[:, ::-1]


def objective(X, Y, U, P, a, b):
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    outside = U - P @ P.T @ U
    fit = np.sum((Xc @ U - Yc) ** 2) / len(X)
    return fit + a * np.sum(outside**2) + b * np.sum(U**2)


@pytest.mark.parametrize(("a", "b"), [(1.0, 0.1), (10.0, 0.01), (0.1, 1.0)])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_equals_generalised_eigenproblem(data, a, b, make):
    X, Y = data
    values, vectors = naive(X, Y, a, b)
    model = SharedSubspace(2, subspace_weight=a, reg=b).fit(make(X), Y)
    P = model.components_.T
    assert_allclose(model.eigenvalues_, values[:2], rtol=1e-7)
    assert subspace_angles(P, vectors[:, :2]).max() < 1e-6
    assert subspace_angles(P[:, :1], vectors[:, :1]).max() < 1e-6
    assert_allclose(P.T @ P, np.eye(2), atol=1e-10)


def test_predictors_and_subspace_minimise_the_objective(data, rng):
    X, Y = data
    a, b = 2.0, 0.05
    n, D = X.shape
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    model = SharedSubspace(2, subspace_weight=a, reg=b).fit(X, Y)
    P, U = model.components_.T, model.coef_.T
    best = objective(X, Y, U, P, a, b)
    for _ in range(20):
        Q = orth(P + 0.1 * rng.normal(size=P.shape))
        matrix = Xc.T @ Xc / n + (a + b) * np.eye(D) - a * Q @ Q.T
        V = np.linalg.solve(matrix, Xc.T @ Yc / n)
        assert best <= objective(X, Y, V, Q, a, b)
        assert best <= objective(X, Y, U + 0.01 * rng.normal(size=U.shape), P, a, b)


def test_intercept(data):
    X, Y = data
    model = SharedSubspace().fit(X, Y)
    estimates = X @ model.coef_.T + model.intercept_
    assert_allclose(estimates.mean(axis=0), Y.mean(axis=0))


def test_full_subspace_is_the_span_of_ridge_regression(data):
    X, Y = data
    n, D = X.shape
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    ridge = np.linalg.solve(Xc.T @ Xc / n + 0.2 * np.eye(D), Xc.T @ Yc / n)
    for a in (0.0, 1.0, 50.0):
        model = SharedSubspace(4, subspace_weight=a, reg=0.2).fit(X, Y)
        assert subspace_angles(model.components_.T, ridge).max() < 1e-6
        assert_allclose(model.coef_.T, ridge, atol=1e-8)


def test_defaults(data):
    X, Y = data
    model = SharedSubspace().fit(X, Y)
    assert model.components_.shape[0] == 3
    b = 0.1 * X.var(axis=0).mean()
    explicit = SharedSubspace(3, reg=b).fit(X, Y)
    assert_allclose(model.components_, explicit.components_, atol=1e-10)
    with pytest.warns(UserWarning, match="only 4 directions"):
        SharedSubspace(5).fit(X, Y)
