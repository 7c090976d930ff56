"""Shrinkage against optimality conditions, and the loop on a known problem."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from demurk.linalg._admm import (
    admm,
    shrink_singular_values,
    soft_threshold,
)

MATRICES = arrays(
    np.float64,
    st.tuples(st.integers(1, 5), st.integers(1, 5)),
    elements=st.floats(-10, 10, allow_subnormal=False),
)


@settings(max_examples=50, deadline=None)
@given(MATRICES, st.floats(0.01, 5))
def test_soft_threshold_meets_its_optimality_conditions(A, t):
    B = soft_threshold(A, t)
    # A - B is t times a subgradient of the sum of absolute values.
    assert np.all(np.abs(A - B) <= t + 1e-12)
    assert_allclose((A - B)[B != 0], t * np.sign(B[B != 0]), atol=1e-12)


@settings(max_examples=50, deadline=None)
@given(MATRICES, st.floats(0.01, 5))
def test_singular_values_meet_their_optimality_conditions(A, t):
    B, values = shrink_singular_values(A, t)
    # A - B is t times a subgradient of the nuclear norm.
    assert np.linalg.norm(A - B, 2) <= t * (1 + 1e-10) + 1e-12
    assert_allclose(np.vdot(A - B, B), t * values.sum(), atol=1e-8)
    assert_allclose(
        np.linalg.svd(B, compute_uv=False)[: len(values)], values, atol=1e-9
    )


class Lasso:
    """|a - x|^2 / 2 + |z|_1 subject to x = z; the solution is known."""

    def __init__(self, a):
        self.a, self.z, self.u = a, np.zeros_like(a), np.zeros_like(a)
        self.penalties = []

    def step(self, rho):
        self.penalties.append(rho)
        before = self.z
        x = (self.a + rho * (self.z - self.u)) / (1 + rho)
        self.z = soft_threshold(x + self.u, 1 / rho)
        self.u = self.u + x - self.z
        return np.linalg.norm(x - self.z), rho * np.linalg.norm(self.z - before)


def test_loop_converges_and_reports_residuals():
    problem = Lasso(np.array([3.0, -0.5, 1.2]))
    residuals = admm(problem.step, settled=1e-9, tol=1e-9)
    assert_allclose(problem.z, [2.0, 0.0, 0.2], atol=1e-7)
    assert len(residuals) < 500 and np.all(residuals[-1] < 1e-9)
    assert problem.penalties == [1.0] * len(residuals)


def test_penalty_grows_only_when_settled():
    problem = Lasso(np.array([3.0, -0.5]))
    admm(problem.step, penalty=0.1, growth=2, max_penalty=0.5, tol=0, max_iter=5)
    assert_allclose(problem.penalties, [0.1, 0.2, 0.4, 0.5, 0.5])
    problem = Lasso(np.array([3.0, -0.5]))
    admm(problem.step, penalty=0.1, growth=2, settled=0.0, max_iter=4)
    assert problem.penalties == [0.1] * 4


@pytest.mark.parametrize("last", [1, 3])
def test_a_report_can_stop_the_loop(last):
    seen = []

    @contextmanager
    def stage(name):
        def done(attributes=None):
            seen.append(attributes())
            return len(seen) == last

        yield done

    residuals = admm(
        Lasso(np.ones(2) * 4).step, tol=0, stage=stage, learned=lambda: {"x": 1}
    )
    assert len(residuals) == last and seen == [{"x": 1}] * last
