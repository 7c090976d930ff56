"""The committed results: whether today's protocols and code would give them again."""

from collections import Counter
from pathlib import Path

import pytest

from demurk.benchmark import count_stale, list_protocols, load_protocol
from demurk.benchmark.engine import _stale
from demurk.benchmark.engine._stale import as_reported, mark_stale, read_report

FOLDER = Path(__file__).resolve().parents[4] / "results" / "bench"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="not in the repository")


@pytest.fixture(scope="module")
def marked():
    """Rows by protocol."""
    found = {}
    for name in list_protocols():
        protocol = load_protocol(name)
        rows = read_report(protocol, FOLDER)
        if rows:
            found[name] = mark_stale(as_reported(protocol, rows), rows)
    return found


def test_every_row_is_of_a_task_that_there_is(marked):
    lost = Counter(
        (name, row["data_set"], row["setting"], row["method"])
        for name, rows in marked.items()
        for row in rows
        if row["now"] is None
    )
    assert len(marked) > 15 and not lost


def test_few_rows_are_stale(marked):
    """``demurk bench --stale --out results/bench`` lists them by method."""
    stale = {name: sum(row["stale"] for row in rows) for name, rows in marked.items()}
    n_rows = sum(map(len, marked.values()))
    assert sum(stale.values()) < 0.05 * n_rows, {n: c for n, c in stale.items() if c}


def test_stale_rows_are_counted_by_protocol_and_method(marked, monkeypatch):
    name = "ssdrmc-digits"
    monkeypatch.setattr(_stale, "list_protocols", lambda: [name])
    counts = count_stale(FOLDER)
    rows = marked[name]
    assert {method for _, method in counts} == {row["method"] for row in rows}
    stale, whole = map(sum, zip(*counts.values()))
    assert (stale, whole) == (sum(row["stale"] for row in rows), len(rows))
