"""Cross-validation and scoring when some labels are missing."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.model_selection._candidates import candidate_scorer
from demurk.model_selection._scorers import observed_scorer
from demurk.model_selection._split import LabeledKFold
from demurk.model_selection._stratified import StratifiedLabeledKFold

__all__ = [
    "LabeledKFold",
    "StratifiedLabeledKFold",
    "candidate_scorer",
    "observed_scorer",
]
