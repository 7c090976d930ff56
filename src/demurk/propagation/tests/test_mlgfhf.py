"""ML-GFHF against its Sylvester equation, solved densely."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.linalg import solve_sylvester
from scipy.sparse import csr_array
from sklearn.datasets import load_digits

from demurk.graph import affinity, nearest_neighbors
from demurk.metrics import micro_f1
from demurk.propagation._mlgfhf import MLGFHF, label_laplacian, solve_harmonic


@pytest.fixture
def murky(rng):
    X = rng.normal(size=(70, 4))
    Y = (X[:, :3] + 0.4 * rng.normal(size=(70, 3)) > 0.2).astype(int)
    Y[25:] = -1
    return X, Y


def dense_parts(X, Y, k, scale):
    graph = nearest_neighbors(X, k)
    distances = graph.distances.data.reshape(len(X), k)
    W = affinity(graph, weights="heat", bandwidth=distances[:, -1].mean()).toarray()
    L = np.diag(W.sum(axis=1)) - W
    q = Y.shape[1]
    C = np.zeros((q, q))
    for a in range(q):
        for b in range(q):
            if a != b:
                norms = np.linalg.norm(Y[:, a]) * np.linalg.norm(Y[:, b])
                C[a, b] = np.exp(-(1 - Y[:, a] @ Y[:, b] / norms) / scale)
    return L, np.diag(C.sum(axis=1)) - C


@pytest.mark.parametrize("weight, scale", [(0.0, 1.0), (0.1, 1.0), (3.0, 0.4)])
def test_equals_sylvester_equation(murky, weight, scale):
    X, Y = murky
    known = Y[:, 0] >= 0
    L, H = dense_parts(X, np.maximum(Y, 0).astype(float), 6, scale)
    F = solve_sylvester(
        L[~known][:, ~known], weight * H, -L[~known][:, known] @ Y[known]
    )
    model = MLGFHF(6, label_weight=weight, label_scale=scale).fit(X, Y)
    assert_allclose(model.label_distributions_[~known], F, atol=1e-7)
    assert_array_equal(model.label_distributions_[known], Y[known])


def test_single_entries_missing(murky, rng):
    """Any entry may be free: the slope of the cost is zero there."""
    X, Y = murky
    Y = rng.randint(2, size=Y.shape).astype(float)
    given = rng.uniform(size=Y.shape) < 0.5
    W = affinity(nearest_neighbors(X, 6), weights="heat")
    H = label_laplacian(Y, 1.0)
    F, _ = solve_harmonic(W, np.where(given, Y, 0), given, H, 0.7)
    L = np.diag(W.sum(axis=1)) - W.toarray()
    assert np.abs((L @ F + 0.7 * F @ H)[~given]).max() < 1e-7
    assert_array_equal(F[given], Y[given])


def test_without_label_weight_columns_are_alone(murky):
    X, Y = murky
    base = MLGFHF(6, label_weight=0.0).fit(X, Y).label_distributions_
    for column in range(3):
        pair = Y[:, [column, column]]
        alone = MLGFHF(6, label_weight=0.0).fit(X, pair).label_distributions_
        assert_allclose(alone[:, 0], base[:, column], atol=1e-7)
    # Means of neighbours stay between 0 and 1.
    assert base.min() > -1e-8 and base.max() < 1 + 1e-8


def test_label_laplacian_of_an_unused_label():
    H = label_laplacian(np.array([[1.0, 0.0], [1.0, 0.0]]), 1.0)
    assert_allclose(H, np.exp(-1) * np.array([[1, -1], [-1, 1]]))


def test_invariances(murky, rng):
    X, Y = murky
    base = MLGFHF(6).fit(X, Y)
    order = rng.permutation(70)
    permuted = MLGFHF(6).fit(X[order], Y[order][:, [2, 0, 1]])
    expected = base.label_distributions_[order][:, [2, 0, 1]]
    assert_allclose(permuted.label_distributions_, expected, atol=1e-7)
    sparse = MLGFHF(6).fit(csr_array(X), Y)
    assert_allclose(sparse.predict_proba(X), base.predict_proba(X), atol=1e-7)


def test_prior_keeps_the_frequency_of_labels(murky):
    X, Y = murky
    model = MLGFHF(6, threshold="prior").fit(X, Y)
    share = Y[:25].mean(axis=0)
    found = model.transduction_[25:].mean(axis=0)
    assert_allclose(found, share, atol=0.5 / 45 + 1e-9)
    rare = np.column_stack([Y, np.where(Y[:, 0] < 0, -1, 0)])
    model = MLGFHF(6, threshold="prior").fit(X, rare)
    assert not model.transduction_[:, 3].any()
    complete = MLGFHF(6, threshold="prior").fit(X[:25], Y[:25])
    assert_array_equal(complete.thresholds_, 0.5)


def test_given_labels_stay(murky):
    X, Y = murky
    for threshold in (0.0, 1.0, "prior"):
        model = MLGFHF(6, threshold=threshold).fit(X, Y)
        assert_array_equal(model.transduction_[:25], Y[:25])


def test_samples_out_of_reach(rng):
    X = np.vstack([rng.normal(size=(20, 2)), 100 + rng.normal(size=(20, 2))])
    Y = np.full((40, 2), -1)
    Y[:8] = [[1, 0]] * 6 + [[0, 1]] * 2
    with pytest.warns(UserWarning, match="20 of 40 samples cannot be reached"):
        model = MLGFHF(5).fit(X, Y)
    assert_array_equal(model.transduction_[20:], -1)
    assert_array_equal(model.label_distributions_[20:], 0)


def test_digits():
    X, y = load_digits(return_X_y=True)
    known = np.zeros(len(y), dtype=bool)
    known[np.random.RandomState(101).permutation(len(y))[:179]] = True
    model = MLGFHF().fit(X, np.where(known, y, -1))
    assert np.mean(model.transduction_ == y) > 0.95
    Y = np.eye(10, dtype=int)[y]
    model = MLGFHF().fit(X, np.where(known[:, None], Y, -1))
    assert micro_f1(Y[~known], model.transduction_[~known]) > 0.95
    assert np.mean(model.predict(X[known]) == Y[known]) > 0.95


def test_precomputed_graph(murky, rng):
    X, Y = murky
    new = rng.normal(size=(5, 4))
    base = MLGFHF(6).fit(X, Y)
    model = MLGFHF(6, neighbors="precomputed")
    model.fit(nearest_neighbors(X, 6).distances, Y)
    assert_allclose(model.label_distributions_, base.label_distributions_)
    between = nearest_neighbors(X, 6, queries=new).distances
    assert_allclose(model.predict_proba(between), base.predict_proba(new))
