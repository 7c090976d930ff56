"""Labels of a table: which columns hold them, and what their cells mean."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import re
from collections import Counter
from dataclasses import replace
from numbers import Integral

import numpy as np

from demurk.datasets._files import MISSING, check_known
from demurk.datasets._table_cells import LISTS, CellError, as_words, holds_lists
from demurk.datasets._table_form import (
    LabelForm,
    NoLabelsError,
    all_empty,
    quoted,
    shown_name,
)
from demurk.labels import LabelData, check_labels, labels_from_sets
from demurk.labels._form import LabelForm as PlainForm
from demurk.utils._nesting import parse_text

PREFIX = "label:"
CLASS_NAMES = ("class", "label", "target", "y", "category")
TAG_NAMES = ("labels", "tags", "label")
TAG_SEPARATORS = ("|", ";", ",", "/")
TRUE = frozenset({"1", "1.0", "true", "t", "yes", "y"})
FALSE = frozenset({"0", "0.0", "false", "f", "no", "n"})
UNKNOWN = MISSING | {"-1", "-1.0"}
MEANING = dict.fromkeys(TRUE, 1.0) | dict.fromkeys(FALSE, 0.0)
MEANING |= dict.fromkeys(UNKNOWN, -1.0)
# A class should have a few samples; a column of measurements has none twice.
MANY_CLASSES = 50
FEW_NUMBERS = 10
# What an error has room for.
LONG_FORM, SHOWN_WAYS = 60, 4


# Finding


def find_form(frame, name, said):
    """Which columns hold labels in which form; an error that names the choices.

    `said` holds what was given as `labels`, `class_`, `tags` and `candidates`, or None.
    """
    said = {f"--{key.rstrip('_')}": v for key, v in said.items() if v is not None}
    if len(said) > 1:
        raise ValueError(
            f"{' and '.join(said)} say two different things about the labels of "
            f"{name}; give one of them."
        )
    columns = [str(column) for column in frame.columns]
    if not said:
        return _found_form(frame, columns, name)
    option, value = said.popitem()
    if option == "--labels":
        return LabelForm("labels", tuple(_named_labels(value, columns, name)))
    check_known([value], columns, option, name)
    return LabelForm(option[2:], (value,))


def _named_labels(labels, columns, name):
    """Columns of `--labels`: names, a number at the end, or a prefix."""
    if isinstance(labels, Integral) and not isinstance(labels, bool):
        if not 0 <= labels < len(columns):
            raise ValueError(
                f"{name} cannot have {labels} labels among its {len(columns)} columns."
            )
        return columns[len(columns) - labels :]
    wanted = [labels] if isinstance(labels, str) else [str(label) for label in labels]
    if len(wanted) == 1 and wanted[0] not in columns:
        found = [column for column in columns if column.startswith(wanted[0])]
        if found and wanted[0]:
            return found
    check_known(wanted, columns, "--labels", name)
    known = set(wanted)
    return [column for column in columns if column in known]


def is_marked(column):
    """Whether the name of a column says that it is a label."""
    return column.startswith(PREFIX) and column != PREFIX


def _found_form(frame, columns, name):
    """The form that nobody has to say."""
    marked = [c for c in columns if is_marked(c)]
    prefixed = [c for c in marked if "@" not in c] or marked
    called = [c for c in columns if c.strip().lower() in CLASS_NAMES]
    lists = [c for c in columns if c.lower() in TAG_NAMES and holds_lists(frame[c])]
    called = [c for c in called if c not in lists]
    ways = [LabelForm("labels", (PREFIX,))] if prefixed else []
    ways += [LabelForm("class", (c,)) for c in called]
    ways += [_list_form(frame[c]) for c in lists]
    if len(ways) > 1:
        raise ValueError(
            f"{name} could mean more than one thing by its labels: say which with "
            f"{' or '.join(map(str, ways))}."
        )
    if prefixed:
        return LabelForm("labels", tuple(prefixed))
    if ways:
        return ways[0]
    raise NoLabelsError(no_labels(frame, name))


def _list_form(cells):
    """Classes where no list has two members, as annotation tools write them."""
    single = all(len(cell) < 2 for cell in cells if isinstance(cell, LISTS))
    return LabelForm("class" if single else "tags", (str(cells.name),))


def _together(columns):
    """Columns of several people under one name: feel for feel@anna and feel@ben."""
    stems = {column: column.partition("@")[0] for column in columns}
    counts = Counter(stem for column, stem in stems.items() if stem not in (column, ""))
    names = [stems[c] if counts[stems[c]] > 1 else c for c in columns]
    return list(dict.fromkeys(names))


def no_labels(frame, name):
    """What to say where no column is known to hold labels."""
    truths, words, lists = [], [], []  # lists: forms of columns with several per cell
    for j, column in enumerate(map(str, frame.columns)):
        cells = frame.iloc[:2000, j]
        if holds_lists(cells):
            lists.append([LabelForm("tags", (column,))])
            continue
        distinct = {word for word in as_words(cells) if word.lower() not in UNKNOWN}
        plain = {word.lower() for word in distinct}
        if distinct and plain <= TRUE | FALSE:
            truths.append(column)
            continue
        if forms := _several(distinct, len(cells)):
            lists.append([LabelForm(form, (column,)) for form in forms])
        if _few(distinct, len(cells)):
            words.append(column)
    ways = [LabelForm("labels", tuple(truths[-8:]))] if truths else []
    ways += lists[-1] if lists else []
    # Labels mostly stand behind what they are about.
    ways += [LabelForm("class", (column,)) for column in reversed(_together(words))]
    # A name with a line break, or a very long one, is none to type.
    ways = [w for w in ways if len(str(w)) <= LONG_FORM and str(w).isprintable()]
    ways = ways[:SHOWN_WAYS]
    first = f"{name} does not say which column holds the labels"
    if not ways:
        return (
            f"{first}, and none looks like one; name it with --labels, --class, --tags "
            "or --candidates."
        )
    commands = [f"demurk COMMAND {quoted(name)} {way}" for way in ways]
    return f"{first}: try `{'`, `'.join(commands)}`."


def _several(distinct, n_rows):
    """What cells that hold several values may be, the likely form first; or nothing."""
    forms = {"|": ("candidates", "tags"), ";": ("tags", "candidates"), ", ": ("tags",)}
    for mark, names in forms.items():
        cut = [{part.strip() for part in word.split(mark)} - {""} for word in distinct]
        if all(len(members) < 2 for members in cut):
            continue
        members = set().union(*cut)
        recur = sum(map(len, cut)) > len(members) and _few(members, n_rows)
        if recur or not (mark == ", " or _few(distinct, n_rows)):
            return names
    return ()


def _few(distinct, n_rows):
    """Whether these may be the classes of so many rows."""
    if len(distinct) < 2 or len(distinct) > min(MANY_CLASSES, max(2, n_rows // 3)):
        return False
    return all(map(_is_whole, distinct)) or not all(map(_is_number, distinct))


# Reading


def read_labels(frame, form, name):
    """The labels as `LabelData`, the form with what was found out, and a warning."""
    if form.form == "none" or not form.columns:
        return None, form
    if form.form == "labels":
        return _truths(frame, form, name), form
    cells = frame[form.columns[0]]
    if form.form == "class":
        return _classes(cells, form, name), form
    return _sets(cells, form, name)


def as_given(labels):
    """1, 0 and -1 for each label; or the class of each row, -1 or None if unknown."""
    return PlainForm().restore(labels)


def as_entries(labels):
    """1, 0 and -1 for each label, also where a row has one class."""
    return as_given(replace(labels, single=False))


def label_lists(labels):
    """Names of the labels that each row has; None where nothing is known."""
    names = [str(name) for name in labels.classes]
    return [
        [names[j] for j in np.flatnonzero(row > 0)] if known else None
        for row, known in zip(labels.values, labels.labeled)
    ]


def label_names(form):
    """How the labels of label columns are called: without the prefix."""
    if all(map(is_marked, form.columns)):
        return [column.removeprefix(PREFIX) for column in form.columns]
    return list(form.columns)


def _truths(frame, form, name):
    values = truths(frame, form.columns)
    observed = values >= 0
    if not observed.any():
        raise all_empty(form, name)
    names = np.array(label_names(form), dtype=object)
    return LabelData((values > 0).astype(float), observed, names, form.kind, False)


def truths(frame, columns):
    """Label columns as 1, 0 and -1 for not observed."""
    return np.column_stack([truth(frame[column], column) for column in columns])


def truth(cells, column):
    """A label column as 1, 0 and -1 for not observed."""
    if cells.dtype.kind in "biuf":
        shown = cells.array
        values = cells.to_numpy(dtype=np.float64, na_value=-1)
        values = np.where(np.isnan(values), -1, values)
    else:
        shown = as_words(cells)
        known, codes = np.unique(shown.astype(str), return_inverse=True)
        meaning = [MEANING.get(word.lower(), np.nan) for word in known.tolist()]
        values = np.array(meaning, dtype=np.float64)[codes]
    wrong = np.flatnonzero(~np.isin(values, (-1, 0, 1)))
    if wrong.size:
        row = int(wrong[0])
        raise CellError(
            column,
            row,
            f"holds {str(shown[row])[:40]!r}, but a label is 0, 1 or empty (yes, no, "
            "true, false); if it is a column of classes, say --class "
            f"{shown_name(column)}, or --tags {shown_name(column)} for tags.",
        )
    return values


def _classes(cells, form, name):
    words = as_words(_unwrapped(cells, form))
    gone = np.array([word.lower() in MISSING for word in words], dtype=bool)
    known = set(words[~gone])
    whole = all(map(_is_whole, known))
    # -1 is an unlabelled sample, unless the classes are just 1 and -1.
    signed = {word.partition(".")[0] for word in known} == {"-1", "1"}
    if not known:
        raise all_empty(form, name)
    _check_classes(known, len(words), form, name)
    if whole and not signed:
        y = np.array([-1 if g else int(float(w)) for w, g in zip(words, gone)])
        if not (y != -1).any():
            raise NoLabelsError(f"{name} has no labelled row: {form} holds only -1.")
        return check_labels(y, kind=form.kind)
    return check_labels(np.where(gone, None, words), kind=form.kind)


def _unwrapped(cells, form):
    """Lists of one class as this class."""
    if not holds_lists(cells):
        return cells
    lists = cells.map(lambda cell: cell if isinstance(cell, LISTS) else [cell])
    for row, members in enumerate(lists):
        if len(members) > 1:
            raise CellError(
                form.columns[0],
                row,
                f"holds {len(members)} labels; say --tags "
                f"{shown_name(form.columns[0])}.",
            )
    return lists.map(lambda members: members[0] if len(members) else None)


def _check_classes(known, n_rows, form, name):
    """Refuse what cannot be a column of classes."""
    n_known = len(known)
    measured = n_known > FEW_NUMBERS and all(map(_is_number, known))
    measured = measured and not all(map(_is_whole, known))
    if measured or (n_known > max(MANY_CLASSES, n_rows // 3) and n_rows > 5):
        raise ValueError(
            f"{form} names a column with {n_known} different values in {n_rows} rows "
            f"of {name}, which cannot be classes; name a column whose values recur."
        )


def _is_number(word):
    return re.fullmatch(r"[-+]?\d*[.,]?\d+([eE][-+]?\d+)?", word) is not None


def _is_whole(word):
    return re.fullmatch(r"-?(0|[1-9]\d{0,14})(\.0+)?", word) is not None


def _sets(cells, form, name):
    """Tags or candidates."""
    sets, form = cell_sets(cells, form)
    if not any(sets):
        raise NoLabelsError(
            f"{name} has no labelled row: no cell of {form} holds a "
            f"{form.form.removesuffix('s')}; fill in some."
        )
    if form.form == "candidates" and [] in sets:
        raise CellError(
            form.columns[0],
            sets.index([]),
            "has no candidate; empty the cell if nothing is known.",
        )
    Y, classes = labels_from_sets(sets)
    values, observed = (Y == 1).astype(float), Y >= 0
    return LabelData(values, observed, classes, form.kind, False), form


def cell_sets(cells, form):
    """Members of each cell (None where unlabelled), and the form with its separator."""
    if holds_lists(cells):
        return [_listed(cell, form) for cell in cells], form
    words = as_words(cells)
    sep = form.sep or _separator(words, form.form)
    form = replace(form, sep=sep)
    return [_split(word, row, form) for row, word in enumerate(words)], form


def _listed(cell, form):
    if cell is None or (isinstance(cell, float) and cell != cell):
        return None
    members = [str(member) for member in cell]
    return members or ([] if form.empty_list == "no tag" else None)


def _split(word, row, form):
    if word.startswith("["):
        return _json_list(word, row, form)
    if word.lower() == form.none.lower():
        return []
    if word.lower() in MISSING - {form.none.lower()}:
        return None
    members = (part.strip() for part in word.split(form.sep))
    return list(dict.fromkeys(member for member in members if member))


def _json_list(word, row, form):
    try:
        members = parse_text(word, "json")
    except ValueError:
        try:  # Python's own spelling of a list of words
            members = parse_text(word.replace("'", '"'), "json")
        except ValueError:
            members = None
    if not isinstance(members, list):
        raise CellError(
            form.columns[0],
            row,
            f'holds {word[:40]!r}, which is no JSON list; write ["a", "b"].',
        )
    return _listed(members, form)


def _separator(words, form):
    """The mark that cuts the most cells, the likely ones first."""
    counts = {mark: sum(mark in word for word in words) for mark in TAG_SEPARATORS}
    best = max(TAG_SEPARATORS, key=lambda mark: counts[mark])
    return best if counts[best] else (";" if form == "tags" else "|")
