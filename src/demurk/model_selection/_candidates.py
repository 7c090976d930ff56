"""Scorers that know the candidate sets only, not the truth."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from demurk.labels._truth import check_truth

__all__ = ["candidate_scorer"]

_NAMES = ("inside", "accuracy", "likelihood")
# Probabilities below this count as this, so that one sure mistake is not infinite.
_FLOOR = 1e-6


def candidate_scorer(name="inside"):
    """Make a scorer for classifiers that learn from candidate sets.

    The result goes into ``GridSearchCV(scoring=...)``, ``cross_val_score`` and the
    like, where the truth is hidden in the candidate sets of the test samples too.
    Greater is better.

    Parameters
    ----------
    name : {"inside", "accuracy", "likelihood"}, default="inside"
        What is measured:

        - "inside": share of the predictions that are candidates, an upper bound on
          the accuracy;
        - "accuracy": an estimate of the accuracy. A wrong prediction falls among the
          ``s - 1`` wrong candidates of ``q - 1`` wrong classes with probability
          ``c = (s - 1) / (q - 1)``, so that ``(inside - c) / (1 - c)`` is right on
          average; samples with small sets count more than in "inside";
        - "likelihood": mean logarithm of the probability given to the whole candidate
          set, from `predict_proba`. It also tells how sure a classifier is, and moves
          where the other two stand still.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, observed=None)`` returns a float. Rows of `y` without
        labels take no part; for a sparse `y` pass the mask `observed` (through
        metadata routing inside a search).

    See Also
    --------
    observed_scorer : The same service for labels of which some are missing.

    Notes
    -----
    The estimate "accuracy" is unbiased if wrong candidates are drawn uniformly and do
    not depend on the features. Where they do, as in most real data, it is too high,
    but the order of two classifiers is usually right. It may leave [0, 1] on few
    samples.

    Time O(n q) beyond the predictions.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import GridSearchCV
    >>> from sklearn.preprocessing import scale
    >>> from demurk.labels import add_candidates
    >>> from demurk.model_selection import candidate_scorer
    >>> from demurk.partial_label import PLSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> candidates = add_candidates(y, n_extra=1, random_state=0).labels
    >>> order = np.random.RandomState(0).permutation(150)
    >>> search = GridSearchCV(PLSVM(), {"reg": [1e-2, 1.0, 1e2]},
    ...                       scoring=candidate_scorer("accuracy"), cv=3)
    >>> search = search.fit(scale(X)[order], candidates[order])
    >>> search.best_params_
    {'reg': 0.01}
    """
    if name not in _NAMES:
        listed = ", ".join(repr(known) for known in _NAMES)
        raise ValueError(f"name is {name!r}; it must be one of {listed}.")
    return _CandidateScorer(name)


class _CandidateScorer:
    """Callable behind :func:`candidate_scorer`; a class so that it can be pickled."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"candidate_scorer({self.name!r})"

    def __call__(self, estimator, X, y, observed=None):
        classes = np.asarray(estimator.classes_)
        truth = check_truth(y, None, classes, kind="candidates", observed=observed)
        candidates = truth.values | ~truth.observed
        kept = truth.observed.any(axis=1)
        if self.name == "likelihood":
            proba = np.asarray(estimator.predict_proba(X), dtype=np.float64)
            given = (proba * candidates).sum(axis=1)[kept]
            return float(np.log(np.clip(given, _FLOOR, 1)).mean())
        codes = _positions(estimator.predict(X), classes)
        inside = candidates[np.arange(len(codes)), codes]
        if self.name == "inside":
            return float(inside[kept].mean())
        n_wrong = np.maximum(candidates.sum(axis=1) - 1, 0)
        chance = n_wrong / max(len(classes) - 1, 1)
        kept = kept & (chance < 1)
        if not kept.any():
            raise ValueError(
                "All samples have all classes as candidates, which tells nothing about "
                "the accuracy: give some samples fewer candidates."
            )
        inside, chance = inside[kept], chance[kept]
        return float(((inside - chance) / (1 - chance)).mean())

    def get_metadata_routing(self):
        """Ask for the mask wherever scikit-learn routes metadata."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="observed", alias=True)
        return request


def _positions(predicted, classes):
    """Columns of predicted classes."""
    order = np.argsort(classes, kind="stable")
    return order[np.searchsorted(classes, predicted, sorter=order)]
