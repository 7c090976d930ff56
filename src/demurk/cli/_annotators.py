"""``demurk annotators``: what several people say together, and how good each one is."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from demurk.annotators import Agreement, Annotations, Consensus
from demurk.cli._annotators_page import annotators_page
from demurk.cli._annotators_story import annotators_story
from demurk.cli._console import say
from demurk.cli._input import features_of, read_input, row_names, samples_of, tell
from demurk.cli._output import (
    beliefs_table,
    folder_with_copy,
    free_name,
    table_of,
    write_summary,
    write_table,
)
from demurk.datasets._table_labels import as_given
from demurk.review._people import WhoSaid
from demurk.utils._files import write_text

__all__ = ["FILES", "annotators_file"]

# The summary is written last: where it is, all files of its run are there.
COPY = "consensus.csv"
FILES = (
    COPY,
    "label_distributions.csv",
    "quality.csv",
    "confusion.csv",
    "disagreements.csv",
    "further.csv",
    "annotators.html",
    "summary.json",
)


@dataclass(frozen=True, eq=False)
class Weighed:
    """What people say, weighed."""

    said: Annotations
    model: Consensus
    agreement: Agreement
    with_features: bool
    disagreements: Any  # a frame, the least certain first
    further: Any  # a frame of rows, those first that need another answer most


def annotators_file(source, output, *, seed=0, force=False, **reading):
    """Weigh what several people say; write consensus, their quality and a page.

    Parameters
    ----------
    source : str
        A table with the labels of several people; it is never changed.
    output : path-like
        Folder to write to.
    seed : int, default=0
        Seed of the forest and of the intervals.
    force : bool, default=False
        Whether existing files may be replaced.
    **reading
        What is read how, as in `read_input`.
    """
    output, copy = folder_with_copy(source, output, FILES, COPY, force, reading)
    table = read_input(source, decided=False, **reading)
    _refuse_one(table, source)
    found = weigh(table, seed)
    facts = annotators_facts(table, found, seed)
    _write(output, table, found, facts, copy)
    story = [*annotators_story(facts), f"Open {output.path / FILES[-2]} in a browser."]
    say("\n".join(story))


def _refuse_one(table, source):
    if table.annotations is None:
        raise ValueError(
            f"{source} has the labels of one person or of nobody knows whom: name a "
            "column for each person as in class@anna and class@ben, or say with "
            "--annotator which column tells who answered."
        )


def weigh(table, seed):
    """Consensus, agreement and disagreements of a table.

    Parameters
    ----------
    table : Table
        With the labels of several people.
    seed : int
        Seed of the forest and of the intervals.

    Returns
    -------
    Weighed
        What was found.
    """
    said = table.annotations
    X = features_of(table)
    if X is not None:
        tell(table)
    method = "dawid-skene" if X is None else "features"
    model = Consensus(method, n_jobs=-1, random_state=seed)
    model.fit(X, said)
    agreement = said.agreement(random_state=seed)
    apart, further = _disagreements(table, model), _further(table, model)
    return Weighed(said, model, agreement, X is not None, apart, further)


def further_rows(said, model):
    """Rows in the order in which another answer should be asked for.

    Parameters
    ----------
    said : Annotations
        What people said.
    model : Consensus
        Fitted to it.

    Returns
    -------
    rows : ndarray of int
        Rows with an answer, the least certain first.
    wrong : ndarray of shape (n_rows,)
        How many of its labels are probably wrong.
    """
    wrong = np.nan_to_num(np.asarray(model.wrong_proba_, dtype=float))
    wrong = wrong if wrong.ndim == 1 else wrong.sum(axis=1)
    order = np.argsort(-wrong, kind="stable")
    return order[said.answers_per_row[order] > 0], wrong


def _named(table, rows):
    """Numbers of rows and what they are called, beside our own columns."""
    taken = {"row", "label", "consensus", "wrong_proba", "said", "answers"}
    names = row_names(table).items()
    named = [(n, cells) for n, cells in names if not isinstance(cells, range)]
    columns = [(free_name(n, taken), np.asarray(cells)[rows]) for n, cells in named]
    return [("row", rows + 1), *columns]


def _further(table, model):
    rows, wrong = further_rows(table.annotations, model)
    columns = _named(table, rows)
    answers = table.annotations.answers_per_row[rows]
    return table_of([*columns, ("answers", answers), ("expected_wrong", wrong[rows])])


def _disagreements(table, model):
    """Entries about which people disagree, those that are least certain first."""
    said, who = table.annotations, WhoSaid(table.annotations)
    votes, asked = said.votes()
    apart = (votes > 0) & (votes < asked)
    wrong = np.asarray(model.wrong_proba_, dtype=float)
    given = (model.label_distributions_ > 0.5).astype(int)
    if said.single:
        apart, wrong = apart.any(axis=1, keepdims=True), wrong[:, None]
        given = said.classes[model.label_distributions_.argmax(axis=1)][:, None]
    order = np.argsort(-np.nan_to_num(wrong[apart]), kind="stable")
    rows, labels = np.argwhere(apart)[order].T
    columns = _named(table, rows)
    places = zip(rows.tolist(), [None] * len(rows) if said.single else labels.tolist())
    if not said.single:
        columns.append(("label", said.classes[labels].astype(str)))
    columns += [
        ("consensus", given[rows, labels]),
        ("wrong_proba", wrong[rows, labels]),
        ("said", [who.sentence(*place) for place in places]),
    ]
    return table_of(columns)


# Facts


def annotators_facts(table, found, seed):
    """Everything the page and the console say, for summary.json."""
    said, model, agreement = found.said, found.model, found.agreement
    per_row = said.answers_per_row
    wrong = np.nan_to_num(np.asarray(model.wrong_proba_, dtype=float)[per_row > 0])
    return {
        "data": table.name,
        "n_samples": said.n_rows,
        "n_people": said.n_people,
        "n_answers": len(said.rows),
        "n_labels": said.n_labels,
        "one_class": said.single,
        "without_answer": int((per_row == 0).sum()),
        "with_several": int((per_row > 1).sum()),
        "with_features": found.with_features,
        "alpha": _numbers(agreement.alpha, agreement.low, agreement.high),
        "labels": [
            {
                "label": str(line["label"]),
                "alpha": _numbers(line["alpha"], line["low"], line["high"]),
            }
            for line in agreement.labels.to_dict("records")
        ],
        "people": people_lines(found),
        "disagreements": len(found.disagreements),
        "expected_wrong": round(float(wrong.sum()), 1),
        "seed": seed,
    }


def people_lines(found):
    """What is known about each person, the best first.

    Parameters
    ----------
    found : Weighed
        What was found.

    Returns
    -------
    lines : list of dict
        One for each person.
    """
    quality = found.model.quality_.to_dict("records")
    agrees = found.agreement.people.to_dict("records")
    lines = [
        {
            "person": str(own["person"]),
            "answers": int(own["rows"]),
            "shared": int(other["shared"]),
            "agrees": _number(other["agrees"]),
            "accuracy": _number(own["accuracy"]),
            "quality": _numbers(own["quality"], own["low"], own["high"]),
            "only": other["only"] or None,
        }
        for own, other in zip(quality, agrees, strict=True)
    ]
    return sorted(lines, key=lambda line: -(line["quality"][0] or -2))


def _number(value):
    return round(float(value), 4) if np.isfinite(value) else None


def _numbers(*values):
    return [_number(value) for value in values]


# Writing


def _write(output, table, found, facts, copy):
    """Write all files; they appear together."""
    soft = beliefs_table(found.model.label_distributions_, found.said.classes)
    page = annotators_page(found, facts, samples_of(table))
    with output.writing() as folder:
        _copy(table, found).to(folder / copy)
        write_table(soft, folder / "label_distributions.csv")
        write_table(_quality(facts), folder / "quality.csv")
        write_table(_confusion(found), folder / "confusion.csv")
        write_table(found.disagreements, folder / "disagreements.csv")
        write_table(found.further, folder / "further.csv")
        write_text(folder / "annotators.html", page)
        write_summary(folder / "summary.json", facts)


def _copy(table, found):
    """The table with the consensus where anybody answered, and blanks elsewhere."""
    beliefs = found.model.label_distributions_
    values = beliefs if found.said.single else beliefs > 0.5
    return table.with_labels(as_given(replace(table.labels, values=values)))


def _quality(facts):
    interval = ("quality", "low", "high")
    names = ["person", "answers", *interval, "accuracy", "agrees", "only"]
    lines = [
        line | dict(zip(interval, line["quality"])) | {"only": line["only"] or ""}
        for line in facts["people"]
    ]
    return pd.DataFrame(lines, columns=names)


def _confusion(found):
    """What each person answers where a class is true; or his errors by label."""
    said, model = found.said, found.model
    if not said.single:
        return model.label_quality_
    names, people = said.classes.astype(str), said.names
    who, true, given = np.indices(model.confusion_.shape).reshape(3, -1)
    columns = {"person": people[who], "true": names[true], "answered": names[given]}
    return pd.DataFrame(columns | {"share": model.confusion_.ravel()})
