"""Tests of tables: formats, label forms, features, writing back."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import csv
import gzip
import io
import json
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import demurk.io as saving
from demurk.datasets import read_table, table_features

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

TEXT = "size,colour,label:a,label:b\n1.5,red,0,1\n,blue,1,\n-2,red,-1,0\n"


@pytest.fixture
def write(tmp_path):
    def write(text, name="toy.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return write


def entries(table):
    """Labels as 1, 0 and -1."""
    return np.where(table.labels.observed, table.labels.values, -1).tolist()


# Labels


def test_label_columns_are_found_by_their_prefix(write):
    toy = read_table(write(TEXT), categorical=["colour"])
    assert toy.feature_names == ["size", "colour=blue", "colour=red"]
    assert toy.features.tolist() == [[1.5, 0, 1], [-0.25, 1, 0], [-2, 0, 1]]
    assert entries(toy) == [[0, 1], [1, -1], [-1, 0]]
    assert toy.labels.classes.tolist() == ["a", "b"] and toy.name == "toy"
    assert toy.labels.kind == "labels" and not toy.labels.single


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (2, ["a", "b"]),
        (["label:b", "label:a"], ["a", "b"]),
        ("label:a", ["a"]),
        ("label:", ["a", "b"]),
    ],
)
def test_ways_to_name_labels(write, labels, names):
    toy = read_table(write(TEXT), labels=labels, drop=["colour"])
    assert toy.labels.classes.tolist() == names


def test_one_label_is_a_label_and_no_class(write):
    toy = read_table(write("x,spam\n1,0\n2,1\n3,\n"), labels="spam")
    assert entries(toy) == [[0], [1], [-1]] and toy.labels.classes.tolist() == ["spam"]
    assert not toy.labels.single and list(toy.y.columns) == ["spam"]


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        ("TRUE,false,True,", [1, 0, 1, -1]),
        ("yes,No,?,n/a", [1, 0, -1, -1]),
        ("y,n,NA,-1", [1, 0, -1, -1]),
        (" 1,0 ,1.0,-1.0", [1, 0, 1, -1]),
        ("T,F,nan,null", [1, 0, -1, -1]),
    ],
)
def test_spellings_of_yes_and_no(write, cells, values):
    rows = "".join(f"{i % 2},{cell}\n" for i, cell in enumerate(cells.split(",")))
    toy = read_table(write(f"x,l\n{rows}"), labels=["l"])
    assert [row[0] for row in entries(toy)] == values


@pytest.mark.parametrize(
    ("cells", "classes", "unlabelled"),
    [
        (["cat", " dog", "cat ", ""], ["cat", "dog"], [3]),
        (["1.0", "2", "", "1"], [1, 2], [2]),
        (["10", "9", "-1", "10"], [9, 10], [2]),
        (["-1", "1", "-1", "1"], ["-1", "1"], []),
        (["007", "7", "007", "?"], ["007", "7"], [3]),
        (["99999999999999999999", "1", "1", "1"], ["1", "99999999999999999999"], []),
        (["new york", "rome", "rome", "NA"], ["new york", "rome"], [3]),
    ],
)
def test_classes(write, cells, classes, unlabelled):
    rows = "".join(f"{i % 3},{cell}\n" for i, cell in enumerate(cells))
    toy = read_table(write(f"x,kind\n{rows}"), class_="kind")
    assert toy.labels.classes.tolist() == classes and toy.labels.single
    assert np.flatnonzero(~toy.labels.labeled).tolist() == unlabelled


def test_whole_classes_with_gaps_stay_whole(tmp_path):
    frame = pd.DataFrame({"x": [1.0, 2, 4], "y": [1.0, np.nan, 2]})
    frame.to_parquet(tmp_path / "t.parquet")
    toy = read_table(tmp_path / "t.parquet")
    assert toy.labels.classes.tolist() == [1, 2] and toy.y.tolist() == [1, -1, 2]


@pytest.mark.parametrize("name", ["class", "Label", "target", "y", "Category"])
def test_a_class_column_is_found_by_its_name(write, name):
    toy = read_table(write(f"x,{name}\n1,a\n2,b\n1,\n"))
    assert toy.form.form == "class" and toy.form.columns == (name,)


@pytest.mark.parametrize("sep", [";", "|", "/"])
def test_tags(write, sep):
    text = f"x,words\n1,dog{sep} dry\n2,\n3,none\n4,dog\n5,[]\n"
    toy = read_table(write(text), tags="words")
    assert toy.labels.classes.tolist() == ["dog", "dry"] and toy.form.sep == sep
    assert entries(toy) == [[1, 1], [-1, -1], [0, 0], [1, 0], [0, 0]]
    extra = read_table(write(text), tags="words", noise="extra")
    assert extra.labels.kind == extra.form.kind != "labels"


def test_the_separator_of_tags_may_be_said(write):
    text = "x,words\n1,a;b c\n2,c\n"
    for options in ({"tag_sep": " "}, {"sep": " "}):
        toy = read_table(write(text), tags="words", **options)
        assert toy.labels.classes.tolist() == ["a;b", "c"]


def test_lists_of_tags(write, tmp_path):
    rows = [["dog", "dry"], None, [], ["dog"]]
    expected = [[1, 1], [-1, -1], [0, 0], [1, 0]]
    frame = pd.DataFrame({"x": [1.0, 2, 5, 4], "words": rows})
    frame.to_parquet(tmp_path / "t.parquet")
    assert entries(read_table(tmp_path / "t.parquet", tags="words")) == expected
    cells = ["" if row is None else json.dumps(row) for row in rows]
    frame.assign(words=cells).to_csv(tmp_path / "t.csv", index=False)
    assert entries(read_table(tmp_path / "t.csv", tags="words")) == expected


def test_candidates(write):
    toy = read_table(write("x,kind\n1,cat|lynx\n2,cat\n3,\n"), candidates="kind")
    assert toy.labels.kind == "candidates"
    assert entries(toy) == [[1, 1], [1, 0], [-1, -1]]


REFUSED = [
    ("x,l\n1,0\n2,2\n", {"labels": ["l"]}, "line 3: column 'l' holds '2'.*--class l"),
    ("x,l\n1,0.5\n", {"labels": ["l"]}, "line 2: column 'l' holds '0.5'"),
    ('x,l\n"a\nb",0\nc,u\n', {"labels": ["l"]}, "line 4: column 'l' holds 'u'"),
    ("x,l\n1,\n2,\n", {"labels": ["l"]}, "no labelled row: all cells of --labels l"),
    ("x,y\n1,\n2,\n", {}, "no labelled row: all cells of --class y"),
    ("a,b\n1,0\n3,1\n", {}, "try `demurk COMMAND .*--labels b`"),
    ("a,b c\n1.5,u\n2,v\n2,u\n", {}, "--class 'b c'`"),
    ("a,b\n1.5,2.5\n3,7.25\n", {}, "none looks like one; name it with --labels"),
    ("x,class,target\n1,a,b\n", {}, "--class class or --class target"),
    ("x,class,label:z\n1,a,1\n", {}, "--labels label: or --class class"),
    ("x,class\n1,a\n", {"class_": "class", "tags": "x"}, "--class and --tags say two"),
    ("x,t\n1,[a\n", {"tags": "t"}, "line 2: column 't' holds '.a', which is no JSON"),
    ("x,t\n1,[]\n2,a\n", {"candidates": "t"}, "line 2: column 't' has no candidate"),
    ("x,l\n1,0\n", {"labels": 2}, "cannot have 2 labels among its 2 columns"),
    ("x,l\n1,0\n", {"labels": ["z"]}, "no column 'z' named in --labels"),
    ("x,l\n1,0\n", {"class_": "z"}, "no column 'z' named in --class"),
    ("x,l\n1,0\n", {"class_": "l", "drop": "l"}, "'l' is named in --class and in --dr"),
    ("x,l\n1,0\n", {"labels": ["l"], "drop": ["l"]}, "'l' is named in --labels and"),
    ("x,l\n1,0\n", {"labels": ["l"], "drop": ["z"]}, "no column 'z' named in --drop"),
]


@pytest.mark.parametrize(("text", "options", "message"), REFUSED)
def test_labels_that_are_refused(write, text, options, message):
    with pytest.raises(ValueError, match=message) as info:
        read_table(write(text), **options)
    assert str(info.value).endswith(".") and "\n" not in str(info.value)


def test_measurements_are_no_classes(write):
    rows = "".join(f"{i},{i / 7:.3f}\n" for i in range(30))
    with pytest.raises(ValueError, match="30 different values in 30 rows"):
        read_table(write(f"x,target\n{rows}"))


# Text files


DEFECTS = [
    ("a,label:b\n1\n", {}, "line 2: the row has 1 value but there are 2 columns"),
    ("a,label:b\n1,0\n1,0,5\n", {}, "line 3: the row has 3 values"),
    ('a,label:b\n"1,0\n', {}, r"broken\.csv, line 2: .*check the quotes"),
    ('a,label:b\n"1"2,0\n', {}, "line 2: .*check the quotes"),
    ("a,label:b\n", {}, "has no rows"),
    ("", {}, "has no rows"),
    ("a,a,label:b\n1,2,0\n", {}, "two columns 'a'"),
    ("a,label:b\n1,0\n", {"sep": ";;"}, "--sep is ';;'"),
    ("a,label:b\n1,0\n", {"decimal": "'"}, "--decimal is"),
    ("a,label:b\n1,0\n", {"encoding": "klingon"}, "--encoding is 'klingon'"),
    (b"a,label:b\n1,0\n\xff,1\n", {"encoding": "utf-8"}, "line 3: this is not utf-8"),
]


@pytest.mark.parametrize(("text", "options", "message"), DEFECTS)
def test_defects_of_text(write, text, options, message):
    with pytest.raises(ValueError, match=message) as info:
        assert read_table(write(text, "broken.csv"), **options).features.size
    assert str(info.value).endswith(".")


@pytest.mark.parametrize(
    ("text", "name", "encoding"),
    [
        ("x;label:é\n1,5;1\n2,25;0\n", "t.csv", "latin-1"),
        ("\ufeffx;label:é\n1,5;1\n2,25;0\n", "t.csv", "utf-8"),
        ("x;label:é\r\n1,5;1\r\n2,25;0\r\n", "t.csv", "utf-16"),
        ("x\tlabel:é\n1.5\t1\n2.25\t0\n", "t.tsv", "utf-8"),
        ("x\tlabel:é\n1,5\t1\n2,25\t0\n", "t.csv", "utf-8"),
        ("x|label:é\n1.5|1\n2.25|0", "t.csv", "utf-8"),
        ("x,label:é\n\n1.5,1\n2.25,0\n\n", "t.csv", "utf-8"),
        ("x, label:é\n 1.5, 1\n2.25 ,0\n", "t.csv", "utf-8"),
        ('"x","label:é"\n"1.5","1"\n"2.25","0"\n', "t.csv", "utf-8"),
        ('x, "label:é"\n1.5, "1"\n2.25, "0"\n', "t.csv", "utf-8"),
    ],
)
def test_how_text_is_written_is_seen(write, text, name, encoding):
    toy = read_table(write(text, name, encoding))
    assert toy.features.ravel().tolist() == [1.5, 2.25]
    assert entries(toy) == [[1], [0]] and toy.labels.classes.tolist() == ["é"]
    packed = write(gzip.compress(text.encode(encoding)), name + ".gz")
    assert entries(read_table(packed)) == [[1], [0]]


def test_standard_input(monkeypatch):
    class Stdin:
        buffer = io.BytesIO(b"x,class\n1,a\n2,b\n3,z\n4,a\n")

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert read_table("-").y.tolist() == ["a", "b", "z", "a"]


def test_many_columns_take_linear_time(write):
    n = 20_000
    text = ",".join(f"c{j}" for j in range(n)) + ",class\n"
    text += "".join("1.5," * n + f"{kind}\n" for kind in "ab")
    assert read_table(write(text)).features.shape == (2, n)


NAMES = st.text("abc01 ,;\"'\n.-é", min_size=1, max_size=6).filter(
    lambda name: name == name.strip() and name
)
# The median of two larger numbers overflows, here and in numpy.
NUMBERS = st.none() | st.floats(-8e307, 8e307, allow_nan=False)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("csv") / "file.csv"


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_is_written_is_read(path, data):
    n_features, n_labels = data.draw(st.integers(1, 4)), data.draw(st.integers(1, 3))
    size = n_features + n_labels
    names = data.draw(st.lists(NAMES, min_size=size, max_size=size, unique=True))
    row = st.tuples(
        *[NUMBERS] * n_features, *[st.sampled_from([0, 1, -1, None])] * n_labels
    )
    first = (*[0.5] * n_features, *[1] * n_labels)
    rows = [first, *data.draw(st.lists(row, min_size=1, max_size=5))]
    stream = io.StringIO(newline="")
    csv.writer(stream, quoting=csv.QUOTE_MINIMAL).writerows([names, *rows])
    path.write_text(stream.getvalue(), encoding="utf-8", newline="")
    toy = read_table(path, labels=n_labels, keep=names[:n_features], sep=",")
    values = np.array([r[:n_features] for r in rows], dtype=float)
    expected = np.where(np.isnan(values), np.nanmedian(values, axis=0), values)
    np.testing.assert_array_equal(toy.features, expected)
    labels = [[-1 if c is None else c for c in r[n_features:]] for r in rows]
    assert entries(toy) == labels
    assert toy.feature_names + toy.labels.classes.tolist() == names


def test_long_names_make_no_long_sentence(path):
    name = "label:" + "l:" * 200
    path.write_text(f"a,{name}\n1.5,0\n-2,oops\n0,1\n", encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"line 3: column 'label:l:.*\.\.\.' hold"
    ) as e:
        read_table(path)
    assert len(str(e.value)) - len(str(path)) < 400


@pytest.mark.parametrize("cell", ["1_5", "\u0661", " 1"])
def test_cells_that_only_python_takes_for_numbers(path, cell):
    path.write_text(f"a,b,label:y\n{cell},1,0\n-2,2,1\n0,3,1\n", encoding="utf-8")
    assert read_table(path).features.shape[0] == 3


@pytest.mark.parametrize("name", ["label:" + "l:" * 300, '"label:a\nb"'])
def test_odd_names_of_empty_columns_stay_in_one_short_sentence(path, name):
    path.write_text(f"a,{name}\n1.5,\n-2,\n0,\n", encoding="utf-8")
    with pytest.raises(ValueError, match="no labelled row") as error:
        read_table(path)
    text = str(error.value)
    assert len(text) - len(str(path)) < 400 and "\n" not in text


def test_a_line_break_in_a_name_is_no_line_break_in_a_sentence(path):
    path.write_text('a,"b\n3"\n1.5,0\n-2,1\n0,1\n2,0\n3,1\n7,0\n', encoding="utf-8")
    with pytest.raises(ValueError, match="which column holds the labels") as error:
        read_table(path)
    assert "\n" not in str(error.value)


def test_a_nul_character_is_refused(path):
    path.write_text("a,label:y\n1.5,0\n-2e3\0,1\n0,1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"Column 'a' holds a NUL .* row 1 .*remove"):
        _ = read_table(path).features


PIECES = ["", *"0129.,-e'\"\n\t_ ;|", "nan", "inf", "\r\n", "é", "\0", "?"]


@settings(max_examples=200, deadline=None)
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
        assert toy.features.ndim == 2
    except ValueError as error:
        assert str(error).endswith(".")
        return
    assert toy.features.shape == (len(toy), len(toy.feature_names)) and len(toy)
    assert np.isfinite(toy.features).all()
    assert len(toy.columns) == toy.frame.shape[1]


# Other formats


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 2)).round(3), columns=["u", "v"])
    frame["day"] = pd.date_range("2024-01-30", periods=30).astype(str)
    frame["site"] = rng.choice(["bay", "cape"], 30)
    frame["note"] = [f"seen {i} times near tree {i % 7}" for i in range(30)]
    frame["kind"] = rng.choice(["cat", "dog"], 30)
    frame.loc[3, ["u", "kind"]] = None
    return frame


def save(frame, path):
    name = path.name.removesuffix(".gz")
    if name.endswith(".parquet"):
        frame.to_parquet(path)
    elif name.endswith((".feather", ".arrow")):
        frame.to_feather(path)
    elif name.endswith(".xlsx"):
        pytest.importorskip("openpyxl")
        frame.to_excel(path, index=False)
    elif name.endswith(".jsonl"):
        frame.to_json(path, orient="records", lines=True)
    elif name.endswith(".json"):
        frame.to_json(path, orient="records")
    else:
        frame.to_csv(path, index=False, sep="\t" if ".tsv" in name else ",")
    return path


FORMATS = [
    "t.tsv",
    "t.csv.gz",
    "t.parquet",
    "t.feather",
    "t.arrow",
    "t.xlsx",
    "t.jsonl",
    "t.json",
]


@pytest.mark.parametrize("name", FORMATS)
def test_formats_say_the_same_and_write_it_back(frame, tmp_path, name):
    pytest.importorskip("skrub")
    plain = read_table(save(frame, tmp_path / "plain.csv"), class_="kind")
    table = read_table(save(frame, tmp_path / name), class_="kind")
    assert table.feature_names == plain.feature_names
    np.testing.assert_array_equal(table.features, plain.features)
    assert table.y.tolist() == plain.y.tolist()
    y = table.y
    y[[0, 3]] = ["dog", "cat"]
    copy = read_table(table.with_labels(y).to(tmp_path / f"copy-{name}"), class_="kind")
    assert copy.y.tolist() == y.tolist()
    assert list(copy.frame.columns) == list(frame.columns)
    np.testing.assert_array_equal(copy.features, plain.features)


@pytest.mark.parametrize("name", ["t.parquet", "t.xlsx", "t.jsonl", "t.csv.gz"])
def test_damaged_files(write, name):
    with pytest.raises(ValueError, match=name):
        read_table(write(b"\x1f\x8bno table", name), class_="kind")


def test_the_extra_is_named(frame, tmp_path, monkeypatch):
    path = save(frame, tmp_path / "t.csv")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"demurk\[tables\]"):
        read_table(path)


# Features


def test_what_becomes_of_columns(frame):
    pytest.importorskip("skrub")
    frame = frame.drop(columns="kind").assign(
        id=range(30),
        customer_id=[f"c{i}" for i in range(30)],
        order=range(7, 97, 3),
        empty="",
        same=1.0,
        words="1 2 3 many".split() * 7 + ["5", "6"],
        lists=[[1, 2]] * 30,
        numbers=[str(i % 4 / 2) for i in range(30)],
    )
    model = table_features().fit(frame)
    roles = {column.name: column.role for column in model.columns_}
    assert roles == {
        "u": "number",
        "v": "number",
        "day": "date",
        "site": "category",
        "note": "text",
        "id": "id",
        "customer_id": "id",
        "order": "id",
        "empty": "left out",
        "same": "number",
        "words": "category",
        "lists": "left out",
        "numbers": "number",
    }
    notes = {column.name: column.note for column in model.columns_}
    assert notes["u"].startswith("1 gap filled with")
    assert notes["words"] == "numbers but for 'many' in row 4 and 6 more"
    kept = table_features(
        keep=["order"], drop=["v"], categorical=["same"], text=["site"]
    )
    kept.fit(frame)
    roles = {column.name: column.role for column in kept.columns_}
    assert roles["order"] == "number" and roles["v"] == "left out"
    assert roles["same"] == "category" and roles["site"] == "text"
    sizes = sum(column.n_features for column in kept.columns_)
    assert len(kept.get_feature_names_out()) == sizes


def test_new_rows_are_read_alike(frame, tmp_path):
    pytest.importorskip("skrub")
    table = read_table(save(frame, tmp_path / "t.csv"), class_="kind")
    other = frame.iloc[5:9].drop(columns="kind")
    other[other.columns[::-1]].to_csv(
        tmp_path / "o.csv", index=False, sep=";", decimal=","
    )
    new = read_table(tmp_path / "o.csv", labels=0)
    np.testing.assert_allclose(
        new.transform(table.vectorizer), table.features[5:9], atol=1e-6
    )
    (tmp_path / "p.csv").write_text((tmp_path / "o.csv").read_text().replace("0,", "x"))
    with pytest.raises(ValueError, match=r"p\.csv, line 2: column 'u' holds .*no numb"):
        read_table(tmp_path / "p.csv", labels=0, sep=";").transform(table.vectorizer)
    with pytest.raises(ValueError, match="no column 'day', but the model was trained"):
        other.drop(columns="day").to_csv(tmp_path / "q.csv", index=False)
        read_table(tmp_path / "q.csv", labels=0).transform(table.vectorizer)


def test_saved_decisions_say_what_skrub_says(frame, tmp_path):
    """Dates, categories and text are read by our own code, as skrub reads them."""
    skrub = pytest.importorskip("skrub")
    frame = pd.concat([frame.drop(columns="kind")] * 3, ignore_index=True)
    frame["note"] = [f"{note} {i}" for i, note in enumerate(frame["note"])]
    model = table_features()
    X = model.fit_transform(frame)
    words = skrub.StringEncoder(random_state=0)
    plain = skrub.TableVectorizer(high_cardinality=words, cardinality_threshold=30)
    # Nothing but gaps differs, and those are ours to fill.
    theirs = plain.fit_transform(frame.drop(columns=["u"]))
    mine = pd.DataFrame(X, columns=model.get_feature_names_out())[list(theirs.columns)]
    np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)
    path = saving.save(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(saving.load(path).transform(frame), X)


def test_polars_frames(frame):
    pl = pytest.importorskip("polars")
    pytest.importorskip("skrub")
    frame = frame.drop(columns="kind")
    expected = table_features().fit_transform(frame)
    np.testing.assert_array_equal(
        table_features().fit_transform(pl.from_pandas(frame)), expected
    )


@pytest.mark.parametrize("cell", ["inf", "1e999", "-Infinity"])
def test_infinite_cells(write, cell):
    toy = read_table(write(f"x,class\n1,a\n{cell},b\n"))
    with pytest.raises(ValueError, match=r"line 3: column 'x' holds .*no finite"):
        assert toy.features.size


def test_a_feature_that_is_the_label_is_seen(write):
    rows = "".join(f"{i % 5},{7 - i % 2},{'ab'[i % 2]},{i % 2}\n" for i in range(100))
    path = write(f"x,code,class,l\n{rows}")
    assert read_table(path, class_="class", drop=["l"]).leaks == ["code"]
    assert read_table(path, labels=["l"], drop=["class"]).leaks == ["code"]
    assert read_table(path, labels=["l"], drop=["class", "code"]).leaks == []


def test_features_from_elsewhere(frame, tmp_path):
    frame.insert(0, "id", [f"r{i}" for i in range(30)])
    path = save(frame, tmp_path / "t.csv")
    X = np.arange(60.0).reshape(30, 2)
    np.save(tmp_path / "X.npy", X)
    table = read_table(path, class_="kind", features=tmp_path / "X.npy")
    np.testing.assert_array_equal(table.features, X)
    more = read_table(
        path, class_="kind", features=tmp_path / "X.npy", categorical=["site"]
    )
    assert more.feature_names == ["f0", "f1", "site=bay", "site=cape"]
    order = np.random.default_rng(0).permutation(30)
    np.savez(tmp_path / "X.npz", X=X[order], id=frame["id"].to_numpy(str)[order])
    emb = pd.DataFrame(X[order], columns=["p", "q"]).assign(
        id=frame["id"][order].values
    )
    emb.to_parquet(tmp_path / "X.parquet")
    for name in ("X.npz", "X.parquet"):
        joined = read_table(path, class_="kind", features=tmp_path / name, key="id")
        np.testing.assert_array_equal(joined.features, X)
    np.save(tmp_path / "X.npy", X[:29])
    with pytest.raises(ValueError, match=r"has 29 rows, but .* has 30; .*--key"):
        read_table(path, class_="kind", features=tmp_path / "X.npy")
    emb.iloc[1:].to_parquet(tmp_path / "X.parquet")
    with pytest.raises(ValueError, match=r"t\.csv, line \d+: .*no row with id ="):
        read_table(path, class_="kind", features=tmp_path / "X.parquet", key="id")


# Writing


@pytest.mark.parametrize(
    ("text", "encoding", "options", "labels", "expected"),
    [
        (
            'x;"n";label:é\r\n1,50;"a;b";yes\r\n2,0;c;no\r\n3;d;\r\n',
            "latin-1",
            {},
            [[0], [0], [1]],
            'x;n;label:é\r\n1,50;"a;b";no\r\n2,0;c;no\r\n3;d;yes\r\n',
        ),
        (
            "x,l\n01,TRUE\n2,TRUE\n",
            "utf-8",
            {"labels": ["l"]},
            [[0], [-1]],
            "x,l\n01,FALSE\n2,\n",
        ),
        (
            '"x","class"\n"1"," b"\n"2","a"\n',
            "utf-8",
            {},
            ["a", "b"],
            '"x","class"\n"1","a"\n"2"," b"\n',
        ),
        (
            "x,t\n1.0,b; a\n2,\n3,a\n",
            "utf-8",
            {"tags": "t"},
            [[1, 1], [0, 1], [0, 0]],
            "x,t\n1.0,b; a\n2,b\n3,none\n",
        ),
        (
            "\ufeffx\tc\n1\tu|v\n2\tu\n",
            "utf-8",
            {"candidates": "c"},
            [[0, 1], [1, 0]],
            "\ufeffx\tc\n1\tv\n2\tu\n",
        ),
    ],
)
def test_only_changed_labels_change(
    write, tmp_path, text, encoding, options, labels, expected
):
    table = read_table(write(text, encoding=encoding), **options)
    copy = table.with_labels(np.array(labels))
    assert copy.to(tmp_path / "copy.csv").read_bytes() == expected.encode(encoding)
    unchanged = table.with_labels(table.y).to(tmp_path / "same.csv").read_bytes()
    assert unchanged.replace(b'"', b"") == text.encode(encoding).replace(b'"', b"")


def test_further_columns(write, tmp_path):
    table = read_table(write("x,class\n1,a\n2,b\n"))
    more = table.with_columns({"sure": [0.5, 0.25]})
    assert (
        more.to(tmp_path / "m.csv").read_text() == "x,class,sure\n1,a,0.5\n2,b,0.25\n"
    )
    with pytest.raises(ValueError, match="has a column 'x' already"):
        table.with_columns({"x": [1, 2]})
    with pytest.raises(ValueError, match="3 rows of labels for 2 rows"):
        table.with_labels(["a", "b", "a"])


# Tools


def task(number, text, choices=None, cancelled=False):
    result = {
        "from_name": "mood",
        "to_name": "text",
        "type": "choices",
        "value": {"choices": choices},
    }
    made = [{"result": [result] if choices else [], "was_cancelled": cancelled}]
    return {
        "id": number,
        "data": {"text": text},
        "annotations": [] if choices is None else made,
    }


def test_label_studio_there_and_back(write, tmp_path):
    tasks = [
        task(7, "sun all day", ["happy", "calm"]),
        task(8, "rain all day", ["sad"]),
        task(9, "no news"),
        task(10, "a stone", []),
    ]
    table = read_table(write(json.dumps(tasks), "tasks.json"), tags="mood")
    assert table.labels.classes.tolist() == ["calm", "happy", "sad"]
    assert entries(table) == [[1, 1, 0], [0, 0, 1], [-1] * 3, [0, 0, 0]]
    assert table.named("id")["id"].tolist() == ["7", "8", "9", "10"]
    new = np.array([[1, 1, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]])
    out = table.with_labels(new).to(tmp_path / "out.json", scores=[0.9, 0.8, 0.7, 0.6])
    written = json.loads(out.read_text())
    assert [t["annotations"] for t in written] == [t["annotations"] for t in tasks]
    assert ["predictions" in t for t in written] == [False, True, True, False]
    prediction = written[1]["predictions"][0]
    assert prediction["score"] == 0.8 and prediction["model_version"] == "demurk"
    assert prediction["result"] == [
        {
            "from_name": "mood",
            "to_name": "text",
            "type": "choices",
            "value": {"choices": ["calm"]},
        }
    ]
    assert entries(read_table(out, tags="mood")) == entries(table)
    tasks[0]["annotations"] *= 2
    with pytest.raises(ValueError, match="row 1: this task has 2 annotations"):
        read_table(write(json.dumps(tasks), "two.json"), tags="mood")


def test_doccano_there_and_back(write, tmp_path):
    rows = [
        {"id": 1, "text": "sun all day", "label": ["happy", "calm"]},
        {"id": 2, "text": "rain all day", "label": ["sad"]},
        {"id": 3, "text": "no news", "label": []},
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    table = read_table(write(text, "d.jsonl"))
    assert table.form.form == "tags"
    assert entries(table) == [[1, 1, 0], [0, 0, 1], [-1] * 3]
    out = table.with_labels(np.array([[1, 1, 0], [0, 0, 1], [0, 1, 0]]))
    written = out.to(tmp_path / "out.jsonl").read_text().splitlines()
    rows[2]["label"] = ["happy"]
    assert [json.loads(line) for line in written] == rows
    with pytest.raises(ValueError, match=r"d\.jsonl, line 2: this is no JSON"):
        read_table(write('{"a": 1}\n{"a"\n', "d.jsonl"))
    for row in rows:
        row["label"] = row["label"][:1]
    single = write("".join(json.dumps(row) + "\n" for row in rows), "s.jsonl")
    assert read_table(single).y.tolist() == ["happy", "sad", "happy"]


# Anndata 0.12 asks pandas 3 for an option that is no more.
@pytest.mark.filterwarnings("ignore:.*infer_string:DeprecationWarning")
def test_anndata_there_and_back(tmp_path):
    anndata = pytest.importorskip("anndata")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 3))
    names = pd.Index([f"cell{i}" for i in range(6)], dtype=object)
    kinds = pd.Categorical(["T", "B", None, "T", "B", "B"])
    kinds = kinds.rename_categories(kinds.categories.astype(object))
    cells = anndata.AnnData(X, obs=pd.DataFrame({"kind": kinds}, index=names))
    cells.var_names = pd.Index(["g1", "g2", "g3"], dtype=object)
    cells.obsm["X_pca"] = X[:, :2] * 2
    cells.write_h5ad(tmp_path / "c.h5ad")
    table = read_table(tmp_path / "c.h5ad", class_="kind")
    np.testing.assert_array_equal(table.features, X)
    assert table.feature_names == ["g1", "g2", "g3"]
    assert table.y.tolist() == ["T", "B", None, "T", "B", "B"]
    small = read_table(tmp_path / "c.h5ad", class_="kind", features="X_pca")
    np.testing.assert_array_equal(small.features, X[:, :2] * 2)
    full = table.with_labels(["T", "B", "B", "T", "B", "T"])
    out = full.with_columns({"sure": np.arange(6) / 6}).to(tmp_path / "o.h5ad")
    back = anndata.read_h5ad(out)
    assert back.obs["kind"].tolist() == ["T", "B", "B", "T", "B", "T"]
    assert back.obs["sure"].tolist() == (np.arange(6) / 6).tolist()
    assert back.obs_names.tolist() == names.tolist()
    np.testing.assert_array_equal(back.X, X)
    np.testing.assert_array_equal(back.obsm["X_pca"], X[:, :2] * 2)
    with pytest.raises(ValueError, match=r"no 'X_tsne' in obsm; .*one of X_pca"):
        read_table(tmp_path / "c.h5ad", class_="kind", features="X_tsne")


def test_the_advice_has_room_for_any_column(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text(f"{'a' * 500},kind\n1,cat\n0,dog\n1,cat\n0,dog\n1,cat\n0,dog\n")
    with pytest.raises(ValueError, match="--class kind") as caught:
        read_table(path)
    assert len(str(caught.value)) < 300 and "aaa" not in str(caught.value)


def test_a_sheet_has_no_row_beyond_the_last(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["a", "class"], [1, "cat"], [2, "dog"]):
        book.active.append(row)
    book.save(tmp_path / "good.xlsx")
    assert len(read_table(tmp_path / "good.xlsx")) == 2
    with zipfile.ZipFile(tmp_path / "good.xlsx") as good:
        parts = {name: good.read(name) for name in good.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b'<row r="2"', b'<row r="4294967295"')
    with zipfile.ZipFile(tmp_path / "forged.xlsx", "w") as forged:
        for name, content in parts.items():
            forged.writestr(name, content)
    with pytest.raises(ValueError, match="in row 4"):
        read_table(tmp_path / "forged.xlsx")
