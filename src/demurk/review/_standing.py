"""What stands after all decisions and undos, and the labels that follow from it."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections import defaultdict
from dataclasses import dataclass, replace

import numpy as np

from demurk.review._questions import Questions
from demurk.review._store import SETTLED

__all__ = ["Standing", "Verdict", "decided_labels", "entry_of", "verdict_of"]


class Standing:
    """Decisions by place, a place being the key of a row and a label."""

    def __init__(self, decisions=()):
        self.last, self.reviewers = 0, set()
        self._by_place = defaultdict(list)
        self._by_batch = defaultdict(set)
        self._undone = set()
        self.take(decisions)

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

    def fits(self, row, column, keys, questions):
        """Whether it is about that row, its cells and its label as they are now."""
        if not self.settled:
            return False
        latest = max(self.settled, key=lambda d: d.id)
        now = questions.given(row, column)
        return keys.find(latest) == row and now in (latest.given, self.decided)


def verdict_of(own):
    """The verdict of the decisions in force at one place."""
    settled = tuple(d for d in own.values() if d.action in SETTLED)
    said = {d.decided for d in settled}
    return Verdict(said.pop() if len(said) == 1 else None, settled)


def entry_of(place, keys, questions):
    """Row and column of a place in the table as it is now; None if it has gone."""
    key, label = place
    row = keys.places.get(key)
    column = questions.columns.get(label) if label else None
    return None if row is None or (label and column is None) else (row, column)


def decided_labels(table, keys, decisions):
    """The labels of a table after all decisions.

    Parameters
    ----------
    table : Table
        The table as it is now.
    keys : RowKeys
        Names of its rows.
    decisions : list of Decision
        All that were made about it.

    Returns
    -------
    labels : LabelData
        Those of the table, but for what was decided.
    settled : ndarray of bool of shape (n_rows, n_labels)
        Entries that a person has settled.
    used : list of (row, column or None, Verdict)
        What was taken from the decisions, by row.
    disputed, lost : list of Verdict
        Where reviewers disagree, and what fits no row any more; both change nothing.
    """
    questions = Questions(table.labels, table.form.form)
    values, standing = questions.given_values(), Standing(decisions)
    settled = np.zeros(values.shape, dtype=bool)
    used, disputed, lost = [], [], []
    for place in standing.places():
        verdict = verdict_of(standing.of(place))
        if not verdict.settled:
            continue
        if verdict.disputed:
            disputed.append(verdict)
            continue
        entry = entry_of(place, keys, questions)
        if entry is None or not verdict.fits(*entry, keys, questions):
            lost.append(verdict)
            continue
        row, column = entry
        questions.write(values, row, column, verdict.decided)
        settled[row, slice(None) if column is None else column] = True
        used.append((row, column, verdict))
    used.sort(key=lambda item: (item[0], -1 if item[1] is None else item[1]))
    now = {"values": (values > 0).astype(float), "observed": values >= 0}
    return replace(table.labels, **now), settled, used, disputed, lost
