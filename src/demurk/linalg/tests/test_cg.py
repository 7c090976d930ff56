"""Tests of the block conjugate gradients."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, csr_matrix, diags_array
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning

from demurk.linalg import block_cg


def spd(n, seed=0, condition=100.0):
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(n, n)))
    A = (Q * np.geomspace(1.0, condition, n)) @ Q.T
    return 0.5 * (A + A.T)


def one_column(A, b, diagonal, tol):
    """Textbook preconditioned CG, one right-hand side."""
    x, r = np.zeros_like(b), b.copy()
    p = z = r / diagonal
    steps = 0
    while np.linalg.norm(r) > tol * np.linalg.norm(b):
        q = A @ p
        a = (r @ z) / (p @ q)
        x, r_new = x + a * p, r - a * q
        z_new = r_new / diagonal
        p = z_new + (r_new @ z_new) / (r @ z) * p
        r, z = r_new, z_new
        steps += 1
    return x, steps


class Recorder:
    """An operator that notes the width of each block it is given."""

    def __init__(self, A):
        self.A = A
        self.widths = []

    def __matmul__(self, V):
        assert V.flags.c_contiguous
        self.widths.append(V.shape[1])
        return self.A @ V


@pytest.mark.parametrize("kind", ["dense", "array", "matrix", "operator"])
def test_solves_any_operator(kind):
    A = spd(30)
    B = np.random.default_rng(1).normal(size=(30, 4))
    operator = {
        "dense": A,
        "array": csr_array(A),
        "matrix": csr_matrix(A),
        "operator": LinearOperator(A.shape, matvec=lambda v: A @ v, dtype=A.dtype),
    }[kind]
    solution, _ = block_cg(operator, B)
    assert_allclose(solution, np.linalg.solve(A, B), rtol=0, atol=1e-8)


@pytest.mark.parametrize("jacobi", [False, True])
def test_same_as_one_run_per_column(jacobi):
    # A dozen steps: later ones magnify round-off, in any implementation.
    A = spd(40, condition=3.0) + np.diag(np.geomspace(1, 5, 40))
    B = np.random.default_rng(2).normal(size=(40, 5)) * np.geomspace(1e-6, 1e6, 5)
    B[:, 1] = A[:, 0]  # solved in fewer steps than the others
    diagonal = A.diagonal() if jacobi else np.ones(40)
    runs = [one_column(A, b, diagonal, 1e-6) for b in B.T]
    solution, n_iter = block_cg(A, B, diagonal=diagonal if jacobi else None, tol=1e-6)
    assert n_iter == max(steps for _, steps in runs)
    for j, (x, _) in enumerate(runs):
        assert_allclose(solution[:, j], x, rtol=0, atol=1e-12 * np.abs(x).max())


def test_jacobi_helps_bad_scaling():
    A = spd(60, condition=5.0)
    scale = np.geomspace(1, 1e4, 60)
    A = A * scale * scale[:, None]
    b = np.ones((60, 1))
    with pytest.warns(ConvergenceWarning):
        block_cg(A, b, max_iter=60)
    _, with_diagonal = block_cg(A, b, diagonal=A.diagonal())
    assert with_diagonal < 60


def test_relative_residual_of_each_column():
    A = spd(50, condition=1e4)
    B = np.random.default_rng(3).normal(size=(50, 6)) * np.geomspace(1e-8, 1e8, 6)
    solution, _ = block_cg(A, B, tol=1e-9)
    residual = np.linalg.norm(B - A @ solution, axis=0) / np.linalg.norm(B, axis=0)
    # The recurrence holds to 1e-9; the true residual adds cond(A) times round-off.
    assert residual.max() < 1e-9 + 1e-11


def test_zero_columns():
    A = spd(20)
    B = np.random.default_rng(4).normal(size=(20, 3))
    B[:, 1] = 0.0
    solution, _ = block_cg(A, B, start=np.ones_like(B))
    assert_array_equal(solution[:, 1], 0.0)
    assert_allclose(solution, np.linalg.solve(A, B), rtol=0, atol=1e-8)
    nothing, n_iter = block_cg(A, np.zeros((20, 2)))
    assert n_iter == 0
    assert_array_equal(nothing, 0.0)
    assert block_cg(A, np.zeros((20, 0)))[0].shape == (20, 0)


def test_start():
    A = spd(30)
    B = np.random.default_rng(5).normal(size=(30, 3))
    exact = np.linalg.solve(A, B)
    start = exact.copy()
    solution, n_iter = block_cg(A, B, start=start)
    assert n_iter == 0
    assert_array_equal(solution, exact)
    start[:, 2] += 1e-6
    before = start.copy()
    solution, near = block_cg(A, B, start=start)
    assert_array_equal(start, before)
    assert_array_equal(solution[:, :2], exact[:, :2])
    assert_allclose(solution, exact, rtol=0, atol=1e-8)
    assert 0 < near < block_cg(A, B)[1]


def test_a_first_guess_is_done_at_the_limit_and_no_earlier():
    A, b = np.diag([1.0, 1.0]), np.array([[1.0, 1.0], [0.0, 0.0]])
    # Residuals of 0.25, which is the limit, and of 0.25 and a little.
    start = np.array([[0.75, 0.75 - 2.0**-20], [0.0, 0.0]])
    solution, n_iter = block_cg(A, b[:, :1], start=start[:, :1], tol=0.25)
    assert n_iter == 0
    assert solution[0, 0] == 0.75
    solution, n_iter = block_cg(A, b, start=start, tol=0.25)
    assert n_iter == 1
    assert_array_equal(solution[0], [0.75, 1.0])
    # It is the norm that counts, not its square.
    solution, n_iter = block_cg(A, b[:, 0], start=[0.99, 0.0], tol=1e-3)
    assert n_iter == 1
    assert_allclose(solution, [1.0, 0.0])


def test_finished_columns_leave_the_block():
    A = spd(40, condition=1e4)
    values, vectors = np.linalg.eigh(A)
    easy = vectors[:, :3] * values[:3]  # eigenvectors need one step
    hard = np.random.default_rng(6).normal(size=(40, 2))
    operator = Recorder(A)
    solution, n_iter = block_cg(operator, np.hstack([easy, hard]))
    assert operator.widths[0] == 5
    assert operator.widths[-1] <= 2
    assert len(operator.widths) == n_iter
    expected = np.linalg.solve(A, np.hstack([easy, hard]))
    assert_allclose(solution, expected, rtol=0, atol=1e-7)


def test_diagonal_per_column_means_operator_per_column():
    rng = np.random.default_rng(7)
    off = spd(25, condition=3.0)
    D = rng.uniform(5.0, 10.0, size=(25, 4))
    D[:, :3] *= 1e6  # nearly diagonal: these are ready long before the last

    class PerColumn:
        def __matmul__(self, V):
            return D * V + off @ V

    B = rng.normal(size=(25, 4))
    solution, _ = block_cg(PerColumn(), B, diagonal=D + off.diagonal()[:, None])
    for j in range(4):
        expected = np.linalg.solve(np.diag(D[:, j]) + off, B[:, j])
        atol = 1e-8 * np.abs(expected).max()
        assert_allclose(solution[:, j], expected, rtol=0, atol=atol)


def test_one_dimensional():
    A = spd(15)
    b = np.arange(15.0)
    solution, n_iter = block_cg(A, b, diagonal=A.diagonal(), start=np.ones(15))
    assert solution.shape == (15,)
    assert n_iter > 0
    assert_allclose(A @ solution, b, rtol=0, atol=1e-7)


def test_float32_is_solved_in_float64():
    A = spd(20)
    B = np.random.default_rng(8).normal(size=(20, 2)).astype(np.float32)
    solution, _ = block_cg(A, B)
    assert solution.dtype == np.float64
    assert_allclose(solution, np.linalg.solve(A, B.astype(float)), rtol=0, atol=1e-8)


def test_column_order_of_rhs_does_not_matter():
    A = spd(20)
    B = np.random.default_rng(9).normal(size=(20, 3))
    assert_array_equal(block_cg(A, B)[0], block_cg(A, np.asfortranarray(B))[0])


def test_max_iter_warns():
    A = spd(40, condition=1e6)
    B = np.random.default_rng(10).normal(size=(40, 2))
    with pytest.warns(ConvergenceWarning, match=r"2 of 2 columns .* 3 iterations"):
        _, n_iter = block_cg(A, B, max_iter=3)
    assert n_iter == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"start": np.ones((3, 1))}, "start has shape"),
        ({"diagonal": np.ones(2)}, "diagonal has shape"),
        ({"diagonal": np.array([1.0, 0.0, 1.0])}, "Row 1 of diagonal"),
        ({"diagonal": np.array([[1, 1], [1, 1], [1, -1.0]])}, "Row 2 of diagonal"),
    ],
)
def test_wrong_input(options, message):
    with pytest.raises(ValueError, match=message):
        block_cg(np.eye(3), np.ones((3, 2)), **options)


def test_wrong_matrix_or_rhs():
    with pytest.raises(ValueError, match=r"positive definite.*column 1"):
        block_cg(np.diag([1.0, -1.0]), np.eye(2))
    with pytest.raises(ValueError, match="Column 1 of rhs"):
        block_cg(np.eye(2), np.array([[1.0, np.nan], [1.0, 1.0]]))


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 30),
    st.integers(1, 6),
    st.integers(0, 10_000),
    st.booleans(),
    st.booleans(),
)
def test_any_diagonally_dominant_system(n, c, seed, jacobi, warm):
    rng = np.random.default_rng(seed)
    W = np.abs(rng.normal(size=(n, n))) * (rng.random((n, n)) < 0.3)
    W = W + W.T
    A = diags_array(W.sum(axis=1) + rng.uniform(0.1, 1.0, n)) - csr_array(W)
    B = rng.normal(size=(n, c)) * (rng.random(c) < 0.8)
    solution, _ = block_cg(
        A,
        B,
        diagonal=A.diagonal() if jacobi else None,
        start=rng.normal(size=(n, c)) if warm else None,
    )
    expected = np.linalg.solve(A.toarray(), B)
    assert_allclose(solution, expected, rtol=0, atol=1e-7)
