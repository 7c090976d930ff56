"""Weighted multi-label linear discriminant analysis."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from demurk.linalg import Problem
from demurk.projection._base import N_COMPONENTS, REG, LinearReducer
from demurk.projection._wmlda_weights import (
    correlation_weights,
    label_cosines,
    label_weights,
)
from demurk.utils._compat import StrOptions

__all__ = ["WMLDA", "between_classes", "contrasts"]


class WMLDA(LinearReducer):
    """Weighted multi-label linear discriminant analysis.

    Linear discriminant analysis for samples that belong to several classes: each sample
    counts in its classes with weights, for which the five usual rules are offered. With
    one class per sample, all of them are ordinary discriminant analysis. Unlabelled
    rows are ignored.

    Read more in the :ref:`User Guide <reducers>`.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions; None keeps all that separate the labels, at most one
        less than there are labels.
    weights : {"binary", "entropy", "correlation", "fuzzy", "dependence"}, \
            default="binary"
        Weight of a sample with r labels for each label:

        - "binary": 1 for its own, so that it counts r times;
        - "entropy": 1 / r for its own;
        - "correlation": the mean cosine between the label and its own, which gives
          weight to related labels that it does not have;
        - "fuzzy": shared among its own by closeness to their centres;
        - "dependence": 1 for one of its own, chosen to maximise the dependence
          between features and weights.
    reg : float or str, default=0.1
        Ridge added to the within-class scatter. A string such as "rel:1e-3" stands for
        that share of the mean diagonal entry of the total scatter.
    random_state : int, RandomState instance or None, default=None
        Order in which the rule "dependence" visits the samples.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions, best separation first, of norm one in the regularised within-class
        scatter.
    eigenvalues_ : ndarray of shape (n_components,)
        Ratio of between-class to within-class scatter along each direction.
    mean_ : ndarray of shape (n_features,)
        Weighted mean of the labelled samples, subtracted by `transform`.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    SSMLDR : With propagated labels as weights.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : One class per sample.

    Notes
    -----
    With weights W, class weights N = W'1 and class means m_k, directions p solve
    ``S_b p = lambda (S_w + reg I) p``, where
    ``S_b = sum_k N_k (m_k - m)(m_k - m)'`` and
    ``S_w = sum_ik W_ik (x_i - m_k)(x_i - m_k)'`` [1]_. Since S_b + S_w = S_t, it is
    solved with S_t, whose factor is at hand; the directions are the same, and are then
    scaled to the published normalisation ``p'(S_w + reg I) p = 1``.

    Time O(n D^2 + D^3), memory O(D^2); the n x n dual form when D > n, conjugate
    gradients when both are large. "fuzzy" adds O(n D q) for each of some 10
    iterations, "dependence" O(n D (q + 64)) for each of 10 to 30 sweeps.

    Differences from published code: labels without a sample are left out (there,
    correlation gives them 1 / n^2); "fuzzy" starts from proper centres and stops at
    1 % of their size; "dependence" chooses among the labels of the sample only, and
    samples without a label count nowhere. An entry that was not observed has weight 0.

    References
    ----------
    .. [1] J. Xu, "A weighted linear discriminant analysis framework for multi-label
       feature extraction", Neurocomputing 275, 2018.
       :doi:`10.1016/j.neucom.2017.05.008`
    .. [2] H. Wang, C. Ding, H. Huang, "Multi-label linear discriminant analysis",
       ECCV, 2010 (weights "correlation").
    .. [3] C. H. Park, M. Lee, "On applying linear discriminant analysis for
       multi-labeled problems", Pattern Recognition Letters 29(7), 2008 (weights
       "binary"). :doi:`10.1016/j.patrec.2008.01.003`

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.projection import WMLDA
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> WMLDA(weights="entropy").fit_transform(toy.data, toy.target).shape
    (400, 3)
    """

    _parameter_constraints: dict = {
        "n_components": N_COMPONENTS,
        "weights": [
            StrOptions({"binary", "entropy", "correlation", "fuzzy", "dependence"})
        ],
        "reg": REG,
        "random_state": ["random_state"],
    }
    _compares_labels = True

    def __init__(
        self, n_components=None, *, weights="binary", reg=0.1, random_state=None
    ):
        self.n_components = n_components
        self.weights = weights
        self.reg = reg
        self.random_state = random_state

    @property
    def _streams(self):
        return self.weights not in ("fuzzy", "dependence")

    def _look_ahead(self, labels):
        if self.weights == "correlation":
            self._cosines = label_cosines(sum(y.values.T @ y.values for y in labels))

    def _problem(self, X, labels):
        if self.weights == "correlation":
            W = correlation_weights(labels.values, labels.observed, self._cosines)
        else:
            W = label_weights(self.weights, X, labels, self.random_state)
        return between_classes(W, self.reg)


def between_classes(W, reg, *, within=True, **more):
    """The problem of discriminant analysis with memberships W (n, q) in classes.

    ``tr((P'S_wP)^-1 P'S_bP)`` has the solutions of the problem with the total scatter
    for metric, up to their lengths, and that one needs no class means.
    """
    return Problem(
        W,
        weights=W.sum(axis=1),
        scatter=1.0,
        reg=reg,
        combine=lambda sums: contrasts(sums.totals),
        within=within,
        **more,
    )


def contrasts(counts):
    """``diag(counts)^-1/2 Q``, Q an orthonormal basis beside ``sqrt(counts)``.

    The centred class means, weighted by their counts, sum to zero: along
    ``sqrt(counts)`` there is nothing but round-off, which is left out here. Labels
    without a sample get rows of zeros.
    """
    used = np.flatnonzero(counts > 0)
    if not used.size:
        raise ValueError("No sample has a label: there are no classes to separate.")
    root = np.sqrt(counts[used])
    # The Householder reflection of the unit vector onto the first axis.
    axis = root / np.linalg.norm(root)
    axis[0] += 1.0
    reflection = np.eye(used.size) - np.multiply.outer(axis, axis / axis[0])
    result = np.zeros((counts.size, used.size - 1))
    result[used] = reflection[:, 1:] / root[:, None]
    return result
