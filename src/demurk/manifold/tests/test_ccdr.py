"""CCDR against its augmented problem and its cost function."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from sklearn.metrics.pairwise import euclidean_distances

from demurk.manifold import CCDR, LaplacianEigenmaps


def dense_graph(X, C, k, share):
    """Samples and class centres in one graph; C has a row for each sample."""
    distances = euclidean_distances(X, squared=True)
    np.fill_diagonal(distances, np.inf)
    directed = np.zeros(distances.shape)
    nearest = np.argsort(distances, axis=1)[:, :k]
    directed[np.arange(len(X))[:, None], nearest] = 1
    squared_width = 10 * distances.min(axis=1).mean()
    np.fill_diagonal(distances, 0)
    W = np.maximum(directed, directed.T) * np.exp(-distances / squared_width)
    n_classes = C.shape[1]
    G = np.block(
        [
            [2 * share * W, (1 - share) * C],
            [(1 - share) * C.T, np.zeros((n_classes, n_classes))],
        ]
    )
    return W, G


@pytest.fixture
def data(rng):
    X = rng.normal(size=(90, 4))
    Y = (X[:, :3] + 0.5 * rng.normal(size=(90, 3)) > 0.3).astype(int)
    return X, Y


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("membership", ["binary", "sample", "class"])
def test_equals_augmented_problem(data, share, membership):
    X, Y = data
    C = Y.astype(float)
    if membership == "sample":
        C /= np.maximum(C.sum(axis=1, keepdims=True), 1)
    if membership == "class":
        C *= C.sum(axis=0).mean() / C.sum(axis=0)
    _, G = dense_graph(X, C, 7, share)
    D = np.diag(G.sum(axis=1))
    values, vectors = eigh(D - G, D, subset_by_index=[1, 3])
    model = CCDR(
        3, feature_weight=share, n_neighbors=7, membership=membership, random_state=0
    )
    model.fit(X, Y)
    assert_allclose(model.eigenvalues_, values, atol=1e-10)
    found = np.vstack([model.embedding_, model.class_centers_])
    signs = np.sign(np.einsum("ij,ij->j", vectors, found))
    assert_allclose(found, vectors * signs, atol=1e-7)


def test_cost_is_that_of_the_paper(data, rng):
    """The two sums of the paper equal the quadratic form of the augmented graph."""
    X, Y = data
    W, G = dense_graph(X, Y.astype(float), 7, 0.3)
    Z, centers = rng.normal(size=(90, 2)), rng.normal(size=(3, 2))
    pairs = ((Z[:, None] - Z[None]) ** 2).sum(axis=2)
    to_centers = ((Z[:, None] - centers[None]) ** 2).sum(axis=2)
    cost = 0.3 * (W * pairs).sum() + 0.7 * (Y * to_centers).sum()
    everything = np.vstack([Z, centers])
    L = np.diag(G.sum(axis=1)) - G
    assert_allclose(np.trace(everything.T @ L @ everything), cost)


def test_centre_is_the_mean_of_its_class(data):
    """Where the centre has no cost of its own: at a stationary point."""
    X, Y = data
    model = CCDR(n_neighbors=7, random_state=0).fit(X, Y)
    for column, cost in enumerate(model.eigenvalues_):
        means = (Y.T @ model.embedding_[:, column]) / Y.sum(axis=0)
        expected = (1 - cost) * model.class_centers_[:, column]
        assert_allclose(means, expected, atol=1e-9)


def test_classes_without_samples_and_samples_without_classes(data):
    X, Y = data
    Y = np.column_stack([Y, np.zeros(90, dtype=int)])
    Y[::5] = -1
    model = CCDR(n_neighbors=7, random_state=0).fit(X, Y)
    assert np.isnan(model.class_centers_[3]).all()
    assert np.isfinite(model.class_centers_[:3]).all()
    assert np.isfinite(model.embedding_).all()
    bare = CCDR(n_neighbors=7, random_state=0).fit(X, Y[:, :3])
    assert_allclose(model.embedding_, bare.embedding_)


def test_features_alone_are_laplacian_eigenmaps(data):
    X, Y = data
    model = CCDR(feature_weight=1.0, n_neighbors=7, bandwidth=1.3, random_state=0).fit(
        X, Y
    )
    bare = LaplacianEigenmaps(n_neighbors=7, bandwidth=1.3, random_state=0).fit(X)
    assert_allclose(model.embedding_ * np.sqrt(2), bare.embedding_, atol=1e-8)
    assert np.isnan(model.class_centers_).all()


def test_order_of_samples_and_classes_does_not_matter(data, rng):
    X, Y = data
    base = CCDR(n_neighbors=7, random_state=0).fit(X, Y)
    order = rng.permutation(90)
    permuted = CCDR(n_neighbors=7, random_state=0).fit(X[order], Y[order][:, [1, 2, 0]])
    assert_allclose(permuted.embedding_, base.embedding_[order], atol=1e-8)
    assert_allclose(permuted.class_centers_, base.class_centers_[[1, 2, 0]], atol=1e-8)
