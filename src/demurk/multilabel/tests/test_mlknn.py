"""ML-kNN against a literal loop over samples, labels and counts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from demurk.multilabel import MLkNN


def literal_mlknn(X, Y, queries, k, s):
    """Zhang and Zhou's algorithm, one number at a time."""
    n, q = Y.shape

    def nearest(point, exclude=None):
        order = sorted(
            (((point - X[j]) ** 2).sum(), j) for j in range(n) if j != exclude
        )
        return [j for _, j in order[:k]]

    c1, c0 = np.zeros((q, k + 1)), np.zeros((q, k + 1))
    for i in range(n):
        for c in range(q):
            count = sum(Y[j, c] for j in nearest(X[i], exclude=i))
            (c1 if Y[i, c] else c0)[c, count] += 1
    proba = np.empty((len(queries), q))
    for i, point in enumerate(queries):
        for c in range(q):
            prior = (s + Y[:, c].sum()) / (2 * s + n)
            j = sum(Y[t, c] for t in nearest(point))
            has = prior * (s + c1[c, j]) / (s * (k + 1) + c1[c].sum())
            lacks = (1 - prior) * (s + c0[c, j]) / (s * (k + 1) + c0[c].sum())
            proba[i, c] = has / (has + lacks)
    return proba


@pytest.fixture
def data(rng):
    X = rng.normal(size=(60, 4))
    Y = (X[:, :3] + rng.normal(size=(60, 3)) > 0).astype(int)
    return X, Y, rng.normal(size=(15, 4))


@pytest.mark.parametrize("k, s", [(1, 1.0), (5, 1.0), (10, 0.3)])
def test_equals_literal_loop(data, k, s):
    X, Y, queries = data
    model = MLkNN(k, smoothing=s).fit(X, Y)
    expected = literal_mlknn(X, Y, queries, k, s)
    assert_allclose(model.predict_proba(queries), expected, rtol=1e-12)
    assert_array_equal(model.predict(queries), (expected >= 0.5).astype(int))


def test_invariances(data, rng):
    X, Y, queries = data
    base = MLkNN(5).fit(X, Y).predict_proba(queries)
    order = rng.permutation(len(X))
    assert_allclose(MLkNN(5).fit(X[order], Y[order]).predict_proba(queries), base)
    assert_allclose(MLkNN(5).fit(X, Y[:, ::-1]).predict_proba(queries), base[:, ::-1])
    sparse = MLkNN(5).fit(csr_array(X), Y)
    assert_allclose(sparse.predict_proba(csr_array(queries)), base)
    small = MLkNN(5).fit(X.astype(np.float32), Y)
    assert_allclose(small.predict_proba(queries.astype(np.float32)), base)


def test_unobserved_rows_and_entries_are_left_out(data, rng):
    X, Y, queries = data
    more = np.vstack([X, rng.normal(size=(9, 4))])
    hidden = np.vstack([Y, np.full((9, 3), -1)])
    base = MLkNN(5).fit(X, Y).predict_proba(queries)
    assert_allclose(MLkNN(5).fit(more, hidden).predict_proba(queries), base)
    # One label is hidden in some rows: the tables of the others do not move.
    part = Y.copy()
    part[::4, 2] = -1
    model = MLkNN(5).fit(X, part)
    assert_allclose(model.predict_proba(queries)[:, :2], base[:, :2])
    assert not np.allclose(model.predict_proba(queries)[:, 2], base[:, 2])


def test_without_smoothing_an_unseen_count_gives_the_prior():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    Y = np.array([[1], [1], [1], [0], [0], [0]]).repeat(2, axis=1)
    model = MLkNN(2, smoothing=0).fit(X, Y)
    # Training counts are 0 or 2; a point in the middle has one of each.
    assert_allclose(model.posterior_[0], [0, 0.5, 1])


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
def test_empty_and_full_label_columns(data, smoothing):
    X, Y, queries = data
    Y = np.column_stack([Y, np.zeros(60, int), np.ones(60, int)])
    predicted = MLkNN(5, smoothing=smoothing).fit(X, Y).predict(queries)
    assert_array_equal(predicted[:, 3], 0)
    assert_array_equal(predicted[:, 4], 1)


def test_more_neighbours_than_samples(data):
    X, Y, queries = data
    model = MLkNN(500).fit(X, Y)
    assert model.posterior_.shape == (3, 60)
    assert np.isfinite(model.predict_proba(queries)).all()


def test_one_labelled_row_is_an_error(data):
    X, Y, _ = data
    Y = np.full_like(Y, -1)
    Y[3] = 1
    with pytest.raises(ValueError, match="Only one sample is labelled"):
        MLkNN().fit(X, Y)


def test_class_names_come_back(data):
    X, Y, queries = data
    y = np.array(["cat", "dog"])[Y[:, 0]]
    model = MLkNN(5).fit(X, y)
    assert set(model.predict(queries)) <= {"cat", "dog"}
    assert_allclose(model.predict_proba(queries).sum(axis=1), 1)
