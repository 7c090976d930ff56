"""NoisyLabelPropagation against the formulas of the paper, written densely."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from demurk.datasets import make_multilabel_blocks
from demurk.labels import flip_labels, hide_entries, hide_rows
from demurk.propagation import NoisyLabelPropagation


def dense_propagation(X, Y, k, alpha_labeled, alpha_unlabeled):
    """The paper's fixed point by a dense solve, one label at a time."""
    n = len(X)
    distances = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    W = np.zeros((n, n))
    for i in range(n):
        W[i, np.argsort(distances[i], kind="stable")[:k]] = 1
    W = np.maximum(W, W.T)
    d = W.sum(axis=1)
    S = W / np.sqrt(d[:, None] * d[None, :])
    T = S / S.sum(axis=1, keepdims=True)
    F = np.empty(Y.shape)
    for c in range(Y.shape[1]):
        seen = Y[:, c] != -1
        alpha = np.where(seen, alpha_labeled, alpha_unlabeled)
        start = np.where(seen, Y[:, c], 0)
        F[:, c] = np.linalg.solve(np.eye(n) - alpha[:, None] * T, (1 - alpha) * start)
    return F


@pytest.fixture
def murky(rng):
    X = rng.normal(size=(120, 5))
    truth = (X[:, :3] + 0.3 * rng.normal(size=(120, 3)) > 0).astype(int)
    noisy = flip_labels(truth, 0.1, random_state=0).labels
    return X, hide_rows(noisy, 0.6, random_state=1).labels


@pytest.mark.parametrize("alpha", [0.0, 0.6])
def test_equals_dense_reference(murky, alpha):
    X, Y = murky
    model = NoisyLabelPropagation(8, alpha_labeled=alpha).fit(X, Y)
    F = dense_propagation(X, Y, 8, alpha, 0.999)
    assert_allclose(model.label_distributions_, F, atol=1e-8)
    assert_array_equal(model.transduction_, (F > 0.5).astype(int))


def test_missing_entries_have_their_own_alpha(murky):
    X, Y = murky
    Y = hide_entries(np.abs(Y), 0.5, random_state=2).labels
    model = NoisyLabelPropagation(8).fit(X, Y)
    F = dense_propagation(X, Y, 8, 0.6, 0.999)
    assert_allclose(model.label_distributions_, F, atol=1e-8)


def test_invariances(murky, rng):
    X, Y = murky
    F = NoisyLabelPropagation(8).fit(X, Y).label_distributions_
    order = rng.permutation(len(X))
    permuted = NoisyLabelPropagation(8).fit(X[order], Y[order])
    assert_allclose(permuted.label_distributions_, F[order], atol=1e-8)
    swapped = NoisyLabelPropagation(8).fit(X, Y[:, ::-1])
    assert_allclose(swapped.label_distributions_, F[:, ::-1], atol=1e-8)
    sparse = NoisyLabelPropagation(8).fit(csr_array(X), Y)
    assert_allclose(sparse.label_distributions_, F, atol=1e-8)
    single = NoisyLabelPropagation(8).fit(X.astype(np.float32), Y)
    assert_allclose(single.label_distributions_, F, atol=1e-3)
    constant = np.hstack([X, np.full((len(X), 1), 7.0)])
    same = NoisyLabelPropagation(8).fit(constant, Y)
    assert_allclose(same.label_distributions_, F, atol=1e-8)


def test_clamped_labels_stay(murky):
    X, Y = murky
    model = NoisyLabelPropagation(8, alpha_labeled=0).fit(X, Y)
    seen = Y[:, 0] != -1
    assert_array_equal(model.transduction_[seen], Y[seen])


def test_unlabelled_component_is_reported(rng):
    X = np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 100])
    Y = np.full((40, 2), -1)
    Y[:5] = [1, 0]
    with pytest.warns(UserWarning, match="20 of 40 samples cannot be reached"):
        model = NoisyLabelPropagation(5).fit(X, Y)
    assert (model.transduction_[20:] == -1).all()
    assert (model.label_distributions_[20:] == 0).all()
    assert (model.transduction_[:20] >= 0).all()


def test_unlabelled_component_with_string_classes(rng):
    X = np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 100])
    y = np.array(["a"] * 3 + ["b"] * 3 + [None] * 34, dtype=object)
    with pytest.warns(UserWarning, match="cannot be reached"):
        model = NoisyLabelPropagation(5).fit(X, y)
    assert all(value is None for value in model.transduction_[20:])
    assert set(model.transduction_[:20]) <= {"a", "b"}


def test_one_labelled_row_labels_all(rng):
    X = rng.normal(size=(30, 2))
    Y = np.full((30, 3), -1)
    Y[0] = [1, 0, 1]
    model = NoisyLabelPropagation(10, alpha_labeled=0, alpha_unlabeled=1 - 1e-9)
    F = model.fit(X, Y).label_distributions_
    assert_allclose(F, np.tile([1, 0, 1], (30, 1)), atol=1e-5)


def test_duplicates_agree(rng):
    X = np.repeat(rng.normal(size=(20, 3)), 2, axis=0)
    y = np.where(np.arange(40) % 2 == 0, (X[:, 0] > 0).astype(int), -1)
    model = NoisyLabelPropagation(1, alpha_labeled=0).fit(X, y)
    assert_array_equal(model.transduction_, (X[:, 0] > 0).astype(int))


def test_new_samples_average_their_neighbours(murky):
    X, Y = murky
    model = NoisyLabelPropagation(4).fit(X, Y)
    query = X[:3] + 1e-3
    nearest = np.argsort(((query[:, None] - X[None]) ** 2).sum(axis=2), axis=1)[:, :4]
    expected = model.label_distributions_[nearest].mean(axis=1)
    assert_allclose(model.predict_proba(query), expected)
    assert_array_equal(model.predict(query), (expected > 0.5).astype(int))


def test_precomputed_graph_gives_the_same(murky):
    from sklearn.neighbors import NearestNeighbors, kneighbors_graph

    X, Y = murky
    graph = kneighbors_graph(X, 8, mode="distance")
    direct = NoisyLabelPropagation(8).fit(X, Y)
    given = NoisyLabelPropagation(8, neighbors="precomputed").fit(graph, Y)
    assert_allclose(given.label_distributions_, direct.label_distributions_, atol=1e-9)
    search = NearestNeighbors(algorithm="kd_tree")
    other = NoisyLabelPropagation(8, neighbors=search).fit(X, Y)
    assert_allclose(other.label_distributions_, direct.label_distributions_, atol=1e-9)


def test_completes_and_corrects_the_toy_set():
    # In a good space (here: the true block sums) propagation removes noise.
    toy = make_multilabel_blocks(1500, random_state=0)
    X = toy.data[:, :80].reshape(1500, 4, 20).sum(axis=2)
    flips = flip_labels(toy.target, 0.1, random_state=0)
    murky = hide_rows(flips.labels, 0.5, random_state=0).labels
    model = NoisyLabelPropagation().fit(X, murky)
    seen = murky[:, 0] != -1
    before = (murky[seen] != toy.target[seen]).mean()
    after = (model.transduction_[seen] != toy.target[seen]).mean()
    assert after < 0.8 * before


def test_two_neighbours_that_disagree_decide_nothing():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    Y = np.array([[1, 0], [0, 1], [1, 1], [1, 1]])
    model = NoisyLabelPropagation(2, alpha_labeled=0.0).fit(X, Y)
    between = [[0.5]]
    assert_array_equal(model.predict_proba(between), [[0.5, 0.5]])
    assert_array_equal(model.predict(between), [[0, 0]])
    tied = model._transduce(np.array([[0.5, 0.5 + 1e-9]]), np.array([True]))
    assert_array_equal(tied, [[0, 1]])
