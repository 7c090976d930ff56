"""Figures 3 and 4 of the SSDR-MC paper, and digits with few labels.

    python reproductions/ssdrmc.py
    python reproductions/ssdrmc.py --data scene --trials 2 --shares 0.1 0.3

Every finished run is a line of ``results/ssdrmc.jsonl``; the script goes on where it
stopped. At the end it writes ``results/ssdrmc.json``: micro-F1 on the unlabelled rows,
mean and deviation over trials for every method and share of labels (figure 4), and
over a grid of the label weight and the threshold (figure 3). The paper has 50 trials,
and a third data set that is not public in its form. Data are looked for in
$DEMURK_DATA.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import argparse
import json
import sys
import time
import warnings
from itertools import product
from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import demurk
from demurk.datasets import load_dataset
from demurk.manifold import SSDRMC
from demurk.metrics import micro_f1
from demurk.multilabel import RankSVM
from demurk.propagation import MLGFHF

RESULTS = Path(__file__).resolve().parent.parent / "results"
SHARES = [0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5]
GRID_SHARE = 0.35
LABEL_WEIGHTS = [0.0, 0.05, 0.1, 0.25, 0.5, 0.75, 0.99]
THRESHOLDS = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8]
PAPER_C = 1000.0

# The paper's experiments take equation 7 with signed weights, and start from zeros.
LITERAL = {"inference": "harmonic", "weights": "signed", "start": "zeros"}


def complete(model, X, labels, known):
    """Labels of the unlabelled rows by a transductive method."""
    murky = np.where(known[:, None], labels, -1)
    return model.fit(X, murky).transduction_[~known]


def classify(X, labels, known, C):
    """Labels of the unlabelled rows by RankSVM."""
    return RankSVM(C).fit(X[known], labels[known]).predict(X[~known])


def principal(X):
    """95 % of the variance, at most 100 directions; the paper does not say how many."""
    Z = PCA(min(100, *X.shape), random_state=0).fit(X)
    n_kept = np.searchsorted(np.cumsum(Z.explained_variance_ratio_), 0.95) + 1
    return Z.transform(X)[:, :n_kept]


METHODS = {
    "SSDR-MC": lambda X, Y, known: complete(SSDRMC(None), X, Y, known),
    "SSDR-MC, relaxed": lambda X, Y, known: complete(
        SSDRMC(None, inference="relaxed"), X, Y, known
    ),
    "SSDR-MC, paper": lambda X, Y, known: complete(
        SSDRMC(None, **LITERAL), X, Y, known
    ),
    "SSDR-MC, no feedback": lambda X, Y, known: complete(
        SSDRMC(None, label_weight=0.0), X, Y, known
    ),
    "ML-GFHF": lambda X, Y, known: complete(MLGFHF(), X, Y, known),
    "RankSVM": lambda X, Y, known: classify(X, Y, known, PAPER_C),
    "RankSVM, C=1": lambda X, Y, known: classify(X, Y, known, 1.0),
    "PCA + RankSVM": lambda X, Y, known: classify(principal(X), Y, known, PAPER_C),
}


def load(name):
    """Features and 0/1 labels."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X / 16, np.eye(10, dtype=np.int64)[y]
    data = load_dataset(name)
    X = data.data.toarray() if scipy.sparse.issparse(data.data) else data.data
    return np.asarray(X, dtype=np.float64), data.target.astype(np.int64)


def labeled_rows(n, share, trial):
    """Rows that keep their labels; the same for every method."""
    known = np.zeros(n, dtype=bool)
    order = np.random.RandomState(1000 + trial).permutation(n)
    known[order[: max(2, round(share * n))]] = True
    return known


def settings(options):
    """Every run: its key and what makes the predictions."""
    for name, share, trial in product(
        options.data, options.shares, range(options.trials)
    ):
        for method, predict in METHODS.items():
            yield ["curve", name, method, share, trial], predict
    for name, weight, threshold, trial in product(
        options.data, LABEL_WEIGHTS, THRESHOLDS, range(options.grid_trials)
    ):
        model = SSDRMC(None, label_weight=weight, threshold=threshold)

        def predict(X, Y, known, model=model):
            return complete(model, X, Y, known)

        yield ["grid", name, weight, threshold, trial], predict


def run(options):
    """Do what is not done yet, a line for every run."""
    done = {json.dumps(line["key"]) for line in read_lines(options.lines)}
    loaded = {}
    options.lines.parent.mkdir(exist_ok=True)
    with options.lines.open("a") as lines:
        if lines.tell():
            lines.write("\n")  # the last line may have been cut off
        for key, predict in settings(options):
            if json.dumps(key) in done:
                continue
            kind, name, *_, trial = key
            if name not in loaded:
                loaded[name] = load(name)
            X, Y = loaded[name]
            share = key[3] if kind == "curve" else GRID_SHARE
            known = labeled_rows(len(X), share, trial)
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                score = micro_f1(Y[~known], predict(X, Y, known))
            line = {
                "key": key,
                "micro_f1": round(float(score), 5),
                "cpu_s": round(time.process_time() - start, 3),
            }
            lines.write(json.dumps(line) + "\n")
            lines.flush()


def read_lines(path):
    """Finished runs; a line cut off by an interruption is ignored."""
    if not path.exists():
        return
    for text in path.read_text().splitlines():
        try:
            yield json.loads(text)
        except json.JSONDecodeError:
            continue


def summarize(lines):
    """Means and deviations over trials, and how often SSDR-MC is ahead."""
    curves, grids, trials = {}, {}, {}
    for line in lines:
        kind, name, first, second, trial = line["key"]
        if kind == "curve":
            cell = curves.setdefault(name, {}).setdefault(first, {})
            cell.setdefault(str(second), []).append((line["micro_f1"], line["cpu_s"]))
            pairs = trials.setdefault(name, {}).setdefault((second, trial), {})
            pairs[first] = line["micro_f1"]
        else:
            cell = grids.setdefault(name, {}).setdefault(str(first), {})
            cell.setdefault(str(second), []).append(line["micro_f1"])
    return {
        "curves": {
            name: {
                method: {share: _moments(values) for share, values in cell.items()}
                for method, cell in methods.items()
            }
            for name, methods in curves.items()
        },
        "grids": {
            name: {
                weight: {h: round(float(np.mean(v)), 4) for h, v in cell.items()}
                for weight, cell in grid.items()
            }
            for name, grid in grids.items()
        },
        "SSDR-MC minus others": {
            name: _differences(list(runs.values())) for name, runs in trials.items()
        },
    }


def _moments(values):
    scores, seconds = np.array(values).T
    sd = scores.std(ddof=1) if len(scores) > 1 else 0.0
    return {
        "mean": round(float(scores.mean()), 4),
        "sd": round(float(sd), 4),
        "trials": len(scores),
        "cpu_s": round(float(seconds.mean()), 2),
    }


def _differences(runs):
    """Mean difference over all shares and trials, and the share of runs won."""
    found = {}
    for method in METHODS:
        both = [r for r in runs if {"SSDR-MC", method} <= set(r)]
        gains = [r["SSDR-MC"] - r[method] for r in both]
        if gains and method != "SSDR-MC":
            found[method] = {
                "mean": round(float(np.mean(gains)), 4),
                "won": round(float(np.mean(np.array(gains) > 0)), 3),
                "runs": len(gains),
            }
    return found


def main():
    """Run the study and write its result file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", nargs="+", default=["digits", "scene", "yeast"])
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--grid-trials", type=int, default=3)
    parser.add_argument("--lines", type=Path, default=RESULTS / "ssdrmc.jsonl")
    parser.add_argument("--output", type=Path, default=RESULTS / "ssdrmc.json")
    options = parser.parse_args()
    run(options)
    document = {
        "command": " ".join(["python reproductions/ssdrmc.py", *sys.argv[1:]]),
        "versions": {
            "demurk": demurk.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "protocol": {
            "measure": "micro-F1 on the unlabelled rows",
            "labelled rows": "drawn at random, the same for all methods",
            "SSDR-MC, paper": LITERAL,
            "RankSVM": f"Gaussian kernel of the mean distance, C={PAPER_C:g}",
            "grid": f"SSDR-MC with {GRID_SHARE:.0%} of the rows labelled",
        },
        **summarize(read_lines(options.lines)),
    }
    options.output.parent.mkdir(exist_ok=True)
    options.output.write_text(json.dumps(document, indent=1) + "\n")
    print(f"written to {options.output}")


if __name__ == "__main__":
    main()
