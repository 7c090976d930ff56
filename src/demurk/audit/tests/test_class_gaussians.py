# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.metrics import accuracy_score

from demurk.audit._class_gaussians import gaussian_proba


def by_hand(X, given, weights, seed):
    """Density by density, one row after the other."""
    n, q = len(X), given.max() + 1
    fold = np.random.RandomState(seed).permutation(n) % 5
    found = {}
    for share in (0.05, 0.2, 0.5, 0.8):
        logs = np.full((n, q), -1e9)
        for i in range(n):
            told = fold != fold[i]
            centers = [
                np.average(
                    X[told & (given == c)], axis=0, weights=weights[told & (given == c)]
                )
                if (told & (given == c)).any()
                else None
                for c in range(q)
            ]
            common = (
                sum(
                    weights[j]
                    * np.outer(X[j] - centers[given[j]], X[j] - centers[given[j]])
                    for j in np.flatnonzero(told)
                )
                / weights[told].sum()
            )
            common = common + 0.02 * np.trace(common) / X.shape[1] * np.eye(X.shape[1])
            for c in range(q):
                own = np.flatnonzero(told & (given == c))
                if own.size == 0:
                    continue
                mass = weights[own].sum()
                away = X[own] - centers[c]
                scatter = (weights[own, None] * away).T @ away / mass
                normal = multivariate_normal(
                    centers[c], (1 - share) * scatter + share * common
                )
                logs[i, c] = np.log(mass) + normal.logpdf(X[i])
        for power in (1.0, 0.5, 0.25, 0.12, 0.06):
            proba = np.exp(power * (logs - logs.max(axis=1, keepdims=True)))
            proba /= proba.sum(axis=1, keepdims=True)
            error = sum(
                weights[i] * ((proba[i] - np.eye(q)[given[i]]) ** 2).sum()
                for i in range(n)
            )
            found[error] = proba
    return found[min(found)]


@pytest.fixture
def rows(rng):
    """Three classes that differ in scatter, and one of a single row."""
    given = np.append(np.arange(48) % 3, 3)
    scale = np.array([0.3, 1.0, 2.0, 1.0])[given, None]
    return rng.normal(size=(49, 3)) * scale + np.eye(4, 3)[given], given


@pytest.mark.parametrize("weighted", [False, True])
def test_gaussians_by_hand(rows, rng, weighted):
    X, given = rows
    weights = rng.uniform(0.05, 1, size=49) if weighted else None
    found = gaussian_proba(X, np.eye(4)[given], weights, np.random.RandomState(3))
    expected = by_hand(X, given, np.ones(49) if weights is None else weights, 3)
    assert_allclose(found, expected, atol=1e-9)
    # Nobody else has the class of the last row.
    assert found[48, 3] == 0


def test_classes_in_another_order_give_the_same(rows):
    X, given = rows
    Y, order = np.eye(4)[given], [2, 0, 3, 1]
    plain = gaussian_proba(X, Y, None, np.random.RandomState(0))
    turned = gaussian_proba(X, Y[:, order], None, np.random.RandomState(0))
    assert_allclose(turned, plain[:, order], atol=1e-12)


def test_a_row_is_not_judged_by_its_own_class(rng):
    # Features say nothing: whoever knew the class would be right.
    X, given = rng.normal(size=(600, 8)), np.arange(600) % 3
    proba = gaussian_proba(X, np.eye(3)[given], None, rng)
    assert accuracy_score(given, proba.argmax(axis=1)) < 0.42


@pytest.mark.parametrize("n_rows", [2, 3, 7])
@pytest.mark.parametrize("X", [np.zeros((7, 4)), np.ones((7, 1)), np.eye(7)])
def test_few_equal_and_constant_rows(n_rows, X):
    Y = np.eye(2)[np.arange(n_rows) % 2]
    proba = gaussian_proba(X[:n_rows], Y, None, np.random.RandomState(0))
    assert_allclose(proba.sum(axis=1), 1)
    assert (proba >= 0).all()
