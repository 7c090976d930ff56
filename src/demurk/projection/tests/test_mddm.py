"""MDDM against the generalised eigenproblem written densely."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, subspace_angles
from scipy.sparse import csr_array

from demurk.projection import MDDM


def naive(X, Y, mu):
    n, D = X.shape
    H = np.eye(n) - 1 / n
    A = X.T @ H @ Y @ Y.T @ H @ X
    B = mu * X.T @ H @ X + (1 - mu) * np.eye(D)
    values, vectors = eigh(A, B)
    return values[::-1], vectors[:, ::-1], B


@pytest.fixture(params=[(80, 12), (20, 35)], ids=["n>D", "D>n"])
def data(request, rng):
    n, D = request.param
    X = rng.normal(size=(n, D)) + 3
    Y = (X[:, :4] + rng.normal(size=(n, 4)) > 3).astype(int)
    return X, Y


@pytest.mark.parametrize("mu", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_equals_generalised_eigenproblem(data, mu, make):
    X, Y = data
    values, vectors, B = naive(X, Y, mu)
    model = MDDM(3, decorrelation=mu).fit(make(X), Y)
    assert_allclose(model.eigenvalues_, values[:3], rtol=1e-8)
    assert subspace_angles(model.components_.T, vectors[:, :3]).max() < 1e-6
    P = model.components_.T
    assert_allclose(P.T @ B @ P, np.eye(3), atol=1e-8)


def test_keeps_all_dependence_by_default(data):
    X, Y = data
    assert MDDM().fit(X, Y).components_.shape[0] == 4
    # One class per sample: the indicator columns sum to one, so one is lost.
    y = Y[:, 0] + Y[:, 1]
    assert MDDM().fit(X, y).components_.shape[0] == len(np.unique(y)) - 1


def test_more_components_than_dependence(data):
    X, Y = data
    with pytest.warns(UserWarning, match="4"):
        assert MDDM(9).fit(X, Y).components_.shape[0] == 4


def test_unlabelled_rows_are_ignored(data, rng):
    X, Y = data
    more = np.vstack([X, rng.normal(size=(7, X.shape[1])) * 50])
    hidden = np.vstack([Y, np.full((7, 4), -1)])
    a, b = MDDM().fit(X, Y), MDDM().fit(more, hidden)
    assert_allclose(a.components_, b.components_, atol=1e-12)
    assert_allclose(a.mean_, b.mean_)


def test_missing_entries_contribute_nothing(data):
    X, Y = data
    Y = Y.copy()
    Y[::3, 1] = -1
    T = np.where(Y == -1, 0.0, Y)
    for c in range(4):
        seen = Y[:, c] != -1
        T[seen, c] -= T[seen, c].mean()
    U = np.linalg.svd((X - X.mean(axis=0)).T @ T, full_matrices=False)[0]
    assert subspace_angles(MDDM(2).fit(X, Y).components_.T, U[:, :2]).max() < 1e-6


def test_invariances(data, rng):
    X, Y = data
    base = MDDM(3).fit(X, Y)
    order = rng.permutation(len(X))
    assert_allclose(
        MDDM(3).fit(X[order], Y[order]).components_, base.components_, atol=1e-9
    )
    assert_allclose(MDDM(3).fit(X, Y[:, ::-1]).components_, base.components_, atol=1e-9)
    small = MDDM(3).fit(X.astype(np.float32), Y)
    assert small.components_.dtype == np.float32
    angle = subspace_angles(small.components_.T.astype(float), base.components_.T)
    assert angle.max() < 1e-3
    constant = MDDM(3).fit(np.hstack([X, np.ones((len(X), 1))]), Y)
    assert_allclose(constant.components_[:, -1], 0, atol=1e-9)
    twice = MDDM(3).fit(np.vstack([X, X]), np.vstack([Y, Y]))
    assert_allclose(twice.components_, base.components_, atol=1e-9)


def test_transform_centres(data):
    X, Y = data
    model = MDDM(2).fit(X, Y)
    Z = model.transform(X)
    assert_allclose(Z, (X - X.mean(axis=0)) @ model.components_.T)
    assert_allclose(model.transform(csr_array(X)), Z)


def test_constant_labels_are_an_error(data):
    X, _ = data
    with pytest.raises(ValueError, match="label"):
        MDDM().fit(X, np.ones((len(X), 2), dtype=int))


def test_empty_label_column_adds_nothing(data):
    X, Y = data
    padded = np.hstack([Y, np.zeros((len(Y), 1), dtype=int)])
    assert_allclose(
        MDDM().fit(X, padded).components_, MDDM().fit(X, Y).components_, atol=1e-9
    )
