"""What probably holds where people disagree, and how good each of them is."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral, Real

from demurk.base import DemurkEstimator
from demurk.utils._compat import Interval, StrOptions, _fit_context

__all__ = ["Consensus"]

METHODS = ("features", "dawid-skene", "majority")


class Consensus(DemurkEstimator):
    """The probable truth behind the answers of several people.

    Read more in the :ref:`User Guide <annotators>`.

    Parameters
    ----------
    method : {"features", "dawid-skene", "majority"}, default="features"
        What is believed: people of different quality and a forest that learns from
        their answers; people of different quality alone; everybody alike.
    smoothing : float, default=4.0
        How many answers a person's habits in general count for, where his answers to
        one class or label say something else.
    n_estimators : int, default=300
        Trees of the forest.
    max_iter : int, default=100
        Rounds of expectation and maximisation at most.
    tol : float, default=1e-5
        Largest change of a belief in a round below which they stop.
    n_jobs : int, default=None
        Threads of the forest; None means 1, -1 all processors.
    random_state : int, RandomState instance or None, default=None
        Seed of the forest and of the intervals.

    Attributes
    ----------
    label_distributions_ : ndarray of shape (n_rows, n_labels)
        Probability of each class or label, given all answers (and features).
    labels_ : ndarray of shape (n_rows,) or (n_rows, n_labels)
        The most probable class of each row; or 1 and 0 for each label. -1 or None where
        nobody said anything and no features were used.
    wrong_proba_ : ndarray of shape (n_rows,) or (n_rows, n_labels)
        Probability that `labels_` is wrong; NaN where it says nothing.
    quality_ : pandas.DataFrame
        One line per person: "person", "rows" (answers), "accuracy" (share of right
        answers), "quality" (the same beyond chance: 1 is always right, 0 is a guess),
        "low" and "high" (95 % interval of the quality).
    label_quality_ : pandas.DataFrame
        One line per person and label: "person", "label", "rows" (answers, of those who
        say something about it), "extra" (how often he gives the label where it does not
        hold), "missing" (how often he does not where it does), "quality", "low",
        "high".
    confusion_ : ndarray of shape (n_people, n_classes, n_classes)
        For classes, row c is the distribution of what each person answers where c is
        true; for labels (n_people, n_labels, 2, 2), first index does the label hold.
    classes_ : ndarray of shape (n_labels,)
        Names of the classes or labels.
    n_iter_ : int
        Rounds taken.
    """

    _parameter_constraints: dict = {
        "method": [StrOptions(set(METHODS))],
        "smoothing": [Interval(Real, 0, None, closed="left")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        method="features",
        *,
        smoothing=4.0,
        n_estimators=300,
        max_iter=100,
        tol=1e-5,
        n_jobs=None,
        random_state=None,
    ):
        self.method = method
        self.smoothing = smoothing
        self.n_estimators = n_estimators
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y):
        """Weigh the answers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_rows, n_features) or None
            Features; None for the methods that use none.
        y : Annotations
            What people said.

        Returns
        -------
        self : Consensus
            The fitted object.
        """
        raise NotImplementedError
