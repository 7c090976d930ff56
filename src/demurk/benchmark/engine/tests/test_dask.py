"""The same protocol on this machine and on a cluster."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from demurk.benchmark.engine import _runner
from demurk.benchmark.engine._protocol import load_protocol
from demurk.benchmark.engine._runner import Progress, protocol_rows, run_protocol
from demurk.benchmark.engine._store import ResultStore

distributed = pytest.importorskip(
    "distributed", reason="needs Dask: pip install demurk[dask]"
)

PROTOCOL = """
kind = "tiny_tasks.tiny"
measures = ["score"]
seeds = 10
options = {pause = 0.02}
[data_sets]
a = {}
b = {}
[methods]
m = {name = "m"}
n = {name = "n"}
wrong = {}
"""


@pytest.fixture
def protocol(tmp_path):
    shutil.copy(Path(__file__).with_name("tiny_tasks.py"), tmp_path)
    (tmp_path / "p.toml").write_text(PROTOCOL)
    return load_protocol(tmp_path / "p.toml")


@pytest.fixture(autouse=True)
def _one_version(monkeypatch):
    """Sources may be edited while the tests run, which a new worker would notice."""

    def code_version():
        return "fixed"

    monkeypatch.setattr(_runner, "code_version", code_version)


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        yield cluster


def results(protocol, path, **options):
    with ResultStore(path) as store:
        summary = run_protocol(protocol, store, **options)
        assert (summary.done, summary.failed, summary.kept) == (40, 20, 0)
        return [
            [row[name] for name in ("key", "status", "values")]
            for row in protocol_rows(protocol, store)
        ]


class KillWorker(Progress):
    """Kill the process of a worker in the middle of the run."""

    def __init__(self, cluster):
        self.pid = cluster.workers[0].process.process.pid
        self.finished = 0

    def finish(self, task, outcome):
        self.finished += 1
        if self.finished == 15:
            os.kill(self.pid, signal.SIGKILL)  # its results so far are lost as well


def test_a_cluster_gives_the_same_and_a_killed_worker_loses_nothing(
    protocol, cluster, tmp_path
):
    here = results(protocol, tmp_path / "here.sqlite", n_jobs=2)
    address = cluster.scheduler_address
    there = results(protocol, tmp_path / "there.sqlite", dask=address)
    assert there == here
    killer = KillWorker(cluster)
    killed = results(protocol, tmp_path / "k.sqlite", dask=address, progress=killer)
    assert killed == here


def test_workers_of_another_version_are_refused(
    protocol, cluster, tmp_path, monkeypatch
):
    def other_version():
        return "9.9+here" if os.getpid() == here else "0.1+there"

    here = os.getpid()
    monkeypatch.setattr(_runner, "code_version", other_version)
    with ResultStore(tmp_path / "r.sqlite") as store:
        with pytest.raises(ValueError, match=r"have demurk 0.1\+there, but here it is"):
            run_protocol(protocol, store, dask=cluster.scheduler_address)
        assert store.rows() == []


def test_no_cluster_at_the_address(protocol, tmp_path, monkeypatch):
    monkeypatch.setattr(_runner, "WAIT_FOR_WORKERS", 1)
    with ResultStore(tmp_path / "r.sqlite") as store, pytest.raises(OSError):
        run_protocol(protocol, store, dask="tcp://127.0.0.1:9")
