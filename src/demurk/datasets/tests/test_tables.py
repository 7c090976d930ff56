"""Tests of the CSV and Parquet reader."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import csv
import gzip
import io
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from demurk.datasets import read_table

TEXT = "size,colour,label:a,label:b\n1.5,red,0,1\n,blue,1,\n-2,red,-1,0\n"


@pytest.fixture
def write(tmp_path):
    def write(text, name="toy.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_label_prefix_and_categories(write):
    toy = read_table(write(TEXT), categorical=["colour"])
    np.testing.assert_array_equal(toy.data, [[1.5, 0, 1], [np.nan, 1, 0], [-2, 0, 1]])
    assert toy.feature_names == ["size", "colour=blue", "colour=red"]
    assert toy.target.tolist() == [[0, 1], [1, -1], [-1, 0]]
    assert toy.target.dtype == np.int8
    assert toy.target_names == ["a", "b"] and toy.name == "toy"


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (2, ["label:a", "label:b"]),
        (1, ["label:b"]),
        (["label:b", "label:a"], ["label:a", "label:b"]),
        ("label:a", [""]),
    ],
)
def test_ways_to_name_labels(write, labels, names):
    toy = read_table(write(TEXT), labels=labels, drop=["colour"])
    assert toy.target_names == names
    assert toy.target.shape == (3, len(names))
    assert toy.data.shape == (3, 3 - len(names))


def test_no_labels(write):
    toy = read_table(write("a,b\n1,2\n"), labels=0)
    assert toy.data.tolist() == [[1, 2]] and toy.target.shape == (1, 0)


def test_class_column(write):
    path = write("a,kind,code\n1,x,10\n2,,9\n3,y,-1\n4,x,10\n")
    toy = read_table(path, target="kind")
    assert toy.target.tolist() == [0, -1, 1, 0] and toy.target_names == ["x", "y"]
    assert toy.data[:, 1].tolist() == [10, 9, -1, 10]
    toy = read_table(path, target="code", drop=["kind"])
    assert toy.target.tolist() == [1, 0, -1, 1] and toy.target_names == ["9", "10"]
    signed = write("a,y\n1,-1\n2,1\n3,-1\n")
    toy = read_table(signed, target="y")
    assert toy.target.tolist() == [0, 1, 0] and toy.target_names == ["-1", "1"]


def test_words_for_yes_and_no(write):
    path = write("f,g,l\nTrue,yes,TRUE\nfalse,,no\nTrue,no,?\n")
    toy = read_table(path, labels=["l"])
    np.testing.assert_array_equal(toy.data, [[1, 1], [0, np.nan], [1, 0]])
    assert toy.target.tolist() == [[1], [0], [-1]]


def test_categories_may_be_numbers_or_missing(write):
    path = write("c,l\n10,1\n-1,0\n,1\n9,0\n")
    toy = read_table(path, labels=1, categorical=["c"])
    assert toy.feature_names == ["c=-1", "c=9", "c=10"]
    nan = np.nan
    expected = [[0, 0, 1], [1, 0, 0], [nan, nan, nan], [0, 1, 0]]
    np.testing.assert_array_equal(toy.data, expected)


def test_text_variants(write, tmp_path):
    toy = read_table(write("1; 2; a\n3; 4; b\n"), header=False, target="x2", sep=";")
    assert toy.data.tolist() == [[1, 2], [3, 4]] and toy.feature_names == ["x0", "x1"]
    toy = read_table(write("a\tlabel:b\n1\t0\n", "toy.tsv"))
    assert toy.data.tolist() == [[1]] and toy.name == "toy"
    path = tmp_path / "toy.csv.gz"
    path.write_bytes(gzip.compress(b'\xef\xbb\xbf"a, b",label:c\r\n\r\n7,1\r\n'))
    toy = read_table(path)
    assert toy.feature_names == ["a, b"] and toy.target.tolist() == [[1]]


DEFECTS = [
    ("a,label:b\n1\n", {}, "line 2: the row has 1 values but there are 2 columns"),
    ("a,label:b\n1,0\n1,0,5\n", {}, "line 3: the row has 3 values"),
    ("a,label:b\n1,0\nx,1\n", {}, r"line 3: column 'a' holds 'x'.*in drop or"),
    ("a,label:b\n1,0\nTrue,1\n", {}, "line 3: column 'a' holds 'True'"),
    ("a,label:b\ninf,0\n", {}, "line 2: column 'a' holds 'inf', which is no finite"),
    ("a,label:b\n1e999,0\n", {}, "column 'a' holds '1e999'"),
    ("a,label:b\n1_0,0\n", {}, "column 'a' holds '1_0'"),
    ("a,label:b\n1,2\n", {}, "line 2: label 'label:b' is '2'; labels must be 0, 1"),
    ("a,label:b\n1,x\n", {}, "line 2: label 'label:b' is 'x'"),
    ("a,label:b\n1,0.5\n", {}, "label 'label:b' is '0.5'"),
    ('a,label:b\n"1,0\n', {}, r"broken\.csv, line 2: .*check the quotes"),
    ('a,label:b\n"1"2,0\n', {}, "line 2: .*check the quotes"),
    ("a,b\n1,0\n", {}, "No column of .* starts with 'label:'; pass labels"),
    ("a,label:b\n", {}, "has no rows"),
    ("", {}, "has no rows"),
    ("a,a,label:b\n1,2,0\n", {}, "two columns 'a'"),
    (",a,label:b\n0,1,1\n", {}, r"column without a name.*'' in drop"),
    ("label:b\n1\n", {}, "no column left that is not a label; pass sep"),
    ("a,label:b\n1,0\n", {"labels": 2}, "cannot have 2 labels among its 2 columns"),
    ("a,label:b\n1,0\n", {"labels": -1}, "cannot have -1 labels"),
    ("a,label:b\n1,0\n", {"labels": ["z"]}, "no column 'z' named in labels"),
    ("a,label:b\n1,0\n", {"drop": ["z"]}, "no column 'z' named in drop"),
    ("a,label:b\n1,0\n", {"categorical": ["z"]}, "no column 'z' named in categorical"),
    ("a,label:b\n1,0\n", {"target": "z"}, "no column 'z' named in target"),
    ("a,label:b\n1,0\n", {"target": "a", "labels": 1}, "only one of labels and target"),
]


@pytest.mark.parametrize(("text", "options", "message"), DEFECTS)
def test_defects(write, text, options, message):
    with pytest.raises(ValueError, match=message) as info:
        read_table(write(text, "broken.csv"), **options)
    assert str(info.value).endswith(".")


def test_wrong_types_of_options(write):
    path = write(TEXT)
    with pytest.raises(TypeError, match="drop must be a list of names"):
        read_table(path, drop="colour")
    with pytest.raises(TypeError):
        read_table(path, labels=True)


@pytest.fixture
def frame():
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    return pd.DataFrame(
        {
            "size": [1.5, None, -2.0],
            "count": pd.array([3, None, 4], dtype="Int64"),
            "old": [True, False, True],
            "colour": pd.Categorical(["red", None, "blue"]),
            "label:a": [0, 1, -1],
            "label:b": [True, False, None],
        }
    )


def test_parquet(frame, tmp_path):
    path = tmp_path / "toy.parquet"
    frame.to_parquet(path)
    toy = read_table(path, categorical=["colour"])
    nan = np.nan
    expected = [[1.5, 3, 1, 0, 1], [nan, nan, 0, nan, nan], [-2, 4, 1, 1, 0]]
    np.testing.assert_array_equal(toy.data, expected)
    assert toy.feature_names == ["size", "count", "old", "colour=blue", "colour=red"]
    assert toy.target.tolist() == [[0, 1], [1, 0], [-1, -1]]
    with pytest.raises(ValueError, match=r"row 0: column 'colour' holds 'red'.*drop"):
        read_table(path)
    toy = read_table(path, target="colour", drop=["label:a", "label:b"])
    assert toy.target.tolist() == [1, -1, 0] and toy.target_names == ["blue", "red"]


def test_parquet_equals_csv(frame, tmp_path):
    frame.to_parquet(tmp_path / "toy.parquet")
    frame.to_csv(tmp_path / "toy.csv", index=False)
    options = {"categorical": ["colour"]}
    one = read_table(tmp_path / "toy.parquet", **options)
    two = read_table(tmp_path / "toy.csv", **options)
    np.testing.assert_array_equal(one.data, two.data)
    np.testing.assert_array_equal(one.target, two.target)
    assert one.feature_names == two.feature_names


def test_parquet_defects(frame, tmp_path, monkeypatch):
    path = tmp_path / "toy.parquet"
    path.write_bytes(b"no Parquet")
    with pytest.raises(ValueError, match=r"toy\.parquet cannot be read as a Parquet"):
        read_table(path)
    frame.iloc[:0].to_parquet(path)
    with pytest.raises(ValueError, match="has no rows or no columns"):
        read_table(path)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"demurk\[tables\]"):
        read_table(path)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("csv") / "file.csv"


NAMES = st.text("abc01 ,;\"'\n.-é", min_size=1, max_size=6).filter(
    lambda name: name == name.lstrip() and name
)
NUMBERS = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_what_is_written_is_read(path, data):
    n_features, n_labels = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    size = n_features + n_labels
    names = data.draw(st.lists(NAMES, min_size=size, max_size=size, unique=True))
    row = st.tuples(
        *[NUMBERS] * n_features, *[st.sampled_from([0, 1, -1, None])] * n_labels
    )
    rows = data.draw(st.lists(row, min_size=1, max_size=5))
    stream = io.StringIO(newline="")
    csv.writer(stream, quoting=csv.QUOTE_MINIMAL).writerows([names, *rows])
    path.write_text(stream.getvalue(), encoding="utf-8", newline="")
    toy = read_table(path, labels=n_labels)
    expected = np.array([r[:n_features] for r in rows], dtype=float)
    np.testing.assert_array_equal(toy.data, expected)
    labels = [[-1 if c is None else c for c in r[n_features:]] for r in rows]
    assert toy.target.tolist() == labels
    assert toy.feature_names + toy.target_names == names


PIECES = ["", *"0129.,-e'\"\n\t_ ", "nan", "inf", "\r\n", "é", "\0", "?"]


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_mutated_files_give_an_error_or_consistent_data(path, data):
    text = 'a,"b c",label:y,label:z\n1.5,2,0,1\n-2e3,,1,-1\n"0",7,1,1\n'
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 5))
        middle = data.draw(st.sampled_from(PIECES))
        text = text[:position] + middle + text[position + length :]
    path.write_text(text, encoding="utf-8", newline="")
    try:
        toy = read_table(path)
    except ValueError as error:
        assert "file.csv" in str(error) and str(error).endswith(".")
        return
    n = len(toy.data)
    assert toy.data.shape == (n, len(toy.feature_names)) and n > 0
    assert toy.target.shape == (n, len(toy.target_names))
    assert not np.isinf(toy.data).any()
    assert set(np.unique(toy.target)) <= {-1, 0, 1}


def test_only_some_columns_are_read(write):
    toy = read_table(write(TEXT), columns=["label:b", "size"])
    assert toy.feature_names == ["size"] and toy.target_names == ["b"]
    bare = read_table(write(TEXT), labels=0, columns=["size"])
    assert bare.data.shape == (3, 1) and bare.target.shape == (3, 0)
    with pytest.raises(ValueError, match="no column 'weight' named in columns"):
        read_table(write(TEXT), columns=["weight"])
