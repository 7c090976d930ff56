"""The CENDA paper: learners for candidate sets with and without reduction.

    python reproductions/partial_label.py lost
    python reproductions/partial_label.py fgnet
    python reproductions/partial_label.py controlled

"lost" and "fgnet" stand beside table 7 of the paper, "controlled" adds one to three
false candidates to sets with known classes, as in tables 3 and 4. Each fold that is
done is a line of ``results/partial_label_<study>.jsonl``: a second call goes on where
the first one stopped. At the end ``results/partial_label_<study>.json`` is written:
means and deviations over folds beside the printed ones, and wins, ties and losses. The
benchmark files are looked for in $DEMURK_DATA.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import argparse
import json
import sys
import time
import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import sklearn
from joblib import Parallel, delayed
from sklearn.model_selection import GridSearchCV

import demurk
from demurk.benchmark import (
    partial_label_accuracy,
    partial_label_data,
    partial_label_folds,
    published_results,
    win_tie_loss,
)
from demurk.model_selection import candidate_scorer
from demurk.partial_label import CLPL, IPAL, PLAGGD, PLECOC, PLSVM, SURE, PLkNN
from demurk.projection import CENDA, DELIN

RESULTS = Path(__file__).resolve().parent.parent / "results"
N_SPLITS = 10
REG_POOL = [10.0**k for k in range(-3, 4)]  # the paper's for PL-SVM
# PL-SVM's penalty is chosen on so many training rows and with so many steps, by
# candidate sets alone.
TUNING_ROWS, TUNING_STEPS = 1000, 200
LEARNERS = {
    "PL-kNN": PLkNN(),
    "PL-SVM": PLSVM(),
    "PL-ECOC": PLECOC(),
    "IPAL": IPAL(),
    "SURE": SURE(),
    "PL-AGGD": PLAGGD(),
    "CLPL": CLPL(),
    # The confidences of the reducer as votes, which the paper leaves open.
    "PL-kNN, confidences": PLkNN(vote="confidence"),
}
STUDIES = {
    "lost": {
        "data_sets": ["lost"],
        "n_extra": [None],
        "modes": ["in-fold"],
        "thresholds": [0.999],
    },
    "fgnet": {
        "data_sets": ["FG-NET"],
        "n_extra": [None],
        "modes": ["in-fold", "transductive"],
        "thresholds": [0.9, 0.99, 0.999],
    },
    "controlled": {
        "data_sets": ["segment", "satimage", "letter", "vowel", "optdigits", "digits"],
        "n_extra": [1, 2, 3],
        "modes": ["in-fold"],
        "thresholds": [0.999],
    },
}
PAPER_NAMES = {"lost": "Lost", "FG-NET": "FG-NET"}
KEY = ["data", "n_extra", "mode", "threshold", "reduction", "fold"]


def load(name, n_extra, max_samples, seed=0):
    """A data set, or a random part of it where it has too many rows."""
    data = partial_label_data(name, n_extra, seed=seed)
    if len(data.X) <= max_samples:
        return data
    rows = np.random.RandomState(seed).permutation(len(data.X))[:max_samples]
    return replace(
        data,
        X=data.X[rows],
        candidates=data.candidates[rows],
        truth=data.truth[rows],
    )


def tuned(learner, fold):
    """Choose PL-SVM's penalty on the training rows; the others stay as they are."""
    if not isinstance(learner, PLSVM):
        return learner
    rows = np.random.RandomState(fold.number).permutation(len(fold.X_train))
    rows = rows[:TUNING_ROWS]
    search = GridSearchCV(
        PLSVM(max_iter=TUNING_STEPS),
        {"reg": REG_POOL},
        scoring=candidate_scorer(),
        cv=3,
        refit=False,
    )
    search.fit(fold.X_train[rows], fold.candidates[rows])
    return PLSVM(**search.best_params_)


def score_fold(fold):
    """Accuracy and CPU seconds of each learner; None where it refuses the sets."""
    accuracy, seconds = {}, {}
    for name, learner in LEARNERS.items():
        start = time.process_time()
        try:
            accuracy[name] = partial_label_accuracy(tuned(learner, fold), fold)
        except ValueError as error:
            if "too large for PLECOC" not in str(error):
                raise
            accuracy[name] = None
        seconds[name] = round(time.process_time() - start, 3)
    return {
        "n_components": fold.X_train.shape[1],
        "accuracy": accuracy,
        "cpu_seconds": seconds,
    }


def run_unit(name, n_extra, mode, threshold, folds, max_samples):
    """Lines of some folds: without reduction, or with CENDA and DELIN."""
    data = load(name, n_extra, max_samples)
    lines = []
    reductions = ["none"] if threshold is None else ["CENDA", "DELIN"]
    for reduction in reductions:
        reducer = None
        if reduction == "CENDA":
            reducer = CENDA(threshold=threshold)
        elif reduction == "DELIN":
            # As in the paper, the dimension is that of CENDA.
            reducer = DELIN(lines[-1]["n_components"])
        with warnings.catch_warnings():
            # Turns that do not settle and splits that are too small belong here.
            warnings.simplefilter("ignore")
            start = time.process_time()
            for fold in partial_label_folds(
                data,
                reducer,
                n_splits=N_SPLITS,
                transductive=mode == "transductive",
                only=folds,
            ):
                key = [name, n_extra, mode, threshold, reduction, fold.number]
                seconds = round(time.process_time() - start, 3)
                line = dict(zip(KEY, key)) | {"reduction_seconds": seconds}
                lines.append(line | score_fold(fold))
                start = time.process_time()
    return lines


def units(study, max_samples, n_folds):
    """All units: one fold, or all folds where they share the reduction."""
    for name, n_extra, mode in product(
        study["data_sets"], study["n_extra"], study["modes"]
    ):
        folds = [[number] for number in range(n_folds)]
        thresholds = [None, *study["thresholds"]]
        if mode == "transductive":
            folds, thresholds = [list(range(n_folds))], study["thresholds"]
        for threshold, numbers in product(thresholds, folds):
            yield name, n_extra, mode, threshold, numbers, max_samples


def key_of(line):
    """What identifies a line."""
    return tuple(line[part] for part in KEY)


def collect(study, path, n_jobs, max_samples, n_folds):
    """Compute what is missing, a line at a time, and return all lines."""
    lines = []
    if path.exists():
        lines = [json.loads(text) for text in path.read_text().splitlines() if text]
    done = {key_of(line) for line in lines}
    todo = []
    for unit in units(study, max_samples, n_folds):
        name, n_extra, mode, threshold, folds, _ = unit
        reductions = ["none"] if threshold is None else ["CENDA", "DELIN"]
        keys = product([name], [n_extra], [mode], [threshold], reductions, folds)
        if not done.issuperset(keys):
            todo.append(unit)
    path.parent.mkdir(exist_ok=True)
    results = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(
        delayed(run_unit)(*unit) for unit in todo
    )
    with path.open("a") as stream:
        for number, fresh in enumerate(results, 1):
            for line in fresh:
                if key_of(line) not in done:
                    stream.write(json.dumps(line) + "\n")
                    lines.append(line)
            stream.flush()
            print(f"{number} of {len(todo)}: {key_of(fresh[-1])}", flush=True)
    return lines


def folds_of(lines, key, learner):
    """Accuracies by fold; None if the learner could not run."""
    mine = sorted((x for x in lines if key_of(x)[:-1] == key), key=lambda x: x["fold"])
    values = [line["accuracy"][learner] for line in mine]
    return None if not values or None in values else values


def summary(lines, key, learner, paper):
    """Mean and deviation over folds, with the printed ones where there are some."""
    name, threshold, reduction = key[0], key[3], key[4]
    values = folds_of(lines, key, learner)
    out = {
        **dict(zip(KEY, key)),
        "learner": learner,
        "mean": None if values is None else round(float(np.mean(values)), 4),
        "sd": None,
        "n_folds": 0 if values is None else len(values),
    }
    if values is not None and len(values) > 1:
        out["sd"] = round(float(np.std(values, ddof=1)), 4)
    table = paper["table_7"].get(PAPER_NAMES.get(name), {})
    if reduction == "none":
        out["paper"] = table.get("none", {}).get(learner)
    else:
        printed = table.get(f"{threshold:g}", {})
        out["paper"] = printed.get(reduction, {}).get(learner)
    return out


def compare(lines, keys):
    """Wins, ties and losses of the reductions, plain and corrected tests."""
    outcomes = []
    for key in keys:
        name, n_extra, mode, threshold, reduction = key
        rivals = {
            "CENDA": [(mode, threshold, "DELIN"), ("in-fold", None, "none")],
            "DELIN": [("in-fold", None, "none")],
        }
        for rival in rivals.get(reduction, []):
            for learner in LEARNERS:
                first = folds_of(lines, key, learner)
                second = folds_of(lines, (name, n_extra, *rival), learner)
                if None in (first, second) or not len(first) == len(second) > 1:
                    continue
                outcomes.append(
                    {
                        **dict(zip(KEY, key)),
                        "against": rival[-1],
                        "learner": learner,
                        "t_test": win_tie_loss(first, second),
                        "corrected": win_tie_loss(first, second, corrected=True),
                    }
                )
    return outcomes


def counts(outcomes, test):
    """The paper's table 4: wins/ties/losses over data sets."""
    table = {}
    for row in outcomes:
        title = f"{row['reduction']} against {row['against']}, {row['mode']}"
        if row["threshold"] is not None:
            title += f", threshold {row['threshold']:g}"
        if row["n_extra"] is not None:
            title += f", {row['n_extra']} false"
        cell = table.setdefault(title, {}).setdefault(row["learner"], [0, 0, 0])
        cell[["win", "tie", "loss"].index(row[test])] += 1
    return {
        title: {learner: "/".join(map(str, cell)) for learner, cell in cells.items()}
        for title, cells in table.items()
    }


def main():
    """Run one study and write its result file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("study", choices=list(STUDIES))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data-sets", nargs="*")
    parser.add_argument("--modes", nargs="*", choices=["in-fold", "transductive"])
    parser.add_argument("--max-samples", type=int, default=5000)
    parser.add_argument("--folds", type=int, default=N_SPLITS, help="of ten")
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    study = dict(STUDIES[options.study])
    if options.data_sets:
        study["data_sets"] = options.data_sets
    if options.modes:
        study["modes"] = options.modes
    path = options.output or RESULTS / f"partial_label_{options.study}.json"
    start = time.perf_counter()
    lines = collect(
        study,
        path.with_suffix(".jsonl"),
        options.jobs,
        options.max_samples,
        options.folds,
    )
    paper = published_results("cenda")
    keys = sorted({key_of(line)[:-1] for line in lines}, key=str)
    outcomes = compare(lines, keys)
    document = {
        "command": "python reproductions/partial_label.py " + " ".join(sys.argv[1:]),
        "versions": {
            "demurk": demurk.__version__,
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "max_samples": options.max_samples,
        "wall_seconds_of_this_call": round(time.perf_counter() - start, 1),
        "cpu_seconds": round(
            sum(x["reduction_seconds"] + sum(x["cpu_seconds"].values()) for x in lines)
        ),
        "win_tie_loss": counts(outcomes, "t_test"),
        "win_tie_loss_corrected": counts(outcomes, "corrected"),
        "results": [
            summary(lines, key, learner, paper) for key in keys for learner in LEARNERS
        ],
        "comparisons": outcomes,
    }
    path.write_text(json.dumps(document, indent=1) + "\n")
    print(f"written to {path}")


if __name__ == "__main__":
    main()
