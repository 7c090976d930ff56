"""The seven multi-label measures, with their tie rules and observed masks."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.metrics._classification import hamming_loss, macro_f1, micro_f1
from demurk.metrics._noise import noise_report
from demurk.metrics._ranking import (
    average_precision,
    coverage,
    one_error,
    ranking_loss,
)
from demurk.metrics._report import multilabel_report

__all__ = [
    "average_precision",
    "coverage",
    "hamming_loss",
    "macro_f1",
    "micro_f1",
    "multilabel_report",
    "noise_report",
    "one_error",
    "ranking_loss",
]
