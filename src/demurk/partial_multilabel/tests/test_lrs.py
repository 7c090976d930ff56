"""PML-LRS: optimality conditions of its convex problem."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from demurk.labels import add_extra_labels
from demurk.linalg._admm import admm
from demurk.linalg._ridge import FeatureBasis
from demurk.partial_multilabel import PMLLRS
from demurk.partial_multilabel._lrs import LowRankSparse


@pytest.fixture
def data(rng):
    X = rng.normal(size=(40, 5)) + 2
    Y = (X @ rng.normal(size=(5, 8)) > 3).astype(np.int8)
    return X, add_extra_labels(Y, 0.5, random_state=0).labels


def nuclear(A):
    return np.linalg.svd(A, compute_uv=False).sum()


def objective(X, Y, W, b, G, gamma, beta, eta):
    fit = 0.5 * np.sum((X @ W + b - G) ** 2)
    penalties = gamma * nuclear(W) + beta * nuclear(G) + eta * np.abs(Y - G).sum()
    return fit + penalties


@pytest.mark.parametrize(
    "weights", [(0.5, 0.8, 0.3), (0.01, 0.1, 1.0), (2.0, 0.1, 0.1)]
)
def test_constant_penalty_meets_the_optimality_conditions(data, weights):
    X, Y = data[0], data[1].astype(float)
    gamma, beta, eta = weights
    basis = FeatureBasis(X)
    parts = LowRankSparse(basis.coordinates(X), basis.squares, Y, weights)
    residuals = admm(parts.step, settled=1e-9, tol=1e-9, max_iter=20_000)
    assert np.all(residuals[-1] < 1e-9)
    Z, W, G, E = parts.Z, parts.W, parts.G, parts.E
    # Stationarity of W and G, then each multiplier is a subgradient of its norm.
    assert_allclose(Z.T @ (Z @ W - G) + parts.T1, 0, atol=1e-5)
    assert_allclose(G - Z @ W - parts.b + parts.T2 - parts.T3, 0, atol=1e-5)
    assert_allclose(parts.b, (G - Z @ W).mean(axis=0), atol=1e-6)
    for T, value, weight in ((parts.T1, W, gamma), (parts.T2, G, beta)):
        assert np.linalg.norm(T, 2) <= weight * (1 + 1e-6)
        assert_allclose(np.vdot(T, value), weight * nuclear(value), atol=1e-4)
    assert np.abs(parts.T3).max() <= eta * (1 + 1e-6)
    assert_allclose(np.vdot(parts.T3, E), eta * np.abs(E).sum(), atol=1e-4)


def test_no_random_step_is_better(data, rng):
    X, Y = data[0], data[1].astype(float)
    weights = 0.5, 0.8, 0.3
    model = PMLLRS(0.5, label_rank_penalty=0.8, noise_penalty=0.3, growth=1)
    model.set_params(max_iter=5000, tol=1e-10).fit(X, Y)
    # A constant penalty ends only when nothing moves any more.
    assert np.all(model.residuals_[-1] < 1e-10)
    W, b = model.coef_.T, model.intercept_
    G = Y - model.noise_.toarray()
    best = objective(X, Y, W, b, G, *weights)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(20):
            moves = [size * rng.normal(size=v.shape) for v in (W, b, G)]
            moved = (v + m for v, m in zip((W, b, G), moves))
            # Up to the accuracy of the iterations.
            assert objective(X, Y, *moved, *weights) > best - 1e-6


def test_growing_penalty_ends_feasible_and_near(data):
    X, Y = data[0], data[1].astype(float)
    weights = 0.5, 0.8, 0.3
    options = {"label_rank_penalty": 0.8, "noise_penalty": 0.3, "max_iter": 5000}
    fast = PMLLRS(0.5, **options).fit(X, Y)
    exact = PMLLRS(0.5, growth=1, tol=1e-10, **options).fit(X, Y)
    assert fast.residuals_[-1, 0] < 1e-6 and fast.n_iter_ < 300
    values = [
        objective(X, Y, m.coef_.T, m.intercept_, Y - m.noise_.toarray(), *weights)
        for m in (fast, exact)
    ]
    assert values[1] <= values[0] <= 1.05 * values[1]


def test_noise_may_be_kept_from_removing_zeros(data):
    X, Y = data
    model = PMLLRS(noise_penalty=0.2, nonnegative_noise=True).fit(X, Y)
    assert model.noise_.nnz and model.noise_.data.min() > 0


def test_sparse_is_dense(data):
    X, Y = data
    X = np.where(X > 1, X, 0)
    base, sparse = PMLLRS().fit(X, Y), PMLLRS().fit(csr_array(X), csr_array(Y))
    assert_allclose(sparse.coef_, base.coef_, atol=1e-8)
    scores = base.decision_function(X) + base.thresholds_
    assert_allclose(base.noise_scores_.toarray()[Y > 0], 1 - scores[Y > 0])
