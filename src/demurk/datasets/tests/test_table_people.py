"""Tables with the labels of several people: a column or a line for each answer."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pandas as pd
import pytest

from demurk.datasets import read_table

WIDE = """id,x,class@anna,class@ben@work.org,class@cleo
a,1.5,cat,cat,dog
b,2.5,dog,,dog
c,0.5,,,
d,4,cat,cat,cat
"""
LONG = """x,who,item,kind,seconds
1.5,anna,a,cat,3
2.5,anna,b,dog,9
4,anna,d,cat,8
1.5,ben@work.org,a,cat,7
4,ben@work.org,d,cat,1
0.5,cleo,c,,2
1.5,cleo,a,dog,2
2.5,cleo,b,dog,2
4,cleo,d,cat,2
"""


@pytest.fixture
def write(tmp_path):
    def written(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


def answers(table):
    """What everybody said, by row and person."""
    said = table.annotations
    return {
        (row, person): answer
        for row in range(said.n_rows)
        for person, answer in said.of_row(row).items()
    }


EXPECTED = {
    (0, "anna"): "cat",
    (0, "ben@work.org"): "cat",
    (0, "cleo"): "dog",
    (1, "anna"): "dog",
    (1, "cleo"): "dog",
    (3, "anna"): "cat",
    (3, "ben@work.org"): "cat",
    (3, "cleo"): "cat",
}


def test_a_column_for_each_person(write):
    table = read_table(write(WIDE))
    assert answers(table) == EXPECTED
    assert table.annotations.names.tolist() == ["anna", "ben@work.org", "cleo"]
    assert table.labels.single and table.labels.classes.tolist() == ["cat", "dog"]
    assert table.y.tolist() == ["cat", "dog", None, "cat"]
    # What people say is no feature, and one answer stands in its place.
    assert table.feature_names == ["x"]
    assert list(table.frame) == ["id", "x", "class"]
    said = {column.name: str(column) for column in table.columns}
    assert said["class@anna"] == "class@anna: label, what anna says"
    assert said["class"] == "class: label, what 3 people say together"


def test_a_line_for_each_answer_says_the_same(write):
    table = read_table(write(LONG), annotator="who", row="item", class_="kind")
    names = ["a", "b", "d", "c"]
    assert table.frame["item"].tolist() == names
    by_name = {(names[r], who): said for (r, who), said in answers(table).items()}
    assert by_name == {("abcd"[r], who): said for (r, who), said in EXPECTED.items()}
    assert table.features.ravel().tolist() == [1.5, 2.5, 4, 0.5]
    notes = {column.name: column.note for column in table.columns}
    assert notes["seconds"] == "differs between the lines of a sample"
    assert table.y.tolist() == ["cat", "dog", "cat", None]
    # The column that tells samples apart is found by its name.
    found = read_table(write(LONG), annotator="who", class_="kind")
    assert answers(found) == answers(table)


def test_labels_of_several_people(write):
    text = "x,label:a@u,label:b@u,label:a@v,label:b@v\n1,1,yes,0,no\n2,,,1,\n3,,,,\n"
    table = read_table(write(text))
    assert answers(table) == {(0, "u"): ["a", "b"], (0, "v"): [], (1, "v"): ["a"]}
    assert table.labels.observed.tolist() == [[True, True], [True, False], [False] * 2]
    assert list(table.frame) == ["x", "label:a", "label:b"]
    other = text.replace("label:", "")
    assert answers(read_table(write(other), labels=["a", "b"])) == answers(table)
    with pytest.raises(ValueError, match="line 3: column 'label:a@v' holds '7'"):
        read_table(write(text.replace("2,,,1", "2,,,7")))


def test_lines_with_labels_or_tags(write):
    text = "item,who,spam,rude\n1,u,1,0\n1,v,0,0\n2,u,,1\n"
    table = read_table(write(text), annotator="who", labels=["spam", "rude"])
    assert answers(table) == {(0, "u"): ["spam"], (0, "v"): [], (1, "u"): ["rude"]}
    assert table.labels.observed.tolist() == [[True, True], [False, True]]
    text = "item,who,said\n1,u,spam/rude\n1,v,none\n2,u,rude\n2,v,\n"
    table = read_table(write(text), annotator="who", tags="said")
    assert answers(table) == {
        (0, "u"): ["rude", "spam"],
        (0, "v"): [],
        (1, "u"): ["rude"],
    }
    assert table.form.sep == "/" and table.frame["said"][1] == "rude"


def test_whole_numbers_and_gaps(write):
    text = "x,y@p,y@q\n1,3,3.0\n2,-1,7\n3,?,NA\n"
    table = read_table(write(text))
    assert answers(table) == {(0, "p"): 3, (0, "q"): 3, (1, "q"): 7}
    assert table.y.tolist() == [3, 7, -1]


def test_one_of_the_columns_can_be_chosen(write):
    table = read_table(write(WIDE), class_="class@anna")
    assert table.annotations is None
    assert table.y.tolist() == ["cat", "dog", None, "cat"]
    assert table.feature_names == ["x"]  # the others are no features
    table = read_table(write("kind@u,kind@v,x\na,b,1\na,a,2\n"), class_="kind")
    assert table.annotations.n_people == 2 and table.form.columns == ("kind",)
    both = write("x,class,class@u,class@v\n1,a,a,b\n2,b,b,b\n")
    assert read_table(both, class_="class").annotations is None
    assert read_table(both, class_="class").feature_names == ["x"]
    dropped = read_table(both, drop=["class"])
    assert dropped.annotations.n_people == 2
    assert dropped.form.columns == ("class (consensus)",)


def test_copies_have_one_answer_and_keep_the_rest(write, tmp_path):
    table = read_table(write(WIDE))
    copy = table.with_labels(np.array(["dog", "dog", None, "dog"], dtype=object))
    # A class that nobody has any more is still one.
    assert copy.labels.classes.tolist() == ["cat", "dog"]
    assert copy.annotations is table.annotations
    copy.to(tmp_path / "copy.csv")
    again = read_table(tmp_path / "copy.csv")
    assert list(again.frame) == ["id", "x", "class"] and again.annotations is None
    assert again.y.tolist() == ["dog", "dog", None, "dog"]


def test_parquet_keeps_types(tmp_path):
    frame = pd.DataFrame({"x": [1, 2], "label:a@u": [True, None], "label:a@v": [0, 1]})
    frame.to_parquet(tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet")
    assert answers(table) == {(0, "u"): ["a"], (0, "v"): [], (1, "v"): ["a"]}


REFUSED = [
    ("x,class@u,label@v\n1,a,b\n", {}, "two forms .class@ and label@."),
    ("x,class@u,class@ u\n1,a,b\n", {"class_": "class@u"}, None),
    ("x,class@u,class@v,class@ v\n1,a,b,c\n", {}, "two columns for 'v'"),
    ("x,class@u,class@v,label:a@u\n1,a,b,1\n", {}, "--class class or --labels label:"),
    ("x,class,class@u,class@v\n1,a,a,b\n", {}, "--class class .* or --drop class"),
    ("x,class@u,class@v\n1,,\n", {}, "no labelled row: all cells of --class class"),
    ("x,class@u\n1,a\n2,b\n2,b\n", {}, "--class class@u"),
    (LONG, {"row": "item", "class_": "kind"}, "say with --annotator who answered"),
    (LONG, {"annotator": "whom", "class_": "kind"}, "no column 'whom' named in --ann"),
    (LONG, {"annotator": "who", "row": "z"}, "no column 'z' named in --row"),
    (LONG, {"annotator": "who", "candidates": "kind"}, "do not go together"),
    ("a,who,class\n1,u,x\n1,v,x\n", {"annotator": "who"}, "with --row COLUMN"),
    ("id,task,who,y\n1,1,u,x\n", {"annotator": "who"}, "--row id or --row task"),
    ("id,who,y\n1,u,x\n2,u,y\n", {"annotator": "who"}, "one person only .'u'."),
    ("id,who,y\n1,u,x\n1,,y\n", {"annotator": "who"}, "line 3: column 'who' is empty"),
    ("id,who,y\n1,u,x\n,v,y\n", {"annotator": "who"}, "line 3: column 'id' is empty"),
    (
        "id,who,y\n1,u,x\n1,v,y\n1,u,y\n",
        {"annotator": "who"},
        "line 4: column 'id' holds '1', about which 'u' has answered before",
    ),
]


@pytest.mark.parametrize(("text", "options", "message"), REFUSED)
def test_what_is_refused(write, text, options, message):
    if message is None:
        assert read_table(write(text), **options).annotations is None
        return
    with pytest.raises(ValueError, match=message) as info:
        read_table(write(text), **options)
    assert str(info.value).endswith(".") and "\n" not in str(info.value)


def test_columns_that_differ_between_lines_can_be_named(write):
    options = {"annotator": "who", "class_": "kind"}
    table = read_table(write(LONG), drop=["seconds"], **options)
    assert table.feature_names == ["x"]
    with pytest.raises(ValueError, match="named in --text, does not say the same"):
        read_table(write(LONG), text=["seconds"], **options)
    assert "class@anna" in read_table(write(WIDE), drop=["class@anna"]).frame


def test_errors_in_features_name_the_line_of_the_answer(write):
    text = "item,who,y,x\n1,u,a,1\n1,v,a,1\n2,u,b,inf\n2,v,b,inf\n"
    with pytest.raises(ValueError, match="line 4: column 'x' holds 'inf'"):
        _ = read_table(write(text), annotator="who").features


def test_people_under_a_name_of_the_users_own_are_suggested_together(tmp_path):
    path = tmp_path / "t.csv"
    cells = [
        f"{i},{'cat' if i % 2 else 'dog'},{'cat' if i % 3 else 'dog'}" for i in range(9)
    ]
    path.write_text("\n".join(["x,feel@anna,feel@ben", *cells]), encoding="utf-8")
    with pytest.raises(ValueError, match=r"--class feel`") as error:
        read_table(path)
    assert "feel@" not in str(error.value)
    assert read_table(path, class_="feel").annotations.n_people == 2
