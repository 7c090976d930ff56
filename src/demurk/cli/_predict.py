"""``demurk predict``: learn from murky labels and predict, or use a saved model."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demurk import io
from demurk.annotators import Annotations
from demurk.audit import soft_labels
from demurk.cli._audit import fit_audit, refuse_ones
from demurk.cli._console import say, shown_progress
from demurk.cli._input import labels_for, labels_of, read_input, row_names, tell
from demurk.cli._options import LISTS
from demurk.cli._output import (
    beside,
    files_read,
    free_name,
    save_model,
    table_of,
    write_table,
)
from demurk.datasets import TableFeatures
from demurk.datasets._table_form import NoLabelsError
from demurk.datasets._table_labels import as_given
from demurk.labels import LabelData
from demurk.multilabel import MurkyClassifier
from demurk.registry import get_method
from demurk.utils._amounts import amount
from demurk.utils._files import OutputFolder, atomic_path, check_outputs

__all__ = [
    "choose_classifier",
    "load_classifier",
    "model_predictions",
    "predict_file",
    "prediction_columns",
]

CHOICES = {
    "noise": ("symmetric", "extra", "missing", "none"),
    "members": ("full", "trees", "fast"),
    "target": ("f1", "hamming"),
}
# What `choose_classifier` is told, and what options of reading say is to be learned.
MODEL = ("method", "noise", "noise_rate", "members", "target", "n_jobs", "seed")
LEARNED = ("labels", "class_", "tags", "candidates", "annotator", "row")
# Endings of formats that hold the whole table, with its blanks filled in.
WHOLE = (".json", ".jsonl", ".ndjson", ".parquet", ".pq", ".feather", ".arrow")
WHOLE += (".xlsx", ".h5ad")
# A smaller share of wrong labels rounds to none, and `demurk clean` may find more.
LEAST_TOLD = 0.005


@dataclass(frozen=True, eq=False)
class Training:
    """What a model learns from, and what it is to predict."""

    table: Any  # the rows of IN
    X: Any  # features: labelled rows and others
    labels: LabelData  # of all of them
    known: Any  # the table that they come from
    asked: np.ndarray  # bool (n,), the rows of IN


def predict_file(
    first,
    second=None,
    output="predictions.csv",
    *,
    train=None,
    dask=None,
    force=False,
    **options,
):
    """Predict the labels of a file and write them as a table.

    Parameters
    ----------
    first : str
        Samples to predict; or a saved model.
    second : str, default=None
        After a model, the samples.
    output : path-like, default="predictions.csv"
        Table to write; a model that was trained is written beside it, with the ending
        ``.skops``. Formats that hold a whole table get that of the input, with its
        blanks filled in.
    train : str, default=None
        File to learn from. None learns from the labelled samples of the other file.
    dask : str, default=None
        Scheduler of a Dask cluster, for a saved model and a folder of Parquet files.
    force : bool, default=False
        Whether existing files may be replaced.
    **options
        What `choose_classifier` is told, and what is read how, as in `read_input`.
    """
    saved, source = (None, first) if second is None else (first, second)
    model = {name: options.pop(name, None) for name in MODEL}
    if dask is not None and saved is None:
        raise ValueError(
            "--dask predicts with a model that is trained already: name it before the "
            f"samples (demurk predict MODEL {source} --dask {dask})."
        )
    if str(output).lower().endswith(".h5ad") and (saved, train) != (None, None):
        raise ValueError(
            f"{output} cannot hold predictions, which are a table: end its name in "
            ".csv, .parquet or .xlsx."
        )
    if saved is None:
        _train_and_predict(source, train, Path(output), force, model, options)
        return
    chosen = [train, *model.values(), *map(options.get, LEARNED)]
    if any(value not in (None, (), []) for value in chosen):
        raise ValueError(
            f"{saved} is a trained model: leave it out to train another, or leave "
            "out the options for training."
        )
    if dask is not None:
        from demurk.cli._predict_dask import predict_folder

        predict_folder(saved, source, output, dask, force=force)
        return
    _use_model(saved, source, Path(output), force, options)


def _train_and_predict(source, train, output, force, options, reading):
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
    form = "candidates" if reading.get("candidates") else "labels"
    choose_classifier(**options, form=form)  # what is wrong with it is said at once
    read = files_read(source, train, data_home=reading.get("data_home"))
    # The table comes last: where it is, it is of the model beside it.
    folder = OutputFolder(
        output.parent, (saved.name, output.name), read=read, force=force
    )
    data = _training(source, train, reading)
    classifier = choose_classifier(**options, form=data.table.form.form)
    steps = _pipeline(classifier, data.X)
    with shown_progress(steps):
        steps.fit(data.X, _learned(data, classifier))
    predicted, proba = _predictions(steps, data)
    with folder.writing() as place:
        save_model(data.known, steps, place / saved.name)
        path = place / output.name
        given = train is None
        _write(data.table, classifier.classes_, predicted, proba, path, given)
    say(_story(classifier, data, output, saved))


def choose_classifier(method=None, n_jobs=None, seed=None, form="labels", **options):
    """Make the classifier that was asked for.

    Parameters
    ----------
    method : str, default=None
        Name of a classifier; None for MurkyClassifier.
    n_jobs : int, default=None
        Threads; None for all cores.
    seed : int, default=None
        Seed of the training; None for 0.
    form : str, default="labels"
        How the labels stand in the table. Candidates are left to IPAL, the best on
        average where truth is known (``results/bench/cenda-controlled.md``).
    **options
        Parameters of MurkyClassifier; None for its defaults.

    Returns
    -------
    classifier : estimator
        Not yet fitted.
    """
    default = "IPAL" if form == "candidates" else "MurkyClassifier"
    options = {name: value for name, value in options.items() if value is not None}
    kind = get_method(method or default, task="classify").load()
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
    if options.get("noise") == "missing" and "noise_rate" not in options:
        raise ValueError(
            "--noise missing needs --rate, the share of present labels that were left "
            "out: `demurk clean` estimates it."
        )
    classifier = kind(**options)
    shared = {"n_jobs": -1 if n_jobs is None else n_jobs, "random_state": seed or 0}
    known = classifier.get_params()
    return classifier.set_params(**{k: shared[k] for k in shared if k in known})


def _pipeline(classifier, X):
    """Scale for classifiers that do not do it themselves."""
    if isinstance(classifier, MurkyClassifier):
        return make_pipeline(classifier)
    return make_pipeline(StandardScaler(with_mean=not sparse.issparse(X)), classifier)


# Reading


def _training(source, train, reading):
    """Rows to learn from and rows to predict."""
    try:
        table = read_input(train or source, **reading)
    except NoLabelsError as error:
        if train is not None:
            raise
        raise NoLabelsError(
            f"{str(error).rstrip('.')}; or name a labelled file with --train, or a "
            "model before it."
        ) from error
    tell(table)
    if table.form.form != "candidates":
        refuse_ones(table)
    labels, X = table.labels, table.features
    if train is None:
        if labels.observed.all() and table.form.form != "candidates":
            raise ValueError(
                f"Every label of {source} is given, so there is none to predict: name "
                f"new samples and `--train {source}`, or look for wrong labels with "
                "`demurk clean`."
            )
        asked = np.ones(len(table), dtype=bool)
        return Training(table, X, labels, table, asked)
    new = _new_table(source, reading)
    more = _new_features(new, table.vectorizer, X.shape[1])
    none = np.zeros((len(new), labels.n_labels))
    values = np.vstack([labels.values, none])
    observed = np.vstack([labels.observed, none > 0])
    labels = replace(labels, values=values, observed=observed)
    asked = np.repeat([False, True], [len(table), len(new)])
    if sparse.issparse(X) or sparse.issparse(more):
        X = sparse.csr_array(sparse.vstack([X, more]))
    else:
        X = np.vstack([X, more])
    return Training(new, X, labels, table, asked)


def _learned(data, classifier):
    """What a classifier learns from: labels, or what each of several people says."""
    y = labels_of(data.known, classifier)
    if isinstance(y, Annotations):
        return replace(y, n_rows=len(data.asked), index=None)
    labels = labels_for(data.labels, classifier)
    if not _learns_beliefs(data, classifier):
        return labels
    # One class per row has but one kind of noise, whatever the classifier was told.
    anything = classifier.noise == "symmetric" or labels.single
    noise = "auto" if anything else classifier.noise
    audit = fit_audit(data.known, noise, classifier.random_state, classifier.n_jobs)
    known = soft_labels(audit)
    values = np.zeros_like(labels.values)
    values[: len(known.values)] = known.values
    return replace(labels, values=values)


def _learns_beliefs(data, classifier):
    """Whether to learn from what an audit believes: after a review, if it may guess."""
    if data.known.checked is None or not data.known.checked[0].any():
        return False
    guesses = isinstance(classifier, MurkyClassifier) and classifier.noise != "none"
    return guesses and classifier.noise_rate is None


def _new_table(source, reading):
    """Rows to predict; their labels, if there are any, are not looked at."""
    asked = (*LEARNED, *LISTS, "key")
    plain = {k: v for k, v in reading.items() if k not in asked}
    return read_input(source, **plain, labels=0, needs_labels=False)


def _new_features(table, vectorizer, n_features):
    """Features that a model knows; all other columns are ignored."""
    if vectorizer is not None and table._given is None:
        return table.transform(vectorizer)
    X = table.features
    if n_features is not None and X.shape[1] != n_features:
        raise ValueError(
            f"{table.source.path} has {X.shape[1]} features, but the model was trained "
            f"on {n_features}: give the same columns."
        )
    return X


# Predicting


def _use_model(path, source, output, force, reading):
    """Predict with a saved model."""
    read = files_read(path, source, data_home=reading.get("data_home"))
    check_outputs([output], read=read, force=force)
    model = load_classifier(path)
    table = _new_table(source, reading)
    with atomic_path(output, force=force) as temporary:
        try:
            predicted, proba = model_predictions(model, table)
        except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
            raise ValueError(
                f"{path} cannot be used, since its parts do not fit together "
                f"({type(error).__name__}); train the model again."
            ) from error
        _write(table, model.classes_, predicted, proba, temporary, given=False)
    say(f"{len(table)} predictions written to {output}")


def load_classifier(path):
    """A saved model that can predict."""
    model = io.load(path)
    if not hasattr(model, "predict_proba"):
        raise ValueError(
            f"{path} holds no classifier: give a model written by `demurk predict` or "
            "`demurk reduce`."
        )
    return model


def model_predictions(model, table):
    """Labels and probabilities of the rows of a table, from a saved pipeline."""
    vectorizer = model[0] if isinstance(model[0], TableFeatures) else None
    rest = model if vectorizer is None else model[1:]
    X = _new_features(table, vectorizer, getattr(rest, "n_features_in_", None))
    return rest.predict(X), rest.predict_proba(X)


def _predictions(steps, data):
    """Predictions of the rows asked for."""
    X = data.X[data.asked]
    predicted, proba = steps.predict(X), steps.predict_proba(X)
    classifier = steps[-1]
    known = data.labels.labeled[data.asked]
    if isinstance(classifier, MurkyClassifier):
        # What a row's own labels had no part in.
        scores = classifier.out_of_sample_scores_[data.asked][known]
        if classifier._single:
            # They tell what a row is given as; here, what it is.
            scores = np.log(classifier._class_noise.true_proba(scores))
        predicted[known] = classifier._decisions(scores)
        proba[known] = classifier._probabilities(scores)
    return predicted, proba


# Writing


def _write(table, classes, predicted, proba, path, given):
    """The predictions, or the whole table with its blanks filled in."""
    if path.name.lower().endswith(WHOLE) and given:
        _filled(table, classes, predicted, proba).to(path, scores=proba.max(axis=1))
        return
    columns = prediction_columns(table, classes, predicted, proba)
    if given:
        names = [str(name) for name in classes]
        columns += _given(table, names, predicted.ndim == 1)
    write_table(table_of(columns), path)


def prediction_columns(table, classes, predicted, proba, first=0):
    """Names and values of the columns we write; rows are counted from the first."""
    names = [str(name) for name in classes]
    taken = {*names, "predicted", "given", "filled"}
    known = row_names(table)
    known["row"] = range(first + 1, first + len(table) + 1)
    columns = [(free_name(k, taken), v) for k, v in known.items()]
    if predicted.ndim == 1:
        columns.append(("predicted", predicted))
    else:
        columns += zip(names, predicted.T)
    columns += zip(beside(names, "probability"), proba.T)
    return columns


def _given(table, names, single):
    """What the table says, and which cells were blank."""
    labels, form = table.labels, table.form
    blank = ~labels.observed
    if single:
        given = [("given", table.frame[form.columns[0]].to_numpy(dtype=object))]
        marks = np.where(blank.all(axis=1), form.columns[0], "")
        return [*given, ("filled", marks)]
    cells = np.where(blank, "", labels.values.astype(int).astype(object))
    given = [*zip(beside(names, "given"), cells.T)]
    known = np.array(names, dtype=object)
    marks = ["; ".join(known[row]) for row in blank]
    return [*given, (free_name("filled", set(names)), marks)]


def _filled(table, classes, predicted, proba):
    """The table with every blank filled in, and nothing else changed."""
    labels = table.labels
    if predicted.ndim == 1 and not labels.single:
        return table.with_labels((predicted[:, None] == classes).astype(int))
    known = labels.labeled if labels.single else labels.observed
    return table.with_labels(np.where(known, as_given(labels), predicted))


def _knows_rate(classifier):
    """Whether there is a share of wrong labels worth telling."""
    if not isinstance(classifier, MurkyClassifier) or classifier.noise == "none":
        return False
    return classifier.noise_rate is not None or classifier.noise_rate_ >= LEAST_TOLD


def _story(classifier, data, output, saved):
    labels = data.labels
    blank = ~labels.observed[data.asked]
    n_rows = int(blank.all(axis=1).sum())
    n_cells = int(blank[~blank.all(axis=1)].sum())
    learned = amount(np.count_nonzero(labels.labeled), "labelled sample")
    asked = [(n_rows, "other"), (n_cells, "single label")]
    predicted = " and ".join(amount(*each) for each in asked if each[0])
    lines = [
        f"{type(classifier).__name__} learned from {learned} and predicted {predicted}."
    ]
    y = labels_of(data.known, classifier)
    if isinstance(y, Annotations):
        lines.append(
            f"It weighed {len(y.rows):,} answers of {y.n_people:,} people by how good "
            "they are."
        )
    elif _learns_beliefs(data, classifier):
        lines.append(
            "What was decided in the review counts as certain, other labels by how "
            "probably they are right."
        )
    elif _knows_rate(classifier):
        how = "given" if classifier.noise_rate is not None else "estimated"
        # Entries are counted where a label is least expected: no more can be wrong.
        bound = "About" if labels.single or how == "given" else "At most"
        what = {
            "symmetric": "of the labels are wrong",
            "extra": "of the labels that do not apply are given",
            "missing": "of the labels that apply are not given",
        }[classifier.noise]
        lines.append(f"{bound} {classifier.noise_rate_:.0%} {what} ({how}).")
    lines.append(f"Predictions are in {output}, the model is in {saved}")
    return "\n".join(lines)
