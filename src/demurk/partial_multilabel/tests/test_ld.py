"""PML-LD against the stationary point of its objective, written out in full."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.sparse import csr_array

from demurk.labels import add_extra_labels
from demurk.metrics._noise import noise_report
from demurk.partial_multilabel import PMLLD


@pytest.fixture
def data(rng):
    X = rng.normal(size=(40, 4))
    Y = (X @ rng.normal(size=(4, 5)) > 0.4).astype(np.int8)
    Y = add_extra_labels(Y, 1, random_state=0).labels
    Y[0], Y[1] = 0, 1
    return X, Y


def literal_samples(X, k):
    """Normalised heat weights of the graph that joins neighbours either way."""
    n = len(X)
    d = np.array([[np.linalg.norm(a - b) for b in X] for a in X])
    near = [np.argsort(d[i] + np.eye(n)[i] * 1e9)[:k] for i in range(n)]
    width = np.median([d[i, near[i][-1]] for i in range(n)])
    W = np.zeros((n, n))
    for i in range(n):
        for j in near[i]:
            W[i, j] = W[j, i] = np.exp(-((d[i, j] / width) ** 2))
    root = np.sqrt(W.sum(axis=1))
    return W / np.outer(root, root)


def literal_labels(Y):
    q = Y.shape[1]
    C = np.zeros((q, q))
    for a in range(q):
        for b in range(q):
            length = np.linalg.norm(Y[:, a]) * np.linalg.norm(Y[:, b])
            C[a, b] = Y[:, a] @ Y[:, b] / length
    root = np.sqrt(C.sum(axis=1))
    return C / np.outer(root, root)


def test_degrees_are_the_stationary_point(data):
    X, Y = data
    Y = Y.astype(float)
    n, q = Y.shape
    model = PMLLD(0.7, correlation_weight=0.4, n_neighbors=5).fit(X, Y)
    S, C = literal_samples(X, 5), literal_labels(Y)
    # The derivative of the objective, for all entries of D at once.
    big = np.eye(n * q) + 0.7 * np.kron(np.eye(n) - S, np.eye(q))
    big += 0.4 * np.kron(np.eye(n), np.eye(q) - C)
    D = np.linalg.solve(big, Y.ravel()).reshape(n, q)
    assert D.min() > -1e-12
    expected = D * Y
    expected /= np.maximum(expected.sum(axis=1, keepdims=True), 1e-300)
    assert_allclose(model.label_distributions_, expected, atol=1e-7)
    assert not model.label_distributions_[0].any()


def test_regression_ignores_small_errors(data):
    X, Y = data
    model = PMLLD(reg=3.0, insensitivity=0.3, tol=0, max_iter=3000).fit(X, Y)
    D = model.label_distributions_

    def objective(flat):
        B = flat.reshape(D.shape[1], -1)
        lengths = np.linalg.norm(X @ B[:, :-1].T + B[:, -1] - D, axis=1)
        return np.sum(np.maximum(lengths - 0.3, 0) ** 2) + 3.0 * np.sum(B[:, :-1] ** 2)

    found = np.column_stack([model.coef_, model.intercept_]).ravel()
    best = minimize(objective, np.zeros_like(found), method="BFGS").fun
    assert_allclose(objective(found), model.objective_[-1], rtol=1e-9)
    assert model.objective_[-1] <= best + 1e-5
    assert np.all(np.diff(model.objective_) <= 1e-12)


def test_without_insensitivity_it_is_a_ridge_regression(data):
    X, Y = data
    model = PMLLD(reg=2.0, insensitivity=0.0).fit(X, Y)
    D, Xc = model.label_distributions_, X - X.mean(axis=0)
    coef = np.linalg.solve(Xc.T @ Xc + 2 * np.eye(4), Xc.T @ D).T
    assert_allclose(model.coef_, coef, atol=1e-10)
    assert_allclose(model.intercept_, D.mean(axis=0) - coef @ X.mean(axis=0))


def test_both_graphs_find_false_candidates(rng):
    centers = 3 * rng.normal(size=(6, 5))
    groups = rng.randint(6, size=300)
    X = centers[groups] + rng.normal(size=(300, 5))
    Y = np.array([np.roll([1, 1, 0, 0, 0, 0], g) for g in groups])
    given = add_extra_labels(Y, 1, random_state=0).labels

    def auc(**params):
        found = PMLLD(**params).fit(X, given).noise_scores_.toarray()
        return noise_report(given, Y, found)["AUC"]

    none = PMLLD(0, correlation_weight=0).fit(X, given).label_distributions_
    assert_allclose(none, given / given.sum(axis=1, keepdims=True))
    assert auc(smoothness=1, correlation_weight=0) > 0.95
    assert auc(smoothness=0, correlation_weight=1) > 0.6


def test_sparse_is_dense(data):
    X, Y = data
    X = np.where(X > 0, X, 0)
    dense, sparse = PMLLD().fit(X, Y), PMLLD().fit(csr_array(X), csr_array(Y))
    assert_allclose(sparse.decision_function(X), dense.decision_function(X), atol=1e-7)
