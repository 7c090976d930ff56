"""Tests of what is said about tables, and of names that may mean two formats."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import gzip
import random

import numpy as np
import pytest

from demurk.datasets import read_dataset, read_table

pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


@pytest.fixture
def write(tmp_path):
    def write(text, name="toy.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return write


# Tables and libsvm


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("name", ["t.txt", "t.svm", "t.txt.gz"])
def test_a_table_is_one_whatever_its_name(write, encoding, name):
    data = "time\tkind\n1.5\tcat\n2\tdog\n4\tcat\n".encode(encoding)
    path = write(gzip.compress(data) if name.endswith("gz") else data, name)
    assert read_table(path, class_="kind").y.tolist() == ["cat", "dog", "cat"]
    assert read_dataset(path, target="kind").data.ravel().tolist() == [1.5, 2, 4]
    with pytest.raises(ValueError, match=r"which column holds .*--class kind"):
        read_table(path)


@pytest.mark.parametrize("begin", ["", "# made by hand\n\n", "7\n", " 2:1\n", "1,7 \n"])
def test_libsvm_text_is_no_table(write, begin):
    path = write(f"{begin}1 1:0.5 2:1\n7 1:1\n", "t.txt")
    table = read_table(path)
    assert table.source.format == "bunch" and table.features.shape[1] == 2
    assert read_dataset(path).target_names == ["1", "7"]


def test_what_is_said_about_a_table_makes_it_one(write):
    path = write("1 1:0.5 2:1\n7 1:1\n", "t.txt")
    with pytest.raises(ValueError, match=r"t\.txt has no column 'kind' named in --cl"):
        read_table(path, class_="kind")


def test_damaged_and_empty_text_is_left_to_libsvm(write):
    for data in (b"\x1f\x8bno text", b"1 1:x\n"):
        with pytest.raises(ValueError, match="cannot be read as libsvm text"):
            read_table(write(data, "t.txt"))
    with pytest.raises(ValueError, match="has no rows"):
        read_table(write("", "t.txt"))


# What is wrong, and what would be right


def test_an_unknown_column_is_told_the_others_in_their_order(write):
    path = write("d,b,a,c,e,class\n1,2,3,4,5,u\n2,3,1,1,2,v\n")
    with pytest.raises(ValueError, match="are 'd', 'b', 'a', 'c', 'e', 'class'"):
        read_table(path, drop=["z"])


@pytest.mark.parametrize(
    ("cells", "ways"),
    [
        (["dog;dry", "dog", "sky;dry"], ["--tags t", "--candidates t", "--class t"]),
        (["dog, dry", "dog", "sky, dry"], ["--tags t", "--class t"]),
        (["cat|dog", "cat", "dog"], ["--candidates t", "--tags t", "--class t"]),
        (["rome, it", "paris, fr", "rome, it"], ["--class t"]),
        (["dog dry", "dog", "sky"], ["--class t"]),
    ],
)
def test_cells_with_several_values_may_be_tags_or_candidates(write, cells, ways):
    rows = "".join(f'{i / 7:.3f},"{cells[i % 3]}"\n' for i in range(30))
    with pytest.raises(ValueError, match="which column holds the labels") as info:
        read_table(write(f"x,t\n{rows}"))
    said = str(info.value).partition("try `")[2].split("`, `")
    assert [way[way.index("--") :].rstrip("`.") for way in said] == ways


def test_prose_with_commas_is_not_taken_for_tags(write):
    words = [f"w{i}" for i in range(60)]
    choose = random.Random(0)
    rows = [f'{i / 7},"{", ".join(choose.sample(words, 4))}"\n' for i in range(60)]
    with pytest.raises(ValueError, match="none looks like one"):
        read_table(write(f"x,t\n{''.join(rows)}"))


def test_leaks_are_named_as_the_columns_of_the_table(write, tmp_path):
    pytest.importorskip("skrub")
    rows = "".join(f"{i % 7},{'ab'[i % 2]}!,{'ab'[i % 2]}\n" for i in range(40))
    path = write(f"x,copy,class\n{rows}")
    assert read_table(path).leaks == ["copy"]
    assert read_table(path, drop=["copy"]).leaks == []
    np.save(tmp_path / "f.npy", np.arange(40.0).reshape(-1, 1) % 2)
    more = read_table(path, features=tmp_path / "f.npy", categorical=["copy"])
    assert more.leaks == ["f0", "copy"]


def test_a_table_without_features_is_named(write):
    path = write("class\na\nb\na\n")
    with pytest.raises(ValueError, match=r"toy\.csv has no column beside the labels"):
        _ = read_table(path).features


def test_no_text_is_no_table(write):
    noise = np.random.default_rng(0).integers(0, 256, 3000, dtype=np.uint8).tobytes()
    for data in (noise, b"PK\3\4" + bytes(200), "x,class\n1,a\n".encode("utf-16-le")):
        with pytest.raises(ValueError, match=r"toy\.csv is no text.*--encoding"):
            read_table(write(data))
    path = write("x,class\n1,a\n2,b\n", encoding="utf-16-le")
    assert read_table(path, encoding="utf-16-le").y.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n1\n2,3\n", "line 3: the row has 2 values but there is 1 column;"),
        ("a,b\n1,2\n3\n", "line 3: the row has 1 value but there are 2 columns;"),
    ],
)
def test_one_is_no_plural(write, text, message):
    with pytest.raises(ValueError, match=message):
        read_table(write(text), labels=0)


def test_a_cell_of_endless_brackets_is_no_list(write):
    nested = "[" * 200_000
    path = write(f"x,keywords\n1,a\n2,{nested}\n")
    with pytest.raises(ValueError, match=r"line 3: .*no JSON list"):
        read_table(path, tags="keywords")


def test_the_mark_before_the_first_name_is_no_part_of_it(write):
    path = write("\ufeffkind,time\ncat,1\ndog,2\ncat,4\n")
    for encoding in (None, "utf-8", "UTF8"):
        table = read_table(path, class_="kind", encoding=encoding)
        assert table.y.tolist() == ["cat", "dog", "cat"]
