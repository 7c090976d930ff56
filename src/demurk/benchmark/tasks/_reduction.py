"""One task of the NMLSDR protocol: reduce with murky labels, classify, score."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import lru_cache

from sklearn.preprocessing import FunctionTransformer

from demurk.benchmark.tasks._common import (
    file_checksum,
    make_estimator,
    quiet,
    reason_to_skip,
    unknown_parameter,
)
from demurk.benchmark.tasks._data import Split
from demurk.benchmark.tasks._nmlsdr import PARTS, nmlsdr_data, nmlsdr_score

__all__ = ["reduction"]


def reduction(
    data_set,
    method,
    seed,
    *,
    labeled=0.3,
    flipped=0.1,
    true_labels=True,
    params=None,
    max_samples=None,
):
    """Reduce with noisy, mostly missing labels, classify, and score the test part.

    A method is a reducer, whose space ML-kNN (or the method's ``classifier``) works in,
    or a classifier, which works on the features as they are and sees the murky labels
    unless the method says ``true_labels = true``.

    Parameters
    ----------
    data_set : str
        Name of a set of the NMLSDR paper, in small letters.
    method : dict
        ``estimator`` and its ``params``; for a reducer perhaps ``classifier`` and its
        ``classifier_params``.
    seed : int
        Seed of the corruption, of the synthetic set, and of random methods.
    labeled, flipped, true_labels : float, float, bool
        See :func:`~demurk.benchmark.tasks.nmlsdr_score`.
    params : dict, default=None
        Parameters of the estimator, over those of the method; a method without them is
        skipped.
    max_samples : int, default=None
        Keep the first so many training rows and half as many test rows.

    Returns
    -------
    report : dict of str to float
        The seven measures, and "Cov'/C", coverage over C as the paper prints it.

    Examples
    --------
    >>> from demurk.benchmark.tasks import reduction
    >>> method = {"estimator": "demurk.projection.MDDM", "params": {"n_components": 3}}
    >>> report = reduction("toy", method, 0, max_samples=600)
    >>> bool(report["HL'"] > 0.8)
    True
    """
    data = _data(data_set, seed if data_set == "toy" else 0, max_samples)
    n_samples, n_labels = data.Y_train.shape
    reason = reason_to_skip(method, n_samples, n_labels)
    reason = reason or unknown_parameter(method, params)
    if reason is not None:
        return {"skipped": reason}
    model = make_estimator(method, extra=params, n_labels=n_labels, seed=seed)
    classifier = None
    if not hasattr(model, "transform"):
        model, classifier = FunctionTransformer(), model
        true_labels = method.get("true_labels", False)
    elif "classifier" in method:
        classifier = make_estimator(method, key="classifier", seed=seed)
    with quiet():
        return nmlsdr_score(
            data,
            model,
            seed,
            classifier=classifier,
            labeled=labeled,
            flipped=flipped,
            true_labels=true_labels,
        )


def _checksum(data_set, options):
    return file_checksum(PARTS[data_set][0] if data_set in PARTS else "toy", options)


reduction.checksum = _checksum


@lru_cache(maxsize=2)
def _data(name, seed, max_samples):
    data = nmlsdr_data(name, seed)
    if max_samples is None:
        return data
    n_train, n_test = max_samples, max_samples // 2
    return Split(
        data.X_train[:n_train],
        data.Y_train[:n_train],
        data.X_test[:n_test],
        data.Y_test[:n_test],
    )
