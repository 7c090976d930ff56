"""Partial multi-label learning with feature prototypes."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real

import numpy as np
from scipy.sparse import issparse

from demurk.partial_multilabel._pairs import RankingClassifier, feasible
from demurk.utils._compat import Interval, _fit_context

__all__ = ["PMLfp"]


class PMLfp(RankingClassifier):
    """Partial multi-label learning with feature prototypes (PML-fp).

    A linear model ranks candidates above other labels. Each pair counts as much as the
    candidate is believed, and a candidate is believed if it ranks high and if the
    sample is close to the prototype of the label.

    Read more in the :ref:`User Guide <partial_multilabel>`.

    Parameters
    ----------
    ranking_weight : float, default=1.0
        Weight C_1 of the ranking loss.
    prototype_weight : float, default=10.0
        Weight C_3 of the distances to prototypes.
    confidence_penalty : float, default=10.0
        Pull of all confidences towards one. Without it a single candidate of each
        sample would keep any confidence.
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
    prototypes_ : ndarray of shape (n_labels, n_features)
        Mean of the samples of a label, weighted by the confidences.
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
    PMLlc : Asks labels that occur together for similar confidences instead.

    Notes
    -----
    Minimises ``|W|^2 / 2 + sum_i r_i / |Y_i|`` in turns [1]_, W by L-BFGS, prototypes
    and confidences exactly. The row of a sample i with the candidates Y_i is ``r_i =
    sum_j (p_ij (C_1 mean_k h(w_j'x_i - w_k'x_i) + C_3 |x_i - c_j|^2 / s) +
    tau (p_ij - 1)^2 / 2)`` over candidates j and other labels k, with confidences of
    sum one at least. Here h is a rounded hinge, s the mean squared distance of the
    samples from their mean, and a constant feature is appended.

    The constraints of the paper are not known for certain. Its confidences solve a
    linear programme, whose solution believes one candidate only; hence the term with
    tau. The means over pairs, as in RankSVM, and the unit s keep all terms of
    comparable size. One split, three halves and twice as many candidates: ranking
    loss on emotions 0.173 and 0.199 with tau = 10, 0.197 and 0.247 with tau = 1. With
    hundreds of labels the prototypes mislead: on CAL500 0.33, and 0.23 without.

    All pairs of a sample come from one sort, so that hundreds of labels are possible.

    Time O(n q (log q + D)) a step of L-BFGS; memory O(n (D + q)).

    References
    ----------
    .. [1] M.-K. Xie, S.-J. Huang, "Partial multi-label learning", AAAI 2018.

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.labels import add_extra_labels
    >>> from demurk.partial_multilabel import PMLfp
    >>> toy = make_multilabel_blocks(200, random_state=0)
    >>> candidates = add_extra_labels(toy.target, random_state=0).labels
    >>> PMLfp().fit(toy.data, candidates).predict(toy.data).shape
    (200, 4)
    """

    _parameter_constraints: dict = {
        **RankingClassifier._parameter_constraints,
        "prototype_weight": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        ranking_weight=1.0,
        *,
        prototype_weight=10.0,
        confidence_penalty=10.0,
        smoothing=0.1,
        max_iter=10,
        tol=1e-3,
        threshold="linear",
    ):
        self.ranking_weight = ranking_weight
        self.prototype_weight = prototype_weight
        self.confidence_penalty = confidence_penalty
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, observed=None):
        """Learn the ranking, the prototypes and the confidences in turns.

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
        weights = self.prototype_weight, self.confidence_penalty
        return Prototypes(X, candidates, shares, *weights)


class Prototypes:
    """Confidences that are small for samples far from the prototype of the label.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Features.
    candidates : ndarray of shape (n, q), bool
        Candidates.
    shares : ndarray of shape (n, 1)
        Weight of each sample.
    weight, pull : float
        Weight of the distances, and of the pull of confidences towards one.
    """

    def __init__(self, X, candidates, shares, weight, pull):
        self.X, self.candidates, self.shares = X, candidates, shares
        self.weight, self.pull = weight, pull
        squares = X.multiply(X) if issparse(X) else X**2
        self.squares = np.asarray(squares.sum(axis=1))[:, np.newaxis]
        self.mean = X.mean(axis=0)
        spread = self.squares.mean() - self.mean @ self.mean
        self.unit = spread if spread > 0 else 1.0
        self.prototypes = self.means(candidates)

    def means(self, P):
        """Mean of the samples of each label, weighted; that of all if it has none."""
        weights = self.shares * P
        total = weights.sum(axis=0)
        unused = total <= 0
        means = (self.X.T @ weights / np.where(unused, 1, total)).T
        means[unused] = self.mean
        return means

    def distances(self):
        """Squared distances of samples to prototypes, in units of the spread."""
        C = self.prototypes
        found = self.squares - 2 * (self.X @ C.T) + np.sum(C**2, axis=1)
        return self.weight * np.maximum(found, 0) / self.unit

    def cost(self, P):
        """What some confidences cost here."""
        return np.vdot(self.shares * P, self.distances())

    def update(self, P, costs):
        """Best prototypes for the confidences, then the best confidences."""
        self.prototypes = self.means(P)
        costs = costs + self.distances()
        return feasible(1 - costs / self.pull, self.candidates)

    def learned(self, order):
        """Attributes for the user."""
        return {"prototypes_": self.prototypes[order]}
