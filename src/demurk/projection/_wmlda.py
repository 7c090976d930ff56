"""Weighted multi-label linear discriminant analysis."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np

from demurk.linalg import (
    Projection,
    dependence_directions,
    dependence_projection,
    moments_of_chunks,
)
from demurk.linalg._reg import ridge_of
from demurk.projection._base import (
    N_COMPONENTS,
    REG,
    LinearReducer,
    keep_labeled,
    total_scatter,
)
from demurk.projection._chunks import STREAMING
from demurk.projection._wmlda_weights import (
    correlation_weights,
    entropy_weights,
    label_cosines,
    label_weights,
)
from demurk.utils._compat import StrOptions, _fit_context

__all__ = ["WMLDA", "ClassScatter", "class_scatter", "discriminant_directions"]


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
    _label_kind = "labels"
    _compares_labels = True

    def __init__(
        self, n_components=None, *, weights="binary", reg=0.1, random_state=None
    ):
        self.n_components = n_components
        self.weights = weights
        self.reg = reg
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, observed=None):
        """Learn the directions from the labelled rows.

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
            The fitted reducer.
        """
        X, labels = keep_labeled(*self._validate_fit(X, y, observed=observed))
        W = label_weights(self.weights, X, labels, self.random_state)
        projection, mean = discriminant_directions(
            X, W, reg=self.reg, n_components=self.n_components
        )
        return self._set_projection(projection, mean, X.dtype)

    def _fit_chunks(self, chunks):
        if self.weights in ("fuzzy", "dependence"):
            raise TypeError(
                f"WMLDA with weights='{self.weights}' cannot be fitted in chunks; "
                f"those that can are {STREAMING}."
            )
        statistics = moments_of_chunks(self._weighted(chunks), scatter=True)
        metric = statistics.scatter
        size = len(metric)
        metric.flat[:: size + 1] += ridge_of(self.reg, size, np.trace(metric))
        counts = statistics.mean_t * statistics.weight
        projection = dependence_projection(
            statistics.cross @ contrasts(counts),
            metric,
            n_components=self.n_components,
        )
        return self._set_projection(
            within_scale(projection), statistics.mean_x, chunks.dtype
        )

    def _weighted(self, chunks):
        """Rows with their weights in the form that weighted moments take."""
        cosines = None
        if self.weights == "correlation":
            cosines = label_cosines(sum(y.values.T @ y.values for _, y in chunks))
        for X, labels in chunks:
            W = labels.values
            if self.weights == "entropy":
                W = entropy_weights(W)
            elif cosines is not None:
                W = correlation_weights(W, labels.observed, cosines)
            total = W.sum(axis=1)
            yield X, W / np.where(total > 0, total, 1)[:, None], total


@dataclass(frozen=True, eq=False)
class ClassScatter:
    """Scatter matrices of weighted classes, as targets and row weights.

    With ``Xc = X - mean``: ``S_t = Xc' diag(weights) Xc`` and ``S_b = M M'`` for
    ``M = Xc' targets``.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
        Weighted mean of the rows.
    targets : ndarray of shape (n_samples, n_classes - 1)
        One column less than there are classes that occur.
    weights : ndarray of shape (n_samples,)
        Sum of the weights of each row.
    """

    mean: np.ndarray
    targets: np.ndarray
    weights: np.ndarray


def class_scatter(X, W):
    """State the scatter matrices of X for the weights W (n_samples, n_labels)."""
    weights = W.sum(axis=1)
    total = weights.sum()
    if not total > 0:
        raise ValueError("No sample has a label: there are no classes to separate.")
    mean = (X.T @ weights) / total
    return ClassScatter(mean, W @ contrasts(W.sum(axis=0)), weights)


def contrasts(counts):
    """``diag(counts)^-1/2 Q``, Q an orthonormal basis beside ``sqrt(counts)``.

    The centred class means, weighted by their counts, sum to zero: along
    ``sqrt(counts)`` there is nothing but round-off, which is left out here. Labels
    without a sample get rows of zeros.
    """
    used = np.flatnonzero(counts > 0)
    root = np.sqrt(counts[used])
    # The Householder reflection of the unit vector onto the first axis.
    axis = root / np.linalg.norm(root)
    axis[0] += 1.0
    reflection = np.eye(used.size) - np.multiply.outer(axis, axis / axis[0])
    result = np.zeros((counts.size, used.size - 1))
    result[used] = reflection[:, 1:] / root[:, None]
    return result


def discriminant_directions(X, W, *, reg, n_components):
    """Directions of discriminant analysis for any weights, and the mean to subtract."""
    parts = class_scatter(X, W)
    projection = dependence_directions(
        X,
        parts.targets,
        mean=parts.mean,
        omega=parts.weights,
        ridge=ridge_of(
            reg, X.shape[1], lambda: total_scatter(X, parts.mean, parts.weights)
        ),
        n_components=n_components,
    )
    return within_scale(projection), parts.mean


def within_scale(projection):
    """From norm one in ``S_t + reg I`` to norm one in ``S_w + reg I``."""
    rest = 1 - projection.eigenvalues
    if rest.min() < 1e-12:
        raise ValueError(
            "The within-class scatter is singular: some direction separates the labels "
            "perfectly; a larger reg would make it positive definite."
        )
    return Projection(
        projection.components / np.sqrt(rest)[:, None], projection.eigenvalues / rest
    )
