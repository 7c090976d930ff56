"""The report of all seven measures."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest

from demurk.metrics import (
    average_precision,
    coverage,
    hamming_loss,
    macro_f1,
    micro_f1,
    multilabel_report,
    one_error,
    ranking_loss,
)


def test_report_is_the_seven_functions():
    rng = np.random.default_rng(0)
    Y = rng.integers(-1, 2, (40, 6))
    scores = rng.random((40, 6))
    Y_pred = (scores > 0.5).astype(int)
    observed = Y != -1
    report = multilabel_report(Y, Y_pred, scores, observed=observed)
    expected = {
        "HL'": 1 - hamming_loss(Y, Y_pred, observed=observed),
        "RL'": 1 - ranking_loss(Y, scores, observed=observed),
        "AP": average_precision(Y, scores, observed=observed),
        "OE'": 1 - one_error(Y, scores, observed=observed),
        "Cov'": 1 - coverage(Y, scores, observed=observed),
        "MaF1": macro_f1(Y, Y_pred, observed=observed),
        "MiF1": micro_f1(Y, Y_pred, observed=observed),
    }
    assert list(report) == list(expected)
    assert report == expected


def test_perfect_scores():
    Y = np.array([[1, 0, 0], [0, 1, 1]])
    report = multilabel_report(Y, Y, Y.astype(float), observed=None)
    # Coverage cannot be 0 for a row with two relevant labels: (0 + 1 / 2) / 2.
    assert report.pop("Cov'") == 0.75
    assert set(report.values()) == {1.0}


def test_refuses_unobserved_labels_without_a_mask():
    with pytest.raises(ValueError, match="observed=Y != -1"):
        multilabel_report([[1, -1]], [[1, 0]], [[1.0, 0.0]])
