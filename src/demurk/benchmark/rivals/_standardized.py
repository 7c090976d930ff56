"""A learner on features of unit variance."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from importlib import import_module

from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

__all__ = ["standardized"]


def standardized(learner):
    """Standardise the features that a learner gets, after any reduction of them.

    Parameters
    ----------
    learner : str
        Dotted path of the class of the learner, which is made with its defaults.

    Returns
    -------
    classifier : Pipeline
        The scaler and the learner.

    Examples
    --------
    >>> from demurk.benchmark.rivals import standardized
    >>> model = standardized("demurk.partial_label.PLkNN")
    >>> X, candidates = [[0.0], [1.0], [2.0]], [[1, 0], [1, 1], [0, 1]]
    >>> model.fit(X, candidates).predict([[2.0]])
    array([1])
    """
    module, _, name = learner.rpartition(".")
    return make_pipeline(StandardScaler(), getattr(import_module(module), name)())
