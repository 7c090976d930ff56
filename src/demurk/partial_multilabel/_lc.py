"""Partial multi-label learning with label correlations."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real

import numpy as np

from demurk.partial_multilabel._pairs import RankingClassifier, feasible
from demurk.utils._compat import Interval, _fit_context

__all__ = ["PMLlc"]

# Steps of the projected gradient, and the movement at which they end.
MAX_STEPS = 200
STEP_TOL = 1e-7


class PMLlc(RankingClassifier):
    """Partial multi-label learning with label correlations (PML-lc).

    A linear model ranks candidates above other labels. Each pair counts as much as the
    candidate is believed; a candidate is believed if it ranks high, and if labels that
    occur together with it are candidates too.

    Read more in the :ref:`User Guide <partial_multilabel>`.

    Parameters
    ----------
    ranking_weight : float, default=1.0
        Weight C_1 of the ranking loss.
    correlation_weight : float, default=1.0
        Weight C_2 of differences in confidence between labels that occur together.
    confidence_penalty : float, default=1.0
        Pull of all confidences towards one.
    smoothing : float, default=0.1
        Width over which the hinge is rounded, at most 1.
    max_iter : int, default=10
        Largest number of iterations.
    tol : float, default=1e-3
        Rounds end when the objective falls by less than this, relatively.
    threshold : {"linear", "cardinality"} or float, default="linear"
        Where scores become labels; see :class:`PMLLCom`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Linear model.
    intercept_ : ndarray of shape (n_labels,)
        Its intercept.
    label_distributions_ : ndarray of shape (n_labeled, n_labels)
        Confidences in the candidates of the labelled samples: in [0, 1], of sum one at
        least, zero elsewhere.
    similarities_ : ndarray of shape (n_labels, n_labels)
        How often labels are candidates together: cosines, over the largest row sum.
    noise_scores_ : csr_array of shape (n_samples, n_labels)
        How suspect each candidate is: one minus its confidence over the largest one of
        the sample.
    thresholds_ : float or ndarray of shape (n_labels + 1,)
        The cut, or weights of the scores and an intercept.
    objective_ : ndarray of shape (n_iter_,)
        Objective after each round; it never rises.
    n_iter_ : int
        Number of iterations.
    classes_ : ndarray of shape (n_labels,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    PMLfp : Compares samples with the prototypes of labels instead.

    Notes
    -----
    Minimises ``|W|^2 / 2 + sum_i r_i / |Y_i|`` in turns [1]_, W by L-BFGS, the
    confidences of all samples at once by projected gradients. The row of a sample i
    with the candidates Y_i is ``r_i = sum_j (C_1 p_ij mean_k h(w_j'x_i - w_k'x_i) +
    tau (p_ij - 1)^2 / 2) + C_2 sum_jl s_jl (p_ij - p_il)^2`` over candidates j, other
    labels k and all labels l, with confidences of sum one at least. Here h is a rounded
    hinge, and a constant feature is appended.

    The constraints of the paper, its similarities s and its weight C_2 are not known
    for certain; tau and the means over pairs are ours, as in :class:`PMLfp`.

    Time O(n q (log q + D)) a step of L-BFGS and O(n q^2) a step of the projected
    gradient; memory O(n (D + q) + q^2).

    References
    ----------
    .. [1] M.-K. Xie, S.-J. Huang, "Partial multi-label learning", AAAI 2018.

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.labels import add_extra_labels
    >>> from demurk.partial_multilabel import PMLlc
    >>> toy = make_multilabel_blocks(200, random_state=0)
    >>> candidates = add_extra_labels(toy.target, random_state=0).labels
    >>> PMLlc().fit(toy.data, candidates).predict(toy.data).shape
    (200, 4)
    """

    _parameter_constraints: dict = {
        **RankingClassifier._parameter_constraints,
        "correlation_weight": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        ranking_weight=1.0,
        *,
        correlation_weight=1.0,
        confidence_penalty=1.0,
        smoothing=0.1,
        max_iter=10,
        tol=1e-3,
        threshold="linear",
    ):
        self.ranking_weight = ranking_weight
        self.correlation_weight = correlation_weight
        self.confidence_penalty = confidence_penalty
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, observed=None):
        """Learn the ranking and the confidences in turns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples, n_labels) or (n_samples,)
            Candidates: 1 for a label that may be true, 0 for one that is not, -1 where
            that is not known, which makes the label a candidate too. Rows of -1 are
            left out. A 1-D y gives each sample its one class.
        observed : array-like of bool of shape (n_samples,) or \
                (n_samples, n_labels), default=None
            What was observed, when y is sparse; overrides -1.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        return self._fit(X, y, observed)

    def _term(self, X, candidates, shares):
        weights = self.correlation_weight, self.confidence_penalty
        return Correlations(candidates, shares, *weights)


class Correlations:
    """Confidences that are similar for labels that occur together.

    Parameters
    ----------
    candidates : ndarray of shape (n, q), bool
        Candidates.
    shares : ndarray of shape (n, 1)
        Weight of each sample.
    weight, pull : float
        Weight of the differences, and of the pull of confidences towards one.
    """

    def __init__(self, candidates, shares, weight, pull):
        self.candidates, self.shares = candidates, shares
        self.weight, self.pull = weight, pull
        self.similarities = S = label_similarities(candidates)
        self.laplacian = np.diag(S.sum(axis=1)) - S

    def cost(self, P):
        """What some confidences cost here."""
        # The sum over both j and l counts every pair twice.
        return 2 * self.weight * np.vdot(self.shares * P, P @ self.laplacian)

    def update(self, P, costs):
        """Best confidences, to a tolerance."""
        # Row sums of the similarities are at most one, those eigenvalues two.
        step = 1 / (8 * self.weight + self.pull)
        for _ in range(MAX_STEPS):
            slope = costs + 4 * self.weight * (P @ self.laplacian)
            slope += self.pull * (P - 1)
            updated = feasible(P - step * slope, self.candidates)
            moved = np.abs(updated - P).max()
            P = updated
            if moved < STEP_TOL:
                break
        return P

    def learned(self, order):
        """Attributes for the user."""
        return {"similarities_": self.similarities[np.ix_(order, order)]}


def label_similarities(candidates):
    """Cosines between the columns of a matrix, with row sums of one at most.

    Parameters
    ----------
    candidates : ndarray of shape (n, q), bool
        Candidates.

    Returns
    -------
    similarities : ndarray of shape (q, q)
        Symmetric, zero on the diagonal.
    """
    together = candidates.T.astype(np.float64) @ candidates
    size = np.sqrt(np.maximum(together.diagonal(), 1))
    cosines = together / np.multiply.outer(size, size)
    np.fill_diagonal(cosines, 0)
    largest = cosines.sum(axis=1).max()
    return cosines / largest if largest > 0 else cosines
