"""Answers in any form are the same answers."""

import numpy as np
import pandas as pd
import pytest

from demurk.annotators import Annotations

CLASSES = np.array([["a", "b", None], ["b", None, "b"], [None, None, None]], object)
LABELS = np.array(
    [[[1, 0], [1, 1]], [[0, 0], [-1, -1]], [[-1, -1], [-1, 1]], [[-1, -1], [-1, -1]]]
)


def assert_same(first, second):
    for name in ("codes", "rows", "people", "n_rows", "names", "classes", "single"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def wide_classes():
    names = ["anna", "ben", "cleo"]
    return pd.DataFrame({f"class@{k}": CLASSES[:, j] for j, k in enumerate(names)})


def wide_labels():
    columns = {
        f"label:{label}@{person}": np.where(
            LABELS[:, j, k] < 0, np.nan, LABELS[:, j, k]
        )
        for j, person in enumerate(["anna", "ben@home.org"])
        for k, label in enumerate(["spam", "ham"])
    }
    return pd.DataFrame(columns | {"length": range(4)})


def test_classes_wide_long_and_array_agree():
    wide = Annotations.from_wide(wide_classes())
    assert wide.single and wide.codes.tolist() == [0, 1, 1, 1]
    assert wide.rows.tolist() == [0, 0, 1, 1] and wide.people.tolist() == [0, 1, 0, 2]
    array = Annotations.from_array(CLASSES, names=["anna", "ben", "cleo"])
    assert_same(wide, array)
    lines = {
        "row": [1, 0, 1, 0],
        "annotator": ["cleo", "ben", "anna", "anna"],
        "label": ["b", "b", "b", "a"],
    }
    long = Annotations.from_long(pd.DataFrame(lines), index=[0, 1, 2])
    assert_same(wide, long)


def test_labels_wide_long_and_array_agree():
    wide = Annotations.from_wide(wide_labels())
    assert not wide.single and wide.names.tolist() == ["anna", "ben@home.org"]
    assert wide.codes.tolist() == [[1, 0], [1, 1], [0, 0], [-1, 1]]
    array = Annotations.from_array(
        LABELS, names=["anna", "ben@home.org"], classes=["spam", "ham"]
    )
    assert_same(wide, array)
    places = np.argwhere(LABELS >= 0)
    lines = {
        "row": places[:, 0],
        "annotator": wide.names[places[:, 1]],
        "label": wide.classes[places[:, 2]],
        "value": LABELS[tuple(places.T)],
    }
    long = Annotations.from_long(pd.DataFrame(lines), value="value", index=range(4))
    assert long.classes.tolist() == ["ham", "spam"]
    assert long.codes.tolist() == wide.codes[:, ::-1].tolist()


@pytest.mark.parametrize(
    "array",
    [
        np.ma.masked_equal(np.array([[0, 1], [5, 0]]), 5),
        np.array([[0.0, 1.0], [np.nan, 0.0]]),
        np.array([[0, 1], [-1, 0]]),
        [[0, 1], [None, 0]],
        pd.DataFrame({"0": pd.array([0, None], dtype="Int64"), "1": [1, 0]}),
    ],
)
def test_gaps_in_arrays(array):
    said = Annotations.from_array(array)
    assert_same(said, Annotations.from_array(np.array([[0, 1], [-1, 0]])))
    assert said.codes.tolist() == [0, 1, 0] and said.people.tolist() == [0, 1, 1]


def test_masked_labels():
    array = np.ma.masked_array(np.abs(LABELS), mask=LABELS < 0)
    assert_same(Annotations.from_array(array), Annotations.from_array(LABELS))


def test_polars_is_read_alike():
    polars = pytest.importorskip("polars")
    assert_same(
        Annotations.from_wide(polars.from_pandas(wide_classes())),
        Annotations.from_wide(wide_classes()),
    )


def test_long_form_without_values_names_what_applies():
    lines = {
        "row": ["x", "x", "x", "y"],
        "annotator": ["a", "a", "b", "a"],
        "label": ["sea", "sun", "sun", None],
    }
    said = Annotations.from_long(pd.DataFrame(lines))
    assert not said.single and said.index.tolist() == ["x", "y"]
    assert said.codes.tolist() == [[1, 1], [0, 1], [0, 0]]
    assert said.rows.tolist() == [0, 0, 1]


def test_rows_can_be_picked():
    said = Annotations.from_array(np.array([[0, 1], [2, -1], [-1, 1]]))
    part = said[np.array([2, 0])]
    assert len(part) == 2 and part.rows.tolist() == [0, 1, 1]
    assert part.codes.tolist() == [1, 0, 1] and part.people.tolist() == [1, 0, 1]
    assert said[said.answers_per_row > 1].codes.tolist() == [0, 1]
    assert said.of_row(1) == {"0": 2}
    assert said[[0, 1, 0]].codes.tolist() == [0, 1, 2, 0, 1]
    assert said[1].n_rows == 1 and len(said[3:].codes) == 0


def test_votes_and_counts():
    said = Annotations.from_array(LABELS)
    votes, asked = said.votes()
    assert votes.tolist() == [[2, 1], [0, 0], [0, 1], [0, 0]]
    assert asked.tolist() == [[2, 2], [1, 1], [0, 1], [0, 0]]
    assert said.counts().to_numpy().tolist() == [[1, 0], [1, 2]]
    assert said.answers_per_person.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Annotations.from_wide(pd.DataFrame({"a": [1]})), "class@anna"),
        (
            lambda: Annotations.from_wide(
                pd.DataFrame({"class@a": [1], "label:x@a": [1]})
            ),
            "one of the two forms",
        ),
        (
            lambda: Annotations.from_wide(pd.DataFrame({"label:x@a": [2]})),
            "column 'x'",
        ),
        (lambda: Annotations.from_wide([1, 2]), "data frame"),
        (
            lambda: Annotations.from_long(pd.DataFrame({"row": [1]})),
            "no column 'annotator'",
        ),
        (
            lambda: Annotations.from_long(
                pd.DataFrame({"row": [1, None], "annotator": [1, 1], "label": [0, 0]})
            ),
            "'row' is blank in line 1",
        ),
        (
            lambda: Annotations.from_long(
                pd.DataFrame({"row": [1, 1], "annotator": "a", "label": [0, 1]}),
                single=True,
            ),
            "two answers of 'a'",
        ),
        (
            lambda: Annotations.from_long(
                pd.DataFrame(
                    {"row": [1, 1], "annotator": "a", "label": "x", "yes": [0, 1]}
                ),
                value="yes",
            ),
            "says 1 and another one 0",
        ),
        (
            lambda: Annotations.from_long(
                pd.DataFrame({"row": [7], "annotator": "a", "label": "x"}), index=[1]
            ),
            "Row 7 is not in index",
        ),
        (lambda: Annotations.from_array([0, 1]), "shape"),
        (lambda: Annotations.from_array([[0, 1]], names=["a"]), "1 names"),
        (
            lambda: Annotations(
                np.array([0]), np.array([3]), np.array([0]), 2, ["a"], [0], True
            ),
            "rows from 3 to 3",
        ),
    ],
)
def test_what_is_wrong_is_said(make, message):
    with pytest.raises(ValueError, match=message):
        make()
