"""The five weightings against loops, and what the rules promise."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from demurk.labels import check_labels
from demurk.projection._wmlda_weights import (
    dependence_weights,
    fuzzy_weights,
    label_weights,
)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 7)) + 2
    Y = (X[:, :5] + rng.normal(size=(60, 5)) > 2).astype(int)
    Y[3] = 0
    return X, Y


def test_binary_and_entropy(data):
    X, Y = data
    labels = check_labels(Y)
    assert_array_equal(label_weights("binary", X, labels), Y)
    W = label_weights("entropy", X, labels)
    for w, y in zip(W, Y):
        assert_allclose(w, y / y.sum() if y.any() else 0 * y)


def test_correlation(data):
    X, Y = data
    W = label_weights("correlation", X, check_labels(Y))
    for i, y in enumerate(Y):
        for k in range(5):
            own = [
                Y[:, k] @ Y[:, j] / np.linalg.norm(Y[:, k]) / np.linalg.norm(Y[:, j])
                for j in np.flatnonzero(y)
            ]
            assert_allclose(W[i, k], np.mean(own) if own else 0)


def test_correlation_gives_no_weight_to_what_was_not_observed(data):
    X, Y = data
    Y = Y.copy()
    Y[::2, 1] = -1
    W = label_weights("correlation", X, check_labels(Y))
    assert (W[::2, 1] == 0).all()
    assert (W[1::2, 1] > 0).any()


def naive_fuzzy(X, Y, n_iter):
    W = np.array([y / max(y.sum(), 1) for y in Y])
    for _ in range(n_iter):
        centers = [(W[:, k] ** 2) @ X / (W[:, k] ** 2).sum() for k in range(Y.shape[1])]
        for i, y in enumerate(Y):
            if y.any():
                d = np.array([np.sum((X[i] - c) ** 2) for c in centers])
                W[i] = (y / d) / (y / d).sum()
    return W


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("n_iter", [1, 4])
def test_fuzzy(data, make, n_iter):
    X, Y = data
    found = fuzzy_weights(make(X), Y, max_iter=n_iter, tol=0)
    assert_allclose(found, naive_fuzzy(X, Y, n_iter), atol=1e-10)


def test_fuzzy_converges_and_does_not_depend_on_the_origin(data):
    X, Y = data
    W = fuzzy_weights(X, Y)
    assert_allclose(W, fuzzy_weights(X + 100, Y), atol=1e-9)
    # Stopping when centres move by 1 % leaves weights within a few per cent.
    assert np.abs(W - fuzzy_weights(X, Y, tol=1e-10)).max() < 0.05
    # A sample exactly on the centre of a label belongs to it, and nothing breaks.
    X = np.array([[0.0], [0.0], [1.0]])
    W = fuzzy_weights(X, np.array([[1, 0], [1, 1], [0, 1]]))
    assert np.isfinite(W).all()
    assert W[1, 0] > 0.99


def naive_dependence(X, Y, seed, n_sweeps):
    """Every row against all others through the n x n matrix."""
    rng = np.random.RandomState(seed)
    n = len(X)
    H = np.eye(n) - 1 / n
    Q = H @ X @ X.T @ H
    W = np.array([y / max(y.sum(), 1) for y in Y])
    several = np.flatnonzero(Y.sum(axis=1) > 1)
    criterion = [np.trace(W.T @ Q @ W)]
    for _ in range(n_sweeps):
        for i in rng.permutation(several):
            others = np.arange(n) != i
            c = Q[i, others] @ W[others]
            own = np.flatnonzero(Y[i])
            W[i] = 0
            W[i, own[np.argmax(c[own])]] = 1
        criterion.append(np.trace(W.T @ Q @ W))
    return W, criterion


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("n_sweeps", [1, 2, 20])
def test_dependence_equals_the_quadratic_version(data, make, n_sweeps, monkeypatch):
    X, Y = data
    monkeypatch.setattr("demurk.projection._wmlda_weights.BLOCK_ROWS", 16)
    W, _ = naive_dependence(X, Y, 5, n_sweeps)
    found = dependence_weights(make(X), Y, 5, max_iter=n_sweeps)
    assert_array_equal(found, W)


def test_dependence_never_decreases_and_ends(data):
    X, Y = data
    Xc = X - X.mean(axis=0)
    criterion = [
        np.sum((Xc.T @ dependence_weights(X, Y, 0, max_iter=m)) ** 2)
        for m in range(0, 8)
    ]
    assert criterion == sorted(criterion)
    assert criterion[1] > criterion[0]
    last = dependence_weights(X, Y, 0)
    assert_array_equal(last, dependence_weights(X, Y, 0, max_iter=50))


def test_dependence_is_one_of_the_labels(data):
    X, Y = data
    W = dependence_weights(X, Y, 0)
    assert_array_equal(W.sum(axis=1), Y.any(axis=1))
    assert (W <= Y).all()


def test_dependence_is_fast(rng):
    X = rng.normal(size=(20_000, 100))
    Y = (X[:, :20] @ rng.normal(size=(20, 100)) > 8).astype(float)
    start = time.process_time()
    dependence_weights(X, Y, 0)
    # About 1.5 s of CPU; visiting the settled rows again in each sweep made it 30 s.
    assert time.process_time() - start < 15
