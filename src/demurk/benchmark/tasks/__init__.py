"""The functions that do one task of a protocol: one data set, seed and method.

Each takes ``data_set``, ``method`` and ``seed``, and as keywords what the protocol's
options, data sets and settings give. ``method`` is a table of the protocol with at
least ``estimator``, the dotted path of a class or of a function that makes an
estimator, and perhaps ``params``, its parameters. The answer is a dict of numbers, or
``{"skipped": why}`` where a method cannot run. Names that end in "seconds" are times.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.benchmark.tasks._annotators import annotators
from demurk.benchmark.tasks._audit import audit
from demurk.benchmark.tasks._candidates import candidates
from demurk.benchmark.tasks._case_study import case_study
from demurk.benchmark.tasks._completion import completion
from demurk.benchmark.tasks._data import Split
from demurk.benchmark.tasks._embedding import embedding
from demurk.benchmark.tasks._few_labels import few_labels
from demurk.benchmark.tasks._fixed_choice import partial_multilabel_fixed
from demurk.benchmark.tasks._nmlsdr import nmlsdr_data, nmlsdr_score
from demurk.benchmark.tasks._partial_label import (
    PartialLabelData,
    PartialLabelFold,
    partial_label_accuracy,
    partial_label_data,
    partial_label_folds,
)
from demurk.benchmark.tasks._partial_multilabel import partial_multilabel
from demurk.benchmark.tasks._pml import (
    PMLData,
    pml_choose,
    pml_data,
    pml_score,
    pml_split,
    pml_transductive,
)
from demurk.benchmark.tasks._reduction import reduction
from demurk.benchmark.tasks._review import review
from demurk.benchmark.tasks._wrong_classes import wrong_classes

__all__ = [
    "PMLData",
    "PartialLabelData",
    "PartialLabelFold",
    "Split",
    "annotators",
    "audit",
    "candidates",
    "case_study",
    "completion",
    "embedding",
    "few_labels",
    "nmlsdr_data",
    "nmlsdr_score",
    "partial_label_accuracy",
    "partial_label_data",
    "partial_label_folds",
    "partial_multilabel",
    "partial_multilabel_fixed",
    "pml_choose",
    "pml_data",
    "pml_score",
    "pml_split",
    "pml_transductive",
    "reduction",
    "review",
    "wrong_classes",
]
