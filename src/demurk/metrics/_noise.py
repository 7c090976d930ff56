"""How well wrong candidates are told from true ones."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from scipy import sparse
from scipy.stats import rankdata

from demurk.metrics._classification import Floats, Mask, check_scores, undefined

__all__ = ["noise_report"]


def noise_report(candidates: Any, Y: Any, scores: Any) -> dict[str, float]:
    """Score how well the wrong labels among candidates are found.

    Only candidates are ranked, all rows together. A measure over all labels is won by
    giving every candidate the same score, because most labels are no candidates; here
    such a score gets an AUC of one half, and the noise rate otherwise.

    Parameters
    ----------
    candidates : array-like or sparse matrix of shape (n_samples, n_labels)
        Candidates, 0 or 1.
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1. One that is no candidate cannot be found, and is ignored.
    scores : array-like or sparse matrix of shape (n_samples, n_labels)
        How suspect each candidate is, higher is more suspect, comparable over all
        rows; only read at candidates. A sparse matrix holds zero where it stores
        nothing.

    Returns
    -------
    report : dict of str to float
        "AUC": probability that a wrong candidate is more suspect than a true one, a
        tie counting one half. "AP": mean over the wrong candidates of the share of
        wrong ones among the at least as suspect. "P@n": share of wrong ones among the
        n most suspect, n being the number of wrong candidates; the expected value over
        ties. "noise": share of wrong ones among all candidates. The first three are
        NaN, with a warning, if there is no wrong or no true candidate.

    See Also
    --------
    demurk.labels.add_extra_labels : Adds wrong candidates to trusted labels.

    Notes
    -----
    Time O(n q + c log c) with c candidates, memory O(n q).

    Examples
    --------
    >>> from demurk.metrics import noise_report
    >>> candidates, truth = [[1, 1, 0], [1, 1, 1]], [[1, 0, 0], [0, 1, 1]]
    >>> scores = [[0.2, 0.9, 0.0], [0.4, 0.6, 0.1]]
    >>> report = noise_report(candidates, truth, scores)
    >>> {name: round(value, 3) for name, value in report.items()}
    {'AUC': 0.833, 'AP': 0.833, 'P@n': 0.5, 'noise': 0.4}
    """
    if sparse.issparse(scores):
        scores = scores.toarray()
    is_candidate, scores, _ = check_scores(candidates, scores, None)
    is_true, _, _ = check_scores(Y, scores, None)
    wrong, suspicion = ~is_true[is_candidate], scores[is_candidate]
    n_wrong = int(np.count_nonzero(wrong))
    if wrong.size == 0:
        value = undefined("noise_report", "there is no candidate")
        return dict.fromkeys(("AUC", "AP", "P@n", "noise"), value)
    report = {"AUC": np.nan, "AP": np.nan, "P@n": np.nan}
    if 0 < n_wrong < wrong.size:
        report = _measures(wrong, suspicion, n_wrong)
    else:
        which = "true" if n_wrong else "wrong"
        undefined("noise_report", f"no candidate is {which}")
    return {**report, "noise": float(n_wrong / wrong.size)}


def _measures(wrong: Mask, suspicion: Floats, n_wrong: int) -> dict[str, float]:
    n_true = wrong.size - n_wrong
    ranks = rankdata(suspicion)
    auc = (ranks[wrong].sum() - n_wrong * (n_wrong + 1) / 2) / (n_wrong * n_true)
    # Groups of equal suspicion, the most suspect first.
    _, group = np.unique(-suspicion, return_inverse=True)
    size = np.bincount(group)
    hits = np.bincount(group, weights=wrong)
    total, found = np.cumsum(size), np.cumsum(hits)
    precision = np.sum(hits * found / total) / n_wrong
    # The group in which the n-th place falls counts in part.
    taken = np.clip(n_wrong - (total - size), 0, size)
    return {
        "AUC": float(auc),
        "AP": float(precision),
        "P@n": float(np.sum(hits * taken / size) / n_wrong),
    }
