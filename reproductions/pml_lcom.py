"""Tables II, III and VI of the PML-LCom paper.

    python reproductions/pml_lcom.py cal500 --splits 10
    python reproductions/pml_lcom.py tables --splits 3 --data-sets medical slashdot
    python reproductions/pml_lcom.py transductive --splits 1

"cal500" runs every method with fixed settings on CAL500; "tables" chooses settings on
a part of the training rows, by the ranking loss against candidates; "transductive"
scores the training rows, with the candidates themselves as the trivial score. Each
finished run is one line of ``results/pml_lcom_<study>.jsonl``, and is not repeated when
the command is given again; means beside the printed values are written to
``results/pml_lcom_<study>.json``. The benchmark files are looked for in $DEMURK_DATA.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import argparse
import json
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import scipy
import sklearn
from sklearn.model_selection import ParameterGrid

import demurk
from demurk.benchmark import published_results
from demurk.benchmark._partial_multilabel import (
    pml_choose,
    pml_data,
    pml_score,
    pml_split,
    pml_transductive,
)
from demurk.multilabel import MLkNN
from demurk.multilabel._compression import CPLST, PLST, REML
from demurk.partial_multilabel import (
    DRAMA,
    FPML,
    PARTICLE,
    PMLLRS,
    PMLNI,
    PMLfp,
    PMLlc,
    PMLLCom,
)

RESULTS = Path(__file__).resolve().parent.parent / "results"
AMOUNTS = (0.5, 1, 2)
OWN_CANDIDATES = ("YeastCC", "YeastMF", "mirflickr")
DATA_SETS = (
    "CAL500",
    "medical",
    "slashdot",
    "Corel5k",
    "bibtex",
    "mirflickr",
    "YeastCC",
    "YeastMF",
)

# Each method with the settings that "tables" chooses from, first those of "cal500".
METHODS = {
    "ML-KNN": (MLkNN(), {}),
    "PLST": (PLST(), {"n_components": [5, 20], "ridge": [0.1, 10.0]}),
    "CPLST": (CPLST(), {"n_components": [5, 20], "ridge": [0.1, 10.0]}),
    "REML": (REML(), {"ridge": [0.1, 10.0]}),
    "fPML": (FPML(), {"reg": [10.0, 1.0]}),
    "PML-NI": (PMLNI(), {"ridge": [10.0, 100.0]}),
    "PML-LRS": (PMLLRS(), {}),
    "DRAMA": (DRAMA(), {}),
    "PARTICLE": (PARTICLE(), {}),
    "PML-lc": (PMLlc(), {"ranking_weight": [1.0, 0.1]}),
    "PML-fp": (PMLfp(), {"ranking_weight": [1.0, 0.1]}),
    "PML-LCom": (
        PMLLCom(),
        {"noise_penalty": [1.0, 5.0], "ridge": [10.0, 1.0], "max_iter": [15, 50]},
    ),
    "PML-LCom, as printed": (
        PMLLCom(noise_penalty=5.0, rules="literal", fit_intercept=False),
        {},
    ),
}
# Labels and rows beyond which a method takes hours.
LARGEST = {
    "PARTICLE": (60, 4000),
    "PML-lc": (200, 6000),
    "PML-fp": (200, 6000),
    "DRAMA": (200, 10_000),
}


def settings(method):
    """All variants of a method."""
    base, grid = METHODS[method]
    return [
        type(base)(**{**base.get_params(), **choice}) for choice in ParameterGrid(grid)
    ]


def runs(study, options):
    """Data set, noise, method and split of everything that a study needs."""
    names = ["CAL500"] if study == "cal500" else options.data_sets or DATA_SETS
    if study == "transductive":
        names = [name for name in names if name in OWN_CANDIDATES]
    methods = options.methods or list(METHODS)
    if study == "transductive":
        methods = ["trivial", *methods]
    for name in names:
        for amount in (None,) if name in OWN_CANDIDATES else AMOUNTS:
            for split in range(options.splits):
                for method in methods:
                    yield name, amount, method, split


@lru_cache(maxsize=1)
def load(name, transposed):
    """The data set; the last one is kept."""
    return pml_data(name, transposed=transposed)


def run(study, name, amount, method, number, transposed):
    """One report, with the settings used; None if the method cannot run."""
    data = load(name, transposed and name.startswith("Yeast"))
    labels, rows = LARGEST.get(method, (np.inf, np.inf))
    if data.Y.shape[1] > labels or len(data.Y) > rows:
        return None
    split = pml_split(data, number, amount)
    if study == "transductive":
        model = None if method == "trivial" else METHODS[method][0]
        return {"report": pml_transductive(model, split), "settings": str(model)}
    model = METHODS[method][0]
    if study == "tables":
        model = pml_choose(settings(method), split, seed=number)
    return {"report": pml_score(model, split), "settings": str(model)}


def finished(path):
    """Lines of an earlier run by what they are about."""
    if not path.exists():
        return {}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {key(line): line for line in lines}


def key(line):
    """What makes a run."""
    return tuple(line[part] for part in ("data_set", "amount", "method", "split"))


def printed_value(study, name, amount, method, measure):
    """The value in the paper, if there is one."""
    paper = published_results("pml_lcom")
    if method not in paper["methods"]:
        return None
    place = paper["methods"].index(method)
    if study == "transductive":
        cell = paper["table_6"].get(name, {}).get(measure)
    else:
        table = {"ranking loss": "table_2", "average precision": "table_3"}.get(measure)
        cells = paper[table]["values"].get(name, {}) if table else {}
        cell = cells.get("own" if amount is None else str(amount))
    return cell["mean"][place] if cell else None


def summary(study, lines):
    """Mean and deviation over splits, with the printed value where there is one."""
    out = {}
    groups = {}
    for line in lines:
        if line["report"] is not None:
            groups.setdefault(key(line)[:3], []).append(line)
    for (name, amount, method), members in groups.items():
        reports = [line["report"] for line in members]
        cell = {"splits": len(reports), "settings": [m["settings"] for m in members]}
        for measure in reports[0]:
            values = [report[measure] for report in reports]
            cell[measure] = {
                "mean": round(float(np.mean(values)), 4),
                "sd": round(float(np.std(values, ddof=1)), 4)
                if len(values) > 1
                else None,
                "paper": printed_value(study, name, amount, method, measure),
            }
        out.setdefault(name, {}).setdefault(str(amount), {})[method] = cell
    return out


def parse():
    """Options of the command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("study", choices=["cal500", "tables", "transductive"])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--data-sets", nargs="*", choices=[*DATA_SETS, "delicious"])
    parser.add_argument("--methods", nargs="*", choices=list(METHODS))
    parser.add_argument(
        "--transposed",
        action="store_true",
        help="columns of YeastCC and YeastMF are the samples; by default rows are",
    )
    parser.add_argument("--folder", type=Path, default=RESULTS)
    return parser.parse_args()


def main():
    """Run what is missing of a study and write its summary."""
    options = parse()
    suffix = "_transposed" if options.transposed else ""
    path = options.folder / f"pml_lcom_{options.study}{suffix}.jsonl"
    path.parent.mkdir(exist_ok=True, parents=True)
    lines = finished(path)
    for name, amount, method, split in runs(options.study, options):
        if (name, amount, method, split) in lines:
            continue
        found = run(options.study, name, amount, method, split, options.transposed)
        line = {"data_set": name, "amount": amount, "method": method, "split": split}
        line |= found or {"report": None, "settings": None}
        lines[key(line)] = line
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        loss = f"{found['report']['ranking loss']:.4f}" if found else "too large"
        print(name, amount, method, split, loss, flush=True)
    document = {
        "command": "python reproductions/pml_lcom.py " + " ".join(sys.argv[1:]),
        "versions": {
            "demurk": demurk.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "samples of YeastCC and YeastMF": "columns" if options.transposed else "rows",
        "results": summary(options.study, lines.values()),
    }
    path = path.with_suffix(".json")
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"written to {path}")


if __name__ == "__main__":
    main()
