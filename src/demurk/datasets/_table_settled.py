"""One answer for all where several people gave labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import replace

import numpy as np

from demurk.annotators import Annotations, Consensus
from demurk.datasets._table_cells import as_words
from demurk.datasets._table_labels import as_given, read_labels
from demurk.datasets._table_write import relabelled
from demurk.labels import LabelData

__all__ = ["check_lines", "labels_among", "settled"]


def settled(people):
    """Put what people say together into their table.

    Parameters
    ----------
    people : People
        What each of them says.

    Returns
    -------
    frame : data frame
        With the label columns of `form`.
    form : LabelForm
        How the labels stand in it.
    labels : LabelData
        What they say together: the votes, weighed by how good each of them is.
    annotations : Annotations
        What each of them says.
    """
    annotations = Annotations(
        *people.answers,
        len(people.frame),
        np.array(people.names, dtype=str),
        people.classes,
        people.form.form == "class",
    )
    frame, columns = people.frame.copy(deep=False), []
    for name in people.form.columns:
        while name in frame.columns:
            name += " (consensus)"
        frame[name] = ""
        columns.append(name)
    form = replace(people.form, columns=tuple(columns))
    labels = consensus_labels(annotations, form.kind)
    blank = replace(labels, observed=np.zeros_like(labels.observed))
    said = relabelled(frame, form, blank, as_given(labels))
    return said, form, labels, annotations


def consensus_labels(annotations, kind):
    """What people say together, as labels."""
    model = Consensus("dawid-skene").fit(None, annotations)
    asked = annotations.votes()[1] > 0
    beliefs = np.where(asked, model.label_distributions_, 0.0)
    if annotations.single:
        values = np.zeros(beliefs.shape)
        values[np.arange(len(values)), beliefs.argmax(axis=1)] = 1.0
    else:
        values = (beliefs > 0.5).astype(float)
    values[~asked] = 0.0
    return LabelData(values, asked, annotations.classes, kind, annotations.single)


def labels_among(frame, form, before):
    """Labels of a frame among those that were known before: nobody may be left out."""
    names = {str(name): j for j, name in enumerate(before.classes)}
    values, observed = np.zeros((2, *before.values.shape))
    if form.form == "class":
        words = as_words(frame[form.columns[0]])
        known = np.flatnonzero(words != "")
        values[known, [names[word] for word in words[known]]] = 1.0
        observed[known] = 1.0
    else:
        read, _ = read_labels(frame, form, "The table")
        places = [names[str(name)] for name in read.classes]
        values[:, places] = read.values
        observed[:, places] = read.observed
        if form.form == "tags":
            observed[read.labeled] = 1.0
    return replace(before, values=values, observed=observed > 0)


def check_lines(people, source, options):
    """Refuse lines of answers where rows stand beside something else, or are shown."""
    if source.format in ("anndata", "label studio"):
        raise ValueError(
            f"{source.path} has a row per sample, so --annotator means nothing there: "
            "name a column for each person, as in class@anna."
        )
    for option in ("text", "image", "keep", "categorical"):
        for name in options.get(option, ()):
            if name not in people.frame.columns:
                raise ValueError(
                    f"Column {name!r} of {source.path}, named in --{option}, does not "
                    "say the same in all lines of a sample: leave it out."
                )
