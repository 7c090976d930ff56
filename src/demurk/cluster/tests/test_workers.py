"""Rows on a real cluster of processes, and a worker that is lost."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import os
import signal
import time
from threading import Thread

import numpy as np
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal

from demurk.audit import LabelAudit
from demurk.datasets import make_multilabel_blocks
from demurk.graph import nearest_neighbors
from demurk.labels import hide_rows
from demurk.multilabel import MLkNN, MurkyClassifier
from demurk.projection import NMLSDR

distributed = pytest.importorskip(
    "distributed", reason="needs Dask: pip install demurk[dask]"
)
da = pytest.importorskip("dask.array")

TOY = make_multilabel_blocks(800, random_state=0)
X, Y = TOY.data, hide_rows(TOY.target, 0.5, random_state=0).labels
SIZE = 200


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


def read_rows(path, rows, pause):
    """A block of a file; says which process is at it."""
    (path.parent / f"read-{os.getpid()}").touch()
    time.sleep(pause)
    return np.load(path, mmap_mode="r")[rows]


def rows_in_file(folder, pause=0.0):
    """Rows that workers read from a file, block by block."""
    from dask import delayed

    path = folder / "rows.npy"
    np.save(path, X)
    read = delayed(read_rows, pure=False)
    parts = [read(path, slice(i, i + SIZE), pause) for i in range(0, len(X), SIZE)]
    shape = SIZE, X.shape[1]
    return da.concatenate([da.from_delayed(p, shape, dtype=X.dtype) for p in parts])


def test_fits_and_predictions_on_workers(client, tmp_path):
    rows = rows_in_file(tmp_path)
    expected = NMLSDR(3).fit(X, Y)
    found = NMLSDR(3).fit(rows, Y)
    assert_allclose(found.components_, expected.components_, atol=1e-6)
    assert_allclose(
        found.transform(rows).compute(), expected.transform(X), rtol=1e-6, atol=1e-6
    )
    model = MLkNN().fit(rows, Y)
    assert_array_equal(model.predict(rows).compute(), MLkNN().fit(X, Y).predict(X))
    # The rows were read by the workers, none of them here.
    readers = {path.name for path in tmp_path.glob("read-*")}
    assert readers <= {f"read-{pid}" for pid in client.run(os.getpid).values()}
    # Rows that are kept in the memory of workers do as well.
    kept = rows.persist()
    assert_array_equal(MLkNN().fit(kept, Y).posterior_, model.posterior_)


@pytest.mark.filterwarnings("ignore::demurk.audit._words.UnknownRateWarning")
def test_trees_grow_on_workers(client):
    audit = LabelAudit(n_estimators=4, random_state=0)
    expected = audit.fit(X, Y).scores_
    assert not trees_grown(client)
    with parallel_config("dask"):
        found = audit.fit(X, Y).scores_
    assert_allclose(found, expected, atol=1e-12)
    n_grown = trees_grown(client)
    assert n_grown > 0
    assert_allclose(audit.fit(da.from_array(X), Y).scores_, expected, atol=1e-12)
    assert trees_grown(client) > n_grown


def test_members_of_a_stack_grow_on_workers(client):
    model = MurkyClassifier(members="fast", n_estimators=4, random_state=0)
    expected = model.fit(X, Y).predict_proba(X)
    before = trees_grown(client)
    found = model.fit(da.from_array(X), Y).predict_proba(X)
    assert_allclose(found, expected, atol=1e-12)
    assert trees_grown(client) > before


def trees_grown(client):
    """Batches of joblib that workers were sent."""

    def count(dask_scheduler):
        states = dask_scheduler.task_prefixes
        return sum(
            sum(state.state_counts.values())
            for name, state in states.items()
            if "batch" in name.lower()
        )

    return client.run_on_scheduler(count)


def test_a_worker_killed_in_mid_search_loses_nothing(client, tmp_path):
    rows = rows_in_file(tmp_path, pause=0.1)
    killed = []

    def kill():
        while not (readers := list(tmp_path.glob("read-*"))):
            time.sleep(0.01)
        killed.append(int(readers[0].name.removeprefix("read-")))
        os.kill(killed[0], signal.SIGKILL)

    killer = Thread(target=kill)
    killer.start()
    found = nearest_neighbors(rows, 10)
    killer.join()
    assert killed
    expected = nearest_neighbors(X, 10)
    assert_array_equal(found.distances.indices, expected.distances.indices)
    assert_array_equal(found.distances.data, expected.distances.data)
