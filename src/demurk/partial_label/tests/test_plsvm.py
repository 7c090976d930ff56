"""PL-SVM against a generic solver of the multi-class hinge problem."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler

from demurk.labels import add_candidates
from demurk.partial_label import PLSVM
from demurk.partial_label._plsvm import MarginSolver


def objective(W, b, X, S, reg):
    """The objective as written, one sample at a time."""
    loss = 0
    for x, s in zip(X, S):
        scores = W @ x + b
        loss += max(0, 1 - (scores[s == 1].max() - scores[s == 0].max()))
    return reg / 2 * ((W**2).sum() + (b**2).sum()) + loss / len(X)


def generic_hinge(X, y, q, reg):
    """Least value of the multi-class hinge problem, as a programme with slacks."""
    n, d = X.shape
    Z = np.column_stack([X, np.ones(n)])
    size = q * (d + 1)

    def value(v):
        return reg / 2 * v[:size] @ v[:size] + v[size:].mean()

    def slope(v):
        return np.concatenate([reg * v[:size], np.full(n, 1 / n)])

    rows = []
    for i in range(n):
        for c in range(q):
            if c != y[i]:
                row = np.zeros((q, d + 1))
                row[y[i]], row[c] = Z[i], -Z[i]
                rows.append(np.concatenate([row.ravel(), np.eye(n)[i]]))
    A = np.array(rows)
    found = minimize(
        value,
        np.concatenate([np.zeros(size), np.ones(n)]),
        jac=slope,
        bounds=[(None, None)] * size + [(0, None)] * n,
        constraints={"type": "ineq", "fun": lambda v: A @ v - 1, "jac": lambda v: A},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert found.success
    return found.fun


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(24, 2, centers=3, cluster_std=3.0, random_state=1)
    return StandardScaler().fit_transform(X), y


@pytest.mark.parametrize("reg", [0.03, 0.3])
def test_singletons_minimise_the_multiclass_hinge(blobs, reg):
    X, y = blobs
    best = generic_hinge(X, y, 3, reg)
    model = PLSVM(reg=reg, max_iter=20_000, tol=0).fit(X, y)
    reached = objective(model.coef_, model.intercept_, X, np.eye(3)[y], reg)
    # Subgradient steps approach the minimum like 1 / steps.
    assert best - 1e-9 <= reached <= best * 1.003
    assert model.objective_[-1] == pytest.approx(reached)
    assert_allclose(PLSVM(reg=reg).fit(X, y).objective_[-1], best, rtol=0.05)


def test_candidates_reach_a_local_minimum(blobs, rng):
    X, y = blobs
    S = add_candidates(y, n_extra=1, random_state=0).labels
    model = PLSVM(reg=0.1, max_iter=20_000, tol=0).fit(X, S)
    reached = objective(model.coef_, model.intercept_, X, S, 0.1)
    assert model.objective_[-1] == pytest.approx(reached)
    for _ in range(200):
        W = model.coef_ + 0.03 * rng.normal(size=model.coef_.shape)
        b = model.intercept_ + 0.03 * rng.normal(size=3)
        assert objective(W, b, X, S, 0.1) > reached - 2e-4


def test_first_step_is_that_of_equal_confidences(blobs):
    X, y = blobs
    S = add_candidates(y, n_extra=1, random_state=0).labels.astype(bool)
    solver = MarginSolver(X, S, reg=100.0, fit_intercept=True)
    solver.advance(1)
    pull = S / S.sum(axis=1, keepdims=True) - ~S / (~S).sum(axis=1, keepdims=True)
    assert_allclose(solver.coef, pull.T @ X / len(X) / 100)
    assert_allclose(solver.average[0], solver.coef)


def test_average_weighs_steps_by_their_number(blobs):
    X, y = blobs
    solver = MarginSolver(X, np.eye(3, dtype=bool)[y], reg=0.1, fit_intercept=False)
    total, weight = np.zeros((3, 2)), 0
    for t in range(1, 12):
        solver.advance(1)
        total, weight = total + t * solver.coef, weight + t
    assert_allclose(solver.average[0], total / weight)
    assert_array_equal(solver.intercept, 0)


def test_uninformative_rows_and_absent_classes_are_left_out(blobs, rng):
    X, y = blobs
    S = add_candidates(y, n_extra=1, random_state=0).labels
    base = PLSVM().fit(X, S)
    more = PLSVM().fit(
        np.vstack([X, rng.normal(size=(9, 2))]), np.vstack([S, S[:9] | 1])
    )
    assert_allclose(more.coef_, base.coef_)
    wide = PLSVM().fit(X, np.insert(S, 1, 0, axis=1))
    assert_allclose(wide.coef_[[0, 2, 3]], base.coef_)
    assert_array_equal(wide.coef_[1], 0)
    assert_array_equal(wide.decision_function(X)[:, 1], -np.inf)


def test_stops_early(blobs):
    X, y = blobs
    model = PLSVM(reg=1.0).fit(X, y)
    assert model.n_iter_ < 1000
    assert len(model.objective_) == model.n_iter_ // 50
    assert PLSVM(reg=1.0, max_iter=70, tol=0).fit(X, y).n_iter_ == 70
    assert_array_equal(PLSVM(fit_intercept=False).fit(X, y).intercept_, 0)
