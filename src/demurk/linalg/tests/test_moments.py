"""Tests of the row-chunk moments."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix

from demurk.linalg import Moments, moments, moments_of_chunks
from demurk.linalg import _moments as module

NAMES = ("mean_x", "mean_t", "cross", "scatter", "target_scatter")


def reference(X, T, w=None):
    """The definitions, in extended precision."""
    X, T = np.asarray(X, dtype=np.longdouble), np.asarray(T, dtype=np.longdouble)
    w = np.ones(len(X), dtype=np.longdouble) if w is None else np.asarray(w)
    mean_x, mean_t = w @ X / w.sum(), w @ T / w.sum()
    Xc, Tc = X - mean_x, T - mean_t
    wX, wT = w[:, None] * Xc, w[:, None] * Tc
    found = (mean_x, mean_t, Xc.T @ wT, Xc.T @ wX, Tc.T @ wT)
    return {name: a.astype(float) for name, a in zip(NAMES, found)}


def assert_same(result, expected, rtol=1e-10, names=NAMES):
    for name in names:
        a, b = getattr(result, name), expected[name]
        assert a.shape == b.shape
        assert a.dtype == np.float64
        size = np.linalg.norm(b)
        assert np.linalg.norm(a - b) <= rtol * size, name


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    # The mean is a thousand times the spread.
    X = 1e3 + rng.normal(size=(97, 6)) @ rng.normal(size=(6, 6))
    T = (rng.random((97, 3)) < 0.3).astype(float)
    return X, T, rng.uniform(0.0, 2.0, 97)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("chunk_rows", [None, 1, 2, 10, 96, 97, 1000])
def test_chunked_is_whole(rows, chunk_rows, weighted):
    X, T, w = rows
    w = w if weighted else None
    result = moments(X, T, scatter=True, sample_weight=w, chunk_rows=chunk_rows)
    assert_same(result, reference(X, T, w))
    assert result.n_rows == 97
    assert_allclose(result.weight, 97 if w is None else w.sum())
    lean = moments(X, T, sample_weight=w, chunk_rows=chunk_rows)
    assert lean.scatter is None
    assert_same(lean, reference(X, T, w), names=("cross", "target_scatter"))


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 40),
    n_features=st.integers(1, 5),
    n_targets=st.integers(0, 3),
    cuts=st.lists(st.integers(0, 40), max_size=6),
    seed=st.integers(0, 10_000),
    weighted=st.booleans(),
    sparse=st.booleans(),
)
def test_any_split(n, n_features, n_targets, cuts, seed, weighted, sparse):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) + (0.0 if sparse else 1e3)
    if sparse:
        X *= rng.random(X.shape) < 0.4
    T = rng.integers(0, 2, size=(n, n_targets)).astype(float)
    w = rng.uniform(0.0, 3.0, n) * (rng.random(n) < 0.8) if weighted else np.ones(n)
    w[0] = 1.0
    ends = [0, *sorted(min(cut, n) for cut in cuts), n]
    kind = csr_array if sparse else np.asarray
    chunks = [(kind(X[a:b]), T[a:b], w[a:b]) for a, b in pairwise(ends)]
    result = moments_of_chunks(iter(chunks), scatter=True)
    expected = reference(X, T, w)
    assert result.n_rows == n
    for name in NAMES:
        size = 1e3 if name == "mean_x" else np.sqrt(n)  # of round-off, not of the value
        assert np.abs(getattr(result, name) - expected[name]).max(initial=0) < (
            1e-11 * size
        ), name


def test_merge_any_order(rows):
    X, T, w = rows
    parts = [
        Moments(scatter=True).update(X[i::4], T[i::4], sample_weight=w[i::4])
        for i in range(4)
    ]
    parts = [pickle.loads(pickle.dumps(part)) for part in parts]
    for order in ([0, 1, 2, 3], [3, 1, 0, 2]):
        total = Moments(scatter=True)
        for i in order:
            total.merge(parts[i])
        assert_same(total, reference(X, T, w))
    # The parts are as they were, although the first one was merged into nothing.
    assert_same(parts[0], reference(X[::4], T[::4], w[::4]))
    assert parts[0].n_rows == 25


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", [csr_array, csr_matrix, csc_array, coo_array])
@pytest.mark.parametrize("chunk_rows", [None, 7])
def test_sparse_is_dense(kind, chunk_rows, weighted):
    rng = np.random.default_rng(1)
    X = rng.poisson(0.4, size=(60, 8)).astype(float)
    T = (rng.random((60, 3)) < 0.4).astype(float)
    w = rng.uniform(0.0, 2.0, 60) if weighted else None
    options = {"scatter": True, "sample_weight": w, "chunk_rows": chunk_rows}
    assert_same(moments(kind(X), kind(T), **options), reference(X, T, w), rtol=1e-13)


def test_sparse_stays_sparse(monkeypatch):
    def refuse(self, *args, **kwargs):
        raise AssertionError("the features were made dense")

    X = csr_array(np.random.default_rng(2).poisson(0.2, size=(50, 9)).astype(float))
    T = np.eye(50)[:, :3]
    expected = reference(X.toarray(), T)
    monkeypatch.setattr(csr_array, "toarray", refuse)
    monkeypatch.setattr(csr_array, "todense", refuse)
    assert_same(moments(X, T, chunk_rows=11), expected, names=("cross", "mean_x"))


def test_float32_and_integers(rows):
    X, T, _ = rows
    expected = reference(X.astype(np.float32), T)
    result = moments(X.astype(np.float32), T.astype(np.int8), scatter=True)
    assert_same(result, expected)  # all digits of what float32 holds
    whole = np.arange(12).reshape(4, 3)
    assert_same(
        moments(whole, whole[:, 0], scatter=True), reference(whole, whole[:, :1])
    )


def test_memory_map(rows, tmp_path, monkeypatch):
    X, T, w = rows
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    monkeypatch.setattr(module, "CHUNK_BYTES", 800)  # ten rows
    sizes = []
    measure = module._measure
    monkeypatch.setattr(
        module, "_measure", lambda X, *rest: sizes.append(len(X)) or measure(X, *rest)
    )
    assert_same(moments(mapped, T, scatter=True, sample_weight=w), reference(X, T, w))
    assert sizes == [10] * 9 + [7]


def test_inputs_are_left_alone(rows):
    copies = [a.copy() for a in rows]
    moments(rows[0], rows[1], scatter=True, sample_weight=rows[2])
    for a, b in zip(rows, copies):
        assert_array_equal(a, b)


def test_weights_count_rows(rows):
    X, T, _ = rows
    counts = np.random.default_rng(3).integers(0, 4, len(X))
    repeated = np.repeat(np.arange(len(X)), counts)
    result = moments(X, T, scatter=True, sample_weight=counts)
    assert_same(result, reference(X[repeated], T[repeated]))
    assert result.n_rows == 97
    assert result.weight == counts.sum()


def test_row_order_and_constant_feature(rows):
    X, T, _ = rows
    X = np.c_[X, np.full(len(X), 7.0)]
    order = np.random.default_rng(4).permutation(len(X))
    result = moments(X[order], T[order], scatter=True, chunk_rows=13)
    assert_same(result, reference(X, T))
    assert_array_equal(result.scatter[-1], 0.0)
    assert_array_equal(result.cross[-1], 0.0)


def test_one_target_column(rows):
    X, T, _ = rows
    assert_array_equal(moments(X, T[:, 0]).cross, moments(X, T[:, :1]).cross)


def test_rows_without_weight(rows):
    X, T, w = rows
    part = Moments(scatter=True).update(X, T, sample_weight=np.zeros(97))
    assert part.n_rows == 97
    part.update(X[:0], T[:0]).update(X, T, sample_weight=w)
    assert part.n_rows == 194
    assert_same(part, reference(X, T, w))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, T: moments(X, T[:-1]), "same number of rows"),
        (lambda X, T: moments(X[0], T), "should be tables"),
        (lambda X, T: moments(X, T, chunk_rows=0), "chunk_rows is 0"),
        (lambda X, T: moments(X[:0], T[:0]), "0 rows given have no weight"),
        (lambda X, T: moments_of_chunks([]), "0 rows given have no weight"),
        (lambda X, T: moments(X, T, sample_weight=T[:5, 0]), "for 97 rows"),
        (lambda X, T: moments(X, T, sample_weight=np.r_[[1] * 96, -1]), "row 96"),
        (lambda X, T: moments_of_chunks([(X, T), (X[:, :2], T)]), "do not fit"),
        (lambda X, T: Moments(scatter=True).merge(moments(X, T)), "no scatter"),
        (lambda X, T: moments(np.where(X == X[3, 2], np.nan, X), T), "Column 2 of X"),
        (lambda X, T: moments(X, np.where(T > 0, np.inf, T)), "Column 0 of T"),
    ],
)
def test_wrong_input(rows, call, message):
    X, T, _ = rows
    with pytest.raises(ValueError, match=message):
        call(X, T)
