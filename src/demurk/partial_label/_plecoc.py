"""Error-correcting output codes for candidate sets."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from numbers import Integral, Real

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.svm import SVC
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed

from demurk.linalg._kernel import gaussian_product
from demurk.partial_label._base import CandidateClassifier, DecisionMixin
from demurk.utils._compat import HasMethods, Interval, _fit_context

__all__ = ["PLECOC"]

# Each half of a code needs so many samples; with few samples a twentieth of them.
MIN_SIDE = 5
# Codes examined together.
BLOCK = 256
# Beyond this a decision value is as good as certain, and exp of it is large enough.
MAX_DECISION = 30.0


class PLECOC(DecisionMixin, CandidateClassifier):
    """Partial-label learning with error-correcting output codes.

    Classes are split in two halves at random, many times. A sample whose candidates
    all lie in one half takes part in that split as an ordinary labelled sample, so
    that any binary classifier will do and nothing needs to be disambiguated. A new
    sample gets the class whose halves agree best with the decisions. Works well while
    candidate sets are small compared with the number of classes.

    Read more in the :ref:`User Guide <partial_label>`.

    Parameters
    ----------
    estimator : classifier, default=None
        Binary classifier with `decision_function`. None stands for
        ``SVC(C=1, kernel="rbf", gamma="auto")``, the setting of the authors' code.
    n_codes : int, default=None
        Number L of splits; None takes ``ceil(10 log2 q)`` for q classes. There are at
        most ``2^(q - 1) - 1`` different ones.
    min_share : float, default=0.1
        Share of the samples that should take part in a split. Where too few splits
        reach it, the fullest of those examined make up the number, with a warning.
    max_draws : int, default=2000
        Splits examined at most.
    n_jobs : int, default=None
        Threads in which the binary classifiers are fitted; None means 1, -1 all
        processors.
    random_state : int, RandomState instance or None, default=None
        Seed of the splits.

    Attributes
    ----------
    code_book_ : ndarray of shape (n_classes, n_codes), int8
        1 and -1 for the halves; 0 for a class that was never a candidate.
    performance_ : ndarray of shape (n_classes, n_codes)
        How often each classifier was right about the samples that may have the class;
        rows sum to one.
    estimators_ : list of classifiers
        One for each split.
    classes_ : ndarray of shape (n_classes,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    sklearn.multiclass.OutputCodeClassifier : The same for known classes.

    Notes
    -----
    Class j is chosen with the least ``sum_t Phi_jt exp(-f_t(x) M_jt)``, M the codes,
    Phi the performance and f the decision values [1]_; the scores are minus the
    logarithm of the sum.

    Differences from the paper: no split is used twice, up to exchange of its halves,
    and with few classes all of them are examined. Each half needs five samples, or a
    twentieth of all samples if that is less. Another seed, or the same seed with
    classes in another order, gives other splits: on Lost (standardised, ten folds) five
    seeds gave accuracies from 0.62 to 0.67 (paper: 0.65).

    Many candidates leave few samples for a split: on FG-NET, with 7.5 of 78 classes on
    average, 7 of 2000 splits reach a tenth of the samples. Sets of more than half of
    the classes fit in no split with two halves, which is an error.

    Time: L binary fits, and O(m q) to examine a split for m samples. For support
    vector machines a fit is O(m^2 D) at best, and `predict` O(m (D + L)) a sample with
    those of the default, which share their kernel, O(L m D) with others.

    References
    ----------
    .. [1] M.-L. Zhang, F. Yu, C.-Z. Tang, "Disambiguation-free partial label
       learning", IEEE TKDE 29(10), 2017. :doi:`10.1109/TKDE.2017.2721942`

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from demurk.labels import add_candidates
    >>> from demurk.partial_label import PLECOC
    >>> X, y = load_digits(return_X_y=True)
    >>> candidates = add_candidates(y, n_extra=1, random_state=0).labels
    >>> model = PLECOC(n_codes=15, random_state=0).fit(X[:500] / 8, candidates[:500])
    >>> bool(model.score(X[500:] / 8, y[500:]) > 0.8)
    True
    """

    _parameter_constraints: dict = {
        "estimator": [HasMethods(["fit", "decision_function"]), None],
        "n_codes": [Interval(Integral, 1, None, closed="left"), None],
        "min_share": [Interval(Real, 0, 1, closed="both")],
        "max_draws": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        estimator=None,
        *,
        n_codes=None,
        min_share=0.1,
        max_draws=2000,
        n_jobs=None,
        random_state=None,
    ):
        self.estimator = estimator
        self.n_codes = n_codes
        self.min_share = min_share
        self.max_draws = max_draws
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, observed=None):
        """Draw the splits and fit a binary classifier for each.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples, n_classes) or (n_samples,)
            Candidate sets: 1 for a candidate, 0 for a class that is excluded, -1 where
            that is not known, which makes the class a candidate too. A 1-D y gives
            each sample its one class, -1 for any.
        observed : array-like of bool of shape (n_samples,) or \
                (n_samples, n_classes), default=None
            What was observed, when y is sparse; overrides -1.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        X, candidates = self._validate_candidates(X, y, observed, min_classes=2)
        codes = self._draw_codes(candidates[:, self._possible])
        book = np.zeros((len(self.classes_), len(codes)), dtype=np.int8)
        book[self._possible] = np.where(codes, 1, -1).T
        positive, negative = _sides(candidates[:, self._possible], codes)
        model = self.estimator
        if model is None:
            # Without a seed it takes one from numpy's global state, for nothing.
            model = SVC(C=1, kernel="rbf", gamma="auto", random_state=0)
        self.estimators_ = Parallel(n_jobs=self.n_jobs, prefer="threads")(
            delayed(_fit_split)(clone(model), X, positive[:, t], negative[:, t])
            for t in range(len(codes))
        )
        # Machines with the same kernel decide together: one kernel matrix for all.
        self._machines = None
        if self.estimator is None:
            self._machines = _stack(self.estimators_, X, positive | negative)
        self.code_book_ = book
        self.performance_ = _performance(self._decisions(X), candidates, book)
        return self

    def _draw_codes(self, candidates):
        """Splits with enough samples, (n_codes, n_possible_classes) bool."""
        n, q = candidates.shape
        wanted = self.n_codes or int(np.ceil(10 * np.log2(q)))
        wanted = int(min(wanted, 2.0 ** (q - 1) - 1))
        min_side = min(MIN_SIDE, int(np.ceil(n / 20)))
        min_rows = int(np.ceil(self.min_share * n))
        rng = check_random_state(self.random_state)
        codes, n_rows = np.zeros((0, q), dtype=bool), np.zeros(0, dtype=int)
        for proposed in _proposals(q, self.max_draws, rng):
            n_first, n_second = (
                side.sum(axis=0) for side in _sides(candidates, proposed)
            )
            usable = np.minimum(n_first, n_second) >= min_side
            codes = np.concatenate([codes, proposed[usable]])
            n_rows = np.concatenate([n_rows, (n_first + n_second)[usable]])
            if np.count_nonzero(n_rows >= min_rows) >= wanted:
                return codes[n_rows >= min_rows][:wanted]
        if not len(codes):
            raise ValueError(
                f"No split of the {q} classes in two has {min_side} samples for each "
                "half whose candidates all lie there: the candidate sets are too large "
                "for PLECOC, use another learner."
            )
        # The fullest ones, in the order of their drawing if they are equally full.
        order = np.argsort(-np.minimum(n_rows, min_rows), kind="stable")[:wanted]
        n_poor = np.count_nonzero(n_rows[order] < min_rows)
        if n_poor:
            warnings.warn(
                f"{n_poor} of the {len(order)} splits have fewer than {min_rows} "
                "samples whose candidates lie on one side, the smallest "
                f"{n_rows[order].min()}: expect little of PLECOC with sets this large.",
                UserWarning,
                stacklevel=4,
            )
        return codes[order]

    def _decisions(self, X):
        if self._machines is None:
            columns = [model.decision_function(X) for model in self.estimators_]
            decisions = np.column_stack(columns)
        else:
            centers, weights, intercepts = self._machines
            decisions = gaussian_product(X, centers, 1 / X.shape[1], weights)
            decisions += intercepts
        return np.clip(decisions, -MAX_DECISION, MAX_DECISION)

    def _scores(self, X):
        decisions = self._decisions(X)
        loss = (
            np.exp(-decisions) @ np.where(self.code_book_ > 0, self.performance_, 0).T
        )
        loss += (
            np.exp(decisions) @ np.where(self.code_book_ < 0, self.performance_, 0).T
        )
        # A class about which no classifier was ever right has no loss to show.
        known = self.performance_.any(axis=1)
        return np.where(known, -np.log(np.where(known, loss, 1)), -np.inf)


def _proposals(n_classes, max_draws, rng):
    """Yield blocks of different splits; the first class is always in the first half."""
    if 2.0 ** (n_classes - 1) - 1 <= max_draws:
        numbers = rng.permutation(2 ** (n_classes - 1) - 1)
        bits = (numbers[:, None] >> np.arange(n_classes - 1)) & 1
        first = np.ones((len(bits), 1), dtype=bool)
        yield np.hstack([first, bits.astype(bool)])
        return
    seen = set()
    for start in range(0, max_draws, BLOCK):
        codes = rng.randint(2, size=(min(BLOCK, max_draws - start), n_classes)) > 0
        codes ^= ~codes[:, :1]  # exchanging the halves makes no difference
        fresh = []
        for code in codes[~codes.all(axis=1)]:
            if code.tobytes() not in seen:
                seen.add(code.tobytes())
                fresh.append(code)
        yield np.array(fresh, dtype=bool).reshape(-1, n_classes)


def _sides(candidates, codes):
    """Samples with all candidates in the first, or in the second half of a split."""
    sets, halves = candidates.astype(np.float32), codes.T.astype(np.float32)
    return sets @ (1 - halves) == 0, sets @ halves == 0


def _fit_split(model, X, positive, negative):
    rows = positive | negative
    return model.fit(X[rows], np.where(positive[rows], 1, -1))


def _stack(machines, X, used):
    """Support vectors of all machines, their weights and the intercepts."""
    weights = np.zeros(used.shape)
    for t, machine in enumerate(machines):
        dual = machine.dual_coef_
        rows = np.flatnonzero(used[:, t])[machine.support_]
        weights[rows, t] = (dual.toarray() if issparse(dual) else dual)[0]
    kept = weights.any(axis=1)
    intercepts = np.concatenate([machine.intercept_ for machine in machines])
    return X[kept], weights[kept], intercepts


def _performance(decisions, candidates, book):
    """Share of the samples that may have a class on its side; rows sum to one."""
    sides = np.where(decisions > 0, 1.0, -1.0)
    sizes = np.maximum(candidates.sum(axis=0), 1)[:, None]
    agreement = book * (candidates.T.astype(np.float64) @ sides) / sizes
    right = np.where(book != 0, (1 + agreement) / 2, 0)
    total = right.sum(axis=1, keepdims=True)
    return right / np.where(total > 0, total, 1)
