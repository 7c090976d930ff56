"""Problems stated for rows, and bases of features, against dense algebra."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, subspace_angles
from scipy.sparse import csr_array, diags_array

from demurk.linalg import Problem
from demurk.linalg._problem import solve_rows
from demurk.linalg._ridge import FeatureBasis


@pytest.fixture(params=[(60, 9), (15, 30)], ids=["n>D", "D>n"])
def rows(request, rng):
    n, D = request.param
    X = rng.normal(size=(n, D)) + 2
    T = rng.normal(size=(n, 3))
    return X, T - T.mean(axis=0)


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_scatter_eigen(rows, make):
    X, T = rows
    found = FeatureBasis(make(X), exact=True)
    Xc = X - X.mean(axis=0)
    rank = min(len(X) - 1, X.shape[1])
    assert found.squares.shape == (rank,)
    assert_allclose(found.squares, eigh(Xc.T @ Xc)[0][::-1][:rank], rtol=1e-8)
    V = found.directions
    assert_allclose(V.T @ V, np.eye(rank), atol=1e-9)
    assert_allclose((V * found.squares) @ V.T, Xc.T @ Xc, atol=1e-8)
    assert_allclose(found.cross(T), V.T @ Xc.T @ T, atol=1e-8)


def test_scatter_eigen_leaves_out_constant_features(rows):
    X, _ = rows
    wide = np.hstack([X, np.ones((len(X), 2))])
    found, expected = FeatureBasis(wide, exact=True), FeatureBasis(X, exact=True)
    assert_allclose(found.squares, expected.squares, rtol=1e-8)


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
    if kind == "diagonal":
        # Weights of the rows move the mean.
        shift = np.average(X, axis=0, weights=omega) - mean
        problem = Problem(T, weights=omega, scatter=1.0, removed=U, reg=0.5)
        Xc = Xc - shift
        B = Xc.T @ (np.diag(omega) - U @ U.T) @ Xc + 0.5 * np.eye(D)
        values, vectors = eigh(Xc.T @ T @ T.T @ Xc, B)
    else:
        graph = csr_array(diags_array(omega))
        problem = Problem(T, omega=graph, removed=U, reg=0.5)
    found, _ = solve_rows(problem, make(X), n_components=2)
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
    found, _ = solve_rows(Problem(T, scatter=1.0, removed=nothing, reg=1.0), X)
    values = eigh(Xc.T @ T @ T.T @ Xc, Xc.T @ Xc + np.eye(X.shape[1]))[0][::-1]
    assert_allclose(found.eigenvalues, values[:3], rtol=1e-9)


def test_too_much_taken_away_is_an_error(rows):
    X, T = rows
    problem = Problem(T, scatter=1.0, removed=10 * T, reg=0.1)
    with pytest.raises(ValueError, match="singular"):
        solve_rows(problem, X)


@pytest.mark.parametrize("shape", [(20, 4), (4, 20)])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_constant_rows_are_an_error(shape, make, rng):
    for value in (1.0, 0.1):
        with pytest.raises(ValueError, match="no direction"):
            FeatureBasis(make(np.full(shape, value)), exact=True)
