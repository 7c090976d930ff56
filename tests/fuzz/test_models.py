"""Damaged model files: a sentence, or a model; never a crash, never a flood of memory.

The test takes a few seconds of it. By hand, any number::

    python -m tests.fuzz.test_models --n 200000 --seed 1

Files are loaded in a child process with limits; when it dies, the number of the file is
told, and ``--start`` begins there. A damaged file that is still a model must predict or
raise an exception.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import argparse
import collections
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demurk import io
from demurk.multilabel import MLkNN, MurkyClassifier
from demurk.partial_label import PLECOC
from demurk.partial_multilabel import DRAMA
from demurk.projection import NMLSDR
from tests.fuzz.mutate import mutations, zip_mutations

ROOT = Path(__file__).resolve().parents[2]
# Files made from one model before the next.
BATCH = 100
# A file may take ten times its size and this; the largest of them has 100 kB.
MEMORY = 200_000_000
# Enough for all that honest models do here; more is an exception, not a slow machine.
ADDRESS_SPACE = 4_000_000_000
SECONDS_A_FILE = 30


def make_models():
    """Small models that hold all kinds of state: trees, kernels, sparse matrices."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(24, 4))
    Y = (X[:, :3] + 0.3 * rng.normal(size=(24, 3)) > 0).astype(int)
    Y[Y.sum(axis=1) == 0, 0] = 1
    sparse = csr_array(np.where(np.abs(X) < 0.4, 0, X))
    quick = {"members": "fast", "n_estimators": 2, "random_state": 0, "n_jobs": 1}
    models = [
        (make_pipeline(StandardScaler(), NMLSDR(2, n_neighbors=3)), X),
        (RandomForestClassifier(3, random_state=0), X),
        (MurkyClassifier(**quick), X),
        (MLkNN(n_neighbors=3), sparse),
        (DRAMA(n_neighbors=3, n_estimators=2, random_state=0), X),
        (PLECOC(n_codes=2, random_state=0), X),
        (PLECOC(n_codes=2, random_state=0), sparse),
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [(model.fit(x, Y), x) for model, x in models]


def use(model, X):
    """What a model is for."""
    for name in ("predict", "predict_proba", "transform"):
        if hasattr(model, name):
            getattr(model, name)(X)


def damaged_files(originals, n, seed, start):
    """Yield the number of the file, of its model, and the file."""
    for batch in range(start // BATCH, -(-n // BATCH)):
        which = batch % len(originals)
        make = zip_mutations if random.Random(batch).random() < 0.75 else mutations
        files = make(originals[which], BATCH, seed * 1_000_003 + batch)
        for i, data in enumerate(files, start=batch * BATCH):
            if start <= i < n:
                yield i, which, data


def child(n, seed, start, seconds):
    """Load files and print a summary; the last line started is the file that kills."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.skops"
        models = make_models()
        originals = []
        for model, X in models:
            use(io.load(io.save(model, path, force=True)), X)
            originals.append(path.read_bytes())
        base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
        warnings.simplefilter("ignore")
        np.seterr(all="ignore")
        tally = collections.Counter()
        begun = time.monotonic()
        for i, which, data in damaged_files(originals, n, seed, start):
            if time.monotonic() - begun > seconds:
                break
            os.pwrite(3, f"{i:12d}".encode(), 0)
            signal.alarm(SECONDS_A_FILE)
            path.write_bytes(data)
            tally[_outcome(path, models[which][1])] += 1
            tally["files"] += 1
        signal.alarm(0)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base) * 1024
    tally["largest file"] = max(map(len, originals))
    tally["memory"] = grown
    print(json.dumps(tally))


def _outcome(path, X):
    try:
        model = io.load(path)
    except ValueError as error:
        text = str(error)
        if "\n" in text or not text.endswith(".") or len(text) > 500:
            return f"not a sentence: {text!r}"
        return "refused"
    except Exception as error:
        return f"not a ValueError: {error!r}"
    try:
        use(model, X)
    except Exception as error:
        return f"loaded, then {type(error).__name__}"
    return "loaded and used"


def run(n, seed, start=0, seconds=1e9):
    """Run a child over the files; return its summary, or how it died and where."""
    with tempfile.TemporaryFile() as place:
        done = subprocess.run(
            [sys.executable, "-m", "tests.fuzz.test_models", "--child"]
            + [f"--n={n}", f"--seed={seed}", f"--start={start}"]
            + [f"--seconds={seconds}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            preexec_fn=lambda: os.dup2(place.fileno(), 3),
            pass_fds=[3],
        )
        if done.returncode != 0:
            place.seek(0)
            return {
                "died": done.returncode,
                "file": int(place.read() or -1),
                "said": done.stderr[-2000:],
            }
    return json.loads(done.stdout)


def problems(tally):
    """What must not happen."""
    wrong = [key for key in tally if key.startswith(("died", "not a"))]
    if tally.get("memory", 0) > 10 * tally.get("largest file", 0) + MEMORY:
        wrong.append("memory")
    return {key: tally[key] for key in [*wrong, "file", "said"] if key in tally}


def test_damaged_models():
    tally = run(n=10**9, seed=0, seconds=8)
    assert not problems(tally)
    assert tally["refused"] > 100
    assert tally["loaded and used"] > 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--child", action="store_true")
    args = parser.parse_args()
    if args.child:
        child(args.n, args.seed, args.start, args.seconds)
        return 0
    tally = run(args.n, args.seed, args.start, args.seconds)
    print(json.dumps(tally, indent=2))
    return 1 if problems(tally) else 0


if __name__ == "__main__":
    sys.exit(main())
