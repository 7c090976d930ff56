"""MVMD against the eigenproblem written densely."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, subspace_angles
from scipy.sparse import csr_array
from sklearn.decomposition import PCA

from demurk.linalg import _problem
from demurk.projection import MDDM, MVMD


def naive(X, Y, beta):
    H = np.eye(len(X)) - 1 / len(X)
    A = (1 - beta) * X.T @ H @ X + beta * X.T @ H @ Y @ Y.T @ H @ X
    values, vectors = eigh(A)
    return values[::-1], vectors[:, ::-1]


@pytest.fixture(params=[(80, 12), (20, 35)], ids=["n>D", "D>n"])
def data(request, rng):
    n, D = request.param
    X = rng.normal(size=(n, D)) + 3
    Y = (X[:, :4] + rng.normal(size=(n, 4)) > 3).astype(int)
    return X, Y


@pytest.mark.parametrize("beta", [0.0, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_equals_eigenproblem(data, beta, make):
    X, Y = data
    d = 4 if beta == 1 else 7
    values, vectors = naive(X, Y, beta)
    model = MVMD(d, dependence_weight=beta).fit(make(X), Y)
    assert_allclose(model.eigenvalues_, values[:d], rtol=1e-8)
    assert subspace_angles(model.components_.T, vectors[:, :d]).max() < 1e-6
    assert_allclose(model.components_ @ model.components_.T, np.eye(d), atol=1e-10)
    assert_allclose(model.transform(make(X)), (X - X.mean(0)) @ model.components_.T)


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_products_alone_give_the_same(data, make, monkeypatch):
    X, Y = data
    monkeypatch.setattr(_problem, "MAX_PRIMAL", 0)
    values, vectors = naive(X, Y, 0.3)
    model = MVMD(5, dependence_weight=0.3).fit(make(X), Y)
    assert_allclose(model.eigenvalues_, values[:5], rtol=1e-8)
    assert subspace_angles(model.components_.T, vectors[:, :5]).max() < 1e-6


def test_iterations_for_many_features(rng):
    # Beyond 500 features the eigenvectors come from ARPACK, to a tolerance of 1e-8.
    X = rng.normal(size=(40, 600)) * np.linspace(3, 1, 600)
    Y = (X[:, :3] > 0).astype(int)
    values, vectors = naive(X, Y, 0.2)
    model = MVMD(4, dependence_weight=0.2).fit(X, Y)
    assert_allclose(model.eigenvalues_, values[:4], rtol=1e-7)
    assert subspace_angles(model.components_.T, vectors[:, :4]).max() < 1e-6


def test_ends_are_pca_and_mddm(data):
    X, Y = data
    pca = PCA(4).fit(X).components_.T
    first = MVMD(4, dependence_weight=0).fit(X, Y)
    assert subspace_angles(first.components_.T, pca).max() < 1e-6
    last = MVMD(4, dependence_weight=1).fit(X, Y)
    assert_allclose(last.components_, MDDM(4).fit(X, Y).components_, atol=1e-7)


def test_balanced_gives_equal_traces(data):
    X, Y = data
    model = MVMD(dependence_weight="balanced").fit(X, Y)
    Xc, Yc = X - X.mean(0), Y - Y.mean(0)
    beta = model.dependence_weight_
    assert_allclose((1 - beta) * np.sum(Xc**2), beta * np.sum((Xc.T @ Yc) ** 2))
    assert_allclose(model.eigenvalues_, naive(X, Y, beta)[0][:4], rtol=1e-8)


def test_number_of_components(data):
    X, Y = data
    assert MVMD().fit(X, Y).components_.shape[0] == 4
    rank = min(len(X) - 1, X.shape[1])
    assert MVMD(rank).fit(X, Y).components_.shape[0] == rank
    with pytest.warns(UserWarning, match=f"only {rank} directions"):
        model = MVMD(rank + 1).fit(X, Y)
    assert model.components_.shape[0] == rank


def test_missing_entries_contribute_nothing(data):
    X, Y = data
    Y = Y.copy()
    Y[::3, 1] = -1
    T = np.where(Y == -1, 0.0, Y)
    for c in range(4):
        seen = Y[:, c] != -1
        T[seen, c] -= T[seen, c].mean()
    Xc = X - X.mean(axis=0)
    vectors = eigh(0.5 * Xc.T @ Xc + 0.5 * Xc.T @ T @ T.T @ Xc)[1][:, ::-1]
    model = MVMD(3).fit(X, Y)
    assert subspace_angles(model.components_.T, vectors[:, :3]).max() < 1e-6


def test_nothing_to_find_is_an_error(data):
    X, Y = data
    for value in (1.0, 0.1):
        with pytest.raises(ValueError, match="do not differ"):
            MVMD().fit(np.full_like(X, value), Y)
    constant = np.ones_like(Y)
    with pytest.raises(ValueError, match="labels are constant"):
        MVMD(dependence_weight=1).fit(X, constant)
    assert MVMD(2).fit(X, constant).components_.shape[0] == 2
