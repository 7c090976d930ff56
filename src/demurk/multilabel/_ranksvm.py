"""Ranking support vector machine for multi-label data."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import Bounds, minimize
from scipy.sparse import issparse
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from demurk.base import DemurkEstimator, LabelOutputMixin
from demurk.labels import LabelTags
from demurk.manifold._distances import gaussian, gaussian_root, mean_distance
from demurk.utils._compat import Interval, StrOptions, _fit_context

__all__ = ["RankSVM", "fit_cuts", "fit_ranking"]

# The lowest and highest cut lie this far outside the scores of a row.
MARGIN = 0.1
# The solver's own criteria are off: the duality gap tells when to stop.
UNTIL_GAP = {"ftol": 0.0, "gtol": 0.0}


@dataclass(frozen=True)
class Pairs:
    """Every relevant label of a row with every irrelevant one.

    Attributes
    ----------
    row, relevant, irrelevant : ndarray of int of shape (p,)
        The row and the two labels.
    bound : ndarray of shape (p,)
        Largest dual variable: C divided by the number of pairs of the row.
    """

    row: np.ndarray
    relevant: np.ndarray
    irrelevant: np.ndarray
    bound: np.ndarray


def make_pairs(values, observed, C):
    """Pairs of all rows; rows with all labels or none have no pairs."""
    relevant_all = observed & (values > 0)
    irrelevant_all = observed & (values == 0)
    n_pairs = relevant_all.sum(axis=1) * irrelevant_all.sum(axis=1)
    row, relevant = np.nonzero(relevant_all)
    others = [np.flatnonzero(mask) for mask in irrelevant_all]
    repeats = irrelevant_all.sum(axis=1)[row]
    irrelevant = [np.empty(0, dtype=np.intp), *(others[i] for i in row)]
    pair_row = np.repeat(row, repeats)
    return Pairs(
        pair_row,
        np.repeat(relevant, repeats),
        np.concatenate(irrelevant),
        C / n_pairs[pair_row],
    )


def fit_ranking(phi, pairs, n_labels, *, tol=1e-3, max_iter=5000):
    """Maximise the dual of the ranking machine.

    Parameters
    ----------
    phi : {ndarray, csr_array} of shape (n, r)
        Features, whose products are the kernel.
    pairs : Pairs
        Pairs of labels to be ranked.
    n_labels : int
        Number q of labels.
    tol : float, default=1e-3
        The solver stops when primal and dual value agree up to this share.
    max_iter : int, default=5000
        Most steps.

    Returns
    -------
    beta : ndarray of shape (n_labels, n)
        Dual coefficients: relevant labels positive, irrelevant ones negative.
    gap : float
        Relative difference of the primal and the dual value.
    n_iter : int
        Steps taken.

    Notes
    -----
    The constant feature is added here: K + 1 in the place of K and a penalised
    intercept, which frees the dual of its equality constraints. What is left is a
    concave quadratic over a box, for L-BFGS-B, at O(n r q + p) per step.
    """
    n = phi.shape[0]
    size = n_labels * n
    plus = pairs.relevant * n + pairs.row
    minus = pairs.irrelevant * n + pairs.row
    found = {"gap": np.inf}

    def coefficients(share):
        alpha = share * pairs.bound
        beta = np.bincount(plus, alpha, size) - np.bincount(minus, alpha, size)
        return alpha, beta.reshape(n_labels, n)

    def cost(share):
        alpha, beta = coefficients(share)
        # (phi' beta')' phi' + the part of the constant feature.
        scores = (phi @ (phi.T @ beta.T)).T + beta.sum(axis=1, keepdims=True)
        norm = 0.5 * np.einsum("ij,ij->", beta, scores)
        scores = scores.ravel()
        slack = 1.0 - (scores[plus] - scores[minus])
        dual = alpha.sum() - norm
        primal = norm + pairs.bound @ np.maximum(slack, 0.0)
        found["gap"] = (primal - dual) / max(primal, np.finfo(float).tiny)
        return -dual, -slack * pairs.bound

    def stop(intermediate_result):
        if found["gap"] <= tol:
            raise StopIteration

    if not len(plus):
        return np.zeros((n_labels, n)), 0.0, 0
    share, n_iter, n_new = np.zeros(len(plus)), 0, 2
    # A search that gets stuck in rounding often goes on with an empty memory.
    while found["gap"] > tol and n_iter < max_iter and n_new > 1:
        result = minimize(
            cost,
            share,
            jac=True,
            method="L-BFGS-B",
            bounds=Bounds(0.0, 1.0),
            callback=stop,
            options={"maxiter": max_iter - n_iter, "maxfun": 10**8, **UNTIL_GAP},
        )
        share, n_new = result.x, int(result.nit)
        n_iter += n_new
        cost(share)
    return coefficients(share)[1], found["gap"], n_iter


def fit_cuts(scores, values):
    """Linear prediction of the score from which on a label counts, from all scores.

    Parameters
    ----------
    scores : ndarray of shape (n, q)
        Scores of the training rows.
    values : ndarray of shape (n, q)
        Their labels.

    Returns
    -------
    coef : ndarray of shape (q + 1,)
        Weights of the scores, and the constant last.

    Notes
    -----
    The target of a row is the cut between two of its sorted scores, or 0.1 outside
    them, that makes the fewest mistakes; the lowest of several.
    """
    n = len(scores)
    order = np.argsort(scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1)
    relevant = np.take_along_axis(values, order, axis=1)
    zero = np.zeros((n, 1))
    # Above the cut everything is predicted: lost are the relevant ones below it and
    # the irrelevant ones above it.
    missed = np.hstack([zero, np.cumsum(relevant, axis=1)])
    false = np.hstack([zero, np.cumsum(1 - relevant, axis=1)])
    mistakes = missed + false[:, -1:] - false
    cuts = np.hstack(
        [
            ranked[:, :1] - MARGIN,
            (ranked[:, 1:] + ranked[:, :-1]) / 2,
            ranked[:, -1:] + MARGIN,
        ]
    )
    target = cuts[np.arange(n), mistakes.argmin(axis=1)]
    design = np.hstack([scores, np.ones((n, 1))])
    return np.linalg.lstsq(design, target, rcond=None)[0]


class RankSVM(LabelOutputMixin, ClassifierMixin, DemurkEstimator):
    """Ranking support vector machine (Rank-SVM).

    Learns one score per label such that, within each sample, relevant labels score
    higher than irrelevant ones by a margin. A second, linear step predicts where the
    relevant labels of a sample end. Rows without labels are ignored.

    Read more in the :ref:`User Guide <ranksvm>`.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the ranking errors; each sample has the same share.
    kernel : {"rbf", "linear"}, default="rbf"
        Kernel of the scores.
    bandwidth : float, default=None
        The kernel is ``exp(-distance^2 / (2 bandwidth^2))``; None takes the mean
        distance of two samples.
    n_landmarks : int, default=2000
        Samples that the kernel is taken with; with as many samples or fewer it is
        exact, beyond it is approximated (Nystroem).
    tol : float, default=1e-3
        Primal and dual value agree up to this share at the end.
    max_iter : int, default=5000
        Most steps of the solver.
    random_state : int, RandomState instance or None, default=0
        Draws the landmarks, and pairs for the mean distance.

    Attributes
    ----------
    cuts_ : ndarray of shape (n_labels + 1,)
        Linear prediction of the cut from the scores, the constant last.
    duality_gap_ : float
        Relative difference of the primal and the dual value.
    n_iter_ : int
        Steps of the solver.
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of the features; only with a linear kernel.
    intercept_ : ndarray of shape (n_labels,)
        Constant of each score.
    classes_ : ndarray of shape (n_labels,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    MLkNN : Counts neighbours instead.
    demurk.manifold.SSDRMC : Uses the unlabelled samples as well.

    Notes
    -----
    Minimises ``1/2 sum_k |w_k|^2 + C sum_i mean over pairs of max(0, 1 - (s_k - s_l))``
    over pairs of a relevant label k and an irrelevant label l of sample i [1]_. The
    original solves its dual by the Frank-Wolfe method with a linear program in every
    step, because the free intercepts give equality constraints. With a penalised
    intercept these vanish, and L-BFGS-B reaches a duality gap of 0.1 % (in some 2000
    steps with C = 1000 on scene and yeast). Dense features are centred for the linear
    kernel. Rows with all labels or none teach nothing; entries that were not observed
    form no pairs.

    With p pairs of labels in all rows, a step costs O(n r q + p) for r landmarks or
    features, memory is O(n r + p).

    References
    ----------
    .. [1] A. Elisseeff, J. Weston, "A kernel method for multi-labelled
       classification", NIPS 14, 2001.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.pipeline import make_pipeline
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.multilabel import RankSVM
    >>> toy = make_multilabel_blocks(300, random_state=0)
    >>> model = make_pipeline(PCA(0.95), RankSVM()).fit(toy.data, toy.target)
    >>> model.predict(toy.data).shape
    (300, 4)
    """

    _parameter_constraints: dict = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions({"rbf", "linear"})],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), None],
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }
    _label_tags = LabelTags(kinds=("labels",), missing=True)

    def __init__(
        self,
        C=1.0,
        *,
        kernel="rbf",
        bandwidth=None,
        n_landmarks=2000,
        tol=1e-3,
        max_iter=5000,
        random_state=0,
    ):
        self.C = C
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.n_landmarks = n_landmarks
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, observed=None):
        """Learn the scores and the cuts from the labelled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Labels; -1 marks what was not observed.
        observed : array-like of bool of shape (n_samples,) or \
                (n_samples, n_labels), default=None
            What was observed, when y is sparse; overrides -1.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        X, labels = self._validate_fit(X, y, observed=observed)
        self._set_classes(labels)
        values, seen = labels.values, labels.observed
        if not labels.labeled.all():
            kept = labels.labeled
            X, values, seen = X[kept], values[kept], seen[kept]
        phi, origin = self._fit_features(X)
        pairs = make_pairs(values, seen, self.C)
        beta, self.duality_gap_, self.n_iter_ = fit_ranking(
            phi, pairs, labels.n_labels, tol=self.tol, max_iter=self.max_iter
        )
        if self.duality_gap_ > self.tol:
            warnings.warn(
                f"The duality gap is still {self.duality_gap_:.2g} after "
                f"{self.n_iter_} steps; raise max_iter or tol, or lower C.",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.intercept_ = beta.sum(axis=1)
        weights = np.asarray((phi.T @ beta.T).T)
        if self.kernel == "linear":
            self.coef_ = weights
            self.intercept_ -= weights @ origin
        else:
            self._dual = solve_triangular(self._root, weights.T)
            del self._root
        complete = seen.all(axis=1)
        rows = complete if complete.any() else np.ones(len(values), dtype=bool)
        self.cuts_ = fit_cuts(self._scores(X[rows]), values[rows])
        return self

    def _fit_features(self, X):
        """Features whose products are the kernel, and their origin."""
        if self.kernel == "linear":
            # An offset would drown the differences; sparse features stay as they are.
            origin = np.zeros(X.shape[1]) if issparse(X) else X.mean(axis=0)
            return (X if issparse(X) else X - origin), origin
        rng = check_random_state(self.random_state)
        n = X.shape[0]
        width = self.bandwidth
        if width is None:
            width = (mean_distance(X, rng) if n > 1 else 0.0) or 1.0
        self._gamma = 1.0 / (2.0 * width**2)
        r = min(n, self.n_landmarks)
        self._centers = X if r == n else X[np.sort(rng.permutation(n)[:r])]
        self._root = gaussian_root(self._centers, self._gamma)
        kernel = gaussian(X, self._centers, self._gamma)
        return solve_triangular(self._root, kernel.T, trans="T").T, None

    def _scores(self, X):
        if self.kernel == "linear":
            return X @ self.coef_.T + self.intercept_
        kernel = gaussian(X, self._centers, self._gamma)
        return kernel @ self._dual + self.intercept_

    def decision_function(self, X):
        """Scores of the labels, relative to the cut of the sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels) or (n_samples,)
            Positive for labels that are predicted. If `fit` had a 1-D y, the scores
            themselves, or the difference of the two for two classes.
        """
        check_is_fitted(self)
        scores = self._scores(self._validate_new(X))
        if not self._single:
            cut = scores @ self.cuts_[:-1] + self.cuts_[-1]
            return scores - cut[:, None]
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X):
        """Scores squeezed into (0, 1); they are not calibrated.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_labels)
            Above one half for labels that are predicted; rows sum to one only if
            `fit` had a 1-D y.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        return softmax(scores, axis=1) if self._single else expit(scores)

    def predict(self, X):
        """Labels of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        labels : ndarray of shape (n_samples, n_labels) or (n_samples,)
            0/1 for each label, or one class per sample if `fit` had a 1-D y.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(np.intp)]
        return self._decide(scores) if self._single else (scores > 0).astype(np.int64)
