"""Labels of several people: where they stand in a table, and what each one says."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from demurk.annotators._words import read_labels
from demurk.datasets._files import check_known
from demurk.datasets._table_cells import CellError, as_words
from demurk.datasets._table_features import Column
from demurk.datasets._table_form import LabelForm, all_empty, cut_name, shown_name
from demurk.datasets._table_labels import (
    CLASS_NAMES,
    PREFIX,
    _classes,
    cell_sets,
    find_form,
    is_marked,
    label_names,
    truth,
    truths,
)
from demurk.labels import labels_from_sets
from demurk.utils._optional import import_optional

__all__ = ["People", "find_people", "is_stem", "person_columns"]

# Columns that may tell samples apart in a table with a line per answer.
ROW_NAMES = ("row", "id", "item", "sample", "task", "unit", "document", "example")


@dataclass(frozen=True, eq=False)
class People:
    """What several people said about the rows of a table.

    Attributes
    ----------
    frame : data frame
        One row per sample, without what they said.
    form : LabelForm
        How one answer for all would stand in it.
    names : list of str
        The people.
    answers : tuple of ndarray
        Codes of shape (n_answers,), the place of the class that was given, or of shape
        (n_answers, n_labels), 1, 0 and -1 for each label; and of shape (n_answers,)
        which row an answer is about, and whose it is.
    classes : ndarray of shape (n_labels,)
        Classes or labels.
    columns : list of Column
        What became of the columns that are not in the frame.
    lines : ndarray of int or None
        The first line of each row, where a table has one for each answer.
    """

    frame: Any
    form: LabelForm
    names: list
    answers: tuple
    classes: np.ndarray
    columns: list
    lines: np.ndarray | None = None


def find_people(frame, path, said, row, annotator, drop, settings):
    """What several people said, or None where one column says all.

    Parameters
    ----------
    frame : data frame
        The cells.
    path : str
        The file, for errors.
    said : dict
        `labels`, `class_`, `tags` and `candidates` as the user gave them.
    row, annotator : str or None
        For a table with a line for each answer: which sample, and who.
    drop : sequence of str
        Columns that are no labels.
    settings : dict
        What else is known about the form.

    Returns
    -------
    people : People or None
        Their answers.
    """
    if annotator is not None:
        people = _long(frame, path, said, (row, annotator), drop, settings)
    elif row is not None:
        raise ValueError(
            f"--row {shown_name(row)} is for tables with a line for each answer: say "
            "with --annotator who answered, or leave it out."
        )
    else:
        people = _wide(frame, path, said, drop)
    if people is not None and not len(people.answers[0]):
        raise all_empty(people.form, path)
    return people


def person_columns(columns):
    """Columns that hold what a person says: what about, and who, by their names."""
    found = {}
    for column in columns:
        stem, _, person = str(column).partition("@")
        if stem.strip() and person.strip():
            found[column] = stem, person.strip()
    return found


def is_stem(stem, form):
    """Whether a column with this stem says something about such labels."""
    known = {column.partition("@")[0] for column in form.columns}
    marked = stem.startswith(PREFIX) or stem.lower() in CLASS_NAMES
    return marked or stem in known


# A column for each person


def _wide(frame, path, said, drop):
    columns = [str(column) for column in frame.columns if column not in drop]
    kind, chosen = _chosen(columns, said, path)
    people = list(dict.fromkeys(person for _, person in chosen.values()))
    if len(people) < 2:
        return None
    stems = list(dict.fromkeys(stem for stem, _ in chosen.values()))
    places = {}
    for column, (stem, person) in chosen.items():
        if kind == "class" and stem != stems[0]:
            raise ValueError(
                f"{path} has classes of several people in two forms ({stems[0]}@ and "
                f"{stem}@); say which with --class {shown_name(stems[0])} or --class "
                f"{shown_name(stem)}."
            )
        if places.setdefault((stem, person), column) != column:
            raise ValueError(
                f"{path} has two columns for {cut_name(person)!r}, "
                f"{cut_name(places[stem, person])!r} and {cut_name(column)!r}; "
                "rename one of them."
            )
    form = LabelForm(kind, tuple(stems))
    if kind == "class":
        cells = [frame[places[stems[0], person]] for person in people]
        words = np.concatenate([as_words(own) for own in cells])
        codes, classes = _class_codes(words, form, path)
        codes = codes.reshape(len(people), -1)
        rows, who = np.nonzero(codes.T >= 0)
        answers = codes[who, rows], rows, who
    else:
        # One person after the other: what nobody said is not kept.
        own = (_own_labels(frame, person, stems, places) for person in people)
        answers = read_labels(own)
        classes = np.array(label_names(form), dtype=object)
    return People(
        frame.drop(columns=list(chosen)),
        form,
        people,
        answers,
        classes,
        [Column(c, "label", f"what {who} says") for c, (_, who) in chosen.items()],
    )


def _chosen(columns, said, path):
    """The columns that are meant, and whether they hold classes or labels."""
    found = person_columns(columns)
    if not found or said["tags"] is not None or said["candidates"] is not None:
        return "class", {}
    if said["class_"] is not None:
        return "class", _stemmed(found, [said["class_"]], columns)
    if said["labels"] is not None:
        named = said["labels"]
        wanted = [named] if isinstance(named, (str, int)) else list(map(str, named))
        chosen = _stemmed(found, wanted, columns)
        starting = str(wanted[0]) if len(wanted) == 1 else ""
        if not chosen and starting not in ("", *columns):
            begun = [column for column in columns if column.startswith(starting)]
            if all(column in found for column in begun):
                chosen = {column: found[column] for column in begun}
        return "labels", chosen
    classes = {c: f for c, f in found.items() if f[0].lower() in CLASS_NAMES}
    marked = {c: f for c, f in found.items() if is_marked(f[0])}
    _refuse_mixtures(columns, classes, marked, path)
    return ("labels", marked) if marked else ("class", classes)


def _stemmed(found, wanted, columns):
    if any(name in columns for name in wanted):
        return {}
    return {column: parts for column, parts in found.items() if parts[0] in wanted}


def _refuse_mixtures(columns, classes, marked, path):
    """Two forms at once are an error that says which."""
    if classes and marked:
        raise ValueError(
            f"{path} could mean more than one thing by its labels: say which with "
            f"--class {shown_name(next(iter(classes.values()))[0])} or --labels "
            f"{PREFIX}."
        )
    for form, chosen in (("class", classes), ("labels", marked)):
        plain = [c for c in columns if c in {stem for stem, _ in chosen.values()}]
        if plain and len(chosen) > 1:
            raise ValueError(
                f"{path} has the column {cut_name(plain[0])!r} and those of several "
                f"people ({cut_name(next(iter(chosen)))!r}): say --{form} "
                f"{shown_name(plain[0])} for the first, or --drop "
                f"{shown_name(plain[0])} for theirs."
            )


def _class_codes(words, form, path):
    """Codes of classes, -1 where none is given, and the classes."""
    pd = import_optional("pandas", "tables")
    given = np.flatnonzero(words != "")
    read = _classes(pd.Series(words[given], dtype=object), form, path)
    codes = np.full(len(words), -1, dtype=np.int32)
    codes[given] = np.where(read.labeled, read.values.argmax(axis=1), -1)
    return codes, read.classes


def _own_labels(frame, person, stems, places):
    """1, 0 and -1 for each row and label, as one person says."""
    own = np.full((len(frame), len(stems)), -1, dtype=np.int8)
    for j, stem in enumerate(stems):
        column = places.get((stem, person))
        if column is not None:
            own[:, j] = truth(frame[column], column)
    return own


# A line for each answer


def _long(frame, path, said, who, drop, settings):
    row, annotator = who
    columns = [str(column) for column in frame.columns]
    check_known([annotator], columns, "--annotator", path)
    row = _row_column(columns, annotator, said, path) if row is None else row
    check_known([row], columns, "--row", path)
    rest = [c for c in columns if c not in (row, annotator)]
    known = frame[[c for c in rest if c not in drop]]
    form = replace(find_form(known, path, said), **settings)
    if form.form == "candidates":
        raise ValueError(
            f"--candidates and --annotator do not go together in {path}: candidates of "
            "several people are not weighed; say --tags if any number may be true."
        )
    pd = import_optional("pandas", "tables")
    samples, _ = pd.factorize(_filled(frame, row, "tells the samples apart"))
    who, names = pd.factorize(_filled(frame, annotator, "says who answered"))
    if len(names) < 2:
        raise ValueError(
            f"--annotator {shown_name(annotator)} names one person only "
            f"({cut_name(names[0])!r}): leave it out."
        )
    codes, classes, form = _answers(frame, form, path)
    given = codes >= 0 if codes.ndim == 1 else (codes >= 0).any(axis=1)
    lines = np.unique(samples, return_index=True)[1]
    known = np.flatnonzero(given)
    known = known[np.lexsort((who[known], samples[known]))]
    answers = codes[known], samples[known], who[known]
    _refuse_twice(samples, who, known, names, row, frame)
    kept, left = _constant(frame[rest], form.columns, samples, lines)
    left = [
        Column(row, "id", "tells the samples apart"),
        Column(annotator, "label", "says who answered"),
        *left,
    ]
    made = frame[[c for c in columns if c == row or c in kept]].iloc[lines]
    made = made.reset_index(drop=True)
    return People(made, form, list(names), answers, classes, left, lines)


def _row_column(columns, annotator, said, path):
    """The column that tells samples apart, if its name says so."""
    spoken = {annotator, *(v for v in said.values() if isinstance(v, str))}
    found = [
        c
        for c in columns
        if c not in spoken
        and (c.strip().lower() in ROW_NAMES or c.strip().lower().endswith("_id"))
    ]
    if len(found) == 1:
        return found[0]
    ways = [f"--row {shown_name(c)}" for c in found] or ["--row COLUMN"]
    raise ValueError(
        f"{path} does not say which lines are about the same sample: name the column "
        f"that tells samples apart with {' or '.join(ways[:4])}."
    )


def _filled(frame, column, what):
    """Words of a column that must have no gap."""
    words = as_words(frame[column])
    gaps = np.flatnonzero(words == "")
    if gaps.size:
        problem = f"is empty, but it {what}; fill it in."
        raise CellError(column, int(gaps[0]), problem)
    return words


def _answers(frame, form, path):
    """What each line says, the classes or labels, and the form with its separator."""
    if form.form == "class":
        codes, classes = _class_codes(as_words(frame[form.columns[0]]), form, path)
        return codes, classes, form
    if form.form == "tags":
        sets, form = cell_sets(frame[form.columns[0]], form)
        if not any(sets):
            raise ValueError(
                f"{path} has no labelled row: no cell of {form} holds a tag; fill in "
                "some."
            )
        Y, classes = labels_from_sets(sets)
        return np.asarray(Y, dtype=np.int8), classes, form
    codes = truths(frame, form.columns).astype(np.int8)
    return codes, np.array(label_names(form), dtype=object), form


def _refuse_twice(samples, who, known, names, row, frame):
    """Nobody answers about a sample twice; `known` are lines by sample and person."""
    same = (np.diff(samples[known]) == 0) & (np.diff(who[known]) == 0)
    if same.any():
        line = int(known[same.argmax() + 1])
        name = as_words(frame[row].iloc[[line]])[0]
        raise CellError(
            row,
            line,
            f"holds {name[:40]!r}, about which {cut_name(names[who[line]])!r} has "
            "answered before; keep one of the two lines.",
        )


def _constant(rest, labels, samples, lines):
    """Columns that say the same in all lines of a sample, and what became of others."""
    pd = import_optional("pandas", "tables")
    kept, left = [], []
    for column in rest.columns:
        if column in labels:
            continue
        try:
            codes, _ = pd.factorize(rest[column])
        except TypeError:  # lists
            codes, _ = pd.factorize(as_words(rest[column]))
        if (codes == codes[lines][samples]).all():
            kept.append(column)
        else:
            note = "differs between the lines of a sample"
            left.append(Column(column, "left out", note))
    return kept, left
