"""The graph of label sets against Jaccard similarities of all pairs of samples."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import issparse

from demurk.labels import check_labels
from demurk.manifold import _label_graph
from demurk.manifold._label_graph import distinct_sets, jaccard, label_graph


def literal_jaccard(Y, empty=0.0):
    """|and| / |or| for every pair of samples; the diagonal is no edge."""
    n = len(Y)
    W = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            union = np.count_nonzero(Y[i] | Y[j])
            if i != j:
                W[i, j] = np.count_nonzero(Y[i] & Y[j]) / union if union else empty
    return W


def dense(graph):
    U = graph.membership().toarray()
    return U @ (graph.similarity @ U.T) - np.diag(graph.loops())


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 9999), st.integers(2, 15), st.integers(1, 5), st.booleans())
def test_equals_all_pairs(seed, n, q, empty_is_a_class):
    rng = np.random.RandomState(seed)
    Y = rng.uniform(size=(n, q)) < 0.4
    empty = "identical" if empty_is_a_class else "unlabeled"
    y = Y.astype(int) if q > 1 else Y.ravel()
    graph = label_graph(check_labels(y), empty=empty)
    if q == 1:  # one class per sample: False and True are both classes
        Y = np.column_stack([~Y, Y])
    W = literal_jaccard(Y, float(empty_is_a_class))
    assert_allclose(dense(graph), W, atol=1e-12)
    assert_allclose(graph.degrees(), W.sum(axis=1), atol=1e-12)


def test_rows_that_were_not_observed_have_no_edges():
    Y = np.array([[1, 0], [-1, -1], [1, -1], [0, 0], [0, 0]])
    for empty in ("unlabeled", "identical"):
        W = dense(label_graph(check_labels(Y), empty=empty))
        assert_array_equal(W[1], 0)
        assert W[0, 2] == 1  # of the third row one label is known
        assert W[3, 4] == (empty == "identical")


def test_classes_give_the_identity():
    graph = label_graph(check_labels(["b", "a", "b", None]))
    assert_array_equal(graph.labeled, [True, True, True, False])
    assert_array_equal(graph.sets[graph.group[:3]], [[0, 1], [1, 0], [0, 1]])
    assert_array_equal(graph.similarity, np.eye(2))


@pytest.mark.parametrize("q", [3, 64, 65, 200])
def test_distinct_sets(rng, q):
    patterns = rng.uniform(size=(7, q)) < 0.5
    values = patterns[rng.randint(7, size=100)]
    known = rng.uniform(size=100) < 0.8
    sets, group = distinct_sets(values, known)
    assert len(sets) == len(np.unique(values[known], axis=0))
    assert_array_equal(sets[group[known]], values[known])
    assert_array_equal(group[~known], -1)


def test_no_known_row():
    sets, group = distinct_sets(np.zeros((4, 3), dtype=bool), np.zeros(4, dtype=bool))
    assert sets.shape == (0, 3)
    assert_array_equal(group, -1)
    assert jaccard(sets).shape == (0, 0)
    graph = label_graph(check_labels(np.zeros((4, 3), dtype=int)), imbalance=1.0)
    assert_array_equal(graph.degrees(), 0)


def test_sparse_where_few_sets_share_a_label():
    singles = np.eye(50, dtype=bool)
    assert issparse(jaccard(singles))
    assert_array_equal(jaccard(singles).toarray(), np.eye(50))
    assert not issparse(jaccard(np.tri(6, dtype=bool)))


def test_similarities_are_positive_semidefinite(rng):
    sets = np.unique(rng.uniform(size=(80, 8)) < 0.3, axis=0)
    similarity = jaccard(sets)
    assert np.linalg.eigvalsh(similarity).min() > -1e-12


def test_too_many_pairs_lose_the_weak_ones(rng, monkeypatch):
    sets = np.unique(rng.uniform(size=(60, 30)) < 0.4, axis=0)
    full = jaccard(sets)
    monkeypatch.setattr(_label_graph, "MAX_PAIRS", 100)
    with pytest.warns(UserWarning, match="similarities below 0.1 are left out"):
        cut = jaccard(sets)
    assert issparse(cut)
    assert_allclose(cut.toarray(), np.where(full < 0.1, 0, full))


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_imbalance_equals_dense_formula(rng, exponent):
    Y = (rng.uniform(size=(60, 4)) < [0.7, 0.3, 0.1, 0.05]).astype(int)
    W = literal_jaccard(Y > 0)
    degree = W.sum(axis=1)
    scale = np.where(degree > 0, np.maximum(degree, 1e-300) ** (-exponent / 2), 0)
    expected = scale[:, None] * W * scale
    expected *= degree.sum() / expected.sum()
    graph = label_graph(check_labels(Y), imbalance=exponent)
    assert_allclose(dense(graph), expected, atol=1e-10)


def test_full_imbalance_gives_classes_the_same_mass():
    y = np.repeat([0, 1, 2], [50, 10, 5])
    graph = label_graph(check_labels(y), imbalance=1.0)
    degree = graph.degrees()
    # Within a class, all samples are alike; per sample the degree is the same.
    assert_allclose(degree, degree[0])
    assert_allclose(degree.mean(), label_graph(check_labels(y)).degrees().mean())
