"""Canonical correlation between features and labels, with and without a graph."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral, Real

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array, diags_array

from demurk.graph import affinity, laplacian, nearest_neighbors
from demurk.linalg import dependence_directions, dependence_projection
from demurk.linalg._reg import ridge_of
from demurk.projection._base import (
    N_COMPONENTS,
    REG,
    LinearReducer,
    centered_targets,
    column_means,
    keep_labeled,
    target_moments,
    total_scatter,
)
from demurk.utils._compat import HasMethods, Interval, StrOptions, _fit_context

__all__ = ["GRAPH_CONSTRAINTS", "LabelCCA", "SemiSupervisedCCA"]

GRAPH_CONSTRAINTS = {
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "neighbors": [StrOptions({"exact", "approx"}), HasMethods(["fit"])],
    "n_jobs": [Integral, None],
}


class LabelCCA(LinearReducer):
    """Canonical correlation analysis between the features and the labels.

    Directions whose projections correlate most with some combination of the labels,
    so that rare labels count as much as frequent ones. Sensitive to noise when there
    are few samples for the features; then raise `reg`. Unlabelled rows are ignored.

    Read more in the :ref:`User Guide <reducers>`.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions; None keeps all that correlate, at most the number of
        labels.
    reg : float or str, default=0.1
        Ridge added to both scatter matrices. A string such as "rel:1e-3" stands for
        that share of their mean diagonal entry.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions, largest correlation first, of norm one in the regularised scatter.
    eigenvalues_ : ndarray of shape (n_components,)
        Squares of the regularised canonical correlations, in [0, 1].
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled samples, subtracted by `transform`.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    SemiSupervisedCCA : Makes use of unlabelled rows.
    MDDM : Covariance in place of correlation.

    Notes
    -----
    With T the centred labels, directions p solve
    ``X'T (T'T + reg I)^-1 T'X p = lambda (X'HX + reg I) p`` [1]_; only the features
    are projected. Time O(n D^2 + D^3), memory O(D^2); the n x n dual form when D > n,
    conjugate gradients when both are large.

    The ridge of 0.1 follows published code; other code takes 0 or 1. With ``reg=0`` a
    singular scatter is inverted in the row space of X, and linearly dependent labels
    count once. A missing entry of a label contributes nothing.

    References
    ----------
    .. [1] L. Sun, S. Ji, J. Ye, "Canonical correlation analysis for multilabel
       classification: a least-squares formulation, extensions, and analysis", IEEE
       TPAMI 33(1), 2011. :doi:`10.1109/TPAMI.2010.160`

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.projection import LabelCCA
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> LabelCCA(n_components=3).fit_transform(toy.data, toy.target).shape
    (400, 3)
    """

    _parameter_constraints: dict = {"n_components": N_COMPONENTS, "reg": REG}
    _label_kind = "labels"

    def __init__(self, n_components=None, *, reg=0.1):
        self.n_components = n_components
        self.reg = reg

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
        targets = centered_targets(labels)
        mean = column_means(X)
        projection = dependence_directions(
            X,
            targets @ whitening(targets.T @ targets, self.reg),
            mean=mean,
            omega=1.0,
            ridge=ridge_of(self.reg, X.shape[1], lambda: total_scatter(X, mean)),
            n_components=self.n_components,
        )
        return self._set_projection(projection, mean, X.dtype)

    def _fit_chunks(self, chunks):
        statistics = target_moments(chunks, scatter=True)
        metric = statistics.scatter
        size = len(metric)
        metric.flat[:: size + 1] += ridge_of(self.reg, size, np.trace(metric))
        projection = dependence_projection(
            statistics.cross @ whitening(statistics.target_scatter, self.reg),
            metric,
            n_components=self.n_components,
        )
        return self._set_projection(projection, statistics.mean_x, chunks.dtype)


class SemiSupervisedCCA(LinearReducer):
    """Canonical correlation with the labels, smooth over a graph of all samples.

    As :class:`LabelCCA`, but directions along which neighbouring samples differ cost
    more; the graph joins labelled and unlabelled samples.

    Read more in the :ref:`User Guide <reducers>`.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions; None keeps all that correlate, at most the number of
        labels.
    reg : float or str, default=0.1
        Ridge added to both scatter matrices. A string such as "rel:1e-3" stands for
        that share of the mean diagonal entry of the scatter of the labelled rows.
    graph_weight : float, default=1.0
        Weight of the graph, the paper's gamma; it is divided by the squared number
        of samples.
    n_neighbors : int, default=10
        Neighbours of each sample in the graph.
    neighbors : {"exact", "approx"} or transformer, default="exact"
        How neighbours are found; see
        :class:`~demurk.propagation.NoisyLabelPropagation`.
    n_jobs : int, default=None
        Threads of the neighbour search; None means 1, -1 all processors.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions, largest correlation first, of norm one in the metric.
    eigenvalues_ : ndarray of shape (n_components,)
        Squares of the regularised canonical correlations, in [0, 1].
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled samples, subtracted by `transform`.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    LabelCCA : Without the graph.

    Notes
    -----
    With T the centred labels of the labelled rows and L the Laplacian of the graph over
    all n rows, directions p solve ``X'T (T'T + reg I)^-1 T'X p = lambda (X'HX + (g /
    n^2) X'LX + reg I) p``, where H centres the labelled rows. This is the linear form
    of [1]_ with the graph on the side of the features only. The factor 1 / n^2 is the
    paper's and makes the default weight mild: with n samples and k neighbours the
    graph term is of order k / n against a scatter of order n.

    Time O(n^2 D) for the exact neighbour search and O(n D (D + k) + D^3) for the
    directions, memory O(n D + D^2); the dual form when D > n, conjugate gradients when
    both are large.

    References
    ----------
    .. [1] M. B. Blaschko, C. H. Lampert, A. Gretton, "Semi-supervised Laplacian
       regularization of kernel canonical correlation analysis", ECML PKDD, 2008.
       :doi:`10.1007/978-3-540-87479-9_27`

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.labels import hide_rows
    >>> from demurk.projection import SemiSupervisedCCA
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> murky = hide_rows(toy.target, 0.5, random_state=0).labels
    >>> SemiSupervisedCCA(n_components=3).fit_transform(toy.data, murky).shape
    (400, 3)
    """

    _parameter_constraints: dict = {
        "n_components": N_COMPONENTS,
        "reg": REG,
        "graph_weight": [Interval(Real, 0, None, closed="left")],
        **GRAPH_CONSTRAINTS,
    }
    _label_kind = "labels"

    def __init__(
        self,
        n_components=None,
        *,
        reg=0.1,
        graph_weight=1.0,
        n_neighbors=10,
        neighbors="exact",
        n_jobs=None,
    ):
        self.n_components = n_components
        self.reg = reg
        self.graph_weight = graph_weight
        self.n_neighbors = n_neighbors
        self.neighbors = neighbors
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, observed=None):
        """Learn the directions from the labels and from the graph of all rows.

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
        X, labels = self._validate_fit(X, y, observed=observed)
        n, n_features = X.shape
        labeled = labels.labeled
        mean = column_means(X[labeled])
        targets = centered_targets(labels)
        graph = nearest_neighbors(
            X, self.n_neighbors, method=self.neighbors, n_jobs=self.n_jobs
        )
        weight = self.graph_weight / n**2
        # Rows of the Laplacian sum to zero: the labelled mean serves both terms.
        omega = diags_array(labeled.astype(float)) + weight * laplacian(affinity(graph))
        ridge = ridge_of(
            self.reg,
            n_features,
            lambda: total_scatter(X, mean, labeled.astype(float)),
        )
        projection = dependence_directions(
            X,
            targets @ whitening(targets.T @ targets, self.reg),
            mean=mean,
            omega=csr_array(omega),
            ridge=ridge,
            n_components=self.n_components,
        )
        return self._set_projection(projection, mean, X.dtype)


def whitening(target_scatter, reg):
    """A factor R of the (regularised) inverse: ``R R' = (S + reg I)^-1``."""
    n_varying = np.count_nonzero(target_scatter.diagonal() > 0)
    ridge = ridge_of(reg, n_varying, np.trace(target_scatter))
    values, vectors = eigh(target_scatter)
    values = np.maximum(values, 0) + ridge
    kept = values > 1e-10 * values[-1]
    return vectors[:, kept] / np.sqrt(values[kept])
