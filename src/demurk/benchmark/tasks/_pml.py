"""The protocol of the PML-LCom paper: random splits, injected noise, five measures."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import time
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from demurk.benchmark.tasks._data import Split, dense
from demurk.datasets import load_dataset
from demurk.labels import add_extra_labels
from demurk.metrics import (
    average_precision,
    coverage,
    hamming_loss,
    one_error,
    ranking_loss,
)
from demurk.metrics._noise import noise_report
from demurk.partial_multilabel._base import kept_candidates

__all__ = [
    "PMLData",
    "pml_choose",
    "pml_data",
    "pml_score",
    "pml_split",
    "pml_transductive",
]

# The paper's names of sets that we call otherwise. Of mirflickr, half is at hand.
NAMES = {"Corel5k": "corel5k", "CAL500": "cal500", "mirflickr": "mirflickr_5000"}


@dataclass(frozen=True)
class PMLData:
    """A data set with true labels, and candidates where it has its own.

    Attributes
    ----------
    X : {ndarray, csr_array} of shape (n_samples, n_features)
        Features as they are.
    Y : ndarray of shape (n_samples, n_labels), int8
        True labels.
    candidates : ndarray of shape (n_samples, n_labels), int8, or None
        Candidates.
    name : str
        Name of the data set.
    """

    X: np.ndarray | csr_array
    Y: np.ndarray
    candidates: np.ndarray | None
    name: str


def pml_data(name, *, transposed=False, data_home=None):
    """Load a data set of the PML-LCom paper.

    Parameters
    ----------
    name : str
        Its name in the paper, or any known multi-label data set.
    transposed : bool, default=False
        Whether the columns of the features are the samples. For YeastCC and YeastMF
        only, whose square, non-symmetric features can be read either way.
    data_home : path-like, default=None
        Where the files are; see :func:`~demurk.datasets.load_dataset`.

    Returns
    -------
    data : PMLData
        Features, true labels and, where there are any, candidates.

    Examples
    --------
    >>> from demurk.benchmark.tasks import pml_data
    >>> pml_data("synthetic").Y.shape
    (8000, 4)
    """
    found = load_dataset(NAMES.get(name, name), data_home=data_home)
    X, Y = found.data, np.asarray(found.target)
    if Y.ndim != 2:
        raise ValueError(
            f"Samples of '{name}' have one class each: choose a multi-label data set."
        )
    if transposed:
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"The features of '{name}' have shape {X.shape}: only square ones can "
                "be read by columns."
            )
        X = X.T
    X = csr_array(X, dtype=np.float64) if issparse(X) else dense(X)
    return PMLData(X, Y, found.get("candidates"), name)


def pml_split(data, seed, amount=None, *, test_size=0.3, standardize=True):
    """Split at random and add noise to the training part.

    Parameters
    ----------
    data : PMLData
        Data set.
    seed : int
        Seed of split and noise.
    amount : float, default=None
        Noise a, see :func:`~demurk.labels.add_extra_labels`; None for a data set with
        candidates of its own.
    test_size : float, default=0.3
        Share of the test rows.
    standardize : bool, default=True
        Whether dense features are standardised on the training rows.

    Returns
    -------
    split : Split
        Both parts, the former with candidates as what is given. Dense features are
        standardised on the training rows, sparse ones stay as they are.

    Examples
    --------
    >>> from demurk.benchmark.tasks import pml_data, pml_split
    >>> split = pml_split(pml_data("synthetic"), 0, amount=1)
    >>> split.given.shape
    (5600, 4)
    """
    if (amount is None) == (data.candidates is None):
        has = "has candidates of its own" if amount is not None else "has none"
        raise ValueError(
            f"'{data.name}' {has}: give an amount of noise for data without candidates "
            "only."
        )
    rows = np.arange(len(data.Y))
    train, test = train_test_split(rows, test_size=test_size, random_state=seed)
    if amount is None:
        candidates = data.candidates[train]
    else:
        noisy = add_extra_labels(data.Y[train], amount, random_state=seed)
        candidates = noisy.labels
    X_train, X_test = data.X[train], data.X[test]
    if standardize and not issparse(X_train):
        scaler = StandardScaler().fit(X_train)
        X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
    # scikit-learn's ridge sums labels in their own type, and int8 overflows.
    candidates = candidates.astype(np.int64)
    return Split(X_train, data.Y[train], X_test, data.Y[test], candidates)


def measures(Y, predicted, scores):
    """The five measures of the paper; coverage over q, ranks counted from zero."""
    return {
        "hamming loss": hamming_loss(Y, predicted),
        "ranking loss": ranking_loss(Y, scores),
        "one error": one_error(Y, scores),
        "coverage": coverage(Y, scores, normalize="C", degenerate="drop"),
        "average precision": average_precision(Y, scores, ties="worst"),
    }


def pml_score(model, split):
    """Fit to the candidates, score the test rows and the noise that was found.

    Parameters
    ----------
    model : classifier
        A partial multi-label or a plain multi-label classifier.
    split : Split
        Data.

    Returns
    -------
    report : dict of str to float
        The five measures, "noise AUC", "noise AP" and "noise P@n" among the candidates
        of the training rows, "noise rate", and "seconds" of the fit.

    Examples
    --------
    >>> from demurk.benchmark.tasks import pml_data, pml_score, pml_split
    >>> from demurk.partial_multilabel import FPML
    >>> split = pml_split(pml_data("synthetic"), 0, amount=1, test_size=0.9)
    >>> report = pml_score(FPML(random_state=0), split)
    >>> bool(report["ranking loss"] < 0.3)
    True
    """
    start = time.process_time()
    model = clone(model).fit(split.X_train, split.given)
    seconds = time.process_time() - start
    report = measures(
        split.Y_test, model.predict(split.X_test), label_scores(model, split.X_test)
    )
    noise = noise_report(split.given, split.Y_train, 1 - confidences(model, split))
    report |= {f"noise {name}": noise[name] for name in ("AUC", "AP", "P@n")}
    return {**report, "noise rate": noise["noise"], "seconds": seconds}


def pml_transductive(model, split):
    """Fit to the candidates and score the labels of the training rows themselves.

    Parameters
    ----------
    model : classifier or None
        A classifier; None stands for the trivial score, the candidates themselves.
    split : Split
        Data, of which the test rows are not used.

    Returns
    -------
    report : dict of str to float
        The five measures over labels that are no candidates as well, which the trivial
        score may win, and those of the noise among the candidates.

    Examples
    --------
    >>> from demurk.benchmark.tasks import pml_data, pml_split, pml_transductive
    >>> split = pml_split(pml_data("synthetic"), 0, amount=1)
    >>> pml_transductive(None, split)["noise AUC"]
    0.5
    """
    is_candidate = split.given > 0
    belief = is_candidate.astype(np.float64)
    predicted = is_candidate
    if model is not None:
        model = clone(model).fit(split.X_train, split.given)
        belief = confidences(model, split)
        belief[~is_candidate] = belief.min() - 1
        predicted = np.zeros_like(is_candidate)
        predicted[is_candidate] = kept_candidates(belief[is_candidate])
    report = measures(split.Y_train, predicted.astype(int), belief)
    noise = noise_report(split.given, split.Y_train, -belief)
    return report | {f"noise {name}": noise[name] for name in ("AUC", "AP", "P@n")}


def pml_choose(models, split, seed=0):
    """Choose a model on a part of the training rows, without any true label.

    Parameters
    ----------
    models : sequence of classifiers
        What to choose from.
    split : Split
        Data, of which only training rows and candidates are used.
    seed : int, default=0
        Seed of the inner split.

    Returns
    -------
    best : classifier
        The model of least ranking loss against the candidates of a fifth of the
        training rows; the first one on ties.

    Examples
    --------
    >>> from demurk.benchmark.tasks import pml_choose, pml_data, pml_split
    >>> from demurk.multilabel import MLkNN
    >>> split = pml_split(pml_data("synthetic"), 0, amount=1, test_size=0.9)
    >>> pml_choose([MLkNN(1), MLkNN(20)], split)
    MLkNN(n_neighbors=20)
    """
    if len(models) == 1:
        return models[0]
    rows = np.arange(len(split.given))
    train, held = train_test_split(rows, test_size=0.2, random_state=seed)
    losses = []
    for model in models:
        fitted = clone(model).fit(split.X_train[train], split.given[train])
        scores = label_scores(fitted, split.X_train[held])
        losses.append(ranking_loss(split.given[held], scores))
    return models[int(np.argmin(losses))]


def label_scores(model, X):
    """Scores that rank the labels of a row."""
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)


def confidences(model, split):
    """Belief of a fitted model in the labels of its training rows, (n, q)."""
    if not hasattr(model, "noise_scores_"):
        return label_scores(model, split.X_train)
    stored = model.noise_scores_.tocoo()
    belief = np.zeros(stored.shape)
    belief[stored.coords] = 1 - stored.data
    return belief
