"""The only file that imports private or experimental names of scikit-learn."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from sklearn.base import _fit_context
from sklearn.callback import CallbackSupportMixin, ProgressBar
from sklearn.svm import _liblinear
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

__all__ = [
    "CallbackSupportMixin",
    "HasMethods",
    "Interval",
    "ProgressBar",
    "StrOptions",
    "_fit_context",
    "_liblinear",
    "_openmp_effective_n_threads",
]
