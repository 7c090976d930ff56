"""Decisions to and from files: a log of our own, and what annotation tools write."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import csv
from dataclasses import asdict
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from demurk.datasets import Table, read_table
from demurk.datasets._table_cells import as_words
from demurk.datasets._table_labels import label_lists
from demurk.review._keys import row_keys
from demurk.review._questions import Questions
from demurk.review._store import ACTIONS, WRITTEN, Decision, shown_text
from demurk.utils._text import FORMULA

__all__ = ["export_decisions", "export_table", "import_decisions"]


def export_decisions(store, path):
    """Write every decision and every undo, in order, as CSV."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, WRITTEN, extrasaction="ignore")
        writer.writeheader()
        for decision in store.since():
            cells = asdict(decision).items()
            writer.writerow({name: _guarded(str(cell)) for name, cell in cells})


def _guarded(cell):
    """A cell that no spreadsheet runs; `_import_log` takes the apostrophe away."""
    return f"'{cell}" if cell.startswith((*FORMULA, "'")) else cell


def export_table(table, path):
    """Write a table for Label Studio (``.json``) or doccano (``.jsonl``)."""
    frame = table.frame.drop(columns=list(table.form.columns))
    if "label" in frame.columns:
        raise ValueError(
            f"{table.source.path} has a column 'label' beside its labels, which the "
            "tools need for themselves; rename it."
        )
    frame["label"] = label_lists(table.labels)
    tool = "label studio" if str(path).endswith(".json") else "doccano"
    Table(frame, tags="label").to(path, format=tool)


def import_decisions(path, table, store, reviewer):
    """Add the decisions of a file.

    Parameters
    ----------
    path : path-like
        A log of :func:`export_decisions`, or an export of Label Studio or doccano.
    table : Table
        The table that they are about.
    store : Store
        Where they go.
    reviewer : str
        Who annotated, if the file does not say.

    Returns
    -------
    n_added : int
        How many decisions were new.
    """
    if str(path).endswith(".csv"):
        return _import_log(path, store)
    return _import_annotations(path, table, store, reviewer)


def _import_log(path, store):
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != WRITTEN:
            raise ValueError(
                f"{path} is no log of decisions: its columns must be "
                f"{', '.join(WRITTEN)}."
            )
        rows = list(reader)
    for number, row in enumerate(rows, 2):
        if row["action"] not in (*ACTIONS, "undo") or None in row.values():
            raise ValueError(
                f"{path}, line {number}: the action is {str(row['action'])[:40]!r}; it "
                f"must be one of {', '.join(sorted(ACTIONS))} or undo."
            )
    known = {(d.batch, d.action, d.key, d.label) for d in store.since()}
    new = [
        Decision(**{name: cell.removeprefix("'") for name, cell in row.items()})
        for row in rows
    ]
    new = [d for d in new if (d.batch, d.action, d.key, d.label) not in known]
    for batch, together in groupby(new, attrgetter("batch")):
        store.add(list(together), batch=batch)
    return len(new)


def _import_annotations(path, table, store, reviewer):
    """Every annotated row is a decision about each of its labels."""
    path = Path(path)
    other = read_table(path)
    keys = row_keys(table, store)
    places = _matched(table, other, keys, path)
    questions = Questions(table.labels, table.form.form)
    theirs = [str(name) for name in other.labels.classes]
    unknown = sorted(set(theirs) - set(questions.names))
    if unknown:
        raise ValueError(f"{path} has the label {unknown[0]!r}, which the table lacks.")
    facts = {"reviewer": reviewer, "shown": shown_text(file=path.name)}
    made, lists = [], label_lists(other.labels)
    for place, row in places:
        for label, column, decided in _said(lists[place], questions, path, place):
            given = questions.given(row, column)
            action = "keep" if given == decided else "choose" if given else "label"
            about = keys.keys[row], keys.cells[row], label
            made.append(Decision(action, *about, given, decided, **facts))
    if made:
        store.add(made)
    return len(made)


def _said(chosen, questions, path, place):
    """Label, column and decision for the labels that were chosen."""
    if questions.several:
        names = enumerate(questions.names)
        return [(n, j, str(int(n in chosen))) for j, n in names]
    if questions.form == "class" and len(chosen) != 1:
        raise ValueError(
            f"{path}, row {place + 1}: {len(chosen)} classes were chosen, but a row "
            "has one."
        )
    return [("", None, "|".join(sorted(chosen)))]


def _matched(table, other, keys, path):
    """Rows of the file that are labelled, with their rows in the table."""
    named = [(role, name) for role in ("id", "text") for name in table.named(role)]
    shared = [(role, name) for role, name in named if name in other.frame.columns]
    if not shared:
        raise ValueError(
            f"{path} has neither an id nor a text column of {table.source.path}, "
            "so its rows cannot be told apart; export them with one."
        )
    role, name = shared[0]
    known = {}
    for row, word in enumerate(as_words(table.frame[name])):
        # Rows of the same text cannot be told apart.
        known[word] = None if role == "text" and word in known else row
    words = as_words(other.frame[name])
    found = [(place, known.get(word)) for place, word in enumerate(words)]
    labeled = other.labels.labeled
    return [(place, row) for place, row in found if row is not None and labeled[place]]
