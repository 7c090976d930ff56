"""What to ask first: the audit as one list of questions, most suspect first."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b

import numpy as np

from demurk.audit import LabelAudit
from demurk.audit._words import UnknownRateWarning
from demurk.partial_label import IPAL
from demurk.review._estimate import tally
from demurk.review._order import mean_order

__all__ = ["Ranking", "candidate_beliefs", "fitted_audit", "rank_labels"]

FEWEST_LISTED, MOST_LISTED = 25, 2000


@dataclass(frozen=True, eq=False)
class Ranking:
    """Questions by falling suspicion.

    Attributes
    ----------
    order : ndarray of int
        Numbers of the questions: ``row * n_labels + label`` for several labels, the
        row where it has one class or a set of candidates.
    wrong : ndarray of shape (n_questions,)
        Probability that what is given is wrong; NaN where nothing is.
    suggested, chance : ndarray of shape (n_rows,) or None
        The class that a row probably has, and its probability; None for several labels.
    unlikely : ndarray of shape (n_rows,) or None
        The least probable candidate, where a row has several.
    """

    order: np.ndarray
    wrong: np.ndarray
    suggested: np.ndarray | None = None
    chance: np.ndarray | None = None
    unlikely: np.ndarray | None = None

    def beside(self, first):
        """These findings in an order that heeds those of the first audit as well."""
        return replace(self, order=mean_order(self.order, first.order))

    @cached_property
    def n_listed(self):
        """How many suspects are listed: as many as are expected to be wrong."""
        expected = int(np.rint(np.nansum(self.wrong)))
        return min(max(expected, FEWEST_LISTED), MOST_LISTED, len(self.order))

    @cached_property
    def tally(self):
        """How many questions have which probability, see :func:`tally`."""
        return tally(self.wrong[np.isfinite(self.wrong)])

    @cached_property
    def digest(self):
        """A short name of what was found."""
        return blake2b(np.nan_to_num(self.wrong).tobytes(), digest_size=6).hexdigest()


def rank_labels(
    X,
    labels,
    *,
    noise="auto",
    seed=0,
    trusted=None,
    given=None,
    n_estimators=None,
    n_jobs=None,
    watch=nullcontext,
):
    """Audit labels and put the questions in order.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_rows, n_features)
        Features.
    labels : LabelData
        The labels as they are now; of kind "candidates" for sets of candidates.
    noise : str, default="auto"
        What may be wrong, see :class:`demurk.audit.LabelAudit`.
    seed : int, default=0
        Seed of the audit.
    trusted : ndarray of bool of shape (n_rows, n_labels), default=None
        What a person has decided.
    given : LabelData, default=None
        The labels as they were before.
    n_estimators : int, default=None
        Trees of a forest; None leaves that to the audit.
    n_jobs : int, default=None
        Threads; None means 1, -1 all processors.
    watch : callable, default=nullcontext
        Given the audit, a context in which it is fitted; shows progress.

    Returns
    -------
    Ranking
        The order.
    """
    if labels.kind == "candidates":
        return _rank_candidates(X, labels)
    options = {"noise": noise, "n_estimators": n_estimators}
    options |= {"n_jobs": n_jobs, "random_state": seed}
    now, checked = replace(labels, kind="noisy"), (trusted, given)
    audit = fitted_audit(X, now, checked, watch, **options)
    if labels.single:
        return _rank_classes(audit, labels)
    return Ranking(_by_score(audit.scores_.ravel()), audit.wrong_proba_.ravel())


def fitted_audit(X, y, checked, watch, **options):
    """Audit labels, or what several people say, without a word about unknown rates.

    Parameters
    ----------
    X, y : array-like and LabelData or Annotations
        What is audited.
    checked : tuple of (ndarray of bool or None, LabelData or None), or None
        What a person has decided, and the labels before that.
    watch : callable
        As for `rank_labels`.
    **options
        Parameters of :class:`demurk.audit.LabelAudit`.

    Returns
    -------
    audit : LabelAudit
        Fitted.
    """
    audit, known = LabelAudit(**options), {}
    trusted, given = checked or (None, None)
    if trusted is not None and trusted.any():
        before = None if given is None else replace(given, kind="noisy")
        known = {"trusted": trusted, "given": before}
    with warnings.catch_warnings(), watch(audit):
        # Whoever shows what was found says it.
        warnings.simplefilter("ignore", UnknownRateWarning)
        return audit.fit(X, y, **known)


def _by_score(scores):
    known = np.flatnonzero(np.isfinite(scores))
    return known[np.argsort(-scores[known], kind="stable")]


def _rank_classes(audit, labels):
    rows, given = np.arange(labels.n_samples), labels.values.argmax(axis=1)
    others = np.nan_to_num(audit.label_distributions_)
    others[rows, given] = -1.0
    suggested = others.argmax(axis=1)
    chance = others[rows, suggested]
    return Ranking(_by_score(audit.scores_), audit.wrong_proba_, suggested, chance)


def _rank_candidates(X, labels):
    """Rows with several candidates, the surest first."""
    beliefs = candidate_beliefs(X, labels)
    suggested, chance = beliefs.argmax(axis=1), beliefs.max(axis=1)
    several = labels.values.sum(axis=1) > 1
    # A set of several always holds a wrong one.
    wrong = np.where(labels.labeled, several.astype(float), np.nan)
    order = _by_score(np.where(several & labels.labeled, chance, np.nan))
    unlikely = np.where(labels.values > 0, beliefs, np.inf).argmin(axis=1)
    return Ranking(order, wrong, suggested, chance, unlikely)


def candidate_beliefs(X, labels):
    """How probable each candidate is, by the best learner for candidates."""
    model = IPAL().fit(X, labels)
    beliefs = np.where(labels.values > 0, model.label_distributions_, 0.0)
    total = beliefs.sum(axis=1, keepdims=True)
    return beliefs / np.where(total > 0, total, 1.0)
