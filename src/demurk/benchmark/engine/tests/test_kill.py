"""A run that is killed again and again ends as if nothing had happened."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

from demurk.benchmark.engine._protocol import load_protocol
from demurk.benchmark.engine._runner import protocol_rows, run_protocol
from demurk.benchmark.engine._store import ResultStore

N_KILLS = 20
PROTOCOL = """
kind = "tiny_tasks.tiny"
measures = ["score"]
seeds = 10
options = {{log = "{log}", pause = 0.005}}
[data_sets]
a = {{}}
b = {{}}
c = {{}}
d = {{}}
[methods]
"""
# Loading the whole room takes longer than the tasks: the runner needs little of it.
RUNNER = """
import sys, types
from pathlib import Path
import demurk
room = types.ModuleType("demurk.benchmark")
room.__path__ = [str(Path(demurk.__file__).parent / "benchmark")]
sys.modules["demurk.benchmark"] = room
from demurk.benchmark.engine._protocol import load_protocol
from demurk.benchmark.engine._runner import run_protocol
from demurk.benchmark.engine._store import ResultStore
with ResultStore(sys.argv[2]) as store:
    print(run_protocol(load_protocol(sys.argv[1]), store, n_jobs=2))
"""


def start(*arguments):
    """The runner in a session of its own, so that all of it can be killed."""
    command = [sys.executable, "-c", RUNNER, *map(str, arguments)]
    return subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.PIPE, text=True
    )


def lines(path):
    return path.read_text().splitlines() if path.exists() else []


def recorded(path):
    if not path.exists():
        return {}
    with ResultStore(path) as store:
        return {
            f"{row['data_set']}/{row['method']}/{row['seed']}": row["values"]
            for row in store.rows()
        }


def kill_at_a_random_moment(process, log, rng, *, whole_group):
    """One time in four while it loads or opens the store, else among the tasks."""
    before, begun = len(lines(log)), time.monotonic()
    patience = rng.uniform(0, 1) if rng.random() < 0.25 else 60
    enough = rng.randrange(1, 10)
    while time.monotonic() - begun < patience and len(lines(log)) - before < enough:
        time.sleep(0.002)
    time.sleep(rng.uniform(0, 0.01))
    assert process.poll() is None, "the run ended before it was killed"
    if whole_group:
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL


def test_killed_runs_lose_nothing_and_repeat_nothing(tmp_path):
    shutil.copy(Path(__file__).with_name("tiny_tasks.py"), tmp_path)
    log, path = tmp_path / "log", tmp_path / "results.sqlite"
    text = PROTOCOL.format(log=log)
    text += "".join(f'm{i} = {{name = "m{i}"}}\n' for i in range(5))
    (tmp_path / "killed.toml").write_text(text)
    rng = random.Random(7)
    parts = []
    for i in range(N_KILLS):
        parts.append((len(lines(log)), recorded(path)))
        process = start(tmp_path / "killed.toml", path)
        kill_at_a_random_moment(process, log, rng, whole_group=i % 2 == 0)
    parts.append((len(lines(log)), recorded(path)))
    assert 20 < len(parts[-1][1]) < 200, "the kills missed the run"
    process = start(tmp_path / "killed.toml", path)
    shown, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and f"kept={len(parts[-1][1])}" in shown

    # No task ran after it had been recorded, and no record was lost or changed.
    ran, ends = lines(log), [first for first, _ in parts[1:]] + [None]
    for (first, known), end in zip(parts, ends):
        assert not set(ran[first:end]) & set(known)
        assert known.items() <= recorded(path).items()
    assert len(set(ran)) == 200

    protocol = load_protocol(tmp_path / "killed.toml")
    with ResultStore(tmp_path / "whole.sqlite") as whole, ResultStore(path) as store:
        run_protocol(protocol, whole)
        expected = protocol_rows(protocol, whole)
        found = protocol_rows(protocol, store)
    result = ("key", "data_set", "setting", "method", "seed", "status", "values")
    assert [[row[name] for name in result] for row in found] == [
        [row[name] for name in result] for row in expected
    ]
    assert len(found) == 200
    with sqlite3.connect(path) as file:
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert file.execute("SELECT count(*) FROM results").fetchone() == (200,)
