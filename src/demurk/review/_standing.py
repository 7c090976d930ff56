"""What stands after all decisions and undos, and the labels that follow from it."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from demurk.review._store import SETTLED

__all__ = ["Standing", "Verdict", "decided_labels", "given_text", "verdict_of"]


class Standing:
    """Decisions by place, a place being the key of a row and a label."""

    def __init__(self):
        self.last, self.reviewers = 0, set()
        self._by_place = defaultdict(list)
        self._by_batch = defaultdict(set)
        self._undone = set()

    def take(self, decisions):
        """Take further decisions in; returns the places that they are about."""
        places = set()
        for decision in decisions:
            self.last = max(self.last, decision.id)
            if decision.action == "undo":
                self._undone.add(decision.batch)
                places |= self._by_batch[decision.batch]
            elif decision.action != "note":
                self.reviewers.add(decision.reviewer)
                place = (decision.key, decision.label)
                self._by_place[place].append(decision)
                self._by_batch[decision.batch].add(place)
                places.add(place)
        return places

    def places(self):
        """Every place that was ever decided about."""
        return list(self._by_place)

    def of(self, place):
        """For each reviewer the last decision that was not undone.

        A skip counts only where nothing was settled.
        """
        own = {}
        for decision in self._by_place.get(place, ()):
            if decision.batch in self._undone:
                continue
            before = own.get(decision.reviewer)
            settled = before is not None and before.action in SETTLED
            if not settled or decision.action in SETTLED:
                own[decision.reviewer] = decision
        return own


@dataclass(frozen=True)
class Verdict:
    """What the reviewers say together about a place.

    Attributes
    ----------
    decided : str or None
        What it is; None where they disagree or nobody settled it.
    settled : tuple of Decision
        The decisions behind it.
    """

    decided: str | None
    settled: tuple

    @property
    def disputed(self):
        """Whether reviewers say different things."""
        return bool(self.settled) and self.decided is None


def verdict_of(own):
    """The verdict of the decisions in force at one place."""
    settled = tuple(d for d in own.values() if d.action in SETTLED)
    said = {d.decided for d in settled}
    return Verdict(said.pop() if len(said) == 1 else None, settled)


def given_text(labels, form, row, column=None):
    """What the table says at a place, as decisions keep it."""
    if not labels.observed[row].any():
        return ""
    if column is not None:
        if not labels.observed[row, column]:
            return ""
        return str(int(labels.values[row, column]))
    names = [str(labels.classes[j]) for j in np.flatnonzero(labels.values[row] > 0)]
    return "|".join(sorted(names)) if form == "candidates" else names[0]


def entry_of(place, keys, columns, verdict, labels, form):
    """Row and column of a place in the table as it is now, or None.

    None where the row has gone, or where its cells or its label have changed since.
    """
    if not verdict.settled:
        return None
    latest = max(verdict.settled, key=lambda d: d.id)
    row = keys.find(latest)
    column = columns.get(place[1]) if place[1] else None
    if row is None or (place[1] and column is None):
        return None
    now = given_text(labels, form, row, column)
    return (row, column) if now in (latest.given, verdict.decided) else None


def write_decided(values, row, column, decided, columns):
    """Put what was decided into a matrix of 1, 0 and -1."""
    if column is not None:
        values[row, column] = int(decided)
        return
    chosen = [columns[name] for name in decided.split("|") if name in columns]
    if chosen:
        values[row] = 0
        values[row, chosen] = 1


def decided_labels(table, keys, standing):
    """The labels of a table after all decisions.

    Parameters
    ----------
    table : Table
        The table as it is now.
    keys : RowKeys
        Names of its rows.
    standing : Standing
        The decisions.

    Returns
    -------
    values : ndarray of shape (n_rows, n_labels)
        1, 0, and -1 for not observed.
    used : list of (row, column or None, Verdict)
        What was taken from the decisions, by row.
    disputed, lost : list of Verdict
        Where reviewers disagree, and what fits no row any more; both change nothing.
    """
    labels, form = table.labels, table.form.form
    values = np.where(labels.observed, labels.values, -1).astype(np.int8)
    columns = {str(name): j for j, name in enumerate(labels.classes)}
    used, disputed, lost = [], [], []
    for place in standing.places():
        verdict = verdict_of(standing.of(place))
        if not verdict.settled:
            continue
        if verdict.disputed:
            disputed.append(verdict)
            continue
        entry = entry_of(place, keys, columns, verdict, labels, form)
        if entry is None:
            lost.append(verdict)
            continue
        write_decided(values, *entry, verdict.decided, columns)
        used.append((*entry, verdict))
    used.sort(key=lambda item: (item[0], -1 if item[1] is None else item[1]))
    return values, used, disputed, lost
