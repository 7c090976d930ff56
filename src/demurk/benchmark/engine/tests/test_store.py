"""The store of results."""

import random
import sqlite3
import threading

import pytest

from demurk.benchmark.engine import _store
from demurk.benchmark.engine._protocol import Task
from demurk.benchmark.engine._store import Outcome, ResultStore

TASK = Task("p", "m.f", "d", "s", "A", 3, {})
DONE = Outcome("done", {"score": 0.1}, None, 1.0, 2.0, 3.0, {"python": "3"})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "results.sqlite"


def test_rows_come_back_as_they_went_in(path):
    with ResultStore(path) as store:
        assert store.add(TASK, "k", DONE, code="c", data="d")
        odd = Outcome("done", {"score": float("inf"), "x": 1 / 3}, "é\n")
        assert store.add(TASK, "l", odd)
    with ResultStore(path) as store:
        first, second = store.rows()
        assert store.keys() == {"k": "done", "l": "done"}
        assert store.rows("p") == [first, second] and store.rows("q") == []
    assert first.pop("finished").endswith("+00:00")
    assert first == {
        "key": "k",
        "protocol": "p",
        "data_set": "d",
        "setting": "s",
        "method": "A",
        "seed": 3,
        "status": "done",
        "values": {"score": 0.1},
        "error": None,
        "cpu_s": 1.0,
        "wall_s": 2.0,
        "peak_mb": 3.0,
        "code": "c",
        "data": "d",
        "versions": {"python": "3"},
    }
    assert second["values"] == {"score": float("inf"), "x": 1 / 3}
    assert second["error"] == "é\n"


@pytest.mark.parametrize("status", ["failed", "timeout", "memory"])
def test_a_failure_can_be_replaced_and_a_result_cannot(path, status):
    with ResultStore(path) as store:
        assert store.add(TASK, "k", Outcome(status, error="why"))
        assert store.add(TASK, "k", Outcome("failed", error="again"))
        assert store.add(TASK, "k", DONE)
        assert not store.add(TASK, "k", Outcome("failed"))
        assert not store.add(TASK, "k", Outcome("done", {"score": 9.0}))
        (row,) = store.rows()
    assert row["values"] == {"score": 0.1} and row["error"] is None


def test_a_newer_schema_is_refused(path):
    ResultStore(path).close()
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA user_version = 99")
    with pytest.raises(ValueError, match=r"newer demurk \(schema 99, here 1\): update"):
        ResultStore(path)


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text("Dear store, " * 100)
    with pytest.raises(ValueError, match="cannot be used as a store of results"):
        ResultStore(path)
    assert path.read_text().startswith("Dear store")


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="cannot be used as a store of results"):
        ResultStore(tmp_path)


def fill(path, n=400):
    with ResultStore(path) as store:
        for seed in range(n):
            task = Task("p", "m.f", "d", "s", "A", seed, {})
            store.add(task, f"k{seed}", DONE)


@pytest.mark.parametrize("seed", range(10))
def test_damaged_pages_are_explained_in_one_sentence(path, seed):
    """Whatever is damaged: the head, the tree of pages, or what they hold."""
    fill(path)
    rng, content = random.Random(seed), bytearray(path.read_bytes())
    for _ in range(20):
        place = rng.randrange(len(content) - 600)
        content[place : place + 600] = rng.randbytes(600)
    path.write_bytes(content)
    with pytest.raises(ValueError) as caught, ResultStore(path) as store:
        store.keys()
        store.rows()
    text = str(caught.value)
    assert "cannot be used as a store of results" in text and "\n" not in text
    assert "move the file away" in text and text.endswith(".")


@pytest.mark.parametrize("what", ["not json", None, "3", b"\xff"])
def test_what_is_no_result_is_explained(path, what):
    fill(path, 1)
    with sqlite3.connect(path) as file:
        file.execute('UPDATE results SET "values" = ?', [what])
    with pytest.raises(ValueError, match="cannot be used as a store"):
        ResultStore(path).rows()


def test_a_full_disk_is_explained_and_loses_nothing(path):
    """In the middle of a run: what was recorded before stays."""
    fill(path, 3)
    with ResultStore(path) as store:
        (pages,) = store._file.execute("PRAGMA page_count").fetchone()
        store._file.execute(f"PRAGMA max_page_count = {pages}")
        large = Outcome("failed", error="x" * 100_000)
        with pytest.raises(ValueError, match=r"is full\): see that its disk has room"):
            store.add(TASK, "large", large)
        row = store.rows()[0] | {"key": "adopted", "error": "x" * 100_000}
        with pytest.raises(ValueError, match="see that its disk has room"):
            store.adopt([row])
        store._file.execute("PRAGMA max_page_count = 100000")
        assert store.add(TASK, "large", large)
        assert len(store.rows()) == 4


def test_a_store_that_others_use_is_not_to_be_removed(path, monkeypatch):
    """Also if they begin in the middle of a run."""
    monkeypatch.setattr(_store, "BUSY_SECONDS", 0.05)
    with ResultStore(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(ValueError, match="wait until no other run") as caught:
            store.add(TASK, "k", DONE)
        assert "away" not in str(caught.value)
        other.close()
        assert store.add(TASK, "k", DONE)


def test_every_commit_waits_for_the_disk(path):
    with ResultStore(path) as store:
        pragma = lambda name: store._file.execute(f"PRAGMA {name}").fetchone()[0]  # noqa: E731
        assert pragma("journal_mode") == "wal" and pragma("synchronous") == 2


def test_two_runners_share_a_store(path):
    """Each adds the same fifty tasks: every one is there once, from either."""
    barrier = threading.Barrier(2)
    added = {0: 0, 1: 0}

    def write(who):
        with ResultStore(path) as store:
            barrier.wait()
            for seed in range(50):
                task = Task("p", "m.f", "d", "", "A", seed, {})
                outcome = Outcome("done", {"who": who})
                added[who] += store.add(task, f"k{seed}", outcome)

    threads = [threading.Thread(target=write, args=(who,)) for who in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with ResultStore(path) as store:
        rows = store.rows()
        assert store._file.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert sorted(row["seed"] for row in rows) == list(range(50))
    assert sum(row["values"]["who"] for row in rows) == added[1]
    assert added[0] + added[1] == 50
