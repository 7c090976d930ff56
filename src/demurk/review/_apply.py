"""A table with what was decided about it, and what changed by whom."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections import Counter
from dataclasses import dataclass
from typing import Any

from demurk.datasets._table_labels import as_given
from demurk.review._keys import row_keys
from demurk.review._standing import decided_labels
from demurk.utils._amounts import amount

__all__ = ["Applied", "apply_decisions"]


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
    keys = row_keys(table, store)
    labels, settled, used, disputed, lost = decided_labels(table, keys, decisions)
    notes = _notes(decisions)
    changes = []
    for row, _, verdict in used:
        first = verdict.settled[0]
        what = "changed" if _differs(first) else "kept"
        changes.append((row + 1, *_line(verdict, notes), what))
    for what, verdicts in (("disputed", disputed), ("row has changed", lost)):
        changes += [("", *_line(verdict, notes), what) for verdict in verdicts]
    new = table.with_labels(as_given(labels))
    new.checked = (settled, table.labels)
    return Applied(new, changes)


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
