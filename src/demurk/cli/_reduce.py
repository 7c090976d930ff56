"""``demurk reduce``: from a file to a projection, cleaned labels and a model."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demurk import io
from demurk.cli._console import console, shown_progress
from demurk.cli._input import as_frame, read_input
from demurk.multilabel import SemiSupervisedMLkNN
from demurk.registry import get_method
from demurk.utils._files import atomic_path, refuse_overwrite
from demurk.viz import plot_embedding

__all__ = ["reduce_file"]


def _write_csv(frame, path, force):
    with atomic_path(path, force=force) as temporary:
        frame.to_csv(temporary, index=False, float_format="%.6g")


def _build(X, method, n_components, n_neighbors, scale):
    """Impute if needed, scale, reduce, classify."""
    reducer = get_method(method, task="reduce").load()(n_components)
    known, given = reducer.get_params(), {"n_jobs": -1, "random_state": 0}
    if n_neighbors is not None:
        given["n_neighbors"] = n_neighbors
    reducer.set_params(**{k: given[k] for k in given if k in known})
    values = X.data if issparse(X) else X.to_numpy()
    steps = [SimpleImputer()] if np.isnan(values).any() else []
    if scale:
        steps.append(StandardScaler(with_mean=not issparse(X)))
    classifier = SemiSupervisedMLkNN(
        *() if n_neighbors is None else (n_neighbors,), n_jobs=-1
    )
    return make_pipeline(*steps, reducer, classifier)


def reduce_file(
    source,
    output,
    *,
    method="NMLSDR",
    n_components=None,
    n_neighbors=None,
    scale=True,
    force=False,
    **reading,
):
    """Reduce, clean and classify a labelled data set; write everything to a folder."""
    names = ["embedding.csv", "labels.csv", "embedding.png", "summary.json"]
    output = Path(output)
    files = [output / name for name in [*names, "model.skops"]]
    refuse_overwrite(files, force)
    data = read_input(source, **reading)
    X, Y = as_frame(data), _named_labels(data)
    model = _build(X, method, n_components, n_neighbors, scale)
    with shown_progress(model):
        model.fit(X, Y)
    Z, cleaned = model[:-1].transform(X), model[-1].transduction_
    summary = _summary(data, method, Z, np.asarray(Y), cleaned)
    axes = [f"component_{j + 1}" for j in range(Z.shape[1])]
    _write_csv(pd.DataFrame(Z, columns=axes), files[0], force)
    _write_csv(_label_table(np.asarray(Y), cleaned, model[-1]), files[1], force)
    with atomic_path(files[2], force=force) as path:
        _picture(Z, cleaned, data.name, method, model[-1]).savefig(path, dpi=150)
    with atomic_path(files[3], force=force) as path:
        path.write_text(json.dumps(summary, indent=1) + "\n")
    io.save(model, files[4], force=force)
    console.print(
        f"{data.name}: {summary['n_features']} features reduced to {Z.shape[1]} by "
        f"{method}. {summary['completed']} missing labels completed, "
        f"{summary['overruled']} of {summary['given']} given labels overruled.\n"
        f"Embedding, cleaned labels, picture and model are in {output}/"
    )


def _named_labels(data):
    """Labels that carry their names; None marks an unlabelled sample."""
    if data.target.ndim == 2:
        return pd.DataFrame(data.target, columns=[str(n) for n in data.target_names])
    names = np.array([*map(str, data.target_names), None], dtype=object)
    return names[data.target]


def _missing(labels):
    return (labels == -1) | pd.isna(labels)


def _summary(data, method, Z, given, cleaned):
    missing, undecided = _missing(given), _missing(cleaned)
    return {
        "data": data.name,
        "method": method,
        "n_samples": int(Z.shape[0]),
        "n_features": int(data.data.shape[1]),
        "n_components": int(Z.shape[1]),
        "given": int((~missing).sum()),
        "completed": int((missing & ~undecided).sum()),
        "overruled": int((~missing & (cleaned != given)).sum()),
    }


def _label_table(given, cleaned, classifier):
    """Given, cleaned and soft labels side by side."""
    soft = classifier.label_distributions_
    if given.ndim == 1:
        table = {"given": given, "cleaned": cleaned}
    else:
        table = {}
        for name, before, after in zip(classifier.classes_, given.T, cleaned.T):
            table |= {name: before, f"{name}: cleaned": after}
    table |= {f"{name}: soft": s for name, s in zip(classifier.classes_, soft.T)}
    return pd.DataFrame(table)


def _picture(Z, cleaned, name, method, classifier):
    if cleaned.ndim == 1:
        cleaned = cleaned[:, None] == classifier.classes_
    title = f"{name}: {Z.shape[1]} directions found by {method}"
    return plot_embedding(Z, cleaned, names=classifier.classes_, title=title).figure
