"""The masked simplex projection, by its optimality conditions and a generic solver."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from demurk.linalg import project_simplex
from demurk.partial_label._base import (
    informative_rows,
    uniform_confidences,
)


def generic_projection(point, mask):
    """Nearest point of the simplex over the mask, by sequential programming."""
    inside = np.flatnonzero(mask)
    found = minimize(
        lambda p: ((p - point[inside]) ** 2).sum(),
        np.full(len(inside), 1 / len(inside)),
        jac=lambda p: 2 * (p - point[inside]),
        bounds=[(0, 1)] * len(inside),
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    projected = np.zeros(len(point))
    projected[inside] = found.x
    return projected


def test_projection_equals_a_generic_solver(rng):
    points = rng.normal(size=(50, 6))
    mask = rng.uniform(size=(50, 6)) < 0.6
    mask[np.arange(50), rng.randint(6, size=50)] = True
    expected = [generic_projection(p, m) for p, m in zip(points, mask)]
    assert_allclose(project_simplex(points, mask), expected, atol=1e-6)


@settings(max_examples=100, deadline=None)
@given(
    arrays(float, (4, 5), elements=st.floats(-1e3, 1e3)),
    arrays(bool, (4, 5)),
    arrays(float, (4, 5), elements=st.floats(0.01, 1)),
)
def test_projection_is_feasible_and_optimal(points, mask, other):
    mask[:, 0] = True
    projected = project_simplex(points, mask)
    assert (projected >= 0).all()
    assert not projected[~mask].any()
    assert_allclose(projected.sum(axis=1), 1, atol=1e-9)
    # No feasible direction leads closer to the point.
    other = np.where(mask, other, 0)
    other /= other.sum(axis=1, keepdims=True)
    slope = ((projected - np.where(mask, points, 0)) * (other - projected)).sum(axis=1)
    assert (slope >= -1e-8).all()


def test_one_mask_for_all_rows(rng):
    points = rng.normal(size=(7, 4))
    mask = np.array([True, False, True, True])
    rows = np.broadcast_to(mask, points.shape)
    assert_array_equal(project_simplex(points, mask), project_simplex(points, rows))


def test_uniform_confidences_and_informative_rows():
    candidates = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 1]], dtype=bool)
    assert_allclose(uniform_confidences(candidates)[1], [0.5, 0.5, 0, 0])
    # The third class is nobody's candidate: the last row excludes nothing.
    assert_array_equal(informative_rows(candidates), [True, True, False])


@pytest.mark.parametrize("value", [0.0, -5.0, 1e6])
def test_ties_are_shared(value):
    projected = project_simplex(np.full((1, 3), value), np.array([[True, True, False]]))
    assert_allclose(projected, [[0.5, 0.5, 0]])
