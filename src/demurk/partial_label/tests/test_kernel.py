"""Kernel ridge regression: one symmetric factor against the published systems."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist

from demurk.linalg._kernel import gaussian_blocks
from demurk.partial_label import _kernel
from demurk.partial_label._kernel import (
    ExactRidge,
    NystroemRidge,
    fit_kernel_ridge,
    gamma_of,
)

REG = 0.05


@pytest.fixture
def problem(rng):
    X = rng.normal(size=(40, 3))
    P = rng.uniform(size=(40, 4))
    K = np.exp(-(cdist(X, X) ** 2) / (2 * pdist(X).mean() ** 2))
    return X, P / P.sum(axis=1, keepdims=True), K


def matlab_ridge(K, P, reg):
    """The system that the Matlab code of SURE solves; not symmetric."""
    m = len(K)
    ones = np.ones((m, m))
    A = np.linalg.solve(K + reg * np.eye(m) - ones @ K / m, P - ones @ P / m)
    return A, (P.sum(axis=0) - A.T @ K.sum(axis=1)) / m


def bordered_ridge(K, P, reg):
    """The bordered system of PL-AGGD."""
    m = len(K)
    system = np.zeros((m + 1, m + 1))
    system[0, 1:] = system[1:, 0] = 1
    system[1:, 1:] = K + reg * np.eye(m)
    solution = np.linalg.solve(system, np.vstack([np.zeros(P.shape[1]), P]))
    return solution[1:], solution[0]


@pytest.mark.parametrize("published", [matlab_ridge, bordered_ridge])
def test_equals_the_published_systems(problem, published):
    X, P, K = problem
    ridge = fit_kernel_ridge(X, REG)
    dual, intercept = ridge.solution(P)
    expected_dual, expected_intercept = published(K, P, REG)
    assert isinstance(ridge, ExactRidge)
    assert_allclose(dual, expected_dual, atol=1e-10)
    assert_allclose(intercept, expected_intercept, atol=1e-10)
    assert_allclose(ridge.fitted(P), K @ dual + intercept, atol=1e-10)


def test_bandwidth_is_the_mean_distance(problem):
    X, _, _ = problem
    assert fit_kernel_ridge(X, REG).bandwidth == pytest.approx(pdist(X).mean())
    assert fit_kernel_ridge(csr_array(X), REG).bandwidth == pytest.approx(
        pdist(X).mean()
    )
    assert fit_kernel_ridge(X, REG, bandwidth=2.5).bandwidth == 2.5
    assert fit_kernel_ridge(np.ones((5, 2)), REG).bandwidth == 1


def test_landmarks_are_the_kernel_among_themselves(problem):
    X, P, _ = problem
    twice, targets = np.vstack([X, X]), np.vstack([P, P])
    exact = fit_kernel_ridge(twice, REG, bandwidth=1.5)
    # Forty landmarks that span everything: the approximation is exact.
    kernel = np.exp(-(cdist(X, X) ** 2) / (2 * 1.5**2))
    approximate = NystroemRidge(twice, X, kernel, 1.5, REG)
    assert_allclose(approximate.fitted(targets), exact.fitted(targets), atol=1e-6)
    queries = X[:10] + 0.3
    values = []
    for ridge in (exact, approximate):
        dual, intercept = ridge.solution(targets)
        block = np.concatenate(
            list(gaussian_blocks(queries, ridge.centers, gamma_of(1.5)))
        )
        values.append(block @ dual + intercept)
    assert_allclose(values[1], values[0], atol=1e-5)


def test_landmarks_beyond_the_limit(problem, monkeypatch):
    X, P, _ = problem
    monkeypatch.setattr(_kernel, "MAX_KERNEL_ROWS", 30)
    monkeypatch.setattr(_kernel, "DEFAULT_LANDMARKS", 10)
    monkeypatch.setattr("demurk.linalg._kernel.CHUNK_NUMBERS", 70)
    ridge = fit_kernel_ridge(X, REG, random_state=0)
    assert isinstance(ridge, NystroemRidge)
    assert ridge.centers.shape == (10, 3)
    again = fit_kernel_ridge(X, REG, random_state=0)
    assert_allclose(again.fitted(P), ridge.fitted(P))
    # The fit is that of the weights it reports.
    dual, intercept = ridge.solution(P)
    blocks = list(gaussian_blocks(X, ridge.centers, gamma_of(ridge.bandwidth)))
    assert len(blocks) == 6
    assert_allclose(np.concatenate(blocks) @ dual + intercept, ridge.fitted(P))
