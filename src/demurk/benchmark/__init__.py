"""Protocols of the papers, their runner, significance tests and reports."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.benchmark._figure_curves import plot_curves
from demurk.benchmark._figures import (
    plot_critical_difference,
    plot_heat_maps,
    plot_mean_scores,
)
from demurk.benchmark._keys import code_version, data_checksum
from demurk.benchmark._nmlsdr import NMLSDRData, nmlsdr_data, nmlsdr_score
from demurk.benchmark._partial_label import (
    PartialLabelData,
    PartialLabelFold,
    partial_label_accuracy,
    partial_label_data,
    partial_label_folds,
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
from demurk.benchmark._protocol import Protocol, Task, list_protocols, load_protocol
from demurk.benchmark._published import published_results, published_value
from demurk.benchmark._report import write_report
from demurk.benchmark._results import read_results
from demurk.benchmark._runner import (
    Progress,
    RunSummary,
    protocol_rows,
    run_protocol,
)
from demurk.benchmark._significance import (
    FriedmanResult,
    count_best,
    fold_t_test,
    friedman_test,
    nemenyi_difference,
    similar_groups,
    wilcoxon_scores,
    wilcoxon_signed_rank,
    win_tie_loss,
)
from demurk.benchmark._stale import count_stale
from demurk.benchmark._store import Outcome, ResultStore

__all__ = [
    "FriedmanResult",
    "NMLSDRData",
    "Outcome",
    "PMLData",
    "PMLSplit",
    "PartialLabelData",
    "PartialLabelFold",
    "Progress",
    "Protocol",
    "ResultStore",
    "RunSummary",
    "Task",
    "code_version",
    "count_best",
    "count_stale",
    "data_checksum",
    "fold_t_test",
    "friedman_test",
    "list_protocols",
    "load_protocol",
    "nemenyi_difference",
    "nmlsdr_data",
    "nmlsdr_score",
    "partial_label_accuracy",
    "partial_label_data",
    "partial_label_folds",
    "plot_critical_difference",
    "plot_curves",
    "plot_heat_maps",
    "plot_mean_scores",
    "pml_choose",
    "pml_data",
    "pml_score",
    "pml_split",
    "pml_transductive",
    "protocol_rows",
    "published_results",
    "published_value",
    "read_results",
    "run_protocol",
    "similar_groups",
    "wilcoxon_scores",
    "wilcoxon_signed_rank",
    "win_tie_loss",
    "write_report",
]
