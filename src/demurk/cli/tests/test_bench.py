"""``demurk bench``, run as a user runs it."""

import io
import sys
from types import ModuleType

import numpy as np
import pytest
from rich.console import Console

from demurk.benchmark import list_protocols, load_protocol, read_results
from demurk.benchmark.engine import _protocol
from demurk.cli import _bench, _console, main
from demurk.cli._bench import BenchProgress, duration

KIND = """
import os

def kind(data_set, method, seed, base=0):
    if method.get("fails") and not os.path.exists("mended"):
        raise ArithmeticError("it went [wrong]")
    return {"score": base + seed}

kind.checksum = lambda data_set, options: "none"
"""
MINE = """
title = "My comparison"
kind = "bench_kind.kind"
measures = ["score"]
seeds = 2
[data_sets]
one = {base = 1}
two = {base = 2}
[methods]
good = {}
better = {group = "demurk"}
[quick]
seeds = 1
data_sets = {one = {}}
"""


@pytest.fixture
def reports(monkeypatch):
    """What the report is asked to show."""
    shown = []

    def write_report(protocol, rows, folder, *, command=None):
        shown.append((protocol, rows, command))
        path = folder / f"{protocol.name}.html"
        path.write_text("a page")
        return [path]

    module = ModuleType("demurk.benchmark.report._report")
    module.write_report = write_report
    monkeypatch.setitem(sys.modules, "demurk.benchmark.report._report", module)
    return shown


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "bench_kind.py").write_text(KIND)
    (tmp_path / "mine.toml").write_text(MINE)
    (tmp_path / "bad.toml").write_text(MINE.replace("good = {}", "bad = {fails = 1}"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "bench_kind", raising=False)
    monkeypatch.setattr(_protocol, "FOLDER", tmp_path)
    return tmp_path


def run(text):
    return main(["bench", *text.split()])


def test_without_a_name_the_protocols_are_listed(folder, capsys):
    assert run("") == 0
    shown = capsys.readouterr().out
    assert "mine" in shown and "bad" in shown and "My comparison" in shown


def test_a_run_is_recorded_and_reported(folder, reports, capsys):
    assert run("mine.toml --out there") == 0
    assert (folder / "there" / "results.sqlite").exists()
    ((protocol, rows, command),) = reports
    assert protocol.title == "My comparison" and len(protocol.data_sets) == 2
    assert [row["values"]["score"] for row in rows] == [1, 1, 2, 2, 2, 2, 3, 3]
    assert command == "demurk bench mine.toml"
    printed = capsys.readouterr()
    assert "8 tasks done, 0 skipped, 0 kept from before" in printed.out
    assert "there/mine.html" in printed.out
    assert "mine: 8 tasks to do, 0 in the store" in printed.err
    assert "mine: 8 of 8 done, 0 failed" in printed.err
    assert run("mine.toml --out there") == 0
    assert "0 tasks done, 0 skipped, 8 kept" in capsys.readouterr().out


def test_quick_and_seeds(folder, reports):
    assert run("mine --quick") == 0
    assert run("mine --quick --seeds 3 --jobs 2") == 0
    (_, few, _), (protocol, more, command) = reports
    assert (len(few), len(more)) == (2, 6) and protocol.seeds == 3
    assert command == "demurk bench mine --quick --seeds 3"


def test_a_part_is_run_and_all_results_are_reported(folder, reports):
    assert run("mine --only-data tw* --only-methods better") == 0
    assert run("mine --only-data one") == 0
    (first, few, _), (both, more, _) = reports
    assert list(first.data_sets) == ["two"] and list(first.methods) == ["better"]
    assert len(few) == 2 and len(more) == 6
    assert list(both.data_sets) == ["one", "two"]


def test_settings_can_be_chosen(folder, reports):
    settings = "[settings]\na = {base = 5}\nb = {base = 6}\n[methods]"
    (folder / "two.toml").write_text(MINE.replace("[methods]", settings))
    assert run("two mine --only-settings b --only-methods good") == 0
    ((protocol, rows, _),) = reports  # the other protocol has no such setting
    assert list(protocol.settings) == ["b"]
    assert {row["setting"] for row in rows} == {"b"} and len(rows) == 4


def test_failures_are_counted_and_shown(folder, reports, capsys):
    assert run("all --seeds 1") == 1
    printed = capsys.readouterr()
    first = "bad on one, seed 0: failed: ArithmeticError: it went [wrong]"
    assert f"2 tasks have failed, the first one {first}" in printed.out
    assert f"bad: {first}" in printed.err
    assert len(reports) == 2
    # They are not run again by themselves, but not forgotten either.
    assert run("bad --seeds 1") == 1
    assert "0 tasks done, 0 skipped, 4 kept" in capsys.readouterr().out
    assert run("bad --seeds 1 --only-methods better") == 0
    (folder / "mended").touch()
    capsys.readouterr()
    assert run("bad --seeds 1 --retry-failed") == 0
    assert "2 tasks done, 0 skipped, 2 kept" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, message",
    [
        ("nothing", "There is no protocol 'nothing'"),
        ("nothing.toml", "There is no protocol file nothing.toml"),
        (
            "mine --only-data three",
            "'three' is not among the data sets of mine: choose",
        ),
        (
            "mine --only-methods x",
            "'x' is not among the methods of mine: choose 'better'",
        ),
        ("mine --time-limit -1", "time_limit is -1.0, but must be positive"),
        ("mine --seeds 0", "seeds"),
        ("mine --out mine.toml/x", "mine.toml"),
    ],
)
def test_mistakes_are_explained_in_one_line(
    folder, reports, capsys, arguments, message
):
    assert run(arguments) == 2
    printed = capsys.readouterr().err
    assert message in printed and printed.count("\n") == 1


def test_a_terminal_shows_what_runs(monkeypatch):
    out = io.StringIO()
    terminal = Console(file=out, force_terminal=True, width=100, highlight=False)
    for module in (_bench, _console):
        monkeypatch.setattr(module, "console", terminal)
    protocol = _protocol.Protocol(
        "mine", "m.f", ("score",), 12, {"d": {}}, {"A": {}}, title="T"
    )
    tasks = protocol.tasks()
    from demurk.benchmark.engine._store import Outcome

    with BenchProgress() as progress:
        progress.begin(protocol, tasks, 5, 2)
        for task in tasks[:11]:
            progress.start(task)
        progress.finish(tasks[0], Outcome("done", wall_s=20.0))
        progress.finish(
            tasks[1], Outcome("failed", error="a\nKeyError: [b]", wall_s=40)
        )
        progress._live.refresh()
    shown = out.getvalue()
    assert "mine: A on d, seed 1: failed: KeyError: [b]" in shown
    # Ten tasks of thirty seconds each, two at a time.
    assert "2 of 12 done, 1 failed, about 2 min left, 5 kept from before" in shown
    assert "\n  A on d, seed 2 (0 s)\n" in shown and "and 1 more" in shown


def test_a_report_never_replaces_what_a_protocol_reads(folder, reports, capsys):
    data = folder / "mine.csv"
    data.write_text("a,b")
    text = MINE.replace("one = {base = 1}", 'one = {base = 1, file = "mine.csv"}')
    (folder / "mine.toml").write_text(text)
    assert run("mine.toml --out .") == 2
    assert "mine.csv is the data itself" in capsys.readouterr().err
    assert data.read_text() == "a,b" and reports == []
    assert run("mine.toml --out mine.csv") == 2
    assert "mine.csv is a file" in capsys.readouterr().err


def test_stale_results_are_listed_and_only_they_are_run_again(folder, capsys):
    """A report in a folder without a store is enough to go on from."""
    assert run("mine --out there --only-data one") == 0
    (folder / "there" / "results.sqlite").unlink()
    capsys.readouterr()
    assert run("--stale --out there") == 0
    assert "0 of 4 rows in there are stale" in capsys.readouterr().out
    mine = (folder / "mine.toml").read_text()
    (folder / "mine.toml").write_text(mine.replace("good = {}", "good = {new = 1}"))
    assert run("--stale --out there") == 0
    shown = capsys.readouterr().out
    assert "2 of 4 rows in there are stale (50.0 %)" in shown and "better" not in shown
    assert run("mine --stale --out there --only-methods better") == 0
    report = (folder / "there" / "mine.md").read_text()
    assert "Stale, from other code or data than today's: good (2)" in report
    kept = {row["key"] for row in read_results(folder / "there" / "mine.csv")}
    capsys.readouterr()
    assert run("mine --stale --out there -j 2") == 0
    assert "2 tasks done, 0 skipped, 0 kept from before" in capsys.readouterr().out
    rows = read_results(folder / "there" / "mine.csv")
    assert [row["method"] for row in rows if row["key"] not in kept] == ["good"] * 2
    assert {row["data_set"] for row in rows} == {"one"} and len(rows) == 4
    assert "Stale" not in (folder / "there" / "mine.md").read_text()
    assert run("--stale --out there") == 0
    assert "0 of 4 rows" in capsys.readouterr().out
    # All others are run without the option, and nothing twice.
    assert run("mine --out there") == 0
    assert "4 tasks done, 0 skipped, 4 kept" in capsys.readouterr().out


def test_fewer_seeds_take_nothing_from_a_report(folder):
    assert run("mine --out there --only-methods good") == 0
    before = read_results(folder / "there" / "mine.csv")
    assert run("mine --out there --only-methods better --seeds 1") == 0
    rows = read_results(folder / "there" / "mine.csv")
    assert [row for row in rows if row["method"] == "good"] == before
    assert [row["seed"] for row in rows if row["method"] == "better"] == [0, 0]
    assert "demurk bench mine --seeds 2" in (folder / "there" / "mine.md").read_text()


def test_a_folder_without_reports_has_nothing_stale(folder, capsys):
    assert run("--stale --out nowhere") == 2
    assert "no report of a protocol in nowhere" in capsys.readouterr().err


def test_durations():
    shown = [duration(seconds) for seconds in (0.2, 99, 120, 7200)]
    assert shown == ["0 s", "99 s", "2 min", "2.0 h"]


@pytest.mark.parametrize("name", list_protocols())
def test_quick_runs_of_all_protocols(name, tmp_path, monkeypatch):
    """Every protocol on built-in data, from the command to its report."""
    monkeypatch.setenv("DEMURK_DATA", str(tmp_path))
    assert main(["bench", name, "--quick", "--out", str(tmp_path)]) == 0
    rows = read_results(tmp_path / f"{name}.csv")
    assert len(rows) == len(load_protocol(name, quick=True).tasks())
    done = [row for row in rows if row["status"] == "done"]
    assert done and {row["status"] for row in rows} <= {"done", "skipped"}
    assert all(np.isfinite(list(row["values"].values())).all() for row in done)
    page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
    assert load_protocol(name).title.split(":")[0] in page
