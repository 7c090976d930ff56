"""Canonical features, their size and their place."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import coo_array, csr_array, csr_matrix

from demurk.utils._rows import canonical, check_magnitudes, far_origin


@pytest.mark.parametrize("kind", [csr_array, csr_matrix])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_canonical_is_a_copy_where_something_moves(kind, index):
    data = np.array([3.0, 1.0, 2.0, 5.0])
    indices = np.array([2, 0, 2, 1], dtype=index)
    given = kind((2, 3))
    given.data, given.indices = data, indices
    given.indptr = np.array([0, 3, 4], dtype=index)
    given.has_canonical_format = True  # a belief that is wrong
    found = canonical(given)
    assert type(found) is kind and found.indices.dtype == np.int32
    assert found.indices.tolist() == [0, 2, 1] and found.data.tolist() == [1, 5, 5]
    assert given.data is data and data.tolist() == [3, 1, 2, 5]
    assert given.indices.tolist() == [2, 0, 2, 1]


def test_canonical_shares_what_is_in_order():
    given = csr_array(np.eye(3))
    assert np.shares_memory(canonical(given).data, given.data)
    dense = np.eye(3)
    assert canonical(dense) is dense


@pytest.mark.parametrize("form", [np.asarray, csr_array])
@pytest.mark.parametrize("dtype, limit", [(np.float64, 1e35), (np.float32, 1e15)])
def test_magnitudes(form, dtype, limit):
    X = np.ones((4, 3), dtype=dtype)
    X[2, 1] = -0.9 * limit
    check_magnitudes(form(X))
    X[2, 1] = -1.1 * limit
    with pytest.raises(ValueError, match=r"Column 1 of X holds -1.1e\+.. in row 2"):
        check_magnitudes(form(X))
    with pytest.raises(ValueError, match="Column 'b' of X"):
        check_magnitudes(form(X), np.array(["a", "b", "c"]))


def test_empty_rows_have_no_magnitude():
    check_magnitudes(csr_array((3, 2)))
    check_magnitudes(coo_array((3, 2)).tocsr())


def test_far_origin(rng):
    X = rng.normal(size=(50, 3))
    assert far_origin(X) is None and far_origin(X + 50) is None
    assert far_origin(csr_array(X + 1e6)) is None
    assert far_origin(np.full((5, 3), 1e6)) is None
    for offset in (1e3, 1e8):
        assert_allclose(far_origin(X + offset), offset + X.mean(axis=0))
    one_column = X + [0, 1e6, 0]
    assert_array_equal(far_origin(one_column), one_column.mean(axis=0))
