"""Tests of the dependence directions from rows."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh, subspace_angles
from scipy.sparse import csc_array, csr_array, csr_matrix
from sklearn.exceptions import ConvergenceWarning

from demurk.linalg import _metric, _rows, dependence_directions, dependence_projection

SHAPES = {"tall": (60, 13), "wide": (20, 35)}
OMEGAS = ("float", "vector", "vector with zeros", "laplacian")
SOLVERS = ("auto", "cholesky", "dual", "cg")


def make(shape, omega="float", q=4, seed=0):
    n, n_features = SHAPES.get(shape, shape)
    rng = np.random.default_rng(seed)
    X = rng.poisson(0.7, size=(n, n_features)) * rng.uniform(0.5, 2.0, n_features)
    T = (rng.random((n, q)) < 0.4).astype(float)
    T[0] = 1.0 - T[1]  # no constant column, however short
    T -= T.mean(axis=0)
    if omega == "float":
        weights = 0.7
    elif omega == "laplacian":
        W = np.triu(rng.random((n, n)) < 0.2, 1).astype(float)
        W = W + W.T
        weights = csr_array(np.diag(W.sum(axis=1)) - W)
    else:
        weights = rng.uniform(0.1, 2.0, n)
        if omega == "vector with zeros":
            weights[rng.random(n) < 0.4] = 0.0
    return X, T, X.mean(axis=0), weights


def matrices(X, T, mean, omega, ridge):
    """A and B as the definition has them."""
    n, n_features = X.shape
    Xc = X if mean is None else X - mean
    if np.ndim(omega) == 0 and not hasattr(omega, "toarray"):
        full = omega * np.eye(n)
    else:
        full = omega.toarray() if hasattr(omega, "toarray") else np.diag(omega)
    A = Xc.T @ T @ T.T @ Xc
    return A, Xc.T @ full @ Xc + ridge * np.eye(n_features)


def assert_solves(found, A, B, rank):
    values, vectors = eigh(A, B)
    values, vectors = values[::-1], vectors[:, ::-1]
    assert found.components.shape == (rank, len(A))
    assert_allclose(found.eigenvalues, values[:rank], rtol=1e-8)
    P = found.components.T
    assert_allclose(P.T @ B @ P, np.eye(rank), rtol=0, atol=1e-9)
    for d in range(1, rank + 1):
        assert subspace_angles(P[:, :d], vectors[:, :d]).max() < 1e-6


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("omega", OMEGAS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver(solver, shape, omega, kind):
    X, T, mean, weights = make(shape, omega)
    options = {"omega": weights, "reg": 0.3, "solver": solver}
    found = dependence_directions(kind(X), T, mean=mean, **options)
    assert_solves(found, *matrices(X, T, mean, weights, 0.3), rank=4)
    # Without centring, and with another centre than the mean.
    for other in (None, mean + 0.5):
        found = dependence_directions(kind(X), T, mean=other, **options)
        assert_solves(found, *matrices(X, T, other, weights, 0.3), rank=4)


@pytest.mark.parametrize("kind", [np.asarray, csr_array, csr_matrix, csc_array])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_metric(shape, kind):
    X, T, mean, _ = make(shape)
    found = dependence_directions(kind(X), T, mean=mean, reg=4.0)
    assert_solves(found, *matrices(X, T, mean, 0.0, 4.0), rank=4)
    n = len(X)
    for zero in (np.zeros(n), csr_array((n, n))):
        same = dependence_directions(kind(X), T, mean=mean, omega=zero, reg=4.0)
        assert_array_equal(same.components, found.components)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("case", ["wide", "constant feature", "repeated feature"])
def test_singular_metric_uses_the_row_space(case, solver, kind):
    X, T, mean, _ = make("wide" if case == "wide" else "tall")
    if case != "wide":
        X = np.c_[X, X[:, 0] if case == "repeated feature" else np.ones(len(X))]
        mean = X.mean(axis=0)
    found = dependence_directions(
        kind(X), T, mean=mean, omega=0.7, reg=0.0, solver=solver
    )
    # The definition, in coordinates of the row space.
    U, s, Vt = np.linalg.svd(X - mean, full_matrices=False)
    U, s, Vt = U[:, s > 1e-8], s[s > 1e-8], Vt[s > 1e-8]
    G = U.T @ T / np.sqrt(0.7)
    P, values, _ = np.linalg.svd(G, full_matrices=False)
    assert_allclose(found.eigenvalues, values**2, rtol=1e-7)
    outside = found.components - found.components @ Vt.T @ Vt
    assert np.abs(outside).max() < 1e-7 * np.abs(found.components).max()
    B = 0.7 * (X - mean).T @ (X - mean)
    gram = found.components @ B @ found.components.T
    assert_allclose(gram, np.eye(4), rtol=0, atol=1e-7)
    assert subspace_angles(found.components.T, Vt.T @ (P / s[:, None])).max() < 1e-6


def test_tiny_ridge_is_not_a_failure():
    X, T, mean, _ = make("wide")
    exact = dependence_directions(X, T, mean=mean, omega=1.0, reg=0.0)
    for solver in ("cholesky", "dual"):
        near = dependence_directions(
            X, T, mean=mean, omega=1.0, reg=1e-18, solver=solver
        )
        assert_allclose(near.components, exact.components, rtol=0, atol=1e-9)


def test_full_rank_needs_no_ridge():
    for omega in OMEGAS:
        X, T, mean, weights = make("tall", omega)
        found = dependence_directions(X, T, mean=mean, omega=weights, reg=0.0)
        assert_solves(found, *matrices(X, T, mean, weights, 0.0), rank=4)


@pytest.mark.parametrize("omega", ["vector", "laplacian"])
@pytest.mark.parametrize("solver", ["cholesky", "dual"])
def test_singular_metric_of_other_kinds(omega, solver):
    X, T, mean, weights = make("wide", omega)
    with pytest.raises(ValueError, match="larger ridge"):
        dependence_directions(X, T, mean=mean, omega=weights, reg=0.0, solver=solver)


def test_same_as_statistics():
    X, T, mean, _ = make("tall")
    Xc = X - mean
    B = 0.7 * Xc.T @ Xc + 0.3 * np.eye(X.shape[1])
    for normalize in ("metric", "unit", "orthogonal"):
        options = {"normalize": normalize, "n_components": 3}
        rows = dependence_directions(X, T, mean=mean, omega=0.7, reg=0.3, **options)
        statistics = dependence_projection(Xc.T @ T, B, **options)
        assert_allclose(rows.components, statistics.components, rtol=0, atol=1e-10)
        assert_allclose(rows.eigenvalues, statistics.eigenvalues, rtol=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_dependent_targets(solver):
    # Labels whose rows sum to one, and one label twice: rank 2 of 4 columns.
    X, _, mean, _ = make("tall")
    Y = np.eye(3)[np.arange(60) % 3][:, [0, 1, 2, 2]]
    T = Y - Y.mean(axis=0)
    options = {"mean": mean, "omega": 1.0, "reg": 0.1, "solver": solver}
    found = dependence_directions(X, T, **options)
    assert_solves(found, *matrices(X, T, mean, 1.0, 0.1), rank=2)
    with pytest.warns(UserWarning, match="n_components is 4, but only 2"):
        again = dependence_directions(X, T, n_components=4, **options)
    assert_array_equal(again.components, found.components)


@pytest.mark.parametrize("solver", SOLVERS)
def test_target_without_dependence_and_constant_features(solver):
    X, T, _, _ = make("tall")
    X = np.hstack([np.ones((60, 8)), X])
    mean = X.mean(axis=0)
    options = {"mean": mean, "omega": 1.0, "reg": 0.0, "solver": solver}
    found = dependence_directions(X, T, **options)
    T = np.c_[np.zeros((60, 3)), T]
    same = dependence_directions(X, T, **options)
    assert_allclose(same.eigenvalues, found.eigenvalues, rtol=1e-9)
    assert_allclose(same.components, found.components, rtol=0, atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_targets_of_very_different_size(solver):
    X, T, mean, _ = make("wide")
    T = T * np.array([1.0, 1e-2, 1e-3, 1e-4])
    found = dependence_directions(
        X, T, mean=mean, omega=1.0, reg=0.1, solver=solver, rank_tol=1e-12
    )
    _, B = matrices(X, T, mean, 1.0, 0.1)
    P = found.components.T
    assert_allclose(P.T @ B @ P, np.eye(4), rtol=0, atol=1e-12)
    whitened = np.linalg.solve(np.linalg.cholesky(B), (X - mean).T @ T)
    expected = np.linalg.svd(whitened, compute_uv=False) ** 2
    assert_allclose(found.eigenvalues, expected, rtol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("shape", SHAPES)
def test_more_targets_than_features(shape, solver):
    X, T, mean, _ = make(shape, q=50)
    found = dependence_directions(
        X, T, mean=mean, omega=0.5, reg=1.0, solver=solver, n_components=5
    )
    values = eigh(*matrices(X, T, mean, 0.5, 1.0), eigvals_only=True)[::-1]
    assert_allclose(found.eigenvalues, values[:5], rtol=1e-8)


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("omega", OMEGAS)
@pytest.mark.parametrize("solver", ["cholesky", "dual", "cg"])
def test_float32(solver, omega, kind):
    X, T, mean, weights = make("tall", omega)
    options = {"mean": mean, "omega": weights, "solver": solver, "normalize": "unit"}
    double = dependence_directions(X, T, **options)
    single = dependence_directions(kind(X.astype(np.float32)), T, **options)
    assert single.components.dtype == np.float32
    assert_allclose(single.components, double.components, rtol=0, atol=1e-4)
    assert_allclose(single.eigenvalues, double.eigenvalues, rtol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("omega", OMEGAS)
def test_large_mean(omega, solver):
    X, T, mean, weights = make("tall", omega)
    options = {"omega": weights, "reg": 0.3, "solver": solver}
    plain = dependence_directions(X, T, mean=mean, **options)
    # Powers of two, so that adding them to X costs few digits.
    shifted = dependence_directions(X + 1024.0, T, mean=mean + 1024.0, **options)
    assert_allclose(shifted.components, plain.components, rtol=0, atol=1e-9)
    assert_allclose(shifted.eigenvalues, plain.eigenvalues, rtol=1e-9)


def test_order_of_rows_and_targets():
    X, T, mean, weights = make("tall", "vector")
    found = dependence_directions(X, T, mean=mean, omega=weights)
    order = np.random.default_rng(1).permutation(len(X))
    other = dependence_directions(
        X[order], T[order][:, ::-1], mean=mean, omega=weights[order]
    )
    assert_allclose(other.components, found.components, rtol=0, atol=1e-10)


def test_sparse_stays_sparse(monkeypatch):
    X, T, mean, weights = make((60, 40), "laplacian")
    X, shape = csr_array(X), X.shape
    toarray = csr_array.toarray

    def watch(self, *args, **kwargs):
        assert self.shape != shape
        return toarray(self, *args, **kwargs)

    monkeypatch.setattr(csr_array, "toarray", watch)
    for solver in ("cholesky", "dual", "cg"):
        for omega in (0.0, 1.0, weights):
            dependence_directions(X, T, mean=mean, omega=omega, solver=solver)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((10, 10), "cholesky"),
        ((10**6, 5000), "cholesky"),
        ((10**6, 5001), "cg"),
        ((10, 11), "dual"),
        ((10_000, 10**6), "dual"),
        ((10_001, 10**6), "cg"),
    ],
)
def test_automatic_choice(shape, expected):
    assert _metric.choose_solver(shape) == expected


def test_column_blocks(monkeypatch):
    X, _, mean, weights = make("tall", "laplacian")
    whole = _rows.CenteredRows(X, mean).scatter(weights)
    monkeypatch.setattr(_rows, "CHUNK_BYTES", 8 * 60 * 4)  # four columns
    assert_allclose(
        _rows.CenteredRows(X, mean).scatter(weights), whole, rtol=0, atol=1e-11
    )


def test_cg_says_when_it_did_not_converge():
    X, T, mean, _ = make("tall")
    with pytest.warns(ConvergenceWarning):
        dependence_directions(X, T, mean=mean, omega=1.0, solver="cg", max_iter=2)


def test_inputs_are_left_alone():
    for omega in OMEGAS:
        X, T, mean, weights = make("wide", omega)
        before = X.copy(), T.copy(), mean.copy()
        for solver in SOLVERS:
            dependence_directions(X, T, mean=mean, omega=weights, solver=solver)
        dependence_directions(X, T, mean=mean, omega=1.0, reg=0.0)
        for a, b in zip((X, T, mean), before):
            assert_array_equal(a, b)


@pytest.mark.parametrize("value", [1.0, 1.0 / 3.0])
@pytest.mark.parametrize("omega", [0.0, 1.0])
def test_constant_labels(value, omega):
    X, T, mean, _ = make("tall")
    with pytest.raises(ValueError, match="labels are constant"):
        dependence_directions(X, np.full_like(T, value), mean=mean, omega=omega)
    with pytest.raises(ValueError, match="labels are constant"):
        dependence_directions(X, np.zeros_like(T), mean=mean, omega=omega)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"T": np.ones((5, 2))}, "same number of rows"),
        ({"T": np.ones(60)}, "should be tables"),
        ({"mean": np.zeros(3)}, "mean has shape"),
        ({"reg": -1.0}, "reg is -1.0"),
        ({"reg": np.nan}, "reg is nan"),
        ({"reg": 0.0}, "both zero"),
        ({"omega": -1.0}, "negative"),
        ({"omega": np.ones(59)}, "omega has shape"),
        ({"omega": np.eye(60)}, "omega has shape"),
        ({"omega": csr_array(np.eye(59))}, "omega has shape"),
        ({"omega": csr_array(np.tri(60))}, "not symmetric"),
        ({"solver": "lu"}, "solver is 'lu'"),
        ({"normalize": "B"}, "normalize is 'B'"),
        ({"n_components": 0}, "n_components is 0"),
    ],
)
def test_wrong_input(options, message):
    X, T, _, _ = make("tall")
    with pytest.raises(ValueError, match=message):
        dependence_directions(X, **{"T": T, **options})


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(4, 25),
    n_features=st.integers(1, 25),
    q=st.integers(1, 5),
    omega=st.sampled_from(OMEGAS),
    sparse=st.booleans(),
    seed=st.integers(0, 10_000),
)
def test_solvers_agree(n, n_features, q, omega, sparse, seed):
    X, T, mean, weights = make((n, n_features), omega, q, seed)
    X[0] += 1.0  # no constant feature, hence some dependence to find
    mean = X.mean(axis=0)
    A, B = matrices(X, T, mean, weights, 0.5)
    total = np.trace(np.linalg.solve(B, A))
    if total < 1e-8:
        return
    for solver in ("cholesky", "dual", "cg"):
        found = dependence_directions(
            csr_array(X) if sparse else X,
            T,
            mean=mean,
            omega=weights,
            reg=0.5,
            solver=solver,
        )
        P = found.components.T
        gram = P.T @ B @ P
        assert_allclose(gram, np.eye(P.shape[1]), rtol=0, atol=1e-8)
        assert_allclose(found.eigenvalues.sum(), total, rtol=1e-8)
