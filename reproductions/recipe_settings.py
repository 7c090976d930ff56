"""MurkyClassifier beside a forest on few, noisy labels.

    python reproductions/recipe_settings.py
    python reproductions/recipe_settings.py --sets emotions medical --seeds 100

A third of the rows is the test part. Of the training rows some are labelled, and their
labels are spoiled:

- A: 30 % labelled, each entry flipped with 10 %
- B: 10 % labelled, each entry flipped with 20 %
- C: 30 % labelled, each absent label given with 20 % (candidates)
- label: as A, with rates of its own for each label, drawn from 0 to 20 %
- instance: as A, with the 10 % drawn where a forest on clean labels is unsure

Beside the classifier stand a forest of 300 trees on the same rows, cut at one half and
with the classifier's own rule, and the ceiling: the same forest on all training rows
with clean labels. Each (set, seed, setting) that is done is a line of
``results/recipe.jsonl``: a second call goes on where the first one stopped. At the end
``results/recipe.json`` is written. Seeds 0 to 5 served the design and are left out. The
benchmark files are looked for in $DEMURK_DATA.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import argparse
import json
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np
import sklearn
from scipy import sparse
from scipy.stats import wilcoxon
from sklearn.ensemble import RandomForestRegressor

import demurk
from demurk.datasets import load_dataset
from demurk.honest import f1_cut, half_cut, out_of_bag_scores
from demurk.metrics import multilabel_report
from demurk.multilabel import MurkyClassifier
from demurk.utils._files import atomic_path

RESULTS = Path(__file__).resolve().parent.parent / "results"
SETS = ["emotions", "scene", "yeast", "medical", "birds", "genbase", "enron"]
SETS += ["slashdot", "cal500", "corel5k"]
DEVELOPMENT = SETS[:4]
LARGEST = {"slashdot": (2000, 1000), "corel5k": (1000, 800)}  # training, test rows
SETTINGS = {
    "A": {"labeled": 0.3, "noise": "symmetric", "rate": 0.1},
    "B": {"labeled": 0.1, "noise": "symmetric", "rate": 0.2},
    "C": {"labeled": 0.3, "noise": "candidate", "rate": 0.2},
    "label": {"labeled": 0.3, "noise": "label", "rate": 0.2},
    "instance": {"labeled": 0.3, "noise": "instance", "rate": 0.1},
}
MEASURES = ["AP", "RL'", "OE'", "HL'", "MiF1", "MaF1"]
N_TREES = 300


def dense(X):
    """Features as a dense array."""
    return X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=float)


def forest(seed, n_trees=N_TREES, leaf=1, n_jobs=1):
    """The plain forest everything is compared with."""
    return RandomForestRegressor(
        n_trees,
        max_features="sqrt",
        min_samples_leaf=leaf,
        n_jobs=n_jobs,
        random_state=seed,
    )


def unsure_entries(X, Y, rate, rng):
    """A share of the entries, drawn where a forest on clean labels is unsure."""
    model = forest(0, n_trees=100, leaf=3).fit(X, Y)
    p = out_of_bag_scores(model, X.astype(np.float32), Y.astype(float))
    weight = np.maximum(p * (1 - p), 1e-6).ravel()
    n_wrong = int(rate * Y.size)
    chosen = rng.choice(Y.size, n_wrong, replace=False, p=weight / weight.sum())
    wrong = np.zeros(Y.size, dtype=bool)
    wrong[chosen] = True
    return wrong.reshape(Y.shape)


def wrong_entries(noise, rate, X, Y, rng):
    """Which entries of clean labels are turned round."""
    draw = rng.random_sample(Y.shape)
    if noise == "symmetric":
        return draw < rate
    if noise == "candidate":
        return (draw < rate) & (Y == 0)
    if noise == "missing":
        return (draw < rate) & (Y == 1)
    if noise in ("label", "label missing"):
        missing, false = rate * rng.random_sample((2, Y.shape[1]))
        return draw < np.where(Y == 1, missing, false if noise == "label" else 0.0)
    return unsure_entries(X, Y, rate, rng)


def split(name, seed):
    """Training and test part of a set."""
    data = load_dataset(name)
    X, Y = dense(data.data), data.target
    rows = np.random.RandomState(seed).permutation(len(X))
    n_train, n_test = LARGEST.get(name, (2 * len(X) // 3, len(X)))
    train, test = rows[:n_train], rows[n_train : n_train + n_test]
    return X[train], Y[train], X[test], Y[test]


def report(Y, predicted, scores):
    """The measures, higher is better."""
    values = multilabel_report(Y, predicted.astype(int), scores)
    return {name: values[name] for name in MEASURES}


def timed(function):
    """What a function returns, its wall clock and its CPU seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = function()
    return result, time.perf_counter() - wall, time.process_time() - cpu


def score(name, seed, setting, pools, n_jobs):
    """One record: all methods on one split."""
    options = SETTINGS[setting]
    X, Y, X_test, Y_test = split(name, seed)
    rng = np.random.RandomState(1000 + seed)
    n_labeled = int(options["labeled"] * len(X))  # rows are in random order already
    part = slice(n_labeled)
    wrong = wrong_entries(options["noise"], options["rate"], X[part], Y[part], rng)
    noisy = np.where(wrong, 1 - Y[part], Y[part])
    given = np.full(Y.shape, -1)
    given[part] = noisy
    record = {"set": name, "seed": seed, "setting": setting, "n_labeled": n_labeled}
    record["noise_share"] = float(wrong.mean())
    methods, seconds, details = {}, {}, {}

    plain, wall, cpu = timed(lambda: forest(seed, n_jobs=n_jobs).fit(X[part], noisy))
    seconds["forest"] = {"wall": wall, "cpu": cpu}
    noise = "candidate" if setting == "C" else "symmetric"
    for pool in pools:
        model = MurkyClassifier(
            pool,
            noise=noise,
            n_estimators=N_TREES,
            n_jobs=n_jobs,
            random_state=seed,
        )
        _, wall, cpu = timed(lambda model=model: model.fit(X, given))
        seconds[pool] = {"wall": wall, "cpu": cpu}
        scores = model.decision_function(X_test)
        methods[pool] = report(Y_test, scores > 0, scores)
        half = scores > half_cut(*model._rates) - model.cuts_["f1"]
        methods[pool]["HL' at half"] = report(Y_test, half, scores)["HL'"]
        details[pool] = {
            "noise_rate": model.noise_rate_,
            "weights": model.member_weights_,
            "calibration": model.calibration_,
        }
        if pool == pools[0]:
            rates = model._rates

    scores = plain.predict(X_test)
    methods["forest"] = report(Y_test, scores > 0.5, scores)
    honest = out_of_bag_scores(plain, X[part].astype(np.float32), noisy.astype(float))
    cut = f1_cut(honest.ravel(), noisy.ravel().astype(float), n_labeled, *rates)
    methods["forest, same rule"] = report(Y_test, scores > cut, scores)
    half = report(Y_test, scores > half_cut(*rates), scores)
    methods["forest"]["HL' at half"] = half["HL'"]

    scores = forest(seed, n_jobs=n_jobs).fit(X, Y).predict(X_test)
    n_true = max(int(Y_test.sum()), 1)
    cut = np.partition(scores.ravel(), -n_true)[-n_true]
    methods["ceiling"] = report(Y_test, scores >= cut, scores)
    record |= {"methods": methods, "seconds": seconds, "details": details}
    return record


def compare(records, ours, other, measure):
    """Difference of two methods over the seeds of one set."""
    gain = [r["methods"][ours][measure] - r["methods"][other][measure] for r in records]
    error = np.std(gain, ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else None
    return {
        "difference": float(np.mean(gain)),
        "standard_error": None if error is None else float(error),
        "wins": f"{sum(g > 0 for g in gain)}/{len(gain)}",
    }


def one_set(records, pool):
    """Means and differences of one set in one setting."""
    methods = records[0]["methods"]
    means = {
        method: {
            measure: float(np.mean([r["methods"][method][measure] for r in records]))
            for measure in methods[method]
        }
        for method in methods
    }
    table = {
        "seeds": sorted(r["seed"] for r in records),
        "means": means,
        "against the forest": {
            measure: compare(records, pool, "forest", measure)
            for measure in [*MEASURES, "HL' at half"]
        },
        "against the forest with the same rule": {
            measure: compare(records, pool, "forest, same rule", measure)
            for measure in ("MiF1", "MaF1")
        },
        "noise_rate": {
            "mean": float(np.mean([r["details"][pool]["noise_rate"] for r in records])),
            "sd": float(np.std([r["details"][pool]["noise_rate"] for r in records])),
        },
        "cost against the forest": {
            name: {
                clock: float(
                    np.median(
                        [
                            r["seconds"][name][clock] / r["seconds"]["forest"][clock]
                            for r in records
                        ]
                    )
                )
                for clock in ("wall", "cpu")
            }
            for name in records[0]["seconds"]
            if name != "forest"
        },
    }
    gap = means["ceiling"]["AP"] - means["forest"]["AP"]
    closed = (means[pool]["AP"] - means["forest"]["AP"]) / gap if gap > 0 else None
    table["gap closed"] = closed
    return table


def overall(tables):
    """Sets won, and Wilcoxon tests over set means."""
    summary = {}
    for rival in ("against the forest", "against the forest with the same rule"):
        for measure in next(iter(tables.values()))[rival]:
            gains = [table[rival][measure]["difference"] for table in tables.values()]
            test = wilcoxon(gains) if len(gains) > 4 and np.any(gains) else None
            summary[f"{measure} {rival}"] = {
                "sets won": f"{sum(g > 0 for g in gains)}/{len(gains)}",
                "mean": float(np.mean(gains)),
                "p": None if test is None else float(test.pvalue),
            }
    closed = [t["gap closed"] for t in tables.values() if t["gap closed"] is not None]
    summary["median gap closed"] = float(np.median(closed)) if closed else None
    return summary


def read_records(path):
    """Records of earlier calls; a line cut off by a kill is left out."""
    records = []
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError:
                continue
    return records


def append_record(path, record):
    """Add one line, starting anew after a line that was cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    torn = path.exists() and not path.read_bytes().endswith(b"\n")
    with path.open("a") as stream:
        stream.write(("\n" if torn else "") + json.dumps(record) + "\n")


def write_summary(path, content):
    """Write a result file whole or not at all."""
    versions = {
        "demurk": demurk.__version__,
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
    }
    with atomic_path(path, force=True) as temporary:
        script = f"reproductions/{Path(sys.argv[0]).name}"
        command = " ".join(["python", script, *sys.argv[1:]])
        head = {"command": command, "versions": versions}
        text = json.dumps(head | content, indent=1)
        temporary.write_text(text + "\n")


def arguments(description, sets, settings, name):
    """What both scripts of this kind are asked with."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=sets)
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(100, 105)))
    parser.add_argument("--settings", nargs="+", choices=settings, default=settings)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--records", type=Path, default=RESULTS / f"{name}.jsonl")
    parser.add_argument("--output", type=Path, default=RESULTS / f"{name}.json")
    return parser


def main():
    """Run what is missing and write the summary."""
    parser = arguments(__doc__, SETS, list(SETTINGS), "recipe")
    parser.add_argument("--pools", nargs="+", default=["full", "fast"])
    options = parser.parse_args()
    done = {(r["set"], r["seed"], r["setting"]) for r in read_records(options.records)}
    for name, seed, setting in product(options.sets, options.seeds, options.settings):
        if (name, seed, setting) in done:
            continue
        record = score(name, seed, setting, options.pools, options.n_jobs)
        append_record(options.records, record)
        methods = record["methods"]
        line = "  ".join(f"{key} {values['AP']:.3f}" for key, values in methods.items())
        print(f"{name} {seed} {setting}  AP: {line}", flush=True)
    records = read_records(options.records)
    pool = options.pools[0]
    content = {}
    for setting in SETTINGS:
        tables = {}
        for name in SETS:
            found = [r for r in records if (r["set"], r["setting"]) == (name, setting)]
            if found:
                tables[name] = one_set(found, pool)
        if tables:
            fresh = {k: v for k, v in tables.items() if k not in DEVELOPMENT}
            content[setting] = {"description": SETTINGS[setting], "sets": tables}
            content[setting]["all sets"] = overall(tables)
            if fresh:
                content[setting]["sets not used for the design"] = overall(fresh)
    write_summary(options.output, {"pool": pool, "settings": content})


if __name__ == "__main__":
    main()
