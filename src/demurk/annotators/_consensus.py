"""What probably holds where people disagree, and how good each of them is."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state

from demurk.annotators._annotations import Annotations
from demurk.annotators._features import FeaturePrior, Witness
from demurk.annotators._model import (
    Fit,
    FrequencyPrior,
    expectation_maximization,
    people_model,
)
from demurk.annotators._quality import quality_frames
from demurk.base import DemurkEstimator
from demurk.utils._compat import Interval, StrOptions, _fit_context

__all__ = ["Consensus"]

METHODS = ("features", "dawid-skene", "majority")
# How often the features learn, each time what is believed after the last.
N_TURNS = 2
# People err where the features are ambiguous, all of them and the models too; were
# their errors independent, this would be one.
INDEPENDENCE = 0.6


class Consensus(DemurkEstimator):
    """The probable truth behind the answers of several people.

    People are weighed by how good they are at each class or label, and models of the
    features that did not see a row are asked about it as well. Rows with one answer,
    people with few answers and people who guess are welcome.

    Read more in the :ref:`User Guide <annotators>`.

    Parameters
    ----------
    method : {"features", "dawid-skene", "majority"}, default="features"
        What is believed: people of different quality, and models of the features that
        learn from their answers; people of different quality alone; everybody alike.
    smoothing : float, default=6.0
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
    out_of_sample_scores_ : ndarray of shape (n_rows, n_labels)
        Only of "features": what they say of each row without its answers.
    classes_ : ndarray of shape (n_labels,)
        Names of the classes or labels.
    n_iter_ : int
        Rounds taken in all.
    n_features_in_ : int
        Number of features; only of "features".
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    Annotations : What people said.
    demurk.multilabel.MurkyClassifier : Predict new rows, from the same answers.
    demurk.audit.LabelAudit : Where what most people say is probably wrong.

    Notes
    -----
    Expectation and maximisation of Dawid and Skene's model (one confusion matrix each),
    with a prior: somebody who knows a share of the answers and guesses the others (Hovy
    and others, 2013). With several labels each person has two rates for each of them,
    drawn to his mean over the labels. "features" puts the mean of a forest, out of bag,
    and of kernel ridge regression, leaving one out, in place of the frequencies, on a
    scale that is learned; both learn the beliefs of "dawid-skene" first, then once more
    those that they helped to find.

    Different from CROWDLAB, which averages people and a classifier: here they are
    multiplied, each person has rates for each class, and the features learn what is
    believed after people were weighed. Since people and models err together where the
    features are ambiguous, the logarithms of "features" are multiplied with 0.6 in the
    end; this changes no decision.

    Time: two forests; two times O(n^2 D + n^3) for the kernel with n rows of D
    features, or O(n (D + 300) 300) above 2,000 rows; O(a q) for each round, with a
    answers and q classes or labels. Memory O(a q) bytes for labels, O(n q) numbers, and
    O(n^2) up to 2,000 rows, else O(300 n).

    References
    ----------
    A. P. Dawid, A. M. Skene (1979). "Maximum Likelihood Estimation of Observer
    Error-Rates Using the EM Algorithm". :doi:`10.2307/2346806`.

    D. Hovy, T. Berg-Kirkpatrick, A. Vaswani, E. Hovy (2013). "Learning Whom to Trust
    with MACE". NAACL-HLT.

    H. W. Goh, U. Tkachenko, J. Mueller (2022). "CROWDLAB: Supervised learning to infer
    consensus labels and quality scores for data with multiple annotators".
    :doi:`10.48550/arXiv.2210.06812`.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.annotators import Annotations, Consensus
    >>> rng = np.random.RandomState(0)
    >>> true = rng.randint(3, size=200)
    >>> X = rng.normal(size=(200, 4)) + 3 * np.eye(3, 4)[true]
    >>> right = rng.random_sample((200, 4)) < [0.2, 0.6, 0.7, 0.8]
    >>> answers = np.where(right, true[:, np.newaxis], rng.randint(3, size=(200, 4)))
    >>> said = Annotations.from_array(answers, names=["ada", "bo", "cy", "di"])
    >>> found = Consensus(n_estimators=30, random_state=0).fit(X, said)
    >>> bool(np.mean(found.labels_ == true) > 0.97)
    True
    >>> found.quality_.sort_values("quality")["person"].tolist()
    ['ada', 'bo', 'cy', 'di']
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
        smoothing=6.0,
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
        X = self._validate(X, y)
        rng = check_random_state(self.random_state)
        people = people_model(y, self.smoothing)
        if self.method == "majority":
            start = people.start()
            fit = Fit(None, start, 0)
            believed = start
        elif self.method == "dawid-skene":
            fit = self._settled(people, FrequencyPrior(people), people.start())
            believed = fit.beliefs
        else:
            fit = self._with_features(X, people, rng)
            believed = people.beliefs(INDEPENDENCE * fit.logs)
        self._set_results(y, people, fit, believed, rng)
        return self

    def _validate(self, X, y):
        if not isinstance(y, Annotations):
            raise ValueError(
                f"y is of type {type(y).__name__}; give Annotations, which "
                "Annotations.from_wide, from_long and from_array make."
            )
        if len(y.codes) == 0:
            raise ValueError(
                "Nobody answered anything: every cell is blank or -1; give at least "
                "one answer."
            )
        if self.method != "features":
            return None
        if X is None:
            raise ValueError(
                "X is None with method='features'; give features, or choose "
                "method='dawid-skene'."
            )
        X = self._validate_features(X, ensure_min_samples=2)
        if X.shape[0] != y.n_rows:
            raise ValueError(
                f"X has {X.shape[0]} rows, but people were asked about {y.n_rows}; "
                "give one row of features for each."
            )
        return X

    def _settled(self, people, prior, start):
        return expectation_maximization(people, prior, start, self.max_iter, self.tol)

    def _with_features(self, X, people, rng):
        """People alone, then twice with what the features learned from them."""
        witness = Witness(X, self.n_estimators, self.n_jobs, rng)
        votes = people.start()
        fit = self._settled(people, FrequencyPrior(people), votes)
        beliefs, n_iter = fit.beliefs, fit.n_iter
        for turn in range(N_TURNS):
            seen = witness.beliefs(beliefs)
            # Votes alone would make everybody right who is alone with a row.
            start = (votes + seen) / 2 if turn == 0 else beliefs
            prior = FeaturePrior(people, seen)
            fit = self._settled(people, prior, start)
            beliefs, n_iter = fit.beliefs, n_iter + fit.n_iter
        self.out_of_sample_scores_ = people.beliefs(prior.fit_logs(beliefs))
        return Fit(fit.logs, fit.beliefs, n_iter)

    def _set_results(self, said, people, fit, believed, rng):
        """Attributes from beliefs."""
        self.classes_, self.n_iter_ = said.classes, fit.n_iter
        self.label_distributions_ = believed
        known = people.known | (self.method == "features")
        if said.single:
            best = believed.argmax(axis=1)
            self.labels_ = _with_gaps(said.classes[best], known)
            wrong = 1 - believed[np.arange(len(best)), best]
        else:
            hard = (believed >= 0.5).astype(np.int8)
            self.labels_ = np.where(known, hard, np.int8(-1))
            wrong = np.minimum(believed, 1 - believed)
        self.wrong_proba_ = np.where(known, wrong, np.nan)
        concentration = people.concentration(fit.beliefs)
        self.confusion_ = concentration / concentration.sum(axis=-1, keepdims=True)
        self.quality_, self.label_quality_ = quality_frames(
            said, concentration, people.shares(fit.beliefs), rng
        )


def _with_gaps(classes, known):
    """Classes, -1 or None where nothing is known."""
    if known.all():
        return classes
    if classes.dtype.kind in "iuf":
        return np.where(known, classes, -1)
    found = classes.astype(object)
    found[~known] = None
    return found
