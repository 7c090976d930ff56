"""What a user would pick instead: well-known methods on murky labels.

Classes, and small functions that make an estimator, for protocols to name. All learn
from an (n, c) array of labels 0 and 1, in which -1 marks rows without labels, or from
candidate sets, and none of them knows that labels may be wrong, but for cleanlab.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.benchmark.rivals._audited import AuditedCleanlab, audited_candidates
from demurk.benchmark.rivals._candidates import EveryCandidate, SuspectCandidates
from demurk.benchmark.rivals._cleanlab import CleanlabAudit
from demurk.benchmark.rivals._coded_knn import WithoutNearest
from demurk.benchmark.rivals._estimators import (
    CleanlabFilter,
    LabeledRows,
    SupervisedUMAP,
)
from demurk.benchmark.rivals._makers import (
    candidate_forest,
    candidate_logistic_regression,
    cleanlab_logistic_regression,
    gradient_boosting,
    label_spreading,
    logistic_regression,
    out_of_bag_forest,
    random_forest,
    supervised_umap,
)
from demurk.benchmark.rivals._standardized import standardized
from demurk.benchmark.rivals._tuned import TunedForest

__all__ = [
    "AuditedCleanlab",
    "CleanlabAudit",
    "CleanlabFilter",
    "EveryCandidate",
    "LabeledRows",
    "SupervisedUMAP",
    "SuspectCandidates",
    "TunedForest",
    "WithoutNearest",
    "audited_candidates",
    "candidate_forest",
    "candidate_logistic_regression",
    "cleanlab_logistic_regression",
    "gradient_boosting",
    "label_spreading",
    "logistic_regression",
    "out_of_bag_forest",
    "random_forest",
    "standardized",
    "supervised_umap",
]
