"""Ratios of CPU time that the documentation states, measured in one run.

    python benchmarks/speed.py [bench_mlknn bench_manifold.EmbeddingStep ...]

Runs every ``track_`` benchmark, all of them or those of the modules or classes named,
and writes ``results/speed.json``; figures that are not measured anew stay. ``make
bench`` runs the same benchmarks under asv.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import importlib
import inspect
import json
import os
import platform
import sys
from pathlib import Path

import numpy as np
import sklearn
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "results" / "speed.json"


def measure(name, only=""):
    """Tracked figures of a benchmark module, or of a class, with their meaning."""
    module = importlib.import_module(f"benchmarks.{name}")
    figures = {}
    for _, cls in inspect.getmembers(module, inspect.isclass):
        if cls.__module__ != module.__name__ or only not in ("", cls.__name__):
            continue
        benchmark = cls()
        tracked = [m for m in dir(benchmark) if m.startswith("track_")]
        if not tracked:
            continue
        for choice in [[p] for p in getattr(benchmark, "params", [])] or [[]]:
            benchmark.setup(*choice)
            for method in tracked:
                value = float(getattr(benchmark, method)(*choice))
                place = ", ".join(map(str, [method.removeprefix("track_"), *choice]))
                label = f"{cls.__name__}.{place}"
                what = (getattr(cls, method).__doc__ or "").strip().split("\n")[0]
                figures[label] = {"value": round(value, 4), "what": what}
                print(f"{name}: {label} = {value:.4g}", flush=True)
    return figures


def main():
    """Measure, and put the figures beside those measured before."""
    sys.path.insert(0, str(ROOT))
    found = sorted(p.stem for p in (ROOT / "benchmarks").glob("bench_*.py"))
    names = sys.argv[1:] or found
    document = json.loads(OUTPUT.read_text()) if OUTPUT.exists() else {"figures": {}}
    document["command"] = "python benchmarks/speed.py"
    document["machine"] = {
        "cores": os.cpu_count(),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
    for place in names:
        name, _, only = place.partition(".")
        # One thread: threads that wait would be counted as work.
        with threadpool_limits(1):
            figures = measure(name, only)
        kept = document["figures"].get(name, {}) if only else {}
        document["figures"][name] = kept | figures
        OUTPUT.write_text(json.dumps(document, indent=1) + "\n")
    print(f"written to {OUTPUT}")


if __name__ == "__main__":
    main()
