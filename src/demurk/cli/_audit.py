"""Suspects of a table: found once, in the same way, for every command that tells them.

Three numbers, and no other: *expected* is how many labels are probably wrong, *listed*
how many suspects are shown (those expected unless ``--review`` says otherwise, and all
that are corrected), *corrected* how many are changed in the cleaned copy, because they
are wrong with a probability above ``--flip``.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from demurk.audit import LabelAudit
from demurk.audit._annotated import people_reasons
from demurk.audit._classes import NOISES as CLASS_NOISES
from demurk.audit._classes import class_suspects
from demurk.audit._suspects import LISTS, suspect_frame, top_entries
from demurk.cli._console import shown_progress
from demurk.cli._input import labels_of, samples_of
from demurk.cli._output import choose_trees
from demurk.datasets._table_labels import as_entries, as_given
from demurk.review._ranking import candidate_beliefs, fitted_audit

__all__ = ["Findings", "count_labels", "find_suspects", "fit_audit", "refuse_ones"]

# Length of each list where the number of wrong entries is not known.
UNKNOWN_REVIEW = 25


@dataclass(frozen=True, eq=False)
class Findings:
    """What the audit says about each entry."""

    table: Any  # with the labels that were judged
    audit: Any
    cleaned: np.ndarray  # bool (n, q), the labels after correction
    listed: np.ndarray  # bool (n, q), what is on the two lists
    suspects: pd.DataFrame  # a line each; `row` counts from 1

    @property
    def corrected(self):
        """What was corrected, bool (n, q)."""
        return (self.table.labels.values > 0) != self.cleaned

    @property
    def given(self):
        """1, 0, or -1 where nothing was observed."""
        return as_entries(self.table.labels)

    @property
    def after(self):
        """The same if all that is listed was corrected."""
        return np.where(self.listed, 1 - self.given, self.given)


@dataclass(frozen=True, eq=False)
class CandidateAudit:
    """Beliefs in candidates, told as an audit tells its findings."""

    classes_: np.ndarray
    label_distributions_: np.ndarray
    wrong_proba_: np.ndarray  # NaN where a class is no candidate
    scores_: np.ndarray
    noise_rates_: dict
    n_suspects_: int
    message_: str
    noise_: str = "candidates"
    rates_: str = "own"
    estimated_: bool = True
    # No kinds of noise to weigh against each other.
    evidence_: dict = field(default_factory=dict)
    _people: None = None

    def _corrected_values(self, threshold):
        """Candidates without the improbable ones; each row keeps its best."""
        given = np.nan_to_num(self.label_distributions_) > 0
        given |= np.isfinite(self.wrong_proba_)
        kept = given & ~(np.nan_to_num(self.wrong_proba_) > threshold)
        empty = np.flatnonzero(given.any(axis=1) & ~kept.any(axis=1))
        kept[empty, self.label_distributions_[empty].argmax(axis=1)] = True
        return kept


def find_suspects(table, *, noise="auto", review=None, flip=0.8, seed=0):
    """Audit the labels of a table.

    Parameters
    ----------
    table : Table
        What was read.
    noise : str, default="auto"
        What may be wrong, see :class:`demurk.audit.LabelAudit`.
    review : int, default=None
        Suspects to list; None for as many as are expected to be wrong.
    flip : float, default=0.8
        Probability of being wrong above which an entry is corrected; None for never.
    seed : int, default=0
        Seed of the audit.

    Returns
    -------
    found : Findings
        The suspects.
    """
    if table.form.form == "candidates":
        audit = _candidates(table)
    else:
        refuse_ones(table)
        _refuse_noise(table, noise)
        audit = fit_audit(table, noise, seed)
        if audit._people is not None:
            # It judges what most people say.
            table = table.with_labels(as_given(audit._given))
    given = table.labels.values > 0
    cleaned = given.copy() if flip is None else audit._corrected_values(flip)
    find = _class_findings if table.labels.single else _entry_findings
    told, listed, lines = find(table, audit, given, given != cleaned, review)
    samples = np.array(samples_of(table), dtype=object)
    lines.insert(2, "sample", samples[lines["row"] - 1])
    if audit._people is not None:
        zero = lines.assign(row=lines["row"] - 1, given=lines["label"])
        lines["reason"] = people_reasons(zero, *audit._people)
    return Findings(table, told, cleaned, listed, lines)


def _entry_findings(table, audit, given, changed, review):
    """Suspects are entries: one label of one row."""
    listed = changed.copy()
    limits = _limits(audit, given, review, audit.estimated_)
    listed[tuple(top_entries(audit.scores_, given, limits).T)] = True
    entries = top_entries(np.where(listed, audit.scores_, np.nan), given, listed.sum())
    suspects = _lines(audit, entries)
    suspects["corrected"] = changed[tuple(entries.T)].astype(int)
    return audit, listed, suspects


def count_labels(entries, one_class):
    """How many entries; with one class per row, how many rows."""
    return int((entries.any(axis=1) if one_class else entries).sum())


def fit_audit(table, noise, seed, n_jobs=-1):
    """Audit the labels of a table as they are after its review.

    Parameters
    ----------
    table : Table
        What was read.
    noise, seed
        As in `find_suspects`.
    n_jobs : int, default=-1
        Threads; -1 for all cores.

    Returns
    -------
    audit : LabelAudit
        Fitted.
    """
    options = {"noise": noise, "n_jobs": n_jobs, "random_state": seed}
    options["n_estimators"] = choose_trees(int(table.labels.labeled.sum()))
    X, y = table.features, labels_of(table, LabelAudit())
    return fitted_audit(X, y, table.checked, shown_progress, **options)


def _class_findings(table, audit, given, changed, review):
    """Suspects are rows: a class that is given up, and one that takes its place."""
    known, found = audit._evidence.rows, audit._found
    changed = changed.any(axis=1)
    counted = audit.estimated_ or audit.noise_ == "ambiguous"
    n_listed = audit.n_suspects_ if counted else UNKNOWN_REVIEW
    order = np.argsort(-found.scores, kind="stable")
    rank = np.argsort(order, kind="stable")
    chosen = (rank < (n_listed if review is None else review)) | changed[known]
    # Nothing is asked about rows that a person settled or that have no class.
    order = order[chosen[order] & np.isfinite(found.scores[order])]
    evidence = replace(audit._evidence, rows=known + 1)
    lines = class_suspects(order, found, audit.classes_, evidence)
    rows = known[order]
    # What is less likely than not is no "probably".
    unlikely = found.out_of_sample[order, found.suggested[order]] < 0.5
    words = lines["reason"].str.replace(", probably ", ", perhaps ", n=1, regex=False)
    lines["reason"] = lines["reason"].mask(unlikely, words)
    suspects = pd.DataFrame(
        {
            "list": LISTS[1],
            "row": lines["row"],
            "label": lines["given"],
            "given": 1,
            "suggested": lines["suggested"],
            "score": found.scores[order],
            "wrong_proba": lines["wrong_proba"],
            "reason": lines["reason"],
            "corrected": changed[rows].astype(int),
        }
    )
    listed = np.zeros_like(given)
    listed[rows] = given[rows]
    listed[rows, found.suggested[order]] = True
    told = copy(audit)  # entry by entry, for the page
    told.wrong_proba_, told.scores_ = _class_entries(given, known, found)
    return told, listed, suspects


def _class_entries(given, known, found):
    """Probabilities and scores of entries: of the class given and the one suggested."""
    wrong, scores = np.full((2, *given.shape), np.nan)
    # Of people, rows that nobody answered are among those known.
    own = np.flatnonzero(given[known].any(axis=1))
    rows, suggested = known[own], found.suggested[own]
    wrong[rows] = np.where(given[rows], found.wrong[own, None], 0.0)
    wrong[rows, suggested] = found.distributions[own, suggested]
    scores[rows] = np.where(given[rows], found.scores[own, None], -np.inf)
    scores[rows, suggested] = found.scores[own]
    return wrong, scores


def _refuse_noise(table, noise):
    """Before the members are fitted, which takes longest."""
    if table.labels.single and noise not in CLASS_NOISES:
        raise ValueError(
            f"--noise is {noise}, but the table has one class per row, where a wrong "
            "class is an extra and a missing label at once: give one of "
            f"{', '.join(CLASS_NOISES)}."
        )


def refuse_ones(table):
    """Labels that are never said to be absent."""
    labels = table.labels
    if not labels.single and labels.values[labels.observed].all():
        raise ValueError(
            f"No label of {table.source.path} is 0, and what is empty or -1 counts as "
            "not observed: write 0 where a sample does not have a label."
        )


def _lines(audit, entries):
    """One line per suspect, rows counted from 1 as in a spreadsheet without header."""
    if isinstance(audit, CandidateAudit):
        return _candidate_lines(audit, entries)
    pad = ((1, 0), (0, 0))
    scores, wrong = (np.pad(a, pad) for a in (audit.scores_, audit.wrong_proba_))
    evidence = replace(audit._evidence, rows=audit._evidence.rows + 1)
    return suspect_frame(entries + [1, 0], scores, wrong, audit.classes_, evidence)


def _candidate_lines(audit, entries):
    beliefs = audit.label_distributions_
    rows = []
    for row, column in entries.tolist():
        best = int(beliefs[row].argmax())
        reason = f"{audit.classes_[best]!s} is more probable ({beliefs[row, best]:.2f})"
        wrong = audit.wrong_proba_[row, column]
        name = audit.classes_[column]
        rows.append((LISTS[1], row + 1, name, 1, wrong, wrong, reason))
    names = ["list", "row", "label", "given", "score", "wrong_proba", "reason"]
    return pd.DataFrame(rows, columns=names)


def _candidates(table):
    """How improbable each candidate is."""
    labels = table.labels
    beliefs = candidate_beliefs(table.features, labels)
    several = (labels.values > 0) & (labels.values.sum(axis=1) > 1)[:, None]
    wrong = np.where(several, 1 - beliefs, np.nan)
    sizes = labels.values.sum(axis=1)[labels.labeled]
    n_wrong = int((sizes - 1).sum())
    share = n_wrong / max(1, (labels.n_labels - 1) * len(sizes))
    message = (
        f"{int((sizes > 1).sum()):,} of {len(sizes):,} rows have several candidates, "
        f"of which one is true: {n_wrong:,} candidates are wrong."
    )
    none = np.zeros(labels.n_labels)
    rates = {"extra": none + share, "missing": none}
    return CandidateAudit(
        labels.classes, beliefs, wrong, wrong, rates, n_wrong, message
    )


def _limits(audit, given, review, estimated):
    """How many to list: in all where the two lists can be mixed, else of each."""
    if estimated and audit.noise_ != "uncertain":
        return audit.n_suspects_ if review is None else review
    if review is None and estimated:
        wrong = np.nan_to_num(audit.wrong_proba_)
        return {v: int(np.rint(wrong[given == v].sum())) for v in (0, 1)}
    return dict.fromkeys((0, 1), review or UNKNOWN_REVIEW)
