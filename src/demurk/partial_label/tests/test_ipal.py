"""IPAL against a literal implementation, one sample and one class at a time."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import nnls
from scipy.sparse import csr_array

from demurk.partial_label import IPAL
from demurk.partial_label._ipal import (
    class_residuals,
    propagate_candidates,
    reconstruction_graph,
)


def nearest(X, point, k, exclude=None):
    order = sorted((((point - x) ** 2).sum(), j) for j, x in enumerate(X))
    return [j for _, j in order if j != exclude][:k]


def literal_ipal(X, S, queries, k=10, alpha=0.95, steps=100):
    """Zhang and Yu's algorithm with a dense graph."""
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    n, q = S.shape
    W = np.zeros((n, n))
    for i in range(n):
        near = nearest(X, X[i], k, exclude=i)
        W[i, near] = nnls(X[near].T, X[i])[0]
        if W[i].sum() > 0:
            W[i] /= W[i].sum()
    P = S / S.sum(axis=1, keepdims=True)
    F, change, step = P, np.inf, 0
    while step < steps and change >= 1e-4:
        step += 1
        new = (alpha * W @ F + (1 - alpha) * P) * S
        new = new / new.sum(axis=1, keepdims=True)
        change, F = np.linalg.norm(new - F, 2), new
    F = F * (P.sum(axis=0) / F.sum(axis=0))
    labels = F.argmax(axis=1)
    residuals = np.empty((len(queries), q))
    for i, x in enumerate(queries):
        near = nearest(X, x, k)
        w = nnls(X[near].T, x)[0]
        for c in range(q):
            own = labels[near] == c
            residuals[i, c] = np.linalg.norm(x - (w * own) @ X[near])
    return F / F.sum(axis=1, keepdims=True), step, residuals


@pytest.fixture
def data(rng):
    # More features than neighbours, so that the weights are unique.
    centers = 2 * rng.normal(size=(4, 14))
    y = rng.randint(4, size=110)
    X = centers[y] + rng.normal(size=(110, 14))
    S = (rng.uniform(size=(110, 4)) < 0.3).astype(int)
    S[np.arange(110), y] = 1
    return X[:80], S[:80], X[80:]


@pytest.mark.parametrize(
    "k, alpha, steps", [(10, 0.95, 100), (4, 0.5, 99), (5, 0.9, 3)]
)
def test_equals_literal_method(data, k, alpha, steps):
    X, S, queries = data
    confidences, n_iter, residuals = literal_ipal(X, S, queries, k, alpha, steps)
    model = IPAL(k, alpha=alpha, max_iter=steps).fit(X, S)
    assert model.n_iter_ == n_iter
    assert_allclose(model.label_distributions_, confidences, atol=1e-6)
    inverse = 1 / residuals
    expected = inverse / inverse.sum(axis=1, keepdims=True)
    assert_allclose(model.predict_proba(queries), expected, atol=1e-6)
    assert_array_equal(model.predict(queries), residuals.argmin(axis=1))


@pytest.mark.parametrize("steps", [1, 2, 7, 50])
def test_propagation_stays_on_the_simplex(data, steps):
    X, S, _ = data
    indices = np.array([nearest(X, X[i], 5, exclude=i) for i in range(80)])
    graph = reconstruction_graph(X, indices)
    sums = graph.sum(axis=1)
    assert (np.isclose(sums, 1) | (sums == 0)).all()
    confidences, _ = propagate_candidates(graph, S == 1, 0.95, steps)
    assert_allclose(confidences.sum(axis=1), 1)
    assert (confidences >= 0).all()
    assert not confidences[S == 0].any()
    # A single candidate is certain from the first step to the last.
    assert_array_equal(confidences[S.sum(axis=1) == 1].max(axis=1), 1)


def test_residuals_of_sparse_samples(data):
    X, _, queries = data
    indices = np.array([nearest(X, x, 6) for x in queries])
    codes = indices % 3
    dense = class_residuals(X, queries, indices, codes, 4)
    sparse = class_residuals(csr_array(X), csr_array(queries), indices, codes, 4)
    assert_allclose(sparse, dense)
    # A class without neighbours explains nothing.
    assert_allclose(dense[:, 3], np.linalg.norm(queries, axis=1))


def test_duplicate_of_a_training_sample(data):
    X, S, _ = data
    model = IPAL().fit(X, S)
    assert (model.predict(X) == model.labels_).mean() == 1
    assert np.isfinite(model.predict_proba(X)).all()
    assert np.isfinite(model.predict_proba(np.zeros((1, 14)))).all()


def test_duplicates_exclude_themselves_by_index(rng):
    # Two twins with overlapping sets agree on the common candidate.
    X = np.vstack([np.eye(4), np.eye(4)])
    S = np.zeros((8, 5), dtype=int)
    S[np.arange(4), np.arange(4)] = S[np.arange(4, 8), np.arange(4)] = 1
    S[:4, 4] = 1
    assert_array_equal(IPAL(1).fit(X, S).labels_, [0, 1, 2, 3] * 2)


def test_without_normalisation_length_matters(data):
    X, S, queries = data
    scaled = X * np.linspace(1, 5, len(X))[:, None]
    base = IPAL().fit(X, S).predict_proba(queries)
    assert_allclose(IPAL().fit(scaled, S).predict_proba(queries), base, atol=1e-6)
    raw = IPAL(normalize=False).fit(X, S).predict_proba(queries)
    other = IPAL(normalize=False).fit(scaled, S).predict_proba(queries)
    assert not np.allclose(raw, other)
