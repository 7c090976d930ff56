"""``demurk demo``: a table with wrong and missing labels, from its file to a map."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier

from demurk.cli._clean import clean_file
from demurk.cli._console import say
from demurk.cli._map import map_file
from demurk.cli._predict import predict_file
from demurk.utils._files import atomic_path, check_outputs

__all__ = ["run_demo"]

N_LABELED, WRONG = 1200, 0.1
# So many suspects are looked at one by one; more is tiring.
FIRST = 100


def run_demo(output, seed, force):
    """Write a table with bad labels, clean it, predict, draw it; say how it went."""
    output = Path(output)
    path = output / "demo.csv"
    check_outputs([path], force=force)
    frame, truth, wrong = _typed_in(seed)
    with atomic_path(path, force=force) as temporary:
        frame.to_csv(temporary, index=False)
    say(
        f"{len(truth):,} handwritten digits, 8 x 8 grey values each, from "
        f"scikit-learn. Someone\ntyped in what the first {N_LABELED:,} show, and got "
        f"every tenth one wrong: {wrong.sum()} of them.\nNobody has typed in the "
        f"other {len(truth) - N_LABELED}. The table is {path}; its last column "
        "is called class."
    )
    say(f"\n$ demurk clean {path}")
    _clean(wrong, path, output, force)
    say(f"\n$ demurk predict {path}")
    _predict(frame, truth, path, output, force, seed)
    say(f"\n$ demurk map {path}")
    map_file(str(path), output / "map", clean=False, force=force)
    say(f"\nNow open {output / 'clean' / 'audit.html'} in a browser.")


def _typed_in(seed):
    """Digits as a person would have them, what they are, and which are wrong."""
    X, truth = load_digits(return_X_y=True)
    rng = np.random.RandomState(seed)
    order = rng.permutation(len(truth))
    X, truth = X[order].astype(int), truth[order]
    wrong = np.zeros(len(truth), dtype=bool)
    wrong[rng.permutation(N_LABELED)[: round(WRONG * N_LABELED)]] = True
    typed = np.where(wrong, (truth + rng.randint(1, 10, len(truth))) % 10, truth)
    frame = pd.DataFrame(X, columns=[f"pixel {i // 8},{i % 8}" for i in range(64)])
    cells = np.where(np.arange(len(truth)) < N_LABELED, typed.astype(str), "")
    frame["class"] = cells
    return frame, truth, wrong


def _clean(wrong, path, output, force):
    clean_file(str(path), output / "clean", force=force)
    summary = json.loads((output / "clean" / "summary.json").read_text("utf-8"))
    rows = pd.read_csv(output / "clean" / "suspects.csv")["row"].drop_duplicates() - 1
    first = rows[:FIRST]
    say(
        f"In truth {wrong.sum()} are wrong; {summary['expected_wrong']} were "
        f"said to be. Of the first {len(first)} suspects, "
        f"{wrong[first].sum()} are wrong indeed."
    )


def _predict(frame, truth, path, output, force, seed):
    predict_file(str(path), output=output / "predictions.csv", force=force)
    table = pd.read_csv(output / "predictions.csv")
    blank = np.arange(len(truth)) >= N_LABELED
    ours = np.mean(table["predicted"].to_numpy()[blank] == truth[blank])
    X = frame.drop(columns="class").to_numpy()
    forest = RandomForestClassifier(300, n_jobs=-1, random_state=seed)
    forest.fit(X[~blank], frame["class"][~blank].astype(int))
    rival = np.mean(forest.predict(X[blank]) == truth[blank])
    say(
        f"Of the {blank.sum()} digits that nobody typed in, {ours:.1%} are predicted "
        f"right; by a random forest of 300 trees, {rival:.1%}."
    )
