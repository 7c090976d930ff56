"""A reducer of one's own states its problem, and gets the rest from the base."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh, subspace_angles
from scipy.sparse import csr_array
from sklearn.utils.estimator_checks import parametrize_with_checks

from demurk.linalg import Problem
from demurk.projection import LinearReducer, fit_chunks


class Weighted(LinearReducer):
    """Labels divided by their spread, rows weighted by their number of labels."""

    _streams = True

    def __init__(self, n_components=None):
        self.n_components = n_components

    def _problem(self, X, labels):
        return Problem(
            labels,
            weights=1.0 + labels.values.sum(axis=1),
            scatter=1.0,
            reg="rel:0.1",
            combine=self._combine,
        )

    def _combine(self, sums):
        spread = sums.target_scatter.diagonal()
        return np.diag(np.where(spread > 0, spread, np.inf) ** -0.5)


@parametrize_with_checks([Weighted()])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.fixture(params=[(90, 9), (30, 50)], ids=["n>D", "D>n"])
def data(request, rng):
    n, D = request.param
    X = rng.normal(size=(n, D)) + 3
    Y = (X[:, :4] + rng.normal(size=(n, 4)) > 3).astype(int)
    return X, Y


def naive(X, Y):
    w = 1.0 + Y.sum(axis=1)
    Xc = X - np.average(X, axis=0, weights=w)
    T = Y - Y.mean(axis=0)
    T = T / np.linalg.norm(T, axis=0)
    S = Xc.T @ (w[:, None] * Xc)
    B = S + 0.1 * np.trace(S) / len(S) * np.eye(len(S))
    values, vectors = eigh(Xc.T @ T @ T.T @ Xc, B)
    return values[::-1], vectors[:, ::-1], B


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_statement_in_memory_and_in_chunks(data, make):
    X, Y = data
    values, vectors, B = naive(X, Y)
    parts = [(make(X[i : i + 8]), Y[i : i + 8]) for i in range(0, len(X), 8)]
    for model in (Weighted(3).fit(make(X), Y), fit_chunks(Weighted(3), parts)):
        P = model.components_
        assert_allclose(model.eigenvalues_, values[:3], rtol=1e-8)
        assert subspace_angles(P.T, vectors[:, :3]).max() < 1e-6
        assert_allclose(P @ B @ P.T, np.eye(3), atol=1e-8)
