"""Tests of reading nested text."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import pytest

from demurk.utils._nesting import MOST_LEVELS, check_depth, parse_text
from demurk.utils._text import one_line


def test_content_is_that_of_the_parsers():
    assert parse_text('{"a": [1, null, {"b": []}]}', "json") == {
        "a": [1, None, {"b": []}]
    }
    assert parse_text("a.b = [1.5, 2]\n", "toml") == {"a": {"b": [1.5, 2]}}
    lines = ", ".join(["1.5"] * 1000)
    assert len(parse_text(f"a = [{lines}]", "toml")["a"]) == 1000


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("[" * 100_000, "json"),
        ("[" * 101 + "]" * 101, "json"),
        ("a = " + "[" * 20_000 + "]" * 20_000, "toml"),
        ("a" + ".a" * 50_000 + " = 1", "toml"),
        ("[a" + ".a" * 50_000 + "]", "toml"),
    ],
)
def test_deep_text_is_refused(text, kind):
    with pytest.raises(ValueError, match="more than 100 levels deep"):
        parse_text(text, kind)


@pytest.mark.parametrize(
    ("text", "kind"), [("{", "json"), ("9" * 5000, "json"), ("a = ", "toml")]
)
def test_wrong_text_is_a_value_error(text, kind):
    with pytest.raises(ValueError):
        parse_text(text, kind)


def test_depth_is_counted_in_containers():
    check_depth([[[]]], 3)
    check_depth({"a": ({"b": 1},)}, 4)
    with pytest.raises(ValueError, match="more than 2 levels"):
        check_depth([[[]]], 2)
    deep = []
    for _ in range(MOST_LEVELS * 1000):
        deep = [deep]
    with pytest.raises(ValueError):
        check_depth(deep)
    while deep:  # Python itself takes nested lists apart by recursion
        deep = deep.pop()


def test_text_of_others_becomes_one_line():
    assert one_line(ValueError("two\n  lines")) == "two lines"
    assert one_line("x" * 500, 10) == "xxxxxxx..."
