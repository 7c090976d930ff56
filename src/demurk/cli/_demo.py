"""``demurk demo``: a table with wrong and missing labels, from its file to a map."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
from dataclasses import dataclass
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
STORY = (
    "{n:,} handwritten digits, 8 x 8 grey values each, from scikit-learn. Someone\n"
    "typed in what the first {labeled:,} show, and got every tenth one wrong: {wrong} "
    "of them.\nNobody has typed in the other {rest}. The table is {path}; its last "
    "column is called class."
)


@dataclass(frozen=True, eq=False)
class Story:
    """The table of the demo, and what is true of it."""

    frame: pd.DataFrame  # as a person would have it: wrong and missing classes
    truth: np.ndarray  # the digits
    wrong: np.ndarray  # bool (n,), whose class was typed in wrong


def run_demo(output, seed, force):
    """Write a table with bad labels, clean it, predict, draw it; say how it went."""
    output = Path(output)
    path = output / "demo.csv"
    check_outputs([path], force=force)
    story = _typed_in(seed)
    with atomic_path(path, force=force) as temporary:
        story.frame.to_csv(temporary, index=False)
    counts = {
        "n": len(story.truth),
        "labeled": N_LABELED,
        "wrong": int(story.wrong.sum()),
        "rest": len(story.truth) - N_LABELED,
    }
    say(STORY.format(**counts, path=path))
    _shown(f"demurk clean {path}", _clean, story, path, output, force)
    _shown(f"demurk predict {path}", _predict, story, path, output, force, seed)
    _shown(f"demurk map {path}", _map, story, path, output, force)
    say(f"\nNow open {output / 'clean' / 'audit.html'} in a browser.")


def _shown(command, step, *arguments):
    say(f"\n$ {command}")
    step(*arguments)


def _typed_in(seed):
    """Digits of which some are wrong and some are missing."""
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
    return Story(frame, truth, wrong)


def _clean(story, path, output, force):
    clean_file(str(path), output / "clean", force=force)
    summary = json.loads((output / "clean" / "summary.json").read_text("utf-8"))
    rows = pd.read_csv(output / "clean" / "suspects.csv")["row"].drop_duplicates() - 1
    first = rows[:FIRST]
    say(
        f"In truth {story.wrong.sum()} are wrong; {summary['expected_wrong']} were "
        f"said to be. Of the first {len(first)} suspects, "
        f"{story.wrong[first].sum()} are wrong indeed."
    )


def _predict(story, path, output, force, seed):
    predict_file([str(path)], output / "predictions.csv", force=force)
    table = pd.read_csv(output / "predictions.csv")
    blank = np.arange(len(story.truth)) >= N_LABELED
    ours = np.mean(table["predicted"].to_numpy()[blank] == story.truth[blank])
    X = story.frame.drop(columns="class").to_numpy()
    forest = RandomForestClassifier(300, n_jobs=-1, random_state=seed)
    forest.fit(X[~blank], story.frame["class"][~blank].astype(int))
    rival = np.mean(forest.predict(X[blank]) == story.truth[blank])
    say(
        f"Of the {blank.sum()} digits that nobody typed in, {ours:.1%} are predicted "
        f"right; by a random forest of 300 trees, {rival:.1%}."
    )


def _map(story, path, output, force):
    map_file(str(path), output / "map", clean=False, force=force)
