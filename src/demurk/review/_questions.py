"""Questions about labels: their numbers, their words, and what answers mean."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np

__all__ = ["Filter", "Questions"]

KINDS = ("", "given", "missing")


@dataclass(frozen=True)
class Filter:
    """Which questions are asked.

    Attributes
    ----------
    label : str
        Only about this label, or about rows of this class.
    kind : {"", "given", "missing"}
        Only labels that are given but probably wrong, or missing but probably right.
    search : str
        Only rows whose cells hold these words.
    lasso : str
        Only rows inside the outline of this name.
    """

    label: str = ""
    kind: str = ""
    search: str = ""
    lasso: str = ""


class Questions:
    """The questions that a table can raise.

    A question has a number: ``row * n_labels + label`` for several labels, else the
    row.

    Parameters
    ----------
    labels : LabelData
        The labels as they were given.
    form : {"labels", "tags", "class", "candidates"}
        How they stand in the table.
    """

    def __init__(self, labels, form):
        self.labels, self.form = labels, form
        self.several = form in ("labels", "tags")
        self.names = [str(name) for name in labels.classes]
        self.columns = {name: j for j, name in enumerate(self.names)}
        self.width = len(self.names) if self.several else 1

    def __len__(self):
        return self.labels.n_samples * self.width

    def check(self, questions):
        """Refuse numbers that no question has."""
        for question in questions:
            if type(question) is not int or not 0 <= question < len(self):
                raise ValueError(f"There is no question {question} about this table.")

    def split(self, question):
        """Row and label of a question; the label is None where the row has one."""
        row, column = divmod(int(question), self.width)
        return row, column if self.several else None

    def number(self, row, column=None):
        """The question about a row, or about a label of it."""
        return row * self.width + (column or 0)

    def given(self, row, column=None):
        """What the table says at a place, as decisions keep it."""
        observed, values = self.labels.observed[row], self.labels.values[row]
        if not observed.any() or (column is not None and not observed[column]):
            return ""
        if column is not None:
            return str(int(values[column]))
        names = [self.names[j] for j in np.flatnonzero(values > 0)]
        return "|".join(sorted(names)) if self.form == "candidates" else names[0]

    def given_values(self, rows=slice(None)):
        """What the table says as 1, 0, and -1 for not observed."""
        observed, values = self.labels.observed[rows], self.labels.values[rows]
        return np.where(observed, values, -1).astype(np.int8)

    def write(self, values, row, column, decided):
        """Put what was decided into a matrix of 1, 0 and -1."""
        if column is not None:
            values[row, column] = int(decided)
            return
        parts = decided.split("|")
        chosen = [self.columns[name] for name in parts if name in self.columns]
        if chosen:
            values[row] = 0
            values[row, chosen] = 1

    def label(self, question):
        """The name of the label that a question is about, or an empty text."""
        column = self.split(question)[1]
        return "" if column is None else self.names[column]

    def mask(self, questions, chosen, rows):
        """Which of these questions pass a filter.

        Parameters
        ----------
        questions : ndarray of int
            Their numbers.
        chosen : Filter
            The filter.
        rows : ndarray of bool of shape (n_rows,) or None
            Rows that pass its search and its lasso.
        """
        row, column = np.divmod(questions, self.width)
        passed = np.ones(len(questions), dtype=bool) if rows is None else rows[row]
        values = self.labels.values
        if chosen.label:
            j = self.columns.get(chosen.label, -1)
            passed = passed & ((column == j) if self.several else values[row, j] > 0)
        if chosen.kind and self.several:
            wanted = 1 if chosen.kind == "given" else 0
            passed = passed & (values[row, column] == wanted)
        return passed

    def answer(self, question, action, decided=None, suggested=None):
        """What an action decides about a question.

        Parameters
        ----------
        question : int
            Its number.
        action : str
            "accept", "keep", "choose", "label", "skip", "unsure" or "note".
        decided : str, default=None
            The class or candidates, or for a label "0" or "1", where one is chosen.
        suggested : int, default=None
            The class that is suggested, where there is one per row.

        Returns
        -------
        decided : str
            As the store keeps it; empty where nothing is decided.
        """
        row, column = self.split(question)
        given = self.given(row, column)
        if action in ("skip", "unsure", "note"):
            return ""
        if action == "keep" and not given:
            raise ValueError(f"Row {row + 1} has no label to keep; choose one.")
        if action == "keep":
            return given
        if action == "accept" and given and column is not None:
            return str(1 - int(given))
        if action == "accept" and given and suggested is not None:
            return self.names[suggested]
        if action in ("choose", "label"):
            return self._checked(decided, column)
        raise ValueError(f"{action!r} is no answer about row {row + 1}.")

    def _checked(self, decided, column):
        if column is not None:
            fine = decided in ("0", "1")
        elif self.form == "candidates":
            fine = all(part in self.columns for part in str(decided).split("|"))
        else:
            fine = decided in self.columns
        if not fine:
            raise ValueError(f"{str(decided)[:40]!r} is no label of this table.")
        return decided

    # Words

    def sentence(self, question, near, values, suggested=None, chance=None):
        """Why it is asked, in a sentence."""
        row, column = self.split(question)
        if self.form == "candidates":
            best = self.names[suggested]
            return f"Of its candidates '{best}' is the most probable ({chance:.2f})."
        if column is None:
            best = self.names[suggested]
            likely = "probably" if chance >= 0.5 else "perhaps"
            text = f"Given '{self.given(row)}', {likely} '{best}' ({chance:.2f})"
            count = int((values[near, suggested] > 0).sum())
            return f"{text}; of its {len(near)} nearest rows {count} are '{best}'."
        name, given = self.names[column], self.labels.values[row, column] > 0
        near = near[values[near, column] >= 0]
        count = int((values[near, column] > 0).sum())
        if given:
            against = f"{len(near) - count} are not '{name}'"
            return f"Given '{name}'; of its {len(near)} nearest rows {against}."
        return f"Not given '{name}'; of its {len(near)} nearest rows {count} are."

    def plain(self, question):
        """The question without a reason, for those who must not be led."""
        row, column = self.split(question)
        if self.form == "candidates":
            return "Which of its candidates is the true one?"
        if column is None:
            return f"Given '{self.given(row)}'. Which class is it?"
        given = "Given" if self.labels.values[row, column] > 0 else "Not given"
        return f"{given} '{self.names[column]}'. Is that right?"
