"""NMLSDR against the paper's algorithm written densely."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import subspace_angles
from scipy.sparse import csr_array
from sklearn.preprocessing import StandardScaler

from demurk.datasets import make_multilabel_blocks
from demurk.labels import check_labels, flip_labels, hide_rows
from demurk.linalg import dependence_projection, moments_of_chunks
from demurk.projection import MDDM, NMLSDR


def dense_nmlsdr(X, Y, k, alpha_labeled, d):
    n = len(X)
    distances = ((X[:, None, :] - X[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    W = np.zeros((n, n))
    for i in range(n):
        W[i, np.argsort(distances[i], kind="stable")[:k]] = 1
    W = np.maximum(W, W.T)
    D = np.diag(W.sum(axis=1) ** -0.5)
    T = D @ W @ D
    T = T / T.sum(axis=1, keepdims=True)
    labeled = Y[:, 0] != -1
    alpha = np.diag(np.where(labeled, alpha_labeled, 0.999))
    start = np.where(Y == -1, 0, Y)
    F = np.linalg.solve(np.eye(n) - alpha @ T, (np.eye(n) - alpha) @ start)
    targets = np.where(labeled[:, None], F > 0.5, F).astype(float)
    H = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(X.T @ H @ targets @ targets.T @ H @ X)
    return F, targets, values[::-1][:d], vectors[:, ::-1][:, :d]


@pytest.fixture(params=[(150, 8), (40, 60)], ids=["n>D", "D>n"])
def murky(request, rng):
    n, D = request.param
    X = rng.normal(size=(n, D))
    truth = (X[:, :3] + 0.5 * rng.normal(size=(n, 3)) > 0).astype(int)
    noisy = flip_labels(truth, 0.1, random_state=0).labels
    return X, hide_rows(noisy, 0.5, random_state=0).labels


@pytest.mark.parametrize("alpha", [0.0, 0.6])
@pytest.mark.parametrize("make", [np.asarray, csr_array], ids=["dense", "sparse"])
def test_equals_dense_algorithm(murky, alpha, make):
    X, Y = murky
    F, _, values, vectors = dense_nmlsdr(X, Y, 6, alpha, 2)
    model = NMLSDR(2, n_neighbors=6, alpha_labeled=alpha).fit(make(X), Y)
    assert_allclose(model.label_distributions_, F, atol=1e-8)
    assert_allclose(model.eigenvalues_, values, rtol=1e-7)
    assert subspace_angles(model.components_.T, vectors).max() < 1e-6
    assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-10)


def test_chunks_give_the_same_directions(murky):
    X, Y = murky
    _, targets, _, vectors = dense_nmlsdr(X, Y, 6, 0.6, 2)
    chunks = ((X[i : i + 7], targets[i : i + 7]) for i in range(0, len(X), 7))
    projection = dependence_projection(moments_of_chunks(chunks).cross, n_components=2)
    assert subspace_angles(projection.components.T, vectors).max() < 1e-6


def test_invariances(murky, rng):
    X, Y = murky
    base = NMLSDR(2).fit(X, Y)
    order = rng.permutation(len(X))
    permuted = NMLSDR(2).fit(X[order], Y[order])
    assert_allclose(permuted.components_, base.components_, atol=1e-7)
    assert_array_equal(permuted.transduction_, base.transduction_[order])
    swapped = NMLSDR(2).fit(X, Y[:, ::-1])
    assert_allclose(swapped.components_, base.components_, atol=1e-7)
    small = NMLSDR(2).fit(X.astype(np.float32), Y)
    assert small.transform(X.astype(np.float32)).dtype == np.float32
    angle = subspace_angles(small.components_.T.astype(float), base.components_.T)
    assert angle.max() < 1e-3


def test_clean_complete_labels_give_mddm(murky):
    X, _ = murky
    Y = (X[:, :3] > 0).astype(int)
    assert_allclose(
        NMLSDR(alpha_labeled=0).fit(X, Y).components_,
        MDDM().fit(X, Y).components_,
        atol=1e-8,
    )


@pytest.mark.parametrize("n_labeled", [1, 2])
def test_hardly_any_labels(rng, n_labeled):
    X = rng.normal(size=(40, 5))
    Y = np.full((40, 2), -1)
    Y[:n_labeled] = [1, 0]
    model = NMLSDR(1).fit(X, Y)
    assert np.isfinite(model.transform(X)).all()


def test_recovers_the_blocks_of_the_toy_set():
    toy = make_multilabel_blocks(2000, random_state=0)
    noisy = flip_labels(toy.target, 0.1, random_state=0).labels
    murky = hide_rows(noisy, 0.5, random_state=0).labels
    X = StandardScaler().fit_transform(toy.data)
    share = {}
    for reducer in (MDDM(3), NMLSDR(3)):
        weight = (reducer.fit(X, murky).components_ ** 2).sum(axis=0)
        share[type(reducer).__name__] = weight[:80].sum() / weight.sum()
    # The first 80 of 320 features carry the classes: chance would be 25 %.
    assert share["NMLSDR"] > 0.75
    assert share["NMLSDR"] > share["MDDM"]


def test_a_soft_label_of_one_half_is_no_label(rng):
    X = rng.normal(size=(4, 2))
    given = np.array([[1, 0], [0, 1], [-1, -1], [1, -1]])
    model = NMLSDR()
    model.label_distributions_ = np.array(
        [[0.5, 0.5 + 1e-9], [0.5 - 1e-9, 1.0], [0.5, 0.25], [0.75, 0.5]]
    )
    targets = model._problem(X, check_labels(given)).targets
    assert_array_equal(targets, [[0, 1], [0, 1], [0.5, 0.25], [1, 0.5]])
