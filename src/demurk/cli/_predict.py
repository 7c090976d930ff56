"""``demurk predict``: learn from murky labels and predict, or use a saved model."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demurk import io
from demurk.cli._clean import _read
from demurk.cli._console import note, say, shown_progress
from demurk.cli._input import _is_table, as_frame, read_input
from demurk.cli._output import beside, files_read, table_of, write_table
from demurk.cli._reduce import _named_labels
from demurk.datasets._tables import _parquet_columns, _text_columns, table_bunch
from demurk.multilabel import MurkyClassifier
from demurk.registry import get_method
from demurk.utils._files import OutputFolder, atomic_path, check_outputs

__all__ = ["choose_classifier", "predict_file"]

CHOICES = {
    "noise": ("symmetric", "extra", "missing", "none"),
    "members": ("full", "trees", "fast"),
    "target": ("f1", "hamming"),
}


@dataclass(frozen=True, eq=False)
class Training:
    """What a model learns from, and what it is to predict."""

    X: Any  # frame or csr_array: labelled rows and others
    Y: Any  # frame or array of names; -1 or None where not observed
    labeled: np.ndarray  # bool (n,)
    asked: np.ndarray  # bool (n,), the rows of IN


def predict_file(
    files, output, *, train=None, model=None, force=False, data_home=None, **reading
):
    """Predict the labels of a file and write them as a table.

    Parameters
    ----------
    files : sequence of str
        Samples to predict; or a saved model, and the samples.
    output : path-like
        Table to write; a model that was trained is written beside it, with the ending
        ``.skops``.
    train : str, default=None
        File to learn from. None learns from the labelled samples of the other file.
    model : dict, default=None
        What `choose_classifier` is told.
    force : bool, default=False
        Whether existing files may be replaced.
    data_home, **reading
        Labels, columns to drop and columns of categories, as in `read_input`. Columns
        of a table that hold no numbers are left out with a message.
    """
    *saved, source = files
    if not saved:
        classifier = choose_classifier(**model or {})
        reading["data_home"] = data_home
        _train_and_predict(classifier, source, train, Path(output), force, reading)
        return
    chosen = [train, *(model or {}).values(), *reading.values()]
    if any(value not in (None, ()) for value in chosen):
        raise ValueError(
            f"{saved[0]} is a trained model: leave it out to train another, or leave "
            "out the options for training."
        )
    _use_model(saved[0], source, Path(output), force, data_home)


def _train_and_predict(classifier, source, train, output, force, reading):
    saved = output.with_suffix(".skops")
    if source.endswith(".skops"):
        raise ValueError(
            f"{source} is a model: name the samples to predict behind it (demurk "
            "predict MODEL IN)."
        )
    if output == saved:
        raise ValueError(
            f"{output} is a name for the model: name the table, such as "
            f"{output.with_suffix('.csv')}."
        )
    read = files_read(source, train, data_home=reading["data_home"])
    # The table comes last: where it is, it is of the model beside it.
    folder = OutputFolder(
        output.parent, (saved.name, output.name), read=read, force=force
    )
    data = _training(source, train, reading)
    model = _pipeline(classifier, data.X)
    with shown_progress(model):
        model.fit(data.X, data.Y)
    table = _predictions(model, data, with_given=train is None)
    with folder.writing() as place:
        io.save(model, place / saved.name)
        write_table(table, place / output.name)
    say(_story(model[-1], data, output, saved))


def choose_classifier(method=None, n_jobs=None, seed=None, **options):
    """Make the classifier that was asked for.

    Parameters
    ----------
    method : str, default=None
        Name of a classifier; None for MurkyClassifier.
    n_jobs : int, default=None
        Threads; None for all cores.
    seed : int, default=None
        Seed of the training; None for 0.
    **options
        Parameters of MurkyClassifier; None for its defaults.

    Returns
    -------
    classifier : estimator
        Not yet fitted.
    """
    options = {name: value for name, value in options.items() if value is not None}
    kind = get_method(method or "MurkyClassifier", task="classify").load()
    if options and kind is not MurkyClassifier:
        names = {"noise_rate": "rate"}
        given = ", ".join(f"--{names.get(name, name)}" for name in options)
        raise ValueError(
            f"{kind.__name__} has no {given}: leave that out, or take MurkyClassifier."
        )
    for name, choices in CHOICES.items():
        if options.get(name, choices[0]) not in choices:
            raise ValueError(
                f"{name} is '{options[name]}'; give one of {', '.join(choices)}."
            )
    classifier = kind(**options)
    shared = {"n_jobs": -1 if n_jobs is None else n_jobs, "random_state": seed or 0}
    known = classifier.get_params()
    return classifier.set_params(**{k: shared[k] for k in shared if k in known})


def _pipeline(classifier, X):
    """Fill gaps, and scale for classifiers that do not do it themselves."""
    steps = []
    if not sparse.issparse(X) or np.isnan(X.data).any():
        steps.append(SimpleImputer(strategy="median", keep_empty_features=True))
    if not isinstance(classifier, MurkyClassifier):
        steps.append(StandardScaler(with_mean=not sparse.issparse(X)))
    return make_pipeline(*steps, classifier)


# Reading


def _training(source, train, reading):
    """Rows to learn from and rows to predict."""
    origin = train or source
    read = _read_labelled(origin, reading)
    X, Y, labeled = as_frame(read.data), _named_labels(read.data), read.labels.labeled
    if read.left_out:
        columns = ", ".join(f"{name!r} ({why})" for name, why in read.left_out.items())
        note(
            f"Left out, not usable as features: {columns}; name one as --categorical "
            "to use it."
        )
    if not labeled.any():
        raise ValueError(
            f"{origin} has no labelled sample to learn from: fill in labels of some, "
            "or name another file with --train."
        )
    if train is not None:
        new = _new_features(source, _names(X), X.shape[1], reading["data_home"])
        asked = np.repeat([False, True], [X.shape[0], new.shape[0]])
        labeled = np.append(labeled, np.zeros(new.shape[0], dtype=bool))
        return Training(_stacked(X, new), _extended(Y, new.shape[0]), labeled, asked)
    if labeled.all():
        raise ValueError(
            f"Every sample of {source} is labelled, so there is none to predict: name "
            f"new samples and `--train {source}`, or look for wrong labels with "
            "`demurk clean`."
        )
    return Training(X, Y, labeled, np.ones(X.shape[0], dtype=bool))


def _read_labelled(source, reading):
    try:
        return _read(source, None, **reading)
    except ValueError as error:
        if "starts with 'label:'" not in str(error):
            raise
        raise ValueError(
            f"No column of {source} begins with 'label:', so there is nothing to learn "
            "from: name its label columns with --labels, a labelled file with --train, "
            "or a model before it."
        ) from error


def _names(X):
    return None if sparse.issparse(X) else [str(name) for name in X.columns]


def _stacked(X, new):
    if sparse.issparse(X) or sparse.issparse(new):
        return sparse.csr_array(sparse.vstack([X, new]))
    return pd.concat([X, new.set_axis(X.columns, axis=1)], ignore_index=True)


def _extended(Y, n_new):
    """The labels, and rows without any behind them."""
    if isinstance(Y, pd.DataFrame):
        none = pd.DataFrame(np.full((n_new, Y.shape[1]), -1), columns=Y.columns)
        return pd.concat([Y, none], ignore_index=True)
    return np.append(Y, np.full(n_new, None, dtype=object))


def _new_features(source, names, n_features, data_home):
    """Read the features a model knows; all other columns are ignored."""
    path = Path(source)
    if names is not None and path.is_file() and _is_table(path):
        return _named_features(path, names)
    X = as_frame(read_input(source, data_home=data_home))
    if X.shape[1] != n_features:
        raise ValueError(
            f"{source} has {X.shape[1]} features, but the model was trained on "
            f"{n_features}: give the same columns."
        )
    return X


def _named_features(path, names):
    """Columns of a table by name; "kind=red" is the value red of the column kind."""
    columns, place = (
        _parquet_columns(path)
        if path.suffix.lower() in (".parquet", ".pq")
        else _text_columns(path, True, None, "utf-8")
    )
    values = [name for name in names if name not in columns]
    kinds = [c for c in columns if any(v.startswith(f"{c}=") for v in values)]
    starts = tuple(f"{kind}=" for kind in kinds)
    wanted = [n for n in names if n in columns or not n.startswith(starts)]
    for name in wanted:
        if name not in columns:
            raise ValueError(
                f"{path} has no column {name!r}, but the model was trained on it: give "
                "the same columns."
            )
    found = {name: columns[name] for name in dict.fromkeys([*wanted, *kinds])}
    data = table_bunch(found, place, path, 0, None, (), kinds)
    # A value that the model does not know is none of those it knows.
    return as_frame(data).reindex(columns=names, fill_value=0.0)


# Predicting


def _use_model(path, source, output, force, data_home):
    """Predict with a saved model."""
    read = files_read(path, source, data_home=data_home)
    check_outputs([output], read=read, force=force)
    model = io.load(path)
    if not hasattr(model, "predict_proba"):
        raise ValueError(
            f"{path} holds no classifier: give a model written by `demurk predict` or "
            "`demurk reduce`."
        )
    names = getattr(model, "feature_names_in_", None)
    n_features = getattr(model, "n_features_in_", None)
    X = _new_features(source, names, n_features, data_home)
    table = _table(model.classes_, model.predict(X), model.predict_proba(X))
    with atomic_path(output, force=force) as temporary:
        write_table(table_of(table), temporary)
    say(f"{X.shape[0]} predictions written to {output}")


def _predictions(model, data, with_given):
    """Predictions of the rows asked for, and what was given for them."""
    X = data.X[data.asked]
    predicted, proba = model.predict(X), model.predict_proba(X)
    classifier = model[-1]
    known = data.labeled[data.asked]
    if isinstance(classifier, MurkyClassifier):
        # What a row's own labels had no part in.
        out_of_sample = classifier.out_of_sample_scores_[data.asked][known]
        predicted[known] = classifier._decisions(out_of_sample)
        proba[known] = classifier._probabilities(out_of_sample)
    table = _table(classifier.classes_, predicted, proba)
    if with_given:
        table += _given(classifier.classes_, data.Y)
    return table_of(table)


def _table(classes, predicted, proba):
    names = [str(name) for name in classes]
    if predicted.ndim == 1:
        columns = [("predicted", predicted)]
    else:
        columns = [*zip(names, predicted.T)]
    return [*columns, *zip(beside(names, "probability"), proba.T)]


def _given(classes, Y):
    if not isinstance(Y, pd.DataFrame):
        return [("given", Y)]
    cells = Y.astype("Int64").mask(Y == -1)
    names = [str(name) for name in classes]
    return [*zip(beside(names, "given"), (cells[name] for name in names))]


def _story(classifier, data, output, saved):
    n_asked = int(np.count_nonzero(data.asked & ~data.labeled))
    lines = [
        f"{type(classifier).__name__} learned from {np.count_nonzero(data.labeled)} "
        f"labelled samples and predicted {n_asked} others."
    ]
    if isinstance(classifier, MurkyClassifier) and classifier.noise != "none":
        how = "given" if classifier.noise_rate is not None else "estimated"
        what = {
            "symmetric": "of the labels are wrong",
            "extra": "of the labels that do not apply are given",
            "missing": "of the labels that apply are not given",
        }[classifier.noise]
        lines.append(f"About {classifier.noise_rate_:.0%} {what} ({how}).")
    lines.append(f"Predictions are in {output}, the model is in {saved}")
    return "\n".join(lines)
