"""How the labels stand in a table, in the words of the command line."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import re
from dataclasses import dataclass

from demurk.utils._text import one_line

__all__ = [
    "LabelForm",
    "NoLabelsError",
    "all_empty",
    "check_names",
    "cut_name",
    "quoted",
    "refuse_dropped",
    "shown_name",
]

LONGEST_NAME = 60


def cut_name(name):
    """The name of a column on one line, cut where no sentence could hold it."""
    name = "".join(sign if sign.isprintable() else " " for sign in str(name))
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 3] + "..."


def quoted(text):
    """A text as a shell takes it."""
    return f"'{text}'" if re.search(r"[\s|;&()]", text) else text


def shown_name(column):
    """The name of a column as a shell takes it, for a sentence."""
    return quoted(cut_name(column))


def check_names(names, path):
    """Refuse two columns of one name."""
    seen = set()
    for name in names:
        if name in seen:
            raise ValueError(
                f"{path} has two columns {cut_name(name)!r}; rename one of them."
            )
        seen.add(name)


class NoLabelsError(ValueError):
    """Nothing says which column holds the labels, or no row has any."""


def all_empty(form, path):
    """The error for label columns in which nothing is given."""
    return NoLabelsError(
        f"{path} has no labelled row: all cells of {form} are empty; fill in some."
    )


@dataclass(frozen=True)
class LabelForm:
    """How the labels stand in a table.

    Parameters
    ----------
    form : {"labels", "class", "tags", "candidates", "none"}
        A column of 0 and 1 per label; one column of classes; one column of tags; one
        column of candidates, of which one is true; no labels.
    columns : tuple of str
        The columns.
    sep : str or None
        What separates tags or candidates; None for lists.
    none : str
        The word for "no tag at all".
    noise : str or None
        "extra" if some of the tags may be wrong.
    empty_list : {"no tag", "unlabelled"}
        What an empty list means.

    Examples
    --------
    >>> from demurk.datasets import LabelForm
    >>> print(LabelForm("class", ("species",)))
    --class species
    """

    form: str
    columns: tuple = ()
    sep: str | None = None
    none: str = "none"
    noise: str | None = None
    empty_list: str = "no tag"

    def __str__(self):
        return f"--{self.form} {quoted(one_line(','.join(self.columns)))}"

    @property
    def kind(self):
        """Kind of :class:`~demurk.labels.LabelData`."""
        if self.form == "candidates":
            return "candidates"
        return "extra" if self.noise == "extra" else "labels"


def refuse_dropped(path, said, drop):
    """Refuse a column that is named as a label and to be left out."""
    for option, names in said.items():
        listed = [names] if isinstance(names, str) else names
        for name in listed if isinstance(listed, list | tuple) else ():
            if name in drop:
                raise ValueError(
                    f"{path}: column {name!r} is named in --{option.rstrip('_')} and "
                    "in --drop; leave it out of one of them."
                )
