"""What a cluster of four processes gives, beside the same rows in memory.

    python benchmarks/cluster.py [equality killed memory curve]

A ``LocalCluster`` of four processes of one thread. Fits and predictions are compared
with those of rows in memory; a worker is killed in the middle of a search; and the
memory of every worker is looked at each 10 ms during searches among blocks of 38 and
of 154 MB. Results are in ``results/cluster.json``; parts that are not named keep
theirs.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import os
import platform
import signal
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread

import dask.array as da
import numpy as np
from dask import delayed
from distributed import Client, LocalCluster

from demurk.graph import nearest_neighbors
from demurk.multilabel import MLkNN, SemiSupervisedMLkNN
from demurk.projection import MDDM, NMLSDR
from demurk.propagation import NoisyLabelPropagation

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "results" / "cluster.json"
N_WORKERS = 4
N_LABELS = 6
# Blocks, rows of each, features.
EQUAL = 10, 1000, 50
KILLED = 16, 1000, 50
MEMORY = (3, 6000, 1600), (2, 6000, 6400)
CURVE = [(n_blocks, 5000, 50) for n_blocks in (1, 2, 4)]


def block(number, n_rows, n_features, folder=None):
    """Rows in clusters, the same whenever they are asked for."""
    if folder is not None:
        Path(folder, str(os.getpid())).touch()
    rng = np.random.default_rng(number)
    centers = np.random.default_rng(0).standard_normal((30, n_features), np.float32)
    rows = rng.standard_normal((n_rows, n_features), np.float32)
    which = rng.integers(30, size=n_rows)
    for center in range(30):
        rows[which == center] += centers[center]
    return rows


def labels(n_blocks, n_rows):
    """Noisy labels of the clusters, half of them hidden."""
    rng = np.random.default_rng(1)
    of_cluster = rng.random((30, N_LABELS)) < 0.3
    parts = []
    for number in range(n_blocks):
        draws = np.random.default_rng(number)
        draws.standard_normal((n_rows, 50), np.float32)
        parts.append(of_cluster[draws.integers(30, size=n_rows)])
    y = (np.vstack(parts) ^ (rng.random((n_blocks * n_rows, N_LABELS)) < 0.1)) * 1
    y[rng.random(len(y)) < 0.5] = -1
    return y


def lazy_rows(n_blocks, n_rows, n_features, folder=None):
    """The blocks as a dask array that nobody holds."""
    make, shape = delayed(block, pure=False), (n_rows, n_features)
    parts = [make(number, *shape, folder) for number in range(n_blocks)]
    arrays = [da.from_delayed(part, shape, dtype=np.float32) for part in parts]
    return da.concatenate(arrays)


def angle(A, B):
    """Largest angle between the spans of some directions."""
    A, B = (np.linalg.qr(C.T.astype(float))[0] for C in (A, B))
    return float(np.linalg.norm(A - B @ (B.T @ A), 2))


def equality():
    """Largest differences between rows of Dask and rows in memory."""
    shape = EQUAL
    rows, y = lazy_rows(*shape), labels(*shape[:2])
    X = np.vstack([block(number, *shape[1:]) for number in range(shape[0])])
    new, found = X[::4], {"rows": len(X), "features": shape[2]}
    lazy_new = da.from_array(new, chunks=(1000, -1))
    for model in (NMLSDR(4), MDDM(4)):
        name = type(model).__name__
        expected, Z = model.fit(X, y).components_, model.transform(X)
        model.fit(rows, y)
        gap = np.abs(model.transform(rows).compute() - Z).max() / np.abs(Z).max()
        found[f"{name}_angle"] = angle(model.components_, expected)
        found[f"{name}_transform"] = float(gap)
    for model in (NoisyLabelPropagation(), MLkNN(), SemiSupervisedMLkNN()):
        name = type(model).__name__
        expected = model.fit(X, y).predict(new)
        predicted = model.fit(rows, y).predict(lazy_new).compute()
        found[f"{name}_predictions_that_differ"] = int((predicted != expected).sum())
    return found


def killed():
    """A search during which a worker is killed, beside one in memory."""
    shape = KILLED
    X = np.vstack([block(number, *shape[1:]) for number in range(shape[0])])
    expected = nearest_neighbors(X, 10).distances
    with tempfile.TemporaryDirectory() as folder:
        victims = []

        def kill():
            while len(readers := list(Path(folder).iterdir())) < N_WORKERS:
                time.sleep(0.01)
            victims.append(int(readers[0].name))
            os.kill(victims[0], signal.SIGKILL)

        killer = Thread(target=kill)
        killer.start()
        found = nearest_neighbors(lazy_rows(*shape, folder), 10).distances
        killer.join()
    return {
        "rows": len(X),
        "workers_killed": len(victims),
        "neighbours_that_differ": int((found.indices != expected.indices).sum()),
        "distances_that_differ": int((found.data != expected.data).sum()),
    }


def warm():
    """Import and set up what a search needs."""
    from demurk import cluster

    nearest_neighbors(lazy_rows(2, 50, 100).compute(scheduler="synchronous"), 10)
    return cluster.__name__


def watch(dask_worker):
    """Look at the memory of this worker from now on."""
    import psutil

    process = psutil.Process()
    started = hasattr(dask_worker, "memory_peak")
    dask_worker.memory_before = dask_worker.memory_peak = process.memory_info().rss
    if started:
        return

    def look():
        while True:
            now = process.memory_info().rss
            dask_worker.memory_peak = max(dask_worker.memory_peak, now)
            time.sleep(0.01)

    Thread(target=look, daemon=True).start()


def watched(dask_worker):
    """Megabytes that this worker took in between."""
    return (dask_worker.memory_peak - dask_worker.memory_before) / 1e6


def memory(client, shape):
    """Memory that a search takes of each worker, in blocks."""
    # What is imported and set up once is no part of it.
    client.wait_for_workers(N_WORKERS)
    client.run(warm)
    size = 4 * shape[1] * shape[2] / 1e6
    client.run(watch)
    start = time.perf_counter()
    nearest_neighbors(lazy_rows(*shape), 10)
    seconds = time.perf_counter() - start
    peaks = sorted(client.run(watched).values())
    return {
        "rows": shape[0] * shape[1],
        "features": shape[2],
        "blocks": shape[0],
        "block_mb": round(size),
        "seconds": round(seconds, 1),
        "worker_peaks_mb": [round(peak) for peak in peaks],
        "beyond_two_blocks_mb": round(peaks[-1] - 2 * size),
    }


def curve():
    """Seconds of NMLSDR by the number of rows, in blocks and in memory."""
    found = {}
    for shape in CURVE:
        y = labels(*shape[:2])
        X = np.vstack([block(number, *shape[1:]) for number in range(shape[0])])
        seconds = {}
        for name, rows in {"dask": lazy_rows(*shape), "memory": X}.items():
            start = time.perf_counter()
            NMLSDR(4).fit(rows, y)
            seconds[name] = round(time.perf_counter() - start, 2)
        found[str(len(X))] = seconds
    return found


def main():
    """Measure and write."""
    document = json.loads(OUTPUT.read_text()) if OUTPUT.exists() else {}
    document |= {
        "command": "python benchmarks/cluster.py",
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "workers": N_WORKERS,
    }
    options = {"threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(n_workers=N_WORKERS, **options) as cluster:
        with Client(cluster) as client:
            client.wait_for_workers(N_WORKERS)
            for name, part in {
                "equality": equality,
                "killed": killed,
                "memory": lambda: [memory(client, shape) for shape in MEMORY],
                "curve": curve,
            }.items():
                if name not in (sys.argv[1:] or [name]):
                    continue
                document[name] = part()
                print(name, document[name], flush=True)
                OUTPUT.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
