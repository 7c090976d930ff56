"""Protocols of the papers, their printed numbers, and significance tests."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.benchmark._nmlsdr import NMLSDRData, nmlsdr_data, nmlsdr_score
from demurk.benchmark._published import published_results
from demurk.benchmark._significance import (
    count_best,
    wilcoxon_scores,
    wilcoxon_signed_rank,
)

__all__ = [
    "NMLSDRData",
    "count_best",
    "nmlsdr_data",
    "nmlsdr_score",
    "published_results",
    "wilcoxon_scores",
    "wilcoxon_signed_rank",
]
