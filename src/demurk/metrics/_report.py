"""All seven measures in one call."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

from demurk.metrics._classification import hamming_loss, macro_f1, micro_f1
from demurk.metrics._ranking import (
    average_precision,
    coverage,
    one_error,
    ranking_loss,
)


def multilabel_report(
    Y: Any, Y_pred: Any, scores: Any, *, observed: Any = None
) -> dict[str, float]:
    """Compute the seven measures in the form in which higher is better.

    Losses appear as one minus the loss, marked by a prime, as in the tables of
    the papers. All conventions are the defaults of the single functions.

    Parameters
    ----------
    Y : array-like or sparse matrix of shape (n_samples, n_labels)
        True labels, 0 or 1.

    Y_pred : array-like or sparse matrix of shape (n_samples, n_labels)
        Predicted labels, 0 or 1.

    scores : array-like of shape (n_samples, n_labels)
        Scores of the labels, higher is more likely, comparable within a row.

    observed : array-like of bool, shape (n_samples, n_labels) or (n_samples,), \
            default=None
        Entries that take part. None takes all of them and refuses a -1 in `Y`;
        for labels with -1 pass ``observed=Y != -1``.

    Returns
    -------
    report : dict of str to float
        Keys "HL'" (Hamming loss), "RL'" (ranking loss), "AP" (average precision),
        "OE'" (one-error), "Cov'" (coverage over C - 1), "MaF1" and "MiF1".

    See Also
    --------
    coverage : With ``normalize="C"``, the form some papers print as Cov'.

    Notes
    -----
    Time O(n q log q). "Cov'" may pass 1, because the reference code gives a row
    without a relevant label a coverage of -1.

    Examples
    --------
    >>> from demurk.metrics import multilabel_report
    >>> Y = [[1, 0, 0], [0, 1, 1]]
    >>> scores = [[0.8, 0.1, 0.6], [0.7, 0.9, 0.2]]
    >>> Y_pred = [[1, 0, 1], [1, 1, 0]]
    >>> report = multilabel_report(Y, Y_pred, scores)
    >>> {name: round(value, 3) for name, value in report.items()}
    {"HL'": 0.5, "RL'": 0.75, 'AP': 0.917, "OE'": 1.0, "Cov'": 0.5, 'MaF1': 0.556, \
'MiF1': 0.571}
    """
    predicted = {"Y": Y, "Y_pred": Y_pred, "observed": observed}
    ranked = {"Y": Y, "scores": scores, "observed": observed}
    return {
        "HL'": 1.0 - hamming_loss(**predicted),
        "RL'": 1.0 - ranking_loss(**ranked),
        "AP": average_precision(**ranked),
        "OE'": 1.0 - one_error(**ranked),
        "Cov'": 1.0 - coverage(**ranked),
        "MaF1": macro_f1(**predicted),
        "MiF1": micro_f1(**predicted),
    }
