"""The functions that do one task of a protocol: one data set, seed and method.

Each takes ``data_set``, ``method`` and ``seed``, and as keywords what the protocol's
options, data sets and settings give. ``method`` is a table of the protocol with at
least ``estimator``, the dotted path of a class or of a function that makes an
estimator, and perhaps ``params``, its parameters. The answer is a dict of numbers, or
``{"skipped": why}`` where a method cannot run. Names that end in "seconds" are times.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.benchmark.kinds._audit import audit
from demurk.benchmark.kinds._candidates import candidates
from demurk.benchmark.kinds._case_study import case_study
from demurk.benchmark.kinds._completion import completion
from demurk.benchmark.kinds._embedding import embedding
from demurk.benchmark.kinds._few_labels import few_labels
from demurk.benchmark.kinds._partial_multilabel import partial_multilabel
from demurk.benchmark.kinds._reduction import reduction
from demurk.benchmark.kinds._review import review

__all__ = [
    "audit",
    "candidates",
    "case_study",
    "completion",
    "embedding",
    "few_labels",
    "partial_multilabel",
    "reduction",
    "review",
]
