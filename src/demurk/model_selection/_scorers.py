"""Scorers for labels that are not all observed."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import inspect

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from demurk.labels._check import read_raw
from demurk.labels._load import load_labels
from demurk.labels._truth import refuse_unobserved
from demurk.metrics import (
    average_precision,
    coverage,
    hamming_loss,
    macro_f1,
    micro_f1,
    one_error,
    ranking_loss,
)

# name: (measure, does it read scores, is it a loss)
_MEASURES = {
    "hamming": (hamming_loss, False, True),
    "ranking_loss": (ranking_loss, True, True),
    "average_precision": (average_precision, True, False),
    "one_error": (one_error, True, True),
    "coverage": (coverage, True, True),
    "macro_f1": (macro_f1, False, False),
    "micro_f1": (micro_f1, False, False),
}


def observed_scorer(name, **options):
    """Make a scorer for 2-D labels that ignores the entries not observed.

    The result goes into ``GridSearchCV(scoring=...)``, ``cross_val_score`` and the
    like. Greater is better: losses are returned as one minus the loss.

    Parameters
    ----------
    name : {"hamming", "ranking_loss", "average_precision", "one_error", \
            "coverage", "macro_f1", "micro_f1"}
        Measure of :mod:`demurk.metrics`. "hamming" and the two F1 call `predict`,
        the others `decision_function` or, where there is none, `predict_proba`.

    **options : dict
        Keyword arguments of the measure, for example ``ties="worst"``.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y, observed=None)`` returns a float. Labels that are
        -1 or NaN in `y` take no part; for a sparse `y`, which cannot hold them, pass
        the mask `observed` (through metadata routing inside a search).

    See Also
    --------
    LabeledKFold : Tests only on rows with an observed label.

    Notes
    -----
    Combine it with :class:`LabeledKFold`, not with a plain ``KFold``: the latter
    takes unlabelled rows out of training and leaves fewer labels in each test set,
    and any scorer but this one counts a -1 there as a class of its own.

    A 1-D `y` needs no scorer of ours: the test rows of :class:`LabeledKFold` are
    labelled, so that scikit-learn's "accuracy" and others are right.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from demurk.model_selection import observed_scorer
    >>> X, Y = np.zeros((4, 1)), np.array([[1, 0], [1, 1], [1, 0], [0, 0]])
    >>> model = DummyClassifier().fit(X, Y)
    >>> scorer = observed_scorer("hamming")
    >>> scorer(model, X, Y)
    0.75
    >>> scorer(model, X, np.array([[1, 0], [1, -1], [1, 0], [-1, -1]]))
    1.0
    """
    if name not in _MEASURES:
        listed = ", ".join(repr(known) for known in _MEASURES)
        raise ValueError(f"name is {name!r}; it must be one of {listed}.")
    allowed = inspect.signature(_MEASURES[name][0]).parameters
    allowed = sorted(set(allowed) & {"ties", "degenerate", "normalize"})
    for option in options:
        if option not in allowed:
            listed = ", ".join(allowed) or "none"
            raise ValueError(
                f"{option!r} is no option of the {name!r} scorer, use {listed}."
            )
    return _ObservedScorer(name, options)


class _ObservedScorer:
    """Callable behind :func:`observed_scorer`; a class so that it can be pickled."""

    def __init__(self, name, options):
        self.name = name
        self.options = options

    def __repr__(self):
        options = "".join(f", {key}={value!r}" for key, value in self.options.items())
        return f"observed_scorer({self.name!r}{options})"

    def __call__(self, estimator, X, y, observed=None):
        measure, reads_scores, is_loss = _MEASURES[self.name]
        labels = read_raw(load_labels(y), None, "labels", observed)
        refuse_unobserved(labels.observed)
        if labels.single:
            raise ValueError(
                "observed_scorer needs labels of shape (n_samples, n_labels), but y is "
                "1-D; use a scorer of scikit-learn such as 'accuracy'."
            )
        result = _scores(estimator, X) if reads_scores else estimator.predict(X)
        value = measure(labels.values, result, observed=labels.observed, **self.options)
        return 1.0 - value if is_loss else value

    def get_metadata_routing(self):
        """Ask for the mask wherever scikit-learn routes metadata."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="observed", alias=True)
        return request


def _scores(estimator, X):
    """Score of each label, (n, q)."""
    if hasattr(estimator, "decision_function"):
        return estimator.decision_function(X)
    if not hasattr(estimator, "predict_proba"):
        raise TypeError(
            f"{type(estimator).__name__} has neither decision_function nor "
            "predict_proba; score it with 'hamming', 'macro_f1' or 'micro_f1'."
        )
    probabilities = estimator.predict_proba(X)
    if not isinstance(probabilities, list):
        return probabilities
    # One array (n, n_classes) per label, as forests and MultiOutputClassifier return;
    # a label seen with a single value in training has a single column.
    columns = [
        table[:, classes == 1].sum(axis=1)
        for table, classes in zip(probabilities, map(np.asarray, estimator.classes_))
    ]
    return np.column_stack(columns)
