"""``demurk demo``: the whole path on built-in data."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demurk import io
from demurk.cli._console import say, show_table, shown_progress
from demurk.datasets import make_multilabel_blocks
from demurk.labels import flip_labels, hide_rows
from demurk.metrics import multilabel_report
from demurk.multilabel import MLkNN, SemiSupervisedMLkNN
from demurk.projection import MDDM, NMLSDR
from demurk.utils._files import OutputFolder, write_text
from demurk.viz import plot_embeddings

__all__ = ["run_demo"]

FILES = ("embedding.png", "model.skops", "summary.json")
N_TRAIN, N_TEST, LABELED, FLIPPED = 4000, 2000, 0.5, 0.1


def _reduced(reducer, classifier):
    return make_pipeline(StandardScaler(), reducer, classifier)


def _contestants(seed):
    """Name, model, and whether it can use rows without labels."""
    return [
        ("NMLSDR + semi-supervised ML-kNN", _reduced(NMLSDR(3), SemiSupervisedMLkNN())),
        ("MDDM + ML-kNN", _reduced(MDDM(3), MLkNN())),
        ("PCA + ML-kNN", _reduced(PCA(3, random_state=seed), MLkNN())),
        ("random forest", RandomForestClassifier(300, n_jobs=-1, random_state=seed)),
    ]


def _label_scores(model, X):
    scores = model.predict_proba(X)
    # scikit-learn's forest gives one array per label.
    if isinstance(scores, list):
        return np.column_stack([p[:, 1] for p in scores])
    return scores


def _cleaning_line(flips, murky, transduction):
    labeled = murky[:, 0] != -1
    flipped = flips.changed[labeled]
    overruled = transduction[labeled] != murky[labeled]
    found = np.count_nonzero(flipped & overruled)
    return (
        f"Cleaning: {flipped.sum()} of {flipped.size} given labels were wrong. The "
        f"propagation overruled {overruled.sum()} of them, {found} rightly."
    )


def run_demo(output, seed, force):
    """Corrupt, reduce, clean, classify, compare; write a picture and a summary."""
    output = OutputFolder(output, FILES, force=force)
    toy = make_multilabel_blocks(N_TRAIN + N_TEST, random_state=seed)
    X, X_test = toy.data[:N_TRAIN], toy.data[N_TRAIN:]
    Y, Y_test = toy.target[:N_TRAIN], toy.target[N_TRAIN:]
    flips = flip_labels(Y, FLIPPED, random_state=seed)
    murky = hide_rows(flips.labels, 1 - LABELED, random_state=seed).labels
    say(
        f"Built-in data: {N_TRAIN} training and {N_TEST} test samples, "
        f"{X.shape[1]} features, {Y.shape[1]} labels that overlap.\n"
        f"{LABELED:.0%} of the training samples keep their labels, and {FLIPPED:.0%} "
        "of those labels are flipped."
    )
    labeled = murky[:, 0] != -1
    rows, fitted = [], {}
    for name, model in _contestants(seed):
        model = clone(model)
        semi_supervised = name.startswith("NMLSDR")
        if semi_supervised:
            with shown_progress(model):
                model.fit(X, murky)
        else:
            model.fit(X[labeled], murky[labeled])
        report = multilabel_report(
            Y_test, model.predict(X_test), _label_scores(model, X_test)
        )
        rows.append([name, *map(float, report.values())])
        fitted[name] = model
    show_table(
        "On the test samples (higher is better, best in bold)",
        ["method", *report],
        rows,
        best=range(1, len(report) + 1),
    )
    winner = max(rows, key=lambda row: row[3])[0]
    say(f"Best average precision: {winner}.")
    best = fitted["NMLSDR + semi-supervised ML-kNN"]
    say(_cleaning_line(flips, murky, best[-1].transduction_))
    _write(output, fitted, X_test, Y_test, rows, list(report))
    say(f"Picture, summary and fitted model are in {output.path}/")


def _write(output, fitted, X_test, Y_test, rows, measures):
    embeddings = {
        name.split(" + ")[0]: model[:-1].transform(X_test)
        for name, model in reversed(fitted.items())
        if hasattr(model, "steps")
    }
    figure = plot_embeddings(
        embeddings,
        Y_test,
        names=[f"label {j + 1}" for j in range(Y_test.shape[1])],
        title="Test samples, projected by what was learned from murky labels",
    )
    results = {row[0]: dict(zip(measures, row[1:])) for row in rows}
    with output.writing() as folder:
        picture, saved, summary = (folder / name for name in FILES)
        figure.savefig(picture, dpi=150)
        io.save(fitted["NMLSDR + semi-supervised ML-kNN"], saved)
        write_text(summary, json.dumps(results, indent=1) + "\n")
