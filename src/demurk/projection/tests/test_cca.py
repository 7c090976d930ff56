"""Both canonical correlation analyses against the dense generalised problem."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, subspace_angles
from scipy.sparse import csr_array
from sklearn.cross_decomposition import CCA

from demurk.projection import LabelCCA, SemiSupervisedCCA


def dense_laplacian(X, k):
    n = len(X)
    distances = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    W = np.zeros((n, n))
    for i in range(n):
        W[i, np.argsort(distances[i], kind="stable")[:k]] = 1
    W = np.maximum(W, W.T)
    return np.diag(W.sum(axis=1)) - W


def naive(X, Y, reg, graph=0.0):
    labeled = Y[:, 0] != -1
    Xl, Yl = X[labeled], Y[labeled]
    Xc, Yc = Xl - Xl.mean(axis=0), Yl - Yl.mean(axis=0)
    Syy = Yc.T @ Yc + reg * np.eye(Y.shape[1])
    A = Xc.T @ Yc @ np.linalg.solve(Syy, Yc.T @ Xc)
    B = Xc.T @ Xc + reg * np.eye(X.shape[1])
    if graph:
        B = B + graph / len(X) ** 2 * X.T @ dense_laplacian(X, 5) @ X
    values, vectors = eigh(A, B)
    return values[::-1], vectors[:, ::-1], B


@pytest.fixture(params=[(80, 12), (20, 35)], ids=["n>D", "D>n"])
def data(request, rng):
    n, D = request.param
    X = rng.normal(size=(n, D)) + 3
    Y = (X[:, :4] + rng.normal(size=(n, 4)) > 3).astype(int)
    return X, Y


@pytest.fixture
def murky(data):
    X, Y = data
    Y = Y.copy()
    Y[::4] = -1
    return X, Y


def check(model, values, vectors, B, d):
    P = model.components_.T
    assert_allclose(model.eigenvalues_, values[:d], rtol=1e-8)
    assert subspace_angles(P, vectors[:, :d]).max() < 1e-6
    assert_allclose(P.T @ B @ P, np.eye(d), atol=1e-8)
    assert model.eigenvalues_.min() >= 0
    assert model.eigenvalues_.max() <= 1


@pytest.mark.parametrize("reg", [0.1, 5.0])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_equals_generalised_eigenproblem(data, reg, make):
    X, Y = data
    values, vectors, B = naive(X, Y, reg)
    check(LabelCCA(3, reg=reg).fit(make(X), Y), values, vectors, B, 3)


def test_relative_ridge(data):
    X, Y = data
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    gamma_x = 0.01 * np.sum(Xc**2) / X.shape[1]
    gamma_y = 0.01 * np.sum(Yc**2) / 4
    A = Xc.T @ Yc @ np.linalg.solve(Yc.T @ Yc + gamma_y * np.eye(4), Yc.T @ Xc)
    B = Xc.T @ Xc + gamma_x * np.eye(X.shape[1])
    values = eigh(A, B)[0][::-1]
    model = LabelCCA(reg="rel:1e-2").fit(X, Y)
    assert_allclose(model.eigenvalues_, values[:4], rtol=1e-8)
    # The same share of a larger scatter: scaling X scales the directions only.
    scaled = LabelCCA(reg="rel:1e-2").fit(10 * X, Y)
    assert_allclose(scaled.components_ * 10, model.components_, atol=1e-8)


@pytest.mark.parametrize("reg", ["0.1", "rel:", "rel:-1", "abs:1", "rel:nan"])
def test_wrong_reg_says_what_is_right(data, reg):
    with pytest.raises(ValueError, match="rel:1e-3"):
        LabelCCA(reg=reg).fit(*data)


def test_without_ridge_equals_scikit_learn(rng):
    X = rng.normal(size=(200, 6))
    Y = (X[:, :3] + rng.normal(size=(200, 3)) > 0).astype(int)
    model = LabelCCA(3, reg=0).fit(X, Y)
    reference = CCA(3, tol=1e-12, max_iter=5000).fit(X, Y)
    ours, theirs = model.transform(X), reference.transform(X)
    correlations = np.abs(np.corrcoef(ours.T, theirs.T)[:3, 3:])
    assert_allclose(correlations, np.eye(3), atol=1e-5)  # theirs is iterative


def test_no_ridge_and_dependent_labels(data):
    X, Y = data
    doubled = np.hstack([Y, Y[:, :1]])
    if len(X) > X.shape[1]:
        assert_allclose(
            LabelCCA(reg=0).fit(X, doubled).eigenvalues_,
            LabelCCA(reg=0).fit(X, Y).eigenvalues_,
        )
    else:  # every direction of label space is met exactly
        assert_allclose(LabelCCA(reg=0).fit(X, doubled).eigenvalues_, np.ones(4))


def test_missing_entries_contribute_nothing(data):
    X, Y = data
    Y = Y.copy()
    Y[::3, 1] = -1
    T = np.where(Y == -1, 0.0, Y)
    for c in range(4):
        seen = Y[:, c] != -1
        T[seen, c] -= T[seen, c].mean()
    Xc = X - X.mean(axis=0)
    A = Xc.T @ T @ np.linalg.solve(T.T @ T + 0.1 * np.eye(4), T.T @ Xc)
    values = eigh(A, Xc.T @ Xc + 0.1 * np.eye(X.shape[1]))[0][::-1]
    assert_allclose(LabelCCA().fit(X, Y).eigenvalues_, values[:4], rtol=1e-8)


def test_constant_labels_are_an_error(data):
    X, _ = data
    for reg in (0, 0.1):
        with pytest.raises(ValueError, match="label"):
            LabelCCA(reg=reg).fit(X, np.ones((len(X), 2), dtype=int))


@pytest.mark.parametrize("graph", [1.0, 500.0])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_graph_equals_generalised_eigenproblem(murky, graph, make):
    X, Y = murky
    values, vectors, B = naive(X, Y, 0.1, graph)
    model = SemiSupervisedCCA(3, graph_weight=graph, n_neighbors=5).fit(make(X), Y)
    check(model, values, vectors, B, 3)


def test_no_graph_is_plain_cca(murky):
    X, Y = murky
    a = SemiSupervisedCCA(graph_weight=0, reg="rel:0.1").fit(X, Y)
    b = LabelCCA(reg="rel:0.1").fit(X, Y)
    assert_allclose(a.components_, b.components_, atol=1e-8)
    assert_allclose(a.mean_, b.mean_)


def test_graph_makes_directions_smoother(murky):
    X, Y = murky
    L = dense_laplacian(X, 5)
    rough = []
    for weight in (0, 1e4, 1e6):
        p = SemiSupervisedCCA(1, graph_weight=weight, n_neighbors=5).fit(X, Y)
        z = p.transform(X)[:, 0]
        rough.append(z @ L @ z / (z @ z))
    assert rough[0] > rough[1] > rough[2]
