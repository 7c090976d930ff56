"""Rows in a file are searched in blocks, and found as in memory."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from demurk.graph import _exact, _lists, nearest_neighbors
from demurk.utils import _rows

N_ROWS, N_FEATURES, K = 4000, 12, 5


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of some 700 rows of float32."""
    for module in (_rows, _exact, _lists):
        monkeypatch.setattr(module, "BLOCK_BYTES", 2**15)


@pytest.fixture
def rows(tmp_path):
    """Clustered rows, some of them twice, in a file."""
    rng = np.random.default_rng(0)
    centers = 4 * rng.standard_normal((20, N_FEATURES))
    X = centers[rng.integers(20, size=N_ROWS)] + rng.standard_normal(
        (N_ROWS, N_FEATURES)
    )
    X[3000:3050] = X[:50]
    path = tmp_path / "rows.npy"
    np.save(path, X.astype(np.float32))
    return np.load(path, mmap_mode="r")


def test_only_large_rows_in_a_file_are_mapped(rows, small_blocks):
    assert _rows.mapped(rows)
    assert _rows.mapped(np.asarray(rows)[:2000])
    assert not _rows.mapped(rows[:100])
    assert not _rows.mapped(np.array(rows))
    assert not _rows.mapped(rows[np.arange(N_ROWS)])


@pytest.mark.parametrize("own", [True, False])
def test_exact_search_in_blocks_is_exact(rows, small_blocks, own):
    queries = None if own else np.array(rows[::7]) + np.float32(0.01)
    expected = nearest_neighbors(np.array(rows), K, queries=queries).distances
    found = nearest_neighbors(rows, K, queries=queries).distances
    assert_array_equal(found.indices, expected.indices)
    assert_array_equal(found.data, expected.data)


@pytest.mark.parametrize("own", [True, False])
def test_lists_find_the_neighbours_they_say(rows, small_blocks, own):
    pytest.importorskip("faiss")
    queries = None if own else np.array(rows[::7]) + np.float32(0.01)
    truth = nearest_neighbors(np.array(rows), K, queries=queries).distances
    found = nearest_neighbors(rows, K, queries=queries, method="approx")
    near = found.distances.data.reshape(-1, K)
    limit = truth.data.reshape(-1, K)[:, -1:]
    assert 0.95 <= found.recall < 1
    assert abs((near <= limit).mean() - found.recall) < 0.02
    # Distances are those of the rows, not of their products.
    index = found.distances.indices.reshape(-1, K)
    targets = rows if own else queries
    differences = targets[:, None].astype(float) - np.array(rows)[index]
    assert_allclose(near, np.linalg.norm(differences, axis=2), rtol=1e-6)
    assert (np.diff(near, axis=1) >= 0).all()
    if own:
        assert (index != np.arange(N_ROWS)[:, None]).all()
        assert (near[:50, 0] == 0).all()  # the duplicates


def test_lists_end_in_exact_search_where_nothing_less_will_do(tmp_path, small_blocks):
    pytest.importorskip("faiss")
    X = np.random.default_rng(0).standard_normal((2000, 40)).astype(np.float32)
    np.save(tmp_path / "noise.npy", X)
    mapped = np.load(tmp_path / "noise.npy", mmap_mode="r")
    found = nearest_neighbors(mapped, K, method="approx")
    assert found.recall == 1.0
    expected = nearest_neighbors(X, K).distances
    assert_array_equal(found.distances.indices, expected.indices)


@pytest.mark.parametrize("method", ["exact", "approx"])
def test_blocks_are_all_that_is_copied(tmp_path, monkeypatch, method):
    pytest.importorskip("faiss")
    for module in (_rows, _exact, _lists):
        monkeypatch.setattr(module, "BLOCK_BYTES", 2**18)
    rng = np.random.default_rng(0)
    centers = 9 * rng.standard_normal((70, 100), dtype=np.float32)
    X = np.repeat(centers, 100, axis=0) + rng.standard_normal((7000, 100))
    np.save(tmp_path / "wide.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "wide.npy", mmap_mode="r")
    # Products of exact search do not grow with the rows, nor, beside them, the rows
    # that are clustered.
    monkeypatch.setattr(_exact, "_CHUNK_BYTES", 2**18)
    monkeypatch.setattr(_lists, "_PER_LIST", 4)
    tracemalloc.start()
    nearest_neighbors(mapped, 2, method=method)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < mapped.nbytes
