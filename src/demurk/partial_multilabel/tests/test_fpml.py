"""fPML: the objective, and every block against a generic minimiser."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.sparse import csr_array

from demurk.labels import add_extra_labels
from demurk.partial_multilabel import FPML
from demurk.partial_multilabel._fpml import Factors

WEIGHTS = 0.7, 1.3, 2.0


@pytest.fixture
def data(rng):
    X = rng.normal(size=(15, 4)) + 2
    Y = (X @ rng.normal(size=(4, 6)) > 2).astype(np.int8)
    return X, add_extra_labels(Y, 0.5, random_state=0).labels.astype(float)


def dense_objective(X, Y, S, F, G, W, b):
    l1, l2, l3 = WEIGHTS
    Xc = X - X.mean(axis=0)
    value = np.sum((Y - G @ S.T) ** 2) + l1 * np.sum((Xc - G @ F.T) ** 2)
    value += l2 * np.sum((G @ S.T - X @ W - b) ** 2)
    return value + l3 * sum(np.sum(block**2) for block in (S, F, G, W))


def blocks(factors):
    W = factors.coef.T @ factors.old_S.T
    b = factors.old_S @ factors.intercept
    return {"S": factors.S, "F": factors.F, "G": factors.G, "W": W, "b": b}


@pytest.fixture
def factors(data, rng):
    X, Y = data
    made = Factors(X, csr_array(Y), rng.normal(size=(15, 3)), WEIGHTS)
    made.sweep()
    return made


def test_objective_is_the_dense_one(data, factors):
    assert_allclose(factors.objective(), dense_objective(*data, **blocks(factors)))
    factors.update_labels()  # W keeps the labels it was made with
    assert_allclose(factors.objective(), dense_objective(*data, **blocks(factors)))


@pytest.mark.parametrize(
    "update, names",
    [
        ("update_labels", ["S"]),
        ("update_features", ["F"]),
        ("update_samples", ["G"]),
        ("update_model", ["W", "b"]),
    ],
)
def test_each_block_is_minimised_exactly(data, factors, update, names):
    getattr(factors, update)()
    found = blocks(factors)
    free = np.concatenate([found[name].ravel() for name in names])

    def value(flat):
        parts, at = dict(found), 0
        for name in names:
            size = found[name].size
            parts[name] = flat[at : at + size].reshape(found[name].shape)
            at += size
        return dense_objective(*data, **parts)

    start = np.random.RandomState(0).normal(size=free.shape)
    best = minimize(value, start, method="L-BFGS-B", options={"maxfun": 10**6})
    # The generic solver differentiates by differences.
    assert_allclose(value(free), best.fun, rtol=1e-6)
    assert_allclose(free, best.x, atol=2e-3)


def test_objective_never_rises(data):
    model = FPML(3, reg=0.5, max_iter=60, tol=0, random_state=0).fit(*data)
    assert model.n_iter_ == 60
    fall = -np.diff(model.objective_)
    assert np.all(fall >= -1e-12 * model.objective_[:-1])


def test_order_and_storage_do_not_matter(data, rng):
    X, Y = data
    X = np.where(X > 1, X, 0)
    base = FPML(3, random_state=0).fit(X, Y).decision_function(X)
    rows, labels = rng.permutation(15), rng.permutation(6)
    moved = FPML(3, random_state=0).fit(X[rows], Y[rows][:, labels])
    assert_allclose(moved.decision_function(X), base[:, labels], atol=1e-8)
    sparse = (
        FPML(3, random_state=0)
        .fit(csr_array(X), csr_array(Y))
        .decision_function(csr_array(X))
    )
    assert_allclose(sparse, base, atol=1e-8)


def test_scores_and_noise_scores(data):
    X, Y = data
    model = FPML(3, random_state=0).fit(X, Y)
    cleaned = model.label_embedding_ @ model.label_components_.T
    assert_allclose(model.noise_scores_.toarray()[Y > 0], 1 - cleaned[Y > 0])
    assert FPML(random_state=0).fit(X, Y).coef_.shape == (4, 4)  # no more than features
