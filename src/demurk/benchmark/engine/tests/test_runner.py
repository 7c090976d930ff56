"""Running tasks: limits, failures, resuming, progress."""

import shutil
import signal
import subprocess
import sys
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from demurk.benchmark.engine import _worker
from demurk.benchmark.engine._protocol import Task, load_protocol
from demurk.benchmark.engine._runner import Pace, Progress, protocol_rows, run_protocol
from demurk.benchmark.engine._store import ResultStore

HEAD = 'measures = ["score"]\nseeds = {seeds}\nkind = "tiny_tasks.{kind}"\n'
SEGFAULT = int(signal.SIGSEGV)


@pytest.fixture
def make(tmp_path):
    """Write a protocol with methods that do what they are told, and load it."""
    shutil.copy(Path(__file__).with_name("tiny_tasks.py"), tmp_path)

    def make(methods, seeds=1, kind="trouble", data="one = {}", name="p"):
        text = HEAD.format(kind=kind, seeds=seeds) + f"[data_sets]\n{data}\n[methods]\n"
        text += "\n".join(f"{name} = {table}" for name, table in methods.items())
        (tmp_path / f"{name}.toml").write_text(text)
        return load_protocol(tmp_path / f"{name}.toml")

    return make


@pytest.fixture
def store(tmp_path):
    with ResultStore(tmp_path / "results.sqlite") as store:
        yield store


def do(what, value):
    value = f'"{value}"' if isinstance(value, str) else value
    return f'{{do = "{what}", what = {value}}}'


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_kind_of_trouble_is_recorded_and_the_others_are_done(make, store, n_jobs):
    protocol = make(
        {
            "good": do("count", 2),
            "fails": do("fail", 0),
            "also_good": do("count", 3),
            "crashes": do("crash", SEGFAULT),
            "killed": do("crash", int(signal.SIGKILL)),
            "exits": do("exit", 3),
            "leaves": do("leave", 0),
            "slow": do("sleep", 60),
            "big": do("fill", 400),
            "not_so_big": do("fill", 5),
            "text": do("text", "high"),
            "skips": do("skip", "needs two classes"),
            "chatty": do("print", 1000),
        }
    )
    summary = run_protocol(
        protocol, store, n_jobs=n_jobs, time_limit=0.7, memory_limit=100
    )
    rows = {row["method"]: row for row in protocol_rows(protocol, store)}
    assert list(rows) == list(protocol.methods)
    status = {name: row["status"] for name, row in rows.items()}
    assert status == dict.fromkeys(protocol.methods, "done") | dict.fromkeys(
        ("fails", "crashes", "exits", "leaves", "text"), "failed"
    ) | {"slow": "timeout", "big": "memory", "killed": "memory", "skips": "skipped"}
    assert rows["also_good"]["values"] == {"score": 3.0}
    assert rows["not_so_big"]["values"] == {"score": 5 << 20}
    for name, words in {
        "fails": ("Traceback", "in _fail", "KeyError: 'no such thing'"),
        "crashes": ("Segmentation fault", "in _crash", "died of SIGSEGV"),
        "killed": ("memory runs out",),
        "exits": ("exit code 3",),
        "leaves": ("SystemExit: 0",),
        "slow": ("stopped at the time limit after 0.",),
        "big": ("MemoryError",),
        "text": ("could not convert string to float: 'high'",),
        "skips": ("needs two classes",),
    }.items():
        assert all(word in rows[name]["error"] for word in words), rows[name]["error"]
    assert rows["slow"]["wall_s"] == pytest.approx(0.7, abs=0.3)
    assert rows["good"]["error"] is None and rows["good"]["cpu_s"] < 0.5
    assert rows["not_so_big"]["peak_mb"] < 100
    assert rows["good"]["versions"]["python"] == sys.version.split()[0]
    assert (summary.done, summary.failed, summary.skipped) == (4, 8, 1)
    assert summary.kept == 0


def test_versions_of_what_a_method_needs_are_recorded(make, store):
    """Also where an earlier task of the same process loaded something else."""
    does = 'do = "load", what = "{}"'
    protocol = make(
        {
            "first": f"{{{does.format('joblib')}, needs = 'joblib'}}",
            "second": f"{{{does.format('joblib')}, estimator = 'joblib.Parallel'}}",
            "third": f"{{{does.format('csv')}}}",
            "none": f"{{{does.format('json.tool')}, needs = 'no_such_package'}}",
        }
    )
    run_protocol(protocol, store)
    first, second, third, none = protocol_rows(protocol, store)
    import joblib

    assert first["versions"]["joblib"] == joblib.__version__
    assert second["versions"]["joblib"] == joblib.__version__
    assert "joblib" not in third["versions"]
    assert "no_such_package" not in none["versions"]


def test_a_peak_is_that_of_the_task_and_not_of_earlier_ones(make, store):
    protocol = make({"big": do("fill", 200), "small": do("fill", 1)})
    run_protocol(protocol, store)
    big, small = protocol_rows(protocol, store)
    assert big["peak_mb"] - small["peak_mb"] > 150


def test_finished_tasks_are_kept_and_failed_ones_run_again_on_request(make, store):
    methods = {"good": do("count", 2), "fails": do("fail", 0), "no": do("skip", "why")}
    protocol = make(methods)
    assert run_protocol(protocol, store).failed == 1
    again = run_protocol(protocol, store)
    assert (again.done, again.failed, again.skipped, again.kept) == (0, 0, 0, 3)
    retry = run_protocol(protocol, store, retry_failed=True)
    assert (retry.done, retry.failed, retry.skipped, retry.kept) == (0, 1, 0, 2)
    # More seeds, data sets or methods only add to what is there.
    more = make(methods, seeds=2, data="one = {}\ntwo = {}")
    assert run_protocol(more, store).kept == 3
    assert len(protocol_rows(more, store)) == 12
    assert len(protocol_rows(protocol, store)) == 3


def test_a_protocol_shows_results_that_another_one_brought(make, store):
    first = make({"good": do("count", 2)})
    run_protocol(first, store)
    second = make({"good": do("count", 2), "more": do("count", 3)}, name="q")
    assert run_protocol(second, store).kept == 1
    rows = protocol_rows(second, store)
    assert [row["protocol"] for row in rows] == ["q", "q"]


def test_what_a_task_draws_does_not_depend_on_where_it_runs(make, store, tmp_path):
    names = {name: f'{{name = "{name}"}}' for name in "abcd"}
    protocol = make(names, seeds=3, kind="tiny")
    run_protocol(protocol, store, n_jobs=1)
    with ResultStore(tmp_path / "other.sqlite") as other:
        run_protocol(protocol, other, n_jobs=3)
        values = [row["values"] for row in protocol_rows(protocol, other)]
    assert [row["values"] for row in protocol_rows(protocol, store)] == values
    drawn = {value["drawn"] for value in values}
    assert len(drawn) == 3  # one per seed, whatever was drawn before


def test_a_task_has_one_thread(make, store, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    protocol = make({"threads": do("threads", "OMP_NUM_THREADS")})
    run_protocol(protocol, store)
    assert protocol_rows(protocol, store)[0]["values"] == {"score": 1.0}


def test_stopping_kills_what_runs(make, store):
    """A task of a minute must not hold up who presses Ctrl-C."""

    class Stop(Progress):
        def finish(self, task, outcome):
            raise KeyboardInterrupt

    protocol = make({"good": do("count", 1), "slow": do("sleep", 60)}, seeds=3)
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        run_protocol(protocol, store, n_jobs=2, progress=Stop())
    assert time.monotonic() - begun < 20
    assert [row["status"] for row in store.rows()] == ["done"]


def test_a_process_ends_with_its_parent(tmp_path):
    """Also in the middle of a task, and when the parent had no time to say so."""
    shutil.copy(Path(__file__).with_name("tiny_tasks.py"), tmp_path)
    log = tmp_path / "log"
    script = (
        "import runpy, sys\n"
        "worker = runpy.run_path(sys.argv[1])\n"
        "arguments = dict(data_set='d', method={'name': 'm'}, seed=0, pause=60)\n"
        "pool = worker['ChildPool']()\n"
        "pool.run('tiny_tasks.tiny', arguments | {'log': sys.argv[3]}, "
        "folder=sys.argv[2])\n"
    )
    source = _worker.__file__
    parent = subprocess.Popen([sys.executable, "-c", script, source, tmp_path, log])
    try:
        wait_for(log.exists)
        (child,) = children(parent.pid)
    finally:
        parent.kill()
        parent.wait()
    wait_for(lambda: not Path(f"/proc/{child}").exists())


def children(pid):
    if not Path("/proc/self/task").exists():
        pytest.skip("needs the process table of Linux")
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for path in tasks for child in path.read_text().split()]


def wait_for(happened, seconds=20):
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def test_processes_that_a_task_starts_end_with_it(make, store, tmp_path):
    log = tmp_path / "pid"
    run_protocol(make({"spawns": do("spawn", str(log))}), store, time_limit=1)
    assert store.rows()[0]["status"] == "timeout"
    wait_for(lambda: not Path(f"/proc/{log.read_text()}").exists())


def test_an_idle_process_leaves_and_is_replaced(monkeypatch):
    monkeypatch.setattr(_worker, "IDLE_SECONDS", 0.1)
    pool = _worker.ChildPool()
    run = partial(pool.run, "os.getenv", {"key": "NO_SUCH_VARIABLE", "default": []})
    try:
        assert run()["status"] == "done"
        (child,) = pool._idle
        wait_for(lambda: not child.alive)
        assert run()["status"] == "done"
        # It may also leave just when it is needed.
        (child,) = pool._idle
        wait_for(lambda: not child.alive)
        monkeypatch.setattr(_worker.Child, "alive", True)
        assert run()["status"] == "done"
    finally:
        monkeypatch.undo()
        pool.close()


def test_a_function_that_cannot_be_loaded_fails(make, store, tmp_path):
    protocol = make({"good": do("count", 2)})
    (tmp_path / "tiny_tasks.py").write_text("import no_such_module\n")
    run_protocol(protocol, store)
    (row,) = protocol_rows(protocol, store)
    assert row["status"] == "failed" and "no_such_module" in row["error"]


@pytest.mark.parametrize("limit", ["time_limit", "memory_limit"])
def test_limits_must_be_positive(make, store, limit):
    with pytest.raises(ValueError, match=f"{limit} is 0, but must be positive"):
        run_protocol(make({"good": do("count", 2)}), store, **{limit: 0})


def test_progress_hears_of_every_task(make, store):
    heard = []

    class Ear(Progress):
        def begin(self, protocol, tasks, kept, n_jobs):
            heard.append(("begin", protocol.name, len(tasks), kept, n_jobs))

        def start(self, task):
            heard.append(("start", task.method, threading.get_ident()))

        def finish(self, task, outcome):
            # Recorded before it is reported.
            assert len(store.rows()) == sum(e[0] == "finish" for e in heard) + 1
            heard.append(("finish", task.method, outcome.status))

    protocol = make({"good": do("count", 2), "fails": do("fail", 0)})
    run_protocol(protocol, store, n_jobs=8, progress=Ear())
    assert heard[0] == ("begin", "p", 2, 0, 2)
    assert {e[1] for e in heard if e[0] == "start"} == {"good", "fails"}
    ends = sorted(e[1:] for e in heard if e[0] == "finish")
    assert ends == [("fails", "failed"), ("good", "done")]


def test_the_time_left_is_estimated_by_method_where_known():
    tasks = [
        Task("p", "m.f", data_set, "", method, 0, {})
        for data_set in ("one", "two")
        for method in ("fast", "slow", "other")
    ]
    pace = Pace(tasks, n_jobs=2)
    assert pace.seconds_left() is None
    pace.finish(tasks[0], 1.0)
    assert pace.seconds_left() == pytest.approx(5 * 1.0 / 2)
    pace.finish(tasks[1], 9.0)
    # Left: other (mean of all, 5) twice, fast (1) and slow (9).
    assert pace.seconds_left() == pytest.approx((5 + 5 + 1 + 9) / 2)
