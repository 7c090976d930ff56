"""Tests of label sets."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.preprocessing import MultiLabelBinarizer

from demurk.labels import labels_from_sets

NAMES = st.text(st.characters(exclude_characters="\0"), max_size=3)
LABELS = st.one_of(
    st.lists(st.frozensets(NAMES, max_size=4), min_size=1),
    st.lists(st.frozensets(st.integers(0, 20), max_size=4), min_size=1),
)


@settings(max_examples=150, deadline=None)
@given(sets=LABELS.filter(any))
def test_agrees_with_scikit_learn(sets):
    Y, classes = labels_from_sets(sets)
    binarizer = MultiLabelBinarizer()
    np.testing.assert_array_equal(Y, binarizer.fit_transform(sets))
    np.testing.assert_array_equal(classes, binarizer.classes_)
    assert Y.dtype == np.int8


@settings(max_examples=80, deadline=None)
@given(sets=LABELS.filter(any), data=st.data())
def test_classes_give_the_order_of_columns(sets, data):
    Y, classes = labels_from_sets(sets)
    order = data.draw(st.permutations(range(len(classes))))
    shuffled, kept = labels_from_sets(sets, [classes.tolist()[j] for j in order])
    np.testing.assert_array_equal(shuffled, Y[:, order])
    np.testing.assert_array_equal(kept, classes[order])


def test_unlabelled_is_not_empty():
    Y, classes = labels_from_sets([{"b"}, None, set(), np.nan, ["a", "b", "a"]])
    assert Y.tolist() == [[0, 1], [-1, -1], [0, 0], [-1, -1], [1, 1]]
    assert classes.tolist() == ["a", "b"]


def test_any_iterable_of_labels():
    rows = [(0, 2), range(2), iter([1]), np.array([2]), frozenset()]
    Y, classes = labels_from_sets(row for row in rows)
    assert Y.tolist() == [[1, 0, 1], [1, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert classes.dtype == np.int64


def test_classes_may_exceed_what_occurs():
    Y, classes = labels_from_sets([set(), {"b"}, None], classes=["c", "b"])
    assert Y.tolist() == [[0, 0], [0, 1], [-1, -1]]
    assert classes.tolist() == ["c", "b"]
    Y, _ = labels_from_sets([None, set()], classes=[7])
    assert Y.tolist() == [[-1], [0]]
    # numbers are the same label whatever their type
    Y, _ = labels_from_sets([{1.0}, {np.int8(2)}], classes=(2, 1))
    assert Y.tolist() == [[0, 1], [1, 0]]


MALFORMED = {
    "text": ("abc", None, "'abc'", "one set of labels"),
    "number": (3, None, "3", "one set of labels"),
    "nothing": ([], None, "0 sample", "one set of labels per sample"),
    "name for a set": ([{"a"}, "b"], None, "Row 1 of y is 'b'", "write it as {...}"),
    "number for a set": ([1, 2], None, "Row 0 of y is 1", "write it as {...}"),
    "dict": ([{"a": 1}], None, "Row 0 of y", "write it as {...}"),
    "mixed": ([{"a"}, {3}], None, "Row 1 of y holds 3", "all labels as strings"),
    "inner None": ([{"a"}, {None}], None, "Row 1 of y holds None", "in place of all"),
    "inner list": ([[["a"]]], None, "Row 0 of y holds ['a']", "a label is a string"),
    "fraction": ([{1}, {0.5}], None, "row 1 of y is 0.5", "whole numbers or strings"),
    "infinity": ([{1}, {np.inf}], None, "in row 1", "give a class"),
    "-1": ([{1}, {2, -1}], None, "Row 1 of y holds the label -1", "give None"),
    "all empty": ([set()], None, "No set in y holds a label", "`classes`"),
    "unknown": ([{"a"}, {"z"}], ["a"], "Row 1 of y holds the label 'z'", "add it"),
    "other type": ([{"1"}], [1], "Row 0 of y holds the label '1'", "add it there"),
    "classes twice": ([{"a"}], ["a", "b", "a"], "holds 'a' more than once", "once."),
    "classes text": ([{"a"}], "ab", "`classes` is 'ab'", "give a list"),
    "classes number": ([{"a"}], 5, "`classes` is 5", "give a list"),
    "classes None": ([{"a"}], ["a", None], "Row 1 of classes holds None", "a string"),
    "classes -1": ([{1}], [1, -1], "Row 1 of classes holds the label -1", "rename"),
    "no classes": ([{1}], [], "No set in y holds a label", "`classes`"),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_refusals_name_place_and_remedy(case):
    sets, classes, place, remedy = MALFORMED[case]
    with pytest.raises(ValueError) as caught:
        labels_from_sets(sets, classes)
    message = str(caught.value)
    assert place in message
    assert remedy in message[message.index(place) + len(place) :]
    assert message.endswith(".") and "\n" not in message
