"""Search, propagation, reducers and maps on a GPU: checked, timed, written down.

    python benchmarks/device.py [--out results/device.json] [--small]

Needs one CUDA device and the extra ``gpu``. Searches are compared with brute force in
float64 on a sample of rows, estimators with what they give in memory. A small run does
the same with few rows, to see that it works.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import argparse
import json
import os
import platform
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import scipy
import sklearn
import torch
from sklearn.base import clone

from demurk.datasets import make_multilabel_blocks
from demurk.device._graph import affinity
from demurk.device._neighbors import neighbors
from demurk.device._propagation import propagate
from demurk.device._search import exact_search
from demurk.labels import flip_labels, hide_rows
from demurk.manifold import SLEML, LaplacianEigenmaps
from demurk.multilabel import MLkNN, SemiSupervisedMLkNN
from demurk.projection import MDDM, MLSI, MVMD, NMLSDR, SSMLDR, WMLDA, LabelCCA
from demurk.propagation import NoisyLabelPropagation

N_NEIGHBORS = 10
CHECKED = 2_000
LABELS = 20


@contextmanager
def seconds(times, name):
    """Add the seconds a part takes, on the device too."""
    torch.cuda.synchronize()
    start = time.perf_counter()
    yield
    torch.cuda.synchronize()
    times[name] = times.get(name, 0.0) + time.perf_counter() - start


def timed(action, repeats):
    """Median of the seconds."""
    times = []
    for _ in range(repeats):
        took = {}
        with seconds(took, "whole"):
            action()
        times.append(took["whole"])
    return round(float(np.median(times)), 3)


def table(kind, n, d, seed=0):
    """Rows of one kind, float32, on the device."""
    generator = torch.Generator("cuda").manual_seed(seed)

    def normal(*shape):
        return torch.randn(shape, generator=generator, device="cuda")

    def draw(count, size):
        return torch.randint(count, (size,), generator=generator, device="cuda")

    if kind == "clustered":
        return 10 * normal(1_000, d)[draw(1_000, n)] + normal(n, d)
    if kind == "duplicated":
        return normal(n // 4, d)[draw(n // 4, n)]
    if kind == "ill-scaled":
        return normal(n, d) * torch.logspace(-4, 4, d, device="cuda")
    return normal(n, d)


def brute_force(X, rows, k):
    """Neighbours of some rows by direct differences in float64."""
    found = []
    points = X.double()
    for at in rows.split(50):
        distances = torch.cdist(
            points[at], points, compute_mode="donot_use_mm_for_euclid_dist"
        )
        distances[torch.arange(len(at)), at] = torch.inf
        found.append(distances.sort(dim=1, stable=True).indices[:, :k])
    return torch.cat(found)


def search(kind, n, d, repeats, fused=True):
    """One search: its time, its parts, its certificates, and whether it is right."""
    X = table(kind, n, d)
    options = {"fused": fused}
    # Kernels are compiled at first use, those of the second screen too.
    exact_search(X[:40_000], None, N_NEIGHBORS, fused=fused)
    torch.cuda.reset_peak_memory_stats()
    whole = timed(lambda: exact_search(X, None, N_NEIGHBORS, **options), repeats)
    parts = {}
    options["watch"] = lambda name: seconds(parts, name)
    found = exact_search(X, None, N_NEIGHBORS, **options)
    peak = torch.cuda.max_memory_allocated() / 2**30
    rows = torch.randperm(n, device="cuda")[:CHECKED]
    wanted = brute_force(X, rows, N_NEIGHBORS)
    line = {
        "data": kind if fused else f"{kind}, without Triton",
        "rows": n,
        "features": d,
        "seconds": whole,
        "parts": {name: round(value, 3) for name, value in parts.items()},
        "certified_at_once": 1 - found.n_repeated / n,
        "checked_rows": len(rows),
        "equal_rows": int((found.indices[rows] == wanted).all(dim=1).sum()),
        "peak_gib": round(peak, 1),
    }
    print(json.dumps(line), flush=True)
    return line


def noisy_labels(X, generator):
    """Labels that follow directions of X, a tenth of them wrong, 30 % of rows known."""
    directions = torch.randn(X.shape[1], LABELS, generator=generator, device="cuda")
    y = (X @ directions > 0).to(torch.int8)
    y ^= (torch.rand(y.shape, generator=generator, device="cuda") < 0.1).to(torch.int8)
    hidden = torch.rand(len(y), generator=generator, device="cuda") < 0.7
    y[hidden] = -1
    return y


def whole_fit(n, d, repeats):
    """NMLSDR from rows and labels to directions, and its parts."""
    X = table("normal", n, d)
    y = noisy_labels(X, torch.Generator("cuda").manual_seed(1))
    model = NMLSDR(n_components=LABELS).fit(X, y)
    torch.cuda.reset_peak_memory_stats()
    whole = timed(lambda: model.fit(X, y), repeats)
    peak = torch.cuda.max_memory_allocated() / 2**30
    parts = {}
    with seconds(parts, "neighbours"):
        graph = neighbors(X, N_NEIGHBORS)
    with seconds(parts, "graph"):
        weights = affinity(graph)
    known = y[:, :1] >= 0
    alpha = torch.where(known, 0.6, 0.999).double()
    with seconds(parts, "propagation"):
        propagate(weights, (y == 1).double(), alpha, known)
    parts["labels, moments and directions"] = whole - sum(parts.values())
    line = {
        "rows": n,
        "features": d,
        "labels": LABELS,
        "seconds": whole,
        "parts": {name: round(value, 3) for name, value in parts.items()},
        "steps": model.n_iter_,
        "peak_gib": round(peak, 1),
        "transform_seconds": timed(lambda: model.transform(X), repeats),
    }
    print(json.dumps(line), flush=True)
    return line


def estimators():
    """What is compared with the results in memory."""
    maps = {"n_neighbors": 15, "random_state": 0}
    return (
        *(NMLSDR(3), SSMLDR(3), MDDM(3), MDDM(3, decorrelation=0.5), MVMD(3)),
        *(LabelCCA(3), MLSI(3), MLSI(3, formulation="inverse"), WMLDA(3)),
        *(WMLDA(3, weights="entropy"), WMLDA(3, weights="correlation")),
        *(NoisyLabelPropagation(), NoisyLabelPropagation(affinity="heat")),
        *(MLkNN(), SemiSupervisedMLkNN(), LaplacianEigenmaps(**maps), SLEML(**maps)),
    )


def largest_angle(a, b):
    """Sine of the largest angle between the spans of rows."""
    one, other = (np.linalg.qr(np.asarray(m, dtype=float).T)[0] for m in (a, b))
    return float(np.linalg.norm(other - one @ (one.T @ other), 2))


def compare(model, n, dtype, give):
    """The same estimator fitted in memory and on the device."""
    toy = make_multilabel_blocks(n, random_state=0)
    X = toy.data[:, :100]
    # Its whole numbers make equal distances, whose order is a matter of rounding.
    X = (X + np.random.default_rng(0).normal(size=X.shape)).astype(dtype)
    noisy = flip_labels(toy.target, 0.1, random_state=0).labels
    y = hide_rows(noisy, 0.7, random_state=0).labels
    half = n // 2
    here, there = clone(model), clone(model)
    if hasattr(here, "n_jobs"):
        here.set_params(n_jobs=-1)
    times = {}
    start = time.perf_counter()
    here.fit(X[:half], y[:half])
    times["memory"] = time.perf_counter() - start
    rows, new = give(X[:half]), give(X[half:])
    there.fit(rows, y[:half])  # kernels are compiled at first use
    with seconds(times, "device"):
        there.fit(rows, y[:half])
    line = {
        "estimator": str(model),
        "rows": half,
        "dtype": np.dtype(dtype).name,
        "kind": type(rows).__module__.partition(".")[0],
        "seconds_memory": round(times["memory"], 3),
        "seconds_device": round(times["device"], 3),
    }
    method = "predict" if hasattr(here, "predict") else "transform"
    ours, theirs = getattr(there, method)(new), getattr(here, method)(X[half:])
    assert type(ours) is type(rows), type(ours)
    assert ours.device == rows.device, ours.device
    ours = ours.get() if line["kind"] == "cupy" else ours.cpu().numpy()
    if method == "predict":
        line["equal_predictions"] = float((ours == theirs).mean())
    else:
        gap = np.abs(ours - theirs).max() / np.abs(theirs).max()
        line["transform_gap"] = float(gap)
    if hasattr(here, "components_"):
        line["angle"] = largest_angle(here.components_, there.components_)
    elif hasattr(here, "embedding_"):
        Z = there.embedding_
        Z = Z.get() if line["kind"] == "cupy" else Z.cpu().numpy()
        line["angle"] = largest_angle(here.embedding_.T, Z.T)
    print(json.dumps(line), flush=True)
    return line


def agreement(n):
    """All estimators, in both precisions, and one with arrays of CuPy."""
    warnings.simplefilter("ignore")  # of the toy's label sets
    lines = [
        compare(model, n, dtype, lambda X: torch.from_numpy(X).cuda())
        for dtype in (np.float64, np.float32)
        for model in estimators()
    ]
    try:
        import cupy
    except ImportError:
        return lines
    models = NMLSDR(3), MLkNN(), LaplacianEigenmaps(random_state=0)
    return lines + [compare(m, n, np.float64, cupy.asarray) for m in models]


def growth(sizes, d):
    """Seconds and memory of whole fits as rows grow; the smallest in memory too."""
    maps = {"n_neighbors": N_NEIGHBORS, "random_state": 0}
    tools = {
        "NMLSDR": (NMLSDR(), LABELS),
        "NoisyLabelPropagation": (NoisyLabelPropagation(), LABELS),
        "MDDM": (MDDM(), LABELS),
        "MLkNN": (MLkNN(), LABELS),
        "SemiSupervisedMLkNN": (SemiSupervisedMLkNN(), LABELS),
        "LaplacianEigenmaps": (LaplacianEigenmaps(**maps), 4),
        "SLEML": (SLEML(**maps), 4),
    }
    lines = []
    for n in sizes:
        X = table("normal", n, d)
        y = noisy_labels(X, torch.Generator("cuda").manual_seed(1))
        for name, (model, q) in tools.items():
            line = {"estimator": name, "rows": n, "features": d, "labels": q}
            line |= fit_cost(model, X, y[:, :q].contiguous(), n == sizes[0])
            lines.append(line)
            print(json.dumps(line), flush=True)
    return lines


def fit_cost(model, X, y, in_memory):
    """Seconds and memory of one fit, and its seconds in memory if asked for."""
    model.fit(X[:2_000], y[:2_000])  # kernels are compiled at first use
    torch.cuda.reset_peak_memory_stats()
    cost = {"seconds": timed(lambda: model.fit(X, y), 1)}
    cost["peak_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 1)
    if in_memory:
        here, rows, labels = clone(model), X.cpu().numpy(), y.cpu().numpy()
        if hasattr(here, "n_jobs"):
            here.set_params(n_jobs=-1)
        cost["seconds_memory"] = timed(lambda: here.fit(rows, labels), 1)
    return cost


def versions():
    """What the figures were measured with."""
    import triton

    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "torch": torch.__version__,
        "triton": triton.__version__,
    }


def main():
    """Measure everything and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="results/device.json")
    parser.add_argument("--small", action="store_true", help="few rows, to try it")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        sys.exit("There is no CUDA device here; run this where torch sees one.")
    shrink = 32 if options.small else 1
    million = 2**20 // shrink
    out = Path(options.out)
    document = {
        "command": "python benchmarks/device.py",
        "device": torch.cuda.get_device_name(),
        "cores": os.cpu_count(),
        "versions": versions(),
        "n_neighbors": N_NEIGHBORS,
        "fit": whole_fit(million, 320, 3),
        "searches": [],
    }
    for kind, n, d, repeats in (
        ("normal", million, 320, 3),
        ("normal", 4 * million, 128, 1),
        ("ill-scaled", million, 320, 1),
        ("duplicated", million, 320, 1),
        ("clustered", million, 320, 1),
    ):
        document["searches"].append(search(kind, n, d, repeats))
        torch.cuda.empty_cache()
    document["searches"].append(search("normal", million, 320, 1, fused=False))
    sizes = [million // 16, million // 4, million]
    document["growth"] = growth(sizes, 320)
    document["agreement"] = agreement(20_000 // min(shrink, 5))
    out.write_text(json.dumps(document, indent=1) + "\n")
    print(f"written to {out}")


if __name__ == "__main__":
    main()
