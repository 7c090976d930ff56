"""The labels of SSDR-MC against dense solutions of the four forms."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from demurk.manifold import _ssdrmc_inference
from demurk.manifold._ssdrmc_inference import infer, informed_entries


def random_weights(rng, n, k=4, signed=False):
    W = np.zeros((n, n))
    for i in range(n):
        near = rng.permutation(np.delete(np.arange(n), i))[:k]
        w = rng.uniform(0.1, 1, size=k)
        if signed:
            w[0] = -0.3
        W[i, near] = w / w.sum()
    return W


@pytest.fixture(params=["rows", "entries"])
def problem(request, rng):
    W = random_weights(rng, 40)
    Y = rng.randint(2, size=(40, 3)).astype(float)
    given = rng.uniform(size=(40, 3)) < 0.4
    if request.param == "rows":
        given = given[:, :1]
    return W, np.where(given, Y, 0), given


def columns(given, q):
    return np.broadcast_to(given, (len(given), q)).T


def test_exact_minimises_all_rows(problem):
    W, Y, given = problem
    F = infer(csr_array(W), Y, given, "exact")
    A = np.eye(40) - W
    M = A.T @ A
    for c, known in enumerate(columns(given, 3)):
        free = ~known
        expected = Y[:, c].copy()
        expected[free] = np.linalg.solve(
            M[free][:, free], -M[free][:, known] @ Y[known, c]
        )
        assert_allclose(F[:, c], expected, atol=1e-7)
    # No slope is left in the free entries.
    assert np.abs((M @ F)[~np.broadcast_to(given, F.shape)]).max() < 1e-7


def test_harmonic_is_equation_7(problem):
    W, Y, given = problem
    F = infer(csr_array(W), Y, given, "harmonic")
    for c, known in enumerate(columns(given, 3)):
        free = ~known
        expected = np.linalg.inv(np.eye(free.sum()) - W[free][:, free])
        expected = expected @ W[free][:, known] @ Y[known, c]
        assert_allclose(F[free, c], expected, atol=1e-6)
        assert_array_equal(F[known, c], Y[known, c])
    # Means of 0 and 1 lie between.
    assert F.min() > -1e-6 and F.max() < 1 + 1e-6


@pytest.mark.parametrize("fit_weight", [0.1, 1.0, 50.0])
def test_relaxed_minimises_with_a_penalty(problem, fit_weight):
    W, Y, given = problem
    F = infer(csr_array(W), Y, given, "relaxed", fit_weight=fit_weight)
    A = np.eye(40) - W
    for c, known in enumerate(columns(given, 3)):
        B = np.diag(fit_weight * known)
        expected = np.linalg.solve(A.T @ A + B, B @ Y[:, c])
        assert_allclose(F[:, c], expected, atol=1e-6)


def test_relaxed_without_mercy_is_exact(problem):
    W, Y, given = problem
    relaxed = infer(csr_array(W), Y, given, "relaxed", fit_weight=1e8)
    assert_allclose(relaxed, infer(csr_array(W), Y, given, "exact"), atol=1e-5)


@pytest.mark.parametrize("signed", [False, True])
def test_paper_is_equation_12(rng, signed):
    W = random_weights(rng, 30, signed=signed)
    Y = rng.randint(2, size=(30, 2)) * (np.arange(30) < 8)[:, None].astype(float)
    F = infer(csr_array(W), Y, Y > 0, "paper", fit_weight=2.0)
    expected = np.linalg.inv((np.eye(30) - W) / 2.0 + np.eye(30)) @ Y
    assert_allclose(F, expected, atol=1e-8)


@pytest.mark.parametrize("form", ["harmonic", "paper"])
def test_large_problems_without_factors(rng, form, monkeypatch):
    W = csr_array(random_weights(rng, 40))
    given = (np.arange(40) < 10)[:, None]
    Y = rng.randint(2, size=(40, 3)) * given.astype(float)
    expected = infer(W, Y, given, form)
    monkeypatch.setattr(_ssdrmc_inference, "MAX_FACTOR_ROWS", 5)
    assert_allclose(infer(W, Y, given, form), expected, atol=1e-6)


def test_a_closed_group_without_labels_is_no_trouble(rng):
    """The matrix of equation 7 is singular; the least-squares answer is taken."""
    W = np.zeros((6, 6))
    W[:3, :3] = (1 - np.eye(3)) / 2
    W[3:, 3:] = (1 - np.eye(3)) / 2
    Y = np.zeros((6, 1))
    Y[0] = 1
    given = (np.arange(6) == 0)[:, None]
    for form in ("harmonic", "exact", "relaxed"):
        F = infer(csr_array(W), Y, given, form)
        assert_allclose(F[:3], 1, atol=1e-6)
        assert np.isfinite(F).all()
    assert_array_equal(
        informed_entries(csr_array(W), given).ravel(), [1, 1, 1, 0, 0, 0]
    )


def test_nothing_to_infer(rng):
    W = csr_array(random_weights(rng, 20))
    Y = rng.randint(2, size=(20, 2)).astype(float)
    given = np.ones((20, 1), dtype=bool)
    for form in ("exact", "harmonic"):
        assert_array_equal(infer(W, Y, given, form), Y)


def test_informed_entries_for_each_label():
    W = csr_array(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1.0], [0, 0, 1, 0]]))
    given = np.array([[True, False], [False, False], [False, False], [True, True]])
    expected = [[True, False], [True, False], [True, True], [True, True]]
    assert_array_equal(informed_entries(W, given), expected)
