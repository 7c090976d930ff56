"""PLST, CPLST and REML against the formulas of their papers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge

from demurk.linalg import flip_signs
from demurk.linalg._ridge import FeatureBasis
from demurk.multilabel import CPLST, PLST, REML
from demurk.multilabel._reml_blocks import HeadAndTail

METHODS = [PLST(), CPLST(), REML()]
every_method = pytest.mark.parametrize("method", METHODS, ids=str)


@pytest.fixture(params=[(40, 6), (12, 20)], ids=["tall", "wide"])
def data(request, rng):
    n, d = request.param
    X = rng.normal(size=(n, d)) + 1
    Y = (X[:, :5] @ rng.normal(size=(5, 7)) > 0).astype(int)
    return X, Y


def literal_plst(X, Y, n_components, ridge, conditional):
    """With the hat matrix and a singular value decomposition."""
    shift = Y.mean(axis=0)
    centered, Xc = Y - shift, X - X.mean(axis=0)
    if conditional:
        gram = Xc.T @ Xc + ridge * np.eye(X.shape[1])
        hat = Xc @ np.linalg.solve(gram, Xc.T)
        values, vectors = np.linalg.eigh(centered.T @ hat @ centered)
        V = vectors[:, np.argsort(-values)[:n_components]]
    else:
        V = np.linalg.svd(centered)[2][:n_components].T
    Z = centered @ V
    fitted = Ridge(alpha=ridge).fit(X, Z).predict(X).reshape(Z.shape)
    return fitted @ V.T + shift


@pytest.mark.parametrize("cls", [PLST, CPLST])
@pytest.mark.parametrize("n_components", [1, 3, 7])
def test_equals_literal_formulas(cls, n_components, data):
    X, Y = data
    model = cls(n_components, reg=0.5).fit(X, Y)
    expected = literal_plst(X, Y, n_components, 0.5, cls is CPLST)
    assert_allclose(model.decision_function(X) + 0.5, expected, atol=1e-8)
    V = model.label_components_
    assert_allclose(V @ V.T, np.eye(len(V)), atol=1e-10)
    assert_array_equal(V, flip_signs(V))


def test_all_components_are_ridge_regression(data):
    X, Y = data
    expected = Ridge(alpha=0.3).fit(X, Y).predict(X)
    for cls in (PLST, CPLST):
        model = cls(50, reg=0.3).fit(X, Y)
        assert_allclose(model.decision_function(X) + 0.5, expected, atol=1e-8)


def test_conditional_components_are_predicted_better(rng):
    """Labels that vary most cannot be predicted here; others can."""
    X = rng.normal(size=(200, 4))
    noise = np.repeat(rng.uniform(size=(200, 1)) < 0.5, 6, axis=1)
    signal = np.repeat(X[:, :1] > 0, 3, axis=1)
    Y = np.hstack([noise, signal]).astype(int)
    errors = [
        np.mean((cls(1).fit(X, Y).predict(X) != Y)[:, 6:]) for cls in (PLST, CPLST)
    ]
    assert errors[1] < 0.2 < errors[0]


def reml(data, rank=3, weights=(0.2, 0.3, 0.4)):
    X, Y = data
    basis = FeatureBasis(X)
    Z = basis.coordinates(X)
    return HeadAndTail(Z, basis.squares, Y - Y.mean(axis=0), rank, weights)


def reml_objective(parts, A, B, H):
    Z, Y = parts.Z, parts.Y
    value = np.sum((Y - Z @ (A @ B + H)) ** 2) + parts.l1 * np.sum(H**2)
    value += parts.l2 * (np.sum(A**2) + np.sum(B**2))
    return value + parts.l3 * np.abs(Z @ H).sum()


def test_head_blocks_are_minimised_exactly(data):
    parts = reml(data)
    parts.sweep()
    for name in ("B", "A"):
        getattr(parts, {"B": "update_right", "A": "update_left"}[name])()
        blocks = {"A": parts.A, "B": parts.B, "H": parts.H}
        shape = blocks[name].shape

        def value(flat, blocks=blocks, name=name, shape=shape):
            return reml_objective(parts, **{**blocks, name: flat.reshape(shape)})

        found = value(blocks[name].ravel())
        assert_allclose(found, parts.objective())
        best = minimize(
            value,
            np.zeros(blocks[name].size),
            method="L-BFGS-B",
            options={"maxfun": 10**6},
        )
        assert_allclose(found, best.fun, rtol=1e-6)


def test_tail_converges_to_its_minimum(data, rng):
    parts = reml(data)
    residuals = parts.update_tail(tol=1e-9, max_iter=20_000)
    assert np.all(residuals[-1] < 1e-9)
    best = reml_objective(parts, parts.A, parts.B, parts.H)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(20):
            H = parts.H + size * rng.normal(size=parts.H.shape)
            assert reml_objective(parts, parts.A, parts.B, H) > best - 1e-7
    # The copy of the predictions of the tail is sparse.
    assert_allclose(parts.P, parts.Z @ parts.H, atol=1e-6)
    assert np.mean(parts.P == 0) > 0.05


def test_reml_objective_never_rises(data):
    X, Y = data
    model = REML(3, max_iter=40, tol=0).fit(X, Y)
    assert np.all(np.diff(model.objective_) <= 1e-9 * model.objective_[:-1])


def test_reml_without_tail_is_low_rank(data):
    X, Y = data
    model = REML(2, tail_reg=1e9).fit(X, Y)
    assert np.linalg.matrix_rank(model.coef_, tol=1e-5) == 2
    assert_allclose(model.tail_coef_, 0, atol=1e-6)


@every_method
def test_invariances(method, data, rng):
    X, Y = data
    X = np.where(X > 0.2, X, 0)
    base = method.fit(X, Y).decision_function(X)
    rows, labels = rng.permutation(len(X)), rng.permutation(7)
    moved = method.fit(X[rows], Y[rows][:, labels]).decision_function(X)
    assert_allclose(moved, base[:, labels], atol=1e-6)
    sparse = method.fit(csr_array(X), csr_array(Y)).decision_function(csr_array(X))
    assert_allclose(sparse, base, atol=1e-6)
    single = method.fit(X.astype(np.float32), Y).decision_function(X)
    assert_allclose(single, base, atol=1e-3)


@every_method
def test_missing_labels_and_edge_cases(method, data, rng):
    X, Y = data
    base = method.fit(X, Y).decision_function(X)
    more = np.vstack([X, rng.normal(size=(4, X.shape[1]))])
    hidden = np.vstack([Y, np.full((4, 7), -1)])
    assert_allclose(method.fit(more, hidden).decision_function(X), base, atol=1e-9)
    part = Y.copy()
    part[::4, 2] = -1
    part[:, 5], part[:, 6] = 0, 1
    model = method.fit(X, part)
    assert np.isfinite(model.decision_function(X)).all()
    assert not model.predict(X)[:, 5].any() and model.predict(X)[:, 6].all()
    one = method.fit(X, [{"a"} if y else set() for y in Y.any(axis=1)])
    assert one.predict(X).shape == (len(X), 1)
    # Rows without any label, and more labels than samples.
    wide = np.tile(Y, 9)
    wide[:3] = 0
    scores = method.fit(X, wide).decision_function(X)
    assert np.isfinite(scores).all()
    assert_allclose(scores, np.tile(scores[:, :7], 9), atol=1e-6)
    same = method.fit(np.ones_like(X), Y).decision_function(np.ones_like(X[:2]))
    assert_allclose(same + 0.5, np.tile(Y.mean(axis=0), (2, 1)), atol=1e-9)
