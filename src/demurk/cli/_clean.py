"""``demurk clean``: labels that are probably wrong, and a cleaned copy."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.sparse import issparse

from demurk.cli._audit import find_suspects
from demurk.cli._clean_page import audit_facts, audit_page, audit_story, size_line
from demurk.cli._console import note, say
from demurk.cli._input import read_input, tell
from demurk.cli._map import fitted, plain_map, scaled, timed
from demurk.cli._output import (
    EXACT_ROWS,
    beliefs_table,
    choose_neighbors,
    csv_text,
    folder_with_copy,
    write_summary,
    write_table,
)
from demurk.datasets._table_labels import as_given
from demurk.projection import NMLSDR
from demurk.utils._files import write_text

__all__ = ["FILES", "NOISES", "clean_file"]

# The summary is written last: where it is, all files of its run are there.
COPY = "cleaned.csv"
FILES = (
    "suspects.csv",
    COPY,
    "label_distributions.csv",
    "audit.html",
    "summary.json",
)
NOISES = ("auto", "symmetric", "extra", "missing", "none")


def clean_file(
    source,
    output,
    *,
    noise="auto",
    review=None,
    flip=0.8,
    review_only=False,
    seed=0,
    force=False,
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
    review_only : bool, default=False
        Whether nothing is corrected, whatever `flip` says.
    seed : int, default=0
        Seed of the audit.
    force : bool, default=False
        Whether existing files may be replaced.
    **reading
        What is read how, as in `read_input`.
    """
    _check_options(noise, review, flip)
    flip = None if review_only else flip
    output, copy = folder_with_copy(source, output, FILES, COPY, force, reading)
    table = read_input(source, **reading)
    tell(table)
    X = table.features
    found = find_suspects(table, noise=noise, review=review, flip=flip, seed=seed)
    table = found.table
    search = choose_neighbors(X)
    maps = _maps(X, table.labels, seed, search)
    facts = audit_facts(table, found, maps, noise, flip, seed)
    facts |= {"neighbors": search, "copy": copy}
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
    X = scaled(X)
    if labels.n_labels > 1:
        if len(labels.values) > EXACT_ROWS:
            note(f"The map is learned from {EXACT_ROWS:,} of {X.shape[0]:,} samples.")
        # Constant labels point nowhere.
        with timed("NMLSDR", seconds), suppress(ValueError):
            rows = _mapped(labels.labeled, seed)
            values, observed = labels.values[rows], labels.observed[rows]
            part = replace(labels, values=values, observed=observed)
            model = NMLSDR(2, neighbors=neighbors, n_jobs=-1)
            maps["NMLSDR"] = fitted(model, X[rows], part).transform(X)
    with timed("PCA", seconds):
        maps["PCA"] = plain_map(X, seed)
    return maps


def _mapped(labeled, seed):
    """Rows that a linear map is learned from, labelled ones first."""
    if len(labeled) <= EXACT_ROWS:
        return slice(None)
    drawn = np.random.RandomState(seed).permutation(len(labeled))
    return drawn[np.argsort(~labeled[drawn], kind="stable")][:EXACT_ROWS]


# Telling


def _write(output, table, found, maps, facts):
    """Write all files; they appear together."""
    soft = beliefs_table(found.audit.label_distributions_, table.labels.classes)
    page = audit_page(table, found, maps, facts)
    with output.writing() as folder:
        write_table(_told(found, table.labels), folder / "suspects.csv")
        _write_copy(table, found, folder / facts["copy"])
        write_table(soft, folder / "label_distributions.csv")
        write_text(folder / "audit.html", page)
        write_summary(folder / "summary.json", facts)


def _told(found, labels):
    """Suspects as people speak of them: a class is given, not a label with a 1."""
    suspects = found.suspects
    if not found.audit.estimated_:
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
    copy = table.with_labels(as_given(replace(labels, values=cleaned)))
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
