"""Labels come back in the form in which they were given."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from demurk.labels import check_labels
from demurk.labels._form import LabelForm, frame_index

TABLE = np.array([[1, 0], [0, -1], [0, 0]], dtype=np.int8)
NAMED = {"columns": ["sea", "sun"]}


def back(y):
    return LabelForm.of(y).restore(check_labels(y, kind="noisy"))


@pytest.mark.parametrize(
    "y",
    [
        pd.DataFrame(TABLE, **NAMED),
        pd.DataFrame(TABLE, index=["u", "v", "w"], **NAMED),
        pd.DataFrame(TABLE),
        pd.DataFrame(TABLE, index=pd.date_range("2026-01-01", periods=3), **NAMED),
    ],
    ids=["names", "index", "numbers", "dates"],
)
def test_pandas_frames(y):
    pd.testing.assert_frame_equal(
        back(y), y, check_column_type=False, check_freq=False, check_index_type=False
    )


def test_other_containers():
    assert_array_equal(back(TABLE), TABLE)
    assert_array_equal(back(TABLE.tolist()), TABLE)
    assert_array_equal(back([{"a"}, None, {"a", "b"}]), [[1, 0], [-1, -1], [1, 1]])
    frame = pl.DataFrame(TABLE, schema=["sea", "sun"])
    assert back(frame).equals(frame)


def test_one_class_per_sample():
    assert_array_equal(back(np.array([3, -1, 1])), [3, -1, 1])
    assert back(np.array(["b", "a"])).tolist() == ["b", "a"]
    assert back(["b", None, "a"]).tolist() == ["b", None, "a"]
    series = pd.Series([3, -1, 1], index=[7, 8, 9], name="kind")
    pd.testing.assert_series_equal(back(series), series)
    words = pl.Series("kind", ["b", None, "a"])
    assert back(words).equals(words)
    column = pd.DataFrame({"kind": ["b", "a", "b"]}, index=[7, 8, 9])
    with pytest.warns(UserWarning, match="column-vector"):
        found = back(column)
    pd.testing.assert_frame_equal(found, column)


def test_only_an_index_that_says_something_counts():
    assert frame_index(pd.DataFrame({"a": [1, 2]})) is None
    assert frame_index([1, 2]) is None and frame_index(pl.Series([1])) is None
    assert_array_equal(frame_index(pd.Series([1, 2], index=[1, 0])), [1, 0])
