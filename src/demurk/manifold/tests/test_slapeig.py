"""S-LapEig against the distances and weights of its definition."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from sklearn.metrics.pairwise import euclidean_distances

from demurk.manifold import SLapEig


def dense_weights(X, group, k, scale, width):
    exponent = euclidean_distances(X, squared=True) / scale**2
    same = group[:, None] == group
    squared = np.where(same, 1 - np.exp(-exponent), np.exp(np.minimum(exponent, 50)))
    np.fill_diagonal(squared, np.inf)
    directed = np.zeros(squared.shape)
    nearest = np.argsort(squared, axis=1)[:, :k]
    directed[np.arange(len(X))[:, None], nearest] = 1
    np.fill_diagonal(squared, 0)
    return np.maximum(directed, directed.T) * np.exp(-squared / width**2)


@pytest.fixture
def data(rng):
    X = rng.normal(size=(80, 4))
    return X, rng.permutation(np.repeat([0, 1, 2], [40, 25, 15]))


@pytest.mark.parametrize("k", [30, 60])
def test_equals_dense_problem(data, k):
    X, y = data
    scale = euclidean_distances(X).sum() / (80 * 79)
    W = dense_weights(X, y, k, scale, 1.0)
    D = np.diag(W.sum(axis=1))
    values, vectors = eigh(D - W, D, subset_by_index=[1, 3])
    model = SLapEig(3, n_neighbors=k, random_state=0).fit(X, y)
    assert_allclose(model.eigenvalues_, values, atol=1e-10)
    signs = np.sign(np.einsum("ij,ij->j", vectors, model.embedding_))
    assert_allclose(model.embedding_, vectors * signs, atol=1e-7)


def test_given_scales(data):
    X, y = data
    W = dense_weights(X, y, 50, 2.0, 1.5)
    D = np.diag(W.sum(axis=1))
    values = eigh(D - W, D, eigvals_only=True, subset_by_index=[1, 2])
    model = SLapEig(
        n_neighbors=50, distance_scale=2.0, bandwidth=1.5, random_state=0
    ).fit(X, y)
    assert_allclose(model.eigenvalues_, values, atol=1e-10)


def test_fewer_neighbours_than_a_class_never_leave_it(data):
    X, y = data
    with pytest.warns(UserWarning, match="falls into 3 parts"):
        Z = SLapEig(n_neighbors=8, random_state=0).fit_transform(X, y)
    for c in range(3):
        assert_allclose(np.ptp(Z[y == c], axis=0), 0, atol=1e-10)


def test_orders_and_unlabelled_rows(data, rng):
    X, y = data
    base = SLapEig(n_neighbors=50, random_state=0).fit(X, y)
    order = rng.permutation(80)
    permuted = SLapEig(n_neighbors=50, random_state=0).fit(
        X[order], np.array([2, 0, 1])[y[order]]
    )
    assert_allclose(permuted.embedding_, base.embedding_[order], atol=1e-8)
    extra = np.vstack([X, X[:6] + 0.1])
    model = SLapEig(n_neighbors=50, random_state=0).fit(extra, np.r_[y, np.full(6, -1)])
    assert_allclose(model.embedding_[:80], base.embedding_)
    assert_allclose(model.embedding_[80:], base.transform(extra[80:]))


def test_a_class_of_one_sample_and_far_classes(rng):
    X = np.vstack([rng.normal(size=(30, 3)), [[200.0, 0, 0]]])
    y = np.r_[np.arange(30) % 2, 2]
    # Beyond any distance the weight vanishes: the lone sample has no edge.
    with pytest.warns(UserWarning, match="1 of them single samples"):
        Z = SLapEig(n_neighbors=20, distance_scale=1.0, random_state=0).fit_transform(
            X, y
        )
    assert_allclose(Z[30], 0)
