"""``demurk clean``: labels that are probably wrong, and a cleaned copy."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.preprocessing import StandardScaler

from demurk.cli._audit import find_suspects
from demurk.cli._clean_page import audit_facts, audit_page, audit_story, size_line
from demurk.cli._console import note, say
from demurk.cli._input import labels_for, read_input, tell
from demurk.cli._map import _timed, plain_map
from demurk.cli._output import (
    EXACT_ROWS,
    choose_neighbors,
    csv_text,
    files_read,
    free_name,
    write_table,
)
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
# Formats in which the cleaned copy is written as the original was.
COPIES = (".tsv", ".xlsx", ".parquet", ".feather", ".jsonl", ".json", ".h5ad")
NOISES = ("auto", "symmetric", "extra", "missing", "none")


def clean_file(
    source,
    output,
    *,
    noise="auto",
    review=None,
    flip=0.8,
    seed=0,
    force=False,
    data_home=None,
    **reading,
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
    seed : int, default=0
        Seed of the audit.
    force : bool, default=False
        Whether existing files may be replaced.
    data_home, **reading
        What is read how, as in `read_input`.
    """
    _check_options(noise, review, flip)
    originals = files_read(source, data_home=data_home)
    room = sum(path.stat().st_size for path in originals[:1])
    ending = copy_ending(source)
    files = [name.replace("cleaned.csv", f"cleaned{ending}") for name in FILES]
    output = OutputFolder(output, files, read=originals, force=force, room=room)
    table = read_input(source, data_home=data_home, **reading)
    tell(table)
    X = table.features
    found = find_suspects(table, noise=noise, review=review, flip=flip, seed=seed)
    table = found.table
    search, sentence = choose_neighbors(X)
    if sentence:
        note(sentence)
    maps = _maps(X, table.labels, seed, search)
    facts = audit_facts(table, found, maps, noise, flip, seed)
    facts |= {"neighbors": search, "copy": f"cleaned{ending}"}
    _write(output, table, found, maps, facts)
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


def _maps(X, labels, seed, neighbors):
    """Two maps: what the features show, and what they show about the labels."""
    if X.shape[1] < 3:
        return {"features": X.toarray() if issparse(X) else X}
    maps, seconds = {}, {}
    X = StandardScaler(with_mean=not issparse(X)).fit_transform(X)
    if labels.n_labels > 1:
        if len(labels.values) > EXACT_ROWS:
            note(f"The map is learned from {EXACT_ROWS:,} of {X.shape[0]:,} samples.")
        with _timed("NMLSDR", seconds), warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="n_components is 2")
            try:
                model = NMLSDR(2, neighbors=neighbors, n_jobs=-1)
                rows = _mapped(labels.labeled, seed)
                values, observed = labels.values[rows], labels.observed[rows]
                part = replace(labels, values=values, observed=observed)
                model.fit(X[rows], labels_for(part, model))
                maps["NMLSDR"] = model.transform(X)
            except ValueError:
                pass  # constant labels point nowhere
    with _timed("PCA", seconds):
        maps["PCA"] = plain_map(X, seed)
    return maps


def _mapped(labeled, seed):
    """Rows that a linear map is learned from, labelled ones first."""
    if len(labeled) <= EXACT_ROWS:
        return slice(None)
    drawn = np.random.RandomState(seed).permutation(len(labeled))
    return drawn[np.argsort(~labeled[drawn], kind="stable")][:EXACT_ROWS]


# Telling


def copy_ending(source):
    """A copy has the format of the original, where that holds tables."""
    name = Path(str(source)).name.lower().removesuffix(".gz")
    return next((end for end in COPIES if name.endswith(end)), ".csv")


def _write(output, table, found, maps, facts):
    """Write all files; they appear together."""
    names = [str(name) for name in table.labels.classes]
    soft = pd.DataFrame(found.audit.label_distributions_, columns=names)
    soft.insert(0, free_name("row", names), range(1, len(soft) + 1))
    page = audit_page(table, found, maps, facts)
    with output.writing() as folder:
        write_table(_told(found, table.labels), folder / "suspects.csv")
        _write_copy(table, found, folder / facts["copy"])
        write_table(soft, folder / "label_distributions.csv")
        write_text(folder / "audit.html", page)
        summary = json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
        write_text(folder / "summary.json", summary)


def _told(found, labels):
    """Suspects as people speak of them: a class is given, not a label with a 1."""
    suspects = found.suspects
    if not found.estimated:
        # Not zero: nobody knows.
        suspects = suspects.assign(wrong_proba=np.nan)
    if not labels.single:
        return suspects
    return suspects.drop(columns=["list", "given"]).rename(columns={"label": "given"})


def _write_copy(table, found, path):
    """The table with cleaned labels; it keeps all its columns and spellings."""
    labels, cleaned = table.labels, found.cleaned
    if table.source.format == "label studio":
        # Annotators see every suspect, as a suggestion beside what they said.
        cleaned = np.where(found.listed, labels.values < 1, cleaned)
    if labels.single:
        best = labels.classes[cleaned.argmax(axis=1)].astype(object)
        new = np.where(labels.labeled, best, None)
    else:
        new = np.where(labels.observed, cleaned.astype(int), -1)
    copy = table.with_labels(new)
    if table.source.format != "bunch":
        copy.to(path, scores=1 - np.nan_to_num(found.audit.wrong_proba_).max(axis=1))
        return
    frame = copy.frame
    if not issparse(table.features):
        features = pd.DataFrame(table.features, columns=table.feature_names)
        frame = pd.concat([features, frame], axis=1)
    else:
        frame.insert(0, "row", range(1, len(frame) + 1))
    write_text(path, csv_text(frame.replace(-1, ""), index=False))
