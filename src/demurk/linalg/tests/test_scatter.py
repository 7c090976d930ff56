"""Scatter eigenvectors and downdated metrics against dense algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, subspace_angles
from scipy.sparse import csr_array, diags_array

from demurk.linalg._scatter import downdated_directions, scatter_eigen


@pytest.fixture(params=[(60, 9), (15, 30)], ids=["n>D", "D>n"])
def rows(request, rng):
    n, D = request.param
    X = rng.normal(size=(n, D)) + 2
    T = rng.normal(size=(n, 3))
    return X, T - T.mean(axis=0)


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_scatter_eigen(rows, make):
    X, T = rows
    found = scatter_eigen(make(X), T)
    Xc = X - X.mean(axis=0)
    rank = min(len(X) - 1, X.shape[1])
    assert found.values.shape == (rank,)
    assert_allclose(found.values, eigh(Xc.T @ Xc)[0][::-1][:rank], rtol=1e-8)
    V = found.vectors
    assert_allclose(V.T @ V, np.eye(rank), atol=1e-9)
    assert_allclose((V * found.values) @ V.T, Xc.T @ Xc, atol=1e-8)
    assert_allclose(found.cross, V.T @ Xc.T @ T, atol=1e-8)


def test_scatter_eigen_leaves_out_constant_features(rows):
    X, T = rows
    wide = np.hstack([X, np.ones((len(X), 2))])
    assert_allclose(
        scatter_eigen(wide, T).values, scatter_eigen(X, T).values, rtol=1e-8
    )


@pytest.mark.parametrize("kind", ["diagonal", "sparse"])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_downdated_directions(rows, kind, make, rng):
    X, T = rows
    n, D = X.shape
    U = rng.normal(size=(n, 2))
    omega = np.full(n, 1.1 * np.linalg.norm(U, 2) ** 2) + rng.uniform(size=n)
    mean = X.mean(axis=0)
    Xc = X - mean
    B = Xc.T @ (np.diag(omega) - U @ U.T) @ Xc + 0.5 * np.eye(D)
    values, vectors = eigh(Xc.T @ T @ T.T @ Xc, B)
    found = downdated_directions(
        make(X),
        T,
        U,
        mean=mean,
        omega=omega if kind == "diagonal" else csr_array(diags_array(omega)),
        ridge=0.5,
        n_components=2,
    )
    P = found.components.T
    assert_allclose(found.eigenvalues, values[::-1][:2], rtol=1e-9)
    assert subspace_angles(P, vectors[:, ::-1][:, :2]).max() < 1e-7
    assert_allclose(P.T @ B @ P, np.eye(2), atol=1e-9)
    largest = np.abs(found.components).argmax(axis=1)
    assert (found.components[[0, 1], largest] > 0).all()


def test_downdate_of_nothing(rows):
    X, T = rows
    Xc = X - X.mean(axis=0)
    nothing = np.zeros((len(X), 0))
    found = downdated_directions(
        X, T, nothing, mean=X.mean(axis=0), omega=1.0, ridge=1.0
    )
    values = eigh(Xc.T @ T @ T.T @ Xc, Xc.T @ Xc + np.eye(X.shape[1]))[0][::-1]
    assert_allclose(found.eigenvalues, values[:3], rtol=1e-9)


def test_too_much_taken_away_is_an_error(rows):
    X, T = rows
    mean = X.mean(axis=0)
    with pytest.raises(ValueError, match="singular"):
        downdated_directions(X, T, 10 * T, mean=mean, omega=1.0, ridge=0.1)


@pytest.mark.parametrize("shape", [(20, 4), (4, 20)])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_constant_rows_are_an_error(shape, make, rng):
    T = rng.normal(size=(shape[0], 2))
    for value in (1.0, 0.1):
        with pytest.raises(ValueError, match="no direction"):
            scatter_eigen(make(np.full(shape, value)), T - T.mean(axis=0))
