"""One class per sample: how suspect each row is, and which class it probably has."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np

from demurk.audit._ambiguous import swapped_gain
from demurk.audit._suspects import nearest_rows
from demurk.out_of_sample import choose_class_noise
from demurk.utils._optional import import_optional

__all__ = ["ClassFindings", "audit_classes", "class_message", "class_suspects"]

NOISES = ("auto", "symmetric", "none")
TINY = 1e-300
# Errors are suspected on ambiguous rows if the members of the audit need hardly be
# sharpened, which the number of classes decides: ``a log(q)^b``; or less than on most
# clean labels, and swapped rows explain the given classes better by the last number. In
# the protocol wrong-classes that holds for none of 90 clean runs, and for 85 of 90.
SURELY_FLAT, FLAT, AMBIGUOUS_GAIN = (1.34, 0.57), 2.5, 2.5
PLAIN = "rows are ranked by how much likelier another class is"
SAID = {
    "symmetric": "Classes are replaced by any other alike",
    "matrix": "Classes are taken for certain others",
}
COLUMNS = ("row", "given", "suggested", "wrong_proba", "suggested_proba", "reason")


@dataclass(frozen=True, eq=False)
class ClassFindings:
    """What the audit of one class per sample says; rows are the labelled ones.

    Attributes
    ----------
    noise : {"symmetric", "matrix", "ambiguous", "none"}
        The form of noise.
    scores, wrong : ndarray of shape (n_labeled,)
        How suspect the given class is, and the probability that it is wrong.
    distributions : ndarray of shape (n_labeled, n_classes)
        Probabilities of the true class, the given one known.
    suggested : ndarray of int of shape (n_labeled,)
        The most probable class but the given one.
    out_of_sample : ndarray of shape (n_labeled, n_classes)
        Probabilities of the true class made without the given one.
    matrix : ndarray of shape (n_classes, n_classes)
        What each class is given as.
    rates : dict of str to ndarray of shape (n_classes,)
        "extra" and "missing", as for several labels.
    evidence : dict of str to float
        See :class:`~demurk.out_of_sample._class_noise.ClassNoiseChoice`.
    telling : bool
        Whether the features tell anything about the classes.
    share : float or None
        How much of the noise is that of a free matrix, if that was weighed.
    """

    noise: str
    scores: np.ndarray
    wrong: np.ndarray
    distributions: np.ndarray
    suggested: np.ndarray
    out_of_sample: np.ndarray
    matrix: np.ndarray
    rates: dict
    evidence: dict
    telling: bool = True
    share: float | None = None

    @property
    def n_suspects(self):
        """Rows to look at: as many as are wrong, or where another class is likelier."""
        if self.noise == "ambiguous":
            return int(np.count_nonzero(self.scores > 0))
        return int(np.rint(self.wrong.sum()))

    @property
    def estimated(self):
        """Whether a noise rate is known."""
        return self.noise in SAID


def audit_classes(P, given, noise, own_members, before=None, known=None, first=None):
    """Judge the given classes.

    Parameters
    ----------
    P : ndarray of shape (n_samples, n_classes)
        Probabilities made without the row they are for.
    given : ndarray of int of shape (n_samples,)
        Given classes.
    noise : str
        What the user knows: "auto", "symmetric" or "none".
    own_members : bool
        Whether P comes from the members of the audit, whose sharpness on clean labels
        is known.
    before : ndarray of int of shape (n_samples,), default=None
        What had been given before somebody looked, if not `given`; -1 if not known.
    known : ndarray of int of shape (n_samples,), default=None
        True classes, -1 where they are not known.
    first : ClassFindings, default=None
        What a first look found; the form of noise is then not chosen again.

    Returns
    -------
    ClassFindings
        The findings.
    """
    if noise not in NOISES:
        raise ValueError(
            f"noise is {noise!r}, but y has one class per sample, where a wrong class "
            f"is an extra and a missing label at once: choose {', '.join(NOISES)}."
        )
    before = given if before is None else before
    settled = first is not None and not first.estimated
    form = "none" if settled else noise
    share = None if first is None or settled else first.share
    choice = choose_class_noise(P, before, form, known=known, share=share)
    fit, rows = choice.fit, np.arange(len(P))
    p = fit.true_proba(P)
    distributions = fit.posterior(P, before, known)
    found = fit.form
    if found == "none":
        others = p.copy()
        others[rows, given] = -1.0 if P.shape[1] > 1 else 0.0
        scores = others.max(axis=1) - p[rows, given]
        if settled:
            found = first.noise
        elif noise == "auto" and own_members and choice.telling:
            found = "ambiguous" if _seems_ambiguous(fit, p, given) else found
        if found == "ambiguous":
            distributions = _second_opinions(p, distributions, given)
    wrong = 1 - distributions[rows, given]
    rivals = p * fit.matrix.T[given] if found in SAID else p.copy()
    own = rivals[rows, given]
    rivals[rows, given] = -1.0
    if found in SAID:
        # A wrong row mostly has one clear other class, an odd one several that share
        # what is left: no calibration of all rows alike can tell them apart.
        best = rivals.max(axis=1)
        scores = best / np.maximum(best + own, TINY)
    if known is not None:
        trusted = known >= 0
        distributions[trusted] = np.eye(P.shape[1])[known[trusted]]
        wrong, scores = np.where(trusted, 0.0, wrong), np.where(trusted, np.nan, scores)
    suggested = rivals.argmax(axis=1)
    return ClassFindings(
        found,
        scores,
        wrong,
        distributions,
        suggested,
        p,
        fit.matrix,
        _rates(fit.matrix, p),
        choice.evidence,
        choice.telling,
        choice.share,
    )


def _seems_ambiguous(fit, p, given):
    """Whether errors may sit on ambiguous rows."""
    slope = np.exp(np.log(fit.slope).mean())
    factor, power = SURELY_FLAT
    if slope < factor * np.log(max(p.shape[1], 2)) ** power:
        return True
    return slope < FLAT and swapped_gain(p, given) > AMBIGUOUS_GAIN


def _second_opinions(p, given_only, given):
    """Move what two fresh labels would both move."""
    rows = np.arange(len(p))
    wrong = (1 - p[rows, given]) ** 2
    others = p * (1 - given_only)
    total = np.maximum(others.sum(axis=1), 1e-300)
    moved = others * (wrong / total)[:, np.newaxis]
    moved[rows, given] = 1 - wrong
    return moved


def _rates(matrix, p):
    """How often each class was given where it does not hold, and left out."""
    shares = p.mean(axis=0)
    kept = np.diag(matrix)
    moved_in = shares @ matrix - shares * kept
    return {"extra": moved_in / np.maximum(1 - shares, 1e-12), "missing": 1 - kept}


def class_message(noise, findings, n_suspects, n_rows):
    """The result in a sentence or two.

    Parameters
    ----------
    noise : str
        What the user said about the noise.
    findings : ClassFindings
        What was found.
    n_suspects, n_rows : int
        Expected number of wrong rows, and of all labelled ones.

    Returns
    -------
    message : str
        The sentences.
    """
    share = 100 * n_suspects / n_rows
    count = f"about {n_suspects:,} of {n_rows:,} rows ({share:.1f} %)"
    if findings.estimated:
        return f"{SAID[findings.noise]}; {count} are wrong."
    if findings.noise == "ambiguous":
        return (
            "Classes overlap, or errors sit on ambiguous rows: the ranking holds, how "
            f"many are wrong cannot be told; {count} are worth a second opinion."
        )
    if not findings.telling:
        return (
            "The features tell nothing about the classes: no row can be judged by "
            f"them, and though {PLAIN}, that says little."
        )
    if noise == "none":
        return f"No kind of noise was assumed: {PLAIN}."
    return f"No noise rate could be estimated: {PLAIN}."


def class_suspects(order, findings, classes, evidence):
    """Build the table of suspects, one line per row.

    Parameters
    ----------
    order : ndarray of int
        Places among the labelled rows, most suspect first.
    findings : ClassFindings
        What was found.
    classes : ndarray of shape (n_classes,)
        Names of the classes.
    evidence : Evidence
        What the reasons are made of.

    Returns
    -------
    frame : pandas.DataFrame
        The table.
    """
    pandas = import_optional("pandas", "tables")
    given = evidence.labels.argmax(axis=1)
    neighbors = nearest_rows(evidence, np.unique(order))
    lines = []
    for place in order.tolist():
        old, new = given[place], findings.suggested[place]
        chance = findings.distributions[place, new]
        plain = findings.out_of_sample[place, new]
        reason = f"given {classes[old]}, probably {classes[new]} ({plain:.2f})"
        near = neighbors.get(place, ())
        if len(near):
            count = np.count_nonzero(given[near] == new)
            reason += f"; of its {len(near)} nearest rows {count} are {classes[new]}"
        lines.append(
            (
                evidence.rows[place],
                classes[old],
                classes[new],
                findings.wrong[place],
                chance,
                reason,
            )
        )
    return pandas.DataFrame(lines, columns=list(COLUMNS))
