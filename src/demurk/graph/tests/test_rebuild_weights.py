"""The weights of SSDR-MC against one sample at a time."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from demurk.graph import _reconstruction, nearest_neighbors
from demurk.graph._reconstruction import (
    difference_products,
    rebuild_weights,
    rebuilding_errors,
    weight_graph,
)


def literal_grams(X, indices, queries):
    out = np.empty((len(indices), indices.shape[1], indices.shape[1]))
    for i, near in enumerate(indices):
        difference = X[near] - queries[i]
        out[i] = difference @ difference.T
    return out


@pytest.fixture
def data(rng):
    X = rng.normal(size=(250, 7))
    indices = nearest_neighbors(X, 5).distances.indices.reshape(250, 5)
    return X, indices


@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("with_queries", [False, True])
def test_grams(data, rng, make, with_queries, monkeypatch):
    X, indices = data
    queries = rng.normal(size=X.shape) if with_queries else X
    monkeypatch.setattr(_reconstruction, "COPY_NUMBERS", 5 * 7 * 11)
    grams = difference_products(
        make(X), indices, make(queries) if with_queries else None
    )
    assert_allclose(grams, literal_grams(X, indices, queries), atol=1e-12)


def test_signed_weights_are_equation_4(data):
    X, indices = data
    grams = difference_products(X, indices)
    weights = rebuild_weights(grams, "signed", "rel:1e-3")
    for G, w in zip(grams, weights):
        G = G + 1e-3 * np.trace(G) / 5 * np.eye(5)
        inverse = np.linalg.inv(G) @ np.ones(5)
        assert_allclose(w, inverse / inverse.sum(), rtol=1e-6)
    assert (weights < 0).any()
    cut = rebuild_weights(grams, "nonnegative", "rel:1e-3")
    clipped = np.maximum(weights, 0)
    assert_allclose(cut, clipped / clipped.sum(axis=1, keepdims=True))


def test_each_kind_is_best_among_its_own(data, rng):
    X, indices = data
    grams = difference_products(X, indices)
    found = {
        kind: rebuild_weights(grams, kind, "rel:1e-9")
        for kind in ("signed", "nonnegative", "simplex")
    }
    errors = {kind: rebuilding_errors(grams, w) for kind, w in found.items()}
    for w in found.values():
        assert_allclose(w.sum(axis=1), 1)
    assert found["simplex"].min() >= 0 and found["nonnegative"].min() >= 0
    slack = 1e-9 * np.trace(grams, axis1=1, axis2=2)
    assert (errors["signed"] <= errors["simplex"] + slack).all()
    assert (errors["simplex"] <= errors["nonnegative"] + slack).all()
    random = rng.dirichlet(np.ones(5), size=len(X))
    assert (errors["simplex"] <= rebuilding_errors(grams, random) + slack).all()


def test_errors_are_distances(data):
    X, indices = data
    grams = difference_products(X, indices)
    weights = rebuild_weights(grams, "signed", "rel:1e-3")
    rebuilt = weight_graph(indices, weights, len(X)) @ X
    expected = ((X - rebuilt) ** 2).sum(axis=1)
    assert_allclose(rebuilding_errors(grams, weights), expected, atol=1e-10)


@pytest.mark.parametrize("kind", ["signed", "nonnegative", "simplex"])
def test_duplicates_have_even_weights(kind):
    assert_allclose(rebuild_weights(np.zeros((2, 4, 4)), kind, "rel:1e-3"), 0.25)


def test_a_ridge_that_is_a_number_is_added_as_it_is(rng):
    B = rng.normal(size=(3, 5, 2))
    grams = B @ B.transpose(0, 2, 1)
    weights = rebuild_weights(grams, "signed", 0.5)
    for G, w in zip(grams, weights):
        expected = np.linalg.solve(G + 0.5 * np.eye(5), np.ones(5))
        assert_allclose(w, expected / expected.sum())
