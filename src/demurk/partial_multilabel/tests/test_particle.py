"""PARTICLE against literal loops over samples, labels and pairs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls
from scipy.sparse import csr_array

from demurk.labels import add_extra_labels
from demurk.partial_multilabel import PARTICLE
from demurk.partial_multilabel._particle_parts import (
    credible_labels,
    fit_pair,
    near_votes,
    propagated,
    scaled_rows,
)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(50, 4))
    Y = (X @ rng.normal(size=(4, 4)) > 0.4).astype(np.int8)
    Y = add_extra_labels(Y, 1, random_state=0).labels
    Y[:2], Y[2] = 0, 1
    return X, Y


def literal_weights(X, k):
    n = len(X)
    T = np.zeros((n, n))
    for i in range(n):
        order = sorted((((X[i] - X[j]) ** 2).sum(), j) for j in range(n) if j != i)
        near = [j for _, j in order[:k]]
        w = nnls(X[near].T, X[i])[0]
        T[i, near] = w / w.sum() if w.sum() > 0 else w
    return T


def literal_propagation(T, Y, alpha):
    P = Y / np.maximum(Y.sum(axis=1, keepdims=True), 1)
    for _ in range(1000):
        new = (alpha * T @ P + (1 - alpha) * Y) * Y
        new /= np.where(new.sum(axis=1) > 0, new.sum(axis=1), 1)[:, None]
        change, P = np.linalg.norm(new - P), new
        if change < 1e-5:
            break
    for label in range(Y.shape[1]):
        if P[:, label].sum() > 0:
            P[:, label] *= Y[:, label].sum() / P[:, label].sum()
    for i, row in enumerate(P):
        spread = row.max() - row.min()
        P[i] = (row - row.min()) / spread if spread > 0 else Y[i]
    return P


def test_propagation_is_the_literal_one(data):
    X, Y = data
    T = literal_weights(X, 4)  # no more than features: unique weights
    assert not np.diag(T).any()
    found = propagated(csr_array(T), Y > 0, 0.95)
    assert_allclose(found, literal_propagation(T, Y.astype(float), 0.95), atol=1e-10)
    # The weights of the estimator are the same.
    weights = PARTICLE(4, random_state=0)._weights(X).toarray()
    assert_allclose(weights, T, atol=1e-6)


def test_neighbours_change_the_confidences(data):
    """With itself as a neighbour a sample would keep its candidates as they are."""
    X, Y = data
    P = propagated(PARTICLE(random_state=0)._weights(X), Y > 0, 0.95)
    several = (Y.sum(axis=1) > 1) & (Y.sum(axis=1) < 4)
    spread = [np.ptp(p[y > 0]) for p, y in zip(P[several], Y[several])]
    assert np.mean(np.array(spread) > 0.05) > 0.9


def test_votes_of_neighbours():
    distances = csr_array(
        (np.array([1.0, 3.0, 0.0, 0.0]), np.array([0, 1, 0, 1]), np.array([0, 2, 4])),
        shape=(2, 2),
    )
    assert_allclose(near_votes(distances).toarray(), [[0.75, 0.25], [1, 1]])
    single = csr_array(np.array([[2.0], [5.0]]))
    assert_allclose(near_votes(single).toarray(), [[1], [1]])


def test_credible_labels_are_candidates():
    confidences = np.array([[1.0, 0.95, 0.2], [0.3, 1.0, 0.5], [1.0, 0.2, 0.1]])
    candidates = np.array([[1, 1, 1], [1, 0, 1], [0, 0, 0]], dtype=bool)
    found = credible_labels(confidences, candidates, 0.9)
    assert_array_equal(found, [[1, 1, 0], [0, 0, 1], [0, 0, 0]])


def test_rows_without_spread_fall_back_on_candidates():
    candidates = np.array([[True, False], [True, True], [True, False]])
    values = np.array([[0.3, 0.3], [0.0, 0.0], [0.2, 0.6]])
    assert_array_equal(scaled_rows(values, candidates), [[1, 0], [1, 1], [0, 1]])


def test_pair_with_one_side_votes_for_it(rng):
    X = rng.normal(size=(6, 2))
    both, none = np.ones(6, bool), np.zeros(6, bool)
    assert fit_pair(X, both, none, 1.0)[1:] == (1.0, 1.0)
    assert fit_pair(X, none, both, 1.0)[1:] == (-1.0, 1.0)
    assert fit_pair(X, none, none, 1.0)[1:] == (0.0, 0.0)
    # Samples on both sides say nothing.
    assert fit_pair(X, both, both, 1.0)[2] == 0.0


def literal_votes(model, X, weighted=True):
    """Votes of the labels and of the virtual one, one pair at a time."""
    q = len(model.classes_)
    votes = np.zeros((len(X), q + 1))
    for (first, second), w, b, accuracy in zip(
        model.pairs_, model.coef_, model.intercept_, model.accuracies_
    ):
        if not weighted and (second == q or accuracy == 0):
            continue
        for i, x in enumerate(X):
            winner = first if w @ x + b > 0 else second
            votes[i, winner] += accuracy if weighted else 1
    return votes


def test_labels_beat_the_virtual_label(data):
    X, Y = data
    model = PARTICLE(random_state=0).fit(X, Y)
    assert len(model.pairs_) == 4 * 5 // 2
    votes = literal_votes(model, X)
    expected = (votes[:, :4] - votes[:, 4:]) / 4
    assert_allclose(model.decision_function(X), expected, atol=1e-12)
    assert np.all(~model.credible_ | (Y > 0))


def test_votes_are_rounded_up_where_asked(data):
    X, Y = data
    model = PARTICLE(votes="rounded", random_state=0).fit(X, Y)
    votes = np.array([[np.ceil(v) for v in row] for row in literal_votes(model, X)])
    scores = model.decision_function(X)
    assert_allclose(scores, (votes[:, :4] - votes[:, 4:]) / 4, atol=1e-12)
    plain = PARTICLE(random_state=0).fit(X, Y).decision_function(X)
    assert np.any(plain != scores) and np.all(np.abs(plain - scores) < 1 / 4)


def test_pairs_learn_from_credible_and_excluded_samples(data):
    X, Y = data
    model = PARTICLE(random_state=0).fit(X, Y)
    credible, candidate = model.credible_, Y > 0
    for index, (first, second) in enumerate(model.pairs_):
        if second == 4:
            yes, no = credible[:, first], ~candidate[:, first]
        else:
            yes = credible[:, first] & ~candidate[:, second]
            no = credible[:, second] & ~candidate[:, first]
        scores = X @ model.coef_[index] + model.intercept_[index]
        right = np.sum(scores[yes] > 0) + np.sum(scores[no] <= 0)
        share = right / (yes.sum() + no.sum())
        assert_allclose(model.accuracies_[index], share)


def test_map_counts_are_those_of_the_training_rows(data):
    X, Y = data
    model = PARTICLE(decision="map", smoothing=1.0, random_state=0).fit(X, Y)
    counts = literal_votes(model, X, weighted=False)[:, :4].astype(int)
    for label in range(4):
        has = model.credible_[:, label]
        prior = (1 + has.sum()) / (2 + len(X))
        for count in range(4):
            yes = (1 + np.sum(counts[has, label] == count)) / (4 + has.sum())
            no = (1 + np.sum(counts[~has, label] == count)) / (4 + np.sum(~has))
            expected = prior * yes / (prior * yes + (1 - prior) * no)
            assert_allclose(model.posterior_[label, count], expected)
    picked = model.posterior_[np.arange(4), counts]
    assert_array_equal(model.predict(X), picked > 0.5)


def test_a_fold_is_judged_by_the_others(data):
    """The own candidates of a sample do not enter its confidences."""
    X, Y = data
    other = Y.copy()
    other[7] = [0, 1, 1, 0] if Y[7, 0] else [1, 0, 0, 1]
    first, second = (
        PARTICLE(random_state=0).fit(X, Y),
        PARTICLE(random_state=0).fit(X, other),
    )
    assert_allclose(first.label_distributions_[7], second.label_distributions_[7])


def test_sparse_is_dense_and_order_does_not_matter(data, rng):
    X, Y = data
    X = np.where(X > -0.5, X, 0)
    base = PARTICLE(4, random_state=0).fit(X, Y)
    sparse = PARTICLE(4, random_state=0).fit(csr_array(X), csr_array(Y))
    assert_allclose(sparse.label_distributions_, base.label_distributions_, atol=1e-8)
    rows = rng.permutation(50)
    moved = PARTICLE(4, random_state=0).fit(X[rows], Y[rows])
    assert_allclose(
        moved.label_distributions_, base.label_distributions_[rows], atol=1e-8
    )


def test_the_hinge_is_that_of_libsvm(rng):
    X = rng.normal(size=(60, 3))
    side = X[:, 0] + 0.5 * rng.normal(size=60) > 0
    coef, intercept, accuracy = fit_pair(X, side, ~side, 2.0, "hinge")
    margins = np.where(side, 1, -1) * (X @ coef + intercept)
    own = 0.5 * coef @ coef + 2.0 * np.maximum(1 - margins, 0).sum()
    other = fit_pair(X, side, ~side, 2.0)
    margins = np.where(side, 1, -1) * (X @ other[0] + other[1])
    assert own < 0.5 * other[0] @ other[0] + 2.0 * np.maximum(1 - margins, 0).sum()
    assert accuracy == ((X @ coef + intercept > 0) == side).mean()
    sparse = fit_pair(csr_array(X), side, ~side, 2.0, "hinge")
    assert_allclose(sparse[0], coef, atol=1e-2)
