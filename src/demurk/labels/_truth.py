"""Labels that predictions are compared with."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from demurk.labels._check import read_raw
from demurk.labels._data import LabelData, Mask
from demurk.labels._load import load_labels
from demurk.labels._sets import short

__all__ = ["NothingObserved", "Truth", "check_truth", "refuse_unobserved"]


# No Exception: scikit-learn turns each of those, raised by a score, into NaN, and its
# searches then pick the first of the parameters they were to compare.
class NothingObserved(BaseException):
    """Raised by scores when not one label of the test samples was observed.

    It is no `Exception`, so that cross-validation and searches stop instead of going
    on with NaN in place of the score; ``except NothingObserved`` catches it.

    See Also
    --------
    demurk.model_selection.LabeledKFold : Tests on labelled samples only.

    Examples
    --------
    >>> from demurk.labels import NothingObserved
    >>> from demurk.multilabel import MLkNN
    >>> model = MLkNN(1).fit([[0], [1], [2]], [0, 0, 1])
    >>> try:
    ...     model.score([[0], [1]], [-1, -1])
    ... except NothingObserved:
    ...     print("nothing to compare with")
    nothing to compare with
    """


@dataclass(frozen=True, eq=False)
class Truth:
    """Labels in the columns of a fitted model.

    Parameters
    ----------
    values : ndarray of bool of shape (n_samples, n_labels)
        Labels that a sample has.
    observed : ndarray of bool of shape (n_samples, n_labels)
        Where `values` says something.
    foreign : ndarray of bool of shape (n_samples,)
        Samples with a label that the model does not know.
    """

    values: Mask
    observed: Mask
    foreign: Mask


def check_truth(
    y: Any,
    n_samples: int | None,
    classes: NDArray[Any],
    *,
    kind: str = "labels",
    observed: Any = None,
    columns: str | None = None,
) -> Truth:
    """Read the labels of test samples for a fitted model.

    Parameters
    ----------
    y : array-like
        Labels in any form that :func:`check_labels` reads.
    n_samples : int or None
        Number of test samples, where it is to be checked.
    classes : ndarray of shape (n_labels,)
        Labels or classes of the model. A fold of sets or of single classes may lack
        some of them; the columns of a frame are found by their names.
    kind, observed, columns
        As in :func:`check_labels`.

    Returns
    -------
    truth : Truth
        The labels in the order of `classes`.

    Raises
    ------
    NothingObserved
        If no label is observed.
    """
    raw = load_labels(y)
    labels = read_raw(raw, n_samples, kind, observed, columns)
    refuse_unobserved(labels.observed)
    return _aligned(labels, classes, any_columns=labels.single or raw.from_sets)


def refuse_unobserved(observed: Mask) -> None:
    """Refuse test samples without a label to compare with.

    Parameters
    ----------
    observed : ndarray of bool of shape (n_samples, n_labels)
        Which labels of the test samples were observed.
    """
    if not observed.any():
        raise NothingObserved(
            f"None of the {len(observed)} test samples has an observed label, which "
            "leaves nothing to score; pass cv=LabeledKFold() of "
            "demurk.model_selection, which tests on labelled samples only."
        )


def _aligned(labels: LabelData, classes: NDArray[Any], any_columns: bool) -> Truth:
    given = labels.values > 0
    in_place = labels.n_labels == len(classes) and (
        np.array_equal(labels.classes, classes)
        or (not any_columns and (_plain(labels.classes) or _plain(classes)))
    )
    if in_place:
        return Truth(given, labels.observed, np.zeros(len(given), dtype=bool))
    place = {value: column for column, value in enumerate(classes.tolist())}
    targets = [place.get(value, -1) for value in labels.classes.tolist()]
    known = np.array(targets) >= 0
    if not any_columns and (labels.n_labels != len(classes) or not known.all()):
        raise ValueError(
            f"y has the labels {short(labels.classes.tolist())}, but the model was "
            f"fitted with {short(classes.tolist())}: give the same columns."
        )
    values = np.zeros((len(given), len(classes)), dtype=bool)
    # What a set or a single class does not name, the sample has not.
    observed = np.repeat(labels.labeled[:, np.newaxis], len(classes), axis=1)
    to = np.array(targets)[known]
    values[:, to], observed[:, to] = given[:, known], labels.observed[:, known]
    return Truth(values, observed, np.any(given[:, ~known], axis=1))


def _plain(classes: NDArray[Any]) -> bool:
    """Whether these are column numbers, given to what has no names."""
    return np.array_equal(classes, np.arange(len(classes)))
