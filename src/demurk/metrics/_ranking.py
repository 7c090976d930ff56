"""Measures of label scores: ranking loss, average precision, one-error, coverage.

All four sort the labels of a row once, best first. Equal scores form a tie group;
the rules for ties differ only in what they read off that group.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from demurk.metrics._classification import check_scores, undefined

_TIES = ("reference", "worst", "average")
_DEGENERATE = ("drop", "sklearn")

# Entries sorted at a time: bounds the working memory to some 30 MB.
_CHUNK_ENTRIES = 2**18


def ranking_loss(
    Y, scores, *, ties="reference", degenerate="drop", observed=None, per_sample=False
):
    """Fraction of (relevant, irrelevant) label pairs of a row in the wrong order.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.

    scores : array-like of shape (n_samples, n_labels)
        Scores of the labels, higher is more likely, comparable within a row.

    ties : {"reference", "worst", "average"}, default="reference"
        "reference" and "worst": a tied pair is an error. "average": half an error,
        the expected value when ties are broken at random.

    degenerate : {"drop", "sklearn"}, default="drop"
        What to do with a row that has no relevant or no irrelevant label, hence no
        pair. "drop": leave it out of the mean. "sklearn": count it as 0.

    observed : array-like of bool, shape (n_samples, n_labels) or (n_samples,), \
            default=None
        Entries that take part: an unobserved label is left out of the ranking of
        its row, and a row without any observed label is left out. None takes all
        entries and refuses a -1 in `Y`; for labels with -1 pass
        ``observed=Y != -1``.

    per_sample : bool, default=False
        Return the value of each row instead of the mean.

    Returns
    -------
    loss : float or ndarray of shape (n_samples,)
        Mean loss in [0, 1], 0 is best; NaN, with a warning, if no row is left.
        With ``per_sample=True`` one value per row, NaN where the row is left out.

    See Also
    --------
    sklearn.metrics.label_ranking_loss : Equal under ``degenerate="sklearn"``.

    Notes
    -----
    The reference is the Matlab code of the ML-kNN authors [1]_. With m kept rows out
    of n it is scikit-learn's value times n / m.
    Time O(n q log q). Memory O(n q): sparse `Y` is made dense as a whole.

    References
    ----------
    .. [1] M.-L. Zhang and Z.-H. Zhou, "ML-KNN: A lazy learning approach to
       multi-label learning", Pattern Recognition 40(7), 2007,
       :doi:`10.1016/j.patcog.2006.12.019`.

    Examples
    --------
    >>> from demurk.metrics import ranking_loss
    >>> Y = [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
    >>> scores = [[0.8, 0.1, 0.6], [0.7, 0.9, 0.2], [0.3, 0.2, 0.1]]
    >>> ranking_loss(Y, scores)
    0.25
    >>> ranking_loss(Y, scores, per_sample=True)
    array([0. , 0.5, nan])
    """
    values = _row_values(_loss_rows, Y, scores, ties, degenerate, observed)
    return values if per_sample else _mean(values, "ranking_loss")


def average_precision(
    Y, scores, *, ties="reference", degenerate="drop", observed=None, per_sample=False
):
    """Mean over relevant labels of the share of relevant ones ranked no lower.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.

    scores : array-like of shape (n_samples, n_labels)
        Scores of the labels, higher is more likely, comparable within a row.

    ties : {"reference", "worst", "average"}, default="reference"
        "reference": of two equal scores the label with the higher column index has
        the better rank. "worst": all labels of a tie take its last rank, as in
        scikit-learn. "average": the expected value when ties are broken at random.

    degenerate : {"drop", "sklearn"}, default="drop"
        What to do with a row that has no relevant or no irrelevant label. "drop":
        leave it out of the mean. "sklearn": count it as 1.

    observed : array-like of bool, shape (n_samples, n_labels) or (n_samples,), \
            default=None
        Entries that take part: an unobserved label is left out of the ranking of
        its row, and a row without any observed label is left out. None takes all
        entries and refuses a -1 in `Y`; for labels with -1 pass
        ``observed=Y != -1``.

    per_sample : bool, default=False
        Return the value of each row instead of the mean.

    Returns
    -------
    score : float or ndarray of shape (n_samples,)
        Mean precision in [0, 1], 1 is best; NaN, with a warning, if no row is left.
        With ``per_sample=True`` one value per row, NaN where the row is left out.

    See Also
    --------
    sklearn.metrics.label_ranking_average_precision_score : Equal under
        ``ties="worst", degenerate="sklearn"``.

    Notes
    -----
    The reference is the Matlab code cited in `ranking_loss`. Without ties, and with
    m kept rows out of n, it is (n * scikit-learn's value - (n - m)) / m. Its result
    depends on the order of the labels when scores tie; "worst" and "average" do not.
    In spite of its name "worst" is not a lower bound: two relevant labels that share
    ranks 2 and 3 score 2/3 each, more than 1/2 and 2/3 in a strict order.
    Time O(n q log q). Memory O(n q): sparse `Y` is made dense as a whole.

    Examples
    --------
    >>> from demurk.metrics import average_precision
    >>> Y = [[1, 0, 0], [0, 1, 1]]
    >>> average_precision(Y, [[0.8, 0.1, 0.6], [0.7, 0.9, 0.2]], per_sample=True)
    array([1.        , 0.83333333])
    """
    values = _row_values(_precision_rows, Y, scores, ties, degenerate, observed)
    return values if per_sample else _mean(values, "average_precision")


def one_error(
    Y, scores, *, ties="reference", degenerate="drop", observed=None, per_sample=False
):
    """Fraction of rows whose top-ranked label is not relevant.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.

    scores : array-like of shape (n_samples, n_labels)
        Scores of the labels, higher is more likely, comparable within a row.

    ties : {"reference", "worst", "average"}, default="reference"
        When several labels share the top score: "reference" counts no error if any
        of them is relevant, "worst" only if all of them are. "average" counts the
        irrelevant share of them, the expected value when ties are broken at random.

    degenerate : {"drop", "sklearn"}, default="drop"
        What to do with a row that has no relevant or no irrelevant label. "drop":
        leave it out of the mean. "sklearn": count every row, so that a row without
        a relevant label is an error (scikit-learn itself has no one-error).

    observed : array-like of bool, shape (n_samples, n_labels) or (n_samples,), \
            default=None
        Entries that take part: an unobserved label is left out of the ranking of
        its row, and a row without any observed label is left out. None takes all
        entries and refuses a -1 in `Y`; for labels with -1 pass
        ``observed=Y != -1``.

    per_sample : bool, default=False
        Return the value of each row instead of the mean.

    Returns
    -------
    loss : float or ndarray of shape (n_samples,)
        Mean loss in [0, 1], 0 is best; NaN, with a warning, if no row is left.
        With ``per_sample=True`` one value per row, NaN where the row is left out.

    See Also
    --------
    average_precision : Looks at the whole ranking, not only at its top.

    Notes
    -----
    The reference is the Matlab code cited in `ranking_loss`.
    Time O(n q log q). Memory O(n q): sparse `Y` is made dense as a whole.

    Examples
    --------
    >>> from demurk.metrics import one_error
    >>> one_error([[1, 0, 0], [0, 1, 1]], [[0.8, 0.1, 0.6], [0.7, 0.5, 0.2]])
    0.5
    """
    values = _row_values(_top_rows, Y, scores, ties, degenerate, observed)
    return values if per_sample else _mean(values, "one_error")


def coverage(
    Y,
    scores,
    *,
    ties="reference",
    degenerate="sklearn",
    normalize="C-1",
    observed=None,
    per_sample=False,
):
    """Count the steps down the ranking of a row that meet all its relevant labels.

    This is the worst rank of a relevant label minus 1, by default divided by its
    largest value C - 1.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.

    scores : array-like of shape (n_samples, n_labels)
        Scores of the labels, higher is more likely, comparable within a row.

    ties : {"reference", "worst", "average"}, default="reference"
        "reference": of two equal scores the label with the higher column index has
        the better rank. "worst": all labels of a tie take its last rank, as in
        scikit-learn. "average": the expected value when ties are broken at random.

    degenerate : {"sklearn", "zero", "drop"}, default="sklearn"
        "sklearn": every row counts, and one without a relevant label contributes -1
        (before division); the reference code does the same, which is why this is the
        default here. "zero": the same with 0 for -1. "drop": leave out rows that have
        no relevant or no irrelevant label.

    normalize : {"C-1", "C"} or None, default="C-1"
        Divisor of a row, C being its number of observed labels. "C-1" is the
        definition; some printed tables agree with "C" only. With "C-1" a row with a
        single observed label is left out. None divides by nothing.

    observed : array-like of bool, shape (n_samples, n_labels) or (n_samples,), \
            default=None
        Entries that take part: an unobserved label is left out of the ranking of
        its row, and a row without any observed label is left out. None takes all
        entries and refuses a -1 in `Y`; for labels with -1 pass
        ``observed=Y != -1``.

    per_sample : bool, default=False
        Return the value of each row instead of the mean.

    Returns
    -------
    loss : float or ndarray of shape (n_samples,)
        Mean coverage, lower is better; NaN, with a warning, if no row is left.
        With ``per_sample=True`` one value per row, NaN where the row is left out.

    See Also
    --------
    sklearn.metrics.coverage_error : Larger by 1 under
        ``ties="worst", normalize=None``.

    Notes
    -----
    The reference is the Matlab code cited in `ranking_loss`.
    Time O(n q log q). Memory O(n q): sparse `Y` is made dense as a whole.

    Examples
    --------
    >>> from demurk.metrics import coverage
    >>> Y = [[1, 0, 0], [0, 1, 1]]
    >>> scores = [[0.8, 0.1, 0.6], [0.7, 0.9, 0.2]]
    >>> coverage(Y, scores)
    0.5
    >>> coverage(Y, scores, normalize=None, per_sample=True)
    array([0., 2.])
    """
    _check_choice("normalize", normalize, ("C-1", "C", None))
    rows = partial(
        _depth_rows, empty=0.0 if degenerate == "zero" else -1.0, normalize=normalize
    )
    choices = (*_DEGENERATE, "zero")
    values = _row_values(rows, Y, scores, ties, degenerate, observed, choices)
    return values if per_sample else _mean(values, "coverage")


class _Ranked(NamedTuple):
    """Rows of labels sorted best first; positions count from 0."""

    relevant: np.ndarray  # bool (n, q): is the label at this position relevant
    start: np.ndarray  # (n, q) first position of the tie group of this position
    end: np.ndarray  # (n, q) its last position
    above: np.ndarray  # (n, q) relevant labels before the group
    inside: np.ndarray  # (n, q) relevant labels in the group
    n_relevant: np.ndarray  # (n,)
    n_observed: np.ndarray  # (n,)


def _rank(truth, scores, observed):
    """Sort each row; equal scores by falling label index, unobserved labels last."""
    # Reversed columns and a stable sort give the higher index the better rank.
    # Scores are finite, so that inf keeps unobserved labels in a group of their own.
    keys = np.where(observed, -scores, np.inf)[:, ::-1]
    order = np.argsort(keys, axis=1, kind="stable")
    keys = np.take_along_axis(keys, order, axis=1)
    relevant = np.take_along_axis(truth[:, ::-1], order, axis=1)

    position = np.arange(keys.shape[1])
    opens = np.ones(keys.shape, dtype=bool)
    opens[:, 1:] = keys[:, 1:] != keys[:, :-1]
    closes = np.ones(keys.shape, dtype=bool)
    closes[:, :-1] = opens[:, 1:]
    start = np.maximum.accumulate(np.where(opens, position, 0), axis=1)
    end = np.where(closes, position, position[-1])[:, ::-1]
    end = np.minimum.accumulate(end, axis=1)[:, ::-1]

    hits = np.cumsum(relevant, axis=1)
    above = np.take_along_axis(hits - relevant, start, axis=1)
    inside = np.take_along_axis(hits, end, axis=1) - above
    n_observed = np.count_nonzero(observed, axis=1)
    return _Ranked(relevant, start, end, above, inside, hits[:, -1], n_observed)


def _loss_rows(ranked, ties):
    strictly = ranked.start - ranked.above
    at_least = ranked.end + 1 - ranked.above - ranked.inside
    errors = (strictly + at_least) / 2 if ties == "average" else at_least
    n_pairs = ranked.n_relevant * (ranked.n_observed - ranked.n_relevant)
    return np.sum(errors, axis=1, where=ranked.relevant) / np.maximum(n_pairs, 1)


def _precision_rows(ranked, ties):
    relevant, start, end, above, inside, n_relevant, _ = ranked
    position = np.arange(relevant.shape[1])
    if ties == "reference":
        precision = np.cumsum(relevant, axis=1) / (position + 1) * relevant
    elif ties == "worst":
        precision = (above + inside) / (end + 1) * relevant
    else:
        # A random order puts a relevant label here with probability inside / size;
        # the others of the group then fall evenly on its remaining places.
        size = end - start + 1
        share_above = (position - start) / np.maximum(size - 1, 1)
        hits = above + 1 + share_above * (inside - 1)
        precision = hits / (position + 1) * inside / size
    total = precision.sum(axis=1)
    return np.where(n_relevant == 0, 1.0, total / np.maximum(n_relevant, 1))


def _top_rows(ranked, ties):
    size = ranked.end[:, 0] + 1
    inside = ranked.inside[:, 0]
    if ties == "reference":
        return (inside == 0).astype(np.float64)
    if ties == "worst":
        return (inside < size).astype(np.float64)
    return 1.0 - inside / size


def _depth_rows(ranked, ties, empty, normalize):
    relevant, start, end, _, inside, n_relevant, n_observed = ranked
    last = relevant.shape[1] - 1 - np.argmax(relevant[:, ::-1], axis=1)
    rows = np.arange(len(last))
    if ties == "reference":
        depth = last.astype(np.float64)
    elif ties == "worst":
        depth = end[rows, last].astype(np.float64)
    else:
        # Expected largest of `hits` places drawn from `size`, counted from 1.
        start, hits = start[rows, last], inside[rows, last]
        size = end[rows, last] - start + 1
        depth = start + hits * (size + 1) / (hits + 1) - 1
    depth[n_relevant == 0] = empty
    if normalize is None:
        return depth
    divisor = n_observed - 1.0 if normalize == "C-1" else n_observed * 1.0
    return depth / np.where(divisor > 0, divisor, np.nan)


def _row_values(
    rule, Y, scores, ties, degenerate, observed, degenerate_choices=_DEGENERATE
):
    """Apply a rule to all rows; NaN for rows that are left out."""
    _check_choice("ties", ties, _TIES)
    _check_choice("degenerate", degenerate, degenerate_choices)
    truth, scores, observed = check_scores(Y, scores, observed)
    n_samples, n_labels = truth.shape
    values = np.empty(n_samples)
    for rows in gen_batches(n_samples, max(1, _CHUNK_ENTRIES // n_labels)):
        ranked = _rank(truth[rows], scores[rows], observed[rows])
        chunk = rule(ranked, ties)
        left_out = ranked.n_observed == 0
        if degenerate == "drop":
            left_out |= ranked.n_relevant == 0
            left_out |= ranked.n_relevant == ranked.n_observed
        values[rows] = np.where(left_out, np.nan, chunk)
    return values


def _mean(values, name):
    kept = ~np.isnan(values)
    if not kept.any():
        reason = "every row is degenerate or without observed labels"
        return undefined(name, reason, stacklevel=4)
    return float(values[kept].mean())


def _check_choice(name, value, choices):
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} is {value!r}; it must be one of {listed}.")
