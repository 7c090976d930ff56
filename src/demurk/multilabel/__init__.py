"""Classifiers for samples with several labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.multilabel._compression import CPLST, PLST, REML
from demurk.multilabel._mlknn import MLkNN
from demurk.multilabel._murky import MurkyClassifier
from demurk.multilabel._ranksvm import RankSVM
from demurk.multilabel._semi_mlknn import SemiSupervisedMLkNN

__all__ = [
    "CPLST",
    "PLST",
    "REML",
    "MLkNN",
    "MurkyClassifier",
    "RankSVM",
    "SemiSupervisedMLkNN",
]
