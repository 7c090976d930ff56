"""Closed-form leave-one-out against explicit refits."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from demurk.out_of_sample import LeaveOneOutKernelRidge

ALL = np.ones


def kernel(A, B, gamma, power=2):
    return np.exp(-gamma * (np.abs(A[:, None, :] - B[None]) ** power).sum(axis=2))


def refit(X, Y, ridge, gamma, queries, power=2):
    """min |Y - 1b' - K a|^2 + ridge a'Ka by its normal equations, b free."""
    n = len(X)
    K = kernel(X, X, gamma, power)
    system = np.block([[K + ridge * np.eye(n), np.ones((n, 1))], [np.ones((1, n)), 0]])
    solution = np.linalg.solve(system, np.vstack([Y, np.zeros((1, Y.shape[1]))]))
    return kernel(queries, X, gamma, power) @ solution[:-1] + solution[-1]


@pytest.fixture
def data(rng):
    X = rng.normal(size=(30, 3))
    Y = (X[:, :2] + 0.5 * rng.normal(size=(30, 2)) > 0).astype(float)
    return X, Y, rng.normal(size=(8, 3))


@pytest.mark.parametrize("name, power", [("gaussian", 2), ("laplacian", 1)])
@pytest.mark.parametrize("width, ridge", [(1.0, 0.1), (0.25, 1.0), (4.0, 30.0)])
def test_equals_refits_without_the_row(data, width, ridge, name, power):
    X, Y, queries = data
    model = LeaveOneOutKernelRidge(kernel=name, widths=(width,), ridges=(ridge,))
    out_of_sample = model.fit_out_of_sample(X, Y, ALL(Y.shape, bool))
    assert model.width_ == pytest.approx(width)
    penalty = model.ridge_[0]
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        expected = refit(X[rest], Y[rest], penalty, model.gamma_, X[i : i + 1], power)
        assert_allclose(out_of_sample[i : i + 1], expected, atol=1e-9)
    expected = refit(X, Y, penalty, model.gamma_, queries, power)
    assert_allclose(model.predict(queries), expected, atol=1e-9)


def test_units_of_width_and_penalty(data):
    X, Y, _ = data
    model = LeaveOneOutKernelRidge(widths=(2.0,), ridges=(0.5,))
    model.fit_out_of_sample(X, Y, ALL(Y.shape, bool))
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    upper = distances[np.triu_indices(30, 1)]
    assert_allclose(model.gamma_, 2 / np.median(upper))
    K = kernel(X, X, model.gamma_)
    H = np.eye(30) - 1 / 30
    assert_allclose(model.ridge_, 0.5 * np.trace(H @ K @ H) / 30)


@pytest.mark.parametrize("per_label", [False, True])
def test_the_best_of_the_grid_is_chosen(data, per_label):
    X, Y, _ = data
    seen = ALL(Y.shape, bool)
    errors = {}
    for width in (0.5, 1.0):
        for ridge in (0.01, 1.0, 100.0):
            one = LeaveOneOutKernelRidge(widths=(width,), ridges=(ridge,))
            residual = one.fit_out_of_sample(X, Y, seen) - Y
            errors[width, ridge] = (residual**2).sum(axis=0)
    model = LeaveOneOutKernelRidge(
        widths=(0.5, 1.0), ridges=(0.01, 1.0, 100.0), per_label=per_label
    )
    found = ((model.fit_out_of_sample(X, Y, seen) - Y) ** 2).sum(axis=0)
    if per_label:
        best = min(
            sum(min(errors[w, r][j] for r in (0.01, 1.0, 100.0)) for j in range(2))
            for w in (0.5, 1.0)
        )
    else:
        best = min(e.sum() for e in errors.values())
    assert_allclose(found.sum(), best)


def test_errors_of_unobserved_entries_do_not_count(data):
    X, Y, _ = data
    seen = ALL(Y.shape, bool)
    seen[:10, 0] = False
    grid = {"widths": (1.0,), "ridges": np.logspace(-3, 3, 7)}
    base = LeaveOneOutKernelRidge(**grid)
    out_of_sample = base.fit_out_of_sample(X, Y, seen)
    errors = []
    for ridge in grid["ridges"]:
        one = LeaveOneOutKernelRidge(widths=(1.0,), ridges=(ridge,))
        errors.append((((one.fit_out_of_sample(X, Y, seen) - Y) ** 2)[seen]).sum())
    assert_allclose((((out_of_sample - Y) ** 2)[seen]).sum(), min(errors))


def test_nystroem_with_all_landmarks_is_exact(data):
    X, Y, queries = data
    seen = ALL(Y.shape, bool)
    exact = LeaveOneOutKernelRidge(random_state=0)
    rough = LeaveOneOutKernelRidge(max_exact=5, n_landmarks=30, random_state=0)
    # Directions of the kernel below 1e-10 of the largest are dropped.
    assert_allclose(
        rough.fit_out_of_sample(X, Y, seen),
        exact.fit_out_of_sample(X, Y, seen),
        atol=1e-6,
    )
    assert_allclose(rough.predict(queries), exact.predict(queries), atol=1e-6)


def test_nystroem_is_out_of_sample_with_few_landmarks(data):
    """Leave-one-out in the landmark space equals refits in that space."""
    X, Y, _ = data
    model = LeaveOneOutKernelRidge(
        widths=(1.0,), ridges=(0.3,), max_exact=5, n_landmarks=7, random_state=0
    )
    out_of_sample = model.fit_out_of_sample(X, Y, ALL(Y.shape, bool))
    inner = kernel(model.anchors_, model.anchors_, model.gamma_)
    values, vectors = np.linalg.eigh(inner)
    F = kernel(X, model.anchors_, model.gamma_) @ vectors / np.sqrt(values)
    for i in range(0, 30, 7):
        rest = np.arange(30) != i
        A, T = F[rest] - F[rest].mean(axis=0), Y[rest] - Y[rest].mean(axis=0)
        penalty = model.ridge_[0] * np.eye(7)
        weights = np.linalg.solve(A.T @ A + penalty, A.T @ T)
        expected = Y[rest].mean(axis=0) + (F[i] - F[rest].mean(axis=0)) @ weights
        assert_allclose(out_of_sample[i], expected, atol=1e-8)


def test_many_rows_choose_the_width_on_a_part(rng):
    X = rng.normal(size=(90, 2))
    Y = (X[:, :1] > 0).astype(float)
    model = LeaveOneOutKernelRidge(selection_rows=40, random_state=0)
    out_of_sample = model.fit_out_of_sample(X, Y, ALL(Y.shape, bool))
    assert out_of_sample.shape == (90, 1) and model.anchors_.shape == (90, 2)
    assert ((out_of_sample > 0.5) == Y).mean() > 0.9


def test_sparse_equals_dense_and_rows_may_coincide(data):
    X, Y, queries = data
    seen = ALL(Y.shape, bool)
    a, b = LeaveOneOutKernelRidge(), LeaveOneOutKernelRidge()
    assert_allclose(
        a.fit_out_of_sample(csr_array(X), Y, seen),
        b.fit_out_of_sample(X, Y, seen),
        atol=1e-9,
    )
    assert_allclose(a.predict(csr_array(queries)), b.predict(queries), atol=1e-9)
    flat = LeaveOneOutKernelRidge().fit_out_of_sample(np.ones((30, 2)), Y, seen)
    assert_allclose(flat, (Y.sum(axis=0) - Y) / 29, atol=1e-12)


def test_many_rows_take_landmarks(rng, monkeypatch):
    # Eigenvectors of 5,000 rows took longer than a fit of 10,000 with landmarks.
    def found(kernel, own, weights):
        raise InterruptedError(f"{kernel.shape}")

    monkeypatch.setattr("demurk.out_of_sample._kernel_ridge._nystroem", found)
    X = rng.normal(size=(3001, 3))
    Y = (X[:, :1] > 0).astype(float)
    model = LeaveOneOutKernelRidge(widths=(1.0,), random_state=0)
    with pytest.raises(InterruptedError, match=r"\(3001, 2000\)"):
        model.fit_out_of_sample(X, Y, np.ones(Y.shape, dtype=bool))


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_landmarks_of_a_laplacian_kernel(data, form):
    # As many landmarks as rows are no approximation.
    X, Y, queries = data
    exact, near = (
        LeaveOneOutKernelRidge(
            kernel="laplacian", widths=(1.0,), max_exact=most, n_landmarks=30
        )
        for most in (30, 29)
    )
    expected = exact.fit_out_of_sample(X, Y, ALL(Y.shape, bool))
    assert_allclose(near.fit_out_of_sample(form(X), Y, ALL(Y.shape, bool)), expected)
    assert_allclose(near.predict(form(queries)), exact.predict(queries))
