"""Both forms of MLSI against the dense generalised eigenproblem."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, subspace_angles
from scipy.sparse import csr_array
from sklearn.decomposition import PCA

from demurk.projection import MLSI


def naive(X, Y, beta, formulation, reg):
    n, D = X.shape
    Xc, Yc = X - X.mean(axis=0), Y - Y.mean(axis=0)
    K = (1 - beta) * Xc @ Xc.T + beta * Yc @ Yc.T
    if formulation == "direct":
        A, B = Xc.T @ K @ Xc, Xc.T @ Xc + reg * np.eye(D)
    else:
        A = Xc.T @ Xc
        B = Xc.T @ np.linalg.solve(K + reg * np.eye(n), Xc) + reg * np.eye(D)
    values, vectors = eigh(A, B)
    return values[::-1], vectors[:, ::-1], B


@pytest.fixture(params=[(80, 12), (20, 35)], ids=["n>D", "D>n"])
def data(request, rng):
    n, D = request.param
    X = rng.normal(size=(n, D)) + 3
    Y = (X[:, :4] + rng.normal(size=(n, 4)) > 3).astype(int)
    return X, Y


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("formulation", ["direct", "inverse"])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_equals_generalised_eigenproblem(data, beta, formulation, make):
    X, Y = data
    d = 4 if beta == 1 else 6
    for reg in (0.1, 1.0):
        values, vectors, B = naive(X, Y, beta, formulation, reg)
        model = MLSI(d, label_weight=beta, formulation=formulation, reg=reg)
        model.fit(make(X), Y)
        P = model.components_.T
        assert_allclose(model.eigenvalues_, values[:d], rtol=1e-7)
        assert subspace_angles(P, vectors[:, :d]).max() < 1e-6
        assert_allclose(P.T @ B @ P, np.eye(d), atol=1e-7)


def test_forms_coincide_for_many_features_and_little_ridge(rng):
    X = rng.normal(size=(15, 40))
    Y = (X[:, :3] > 0).astype(int)
    a = MLSI(3, reg=1e-6).fit(X, Y).components_.T
    b = MLSI(3, reg=1e-6, formulation="inverse").fit(X, Y).components_.T
    # The ridge is not zero, and neither is the angle.
    assert subspace_angles(a, b).max() < 1e-4


def test_no_label_weight_is_pca(data):
    X, Y = data
    pca = PCA(3).fit(X).components_.T
    model = MLSI(3, label_weight=0).fit(X, Y)
    assert subspace_angles(model.components_.T, pca).max() < 1e-6


def test_ridge(data):
    X, Y = data
    total = np.sum((X - X.mean(axis=0)) ** 2) / X.shape[1]
    a = MLSI(reg="rel:0.1").fit(X, Y)
    b = MLSI(reg=0.1 * total).fit(X, Y)
    assert_allclose(a.components_, b.components_, atol=1e-10)
    # Without a ridge the direct form lives in the row space.
    plain = MLSI(3, reg=0).fit(X, Y)
    Z = plain.transform(X)
    assert_allclose(Z.T @ Z, np.eye(3), atol=1e-8)
    with pytest.raises(ValueError, match="inverse"):
        MLSI(reg=0, formulation="inverse").fit(X, Y)


def test_number_of_components(data):
    X, Y = data
    assert MLSI().fit(X, Y).components_.shape[0] == 4
    rank = min(len(X) - 1, X.shape[1])
    with pytest.warns(UserWarning, match=f"only {rank} directions"):
        assert MLSI(rank + 1).fit(X, Y).components_.shape[0] == rank
