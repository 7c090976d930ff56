"""``demurk describe``: what a table holds and how it would be read."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from demurk.cli._annotators_story import agreement_line
from demurk.cli._console import say, show_table
from demurk.cli._input import features_of, read_input
from demurk.utils._amounts import amount

__all__ = ["describe_file"]

SHOWN_LABELS = 40
SHOWN_PAIRS = 10


def describe_file(source, **reading):
    """Say what became of each column, and what the labels are.

    Parameters
    ----------
    source : str
        File or name of a data set.
    **reading
        What is read how, as in `read_input`.
    """
    table = read_input(source, **reading)
    features = features_of(table)
    n_features = 0 if features is None else features.shape[1]
    say(f"{source}: {len(table):,} rows, {n_features:,} features.")
    _say_file(table)
    for column in table.columns:
        say(f"  {column}")
    if features is not None and table.leaks:
        names = ", ".join(map(repr, table.leaks))
        say(f"Warning: {names} says the same as a label.")
    if table.annotations is not None:
        _say_people(table.annotations)
    _say_labels(table)


def _say_people(said):
    """How many people there are, and how far they agree."""
    found = said.agreement(random_state=0)
    several = int((said.answers_per_row > 1).sum())
    say(
        f"{said.n_people:,} people gave {len(said.rows):,} answers; {several:,} rows "
        f"have several. {agreement_line(found.alpha, found.low, found.high, several)}"
    )
    people = found.people.head(SHOWN_LABELS)
    rows = [
        [name, f"{n:,}", f"{100 * same:.0f} %" if np.isfinite(same) else "", only or ""]
        for name, n, _, same, only in people.itertuples(index=False)
    ]
    columns = ["person", "answers", "others say the same", "only ever says"]
    show_table("People", columns, rows)


def _say_file(table):
    source = table.source
    if source.format == "text":
        d = source.dialect
        sep = {"\t": "tab"}.get(d.sep, repr(d.sep))
        say(f"Text: separator {sep}, decimal {d.decimal!r}, encoding {d.encoding}.")


def _say_labels(table):
    labels = table.labels
    what = {
        "labels": "several labels",
        "class": "one class",
        "tags": "several labels",
        "candidates": "candidates, one of them true",
    }[table.form.form]
    say(
        f"Labels ({table.form}): {what}; {labels.n_labels:,} in all, "
        f"{amount(int((~labels.labeled).sum()), 'row')} without any, "
        f"{amount(int((~labels.observed[labels.labeled]).sum()), 'single gap')}."
    )
    given = labels.values.sum(axis=0)
    gaps = (~labels.observed).sum(axis=0)
    order = np.argsort(-given, kind="stable")[:SHOWN_LABELS]
    rows = [[str(labels.classes[j]), f"{given[j]:.0f}", f"{gaps[j]:,}"] for j in order]
    show_table("Labels", ["label", "given", "not observed"], rows)
    if not labels.single and labels.n_labels > 1:
        _say_pairs(labels)


def _say_pairs(labels):
    """Labels that occur together most often."""
    together = np.triu(labels.values.T @ labels.values, 1)
    best = np.argsort(-together, axis=None, kind="stable")[:SHOWN_PAIRS]
    pairs = [divmod(int(k), labels.n_labels) for k in best if together.flat[k] > 0]
    names = labels.classes
    rows = [[f"{names[i]} + {names[j]}", f"{together[i, j]:.0f}"] for i, j in pairs]
    if rows:
        show_table("Together", ["labels", "rows"], rows)
