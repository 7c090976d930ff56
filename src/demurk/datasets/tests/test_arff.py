"""Tests of the ARFF reader on small files and on defects."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import gzip
import time

import numpy as np
import pytest
from scipy import sparse
from scipy.io import arff as scipy_arff

from demurk.datasets import read_arff

HEADER = """% a comment
@RELATION toy
@attribute size numeric
@attribute 'two words' REAL [0, 1]
@attribute colour {red, green,'dark blue'}
@attribute flag {YES,NO}
@attribute first {0,1}
@attribute second {0, 1}
@data
"""
XML = '<labels xmlns="http://mulan.sourceforge.net/labels">{}</labels>'


@pytest.fixture
def write(tmp_path):
    def write(text, name="toy.arff"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


def dense(data):
    return data.toarray() if sparse.issparse(data) else data


def test_dense_rows(write):
    path = write(
        HEADER + "1,0.5,green,YES,0,1\n"
        "% a comment\n\n"
        " -2e3 , ? ,'dark blue', NO, 1 ,? % another\n"
    )
    toy = read_arff(path, n_labels=2)
    expected = [[1, 0.5, 0, 1, 0, 1], [-2000, np.nan, 0, 0, 1, 0]]
    np.testing.assert_array_equal(toy.data, expected)
    assert toy.data.dtype == np.float64
    assert toy.feature_names == [
        "size",
        "two words",
        "colour=red",
        "colour=green",
        "colour=dark blue",
        "flag",
    ]
    assert toy.target.tolist() == [[0, 1], [1, -1]] and toy.target.dtype == np.int8
    assert toy.target_names == ["first", "second"]
    assert toy.name == "toy"


def test_sparse_rows_equal_dense_rows(write):
    """An absent entry is 0, or the first value of a nominal attribute."""
    in_full = write(HEADER + "1,0,red,YES,0,1\n0,0,red,YES,0,0\n3,?,green,NO,1,0\n")
    short = write(
        HEADER + "{0 1,5 1}\n{ }\n{4 1, 0 3 ,1 ?, 2 green,3 NO} % end\n", "s.arff"
    )
    expected, found = read_arff(in_full, n_labels=2), read_arff(short, n_labels=2)
    assert isinstance(found.data, sparse.csr_array)
    np.testing.assert_array_equal(found.data.toarray(), expected.data)
    np.testing.assert_array_equal(found.target, expected.target)
    assert found.feature_names == expected.feature_names
    assert np.isnan(found.data.data).sum() == 1 and (found.data.data != 0).all()


def test_missing_nominal_values_are_nan_in_every_column(write):
    for row in ("0,0,?,?,0,0", "{2 ?, 3 ?}"):
        data = dense(read_arff(write(HEADER + row), n_labels=2).data)
        np.testing.assert_array_equal(data, [[0, 0] + [np.nan] * 4])


def test_quotes_and_escapes(write):
    path = write(
        "@relation x\n"
        "@attribute \"double 'inside'\" {'it\\'s', \"a,b\", 'c}', \"%\"}\n"
        "@attribute TAG_m'usica {0,1}\n"
        "@data\n'it\\'s',1\n\"a,b\",0\n'c}',1\n\"%\",0\n"
    )
    toy = read_arff(path, n_labels=1)
    np.testing.assert_array_equal(toy.data, np.eye(4))
    assert toy.feature_names[0] == "double 'inside'=it's"
    assert toy.target_names == ["TAG_m'usica"]
    text = path.read_text().split("@data")[0] + "@data\n{0 \"a,b\", 1 1}\n{0 'c}'}\n"
    toy = read_arff(write(text, "sparse.arff"), n_labels=1)
    np.testing.assert_array_equal(toy.data.toarray(), np.eye(4)[1:3])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("{0,1}", {"0": 0, "1": 1}),
        ("{1,0}", {"1": 1, "0": 0}),
        ("{YES,NO}", {"YES": 1, "NO": 0}),
        ("{no,yes}", {"no": 0, "yes": 1}),
        ("{False,TRUE}", {"False": 0, "TRUE": 1}),
        ("{1}", {"1": 1}),
    ],
)
def test_yes_no_attributes_are_read_by_name(write, values, expected):
    head = f"@relation x\n@attribute a {values}\n@attribute l {values}\n@data\n"
    for value, number in expected.items():
        for row in (f"{value},{value}", f"{{0 {value},1 {value}}}"):
            toy = read_arff(write(head + row), n_labels=1)
            assert dense(toy.data).tolist() == [[number]]
            assert toy.target.tolist() == [[number]]
    first = next(iter(expected.values()))
    toy = read_arff(write(head + "{}"), n_labels=1)
    assert toy.data.toarray().tolist() == [[first]] == toy.target.tolist()


def test_agrees_with_scipy_on_dense_files(write):
    rng = np.random.RandomState(0)
    rows = rng.normal(size=(30, 3)).round(4)
    labels = rng.randint(0, 2, size=(30, 2))
    names = ["a", "b", "c"]
    text = "@relation r\n" + "".join(f"@attribute {n} numeric\n" for n in names)
    text += "@attribute y {0,1}\n@attribute z {0,1}\n@data\n"
    text += "\n".join(
        ",".join(map(str, [*r, *y])) for r, y in zip(rows.tolist(), labels.tolist())
    )
    path = write(text)
    toy, (records, _) = read_arff(path, n_labels=2), scipy_arff.loadarff(path)
    for j, name in enumerate(names):
        np.testing.assert_array_equal(toy.data[:, j], records[name])
    for j, name in enumerate("yz"):
        np.testing.assert_array_equal(toy.target[:, j], records[name].astype(int))


def test_compressed_files_and_byte_order_mark(tmp_path):
    path = tmp_path / "toy.arff.gz"
    text = "\ufeff" + HEADER + "1,0,red,NO,1,0\r\n"
    path.write_bytes(gzip.compress(text.encode()))
    toy = read_arff(path, n_labels=2)
    assert toy.name == "toy" and toy.target.tolist() == [[1, 0]]


def test_encoding(tmp_path):
    path = tmp_path / "latin.arff"
    text = "@relation x\n@attribute tête numeric\n@attribute l {0,1}\n@data\n1,1\n"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=r"latin.arff is not utf-8 text.*encoding="):
        read_arff(path, n_labels=1)
    assert read_arff(path, n_labels=1, encoding="latin-1").feature_names == ["tête"]


LABELS = """@relation '{}'
@attribute a {{0,1}}
@attribute b {{0,1}}
@attribute c {{0,1}}
@data
1,0,0
"""


@pytest.mark.parametrize(
    ("relation", "options", "expected"),
    [
        ("x: -C 2", {}, ["a", "b"]),
        ("x: -C -2 -split-number 5", {}, ["b", "c"]),
        ("x: -C 2", {"n_labels": 1}, ["c"]),
        ("x", {"n_labels": 1, "labels_first": True}, ["a"]),
        ("x", {"n_labels": 0}, []),
        ("x", {"label_names": ["c", "a"]}, ["a", "c"]),
        ("x: -C 2", {"drop": ["a"]}, ["b"]),
        ("x: -C -2", {"drop": ["a"], "label_names": ["b"]}, ["b"]),
    ],
)
def test_where_labels_come_from(write, relation, options, expected):
    toy = read_arff(write(LABELS.format(relation)), **options)
    assert toy.target_names == expected
    assert toy.target.shape == (1, len(expected))
    dropped = set(options.get("drop", ()))
    assert set(toy.feature_names) == set("abc") - set(expected) - dropped


def test_label_list_beside_the_file(write):
    path = write(LABELS.format("x: -C 2 -C 2"), "toy-train.arff")
    write(XML.format('<label name="c"/>'), "toy.xml")
    write(XML.format('<label name="a"/>'), "to.xml")
    assert read_arff(path).target_names == ["c"]
    write(XML.format('<label name="a"><label name="b"/></label>'), "toy-train.xml")
    assert read_arff(path).target_names == ["a", "b"]
    assert read_arff(path, n_labels=1).target_names == ["c"]


def test_label_list_by_path_and_with_another_escape(write):
    path = write(
        "@relation x\n@attribute a numeric\n@attribute 'm\\'usica' {0,1}\n@data\n1,1\n"
    )
    xml = write(XML.format('<label name="m\\\'usica"/>'), "names.xml")
    for given in (xml, str(xml)):
        assert read_arff(path, label_names=given).target_names == ["m'usica"]


def test_class_attribute(write):
    head = "@relation x\n@attribute a numeric\n@attribute class {}\n@data\n"
    nominal = write(head.format("{c,b,a}") + "1,a\n2,c\n3,?\n4,a\n")
    toy = read_arff(nominal, target="class")
    assert toy.target.tolist() == [1, 0, -1, 1] and toy.target_names == ["c", "a"]
    numeric = write(head.format("integer") + "1,10\n2,9\n3,?\n4,-1\n")
    toy = read_arff(numeric, target="class")
    assert toy.target.tolist() == [1, 0, -1, -1] and toy.target_names == ["9", "10"]
    assert toy.target.dtype == np.int64


def test_nominal_attributes_as_numbers(write):
    text = "@relation x\n@attribute o {3,1,2}\n@attribute w {u,v}\n"
    text += "@attribute l {0,1}\n@data\n"
    path = write(text + "2,u,1\n3,v,0\n?,u,1\n")
    toy = read_arff(path, n_labels=1, as_number=True)
    np.testing.assert_array_equal(toy.data, [[2, 1, 0], [3, 0, 1], [np.nan, 1, 0]])
    assert toy.feature_names == ["o", "w=u", "w=v"]
    named = read_arff(path, n_labels=1, as_number=["o"])
    np.testing.assert_array_equal(named.data, toy.data)
    short = write(text + "{0 2,2 1}\n{1 v}\n{0 ?,2 1}\n", "short.arff")
    found = read_arff(short, n_labels=1, as_number=["o"])
    np.testing.assert_array_equal(found.data.toarray(), toy.data)
    with pytest.raises(ValueError, match=r"'w' of .* values that are not numbers"):
        read_arff(path, n_labels=1, as_number=["w"])


def test_dropped_text_is_not_read(write):
    path = write(
        "@relation x\n@attribute id string\n@attribute a numeric\n"
        "@attribute day date 'yyyy-MM-dd'\n@attribute l {0,1}\n@data\n"
        "'row one',1,'2001-01-01',0\n? ,2,nonsense,1\n"
    )
    toy = read_arff(path, n_labels=1, drop=["id", "day"])
    assert toy.feature_names == ["a"] and toy.data.tolist() == [[1], [2]]


def edit(line, text):
    """HEADER and a good row with one line replaced; the row is line 10."""
    lines = (HEADER + "1,0,red,NO,1,0").split("\n")
    lines[line - 1] = text
    return "\n".join(lines)


DEFECTS = {
    "too few values": (edit(10, "1,0,red,NO,1"), "line 10: the row has 5 values but 6"),
    "too many values": (edit(10, "1,0,red,NO,1,0,"), "line 10: the row has 7 values"),
    "unknown nominal": (
        edit(10, "1,0,pink,NO,1,0"),
        "line 10: .*'colour' holds 'pink'",
    ),
    "unknown flag": (edit(10, "1,0,red,no,1,0"), "line 10: .*'flag' holds 'no'"),
    "text for number": (edit(10, "x,0,red,NO,1,0"), "line 10: .*'size' holds 'x'"),
    "empty value": (edit(10, "1,,red,NO,1,0"), "line 10: .*'two words' holds ''"),
    "infinite": (
        edit(10, "1e999,0,red,NO,1,0"),
        "'size' holds '1e999'; expected a fin",
    ),
    "nan": (
        edit(10, "nan,0,red,NO,1,0"),
        "'size' holds 'nan'.*or \\? if it is missing",
    ),
    "underscore": (edit(10, "1_0,0,red,NO,1,0"), "'size' holds '1_0'"),
    "label value": (edit(10, "1,0,red,NO,2,0"), "line 10: .*'first' holds '2'"),
    "open quote": (edit(10, "1,0,'red,NO,1,0"), "line 10: a quote is not closed"),
    "open quote, header": (edit(4, "@attribute 'two real"), "line 4: cannot read"),
    "open quote, values": (edit(5, "@attribute c {a, 'b}"), "line 5: a quote is not"),
    "text after quote": (
        edit(10, "1,0,'red'x,NO,1,0"),
        "line 10: a quote .*follows it",
    ),
    "sparse, index": (edit(10, "{6 1}"), "line 10: the entry '6 1' .* from 0 to 5"),
    "sparse, negative": (edit(10, "{-1 1}"), "line 10: the entry '-1 1'"),
    "sparse, twice": (
        edit(10, "{0 1,0 2}"),
        "line 10: attribute number 0 occurs twice",
    ),
    "sparse, no value": (edit(10, "{0}"), "line 10: the entry '0' of the sparse row"),
    "sparse, empty entry": (edit(10, "{0 1,}"), "line 10: the entry ''"),
    "sparse, not closed": (edit(10, "{0 1,1 1"), "line 10: the sparse row has no }"),
    "sparse, quote": (edit(10, "{2 'red}"), "line 10: the quote in 'red is not closed"),
    "sparse, value": (edit(10, "{2 pink}"), "line 10: .*'colour' holds 'pink'"),
    "mixed rows": (edit(10, "1,0,red,NO,1,0\n{0 1}"), "line 11: .* rows are mixed"),
    "no data line": (HEADER.replace("@data\n", ""), "line 8: the file ends without"),
    "no rows": (HEADER, "line 9: there is no row after @data"),
    "empty file": ("", "line 0: the file ends without a line @data"),
    "data line first": ("@data\n1,2\n", "line 1: @data comes before any @attribute"),
    "unknown type": (edit(3, "@attribute size number"), "line 3: .*unknown type 'numb"),
    "relational": (edit(3, "@attribute size relational"), "line 3: .*unknown type"),
    "open list": (edit(5, "@attribute colour {red"), "line 5: .*unknown type '{red'"),
    "no type": (edit(3, "@attribute size"), "line 3: cannot read '@attribute size'"),
    "unknown keyword": (edit(3, "@atribute size real"), "line 3: the header holds"),
    "stray text": (edit(2, "relation toy"), "line 2: the header holds 'relation toy'"),
    "two of a name": (edit(4, "@attribute size real"), "line 4: .*declared before.*3"),
    "value listed twice": (edit(5, "@attribute c {a,b,a}"), "line 5: .* a duplicate"),
    "empty list": (edit(5, "@attribute c {}"), "line 5: .*duplicate, an empty one"),
    "text feature": (edit(3, "@attribute size string"), r"line 3: .*'size'.*in drop"),
}


@pytest.mark.parametrize("name", DEFECTS)
def test_defects_are_named_with_file_line_and_remedy(write, name):
    text, message = DEFECTS[name]
    path = write(text, "broken.arff")
    with pytest.raises(ValueError, match=message) as info:
        read_arff(path, n_labels=2)
    found = str(info.value)
    assert "broken.arff, line" in found
    assert found.endswith(".") and "\n" not in found


@pytest.mark.parametrize(
    ("values", "row", "message"),
    [
        ("numeric", "1,0.5", "line 6: label 'l' is 0.5; labels are 0, 1 or"),
        ("numeric", "1,-1", "line 6: label 'l' is -1"),
        ("{-1,1}", "1,-1", "line 3: label 'l' has the values -1, 1"),
        ("{a,b}", "1,a", "line 3: label 'l' has the values a, b.* by target"),
    ],
)
def test_label_values(write, values, row, message):
    text = f"@relation x\n@attribute a real\n@attribute l {values}\n@data\n\n{row}\n"
    with pytest.raises(ValueError, match=message):
        read_arff(write(text), n_labels=1)


@pytest.mark.parametrize(
    ("relation", "options", "message"),
    [
        ("x", {}, "does not say which attributes are labels: .*no usable option -C"),
        ("x: -C 0", {}, "does not say which attributes are labels"),
        ("x: -C 2-y: -C 2", {}, "several options -C"),
        ("x: -C 2 y: -C 2", {}, "its relation name has several options -C"),
        ("x: -C 3", {}, "cannot have 3 labels among its 3 attributes"),
        ("x", {"n_labels": 4}, "cannot have 4 labels"),
        ("x", {"n_labels": -1}, "cannot have -1 labels"),
        ("x", {"label_names": ["z"]}, "no column 'z' named in label_names"),
        ("x", {"target": "z"}, "no column 'z' named in target"),
        ("x", {"n_labels": 1, "drop": ["z"]}, "no column 'z' named in drop"),
        ("x", {"n_labels": 1, "target": "a"}, "Give only one of"),
        ("x", {"n_labels": 2, "drop": ["a"]}, "no attribute left"),
        ("x", {"n_labels": 1, "as_number": ["z"]}, "no column 'z' named in as_number"),
    ],
)
def test_label_options(write, relation, options, message):
    path = write(LABELS.format(relation))
    with pytest.raises(ValueError, match=message):
        read_arff(path, **options)


def test_lone_string_for_a_list(write):
    path = write(LABELS.format("x"))
    with pytest.raises(TypeError, match="drop must be a list of names"):
        read_arff(path, n_labels=1, drop="a")


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("<labels><label name='z'/></labels>", "no column 'z'"),
        ("<labels><label/></labels>", "no Mulan label list"),
        ("<settings/>", "no Mulan label list"),
        ("<labels>", "toy.xml is not valid XML"),
        ("<?xml version='1.0' encoding='murky'?><labels/>", "an unknown encoding"),
        ("<?xml version='1.0' encoding='utf-7'?><labels/>", "an unknown encoding"),
        ("<!DOCTYPE l [<!ENTITY a 'b'>]><l>&a;</l>", "declares an entity"),
        ("<!DOCTYPE l [<!ENTITY a SYSTEM 'toy.arff'>]><l/>", "declares an entity"),
        ("<l>" * 100_000 + "</l>" * 100_000, "no Mulan label list"),
        (f"<labels><label name='{'z' * 9000}'/></labels>", "no column 'zzz"),
    ],
)
def test_bad_label_lists(write, xml, message):
    path = write(LABELS.format("x"))
    write(xml, "toy.xml")
    with pytest.raises(ValueError, match=message) as info:
        read_arff(path)
    found = str(info.value)
    assert found.endswith(".") and "\n" not in found and len(found) < 400


ABSURD = {
    "labels": (
        "@relation 'x: -C " + "9" * 400 + "'\n@attribute a real\n@data\n1",
        "-C",
    ),
    "digits": (
        "@relation 'x: -C " + "9" * 5000 + "'\n@attribute a real\n@data\n1",
        "-C",
    ),
    "index": (
        "@relation 'x: -C 1'\n@attribute a real\n@attribute b real\n@data\n{"
        + "9" * 5000
        + " 1}",
        "line 5: the entry '999",
    ),
    "name": (f"@relation 'x: -C 1'\n@attribute {'a' * 9000} text\n@data\n1", "unknown"),
    "value": (
        f"@relation 'x: -C 1'\n@attribute a {{{'b' * 9000}}}\n@attribute c real\n"
        "@data\nz,1",
        "holds 'z'; expected one of bbb",
    ),
}


@pytest.mark.parametrize("name", ABSURD)
def test_absurd_numbers_and_names(write, name):
    text, message = ABSURD[name]
    with pytest.raises(ValueError) as info:
        read_arff(write(text))
    found = str(info.value)
    assert message in found
    assert found.endswith(".") and "\n" not in found and len(found) < 500


def test_columns_that_nobody_could_hold(write):
    """20,000 labels of 60,000 empty rows took a gigabyte from 600 kB."""
    header = "@relation x\n@attribute x real\n"
    header += "".join(f"@attribute a{i} {{0,1}}\n" for i in range(20_000)) + "@data\n"
    with pytest.raises(ValueError, match=r"label matrix in .* too many to believe"):
        read_arff(write(header + "{}\n" * 60_000), n_labels=20_000)
    values = ",".join(map(str, range(20_000)))
    header = f"@relation x\n@attribute x {{{values}}}\n@attribute l real\n@data\n"
    with pytest.raises(ValueError, match=r"nominal attributes in .* too many"):
        read_arff(write(header + "{}\n" * 10_000), n_labels=1)


def test_spaces_before_a_broken_quote_cost_nothing(write):
    """100,000 of them took minutes: the time grew with their square."""
    text = "@relation x\n@attribute a real\n@attribute b real\n@data\n'1',"
    start = time.perf_counter()
    with pytest.raises(ValueError, match="a quote is not closed"):
        read_arff(write(text + " " * 100_000 + "'1"), n_labels=1)
    assert time.perf_counter() - start < 2


def test_many_labels_in_a_list_are_found_in_linear_time(write):
    names = [f"a{i}" for i in range(20_000)]
    text = "@relation x\n@attribute x real\n"
    text += "".join(f"@attribute {name} real\n" for name in names) + "@data\n{1 1}\n"
    write(XML.format("".join(f'<label name="{n}"/>' for n in names)), "toy.xml")
    start = time.perf_counter()
    assert read_arff(write(text)).target.shape == (1, 20_000)
    assert time.perf_counter() - start < 4


def test_an_unknown_encoding_is_named(write):
    with pytest.raises(ValueError, match="encoding 'murky' is not known"):
        read_arff(write(LABELS.format("x")), n_labels=1, encoding="murky")


def test_damaged_archive_and_missing_file(tmp_path):
    path = tmp_path / "cut.arff.gz"
    whole = gzip.compress((HEADER + "1,0,red,NO,1,0\n" * 500).encode())
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"cut.arff.gz is damaged gzip data"):
        read_arff(path, n_labels=2)
    with pytest.raises(FileNotFoundError, match=r"There is no file .*none\.arff"):
        read_arff(tmp_path / "none.arff")
