"""Measures of predicted 0/1 labels, and the input checks of all measures."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


def hamming_loss(Y: Any, Y_pred: Any, *, observed: Any = None) -> float:
    """Fraction of the observed entries that are predicted wrongly.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.

    Y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels, 0 or 1.

    observed : array-like of bool, shape (n_samples, n_labels) or (n_samples,), \
            default=None
        Entries that take part. None takes all of them and refuses a -1 in `Y`;
        for labels with -1 pass ``observed=Y != -1``.

    Returns
    -------
    loss : float
        Value in [0, 1], 0 is best. NaN, with a warning, if nothing is observed.

    See Also
    --------
    multilabel_report : All seven measures at once.

    Notes
    -----
    Time and memory O(n q). Sparse input is made dense.

    Examples
    --------
    >>> from demurk.metrics import hamming_loss
    >>> hamming_loss([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.25
    """
    truth, predicted, observed = check_predictions(Y, Y_pred, observed)
    n_observed = np.count_nonzero(observed)
    if n_observed == 0:
        return undefined("hamming_loss", "no entry is observed")
    return float(np.count_nonzero(truth != predicted) / n_observed)


def micro_f1(Y: Any, Y_pred: Any, *, observed: Any = None) -> float:
    """F1 of all observed entries pooled, whatever their label.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.

    Y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels, 0 or 1.

    observed : array-like of bool, shape (n_samples, n_labels) or (n_samples,), \
            default=None
        Entries that take part. None takes all of them and refuses a -1 in `Y`;
        for labels with -1 pass ``observed=Y != -1``.

    Returns
    -------
    score : float
        Value in [0, 1], 1 is best. It is 0 if no label is true and none predicted,
        and NaN, with a warning, if nothing is observed.

    See Also
    --------
    macro_f1 : The mean of one F1 per label.

    Notes
    -----
    Time and memory O(n q). Sparse input is made dense.

    Examples
    --------
    >>> from demurk.metrics import micro_f1
    >>> micro_f1([[1, 0], [0, 1]], [[1, 1], [0, 1]])
    0.8
    """
    truth, predicted, observed = check_predictions(Y, Y_pred, observed)
    if not observed.any():
        return undefined("micro_f1", "no entry is observed")
    hits = np.count_nonzero(truth & predicted)
    total = np.count_nonzero(truth) + np.count_nonzero(predicted)
    return float(2 * hits / total) if total else 0.0


def macro_f1(Y: Any, Y_pred: Any, *, observed: Any = None) -> float:
    """Mean over the labels of the F1 of each label.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.

    Y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels, 0 or 1.

    observed : array-like of bool, shape (n_samples, n_labels) or (n_samples,), \
            default=None
        Entries that take part. None takes all of them and refuses a -1 in `Y`;
        for labels with -1 pass ``observed=Y != -1``.

    Returns
    -------
    score : float
        Value in [0, 1], 1 is best. A label that is neither true nor predicted
        anywhere counts 0, as in the reference code and in scikit-learn. A label
        without an observed entry is left out of the mean; if that is every label
        the result is NaN, with a warning.

    See Also
    --------
    micro_f1 : The F1 of all entries pooled.

    Notes
    -----
    Time and memory O(n q). Sparse input is made dense.

    Examples
    --------
    >>> from demurk.metrics import macro_f1
    >>> macro_f1([[1, 0], [0, 1]], [[1, 0], [0, 0]])
    0.5
    """
    truth, predicted, observed = check_predictions(Y, Y_pred, observed)
    known = observed.any(axis=0)
    if not known.any():
        return undefined("macro_f1", "no entry is observed")
    hits = np.count_nonzero(truth & predicted, axis=0)
    total = np.count_nonzero(truth, axis=0) + np.count_nonzero(predicted, axis=0)
    f1 = 2 * hits / np.maximum(total, 1)
    return float(f1[known].mean())


def check_predictions(Y: Any, Y_pred: Any, observed: Any) -> tuple[Mask, Mask, Mask]:
    """Validate labels and predicted labels; both are False where not observed."""
    truth, observed = check_truth(Y, observed)
    predicted = _dense(Y_pred, "Y_pred")
    _check_shape(predicted, "Y_pred", truth.shape)
    _check_binary(predicted, observed, "Y_pred", "predictions must be 0 or 1")
    return truth, (predicted == 1) & observed, observed


def check_scores(Y: Any, scores: Any, observed: Any) -> tuple[Mask, Floats, Mask]:
    """Validate labels and scores; the labels are False where not observed."""
    truth, observed = check_truth(Y, observed)
    scores = np.asarray(_dense(scores, "scores"), dtype=np.float64)
    _check_shape(scores, "scores", truth.shape)
    finite = np.isfinite(scores)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise ValueError(
            f"scores has {scores[row, column]} at row {row}, column {column}; "
            "every score must be a finite number."
        )
    return truth, scores, observed


def check_truth(Y: Any, observed: Any) -> tuple[Mask, Mask]:
    """Validate labels and mask; return both as boolean arrays (n, q)."""
    Y = _dense(Y, "Y")
    if Y.size == 0:
        raise ValueError(
            f"Y has shape {Y.shape}; at least one row and one label are needed."
        )
    remedy = "labels must be 0 or 1 (mask unobserved entries: observed=Y != -1)"
    if observed is None:
        observed = np.ones(Y.shape, dtype=bool)
    else:
        observed = _check_observed(observed, Y.shape)
        remedy = "labels must be 0 or 1 wherever observed is True"
    _check_binary(Y, observed, "Y", remedy)
    return (Y == 1) & observed, observed


def undefined(name: str, reason: str, *, stacklevel: int = 3) -> float:
    """Warn that a measure has no value here, and return NaN."""
    warnings.warn(
        f"{name} is undefined and set to NaN: {reason}.",
        UndefinedMetricWarning,
        stacklevel=stacklevel,
    )
    return float("nan")


def _dense(array: Any, name: str) -> NDArray[Any]:
    """Dense 2-D numeric array of an array-like, a frame or a sparse matrix."""
    if sparse.issparse(array):
        array = array.toarray()
    if np.ma.is_masked(array):
        raise ValueError(
            f"{name} is a masked array; pass {name}.filled(0) and the mask as "
            f"observed=~np.ma.getmaskarray({name})."
        )
    array = np.asarray(array)
    if array.ndim != 2:
        raise ValueError(
            f"{name} has {array.ndim} dimension(s); an array of shape "
            "(n_samples, n_labels) is needed."
        )
    if array.dtype.kind in "biuf":
        return array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} has entries that are not numbers; convert it to a numeric array."
        ) from None


def _check_shape(array: NDArray[Any], name: str, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ValueError(
            f"{name} has shape {array.shape} but Y has shape {shape}; both must agree."
        )


def _check_observed(observed: Any, shape: tuple[int, ...]) -> Mask:
    observed = observed.toarray() if sparse.issparse(observed) else observed
    observed = np.asarray(observed)
    if observed.dtype != bool:
        raise ValueError(
            f"observed has dtype {observed.dtype}; pass booleans, for example "
            "observed=Y != -1."
        )
    if observed.shape == shape[:1]:
        return np.repeat(observed[:, np.newaxis], shape[1], axis=1)
    if observed.shape != shape:
        raise ValueError(
            f"observed has shape {observed.shape} but Y has shape {shape}; pass shape "
            f"{shape} or ({shape[0]},)."
        )
    return observed


def _check_binary(array: NDArray[Any], observed: Mask, name: str, remedy: str) -> None:
    wrong = observed & (array != 0) & (array != 1)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise ValueError(
            f"{name} has {array[row, column]} at row {row}, column {column}; {remedy}."
        )
