"""Laplacian eigenmaps against the dense problem and scikit-learn."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from scipy.sparse import csr_array
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import SpectralEmbedding
from sklearn.metrics.pairwise import euclidean_distances

from demurk.manifold import LaplacianEigenmaps


def dense_heat_map(X, k, squared_width, m):
    distances = euclidean_distances(X, squared=True)
    np.fill_diagonal(distances, np.inf)
    directed = np.zeros(distances.shape)
    nearest = np.argsort(distances, axis=1)[:, :k]
    directed[np.arange(len(X))[:, None], nearest] = 1
    np.fill_diagonal(distances, 0)
    W = np.maximum(directed, directed.T) * np.exp(-distances / squared_width)
    D = np.diag(W.sum(axis=1))
    values, vectors = eigh(D - W, D, subset_by_index=[1, m])
    return values, vectors


@pytest.mark.parametrize("bandwidth", [None, 0.7])
def test_equals_dense_problem(rng, bandwidth):
    X = rng.normal(size=(120, 4))
    pairs = euclidean_distances(X, squared=True)
    squared = bandwidth**2 if bandwidth else pairs.sum() / (120 * 119)
    values, vectors = dense_heat_map(X, 8, squared, 3)
    model = LaplacianEigenmaps(
        3, n_neighbors=8, bandwidth=bandwidth, random_state=0
    ).fit(X)
    assert_allclose(model.eigenvalues_, values, atol=1e-10)
    signs = np.sign(np.einsum("ij,ij->j", vectors, model.embedding_))
    assert_allclose(model.embedding_, vectors * signs, atol=1e-7)


def test_agrees_with_spectral_embedding(rng):
    """The same graph: ones for neighbours either way."""
    X = rng.normal(size=(200, 3))
    distances = euclidean_distances(X)
    np.fill_diagonal(distances, np.inf)
    W = np.zeros((200, 200))
    W[np.arange(200)[:, None], np.argsort(distances, axis=1)[:, :10]] = 1
    W = (W + W.T) / 2
    theirs = SpectralEmbedding(2, affinity="precomputed", random_state=0)
    theirs = theirs.fit_transform(W)
    ours = LaplacianEigenmaps(
        n_neighbors=10, affinity="knn", random_state=0
    ).fit_transform(X)
    for column in range(2):
        correlation = np.corrcoef(ours[:, column], theirs[:, column])[0, 1]
        assert abs(correlation) > 1 - 1e-8


def test_unrolls_the_swiss_roll():
    X, along = make_swiss_roll(1500, random_state=0)
    Z = LaplacianEigenmaps(
        n_neighbors=10, affinity="knn", random_state=0
    ).fit_transform(X)
    rank = np.argsort(np.argsort(Z[:, 0]))
    assert abs(np.corrcoef(rank, along)[0, 1]) > 0.98


def test_labels_are_ignored_and_sparse_is_dense(rng):
    X = rng.normal(size=(60, 3))
    base = LaplacianEigenmaps(random_state=0).fit(X)
    assert_allclose(
        LaplacianEigenmaps(random_state=0).fit_transform(X, np.ones(60)),
        base.embedding_,
    )
    sparse = LaplacianEigenmaps(random_state=0).fit(csr_array(X))
    assert_allclose(sparse.embedding_, base.embedding_, atol=1e-8)
    order = rng.permutation(60)
    permuted = LaplacianEigenmaps(random_state=0).fit(X[order])
    assert_allclose(permuted.embedding_, base.embedding_[order], atol=1e-8)


def test_samples_that_are_all_alike():
    model = LaplacianEigenmaps(n_neighbors=20, random_state=0).fit(np.ones((12, 3)))
    assert np.isfinite(model.embedding_).all()
    assert_allclose(model.transform(np.ones((2, 3))), 0, atol=0.3)
