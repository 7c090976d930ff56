"""The door for labels: anything a user may hand over becomes :class:`LabelData`.

The same room holds the tools that spoil clean labels on purpose, for experiments.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.labels._check import check_labels
from demurk.labels._corruption import (
    Corruption,
    add_candidates,
    add_extra_labels,
    flip_labels,
    hide_entries,
    hide_rows,
)
from demurk.labels._data import LabelData, LabelTags
from demurk.labels._sets import labels_from_sets
from demurk.labels._truth import NothingObserved

__all__ = [
    "Corruption",
    "LabelData",
    "LabelTags",
    "NothingObserved",
    "add_candidates",
    "add_extra_labels",
    "check_labels",
    "flip_labels",
    "hide_entries",
    "hide_rows",
    "labels_from_sets",
]
