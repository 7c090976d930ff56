"""Protocols of the papers, their printed numbers, and significance tests."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.benchmark._nmlsdr import NMLSDRData, nmlsdr_data, nmlsdr_score
from demurk.benchmark._partial_label import (
    PartialLabelData,
    PartialLabelFold,
    fold_t_test,
    partial_label_accuracy,
    partial_label_data,
    partial_label_folds,
    win_tie_loss,
)
from demurk.benchmark._partial_multilabel import (
    PMLData,
    PMLSplit,
    pml_choose,
    pml_data,
    pml_score,
    pml_split,
    pml_transductive,
)
from demurk.benchmark._published import published_results
from demurk.benchmark._significance import (
    count_best,
    wilcoxon_scores,
    wilcoxon_signed_rank,
)

__all__ = [
    "NMLSDRData",
    "PMLData",
    "PMLSplit",
    "PartialLabelData",
    "PartialLabelFold",
    "count_best",
    "fold_t_test",
    "nmlsdr_data",
    "nmlsdr_score",
    "partial_label_accuracy",
    "partial_label_data",
    "partial_label_folds",
    "pml_choose",
    "pml_data",
    "pml_score",
    "pml_split",
    "pml_transductive",
    "published_results",
    "wilcoxon_scores",
    "wilcoxon_signed_rank",
    "win_tie_loss",
]
