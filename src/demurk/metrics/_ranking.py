"""Measures of label scores: ranking loss, average precision, one-error, coverage.

What they make of one row is in ``_ranking_rows``.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import partial
from typing import Any

from demurk.metrics._ranking_rows import (
    DEGENERATE,
    check_choice,
    depth_rows,
    loss_rows,
    mean_of_rows,
    precision_rows,
    row_values,
    top_rows,
)


def ranking_loss(
    Y: Any,
    scores: Any,
    *,
    ties: str = "reference",
    degenerate: str = "drop",
    observed: Any = None,
    per_sample: bool = False,
) -> Any:
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
    values = row_values(loss_rows, Y, scores, ties, degenerate, observed)
    return values if per_sample else mean_of_rows(values, "ranking_loss")


def average_precision(
    Y: Any,
    scores: Any,
    *,
    ties: str = "reference",
    degenerate: str = "drop",
    observed: Any = None,
    per_sample: bool = False,
) -> Any:
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
    values = row_values(precision_rows, Y, scores, ties, degenerate, observed)
    return values if per_sample else mean_of_rows(values, "average_precision")


def one_error(
    Y: Any,
    scores: Any,
    *,
    ties: str = "reference",
    degenerate: str = "drop",
    observed: Any = None,
    per_sample: bool = False,
) -> Any:
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
    values = row_values(top_rows, Y, scores, ties, degenerate, observed)
    return values if per_sample else mean_of_rows(values, "one_error")


def coverage(
    Y: Any,
    scores: Any,
    *,
    ties: str = "reference",
    degenerate: str = "sklearn",
    normalize: Any = "C-1",
    observed: Any = None,
    per_sample: bool = False,
) -> Any:
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
    check_choice("normalize", normalize, ("C-1", "C", None))
    rows = partial(
        depth_rows, empty=0.0 if degenerate == "zero" else -1.0, normalize=normalize
    )
    choices = (*DEGENERATE, "zero")
    values = row_values(rows, Y, scores, ties, degenerate, observed, choices)
    return values if per_sample else mean_of_rows(values, "coverage")
