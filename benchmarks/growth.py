"""Seconds and memory of the recommended tools by the number of rows.

    python -m benchmarks.growth

50 features, six labels or ten classes, some of them wrong; a third of the rows
labelled where labels are to be completed. Each fit has a process of its own, two
threads and one minute; a tool that needs more is not tried with more rows. Memory is
what is no file, beyond what there was before the fit. Results are in
``results/growth.json``.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import os
import platform
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from benchmarks.common import clustered_data, hide_labels
from benchmarks.out_of_core import Watch, memory

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "results" / "growth.json"
N_FEATURES, N_LABELS, N_CLASSES, N_JOBS = 50, 6, 10, 2
ROWS = [1_000, 4_000, 16_000, 64_000]
MOST_SECONDS = 60


def tools():
    """By name: an estimator, whether it has one class per row, and gaps."""
    from sklearn.ensemble import RandomForestClassifier

    from demurk import LabelAudit, MurkyClassifier
    from demurk.manifold import SLEML
    from demurk.projection import NMLSDR

    jobs = {"n_jobs": N_JOBS}
    seeded = {**jobs, "random_state": 0}
    return {
        "MurkyClassifier": (MurkyClassifier(**seeded), False, True),
        'MurkyClassifier("fast")': (MurkyClassifier("fast", **seeded), False, True),
        "LabelAudit, labels": (LabelAudit(**seeded), False, False),
        "LabelAudit, classes": (LabelAudit(**seeded), True, False),
        "NMLSDR": (NMLSDR(5, **jobs), False, True),
        "NMLSDR, approximate": (NMLSDR(5, neighbors="approx", **jobs), False, True),
        "SLEML": (SLEML(2, **seeded), False, False),
        "a forest of 300 trees": (RandomForestClassifier(300, **seeded), False, False),
    }


def fit(name, n_rows):
    """Fit one tool; what it took."""
    model, single, gaps = tools()[name]
    rng = np.random.default_rng(1)
    X, y = clustered_data(n_rows, N_FEATURES, N_CLASSES if single else N_LABELS)
    if single:
        y = y.argmax(axis=1)
        wrong = rng.random(n_rows) < 0.1
        y = np.where(wrong, rng.integers(N_CLASSES, size=n_rows), y)
    else:
        y = np.where(rng.random(y.shape) < 0.1, 1 - y, y)
    y = hide_labels(y, 1 / 3) if gaps else y
    before, watch, start = memory(), Watch(), time.perf_counter()
    with warnings.catch_warnings(action="ignore"):
        model.fit(X, y)
    seconds = time.perf_counter() - start
    return {"seconds": round(seconds, 2), "peak_mb": round(watch.peak - before)}


def main():
    """Measure all tools and write."""
    if len(sys.argv) > 1:
        print(json.dumps(fit(sys.argv[1], int(sys.argv[2]))))
        return
    figures = {}
    for name in tools():
        figures[name] = {}
        for n_rows in ROWS:
            command = [sys.executable, "-m", "benchmarks.growth", name, str(n_rows)]
            options = {"cwd": ROOT, "timeout": MOST_SECONDS, "check": True}
            try:
                done = subprocess.run(command, stdout=subprocess.PIPE, **options)
            except subprocess.TimeoutExpired:
                break
            figures[name][str(n_rows)] = json.loads(done.stdout)
            print(name, n_rows, figures[name][str(n_rows)], flush=True)
            document = {
                "command": "python -m benchmarks.growth",
                "machine": {
                    "cores": os.cpu_count(),
                    "python": platform.python_version(),
                },
                "features": N_FEATURES,
                "labels": N_LABELS,
                "classes": N_CLASSES,
                "tools": figures,
            }
            OUTPUT.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
