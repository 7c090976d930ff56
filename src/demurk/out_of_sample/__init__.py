"""Scores of rows that did not take part in making them, and what follows from them.

The shared ground of :class:`~demurk.multilabel.MurkyClassifier` and
:class:`~demurk.audit.LabelAudit`. Made for them, not for users; names may change.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.out_of_sample._calibration import (
    calibrate,
    fit_calibration,
    stack_weights,
)
from demurk.out_of_sample._class_choice import choose_class_noise
from demurk.out_of_sample._features import FeatureViews
from demurk.out_of_sample._forest import OutOfSampleForest, out_of_bag_scores
from demurk.out_of_sample._kernel_ridge import LeaveOneOutKernelRidge
from demurk.out_of_sample._means import label_means, leave_one_out_means
from demurk.out_of_sample._rates import (
    corrected_probabilities,
    estimate_flip_rate,
    f1_cut,
    half_cut,
)
from demurk.out_of_sample._threads import matrix_threads

__all__ = [
    "FeatureViews",
    "LeaveOneOutKernelRidge",
    "OutOfSampleForest",
    "calibrate",
    "choose_class_noise",
    "corrected_probabilities",
    "estimate_flip_rate",
    "f1_cut",
    "fit_calibration",
    "half_cut",
    "label_means",
    "leave_one_out_means",
    "matrix_threads",
    "out_of_bag_scores",
    "stack_weights",
]
