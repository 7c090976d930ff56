"""``demurk reduce``: from a file to a projection, cleaned labels and a model."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demurk.cli._console import say, shown_progress
from demurk.cli._input import read_input, row_names, tell
from demurk.cli._output import (
    beside,
    files_read,
    free_name,
    graph_options,
    save_model,
    table_of,
    write_summary,
    write_table,
)
from demurk.multilabel import SemiSupervisedMLkNN
from demurk.partial_label import IPAL
from demurk.registry import get_method
from demurk.utils._amounts import amount
from demurk.utils._files import OutputFolder
from demurk.viz import plot_embedding

__all__ = ["FILES", "reduce_file"]

# The summary comes last: where it is, all files of its run are there.
FILES = ("embedding.csv", "labels.csv", "embedding.png", "model.skops", "summary.json")


def _build(X, method, n_components, n_neighbors, scale, form):
    """Scale, reduce, classify."""
    reducer = get_method(method, task="reduce").load()(n_components)
    options = graph_options(X, n_neighbors)
    known, given = reducer.get_params(), options | {"random_state": 0}
    reducer.set_params(**{key: given[key] for key in given if key in known})
    steps = [StandardScaler(with_mean=not issparse(X))] if scale else []
    kind = IPAL if form == "candidates" else SemiSupervisedMLkNN
    return make_pipeline(*steps, reducer, kind(**options))


def reduce_file(
    source, output, *, method, n_components, n_neighbors, scale, force, **reading
):
    """Reduce, clean and classify a labelled data set; write everything to a folder.

    Without a method it is CENDA for candidates, of which one is true, else NMLSDR.
    """
    if method is not None:
        get_method(method, task="reduce")  # a wrong name is said before any work
    read = files_read(source, data_home=reading.get("data_home"))
    output = OutputFolder(output, FILES, read=read, force=force)
    data = read_input(source, **reading)
    tell(data)
    X, form = data.features, data.form.form
    method = method or ("CENDA" if form == "candidates" else "NMLSDR")
    model = _build(X, method, n_components, n_neighbors, scale, form)
    with shown_progress(model):
        model.fit(X, data.y)
    Z, given = np.asarray(model[:-1].transform(X)), np.asarray(data.y)
    cleaned, soft = _cleaned(data, given, model[-1])
    summary = _summary(data, method, Z, given, cleaned)
    summary["neighbors"] = model[-1].neighbors
    axes = [f"component_{j + 1}" for j in range(Z.shape[1])]
    figure = _picture(Z, cleaned, data.name, method, model[-1])
    with output.writing() as folder:
        table, labels, picture, saved, facts = (folder / name for name in FILES)
        named = row_names(data)
        write_table(table_of([*named.items(), *zip(axes, Z.T)]), table)
        write_table(_label_table(data, given, cleaned, soft, model[-1]), labels)
        figure.savefig(picture, dpi=150)
        save_model(data, model, saved)
        write_summary(facts, summary)
    say(
        f"{data.name}: {amount(summary['n_features'], 'feature')} reduced to "
        f"{Z.shape[1]} by {method}. {_outcome(summary, form)}\n"
        f"Embedding, cleaned labels, picture and model are in {output.path}/"
    )


def _cleaned(data, given, classifier):
    """The labels after all, hard and soft; what a person has decided stays."""
    soft = classifier.label_distributions_
    if data.form.form == "candidates":
        return (classifier.labels_[:, None] == classifier.classes_).astype(int), soft
    cleaned = classifier.transduction_
    if data.checked is None:
        return cleaned, soft
    settled = data.checked[0]
    soft = np.where(settled, data.labels.values, soft)
    if cleaned.ndim == 1:
        settled = settled.any(axis=1)
    return np.where(settled, given, cleaned), soft


def _outcome(summary, form):
    """What became of the labels, in a sentence."""
    if form == "candidates":
        of_all = f"of {amount(summary['given'], 'candidate')}"
        return f"{summary['overruled']:,} {of_all} ruled out; each row has one class."
    what = ("class", "classes") if form == "class" else ("entry", "entries")
    return (
        f"{amount(summary['completed'], f'missing {what[0]}', f'missing {what[1]}')} "
        f"completed, {summary['overruled']:,} of {amount(summary['given'], *what)} "
        "overruled."
    )


def _missing(labels):
    return (labels == -1) | pd.isna(labels)


def _summary(data, method, Z, given, cleaned):
    missing, undecided = _missing(given), _missing(cleaned)
    candidates = data.form.form == "candidates"
    overruled = (given > 0) & (cleaned == 0) if candidates else cleaned != given
    return {
        "data": data.name,
        "method": method,
        "n_samples": int(Z.shape[0]),
        "n_features": int(data.features.shape[1]),
        "n_components": int(Z.shape[1]),
        "given": int((given > 0).sum() if candidates else (~missing).sum()),
        "completed": int((missing & ~undecided).sum()),
        "overruled": int((~missing & overruled).sum()),
    }


def _label_table(data, given, cleaned, soft, classifier):
    """Given, cleaned and soft labels side by side."""
    names = [str(name) for name in classifier.classes_]
    if given.ndim == 1:
        columns = [("given", given), ("cleaned", cleaned)]
    else:
        pairs = zip(zip(names, given.T), zip(beside(names, "cleaned"), cleaned.T))
        columns = [column for pair in pairs for column in pair]
    taken = {*names, "given", "cleaned"}
    named = [(free_name(k, taken), v) for k, v in row_names(data).items()]
    return table_of([*named, *columns, *zip(beside(names, "soft"), soft.T)])


def _picture(Z, cleaned, name, method, classifier):
    if cleaned.ndim == 1:
        cleaned = cleaned[:, None] == classifier.classes_
    title = f"{name}: {Z.shape[1]} directions found by {method}"
    return plot_embedding(Z, cleaned, names=classifier.classes_, title=title).figure
