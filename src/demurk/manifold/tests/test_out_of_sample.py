"""Places of new samples against formulas and scikit-learn's regressions."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge

from demurk.graph import NeighborGraph, affinity, nearest_neighbors
from demurk.linalg import _kernel
from demurk.linalg._kernel import (
    gaussian,
    gaussian_product,
    gaussian_root,
    mean_distance,
    mean_squared_distance,
)
from demurk.manifold import _out_of_sample
from demurk.manifold._ccdr import neighbor_squares
from demurk.manifold._out_of_sample import (
    fit_kernel_map,
    fit_linear_map,
    known_places,
    neighbor_average,
)
from demurk.manifold._spectral import embed_graph


@pytest.fixture
def data(rng):
    X = rng.normal(size=(50, 4))
    Z = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2]])
    return X, Z, rng.uniform(0.5, 2, size=50), rng.normal(size=(9, 4))


def test_harmonic_place_has_the_least_cost(data):
    X, Z, _, new = data
    graph = nearest_neighbors(X, 4, queries=new)
    places = neighbor_average(graph, Z)
    for i, place in enumerate(places):
        near = Z[graph.distances.indices.reshape(9, 4)[i]]
        cost = ((near - place) ** 2).sum()
        for step in 0.01 * np.eye(2):
            assert cost < ((near - place - step) ** 2).sum()
            assert cost < ((near - place + step) ** 2).sum()


def test_nystroem_gives_training_samples_their_place(rng):
    """The mean over the edges of a sample is 1 - eigenvalue times its place."""
    W = affinity(nearest_neighbors(rng.normal(size=(40, 3)), 6))
    found = embed_graph(W, 3)
    # The weights, all 1, serve as distances that are not 0.
    places = neighbor_average(NeighborGraph(W), found.coordinates, found.eigenvalues)
    assert_allclose(places, found.coordinates, atol=1e-7)


def test_hopeless_coordinates_are_not_blown_up():
    graph = NeighborGraph(csr_array([[1.0, 1.0]]))
    Z = np.array([[1.0, 1.0], [3.0, 3.0]])
    assert_allclose(neighbor_average(graph, Z, np.array([0.5, 1.0])), [[4.0, 2000.0]])


def test_nobody_near_means_the_origin():
    graph = NeighborGraph(csr_array((2, 3)))
    assert_array_equal(neighbor_average(graph, np.ones((3, 2))), 0)


def test_known_samples(rng):
    X = np.array([[0.0], [1.0], [1.0], [4.0]])
    values = np.array([[1.0], [2.0], [4.0], [8.0]])
    graph = nearest_neighbors(X, 3, queries=np.array([[1.0], [2.0], [4.0]]))
    known, at = known_places(graph, values)
    assert_array_equal(known, [0, 2])
    assert_allclose(at, [[3.0], [8.0]])  # two samples lie at 1


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_linear_map_is_weighted_ridge(data, make):
    X, Z, weight, _ = data
    coef, intercept = fit_linear_map(make(X), Z, weight)
    ridge = 1e-3 * 50 * X.var(axis=0, ddof=1).mean()
    model = Ridge(alpha=ridge).fit(X, Z, sample_weight=weight / weight.mean())
    assert_allclose(coef, model.coef_, rtol=1e-3, atol=1e-4)  # sparse ridge iterates
    assert_allclose(intercept, model.intercept_, rtol=1e-3, atol=1e-4)


def test_linear_map_recovers_a_linear_map(data, rng):
    X, _, weight, _ = data
    truth = rng.normal(size=(4, 2))
    coef, intercept = fit_linear_map(X, X @ truth + 3.0, weight)
    assert_allclose(coef, truth.T, rtol=0.01, atol=0.01)
    assert_allclose(intercept, 3.0, atol=0.01)


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_kernel_map_is_weighted_kernel_ridge(data, make):
    X, Z, weight, new = data
    landmarks, coef = fit_kernel_map(make(X), Z, weight, 0.3)
    model = KernelRidge(alpha=1e-2, kernel="rbf", gamma=0.3)
    model.fit(X, Z, sample_weight=weight / weight.mean())
    assert_array_equal(landmarks, np.arange(50))
    places = gaussian_product(make(new), make(X), 0.3, coef)
    # The jitter that makes the factor possible is 1e-8.
    assert_allclose(places, model.predict(new), atol=1e-5)


def test_landmarks_come_close_and_chunks_do_not_matter(rng, monkeypatch):
    X = rng.uniform(-2, 2, size=(400, 2))
    Z = np.sin(X)
    _, full = fit_kernel_map(X, Z, np.ones(400), 0.5)
    monkeypatch.setattr(_out_of_sample, "MAX_LANDMARKS", 60)
    landmarks, coef = fit_kernel_map(X, Z, np.ones(400), 0.5, random_state=0)
    assert len(landmarks) == len(set(landmarks)) == 60
    places = gaussian_product(X, X[landmarks], 0.5, coef)
    assert_allclose(places, gaussian_product(X, X, 0.5, full), atol=0.02)
    monkeypatch.setattr(_kernel, "CHUNK_NUMBERS", 60 * 7)
    again = fit_kernel_map(X, Z, np.ones(400), 0.5, random_state=0)
    assert_allclose(gaussian_product(X, X[again[0]], 0.5, again[1]), places, atol=1e-6)


def test_kernel_in_single_precision_has_a_factor(rng):
    X = rng.normal(size=(300, 1)).astype(np.float32)
    R = gaussian_root(X, 1e-3)
    assert_allclose(R.T @ R, gaussian(X, X, 1e-3), atol=1e-7)


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("n", [30, 900])
def test_typical_distances(rng, make, n):
    X = rng.normal(size=(n, 3)) + 100 * (make is np.asarray)
    pairs = X[:, None] - X[None]
    lengths = np.linalg.norm(pairs, axis=2)
    expected = (lengths**2).sum() / (n * (n - 1))
    assert_allclose(mean_squared_distance(make(X)), expected)
    mean = mean_distance(make(X), np.random.RandomState(0))
    # Beyond 400 rows a sample of 100,000 pairs, with an error of 0.3 %.
    assert_allclose(mean, lengths.sum() / (n * (n - 1)), rtol=1e-9 if n < 400 else 0.01)


def test_neighbour_squares():
    graph = NeighborGraph(csr_array([[0, 2.0, 3.0], [0, 0, 0], [1.0, 0, 0]]))
    assert_allclose(neighbor_squares(graph), [4.0, 1.0])
    assert_allclose(neighbor_squares(graph, 1), [9.0, 1.0])
