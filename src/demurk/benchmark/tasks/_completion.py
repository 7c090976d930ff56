"""One task of the SSDR-MC protocol: complete the labels of the other rows."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import lru_cache

import numpy as np
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

from demurk.benchmark.tasks._common import (
    file_checksum,
    make_estimator,
    quiet,
    reason_to_skip,
    unknown_parameter,
)
from demurk.benchmark.tasks._data import dense
from demurk.datasets import load_dataset
from demurk.metrics import hamming_loss, micro_f1

__all__ = ["completion"]

MAX_DIRECTIONS = 100


def completion(
    data_set,
    method,
    seed,
    *,
    share,
    params=None,
    max_samples=None,
    unit_length=False,
):
    """Learn from the labels of some rows, and score those of all others.

    Parameters
    ----------
    data_set : str
        Multi-label data, or "digits", whose ten classes become ten labels.
    method : dict
        ``estimator`` and its ``params``; perhaps ``variance``, the share of it that
        the principal components keep on which the method works.
    seed : int
        Seed of the labelled rows and of random methods.
    share : float
        Share of the rows that are labelled, two rows at least.
    params : dict, default=None
        Parameters over those of the method; methods that lack them are skipped.
    max_samples : int, default=None
        Larger data are cut to a random part of this size, the same for all methods.
    unit_length : bool, default=False
        Whether every sample is divided by its length.

    Returns
    -------
    report : dict of str to float
        "micro F1" and "Hamming loss" on the unlabelled rows; "iterations" of a method
        that counts them.

    Examples
    --------
    >>> from demurk.benchmark.tasks import completion
    >>> method = {"estimator": "demurk.propagation.MLGFHF"}
    >>> report = completion("digits", method, 0, share=0.1, max_samples=400)
    >>> bool(report["micro F1"] > 0.7)
    True
    """
    X, Y = _data(data_set, max_samples, unit_length)
    reason = reason_to_skip(method, *Y.shape)
    reason = reason or unknown_parameter(method, params)
    if reason is not None:
        return {"skipped": reason}
    if "variance" in method:
        X = _principal(data_set, max_samples, unit_length, method["variance"])
    known = _labeled_rows(len(X), share, seed)
    model = make_estimator(method, extra=params, n_labels=Y.shape[1], seed=seed)
    with quiet():
        model.fit(X, np.where(known[:, None], Y, -1))
        if hasattr(model, "transduction_"):
            predicted = model.transduction_[~known]
        else:
            predicted = model.predict(X[~known])
    report = {
        "micro F1": micro_f1(Y[~known], predicted),
        "Hamming loss": hamming_loss(Y[~known], predicted),
    }
    if hasattr(model, "n_iter_"):
        report["iterations"] = model.n_iter_
    return report


completion.checksum = file_checksum


def _labeled_rows(n, share, seed):
    """Rows that keep their labels; the same for every method."""
    known = np.zeros(n, dtype=bool)
    order = np.random.RandomState(1000 + seed).permutation(n)
    known[order[: max(2, round(share * n))]] = True
    return known


@lru_cache(maxsize=1)
def _data(name, max_samples, unit_length):
    """Features and 0/1 labels."""
    data = load_dataset(name)
    X, Y = dense(data.data), np.asarray(data.target)
    if name == "digits":
        X, Y = X / 16, np.eye(10, dtype=np.int64)[Y]
    if max_samples is not None and len(X) > max_samples:
        rows = np.random.RandomState(0).permutation(len(X))[:max_samples]
        X, Y = X[rows], Y[rows]
    return normalize(X) if unit_length else X, Y.astype(np.int64)


@lru_cache(maxsize=1)
def _principal(name, max_samples, unit_length, variance):
    """So much of the variance, at most 100 directions; the paper does not say."""
    X, _ = _data(name, max_samples, unit_length)
    found = PCA(min(MAX_DIRECTIONS, *X.shape), random_state=0).fit(X)
    kept = np.searchsorted(np.cumsum(found.explained_variance_ratio_), variance) + 1
    return found.transform(X)[:, :kept]
