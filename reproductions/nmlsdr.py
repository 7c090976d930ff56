"""Tables 1 and 3 to 9 of the NMLSDR paper.

    python reproductions/nmlsdr.py table1 --seeds 5
    python reproductions/nmlsdr.py tables --seeds 5

Writes ``results/nmlsdr_table1.json`` and ``results/nmlsdr_tables.json``: for every
method and data set the mean and standard deviation over seeds, beside the printed
value. The benchmark files are looked for in $DEMURK_DATA.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import argparse
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import sklearn
from joblib import Parallel, delayed

import demurk
from demurk.benchmark import nmlsdr_data, nmlsdr_score, published_results
from demurk.multilabel import MLkNN, SemiSupervisedMLkNN
from demurk.projection import MDDM, MVMD, NMLSDR, SSMLDR, WMLDA, LabelCCA

RESULTS = Path(__file__).resolve().parent.parent / "results"
MEASURES = ["HL'", "RL'", "AP", "OE'", "Cov'", "Cov'/C", "MaF1", "MiF1"]


def reducers(n_labels):
    """The paper's methods, with as many directions as it gives each of them."""
    return {
        "CCA": LabelCCA(n_labels),
        "MVMD": MVMD(n_labels),
        "MDDMp": MDDM(n_labels),
        "MDDMf": MDDM(n_labels, decorrelation=0.5),
        "wMLDAb": WMLDA(n_labels - 1),
        "wMLDAe": WMLDA(n_labels - 1, weights="entropy"),
        "wMLDAc": WMLDA(n_labels - 1, weights="correlation"),
        "wMLDAd": WMLDA(n_labels - 1, weights="dependence", random_state=0),
        "SSMLDR": SSMLDR(n_labels - 1),
        "NMLSDR": NMLSDR(n_labels),
    }


def table_1_methods():
    """Reducer and classifier of each row of table 1, in three dimensions."""
    supervised = {name: (r, MLkNN()) for name, r in reducers(3).items()}
    for name in ("wMLDAb", "wMLDAe", "wMLDAc", "wMLDAd"):
        supervised[name][0].set_params(n_components=3)
    semi = SemiSupervisedMLkNN()
    clamped = SemiSupervisedMLkNN(alpha_labeled=0)
    return supervised | {
        "SSMLDR*": (SSMLDR(3, alpha_labeled=0), clamped),
        "SSMLDR": (SSMLDR(3), semi),
        "NMLSDR*": (NMLSDR(3, alpha_labeled=0), clamped),
        "NMLSDR": (NMLSDR(3), semi),
    }


def score_table_1(method, seed):
    """One row of table 1: half of the rows labelled, murky labels throughout."""
    reducer, classifier = table_1_methods()[method]
    return nmlsdr_score(
        nmlsdr_data("toy", seed),
        reducer,
        seed,
        classifier=classifier,
        labeled=0.5,
        true_labels=False,
    )


def score_tables(data_set, method, seed):
    """One cell of tables 3 to 9."""
    data = nmlsdr_data(data_set, seed)
    with warnings.catch_warnings():
        # Fewer directions than labels where two label columns agree: expected.
        warnings.filterwarnings("ignore", message=".*n_components.*")
        reducer = reducers(data.Y_train.shape[1])[method]
        return nmlsdr_score(data, reducer, seed)


def summary(reports, printed):
    """Mean and deviation over seeds, with the printed value where there is one."""
    out = {}
    for measure in MEASURES:
        values = [report[measure] for report in reports]
        out[measure] = {
            "mean": round(float(np.mean(values)), 4),
            "sd": round(float(np.std(values, ddof=1)), 4) if len(values) > 1 else None,
            "paper": printed.get("Cov'" if measure == "Cov'/C" else measure),
        }
    return out


def run_table_1(seeds, n_jobs):
    """All rows of table 1 that are implemented."""
    paper = published_results("nmlsdr")["table_1"]
    cells = [(method, seed) for method in table_1_methods() for seed in range(seeds)]
    reports = Parallel(n_jobs=n_jobs, verbose=5)(
        delayed(score_table_1)(*cell) for cell in cells
    )
    results = {}
    for method in table_1_methods():
        mine = [r for r, cell in zip(reports, cells) if cell[0] == method]
        printed = dict(zip(paper["measures"], paper["values"][method]))
        results[method] = summary(mine, printed)
    return results


def run_tables(seeds, n_jobs, data_sets):
    """All cells of tables 3 to 9 that are implemented."""
    paper = published_results("nmlsdr")
    data_sets = data_sets or paper["data_sets"]
    methods = list(reducers(2))
    cells = [(d, m, s) for d in data_sets for m in methods for s in range(seeds)]
    reports = Parallel(n_jobs=n_jobs, verbose=5)(
        delayed(score_tables)(*cell) for cell in cells
    )
    results = {}
    for data_set in data_sets:
        for method in methods:
            mine = [
                report
                for report, cell in zip(reports, cells)
                if cell[:2] == (data_set, method)
            ]
            column = paper["methods"].index(method)
            printed = {
                measure: table[data_set][column]
                for measure, table in paper["tables_3_to_9"].items()
            }
            results.setdefault(data_set, {})[method] = summary(mine, printed)
    return results


def main():
    """Run one of the two studies and write its result file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("study", choices=["table1", "tables"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--data-sets", nargs="*")
    parser.add_argument("--output", type=Path, default=None)
    options = parser.parse_args()
    if options.study == "table1":
        results = run_table_1(options.seeds, options.jobs)
    else:
        results = run_tables(options.seeds, options.jobs, options.data_sets)
    document = {
        "command": "python reproductions/nmlsdr.py " + " ".join(sys.argv[1:]),
        "versions": {
            "demurk": demurk.__version__,
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
        "seeds": options.seeds,
        "results": results,
    }
    path = options.output or RESULTS / f"nmlsdr_{options.study}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n")
    print(f"written to {path}")


if __name__ == "__main__":
    main()
