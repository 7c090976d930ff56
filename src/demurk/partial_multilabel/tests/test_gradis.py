"""GRADIS against literal loops over samples, views and clusters."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from demurk.labels import add_extra_labels
from demurk.metrics import average_precision
from demurk.partial_multilabel import GRADIS
from demurk.partial_multilabel._gradis_parts import clusters, view_slices


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 5)) * [1, 10, 1, 0.1, 3]
    Y = ((X / X.std(axis=0)) @ rng.normal(size=(5, 4)) > 0.4).astype(np.int8)
    Y = add_extra_labels(Y, 1, random_state=0).labels
    Y[0], Y[1] = 0, 1
    return X, Y


def literal_graph(X, sizes, k, balanced):
    """Sum over the views of exp(-d) for the k nearest, rows scaled to sum one."""
    Z = X / X.std(axis=0)
    n, W, start = len(X), np.zeros((len(X), len(X))), 0
    for size in sizes:
        view = Z[:, start : start + size]
        start += size
        for i in range(n):
            order = sorted((np.linalg.norm(view[i] - view[j]), j) for j in range(n))
            near = [pair for pair in order if pair[1] != i][:k]
            total = sum(np.exp(-d) for d, _ in near) if balanced else 1
            for d, j in near:
                W[i, j] += np.exp(-d) / total
    return W / W.sum(axis=1, keepdims=True)


def literal_confidences(W, Y, alpha):
    with np.errstate(invalid="ignore"):
        start = np.nan_to_num(Y / Y.sum(axis=1, keepdims=True))
        P = start
        for _ in range(30):
            old = P
            P = (alpha * W @ P + (1 - alpha) * start) * Y
            P = np.nan_to_num(P / P.sum(axis=1, keepdims=True))
            if np.linalg.norm(P - old) < 1e-4:
                break
    P = P * start.sum(axis=0) / P.sum(axis=0)
    out = np.zeros_like(P)
    for i, row in enumerate(P):
        if row.max() > row.min():
            out[i] = (row - row.min()) / (row.max() - row.min())
    return out


@pytest.mark.parametrize("balance", ["rows", None])
def test_confidences_are_the_literal_ones(data, balance):
    X, Y = data
    model = GRADIS([2, 3], balance=balance, n_neighbors=4, random_state=0).fit(X, Y)
    W = literal_graph(X, [2, 3], 4, balance == "rows")
    expected = literal_confidences(W, Y.astype(float), 0.95)
    assert_allclose(model.label_distributions_, expected, atol=1e-6)
    best = expected == expected.max(axis=1, keepdims=True)
    credible = (Y > 0) & ((expected >= 0.1) | best)
    assert_array_equal(model.credible_, credible)


def test_labels_are_learned_from_distances_to_centers(data):
    X, Y = data
    model = GRADIS([2, 3], random_state=0).fit(X, Y)
    Z = X / X.std(axis=0)
    for label in range(4):
        centers = model.prototypes_[label]
        has = model.credible_[:, label]
        n_clusters = int(np.ceil(0.1 * min(has.sum(), (~has).sum())))
        assert len(centers) <= 2 * n_clusters
        # The centres of each group, weighted by size, make its mean: it lies within.
        low, high = centers.min(axis=0) - 1e-9, centers.max(axis=0) + 1e-9
        assert np.all(low <= Z.mean(axis=0)) and np.all(Z.mean(axis=0) <= high)
        features = np.array(
            [
                [np.linalg.norm(z[:2] - c[:2]) for c in centers]
                + [np.linalg.norm(z[2:] - c[2:]) for c in centers]
                for z in Z
            ]
        )
        features = (features - features.mean(axis=0)) / features.std(axis=0)
        expected = LogisticRegression(tol=1e-8, max_iter=1000).fit(features, has)
        found = model.decision_function(X)[:, label] + 0.5
        assert_allclose(found, expected.predict_proba(features)[:, 1], atol=1e-4)


def test_clusters_are_those_of_the_graph(rng):
    groups = np.repeat([0, 1, 2], 20)
    near = groups[:, None] == groups
    W = near * rng.uniform(0.5, 1, size=(60, 60)) + 1e-4
    rows = rng.permutation(60)
    W, groups = W[rows][:, rows], groups[rows]
    W /= W.sum(axis=1, keepdims=True)
    found = clusters(csr_array(W), 3, 0)
    for cluster in range(3):
        assert len(set(groups[found == cluster])) == 1


def test_views_are_cut_in_order():
    assert view_slices(2, 5) == [slice(0, 3), slice(3, 5)]
    assert view_slices([1, 4], 5) == [slice(0, 1), slice(1, 5)]
    assert view_slices(9, 2) == [slice(0, 1), slice(1, 2)]
    for wrong in ([2, 2], [5, 0], []):
        with pytest.raises(ValueError, match="X has 5 features: give positive sizes"):
            view_slices(wrong, 5)


def test_a_view_of_noise_drowns_the_other_only_if_joined(rng):
    """What the views are for: neighbours in a small view are not outvoted."""
    centers = 3 * rng.normal(size=(6, 4))
    groups = rng.randint(6, size=300)
    signal = centers[groups] + rng.normal(size=(300, 4))
    X = np.hstack([signal, rng.normal(size=(300, 60))])
    Y = np.array([np.roll([1, 1, 0, 0, 0, 0], g) for g in groups])
    given = add_extra_labels(Y, 1, random_state=0).labels

    def precision(views):
        model = GRADIS(views, random_state=0).fit(X[:200], given[:200])
        return average_precision(Y[200:], model.decision_function(X[200:]))

    assert precision([4, 60]) > precision(1) + 0.05


def test_sparse_is_dense(data):
    X, Y = data
    X = np.where(X > 0, X, 0)
    dense = GRADIS(random_state=0).fit(X, Y)
    sparse = GRADIS(random_state=0).fit(csr_array(X), csr_array(Y))
    assert_allclose(sparse.label_distributions_, dense.label_distributions_, atol=1e-6)
    assert_allclose(sparse.predict_proba(X), dense.predict_proba(X), atol=1e-4)
