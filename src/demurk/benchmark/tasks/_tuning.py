"""Choosing the parameters of a learner inside a fold, by candidate sets alone."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from demurk.model_selection import candidate_scorer

__all__ = ["tuned"]

# So many training rows are enough to choose on.
TUNING_ROWS = 1000


def tuned(learner, grid, fold, cheaper=None):
    """Choose parameters by the share of predictions that are candidates.

    Parameters
    ----------
    learner : classifier
        Learner for candidate sets.
    grid : dict of str to list
        Parameters and what to choose from.
    fold : PartialLabelFold
        Fold, of which at most 1000 training rows and their candidates are used.
    cheaper : dict, default=None
        Parameters that hold during the search only.

    Returns
    -------
    learner : classifier
        The learner with the best parameters, not fitted.

    Notes
    -----
    Three folds for each point of the grid; the rows depend on the number of the fold.
    """
    rows = np.random.RandomState(fold.number).permutation(len(fold.X_train))
    rows = rows[:TUNING_ROWS]
    search = GridSearchCV(
        clone(learner).set_params(**(cheaper or {})),
        grid,
        scoring=candidate_scorer(),
        cv=3,
        refit=False,
    )
    search.fit(fold.X_train[rows], fold.candidates[rows])
    return clone(learner).set_params(**search.best_params_)
