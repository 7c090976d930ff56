"""A table with what was decided about it, and what changed by whom."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from demurk.review._keys import row_keys
from demurk.review._standing import Standing, decided_labels
from demurk.utils._amounts import amount

__all__ = ["Applied", "apply_decisions", "settled_mask"]


@dataclass(frozen=True, eq=False)
class Applied:
    """What became of the decisions.

    Attributes
    ----------
    table : Table
        The table with the decided labels.
    changes : list of tuple
        Row (from 1), key, label, given, decided, reviewers, time, notes, and what
        became of it: "changed", "kept", "disputed" or "row has changed".
    """

    table: Any
    changes: list

    @property
    def sentence(self):
        """The outcome in words."""
        count = Counter(line[-1] for line in self.changes)
        text = f"{amount(count['changed'], 'label')} changed, {count['kept']:,} kept"
        if count["disputed"]:
            text += f", {count['disputed']:,} left as they were, for reviewers disagree"
        if count["row has changed"]:
            lost = amount(count["row has changed"], "decision")
            text += f", {lost} left out where the row has gone or has changed"
        return f"{text}."


def apply_decisions(table, store):
    """Put all decisions into a table.

    Parameters
    ----------
    table : Table
        The table as it is now.
    store : Store
        Its decisions.

    Returns
    -------
    Applied
        The new table, and what changed.
    """
    decisions = store.since()
    standing = Standing()
    standing.take(decisions)
    keys = row_keys(table, store)
    values, used, disputed, lost = decided_labels(table, keys, standing)
    notes = _notes(decisions)
    changes = []
    for row, _, verdict in used:
        first = verdict.settled[0]
        what = "changed" if _differs(first) else "kept"
        changes.append((row + 1, *_line(verdict, notes), what))
    for what, verdicts in (("disputed", disputed), ("row has changed", lost)):
        changes += [("", *_line(verdict, notes), what) for verdict in verdicts]
    new = table.with_labels(_new_labels(table, values))
    new.checked = (settled_mask(values.shape, used), table.labels)
    return Applied(new, changes)


def settled_mask(shape, used):
    """Entries that a person has settled, of the rows and columns in use."""
    mask = np.zeros(shape, dtype=bool)
    for row, column, _ in used:
        mask[row, slice(None) if column is None else column] = True
    return mask


def _differs(decision):
    return set(decision.given.split("|")) != set(decision.decided.split("|"))


def _notes(decisions):
    """Remarks by place."""
    undone = {d.batch for d in decisions if d.action == "undo"}
    notes = {}
    for d in decisions:
        if d.note and d.batch not in undone:
            notes.setdefault((d.key, d.label), []).append(d.note)
    return notes


def _line(verdict, notes):
    settled = sorted(verdict.settled, key=lambda d: d.id)
    first, last = settled[0], settled[-1]
    return (
        first.key,
        first.label,
        last.given,
        " / ".join(dict.fromkeys(d.decided for d in settled)),
        ", ".join(d.reviewer for d in settled),
        last.time,
        " / ".join(notes.get((first.key, first.label), ())),
    )


def _new_labels(table, values):
    """As `Table.with_labels` takes them."""
    if not table.labels.single or table.form.form == "candidates":
        return values
    classes = table.labels.classes.astype(object)
    return np.where((values > 0).any(axis=1), classes[values.argmax(axis=1)], None)
