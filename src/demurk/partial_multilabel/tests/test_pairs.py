"""Ranking losses, PML-fp and PML-lc against brute force and a generic solver."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import approx_fprime, minimize
from scipy.sparse import csr_array

from demurk.labels import add_extra_labels
from demurk.partial_multilabel import PMLfp, PMLlc
from demurk.partial_multilabel._fp import Prototypes
from demurk.partial_multilabel._lc import Correlations, label_similarities
from demurk.partial_multilabel._pairs import feasible, smooth_pairs, squared_pairs


@pytest.fixture
def pairs(rng):
    scores = rng.normal(size=(12, 6))
    scores[0, 2] = scores[0, 4]  # a tie
    candidates = rng.uniform(size=(12, 6)) < 0.5
    candidates[1], candidates[2] = True, False
    return scores, rng.uniform(size=(12, 6)) * candidates, candidates


def literal_pairs(scores, candidates, loss):
    costs = np.zeros(scores.shape)
    for i, row in enumerate(scores):
        for j in np.flatnonzero(candidates[i]):
            for k in np.flatnonzero(~candidates[i]):
                costs[i, j] += loss(row[j] - row[k])
    return costs


@pytest.mark.parametrize("margin", [1.0, 0.4])
def test_squared_pairs(pairs, margin):
    scores, weights, candidates = pairs
    costs, slopes = squared_pairs(scores, weights, candidates, margin)
    expected = literal_pairs(
        scores, candidates, lambda lead: max(margin - lead, 0) ** 2
    )
    assert_allclose(costs, expected, atol=1e-12)

    def total(flat):
        moved = flat.reshape(scores.shape)
        return np.vdot(weights, squared_pairs(moved, weights, candidates, margin)[0])

    assert_allclose(slopes.ravel(), approx_fprime(scores.ravel(), total), atol=1e-5)


@pytest.mark.parametrize("width", [0.1, 0.7, 1.0])
def test_smooth_pairs_round_the_hinge(pairs, width):
    scores, weights, candidates = pairs

    def loss(lead):
        gap = max(1 - lead, 0)
        return gap**2 / (2 * width) if gap < width else gap - width / 2

    n_others = np.maximum((~candidates).sum(axis=1, keepdims=True), 1)
    expected = literal_pairs(scores, candidates, loss) / n_others
    costs, _ = smooth_pairs(scores, weights, candidates, width)
    assert_allclose(costs, expected, atol=1e-12)
    hinge = literal_pairs(scores, candidates, lambda lead: max(1 - lead, 0)) / n_others
    assert np.all(costs <= hinge + 1e-12)
    assert np.all(hinge <= costs + width / 2 + 1e-12)


def minimize_row(function, inside, start):
    return minimize(
        function,
        start,
        bounds=[(0, 1) if c else (0, 0) for c in inside],
        constraints=[{"type": "ineq", "fun": lambda p: p.sum() - 1}],
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )


def test_feasible_is_the_nearest_point(rng):
    candidates = rng.uniform(size=(20, 4)) < 0.6
    candidates[:, 0] = True
    values = 0.6 * rng.normal(size=(20, 4))
    found = feasible(values, candidates)
    for row, inside, nearest in zip(values, candidates, found):
        solved = minimize_row(
            lambda p, row=row: np.sum((p - row) ** 2), inside, inside.astype(float)
        )
        assert_allclose(nearest, solved.x, atol=1e-5)
    assert not feasible(values, np.zeros_like(candidates)).any()


@pytest.fixture
def data(rng):
    X = rng.normal(size=(40, 4)) + 1
    Y = (X @ rng.normal(size=(4, 5)) > 1).astype(np.int8)
    Y = add_extra_labels(Y, 1, random_state=0).labels
    Y[:2], Y[2], Y[3:6] = 0, 1, [1, 0, 0, 0, 0]
    return X, Y


def test_prototypes_and_confidences_are_exact(data, rng):
    X, Y = data
    candidates = Y > 0
    shares = 1 / np.maximum(candidates.sum(axis=1, keepdims=True), 1)
    term = Prototypes(X, candidates, shares, 2.0, 1.5)
    P, costs = rng.uniform(size=Y.shape) * candidates, rng.uniform(size=Y.shape)
    new = term.update(P, costs)
    weights = shares * P
    spread = np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1))
    for label in range(5):
        mean = np.average(X, axis=0, weights=weights[:, label])
        assert_allclose(term.prototypes[label], mean)
        squares = np.sum((X - mean) ** 2, axis=1)
        assert_allclose(term.distances()[:, label], 2 * squares / spread)
    total = costs + term.distances()
    for i in np.flatnonzero(candidates.any(axis=1)):
        inside = candidates[i]
        solved = minimize_row(
            lambda p, i=i, inside=inside: (
                p @ total[i] + 0.75 * np.sum((p - 1) ** 2, where=inside)
            ),
            inside,
            inside.astype(float),
        )
        assert_allclose(new[i], solved.x, atol=1e-5)


def test_correlated_confidences_are_exact(data, rng):
    _, Y = data
    candidates = Y > 0
    shares = np.ones((len(Y), 1))
    term = Correlations(candidates, shares, 0.8, 1.5)
    S = term.similarities
    costs = 2 * rng.uniform(size=Y.shape)
    new = term.update(candidates.astype(float), costs)

    def value(p, i):
        apart = np.sum(S * (p[:, None] - p[None]) ** 2)
        pull = 0.75 * np.sum((p - 1) ** 2, where=candidates[i])
        return p @ costs[i] + 0.8 * apart + pull

    for i in np.flatnonzero(candidates.any(axis=1)):
        inside = candidates[i]
        solved = minimize_row(lambda p, i=i: value(p, i), inside, inside.astype(float))
        assert_allclose(new[i], solved.x, atol=1e-4)
    whole = sum(0.8 * np.sum(S * (p[:, None] - p[None]) ** 2) for p in new)
    assert_allclose(term.cost(new), whole)


def test_similarities():
    candidates = np.array([[1, 1, 0], [1, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)
    cosine = 2 / np.sqrt(6)
    expected = np.zeros((3, 3))
    expected[0, 1] = expected[1, 0] = cosine / cosine
    assert_allclose(label_similarities(candidates), expected)
    assert not label_similarities(np.eye(3, dtype=bool)).any()


@pytest.mark.parametrize("cls", [PMLfp, PMLlc])
def test_objective_never_rises_and_constraints_hold(cls, data):
    X, Y = data
    model = cls(max_iter=30, tol=0, confidence_penalty=0.5).fit(X, Y)
    fall = -np.diff(model.objective_)
    # The confidences of PML-lc and the ranking are found to a tolerance.
    assert np.all(fall >= -1e-6 * model.objective_[:-1])
    assert model.objective_[0] - model.objective_[-1] > 1e-3
    P, inside = model.label_distributions_, Y > 0
    assert P.min() >= 0 and P.max() <= 1 and not P[~inside].any()
    assert np.all(P.sum(axis=1)[inside.any(axis=1)] >= 1 - 1e-9)


@pytest.mark.parametrize("cls", [PMLfp, PMLlc])
def test_ranking_is_solved(cls, data):
    """The model minimises its own objective: compare with a generic solver."""
    X, Y = data
    model = cls(max_iter=1, smoothing=0.5).fit(X, Y)
    candidates = Y > 0
    weights = candidates / np.maximum(candidates.sum(axis=1, keepdims=True), 1)
    Phi = np.column_stack([X, np.ones(len(X))])

    def value(flat):
        W = flat.reshape(5, 5)
        costs, _ = smooth_pairs(Phi @ W.T, weights, candidates, 0.5)
        return 0.5 * np.sum(W**2) + np.vdot(weights, costs)

    found = np.column_stack([model.coef_, model.intercept_])
    best = minimize(value, np.zeros(25), method="L-BFGS-B", options={"maxfun": 10**5})
    assert value(found.ravel()) <= best.fun * (1 + 1e-5)


@pytest.mark.parametrize("cls", [PMLfp, PMLlc])
def test_sparse_is_dense_and_order_does_not_matter(cls, data, rng):
    X, Y = data
    X = np.where(X > 0, X, 0)
    base = cls(smoothing=0.5).fit(X, Y)
    sparse = cls(smoothing=0.5).fit(csr_array(X), csr_array(Y))
    assert_allclose(sparse.coef_, base.coef_, atol=1e-3)
    labels, rows = rng.permutation(5), rng.permutation(40)
    moved = cls(smoothing=0.5).fit(X, Y[:, labels])
    assert_allclose(moved._scores(X), base._scores(X)[:, labels], atol=1e-9)
    assert_allclose(
        moved.label_distributions_, base.label_distributions_[:, labels], atol=1e-9
    )
    moved = cls(smoothing=0.5).fit(X[rows], Y[rows])
    # Rounding steers the solver, which stops at a tolerance.
    assert_allclose(moved._scores(X), base._scores(X), atol=1e-2)
