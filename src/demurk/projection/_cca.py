"""Canonical correlation between features and labels, with and without a graph."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real

import numpy as np
from scipy.linalg import eigh

from demurk.graph import affinity, laplacian, nearest_neighbors
from demurk.linalg import Problem
from demurk.linalg._reg import ridge_of
from demurk.projection._base import GRAPH_CONSTRAINTS, N_COMPONENTS, REG, LinearReducer
from demurk.utils._compat import Interval

__all__ = ["LabelCCA", "SemiSupervisedCCA"]


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

    The ridge of 0.1 follows published code; other code takes 0 or 1. A toolbox in
    circulation (ML-FE) codes labels as -1 and 1: a ridge on the labels of 0.1 there is
    one of 0.025 here; that on the features is the same. With ``reg=0`` a
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
    _streams = True

    def __init__(self, n_components=None, *, reg=0.1):
        self.n_components = n_components
        self.reg = reg

    def _problem(self, X, labels):
        return whitened_labels(labels, self.reg)


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
    _semi_supervised = True

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

    def _problem(self, X, labels):
        graph = nearest_neighbors(
            X, self.n_neighbors, method=self.neighbors, n_jobs=self.n_jobs
        )
        weight = self.graph_weight / X.shape[0] ** 2
        # Rows of the Laplacian sum to zero: the labelled mean serves both terms.
        return whitened_labels(
            labels,
            self.reg,
            weights=labels.labeled.astype(float),
            omega=weight * laplacian(affinity(graph)),
        )


def whitened_labels(labels, reg, **more):
    """The problem of canonical correlation: labels whitened, metric the scatter."""
    return Problem(
        labels,
        scatter=1.0,
        reg=reg,
        combine=lambda sums: whitening(sums.target_scatter, reg),
        **more,
    )


def whitening(target_scatter, reg):
    """A factor R of the (regularised) inverse: ``R R' = (S + reg I)^-1``."""
    n_varying = np.count_nonzero(target_scatter.diagonal() > 0)
    ridge = ridge_of(reg, n_varying, np.trace(target_scatter))
    values, vectors = eigh(target_scatter)
    values = np.maximum(values, 0) + ridge
    kept = values > 1e-10 * values[-1]
    return vectors[:, kept] / np.sqrt(values[kept])
