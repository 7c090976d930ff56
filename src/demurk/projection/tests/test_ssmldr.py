"""SSMLDR against propagation and scatter matrices written densely."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, subspace_angles
from scipy.sparse import csr_array

from demurk.labels import hide_rows
from demurk.projection import SSMLDR, WMLDA


def soft_labels(X, Y, k, alpha_labeled):
    n = len(X)
    distances = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    W = np.zeros((n, n))
    for i in range(n):
        W[i, np.argsort(distances[i], kind="stable")[:k]] = 1
    W = np.maximum(W, W.T)
    D = np.diag(W.sum(axis=1) ** -0.5)
    T = D @ W @ D
    T = T / T.sum(axis=1, keepdims=True)
    alpha = np.diag(np.where(Y[:, 0] != -1, alpha_labeled, 0.999))
    start = np.where(Y == -1, 0, Y)
    return np.linalg.solve(np.eye(n) - alpha @ T, (np.eye(n) - alpha) @ start)


@pytest.fixture(params=[(120, 8), (40, 60)], ids=["n>D", "D>n"])
def murky(request, rng):
    n, D = request.param
    X = rng.normal(size=(n, D))
    truth = (X[:, :4] + 0.5 * rng.normal(size=(n, 4)) > 0).astype(int)
    return X, hide_rows(truth, 0.5, random_state=0).labels


@pytest.mark.parametrize("alpha", [0.0, 0.6])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_equals_dense_algorithm(murky, alpha, make):
    X, Y = murky
    F = soft_labels(X, Y, 6, alpha)
    w, N = F.sum(axis=1), F.sum(axis=0)
    Sb = X.T @ (F @ np.diag(1 / N) @ F.T - np.outer(w, w) / w.sum()) @ X
    Sw = X.T @ (np.diag(w) - F @ np.diag(1 / N) @ F.T) @ X
    values, vectors = eigh(Sb, Sw + 0.1 * np.eye(X.shape[1]))
    model = SSMLDR(n_neighbors=6, alpha_labeled=alpha).fit(make(X), Y)
    assert_allclose(model.label_distributions_, F, atol=1e-8)
    assert model.components_.shape == (3, X.shape[1])
    assert_allclose(model.eigenvalues_, values[::-1][:3], rtol=1e-6)
    angles = subspace_angles(model.components_.T, vectors[:, ::-1][:, :3])
    assert angles.max() < 1e-6
    assert_allclose(model.mean_, w @ X / w.sum())


def test_clean_complete_labels_give_wmlda(murky):
    X, _ = murky
    Y = (X[:, :3] > 0).astype(int)
    a, b = SSMLDR(alpha_labeled=0).fit(X, Y), WMLDA().fit(X, Y)
    assert_allclose(a.components_, b.components_, atol=1e-8)


def test_unreachable_samples_have_no_weight(rng):
    X = np.vstack([rng.normal(size=(30, 4)), rng.normal(size=(30, 4)) + 100])
    Y = np.full((60, 3), -1)
    Y[:30] = X[:30, :3] > 0
    with pytest.warns(UserWarning, match="cannot be reached"):
        model = SSMLDR(n_neighbors=3).fit(X, Y)
    alone = SSMLDR(n_neighbors=3).fit(X[:30], Y[:30])
    assert_allclose(model.components_, alone.components_, atol=1e-8)
    assert (model.transduction_[30:] == -1).all()
