"""MSDA against the dense generalised eigenproblem."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, subspace_angles
from scipy.sparse import csr_array

from demurk.labels import hide_rows
from demurk.projection import MSDA, WMLDA


@pytest.fixture(params=[(120, 8), (40, 60)], ids=["n>D", "D>n"])
def murky(request, rng):
    n, D = request.param
    X = rng.normal(size=(n, D)) + 1
    truth = (X[:, :4] + 0.5 * rng.normal(size=(n, 4)) > 1).astype(int)
    truth[7] = 0
    return X, hide_rows(truth, 0.5, random_state=0).labels


def naive(X, Y, a, b, k, reg):
    n = len(X)
    W = np.where(Y == -1, 0, Y)
    w, N = W.sum(axis=1), W.sum(axis=0)
    Sb = X.T @ (W @ np.diag(1 / N) @ W.T - np.outer(w, w) / w.sum()) @ X
    St = X.T @ (np.diag(w) - np.outer(w, w) / w.sum()) @ X
    distances = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    first = np.zeros((n, n))
    for i in range(n):
        first[i, np.argsort(distances[i], kind="stable")[:k]] = 1
    first = np.maximum(first, first.T)
    second = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j and W[i].any() and W[j].any():
                norms = np.linalg.norm(W[i]) * np.linalg.norm(W[j])
                second[i, j] = W[i] @ W[j] / norms
    B = St + reg * np.eye(X.shape[1])
    for weight, graph in ((a, first), (b, second)):
        B = B + weight * X.T @ (np.diag(graph.sum(axis=1)) - graph) @ X
    values, vectors = eigh(Sb, B)
    return values[::-1], vectors[:, ::-1], B


@pytest.mark.parametrize(("a", "b"), [(0.1, 0.1), (0.0, 1.0), (5.0, 0.0), (2.0, 3.0)])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_equals_generalised_eigenproblem(murky, a, b, make):
    X, Y = murky
    values, vectors, B = naive(X, Y, a, b, 6, 0.1)
    model = MSDA(graph_weight=a, label_weight=b, n_neighbors=6).fit(make(X), Y)
    P = model.components_.T
    assert P.shape[1] == 3
    assert_allclose(model.eigenvalues_, values[:3], rtol=1e-7)
    assert subspace_angles(P, vectors[:, :3]).max() < 1e-6
    assert_allclose(P.T @ B @ P, np.eye(3), atol=1e-8)


def test_without_graphs_the_directions_of_wmlda(murky):
    X, Y = murky
    a = MSDA(graph_weight=0, label_weight=0, reg="rel:0.01").fit(X, Y)
    b = WMLDA(reg="rel:0.01").fit(X, Y)
    scale = np.sqrt(1 + b.eigenvalues_)[:, None]
    assert_allclose(a.components_ * scale, b.components_, atol=1e-8)
    assert_allclose(a.mean_, b.mean_)
