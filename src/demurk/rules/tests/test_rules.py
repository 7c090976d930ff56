"""Tests of labels from rules."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import math
import time
from dataclasses import asdict
from datetime import datetime
from decimal import Decimal
from fnmatch import fnmatchcase

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from demurk.labels import check_labels
from demurk.rules import Rule, RuleLabeler, rules_from_file

# Reference: plain Python, one row at a time, with True, False and None for unknown.


def both(values):
    if False in values:
        return False
    return None if None in values else True


def either(values):
    if True in values:
        return True
    return None if None in values else False


def opposite(value):
    return None if value is None else not value


def passes(value, test):
    if test in ("known", "missing"):
        return math.isnan(value) == (test == "missing")
    if math.isnan(value):
        return None
    if not isinstance(test, str):
        return value == test
    name, number = test.split()
    number = float(number)
    return {
        ">=": value >= number,
        "<=": value <= number,
        "==": value == number,
        "!=": value != number,
        ">": value > number,
        "<": value < number,
    }[name]


def holds(condition, row):
    if isinstance(condition, str):
        return holds({condition: "> 0"}, row)
    results = []
    for key, value in condition.items():
        if key == "all":
            results.append(both([holds(part, row) for part in value]))
        elif key == "any":
            results.append(either([holds(part, row) for part in value]))
        elif key == "none":
            results.append(both([opposite(holds(part, row)) for part in value]))
        elif key == "not":
            results.append(opposite(holds(value, row)))
        elif key == "of":
            found = [holds(part, row) for part in value]
            if found.count(True) >= condition["at_least"]:
                results.append(True)
            elif found.count(True) + found.count(None) < condition["at_least"]:
                results.append(False)
            else:
                results.append(None)
        elif key != "at_least":
            tests = value if isinstance(value, list) else [value]
            names = [key] if key in row else [n for n in row if fnmatchcase(n, key)]
            results.append(
                either([both([passes(row[n], t) for t in tests]) for n in names])
            )
    return both(results)


def label_by_hand(rules, rows, labels, conflict, default):
    table = []
    for row in rows:
        hitting = [rule for rule in rules if holds(rule.when, row) is True]
        line = []
        for label in labels:
            said = [rule.then[label] for rule in hitting if label in rule.then]
            if not said:
                line.append(default)
            elif len(set(said)) == 1:
                line.append(said[0])
            else:
                pick = {"first": said[0], "last": said[-1], "unobserved": -1}
                line.append(pick[conflict])
        table.append(line)
    return np.array(table, dtype=np.int8)


COLUMNS = ["A1", "A2", "B1", "B2x", "A*"]
PATTERNS = [*COLUMNS, "A?", "B*", "[AB]1", "*x", "*"]
TESTS = ["> 0", ">= 2", "< 1", "<= -1", "== 2", "!= 0", "known", "missing", 2, 0.5]
LEAVES = st.sampled_from(PATTERNS) | st.dictionaries(
    st.sampled_from(PATTERNS),
    st.sampled_from(TESTS) | st.lists(st.sampled_from(TESTS), min_size=1, max_size=2),
    min_size=1,
    max_size=2,
)


@st.composite
def counted(draw, parts):
    of = draw(st.lists(parts, min_size=1, max_size=4))
    return {"at_least": draw(st.integers(1, len(of))), "of": of}


def nested(parts):
    several = st.lists(parts, min_size=1, max_size=3)
    lists = st.dictionaries(
        st.sampled_from(["all", "any", "none"]), several, min_size=1, max_size=2
    )
    return lists | parts.map(lambda part: {"not": part}) | counted(parts)


CONDITIONS = st.recursive(LEAVES, nested, max_leaves=8)
LABELS = ["first", "second", "third"]
RULES = st.lists(
    st.builds(
        Rule,
        CONDITIONS,
        st.dictionaries(st.sampled_from(LABELS), st.sampled_from([0, 1]), min_size=1),
        st.sampled_from(["", "a name", 'with "quotes"']),
    ),
    min_size=1,
    max_size=4,
)
VALUES = st.sampled_from([0.0, 0.0, 1.0, 2.0, 3.0, -1.0, 0.5, math.nan])
TABLES = st.lists(
    st.lists(VALUES, min_size=len(COLUMNS), max_size=len(COLUMNS)),
    min_size=1,
    max_size=6,
)


@settings(max_examples=100)
@given(
    rules=RULES,
    table=TABLES,
    conflict=st.sampled_from(["unobserved", "first", "last"]),
    default=st.sampled_from([-1, 0]),
)
def test_labels_and_reports_follow_the_definition(rules, table, conflict, default):
    labeler = RuleLabeler(
        rules, labels=LABELS, columns=COLUMNS, conflict=conflict, default=default
    )
    labels = labeler.fit_transform(np.array(table))
    rows = [dict(zip(COLUMNS, line)) for line in table]
    expected = label_by_hand(rules, rows, LABELS, conflict, default)
    assert labels.dtype == np.int8
    assert_array_equal(labels, expected)

    hits = [[holds(rule.when, row) is True for rule in rules] for row in rows]
    assert_array_equal(labeler.rule_hits(np.array(table)), hits)
    for i, rule in enumerate(rules):
        rows_hit = alone = in_conflict = 0
        for line in hits:
            others = [r for j, r in enumerate(rules) if j != i and line[j]]
            rows_hit += line[i]
            alone += line[i] and not any(set(r.then) & set(rule.then) for r in others)
            in_conflict += line[i] and any(
                r.then.get(label, value) != value
                for r in others
                for label, value in rule.then.items()
            )
        report = [labeler.coverage_[k][i] for k in ("rows", "alone", "conflicts")]
        assert report == [rows_hit, alone, in_conflict]
    counts = labeler.label_coverage_
    for j, label in enumerate(LABELS):
        assert counts["ones"][j] == np.count_nonzero(expected[:, j] == 1)
        assert counts["zeros"][j] == np.count_nonzero(expected[:, j] == 0)
        assert counts["unobserved"][j] == np.count_nonzero(expected[:, j] == -1)
        said = [
            {r.then.get(label) for r, hit in zip(rules, line) if hit} for line in hits
        ]
        assert counts["conflicts"][j] == sum({0, 1} <= values for values in said)


@settings(max_examples=25)
@given(rules=RULES, table=TABLES)
def test_every_container_gives_the_same(rules, table):
    array = np.array(table)
    named = RuleLabeler(rules, columns=COLUMNS)
    expected = named.fit_transform(array)
    for convert in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        assert_array_equal(named.fit_transform(convert(array)), expected)
    masked = np.ma.masked_invalid(array)
    assert_array_equal(named.fit_transform(masked), expected)
    pandas = pd.DataFrame(array, columns=COLUMNS)
    for frame in (
        pandas,
        pandas.astype("Float64"),
        pandas.astype(object),
        pl.DataFrame(table, schema=COLUMNS, orient="row"),
        pl.DataFrame(table, schema=COLUMNS, orient="row").fill_nan(None),
    ):
        labeler = RuleLabeler(rules)
        assert_array_equal(labeler.fit_transform(frame), expected)
        assert labeler.coverage_ == named.coverage_
    order = np.arange(len(table))[::-1]
    assert_array_equal(named.transform(array[order]), expected[order])


def test_order_of_rules_does_not_matter_by_default():
    rules = [Rule("A", {"x": 1}), Rule("B", {"x": 0, "y": 1}), Rule("A", {"y": 1})]
    table = pd.DataFrame({"A": [1, 0, 1, 0], "B": [0, 1, 1, 0]})
    expected = [[1, 1], [0, 1], [-1, 1], [-1, -1]]
    for order in (rules, rules[::-1]):
        labeler = RuleLabeler(order, labels=["x", "y"])
        assert labeler.fit_transform(table).tolist() == expected
    first = RuleLabeler(rules, conflict="first").fit(table)
    assert first.transform(table)[2].tolist() == [1, 1]
    last = RuleLabeler(rules, conflict="last").fit(table)
    assert last.transform(table)[2].tolist() == [0, 1]
    assert first.disagreements_.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def toml(value):
    """Write a value in TOML, which the standard library can only read."""
    if isinstance(value, dict):
        entries = [f"{json.dumps(key)} = {toml(entry)}" for key, entry in value.items()]
        return "{" + ", ".join(entries) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    return json.dumps(value)


@settings(max_examples=40)
@given(rules=RULES)
def test_rules_survive_files(rules, tmp_path_factory):
    folder = tmp_path_factory.mktemp("rules")
    plain = [asdict(rule) for rule in rules]
    (folder / "rules.json").write_text(json.dumps({"rules": plain}))
    (folder / "rules.toml").write_text(f"rules = {toml(plain)}\n")
    assert rules_from_file(folder / "rules.json") == rules
    assert rules_from_file(str(folder / "rules.toml")) == rules
    assert [Rule(**entry) for entry in plain] == rules


def test_named_lists_in_files(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text(
        """
[lists]
old = ["C02*"]
drugs = ["C09*", "@old"]

[[rules]]
name = "@drugs"
when = {all = ["I10", "@drugs"], none = ["@old"]}
then = {hypertension = 1}
"""
    )
    (rule,) = rules_from_file(path)
    old = {"any": ["C02*"]}
    assert rule.when == {"all": ["I10", {"any": ["C09*", old]}], "none": [old]}
    assert rule.name == "@drugs"


def test_labeler_reads_dicts_as_rules():
    entries = [{"when": "A", "then": {"x": 1}, "name": "one"}]
    labeler = RuleLabeler(entries).fit(pd.DataFrame({"A": [1, 0]}))
    assert labeler.rules_ == [Rule("A", {"x": 1}, "one")]
    assert labeler.coverage_["rule"] == ["one"]


def test_rules_cannot_be_changed_from_outside():
    when, then = {"any": ["A"]}, {"x": np.int64(1)}
    rule = Rule(when, then)
    when["any"].append("B")
    then["x"] = 0
    assert rule == Rule({"any": ("A",)}, {"x": True})


def test_text_and_other_columns():
    frame = pd.DataFrame(
        {
            "sex": ["F", "M", None, "F"],
            "kind": pd.Categorical(["250", None, "x y", "250"]),
            "yes": [True, False, True, False],
            "maybe": pd.array([True, None, False, True], dtype="boolean"),
            "money": [Decimal("1.5"), Decimal(0), None, Decimal(3)],
            "empty": [None] * 4,
            7: [1, 2, 3, 4],
        }
    )
    conditions = {
        "sex_is_f": {"sex": "== F"},
        "not_f": {"sex": "!= F"},
        "no_sex": {"sex": "missing"},
        "code": {"kind": "== 250"},
        "spaces": {"kind": "==  x y "},
        "yes": "yes",
        "no": {"not": "yes"},
        "maybe": {"maybe": True},
        "surely_not": {"maybe": False},
        "money": {"money": [">= 1", "< 2"]},
        "empty": {"empty": "== anything"},
        "seven": {"7": ">= 3"},
    }
    rules = [Rule(when, {name: 1}) for name, when in conditions.items()]
    expected = {
        "sex_is_f": [1, 0, 0, 1],
        "not_f": [0, 1, 0, 0],
        "no_sex": [0, 0, 1, 0],
        "code": [1, 0, 0, 1],
        "spaces": [0, 0, 1, 0],
        "yes": [1, 0, 1, 0],
        "no": [0, 1, 0, 1],
        "maybe": [1, 0, 0, 1],
        "surely_not": [0, 0, 1, 0],
        "money": [1, 0, 0, 0],
        "empty": [0, 0, 0, 0],
        "seven": [0, 0, 1, 1],
    }
    labeler = RuleLabeler(rules, default=0).set_output(transform="pandas")
    found = labeler.fit_transform(frame)
    assert {name: found[name].tolist() for name in found} == expected
    polars = pl.from_pandas(frame.astype({"money": float}).rename(columns=str))
    assert_array_equal(labeler.transform(polars), found)


DATES = ["2024-01-31", None, "2024-02-01", "2024-01-31T12:30"]


@pytest.mark.parametrize(
    "column",
    [
        *(np.array(DATES, f"datetime64[{unit}]") for unit in ("s", "ms", "us", "ns")),
        np.ma.array(
            np.array([d or "2024-03-01" for d in DATES], "datetime64[ns]"),
            mask=[d is None for d in DATES],
        ),
        [None if d is None else datetime.fromisoformat(d) for d in DATES],
        pl.Series(DATES).str.to_datetime(strict=False, format="%Y-%m-%d"),
    ],
    ids=["s", "ms", "us", "ns", "masked", "objects", "polars"],
)
def test_dates_are_compared_as_dates_and_nat_is_missing(column):
    if isinstance(column, pl.Series):  # its last entry has a time, so it is missing
        column = column.to_frame("d")
        late = [0, 0, 1, 0]
    else:
        late = [0, 0, 1, 1]
        if isinstance(column, list):
            column = np.array(column, dtype=object)
        column = column.reshape(-1, 1)
    tests = {
        "later": {"d": "> 2024-01-31"},
        "not later": {"d": "<= 2024-01-31"},
        "that day": {"d": ["== 2024-01-31"]},
        "another": {"d": "!= 2024-01-31 00:00:00"},
        "negated": {"not": {"d": "< 2024-02-01"}},
        "missing": {"d": "missing"},
        "known": {"d": "known"},
    }
    rules = [Rule(when, {name: 1}) for name, when in tests.items()]
    found = RuleLabeler(rules, columns=["d"], default=0).fit_transform(column).T
    gone = [0, 1, 0, 0 if late[3] else 1]
    assert found[0].tolist() == late
    assert found[1].tolist() == found[2].tolist() == [1, 0, 0, 0]
    assert found[3].tolist() == late
    assert found[4].tolist() == [0, 0, 1, 0]
    assert found[5].tolist() == gone
    assert found[6].tolist() == [1 - g for g in gone]


@pytest.mark.parametrize(
    "test",
    ["==" + " " * 50_000, ">= 7" + " " * 50_000, "== a" + " " * 50_000 + "b\n\n"],
)
def test_spaces_in_a_test_cost_nothing(test):
    """50,000 spaces took 17 seconds, and ten times as many a hundred times that."""
    start = time.perf_counter()
    try:
        Rule({"glucose": test}, {"x": 1})
    except ValueError as error:
        assert "tests the column 'glucose'" in str(error)
    assert time.perf_counter() - start < 1


def test_scikit_learn_is_content():
    results = check_estimator(
        RuleLabeler([Rule("x0", {"a": 1}), Rule({"none": ["x*"]}, {"a": 0})]),
        expected_failed_checks={"check_complex_data": "the message names the entry"},
        on_skip=None,
    )
    assert {r["status"] for r in results} <= {"passed", "skipped", "xfail"}


def test_output_is_read_by_the_door():
    frame = pd.DataFrame({"A": [1, 0, 2], "B": [0, 1, 1]}, index=[5, 7, 9])
    rules = [Rule("A", {"a": 1}), Rule("B", {"b": 0})]
    labeler = RuleLabeler(rules).set_output(transform="pandas").fit(frame)
    labels = labeler.transform(frame)
    assert labels.index.tolist() == [5, 7, 9]
    assert check_labels(labels).classes.tolist() == ["a", "b"]
    assert labeler.get_feature_names_out().tolist() == ["a", "b"]
    out = clone(labeler).set_output(transform="polars").fit_transform(frame)
    assert out.columns == ["a", "b"]
    assert labeler.feature_names_in_.tolist() == ["A", "B"]
    with pytest.raises(NotFittedError):
        clone(labeler).transform(frame)


def test_new_tables_need_the_columns_of_the_rules_only():
    rules = [Rule("A*", {"x": 1}), Rule({"none": ["A*"]}, {"x": 0})]
    labeler = RuleLabeler(rules).fit(pd.DataFrame({"A1": [1], "A2": [0], "B": [0]}))
    other = pl.DataFrame({"A3": [1, 1], "A2": [0, 2], "A1": [0, 0]})
    assert labeler.transform(other).tolist() == [[0], [1]]
    assert labeler.transform(np.array([[0, 3, 0]])).tolist() == [[1]]
    assert labeler.transform(np.zeros((0, 3))).shape == (0, 1)
    with pytest.raises(ValueError, match="X has no column 'A2', which the rules need"):
        labeler.transform(other.drop("A2"))
    with pytest.raises(ValueError, match="X has 2 features, but"):
        labeler.transform(np.zeros((4, 2)))


def test_columns_nobody_has_can_count_as_zeros():
    rules = [
        Rule({"any": ["A", "C09*"]}, {"x": 1}),
        Rule({"none": ["A", "Z9"]}, {"x": 0}),
    ]
    labeler = RuleLabeler(rules, unmatched="zero")
    table = pd.DataFrame({"A": [1, 0]})
    assert labeler.fit_transform(table).tolist() == [[1], [0]]
    assert labeler.unmatched_ == ["C09*", "Z9"]
    matched = RuleLabeler(rules[:1], columns=["A", "C09"]).fit(np.ones((1, 2)))
    assert matched.unmatched_ == []


FRAME = pd.DataFrame({"C09AA": [1], "C09CA": [0], "glucose": [5.0], "sex": ["F"]})


def fit(when, then=None, frame=FRAME, **options):
    return RuleLabeler([Rule(when, then or {"x": 1})], **options).fit(frame)


def nest(depth):
    condition = "a"
    for _ in range(depth):
        condition = {"not": condition}
    return condition


MALFORMED = {
    "pattern": (lambda: fit("C9*"), "the column 'C9*'", "are 'C09CA', 'C09AA'"),
    "name": (lambda: fit("gluxose"), "the column 'gluxose'", "are 'glucose'"),
    "nothing close": (lambda: fit("%%"), "the column '%%'", "its columns are 'C09AA'"),
    "no names": (
        lambda: fit("A", frame=np.eye(2)),
        "the column 'A'",
        "pass them as `columns`",
    ),
    "text as number": (lambda: fit("sex"), "column 'sex'", "write '== word'"),
    "text threshold": (lambda: fit({"sex": "> 3"}), "column 'sex'", "holds text"),
    "number as text": (lambda: fit({"glucose": "== F"}), "'glucose'", "give a number"),
    "test": (lambda: Rule({"a": "=> 7"}, {"x": 1}), "column 'a' with '=> 7'", ">= 7"),
    "word": (lambda: Rule({"a": "F"}, {"x": 1}), "column 'a' with 'F'", "known"),
    "order of text": (lambda: Rule({"a": "> F"}, {"x": 1}), "with '> F'", "number"),
    "nan": (lambda: Rule({"a": math.nan}, {"x": 1}), "with nan", "missing"),
    "list": (
        lambda: Rule(["a", "b"], {"x": 1}, "r"),
        "Rule 'r'",
        "the name of a column",
    ),
    "empty": (lambda: Rule({}, {"x": 1}), "the condition {}", "the name of a column"),
    "no test": (lambda: Rule({"a": []}, {"x": 1}), "column 'a' with []", "give"),
    "no parts": (lambda: Rule({"any": []}, {"x": 1}), "[] after 'any'", "a list"),
    "a part": (lambda: Rule({"all": "a"}, {"x": 1}), "'a' after 'all'", "a list"),
    "deep": (lambda: Rule({"any": [{"not": 3}]}, {"x": 1}), "condition 3", "column"),
    "key": (lambda: Rule({3: "> 1"}, {"x": 1}), "the key 3", "a column name"),
    "no count": (lambda: Rule({"of": ["a"]}, {"x": 1}), "without the other", "of"),
    "count": (
        lambda: Rule({"at_least": 3, "of": ["a", "b"]}, {"x": 1}),
        "at least 3 of 2",
        "from 1 to 2",
    ),
    "half": (
        lambda: Rule({"at_least": 0.5, "of": ["a"]}, {"x": 1}),
        "0.5 after 'at_least'",
        "a whole number",
    ),
    "value": (lambda: Rule("a", {"x": -1}), "sets 'x' to -1", "1 (has the label)"),
    "no label": (lambda: Rule("a", {}), "sets no label", "hypertension"),
    "label list": (lambda: Rule("a", ["x"]), "sets no label", "a dict"),
    "title": (lambda: Rule("a", {"x": 1}, 5), "a rule is 5", "give text"),
    "no rules": (lambda: RuleLabeler([]).fit(FRAME), "no rules", "at least one"),
    "no rule": (lambda: RuleLabeler(["C09AA"]).fit(FRAME), "Rule 0", "'when'"),
    "typo": (
        lambda: RuleLabeler([{"wenn": "a", "then": {"x": 1}}]).fit(FRAME),
        "Rule 0",
        "a dict with 'when'",
    ),
    "other label": (
        lambda: fit("sex", labels=["y"]),
        "Rule 0 sets the label 'x'",
        "add it to `labels`",
    ),
    "label twice": (lambda: fit("sex", labels=["x", "x"]), "labels is", "once"),
    "names": (
        lambda: fit("a", frame=np.eye(2), columns=["a"]),
        "columns has 1 names",
        "one name per column",
    ),
    "name twice": (
        lambda: fit("a", frame=np.eye(2), columns=["a", "a"]),
        "two columns 'a'",
        "its name",
    ),
    "two names": (lambda: fit("a", columns=list("abcd")), "other names", "leave"),
    "no rows": (lambda: fit("sex", frame=FRAME[:0]), "0 sample(s)", "minimum of 1"),
    "1-D": (lambda: fit("a", frame=np.ones(3)), "shape (3,)", "one row per sample"),
    "frame names": (
        lambda: fit("a", frame=pd.DataFrame([[1, 2]], columns=["a", "a"])),
        "DataFrame could not be read",
        "different names",
    ),
    "dates": (
        lambda: fit("d", frame=pd.DataFrame({"d": pd.to_datetime(["2020-01-01"])})),
        "column 'd' with '> 0'",
        "holds dates; write one as in '>= 2024-01-31'",
    ),
    "a date for numbers": (
        lambda: fit({"glucose": ">= 2024-01-31"}),
        "'glucose' with '>= 2024-01-31'",
        "give a number",
    ),
    "no such day": (
        lambda: Rule({"d": ">= 2023-02-31"}, {"x": 1}),
        "with '>= 2023-02-31'",
        "give",
    ),
    "spans": (
        lambda: fit("d", frame=pd.DataFrame({"d": np.array([5], "timedelta64[ns]")})),
        "Column 'd' of X holds '5 nanoseconds' in row 0",
        "of numbers, of text",
    ),
    "mixture": (
        lambda: fit("d", frame=pd.DataFrame({"d": ["a", 1]})),
        "Column 'd' of X holds 1 in row 1",
        "columns of numbers, of text",
    ),
    "400 digits": (lambda: Rule({"a": 10**400}, {"x": 1}), "column 'a'", "a number"),
    "400 digits in a cell": (
        lambda: fit("d", frame=pd.DataFrame({"d": [10**400]}, dtype=object)),
        "Column 'd' of X holds 1000",
        "of numbers",
    ),
    "a long count": (
        lambda: Rule({"at_least": 10**400, "of": ["a"]}, {"x": 1}),
        "at least 1000",
        "from 1 to 1",
    ),
    "very deep": (
        lambda: Rule(nest(20_000), {"x": 1}, "r"),
        "Rule 'r' has a condition",
        "nested more than 100 levels deep",
    ),
    "long names": (
        lambda: fit("q" * 10_000, {"y" * 10_000: 1}, FRAME, labels=["y" * 10_000]),
        "names the column 'qqq",
        "its columns are",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_refusals_name_place_and_remedy(case):
    call, place, remedy = MALFORMED[case]
    with pytest.raises(ValueError) as caught:
        call()
    message = str(caught.value)
    assert place in message
    assert remedy in message
    assert message.endswith(".") and "\n" not in message and len(message) < 400


@pytest.mark.parametrize(
    "options", [{"conflict": "middle"}, {"default": 1}, {"unmatched": "drop"}]
)
def test_bad_options(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        fit("C09AA", **options)


FILES = {
    "rules.yaml": ("", "neither .toml nor .json"),
    "broken.toml": ("rules = [", "not valid TOML"),
    "broken.json": ("{", "not valid JSON"),
    "list.json": ("[]", "a list 'rules'"),
    "more.json": ('{"rules": [], "rule": []}', "nothing else"),
    "table.toml": ("[rules]", "a list 'rules'"),
    "entry.json": ('{"rules": [{"when": "a"}]}', "Rule 0 is"),
    "unknown.json": (
        '{"rules": [{"when": "@b", "then": {"x": 1}}], "lists": {"a": ["c"]}}',
        "the list '@b', but 'lists' has a",
    ),
    "circle.json": (
        '{"rules": [{"when": "@a", "then": {"x": 1}}], "lists": {"a": ["@a"]}}',
        "the list '@a'",
    ),
    "lists.json": ('{"rules": [{"when": "@a"}], "lists": ["a"]}', "a table 'lists'"),
    "digits.json": (f'{{"rules": {"9" * 5000}}}', "not valid JSON"),
    "float.json": (
        f'{{"rules": [{{"when": {{"a": {"9" * 400}}}, "then": {{"x": 1}}}}]}}',
        "tests the column 'a' with 9999",
    ),
    "deep.json": ('{"rules": ' + "[" * 20_000 + "]" * 20_000 + "}", "nested more than"),
    "dict.json": (
        '{"rules": [{"then": {"x": 1}, "when": '
        + '{"not": ' * 200
        + '"a"'
        + "}" * 200
        + "}]}",
        "nested more than 100 levels",
    ),
    "deep.toml": ("rules = " + "[" * 20_000 + "]" * 20_000, "nested more than"),
    "dots.toml": ("a" + ".a" * 20_000 + " = 1", "nested more than 100 levels"),
    "laughs.json": (
        json.dumps(
            {
                "rules": [{"when": "@0", "then": {"x": 1}}],
                "lists": {str(i): [f"@{i + 1}"] * 10 for i in range(20)} | {"20": "a"},
            }
        ),
        "over 100000 conditions",
    ),
    "chain.json": (
        json.dumps(
            {
                "rules": [{"when": "@0", "then": {"x": 1}}],
                "lists": {str(i): [f"@{i + 1}"] for i in range(2000)} | {"2000": "a"},
            }
        ),
        "over 100 levels",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_bad_files(name, tmp_path):
    text, message = FILES[name]
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(ValueError) as caught:
        rules_from_file(path)
    found = str(caught.value)
    assert message in found and str(path) in found
    assert "\n" not in found and len(found) < 400 + len(str(path))
    with pytest.raises(FileNotFoundError):
        rules_from_file(tmp_path / "absent.toml")
