"""Tests of the dependence projection from statistics."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import eigh, subspace_angles

from demurk.linalg import dependence_projection, flip_signs

NEAR = np.nextafter(1.0, 0.0)


def problem(n_features, n_targets, seed=0):
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(n_features, n_targets))
    C = rng.normal(size=(2 * n_features, n_features))
    return M, C.T @ C + 0.1 * np.eye(n_features)


def naive(M, B):
    """All generalised eigenpairs of (M M', B), largest first."""
    values, vectors = eigh(M @ M.T, B)
    return values[::-1], vectors[:, ::-1]


@pytest.mark.parametrize("identity", [True, False])
@pytest.mark.parametrize(("n_features", "n_targets"), [(12, 4), (4, 12), (5, 5)])
def test_against_generalised_eigenproblem(n_features, n_targets, identity):
    M, B = problem(n_features, n_targets)
    if identity:
        B = np.eye(n_features)
    found = dependence_projection(M, None if identity else B)
    rank = min(n_features, n_targets)
    values, vectors = naive(M, B)
    assert found.components.shape == (rank, n_features)
    assert_allclose(found.eigenvalues, values[:rank], rtol=1e-10)
    P = found.components.T
    assert_allclose(P.T @ B @ P, np.eye(rank), rtol=0, atol=1e-12)
    assert_allclose(P.T @ M @ M.T @ P, np.diag(found.eigenvalues), atol=1e-8)
    for d in range(1, rank + 1):
        assert subspace_angles(P[:, :d], vectors[:, :d]).max() < 1e-6
    assert_array_equal(found.components, flip_signs(found.components))


@pytest.mark.parametrize("normalize", ["unit", "orthogonal"])
def test_normalize(normalize):
    M, B = problem(9, 3)
    metric = dependence_projection(M, B)
    found = dependence_projection(M, B, normalize=normalize)
    assert_array_equal(found.eigenvalues, metric.eigenvalues)
    assert_allclose(np.linalg.norm(found.components, axis=1), 1.0, rtol=1e-14)
    assert_array_equal(found.components, flip_signs(found.components))
    if normalize == "unit":
        norms = np.linalg.norm(metric.components, axis=1, keepdims=True)
        assert_allclose(found.components, metric.components / norms, atol=1e-14)
    else:
        gram = found.components @ found.components.T
        assert_allclose(gram, np.eye(3), atol=1e-14)
        angles = subspace_angles(found.components.T, metric.components.T)
        assert angles.max() < 1e-10


def test_fewer_components_are_the_first_ones():
    M, B = problem(9, 5)
    all_of_them = dependence_projection(M, B)
    two = dependence_projection(M, B, n_components=2)
    assert_array_equal(two.components, all_of_them.components[:2])
    assert_array_equal(two.eigenvalues, all_of_them.eigenvalues[:2])


def test_rank_cut():
    rng = np.random.default_rng(1)
    M = rng.normal(size=(10, 4))
    M -= M.mean(axis=1, keepdims=True)  # as of labels whose rows sum to one
    assert len(dependence_projection(M).eigenvalues) == 3
    with pytest.warns(UserWarning, match="n_components is 4, but only 3"):
        found = dependence_projection(M, n_components=4)
    assert found.components.shape == (3, 10)
    weak = np.diag([1.0, 1e-3, 1e-6])  # eigenvalues 1, 1e-6, 1e-12
    assert len(dependence_projection(weak).eigenvalues) == 2
    assert len(dependence_projection(weak, rank_tol=1e-13).eigenvalues) == 3


def test_weak_directions_keep_their_digits():
    # A Gram matrix of M would lose the last eigenvalue, 1e-20 of the first.
    rng = np.random.default_rng(2)
    U, _ = np.linalg.qr(rng.normal(size=(30, 4)))
    V, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    s = np.array([1.0, 1e-3, 1e-6, 1e-10])
    found = dependence_projection((U * s) @ V.T, rank_tol=1e-24)
    assert_allclose(found.eigenvalues, s**2, rtol=1e-5)
    assert subspace_angles(found.components[3:].T, U[:, 3:]).max() < 1e-5


def test_units_of_features_do_not_matter():
    M, B = problem(8, 3)
    scale = np.geomspace(1e-9, 1e9, 8)
    plain = dependence_projection(M, B)
    scaled = dependence_projection(scale[:, None] * M, scale[:, None] * B * scale)
    assert_allclose(scaled.eigenvalues, plain.eigenvalues, rtol=1e-11)
    back = flip_signs(scaled.components * scale)
    assert_allclose(back, plain.components, rtol=0, atol=1e-11)


def test_float32():
    M, B = problem(8, 3)
    double = dependence_projection(M, B)
    single = dependence_projection(M.astype(np.float32), B)
    assert single.components.dtype == np.float32
    assert double.components.dtype == np.float64
    assert single.eigenvalues.dtype == np.float64
    assert_allclose(single.components, double.components, rtol=0, atol=1e-5)
    assert_allclose(single.eigenvalues, double.eigenvalues, rtol=1e-5)


def test_inputs_are_left_alone():
    M, B = problem(6, 2)
    before = M.copy(), B.copy()
    dependence_projection(M, B, normalize="orthogonal")
    assert_array_equal(M, before[0])
    assert_array_equal(B, before[1])


@pytest.mark.parametrize(
    ("M", "options", "message"),
    [
        (np.zeros((4, 2)), {}, "labels are constant"),
        (np.zeros((4, 0)), {}, "labels are constant"),
        (np.ones(4), {}, "M has shape"),
        (np.ones((4, 1)), {"metric": np.eye(3)}, "metric has shape"),
        (np.ones((4, 1)), {"metric": np.ones((4, 4))}, "metric is singular"),
        (np.ones((4, 1)), {"metric": np.diag([1.0, 1, 1, 0])}, "metric is singular"),
        (np.ones((4, 1)), {"metric": np.diag([1.0, 1, 1, -1])}, "metric is singular"),
        # The factorisation succeeds, without a correct digit.
        (np.ones((2, 1)), {"metric": [[1.0, NEAR], [NEAR, 1.0]]}, "is singular"),
        (np.ones((4, 1)), {"n_components": 0}, "n_components is 0"),
        (np.ones((4, 1)), {"n_components": 1.5}, "n_components is 1.5"),
        (np.ones((4, 1)), {"normalize": "B"}, "normalize is 'B'"),
        (np.full((4, 1), np.nan), {}, "NaN"),
    ],
)
def test_wrong_input(M, options, message):
    with pytest.raises(ValueError, match=message):
        dependence_projection(M, **options)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 10), st.integers(1, 10), st.integers(0, 10_000))
def test_constraint_and_trace(n_features, n_targets, seed):
    M, B = problem(n_features, n_targets, seed)
    found = dependence_projection(M, B, rank_tol=0.0)
    P = found.components.T
    assert_allclose(P.T @ B @ P, np.eye(P.shape[1]), rtol=0, atol=1e-9)
    # Nothing is lost: the eigenvalues add up to the trace of B^-1 M M'.
    trace = np.trace(np.linalg.solve(B, M @ M.T))
    assert_allclose(found.eigenvalues.sum(), trace, rtol=1e-8)
    assert (np.diff(found.eigenvalues) <= 0).all()
