"""Which rows of a report today's code, arguments and data would not give again."""

import shutil
from pathlib import Path

import pytest

from demurk.benchmark.engine import _keys
from demurk.benchmark.engine._keys import keyed_tasks
from demurk.benchmark.engine._protocol import load_protocol
from demurk.benchmark.engine._stale import as_reported, mark_stale, merged_rows

TEXT = """
kind = "tiny_tasks.tiny"
measures = ["score"]
seeds = 3
[data_sets]
one = {}
[methods]
A = {name = "a"}
B = {name = "b"}
"""


@pytest.fixture
def make(tmp_path):
    """A protocol, and the rows that its tasks give now."""

    def make(text=TEXT):
        shutil.copy(Path(__file__).with_name("tiny_tasks.py"), tmp_path)
        (tmp_path / "p.toml").write_text(text)
        protocol = load_protocol(tmp_path / "p.toml")
        return protocol, [
            {
                **{n: getattr(task, n) for n in ("data_set", "setting", "method")},
                **{"seed": task.seed, "key": key, "code": code, "data": data},
                "status": "done",
            }
            for key, (task, code, data) in keyed_tasks(protocol).items()
        ]

    return make


def stale(protocol, rows):
    return [row["stale"] for row in mark_stale(protocol, rows)]


def test_rows_of_now_are_not_stale(make):
    assert stale(*make()) == [False] * 6


def test_changed_arguments_data_and_code_make_rows_stale(make, tmp_path):
    protocol, rows = make()
    other, _ = make(TEXT.replace('name = "b"', 'name = "c"'))
    assert stale(other, rows) == [False, True] * 3
    make()
    assert stale(protocol, [rows[0] | {"key": "another"}, rows[1]]) == [True, False]
    with (tmp_path / "tiny_tasks.py").open("a") as file:
        file.write("X = 1\n")
    assert stale(protocol, rows) == [True] * 6


def test_rows_without_a_key_or_a_task_are_stale(make):
    protocol, rows = make()
    del rows[0]["key"]
    marked = mark_stale(protocol, [*rows, rows[1] | {"method": "gone"}])
    assert [row["stale"] for row in marked] == [True, *[False] * 5, True]
    assert marked[0]["now"] is not None and marked[-1]["now"] is None


def test_data_that_are_not_here_are_taken_to_be_the_same(make, monkeypatch):
    protocol, rows = make()
    monkeypatch.setattr(_keys, "data_checksum", lambda *_: "missing")
    assert stale(protocol, rows) == [False] * 6
    monkeypatch.setattr(_keys, "data_checksum", lambda *_: "other")
    assert stale(protocol, rows) == [True] * 6


def test_rows_come_in_the_order_of_tasks_and_new_ones_replace_old(make):
    protocol, rows = make()
    new = rows[3] | {"key": "new"}
    merged = merged_rows(protocol, rows[::-1], [new])
    assert merged == [*rows[:3], new, *rows[4:]]
    gone = rows[0] | {"method": "gone"}
    assert merged_rows(protocol, [gone], rows) == rows
    assert as_reported(protocol, rows[:4]).seeds == 2


def test_a_skipped_task_replaces_no_result(make):
    protocol, rows = make()
    done = rows[0]
    skipped, failed = done | {"status": "skipped"}, done | {"status": "failed"}
    assert merged_rows(protocol, [done], [skipped]) == [done]
    assert merged_rows(protocol, [skipped], [done]) == [done]
    assert merged_rows(protocol, [done], [failed]) == [failed]
    assert merged_rows(protocol, [failed], [skipped]) == [skipped]
