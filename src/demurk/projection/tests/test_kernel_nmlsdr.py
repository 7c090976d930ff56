"""The kernel form of NMLSDR against its own formula, with the whole kernel."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array
from sklearn.datasets import make_circles

from demurk.labels import flip_labels, hide_rows
from demurk.projection import NMLSDR, KernelNMLSDR


@pytest.fixture
def data(rng):
    X = rng.normal(size=(80, 4))
    Y = np.column_stack([X[:, 0] ** 2 + X[:, 1] ** 2 > 1.5, X[:, 2] > 0]).astype(int)
    Y[rng.permutation(80)[:30]] = -1
    return X, Y


def test_is_the_kernel_form(data):
    X, Y = data
    model = KernelNMLSDR(2, n_landmarks=80).fit(X, Y)
    soft = model.label_distributions_
    T = np.where(Y >= 0, soft > 0.5, soft)
    squared = ((X[:, None] - X) ** 2).sum(axis=2)
    gamma = 80 * 79 / squared.sum()
    assert_allclose(model.bandwidth_, 1 / np.sqrt(2 * gamma))
    H = np.eye(80) - 1 / 80
    K = H @ np.exp(-gamma * squared) @ H
    values, V = np.linalg.eigh(T.T @ K @ T)
    expected = (K @ T @ V / np.sqrt(values))[:, ::-1]
    found = model.transform(X)
    signs = np.sign(np.sum(found * expected, axis=0))
    assert_allclose(found, expected * signs, atol=1e-5)
    assert_allclose(model.eigenvalues_, values[::-1], rtol=1e-5)


def test_labels_are_propagated_as_in_the_linear_form(data):
    X, Y = data
    linear, kernel = NMLSDR(2).fit(X, Y), KernelNMLSDR(2, random_state=0).fit(X, Y)
    assert_array_equal(kernel.label_distributions_, linear.label_distributions_)


def test__landmarksare_as_many_as_asked_for(data):
    X, Y = data
    model = KernelNMLSDR(n_landmarks=20, random_state=0).fit(X, Y)
    assert model._landmarks.shape == (20, 4)
    again = KernelNMLSDR(n_landmarks=20, random_state=0).fit(X, Y)
    other = KernelNMLSDR(n_landmarks=20, random_state=1).fit(X, Y)
    assert_array_equal(again.transform(X), model.transform(X))
    assert np.any(other._landmarks != model._landmarks)


def test_a_few__landmarksare_almost_as_good():
    X, y = make_circles(600, noise=0.1, factor=0.4, random_state=0)
    noisy = flip_labels(np.column_stack([y, 1 - y]), 0.1, random_state=0).labels
    Y = hide_rows(noisy, 0.5, random_state=0).labels

    def separation(model):
        return abs(np.corrcoef(model.fit_transform(X, Y)[:, 0], y)[0, 1])

    whole = separation(KernelNMLSDR(1, n_landmarks=600))
    assert whole > 0.9 > 0.3 > separation(NMLSDR(1))
    assert separation(KernelNMLSDR(1, n_landmarks=50, random_state=0)) > whole - 0.02


def test_sparse_is_dense_and_types_are_kept(data):
    X, Y = data
    X = np.where(X > 0, X, 0)
    dense = KernelNMLSDR(2, random_state=0).fit(X, Y).transform(X)
    sparse = KernelNMLSDR(2, random_state=0).fit(csr_array(X), Y).transform(X)
    assert_allclose(sparse, dense, atol=1e-8)
    small = KernelNMLSDR(2, random_state=0).fit(X.astype(np.float32), Y)
    out = small.transform(X.astype(np.float32))
    assert out.dtype == np.float32
    assert_allclose(out, dense, atol=2e-2)
