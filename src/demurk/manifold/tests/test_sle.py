"""S-LE against the dense pencil of its definition."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import eigh
from sklearn.metrics.pairwise import euclidean_distances

from demurk.manifold import SLE, _sle


def dense_graphs(X, group, squared_width):
    """W within and W between classes, pair by pair."""
    similarity = np.exp(-euclidean_distances(X, squared=True) / squared_width)
    mean = similarity.mean(axis=1)
    above = similarity > mean[:, None]
    near = above | above.T
    same = group[:, None] == group
    return similarity * (near & same), (near & ~same).astype(float)


def laplacian(W):
    return np.diag(W.sum(axis=1)) - W


@pytest.fixture
def data(rng):
    y = rng.randint(3, size=70)
    return rng.normal(size=(70, 4)) + rng.normal(size=(3, 4))[y], y


@pytest.mark.parametrize("beta", [0.1, 0.5, 0.9])
def test_equals_dense_pencil(data, beta):
    X, y = data
    squared = euclidean_distances(X, squared=True).sum() / (70 * 69)
    within, between = dense_graphs(X, y, squared)
    D = np.diag(within.sum(axis=1))
    gain = beta * laplacian(between) - (1 - beta) * laplacian(within)
    # The objective under Z'DZ = I, shifted by the constant (1 - beta).
    values, vectors = eigh(gain + (1 - beta) * D, D)
    constant = np.abs(vectors.T @ D @ np.ones(70)) > 1e-6
    values, vectors = values[~constant][::-1][:3], vectors[:, ~constant][:, ::-1][:, :3]
    model = SLE(3, between_weight=beta, random_state=0).fit(X, y)
    assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    signs = np.sign(np.einsum("ij,ij->j", vectors, model.embedding_))
    assert_allclose(model.embedding_, vectors * signs, atol=1e-6)
    Z = model.embedding_
    assert_allclose(Z.T @ D @ Z, np.eye(3), atol=1e-8)


def test_chunks_do_not_matter(data, monkeypatch):
    X, y = data
    base = SLE(random_state=0).fit_transform(X, y)
    monkeypatch.setattr(_sle, "CHUNK_NUMBERS", 70 * 9)
    assert_allclose(SLE(random_state=0).fit_transform(X, y), base, atol=1e-8)


def test_orders_width_and_unlabelled_rows(data, rng):
    X, y = data
    base = SLE(bandwidth=2.0, random_state=0).fit(X, y)
    order = rng.permutation(70)
    permuted = SLE(bandwidth=2.0, random_state=0).fit(
        X[order], np.array([2, 0, 1])[y[order]]
    )
    assert_allclose(permuted.embedding_, base.embedding_[order], atol=1e-7)
    extra = np.vstack([X, X[:6] + 0.1])
    model = SLE(bandwidth=2.0, random_state=0).fit(extra, np.r_[y, np.full(6, -1)])
    assert_allclose(model.embedding_[:70], base.embedding_)
    assert_allclose(model.embedding_[70:], base.transform(extra[70:]))


def test_samples_that_are_all_alike():
    model = SLE(random_state=0).fit(np.ones((10, 2)), np.arange(10) % 2)
    assert np.isfinite(model.embedding_).all()


def test_too_many_coordinates(data):
    X, _ = data
    with pytest.raises(ValueError, match="5 samples have only 4 coordinates"):
        SLE(5, random_state=0).fit(X[:5], np.arange(5) % 2)
