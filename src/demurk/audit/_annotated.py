"""Several people gave the labels: is what most of them say wrong?"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from demurk.audit._classes import ClassFindings
from demurk.audit._probabilities import scaled_features
from demurk.audit._suspects import Evidence
from demurk.labels import LabelData
from demurk.labels._form import LabelForm

__all__ = ["judge_people", "people_reasons"]

FEATURES = "the features"
# As many are named on each side.
N_NAMES = 4


def judge_people(audit, X, said, *others):
    """Set what LabelAudit learns, from what several people said.

    Parameters
    ----------
    audit : LabelAudit
        Gets its attributes: given is what most people say, and it is judged by who says
        it and by the features.
    X : {array-like, sparse matrix} of shape (n_rows, n_features) or None
        Features.
    said : Annotations
        What people said.
    *others : object
        Arguments that go with labels, and must be None.

    Returns
    -------
    audit : LabelAudit
        The same.
    """
    if any(other is not None for other in others):
        raise ValueError(
            "proba, trusted and sample_weight go with labels, and y is Annotations; "
            "leave them out."
        )
    X = None if X is None else audit._validate_features(X)
    params = {name: getattr(audit, name) for name in ("n_jobs", "random_state")}
    if audit.n_estimators is not None:
        params["n_estimators"] = audit.n_estimators
    weighed = said.consensus(X, **params)
    given = _majority(said)
    found = _findings(given, weighed)
    audit.classes_, audit._given, audit._form = said.classes, given, LabelForm()
    audit._found, audit._trusted = found, None
    audit._people = said, _chosen(weighed)
    audit._evidence = _evidence(X, given, found)
    audit.scores_, audit.wrong_proba_ = found.scores, found.wrong
    audit.label_distributions_ = found.distributions
    audit.noise_, audit.evidence_ = found.noise, found.evidence
    audit.noise_rates_, audit.rates_ = found.rates, "per_label"
    if said.single:
        audit.noise_matrix_ = found.matrix
    audit.estimated_ = True
    known = np.isfinite(found.wrong)
    audit.n_suspects_ = int(np.rint(found.wrong[known].sum()))
    audit.message_ = _message(said, audit.n_suspects_, np.count_nonzero(known))
    return audit


def _majority(said):
    """What most people say; of several labels those that half of them give."""
    votes, asked = said.votes()
    if said.single:
        most = np.eye(said.n_labels)[votes.argmax(axis=1)]
    else:
        most = (2 * votes >= np.maximum(asked, 1)).astype(float)
    known = asked > 0
    return LabelData(most * known, known, said.classes, "noisy", said.single)


def _findings(given, weighed):
    """Findings of all rows; those of entries where there are several labels."""
    beliefs, most, known = weighed.label_distributions_, given.values, given.observed
    if given.single:
        wrong = np.where(given.labeled, 1 - (beliefs * most).sum(axis=1), np.nan)
    else:
        wrong = np.where(known, np.abs(most - beliefs), np.nan)
    holds, absent = beliefs * known, (1 - beliefs) * known
    n_holds = np.maximum(holds.sum(axis=0), 1e-12)
    rates = {
        "extra": (absent * most).sum(axis=0) / np.maximum(absent.sum(axis=0), 1e-12),
        "missing": (holds * (1 - most)).sum(axis=0) / n_holds,
    }
    return ClassFindings(
        "people",
        wrong,
        wrong,
        beliefs,
        np.where(most > 0, -1.0, beliefs).argmax(axis=1),
        getattr(weighed, "out_of_sample_scores_", beliefs),
        holds.T @ most / n_holds[:, np.newaxis],
        rates,
        {},
    )


def _chosen(weighed):
    """Which classes or labels the features speak for; None without features."""
    seen = getattr(weighed, "out_of_sample_scores_", None)
    if seen is None:
        return None
    return seen >= (0.5 if weighed.labels_.ndim == 2 else seen.max(axis=1)[:, None])


def _evidence(X, given, found):
    """What the tables of suspects are made of; other labels have no say here."""
    q = given.n_labels
    return Evidence(
        np.arange(given.n_samples),
        None if X is None else scaled_features(X),
        given.values,
        given.observed,
        found.out_of_sample,
        np.zeros((q, q)),
        np.zeros(q),
    )


def _message(said, n_suspects, n_entries):
    what = "rows" if said.single else "entries"
    share = 100 * n_suspects / max(n_entries, 1)
    return (
        f"{said.n_people} people gave {len(said.rows):,} answers; what most of them "
        f"say is probably wrong in about {n_suspects:,} of {n_entries:,} {what} "
        f"({share:.1f} %)."
    )


def people_reasons(frame, said, features):
    """Who says what is suspect, and who does not.

    Parameters
    ----------
    frame : pandas.DataFrame
        The table of suspects, with "row" and "given", and "label" for several labels.
    said : Annotations
        What people said.
    features : ndarray of bool of shape (n_rows, n_labels) or None
        Which classes or labels the features speak for.

    Returns
    -------
    reasons : list of str
        For each line, like "anna and ben say calm, cleo and the features do not".
    """
    place = {name: k for k, name in enumerate(said.classes.tolist())}
    order = np.argsort(said.rows, kind="stable")
    starts = np.searchsorted(said.rows[order], np.arange(said.n_rows + 1))
    names = frame["given"] if said.single else frame["label"]
    reasons = []
    for row, name in zip(frame["row"], names):
        column = place[name]
        answers = order[starts[row] : starts[row + 1]]
        codes = said.codes[answers] if said.single else said.codes[answers, column]
        agree = codes == column if said.single else codes == 1
        people = said.names[said.people[answers]]
        sides = [people[agree].tolist(), people[~agree & (codes >= 0)].tolist()]
        if features is not None:
            sides[int(not features[row, column])].append(FEATURES)
        reasons.append(_sides(*sides, name))
    return reasons


def _sides(agree, others, name):
    parts = []
    if agree:
        parts.append(f"{_listed(agree)} {'say' if _many(agree) else 'says'} {name}")
    if others:
        do = "do" if _many(others) else "does"
        say = "" if agree else f" say {name}"
        parts.append(f"{_listed(others)} {do} not{say}")
    return ", ".join(parts)


def _many(names):
    return len(names) > 1 or names == [FEATURES]


def _listed(names):
    people = [name for name in names if name != FEATURES]
    if len(people) > N_NAMES + 1:
        left = len(people) - N_NAMES
        names = [*people[:N_NAMES], f"{left} others", *names[len(people) :]]
    return " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
