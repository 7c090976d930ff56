"""The protocol of the CENDA paper: candidate sets, ten folds, paired tests."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold
from sklearn.preprocessing import StandardScaler

from demurk.benchmark.tasks._data import dense
from demurk.datasets import load_dataset
from demurk.labels import add_candidates

__all__ = [
    "PartialLabelData",
    "PartialLabelFold",
    "partial_label_accuracy",
    "partial_label_data",
    "partial_label_folds",
]


@dataclass(frozen=True)
class PartialLabelData:
    """A data set with candidate sets and the truth they hide.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Features as they are.
    candidates : ndarray of shape (n_samples, n_classes), int8
        Candidate sets.
    truth : ndarray of shape (n_samples,)
        Column of the true class; used for scores only.
    name : str
        Name of the data set.
    """

    X: np.ndarray
    candidates: np.ndarray
    truth: np.ndarray
    name: str


@dataclass(frozen=True)
class PartialLabelFold:
    """One fold, standardised and perhaps reduced.

    Parameters
    ----------
    number : int
        Which fold.
    X_train, X_test : ndarray of shape (n_samples, n_features)
        Features.
    candidates : ndarray of shape (n_train, n_classes)
        Candidate sets of the training rows.
    truth : ndarray of shape (n_test,)
        True classes of the test rows.
    confidences : ndarray of shape (n_train, n_classes) or None
        What the reducer believes about the training rows.
    """

    number: int
    X_train: np.ndarray
    X_test: np.ndarray
    candidates: np.ndarray
    truth: np.ndarray
    confidences: np.ndarray | None = None


def partial_label_data(
    name, n_extra=None, *, fraction=1.0, coupling=None, seed=0, data_home=None
):
    """Load a data set and, if it has none, make its candidate sets.

    Parameters
    ----------
    name : str
        Known data set with candidate sets ("lost", "FG-NET") or with one class per
        sample.
    n_extra : int, default=None
        Number r of false candidates, for data with one class per sample.
    fraction : float, default=1.0
        Share p of the samples that get false candidates.
    coupling : float, default=None
        Probability eps that the false candidate is the partner of the true class; see
        :func:`~demurk.labels.add_candidates`.
    seed : int, default=0
        Seed of the candidate sets. They are made once, before any fold, so that all
        methods see the same ones.
    data_home : path-like, default=None
        Where the files are; see :func:`~demurk.datasets.load_dataset`.

    Returns
    -------
    data : PartialLabelData
        Features, candidate sets and truth.

    Examples
    --------
    >>> from demurk.benchmark.tasks import partial_label_data
    >>> data = partial_label_data("digits", n_extra=2)
    >>> data.X.shape, int(data.candidates.sum(axis=1).max())
    ((1797, 64), 3)
    """
    found = load_dataset(name, data_home=data_home)
    X = dense(found.data)
    candidates = found.get("candidates")
    truth = np.asarray(found.target)
    if truth.ndim != 1:
        raise ValueError(
            f"Samples of '{name}' have several labels each: choose a data set with "
            "candidate sets or with one class per sample."
        )
    if candidates is not None:
        if n_extra is not None:
            raise ValueError(
                f"'{name}' has candidate sets of its own: leave n_extra at None."
            )
        return PartialLabelData(X, candidates, truth, name)
    if n_extra is None:
        raise ValueError(
            f"'{name}' has one class per sample: give the number n_extra of false "
            "candidates."
        )
    made = add_candidates(
        truth,
        n_extra,
        classes=range(len(found.target_names)),
        fraction=fraction,
        coupling=coupling,
        random_state=seed,
    )
    return PartialLabelData(X, made.labels, truth, name)


def partial_label_folds(
    data, reducer=None, *, n_splits=10, seed=0, transductive=False, only=None
):
    """Split, standardise and reduce, one fold after the other.

    Parameters
    ----------
    data : PartialLabelData
        Data set.
    reducer : transformer, default=None
        Fitted to features and candidate sets; None keeps the features.
    n_splits : int, default=10
        Number of folds, plain random ones.
    seed : int, default=0
        Seed of the folds.
    transductive : bool, default=False
        Standardise and reduce with all rows, the test rows and their candidate sets
        included, and split then. The accuracies of the CENDA paper are reached this
        way only; no estimate of the accuracy on new data is made thus.
    only : collection of int, default=None
        The folds wanted; None makes all.

    Yields
    ------
    fold : PartialLabelFold
        Reduced features are divided by one number, such that those of the training
        rows have unit variance on average. Neighbours do not change, but learners that
        know a scale get the one they expect.

    Examples
    --------
    >>> from demurk.benchmark.tasks import partial_label_data, partial_label_folds
    >>> data = partial_label_data("digits", n_extra=1)
    >>> [len(fold.truth) for fold in partial_label_folds(data, only=[0, 9])]
    [180, 179]
    """
    splits = KFold(n_splits, shuffle=True, random_state=seed).split(data.X)
    whole = None
    for number, (train, test) in enumerate(splits):
        if only is not None and number not in only:
            continue
        if not transductive:
            reduced = _reduce(reducer, data.X, data.candidates, train)
        else:
            if whole is None:
                rows = np.arange(len(data.X))
                whole = _reduce(reducer, data.X, data.candidates, rows)
            reduced = whole
        Z, confidences = reduced
        spread = np.sqrt(np.mean(Z[train].var(axis=0)))
        if reducer is not None and spread > 0:
            Z = Z / spread
        if confidences is not None and transductive:
            confidences = confidences[train]
        yield PartialLabelFold(
            number,
            Z[train],
            Z[test],
            data.candidates[train],
            data.truth[test],
            confidences,
        )


def _reduce(reducer, X, candidates, rows):
    """All rows in the space learned from some, and confidences of those."""
    Z = StandardScaler().fit(X[rows]).transform(X)
    if reducer is None:
        return Z, None
    fitted = clone(reducer).fit(Z[rows], candidates[rows])
    return fitted.transform(Z), getattr(fitted, "label_distributions_", None)


def partial_label_accuracy(learner, fold):
    """Fit a learner to a fold and score it on the true classes.

    Parameters
    ----------
    learner : classifier
        Learner for candidate sets. A random learner gets the number of the fold as
        its seed. One that votes with confidences (``vote="confidence"``) gets those of
        the reducer, if it has any.
    fold : PartialLabelFold
        Fold.

    Returns
    -------
    accuracy : float
        Share of the test rows whose class is found.

    Examples
    --------
    >>> from demurk.benchmark.tasks import (partial_label_accuracy, partial_label_data,
    ...                                     partial_label_folds)
    >>> from demurk.partial_label import PLkNN
    >>> data = partial_label_data("digits", n_extra=1)
    >>> fold = next(partial_label_folds(data))
    >>> bool(partial_label_accuracy(PLkNN(), fold) > 0.9)
    True
    """
    learner = clone(learner)
    parameters = learner.get_params()
    if parameters.get("random_state", 0) is None:
        learner.set_params(random_state=fold.number)
    options = {}
    if parameters.get("vote") == "confidence" and fold.confidences is not None:
        options["label_distributions"] = fold.confidences
    learner.fit(fold.X_train, fold.candidates, **options)
    return float(np.mean(learner.predict(fold.X_test) == fold.truth))
