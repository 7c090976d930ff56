"""Which entries of a label matrix are wrong?"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import time
from functools import lru_cache

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from demurk.benchmark.tasks._common import (
    file_checksum,
    make_estimator,
    quiet,
    reason_to_skip,
)
from demurk.benchmark.tasks._spoiled import dense_data, wrong_entries

__all__ = ["audit"]


def audit(
    data_set,
    method,
    seed,
    *,
    noise="symmetric",
    rate=0.1,
    first_seed=100,
    max_samples=800,
):
    """Spoil labels, let a method find the wrong ones, and score its list.

    Parameters
    ----------
    data_set : str
        A name that :func:`~demurk.datasets.load_dataset` knows, or "toy".
    method : dict
        ``estimator`` and its ``params``. After ``fit(X, Y)`` it has ``scores_``,
        larger for more suspect entries; if it has ``flags_`` too, or ``wrong_proba_``
        and ``n_suspects_`` as :class:`~demurk.audit.LabelAudit`, what it calls wrong
        is scored as well.
    seed : int
        Seed of the rows, the noise and random methods.
    noise, rate : str and float, default="symmetric", 0.1
        See :func:`~demurk.benchmark.tasks._spoiled.wrong_entries`.
    first_seed : int, default=100
        Added to the seed; smaller ones served the design.
    max_samples : int, default=800
        Rows at most, and never more than two thirds of the set.

    Returns
    -------
    report : dict of str to float
        - where there are errors: "AP" and "AUC" of the list, and "precision at the
          true number";
        - if the method calls entries wrong: "share flagged", "error of the share" of
          entries called wrong, and with errors "flag F1" and "list F1"; if it has
          ``other_flags()``, "flag F1" of each by its name;
        - "seconds", CPU time of the fit; and 1 for the kind of noise that was found.

    Examples
    --------
    >>> from demurk.benchmark.tasks import audit
    >>> method = {"estimator": "demurk.audit.LabelAudit"}
    >>> bool(audit("toy", method, 0, max_samples=200)["AP"] > 0.3)
    True
    """
    seed += first_seed
    X, Y, wrong = _spoiled(data_set, seed, noise, rate, max_samples)
    reason = reason_to_skip(method, *Y.shape)
    if reason is not None:
        return {"skipped": reason}
    model = make_estimator(method, seed=seed)
    start = time.process_time()
    with quiet():
        model.fit(X, Y)
    seconds = time.process_time() - start + getattr(model, "shared_seconds_", 0.0)
    flags, n_expected = _called_wrong(model)
    report = _report(wrong, model.scores_, flags, n_expected)
    if hasattr(model, "noise_") and flags is not None:
        report[f"noise {model.noise_}"] = 1.0
    if wrong.any() and hasattr(model, "other_flags"):
        for name, other in model.other_flags().items():
            report[f"flag F1, {name}"] = _flag_f1(wrong, other)
    return report | {"seconds": seconds}


audit.checksum = file_checksum


@lru_cache(maxsize=1)
def _spoiled(name, seed, noise, rate, max_samples):
    """Features and spoiled labels of the rows, and which entries are wrong."""
    X, Y = dense_data(name, seed if name == "toy" else 0)
    rows = np.random.RandomState(seed).permutation(len(X))
    rows = rows[: min(2 * len(X) // 3, max_samples)]
    X, Y = X[:, np.ptp(X, axis=0) > 0][rows], Y[rows]
    rng = np.random.RandomState(1000 + seed)
    wrong = wrong_entries(noise, rate, X, Y, rng)
    return X, np.where(wrong, 1 - Y, Y), wrong


def _called_wrong(model):
    """Entries that a method calls wrong, and how long its list is."""
    if hasattr(model, "flags_"):
        return model.flags_, int(model.flags_.sum())
    if hasattr(model, "wrong_proba_") and model.noise != "none":
        return model.wrong_proba_ > 0.5, model.n_suspects_
    return None, None


def _report(wrong, scores, flags, n_expected):
    """How well the errors are ranked, flagged and counted."""
    n_wrong = int(wrong.sum())
    out = {}
    order = np.argsort(-scores, axis=None, kind="stable")
    if n_wrong:
        out["AP"] = average_precision_score(wrong.ravel(), scores.ravel())
        out["AUC"] = roc_auc_score(wrong.ravel(), scores.ravel())
        out["precision at the true number"] = wrong.ravel()[order[:n_wrong]].mean()
    if flags is not None:
        out["share flagged"] = flags.mean()
        out["error of the share"] = n_expected / wrong.size - wrong.mean()
        if n_wrong:
            hits = wrong.ravel()[order[:n_expected]].sum()
            out["flag F1"] = _flag_f1(wrong, flags)
            out["list F1"] = 2 * hits / (n_expected + n_wrong)
    return {key: float(value) for key, value in out.items()}


def _flag_f1(wrong, flags):
    return float(2 * (flags & wrong).sum() / (flags.sum() + wrong.sum()))
