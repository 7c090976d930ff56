"""The only file that imports private or experimental names of scikit-learn."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.sparse import issparse
from sklearn.base import _fit_context
from sklearn.callback import CallbackSupportMixin, ProgressBar
from sklearn.linear_model import LogisticRegression
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight

try:
    from sklearn.svm import _liblinear
except ImportError:  # private: it may move
    _liblinear = None

__all__ = [
    "CallbackSupportMixin",
    "HasMethods",
    "Interval",
    "ProgressBar",
    "StrOptions",
    "_check_sample_weight",
    "_fit_context",
    "_openmp_effective_n_threads",
    "l1_logistic",
]

# Penalty L1, logistic loss; tolerance as in scikit-learn's LogisticRegression.
SOLVER, TOLERANCE, MAX_ITER = 6, 1e-4, 1000


def l1_logistic(X, y, strength, seed, weights=None):
    """Logistic regression with an L1 penalty by liblinear.

    Called directly where scikit-learn has it, since checks of the input take longer
    than a small problem; through `LogisticRegression` elsewhere, to the same end.

    Parameters
    ----------
    X : ndarray, C-contiguous, or csr_array with 32-bit indices, float64
        Features.
    y : ndarray of shape (n,)
        0.0 and 1.0, both present.
    strength : float
        Inverse of the penalty.
    seed : int
        Order of the coordinates.
    weights : ndarray of shape (n,), default=None
        How often each row counts; once by default.

    Returns
    -------
    features : ndarray of int
        Features that are used.
    weights : ndarray of float
        Their coefficients.
    intercept : float
        The constant, penalised as the others are.
    """
    weights = np.ones(len(y)) if weights is None else weights
    train = getattr(_liblinear, "train_wrap", None)
    if train is None:
        model = LogisticRegression(
            l1_ratio=1.0,
            solver="liblinear",
            C=strength,
            tol=TOLERANCE,
            max_iter=MAX_ITER,
            random_state=seed,
        ).fit(X, y, sample_weight=weights)
        found = np.append(model.coef_[0], model.intercept_)
    else:
        _liblinear.set_verbosity_wrap(0)
        found = train(
            X,
            y,
            issparse(X),
            SOLVER,
            TOLERANCE,
            1.0,  # the constant feature whose coefficient is the intercept
            strength,
            np.ones(2),
            MAX_ITER,
            seed,
            0.1,  # used by regression only
            weights,
        )[0][0]
    features = np.flatnonzero(found[:-1])
    return features, found[features], found[-1]
