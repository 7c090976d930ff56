"""Who said what about a row, in words."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import cached_property

from demurk.annotators._sums import grouping

__all__ = ["WhoSaid"]

SHOWN_PEOPLE = 6


class WhoSaid:
    """What several people said about each row.

    Parameters
    ----------
    annotations : Annotations
        What they said.
    """

    def __init__(self, annotations):
        self._said = annotations

    @cached_property
    def _by_row(self):
        """Which answers are about which row."""
        return grouping(self._said.rows, self._said.n_rows)

    def groups(self, row, column=None):
        """Answers about a row and who gave them, the most frequent first.

        Parameters
        ----------
        row : int
            The row.
        column : int, default=None
            With several labels, the one that is asked about; None for all at once.

        Returns
        -------
        groups : dict of str to list of str
            Answer to names.
        """
        said = self._said
        places, begins = self._by_row.indices, self._by_row.indptr
        found = {}
        for place in places[begins[row] : begins[row + 1]]:
            answer = self._answer(said.codes[place], column)
            if answer is not None:
                name = str(said.names[said.people[place]])
                found.setdefault(answer, []).append(name)
        return dict(sorted(found.items(), key=lambda item: -len(item[1])))

    def _answer(self, code, column):
        classes = self._said.classes
        if self._said.single:
            return f"'{classes[code]}'"
        if column is not None:
            return {1: "yes", 0: "no"}.get(int(code[column]))
        given = [f"'{name}'" for name in classes[code == 1]]
        return " and ".join(given) or "no label"

    def sentence(self, row, column=None):
        """The same as a sentence; empty where nobody said anything.

        Parameters
        ----------
        row : int
            The row.
        column : int, default=None
            The label that is asked about.

        Returns
        -------
        sentence : str
            Such as "anna and ben say 'calm', cleo says 'happy'."
        """
        parts = [
            f"{_listed(people)} {'say' if len(people) > 1 else 'says'} {answer}"
            for answer, people in self.groups(row, column).items()
        ]
        return f"{', '.join(parts)}." if parts else ""


def _listed(people):
    if len(people) > SHOWN_PEOPLE:
        more = len(people) - SHOWN_PEOPLE + 1
        people = [*people[: SHOWN_PEOPLE - 1], f"{more} more"]
    *first, last = people
    return f"{', '.join(first)} and {last}" if first else last
