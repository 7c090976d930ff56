"""``demurk clean``: labels that are probably wrong, and a cleaned copy."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from demurk.audit import LabelAudit
from demurk.audit._suspects import suspect_frame, top_entries
from demurk.audit._words import UnknownRateWarning
from demurk.cli._clean_page import (
    audit_facts,
    audit_page,
    audit_story,
    filled_note,
    left_out_note,
    size_line,
)
from demurk.cli._console import note, say, shown_progress
from demurk.cli._input import _is_table, _label_option, read_input
from demurk.cli._map import _timed
from demurk.cli._output import (
    choose_neighbors,
    csv_text,
    files_read,
    free_name,
    safe_table,
    write_table,
)
from demurk.datasets._files import check_known
from demurk.datasets._tables import (
    _label_columns,
    _number,
    _numbers,
    _parquet_columns,
    _text_columns,
    table_bunch,
)
from demurk.labels import LabelData, check_labels
from demurk.projection import NMLSDR
from demurk.utils._files import OutputFolder, write_text

__all__ = ["FILES", "NOISES", "clean_file"]

# The summary is written last: where it is, all files of its run are there.
FILES = (
    "suspects.csv",
    "cleaned.csv",
    "label_distributions.csv",
    "audit.html",
    "summary.json",
)
NOISES = ("auto", "symmetric", "extra", "missing", "none")
# Length of each list where the number of wrong entries is not known.
UNKNOWN_REVIEW = 25


@dataclass(frozen=True, eq=False)
class Source:
    """What was read: data, labels, and the table they stand in."""

    data: Any  # Bunch
    labels: LabelData
    samples: list | None  # what each sample is, in words
    left_out: dict  # columns that cannot be features, and why
    table: pd.DataFrame | None  # the cells as they stand in the file
    label_columns: list  # their names there


@dataclass(frozen=True, eq=False)
class Findings:
    """What the audit says about each entry."""

    audit: LabelAudit
    estimated: bool  # whether a noise rate is known
    cleaned: np.ndarray  # bool (n, q), the labels after correction
    corrected: np.ndarray  # bool (n, q), what was corrected
    listed: np.ndarray  # bool (n, q), what is on the two lists
    suspects: pd.DataFrame


def clean_file(
    source,
    output,
    *,
    noise="auto",
    review=None,
    flip=0.8,
    text=None,
    seed=0,
    force=False,
    labels=None,
    drop=(),
    categorical=(),
    data_home=None,
):
    """Audit the labels of a data set; write suspects, a cleaned copy and a page.

    Parameters
    ----------
    source : str
        File or name of a data set; it is never changed.
    output : path-like
        Folder to write to.
    noise : str, default="auto"
        Kind of noise, one of `NOISES`; see :class:`demurk.audit.LabelAudit`.
    review : int, default=None
        Suspects to list; None for as many as are expected to be wrong. Corrected
        entries are always listed. Where the kind of noise or its rate is not known, so
        many of each list.
    flip : float, default=0.8
        Probability of being wrong above which the cleaned copy differs from the
        original; None corrects nothing.
    text : str, default=None
        Column of a table that says what a sample is; it is not a feature.
    seed : int, default=0
        Seed of the audit.
    force : bool, default=False
        Whether existing files may be replaced.
    labels, drop, categorical, data_home
        What is read how, as in `read_input`. Columns of a table that hold no numbers
        are left out with a message.
    """
    _check_options(noise, review, flip)
    originals = files_read(source, data_home=data_home)
    room = sum(path.stat().st_size for path in originals[:1])
    output = OutputFolder(output, FILES, read=originals, force=force, room=room)
    read = _read(source, text, labels, drop, categorical, data_home)
    X, n_filled = _features(read)
    audit = LabelAudit(noise, random_state=seed)
    with shown_progress(audit), warnings.catch_warnings():
        # It is said in the report.
        warnings.simplefilter("ignore", UnknownRateWarning)
        audit.fit(X, read.labels)
    found = _findings(audit, read, review, flip)
    search, sentence = choose_neighbors(X)
    if sentence:
        note(sentence)
    maps = _maps(X, read.labels, seed, search)
    facts = audit_facts(read, found, n_filled, maps, noise, flip, seed)
    facts["neighbors"] = search
    _write(output, source, read, found, maps, facts)
    story = [f"{facts['data']}: {size_line(facts)}", *audit_story(source, facts)]
    story.append(f"Open {output.path / 'audit.html'} in a browser.")
    say("\n".join(story))


def _check_options(noise, review, flip):
    if noise not in NOISES:
        raise ValueError(f"noise is '{noise}'; give one of {', '.join(NOISES)}.")
    if review is not None and review < 1:
        raise ValueError(f"review is {review}; give the number of suspects to list.")
    if flip is not None and not 0.5 <= flip <= 1:
        raise ValueError(
            f"flip is {flip}; give a probability from 0.5 to 1, or None to correct "
            "nothing."
        )


# Reading


def _read(source, text, labels, drop, categorical, data_home):
    path = Path(source)
    if path.is_file() and _is_table(path):
        return _read_table(path, text, _label_option(labels), drop, categorical)
    if text is not None:
        raise ValueError(
            f"--text names a column of a table, but {source} is none: leave it out."
        )
    data = read_input(
        source, labels=labels, drop=drop, categorical=categorical, data_home=data_home
    )
    return Source(data, _labels(data, source), None, {}, None, [])


def _read_table(path, text, labels, drop, categorical):
    """Read a table, leaving out the columns that hold no numbers."""
    is_parquet = path.suffix.lower() in (".parquet", ".pq")
    columns, place = (
        _parquet_columns(path)
        if is_parquet
        else _text_columns(path, True, None, "utf-8")
    )
    own = [] if text is None else [text]
    check_known([*drop], columns, "drop", path)
    check_known(own, columns, "text", path)
    names = [name for name in columns if name not in {*drop, *own}]
    label_columns, _ = _label_columns(names, labels, None, path)
    features = [name for name in names if name not in {*label_columns, *categorical}]
    reasons = {name: _flaw(columns[name], name, place, path) for name in features}
    left_out = {name: reason for name, reason in reasons.items() if reason}
    if len(left_out) + len(label_columns) == len(names):
        raise ValueError(
            f"{path} has no column of numbers beside its labels, so there is nothing "
            "to judge them by: add features, or name columns of categories."
        )
    drop = [*drop, *own, *left_out]
    data = table_bunch(columns, place, path, labels, None, drop, categorical)
    cells = pd.read_parquet(path) if is_parquet else pd.DataFrame(columns, dtype=object)
    cells.columns = [str(name) for name in cells.columns]
    samples = [str(cell) for cell in columns[text]] if own else None
    return Source(data, _labels(data, path), samples, left_out, cells, label_columns)


def _flaw(cells, name, place, path):
    """Why a column cannot be a feature, or nothing."""
    if name == "":
        return "has no name"
    try:
        return "is empty" if np.isnan(_numbers(cells, name, place, path)).all() else ""
    except ValueError:
        return f"holds {next(cell for cell in cells if _is_word(cell))[:30]!r}"


def _is_word(cell):
    try:
        _number(cell)
    except ValueError:
        return True
    return False


def _labels(data, source):
    """The labels as they are audited: a column each, or one class per sample."""
    if data.target.ndim == 1:
        names = np.array([*map(str, data.target_names), None], dtype=object)
        return check_labels(names[data.target], kind="noisy")
    if data.target.shape[1] == 0:
        raise ValueError(f"{source} has no label column: name them with --labels.")
    given, seen = data.target == 1, data.target != -1
    if seen.any() and given[seen].all():
        raise ValueError(
            f"No label of {source} is 0, and what is empty or -1 counts as not "
            "observed: write 0 where a sample does not have a label."
        )
    names = np.array([str(name) for name in data.target_names], dtype=object)
    return LabelData(given.astype(float), seen, names, "noisy", False)


def _features(read):
    """Features without gaps, and how many gaps were filled; says what was done."""
    X = read.data.data
    if read.left_out:
        note(left_out_note(read.left_out))
    n_filled = int(np.isnan(X.data if issparse(X) else X).sum())
    if n_filled:
        X = SimpleImputer(strategy="median", keep_empty_features=True).fit_transform(X)
        note(filled_note(n_filled))
    return X, n_filled


def _findings(audit, read, review, flip):
    given = read.labels.values > 0
    estimated = audit.estimated_
    cleaned = given if flip is None else audit._corrected_values(flip)
    listed = given != cleaned
    top = top_entries(audit.scores_, given, _limits(audit, given, review, estimated))
    listed[tuple(top.T)] = True
    entries = top_entries(np.where(listed, audit.scores_, np.nan), given, listed.sum())
    suspects = suspect_frame(
        entries, audit.scores_, audit.wrong_proba_, audit.classes_, audit._evidence
    )
    suspects["corrected"] = (given != cleaned)[tuple(entries.T)].astype(int)
    if read.samples is not None:
        texts = [read.samples[row] for row in suspects["row"]]
        suspects.insert(2, "sample", texts)
    return Findings(audit, estimated, cleaned, given != cleaned, listed, suspects)


def _limits(audit, given, review, estimated):
    """How many to list: in all where the two lists can be mixed, else of each."""
    if estimated and audit.noise_ != "uncertain":
        return audit.n_suspects_ if review is None else review
    if review is None and estimated:
        wrong = np.nan_to_num(audit.wrong_proba_)
        return {v: int(np.rint(wrong[given == v].sum())) for v in (0, 1)}
    return dict.fromkeys((0, 1), review or UNKNOWN_REVIEW)


def _maps(X, labels, seed, neighbors):
    """Two maps: what the features show, and what they show about the labels."""
    if X.shape[1] < 3:
        return {"features": X.toarray() if issparse(X) else X}
    maps, seconds = {}, {}
    X = StandardScaler(with_mean=not issparse(X)).fit_transform(X)
    if labels.n_labels > 1:
        with _timed("NMLSDR", seconds), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="n_components is 2")
            try:
                reducer = NMLSDR(2, neighbors=neighbors, n_jobs=-1)
                maps["NMLSDR"] = reducer.fit(X, labels).transform(X)
            except ValueError:
                pass  # constant labels point nowhere
    with _timed("PCA", seconds):
        small = min(X.shape) < 3
        X = X.toarray() if small and issparse(X) else X
        solver = "arpack" if issparse(X) else "auto"
        pca = PCA(min(2, *X.shape), svd_solver=solver, random_state=seed)
        maps["PCA"] = pca.fit_transform(X)
    return maps


# Telling


def _write(output, source, read, found, maps, facts):
    """Write all files; they appear together."""
    names = [str(name) for name in read.labels.classes]
    soft = pd.DataFrame(found.audit.label_distributions_, columns=names)
    soft.insert(0, free_name("row", names), range(len(soft)))
    page = audit_page(source, read, found, maps, facts)
    copy = _copy(read, found)
    with output.writing() as folder:
        write_table(found.suspects, folder / "suspects.csv")
        write_text(folder / "cleaned.csv", copy)
        write_table(soft, folder / "label_distributions.csv")
        write_text(folder / "audit.html", page)
        summary = json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
        write_text(folder / "summary.json", summary)


def _copy(read, found):
    """The data with cleaned labels; a table keeps all its columns and spellings."""
    labels, given = read.labels, read.labels.values > 0
    if read.table is not None:
        table = read.table.copy()
        for j in np.flatnonzero(found.corrected.any(axis=0)):
            name = read.label_columns[j]
            cells = table[name].tolist()
            seen = np.flatnonzero(labels.observed[:, j])
            spelling = {False: 0, True: 1} | {given[i, j]: cells[i] for i in seen[::-1]}
            for i in np.flatnonzero(found.corrected[:, j]):
                cells[i] = spelling[found.cleaned[i, j]]
            table[name] = pd.Series(cells, dtype=object, index=table.index)
        return csv_text(table, index=any(table.index.names))
    if issparse(read.data.data):
        table = pd.DataFrame({"row": range(labels.n_samples)})
    else:
        table = pd.DataFrame(read.data.data, columns=read.data.feature_names)
    taken = {str(name) for name in table.columns}
    if labels.single:
        best = labels.classes[found.cleaned.argmax(axis=1)]
        columns = {free_name("class", taken): np.where(labels.labeled, best, "")}
    else:
        values = np.where(labels.observed, found.cleaned.astype(int).astype(object), "")
        names = (free_name(f"label:{name}", taken) for name in labels.classes)
        columns = dict(zip(names, values.T))
    table = pd.concat([table, pd.DataFrame(columns)], axis=1)
    return csv_text(safe_table(table), index=False)
