"""The noise model: likelihood, gradient, recovery of known rates, Bayes' rule."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import expit

from demurk.audit._noise_model import (
    STRUCTURES,
    _Problem,
    fit_noise,
    standardized,
    wrong_probability,
)


def make_labels(rng, missing, extra, n=1500, q=4):
    """Scores, true labels and given labels of a perfectly specified model."""
    Z = standardized(rng.normal(size=(n, q)), np.ones((n, q), bool))
    slope, intercept = np.linspace(2, 5, q), np.linspace(-3, 0, q)
    true = rng.random_sample((n, q)) < expit(slope * Z + intercept)
    flip = rng.random_sample((n, q)) < np.where(true, missing, extra)
    return Z, true.astype(float), (true ^ flip).astype(float)


def slow_objective(Z, Y, seen, structure, local, shared, per_label):
    """Penalised log-likelihood, entry by entry."""
    slots, total = STRUCTURES[structure], 0.0
    for j in range(Y.shape[1]):
        t = local[j, 2:] if per_label else shared
        e0, e1 = (0.0 if k is None else 0.5 * expit(t[k]) for k in slots)
        a, b = local[j, :2]
        for i in range(len(Y)):
            if seen[i, j]:
                p = e1 + (1 - e0 - e1) * expit(a * Z[i, j] + b)
                total += np.log(p if Y[i, j] else 1 - p)
        total -= (a - 1) ** 2 / 2 + 0.005 * b**2
        if per_label:
            total -= ((t - shared) ** 2).sum() / 2
    return total + 8 * np.log1p(-0.5 * expit(shared)).sum()


CASES = [(name, own) for name in STRUCTURES for own in (False, True) if name != "none"]


@pytest.mark.parametrize("structure, per_label", [*CASES, ("none", False)])
def test_gradient_equals_finite_differences(rng, structure, per_label):
    Z, _, Y = make_labels(rng, 0.2, 0.1, n=40, q=3)
    seen = rng.random_sample(Y.shape) < 0.8
    problem = _Problem(Z, Y, seen, structure, per_label)
    r = problem.n_rates
    local = rng.normal(1, 0.3, size=(3, 2 + r * per_label))
    shared = rng.normal(-1, 0.3, size=r)

    def objective(vector):
        part = vector[: local.size].reshape(local.shape)
        _, p = problem.curve(part, vector[local.size :])
        value = problem.log_likelihood(p).sum()
        return value + problem.penalty(part, vector[local.size :])

    x = np.concatenate([local.ravel(), shared])
    slow = slow_objective(Z, Y, seen, structure, local, shared, per_label)
    assert_allclose(objective(x), slow, rtol=1e-12)
    g_local, g_shared, *_ = problem.system(local, shared, *problem.curve(local, shared))
    numeric = [
        (objective(x + h) - objective(x - h)) / 2e-5 for h in 1e-5 * np.eye(x.size)
    ]
    assert_allclose(np.concatenate([g_local.ravel(), g_shared]), numeric, atol=1e-5)


@pytest.mark.parametrize("structure, per_label", CASES)
def test_fit_equals_a_general_optimiser(rng, structure, per_label):
    Z, _, Y = make_labels(rng, 0.2, 0.1, n=150, q=3)
    seen = np.ones(Y.shape, bool)
    fit = fit_noise(Z, Y, seen, structure, per_label=per_label, tol=1e-8)
    problem = _Problem(Z, Y, seen, structure, per_label)
    shape = (3, 2 + problem.n_rates * per_label)

    def loss(vector):
        local, shared = (
            vector[: np.prod(shape)].reshape(shape),
            vector[np.prod(shape) :],
        )
        value = problem.log_likelihood(problem.curve(local, shared)[1]).sum()
        return -value - problem.penalty(local, shared)

    start = np.concatenate([np.ones(np.prod(shape)), -np.ones(problem.n_rates)])
    bounds = [
        (0, None) if k % shape[1] == 0 else (None, None) for k in range(start.size)
    ]
    bounds[np.prod(shape) :] = [(None, None)] * problem.n_rates
    best = minimize(loss, start, bounds=bounds, options={"maxfun": 100_000})
    # Both may stop early on a flat ridge; neither may be clearly better.
    assert fit.objective == pytest.approx(-best.fun, abs=0.05)


@pytest.mark.parametrize(
    "structure, missing, extra",
    [
        ("symmetric", 0.1, 0.1),
        ("extra", 0.0, 0.1),
        ("missing", 0.3, 0.0),
        ("mixed", 0.3, 0.1),
        ("none", 0.0, 0.0),
    ],
)
def test_known_rates_are_recovered(rng, structure, missing, extra):
    Z, true, Y = make_labels(rng, missing, extra, n=4000)
    seen = np.ones(Y.shape, bool)
    fit = fit_noise(Z, Y, seen, structure)
    assert_allclose(fit.missing, missing, atol=0.05)
    assert_allclose(fit.extra, extra, atol=0.02)
    assert_allclose(fit.slope, np.linspace(2, 5, 4), rtol=0.25)
    wrong = wrong_probability(fit.probabilities(Z), Y, fit.missing, fit.extra)
    assert wrong.sum() == pytest.approx((Y != true).sum(), abs=0.02 * Y.size)


def test_rates_of_single_labels_are_recovered_and_shrunk(rng):
    rates = np.array([0.02, 0.1, 0.25, 0.4])
    Z, _, Y = make_labels(rng, rates, 0.0, n=4000)
    seen = np.ones(Y.shape, bool)
    own = fit_noise(Z, Y, seen, "missing", per_label=True)
    assert_allclose(own.missing, rates, atol=0.06)
    assert own.complexity > 0
    small = seen.copy()
    small[20:, 0] = False  # a label that says nearly nothing
    drawn = fit_noise(Z, Y, small, "missing", per_label=True)
    assert drawn.missing[0] > own.missing[0]


def test_complexity_is_the_laplace_term(rng):
    """Half log-determinant of posterior over prior precision, curve integrated out."""
    Z, _, Y = make_labels(rng, 0.2, 0.1, n=200, q=2)
    seen = np.ones(Y.shape, bool)
    fit = fit_noise(Z, Y, seen, "mixed", per_label=True)
    expected = 0.0
    for j in range(2):
        pi = fit.probabilities(Z)[:, j]
        e0, e1 = fit.missing[j], fit.extra[j]
        p = e1 + (1 - e0 - e1) * pi
        d = (1 - e0 - e1) * pi * (1 - pi)
        columns = [
            d * Z[:, j],
            d,
            -pi * e0 * (1 - 2 * e0),
            (1 - pi) * e1 * (1 - 2 * e1),
        ]
        J = np.stack(columns, axis=1)
        info = J.T @ (J / (p * (1 - p))[:, None]) + np.diag([1, 0.01, 0, 0])
        rates = np.linalg.inv(np.linalg.inv(info)[2:, 2:])
        expected += np.linalg.slogdet(np.eye(2) + rates)[1] / 2
    assert fit.complexity == pytest.approx(expected, rel=1e-6)


def test_slopes_stay_non_negative(rng):
    Z, _, Y = make_labels(rng, 0.1, 0.1, n=300)
    seen = np.ones(Y.shape, bool)
    fit = fit_noise(-Z, Y, seen, "none")
    assert_allclose(fit.slope, 0, atol=1e-12)
    assert_allclose(expit(fit.intercept), Y.mean(axis=0), atol=1e-3)


def test_unobserved_entries_are_not_read(rng):
    Z, _, Y = make_labels(rng, 0.1, 0.1, n=300)
    seen = rng.random_sample(Y.shape) < 0.7
    Z = standardized(Z, seen)
    base = fit_noise(Z, Y, seen, "symmetric")
    other = fit_noise(Z, np.where(seen, Y, 1 - Y), seen, "symmetric")
    assert_allclose(other.missing, base.missing, rtol=1e-9)
    assert_allclose(other.objective, base.objective)


def test_order_of_labels_and_rows_does_not_matter(rng):
    Z, _, Y = make_labels(rng, 0.1, 0.1, n=300)
    seen = np.ones(Y.shape, bool)
    base = fit_noise(Z, Y, seen, "symmetric", per_label=True)
    rows, order = rng.permutation(300), [3, 1, 0, 2]
    found = fit_noise(
        Z[rows][:, order], Y[rows][:, order], seen, "symmetric", per_label=True
    )
    assert_allclose(found.missing, base.missing[order], rtol=1e-6)


def test_wrong_probability_is_bayes_rule(rng):
    pi, e0, e1 = rng.random_sample(3)
    e0, e1 = e0 / 2, e1 / 2
    joint = {(1, 1): pi * (1 - e0), (1, 0): pi * e0}
    joint |= {(0, 1): (1 - pi) * e1, (0, 0): (1 - pi) * (1 - e1)}
    for given in (0, 1):
        expected = joint[1 - given, given] / (joint[0, given] + joint[1, given])
        found = wrong_probability(np.array([[pi]]), np.array([[given]]), e0, e1)
        assert_allclose(found, expected)


def test_standardised_scores(rng):
    seen = rng.random_sample((50, 3)) < 0.7
    S = rng.normal(3, 2, size=(50, 3))
    S[:, 2] = 0.4
    Z = standardized(S, seen)
    for j in range(2):
        part = S[seen[:, j], j]
        assert_allclose(Z[seen[:, j], j], (part - part.mean()) / part.std())
    assert_allclose(Z[:, 2], 0, atol=1e-12)
    assert_allclose(Z[~seen], 0)
