# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

from demurk.graph import affinity, nearest_neighbors, propagate

# Soft labels are thresholded and compared; eight digits are what is promised.
CLOSE = {"rtol": 0, "atol": 1e-8}


def reference(W, Y, alpha):
    """Solve (I - I_a T) F = (I - I_a) Y by a dense solver, once for each alpha."""
    W = W.toarray()
    n, c = Y.shape
    alpha = np.broadcast_to(np.reshape(alpha, (n, -1)), (n, c))
    d = W.sum(axis=1)
    root = np.zeros(n)
    root[d > 0] = d[d > 0] ** -0.5
    Wt = root[:, None] * W * root
    dt = Wt.sum(axis=1)
    T = np.zeros((n, n))
    T[dt > 0] = Wt[dt > 0] / dt[dt > 0, None]
    F = np.empty((n, c))
    alpha = np.where(dt[:, None] > 0, alpha, 0.0)
    for a in np.unique(alpha, axis=1).T:
        j = np.all(alpha == a[:, None], axis=0)
        F[:, j] = np.linalg.solve(
            np.eye(n) - a[:, None] * T, (1 - a)[:, None] * Y[:, j]
        )
    return F


def problem(seed=0, n=150, c=5, k=5, weights="binary", share=0.3):
    rng = np.random.default_rng(seed)
    W = affinity(nearest_neighbors(rng.standard_normal((n, 4)), k), weights=weights)
    labeled = rng.random(n) < share
    Y = (rng.random((n, c)) < 0.3) * labeled[:, None] * 1.0
    return W, Y, labeled


def disconnect(W, *groups):
    """Cut all edges between each group of nodes and the rest."""
    W = W.tolil()
    for group in groups:
        rest = np.setdiff1d(np.arange(W.shape[0]), group)
        W[np.ix_(group, rest)] = 0
        W[np.ix_(rest, group)] = 0
    W = W.tocsr()
    W.eliminate_zeros()
    return W


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("alpha_labeled", [0.0, 0.6, 0.999])
@pytest.mark.parametrize("weights", ["binary", "heat"])
def test_matches_a_dense_solve(seed, alpha_labeled, weights):
    W, Y, labeled = problem(seed, weights=weights)
    alpha = np.where(labeled, alpha_labeled, 0.999)
    result = propagate(W, Y, alpha, labeled=labeled)
    np.testing.assert_allclose(result.values, reference(W, Y, alpha), **CLOSE)
    assert result.values.min() >= 0 and result.values.max() <= 1
    assert 0 < result.n_iter < 200


@pytest.mark.parametrize("share", [0.01, 0.05])
def test_few_labels_on_a_long_chain(share):
    # The worst conditioned graphs are those of low dimension.
    rng = np.random.default_rng(0)
    W = affinity(nearest_neighbors(np.sort(rng.random(500))[:, None], 5))
    labeled = rng.random(500) < share
    Y = (rng.random((500, 4)) < 0.5) * labeled[:, None] * 1.0
    alpha = np.where(labeled, 0.6, 0.999)
    result = propagate(W, Y, alpha, labeled=labeled)
    np.testing.assert_allclose(result.values, reference(W, Y, alpha), **CLOSE)


def test_fixed_point_iteration_agrees():
    W, Y, labeled = problem(n=100)
    alpha = np.where(labeled, 0.5, 0.9)[:, None]
    S = W.toarray() / np.sqrt(np.outer(W.sum(axis=0), W.sum(axis=0)))
    T = S / S.sum(axis=1, keepdims=True)
    F = Y.copy()
    for _ in range(400):  # 0.9^400 < 1e-18
        F = alpha * (T @ F) + (1 - alpha) * Y
    np.testing.assert_allclose(propagate(W, Y, alpha[:, 0]).values, F, **CLOSE)


def test_disconnected_isolated_and_label_free_nodes():
    W, Y, labeled = problem(c=3)
    island, lone, lone_labeled = np.arange(40), np.array([50]), np.array([60])
    W = disconnect(W, island, lone, lone_labeled)
    labeled[island], labeled[50], labeled[60] = False, False, True
    Y[island], Y[50], Y[60] = 0.0, 0.0, [1.0, 0.0, 1.0]
    alpha = np.where(labeled, 0.6, 0.999)
    result = propagate(W, Y, alpha, labeled=labeled)
    np.testing.assert_allclose(result.values, reference(W, Y, alpha), **CLOSE)
    np.testing.assert_array_equal(result.values[60], Y[60])

    _, component = csgraph.connected_components(W)
    reached = np.isin(component, component[labeled])
    np.testing.assert_array_equal(result.reached, reached)
    assert not reached[island].any() and not reached[50] and reached[60]
    assert np.all(result.values[~reached] == 0.0)


def test_start_does_not_leak_into_label_free_components():
    W, Y, labeled = problem()
    island = np.arange(40)
    W = disconnect(W, island)
    labeled[island], Y[island] = False, 0.0
    alpha = np.where(labeled, 0.0, 0.999)
    a = propagate(W, Y, alpha, labeled=labeled)
    b = propagate(W, Y, alpha, labeled=labeled, start=np.full(Y.shape, 0.5))
    np.testing.assert_allclose(a.values, b.values, **CLOSE)
    assert np.all(b.values[island] == 0.0)
    c = propagate(W, Y, alpha, labeled=labeled, start=a.values)
    assert c.n_iter <= 1 < a.n_iter


def test_labelled_rows_without_any_label_are_information():
    W, Y, labeled = problem()
    labeled[:20], Y[:20] = True, 0.0
    W = disconnect(W, np.arange(20))
    result = propagate(W, Y, np.where(labeled, 0.6, 0.999), labeled=labeled)
    assert result.reached[:20].all()
    assert np.all(result.values[:20] == 0.0)


def test_clamped_rows_keep_their_labels_exactly():
    W, Y, labeled = problem()
    result = propagate(W, Y, np.where(labeled, 0.0, 0.999), labeled=labeled)
    np.testing.assert_array_equal(result.values[labeled], Y[labeled])
    everything = propagate(W, Y, 0.0)
    np.testing.assert_array_equal(everything.values, Y)
    assert everything.n_iter == 0


@pytest.mark.parametrize("alpha_labeled", [0.0, 0.6])
def test_alpha_per_entry_equals_column_by_column(alpha_labeled):
    rng = np.random.default_rng(0)
    W, Y, _ = problem()
    labeled = rng.random(Y.shape) < [0.1, 0.3, 0.5, 0.9, 1.0]
    Y = np.where(labeled, rng.random(Y.shape) < 0.4, 0.0)
    alpha = np.where(labeled, alpha_labeled, 0.999)
    result = propagate(W, Y, alpha, labeled=labeled)
    np.testing.assert_allclose(result.values, reference(W, Y, alpha), **CLOSE)
    for j in range(Y.shape[1]):
        one = propagate(W, Y[:, [j]], alpha[:, j], labeled=labeled[:, j])
        np.testing.assert_allclose(result.values[:, [j]], one.values, **CLOSE)


def test_label_free_component_in_one_column_only():
    W, Y, _ = problem(c=2)
    island = np.arange(40)
    W = disconnect(W, island)
    labeled = np.ones(Y.shape, dtype=bool)
    labeled[island, 1] = False
    Y = np.random.default_rng(0).random(Y.shape) * labeled
    alpha = np.where(labeled, 0.6, 0.999)
    result = propagate(W, Y, alpha, labeled=labeled)
    np.testing.assert_allclose(result.values, reference(W, Y, alpha), **CLOSE)
    assert np.all(result.values[island, 1] == 0.0)
    assert np.all(result.values[island, 0] > 0.0)
    assert result.reached.all()


def test_rows_and_entries_agree():
    W, Y, labeled = problem()
    alpha = np.where(labeled, 0.6, 0.999)
    wide = np.ones((1, Y.shape[1]))
    a = propagate(W, Y, alpha, labeled=labeled)
    b = propagate(W, Y, alpha[:, None] * wide, labeled=labeled[:, None] & (wide > 0))
    c = propagate(W, Y, alpha, labeled=labeled[:, None] & (wide > 0))
    np.testing.assert_allclose(a.values, b.values, **CLOSE)
    np.testing.assert_allclose(a.values, c.values, **CLOSE)
    np.testing.assert_array_equal(a.reached, b.reached)


def test_permutations_of_rows_and_columns():
    rng = np.random.default_rng(5)
    W, Y, labeled = problem()
    alpha = np.where(labeled, 0.6, 0.999)
    rows, columns = rng.permutation(150), rng.permutation(5)
    a = propagate(W, Y, alpha, labeled=labeled).values
    b = propagate(
        W[rows][:, rows], Y[rows][:, columns], alpha[rows], labeled=labeled[rows]
    ).values
    np.testing.assert_allclose(b, a[rows][:, columns], **CLOSE)


def test_labels_outside_the_unit_interval_are_not_clipped():
    W, Y, _ = problem()
    Y = 10 * Y - 3
    alpha = np.full(150, 0.5)
    values = propagate(W, Y, alpha).values
    assert values.max() > 1 and values.min() < 0
    np.testing.assert_allclose(values, reference(W, Y, alpha), rtol=0, atol=1e-7)


def test_inputs_are_not_changed_and_zeros_are_no_edges():
    W, Y, labeled = problem()
    stored = W.copy()
    stored.data[::7] = 0.0
    stored = stored.minimum(stored.T) + sparse.csr_array(W.shape)
    with_zeros = W.copy()
    with_zeros.data = np.asarray(stored[W.nonzero()]).ravel()
    assert (with_zeros.data == 0).sum() > 50
    before = with_zeros.copy()
    alpha = np.where(labeled, 0.0, 0.999)
    a = propagate(with_zeros, Y, alpha, labeled=labeled)
    np.testing.assert_array_equal(with_zeros.data, before.data)
    np.testing.assert_array_equal(with_zeros.indices, before.indices)
    np.testing.assert_array_equal(with_zeros.indptr, before.indptr)
    clean = before.copy()
    clean.eliminate_zeros()
    b = propagate(clean, Y, alpha, labeled=labeled)
    np.testing.assert_allclose(a.values, b.values, **CLOSE)
    np.testing.assert_array_equal(a.reached, b.reached)


@pytest.mark.parametrize(
    ("kwargs", "match"),
    [
        ({"Y": np.ones((2, 1))}, "Y has 2 rows, but W has 3"),
        ({"alpha": [0.1, 1.0, 0.2]}, r"\[0, 1\), got 1.0 in row 1"),
        ({"alpha": [0.1, 0.2, np.nan]}, "got nan in row 2"),
        ({"alpha": np.ones((3, 2)) / 2}, r"shape \(3,\) or \(3, 1\)"),
        ({"labeled": [True, False]}, "labeled must have shape"),
        ({"labeled": [True, False, True]}, "got 1.0 in row 1"),
        ({"start": np.ones((3, 2))}, r"start must have shape \(3, 1\)"),
        ({"W": np.triu(np.ones((3, 3)))}, "not symmetric"),
    ],
)
def test_errors(kwargs, match):
    W = np.ones((3, 3)) - np.eye(3)
    with pytest.raises(ValueError, match=match):
        propagate(**({"W": W, "Y": np.ones((3, 1)), "alpha": 0.5} | kwargs))
