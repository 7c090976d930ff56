"""SMDRdm and SMLDA against the dense generalised eigenproblem."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, subspace_angles
from scipy.sparse import csr_array

from demurk.labels import hide_rows
from demurk.projection import WMLDA, SMDRdm
from demurk.propagation import NoisyLabelPropagation


@pytest.fixture(params=[(120, 8), (40, 60)], ids=["n>D", "D>n"])
def murky(request, rng):
    n, D = request.param
    X = rng.normal(size=(n, D)) + 1
    truth = (X[:, :4] + 0.5 * rng.normal(size=(n, 4)) > 1).astype(int)
    return X, hide_rows(truth, 0.5, random_state=0).labels


def naive(X, Y, K, weight, reg):
    W = np.where(Y == -1, 0, Y)
    w, N = W.sum(axis=1), W.sum(axis=0)
    Sb = X.T @ (W @ np.diag(1 / N) @ W.T - np.outer(w, w) / w.sum()) @ X
    Sw = X.T @ (np.diag(w) - W @ np.diag(1 / N) @ W.T) @ X
    H = np.eye(len(X)) - 1 / len(X)
    dependence = X.T @ H @ K @ H @ X
    A = Sb + weight * np.trace(Sb) / np.trace(dependence) * dependence
    B = Sw + reg * np.eye(X.shape[1])
    values, vectors = eigh(A, B)
    return values[::-1], vectors[:, ::-1], B


@pytest.mark.parametrize("weight", [0.2, 1.0])
@pytest.mark.parametrize("dependence", ["labels", "features"])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_equals_generalised_eigenproblem(murky, weight, dependence, make):
    X, Y = murky
    if dependence == "labels":
        F = NoisyLabelPropagation(6).fit(X, Y).label_distributions_
        K = F @ F.T
    else:
        H = np.eye(len(X)) - 1 / len(X)
        K = H @ X @ X.T @ H
    values, vectors, B = naive(X, Y, K, weight, 0.1)
    model = SMDRdm(
        5, dependence_weight=weight, dependence=dependence, n_neighbors=6
    ).fit(make(X), Y)
    P = model.components_.T
    assert_allclose(model.eigenvalues_, values[:5], rtol=1e-6)
    assert subspace_angles(P, vectors[:, :5]).max() < 1e-6
    assert_allclose(P.T @ B @ P, np.eye(5), atol=1e-7)


def test_no_dependence_is_wmlda(murky):
    X, Y = murky
    with pytest.warns(UserWarning, match="only 3 directions"):
        a = SMDRdm(4, dependence_weight=0).fit(X, Y)
    b = WMLDA().fit(X, Y)
    assert_allclose(a.components_, b.components_, atol=1e-8)
    assert_allclose(a.eigenvalues_, b.eigenvalues_, rtol=1e-8)


def test_number_of_components(murky):
    X, Y = murky
    assert SMDRdm().fit(X, Y).components_.shape[0] == 4
    most = min(7, X.shape[1])
    with pytest.warns(UserWarning, match=f"only {most} directions"):
        assert SMDRdm(most + 2).fit(X, Y).components_.shape[0] == most
    features = SMDRdm(dependence="features").fit(X, Y)
    assert features.components_.shape[0] == 4
    assert not hasattr(features, "label_distributions_")


def test_relative_ridge_and_float32(murky):
    X, Y = murky
    model = SMDRdm(3, reg="rel:0.1").fit(X, Y)
    small = SMDRdm(3, reg="rel:0.1").fit(X.astype(np.float32), Y)
    assert small.components_.dtype == np.float32
    assert_allclose(small.eigenvalues_, model.eigenvalues_, rtol=1e-3)
