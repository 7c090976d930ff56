"""Ridge regression and principal axes against scikit-learn and plain algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge

from demurk.linalg import _ridge
from demurk.linalg._ridge import CenteredRidge, FeatureBasis


@pytest.fixture(params=["tall", "wide"])
def data(request, rng):
    shape = (30, 7) if request.param == "tall" else (9, 20)
    X = rng.normal(size=shape) + 3
    X[:, 2] = 5.0  # a constant feature
    X[np.abs(X) < 2.5] = 0
    return X, rng.normal(size=(shape[0], 4)) + 1


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("dense_limit", [7000, 2], ids=["factor", "iterations"])
def test_equals_scikit_learn(data, sparse, fit_intercept, dense_limit, monkeypatch):
    X, T = data
    monkeypatch.setattr(_ridge, "MAX_DENSE", dense_limit)
    ridge = CenteredRidge(
        csr_array(X) if sparse else X, 0.7, fit_intercept=fit_intercept
    )
    coef, intercept = ridge.solve(T)
    expected = Ridge(alpha=0.7, fit_intercept=fit_intercept).fit(X, T)
    assert_allclose(coef, expected.coef_, atol=1e-8)
    assert_allclose(intercept, expected.intercept_, atol=1e-8)
    assert_allclose(ridge.fitted(coef, intercept), expected.predict(X), atol=1e-8)
    again, _ = ridge.solve(T, start=coef)
    assert_allclose(again, coef, atol=1e-8)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("center", [False, True])
def test_principal_axes(data, sparse, center, rng):
    X, _ = data
    basis = FeatureBasis(csr_array(X) if sparse else X, center=center)
    Xc = X - X.mean(axis=0) if center else X
    Q = basis.directions
    assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-10)
    Z = basis.coordinates(csr_array(X) if sparse else X)
    assert_allclose(Z @ Q.T, Xc, atol=1e-9)
    assert_allclose(Z.T @ Z, np.diag(basis.squares), atol=1e-8)
    right = rng.normal(size=(3, X.shape[1]))
    gram = Xc.T @ Xc + 0.3 * np.eye(X.shape[1])
    assert_allclose(basis.solve(right, 0.3) @ gram, right, atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_relative_penalty_is_a_share_of_the_mean_diagonal(rng, fit_intercept):
    X, T = rng.normal(1, 2, (30, 5)), rng.normal(size=(30, 2))
    rows = X - X.mean(axis=0) if fit_intercept else X
    options = {"fit_intercept": fit_intercept}
    relative = CenteredRidge(X, "rel:0.1", **options).solve(T)
    number = CenteredRidge(X, 0.1 * np.mean((rows**2).sum(axis=0)), **options).solve(T)
    assert_allclose(relative[0], number[0])
    assert_allclose(relative[1], number[1], atol=1e-12)


def test_relative_penalty_of_constant_features(rng):
    T = rng.normal(size=(6, 2))
    coef, intercept = CenteredRidge(np.ones((6, 3)), "rel:0.1").solve(T)
    assert_allclose(coef, 0, atol=1e-14)
    assert_allclose(intercept, T.mean(axis=0))


@pytest.mark.parametrize("reg", ["rel:0", "0.1", "rel:", "rel:-1"])
def test_wrong_penalties_are_refused(rng, reg):
    with pytest.raises(ValueError, match="reg is"):
        CenteredRidge(rng.normal(size=(6, 3)), reg)
