"""PML-NI: optimality conditions of its convex problem."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge

from demurk.labels import add_extra_labels
from demurk.linalg._admm import admm
from demurk.linalg._ridge import FeatureBasis
from demurk.partial_multilabel import PMLNI
from demurk.partial_multilabel._base import with_constant
from demurk.partial_multilabel._ni import SplitModel


@pytest.fixture(params=[(40, 5), (12, 20)], ids=["tall", "wide"])
def data(request, rng):
    n, d = request.param
    X = rng.normal(size=(n, d))
    Y = (X[:, :4] + 0.5 * rng.normal(size=(n, 4)) > 0).astype(np.int8)
    return X, add_extra_labels(Y, 0.5, random_state=0).labels


@pytest.mark.parametrize(
    "weights", [(1.0, 0.5, 0.8), (10.0, 2.0, 2.0), (1.0, 3.0, 0.4)]
)
def test_constant_penalty_meets_the_optimality_conditions(data, weights):
    X, Y = with_constant(data[0]), data[1].astype(float)
    ridge, beta, gamma = weights
    models = SplitModel(FeatureBasis(X, center=False), Y.T @ X, weights)
    residuals = admm(models.step, settled=1e-10, tol=1e-10, max_iter=50_000)
    assert np.all(residuals[-1] < 1e-10)
    W, A, N, T = models.W, models.A, models.N, models.T
    assert_allclose(A + N, W, atol=1e-8)
    assert_allclose((W @ X.T - Y.T) @ X + ridge * W - T, 0, atol=1e-6)
    # Minus the multiplier is a subgradient of both norms.
    assert np.linalg.norm(T, 2) <= beta * (1 + 1e-6)
    total = np.linalg.svd(A, compute_uv=False).sum()
    assert_allclose(np.vdot(-T, A), beta * total, atol=1e-5)
    assert np.abs(T).max() <= gamma * (1 + 1e-6)
    assert_allclose(np.vdot(-T, N), gamma * np.abs(N).sum(), atol=1e-5)


def test_growing_penalty_ends_feasible(data):
    model = PMLNI().fit(*data)
    assert model.residuals_[-1, 0] < 1e-7 and model.residuals_[-1, 1] < 1e-5
    assert model.n_iter_ < 500


def test_without_noise_and_rank_penalty_it_is_ridge_regression(data):
    X, Y = data
    model = PMLNI(3.0, rank_penalty=0.0, noise_penalty=1e6).fit(X, Y)
    assert not model.noise_coef_.any() and not model.noise_intercept_.any()
    expected = Ridge(alpha=3.0, fit_intercept=False).fit(with_constant(X), Y)
    found = np.column_stack([model.coef_, model.intercept_])
    assert_allclose(found, expected.coef_, atol=1e-5)


def test_sparse_is_dense(data):
    X, Y = data
    X = np.where(X > 0, X, 0)
    base, sparse = PMLNI().fit(X, Y), PMLNI().fit(csr_array(X), csr_array(Y))
    assert_allclose(sparse.coef_, base.coef_, atol=1e-8)
    assert_allclose(
        sparse.predict_proba(csr_array(X)), base.predict_proba(X), atol=1e-7
    )


def test_threshold_never_sees_more_than_candidates(data):
    """Rows without candidates are cut above all their scores in training."""
    X, Y = data
    model = PMLNI(threshold="linear").fit(X, Y)
    assert model.thresholds_.shape == (5,)
    assert model.predict(X).sum() <= 2 * Y.sum()


def test_models_that_do_not_add_up_are_told(data):
    with pytest.warns(ConvergenceWarning, match="After 3 iterations both models"):
        PMLNI(max_iter=3).fit(*data)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        PMLNI().fit(*data)
