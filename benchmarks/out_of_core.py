"""Memory of fits to rows that lie in a file.

    python benchmarks/out_of_core.py [--rows 500000 2000000]

Writes a file of 200 columns of float32 for each number of rows, fits NMLSDR with
approximate neighbours, MDDM, and LabelAudit with one row in 200 labelled, each in
a process of its own, and notes the largest amount of memory that is not the file:
``RssAnon`` of Linux, looked at every 20 ms. Results are in
``results/out_of_core.json``; the files are deleted.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "results" / "out_of_core.json"
N_FEATURES, N_LABELS, N_LATENT = 200, 10, 8
STEP = 50_000
FITS = ("NMLSDR", "MDDM", "LabelAudit")


def make(n_rows, folder):
    """Rows in 50 clusters of 8 dimensions, with noise; noisy labels of half of them."""
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(
        folder / "X.npy", mode="w+", dtype=np.float32, shape=(n_rows, N_FEATURES)
    )
    basis = rng.standard_normal((N_LATENT, N_FEATURES), dtype=np.float32)
    centers = 3 * rng.standard_normal((5 * N_LABELS, N_LATENT), dtype=np.float32)
    labels = rng.random((5 * N_LABELS, N_LABELS)) < 0.2
    y = np.empty((n_rows, N_LABELS), dtype=np.int8)
    for first in range(0, n_rows, STEP):
        rows = slice(first, min(first + STEP, n_rows))
        size = rows.stop - first
        which = rng.integers(len(centers), size=size)
        latent = centers[which] + rng.standard_normal((size, N_LATENT), np.float32)
        noise = rng.standard_normal((size, N_FEATURES), np.float32)
        X[rows] = latent @ basis + 0.3 * noise
        y[rows] = labels[which] ^ (rng.random((size, N_LABELS)) < 0.05)
        y[rows][rng.random(size) < 0.5] = -1
    X.flush()
    np.save(folder / "y.npy", y)


class Watch:
    """The largest amount of memory so far that is no file."""

    def __init__(self):
        self.peak = 0.0
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self):
        while True:
            self.peak = max(self.peak, memory())
            time.sleep(0.02)


def memory():
    """Megabytes that are no file."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise OSError("RssAnon is not in /proc/self/status: this needs Linux.")


def fit(name, folder):
    """Fit one estimator; what it took."""
    from demurk.audit import LabelAudit
    from demurk.projection import MDDM, NMLSDR
    from demurk.propagation import _noisy

    X = np.load(folder / "X.npy", mmap_mode="r")
    y = np.load(folder / "y.npy")
    before, watch, found = memory(), Watch(), {}
    search, start = _noisy.nearest_neighbors, time.perf_counter()

    def noted(*args, **options):
        graph = search(*args, **options)
        found["search_s"] = round(time.perf_counter() - start, 1)
        found["search_peak_mb"] = round(watch.peak - before)
        found["recall"] = round(graph.recall, 3)
        return graph

    _noisy.nearest_neighbors = noted
    if name == "NMLSDR":
        model = NMLSDR(5, neighbors="approx").fit(X, y)
        found["n_iter"] = int(model.n_iter_)
        weights = 2 * X.shape[0] * model.n_neighbors * 12 / 1e6
        found["graph_mb_at_most"] = round(weights)
    elif name == "MDDM":
        y[y < 0] = 0
        model = MDDM(5).fit(X, y)
    else:
        y[np.arange(len(y)) % 100 > 0] = -1
        model = LabelAudit(n_estimators=20, random_state=0).fit(X, y)
    found["fit_s"] = round(time.perf_counter() - start, 1)
    found["fit_peak_mb"] = round(watch.peak - before)
    if hasattr(model, "transform"):
        held = watch.peak = memory()
        start = time.perf_counter()
        model.transform(X)
        found["transform_s"] = round(time.perf_counter() - start, 1)
        found["transform_peak_mb"] = round(watch.peak - held)
    return found


def main():
    """Measure all fits, each in a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="+", default=[500_000, 2_000_000])
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--fit", nargs=2, help="name and folder, of one process")
    options = parser.parse_args()
    if options.fit:
        name, folder = options.fit
        print(json.dumps(fit(name, Path(folder))))
        return
    figures = {}
    for n_rows in options.rows:
        with tempfile.TemporaryDirectory() as folder:
            make(n_rows, Path(folder))
            size = (Path(folder) / "X.npy").stat().st_size / 1e6
            figures[str(n_rows)] = {"file_mb": round(size)}
            for name in FITS:
                command = [sys.executable, __file__, "--fit", name, folder]
                done = subprocess.run(command, capture_output=True, check=True)
                figures[str(n_rows)][name] = json.loads(done.stdout)
                print(n_rows, name, figures[str(n_rows)][name], flush=True)
    document = {
        "command": "python benchmarks/out_of_core.py",
        "machine": {"cores": os.cpu_count(), "python": platform.python_version()},
        "features": N_FEATURES,
        "labels": N_LABELS,
        "rows": figures,
    }
    options.output.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
