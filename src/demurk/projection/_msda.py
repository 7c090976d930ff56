"""Multi-label discriminant analysis, smooth over features and labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real

import numpy as np
from scipy.sparse import diags_array

from demurk.graph import affinity, laplacian, nearest_neighbors
from demurk.projection._base import GRAPH_CONSTRAINTS, N_COMPONENTS, REG, LinearReducer
from demurk.projection._wmlda import between_classes
from demurk.utils._compat import Interval

__all__ = ["MSDA"]


class MSDA(LinearReducer):
    """Multi-label semi-supervised discriminant analysis.

    Directions that separate the labels and change little between neighbours, of which
    there are two kinds: samples close to each other, labelled or not, and labelled
    samples with similar label sets.

    Read more in the :ref:`User Guide <reducers>`.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions; None keeps all that separate the labels, at most one
        less than there are labels.
    graph_weight : float, default=0.1
        Weight of the graph of neighbours over all samples.
    label_weight : float, default=0.1
        Weight of the graph of label similarity over the labelled samples.
    n_neighbors : int, default=10
        Neighbours of each sample in the first graph.
    reg : float or str, default=0.1
        Ridge added to the metric. A string such as "rel:1e-3" stands for that share of
        the mean diagonal entry of the total scatter.
    neighbors : {"exact", "approx"} or transformer, default="exact"
        How neighbours are found; see
        :class:`~demurk.propagation.NoisyLabelPropagation`.
    n_jobs : int, default=None
        Threads of the neighbour search; None means 1, -1 all processors.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions, best separation first, of norm one in the metric.
    eigenvalues_ : ndarray of shape (n_components,)
        Between-class scatter along each direction.
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled samples weighted by their number of labels, subtracted by
        `transform`.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    WMLDA : Without the graphs.
    SemiSupervisedCCA : Correlation in place of separation.

    Notes
    -----
    Directions p solve ``S_b p = lambda (S_t + a X'L1 X + b X'L2 X + reg I) p``, with
    the scatter matrices of the labelled rows (binary weights), L1 the Laplacian of the
    neighbour graph of all rows, and L2 that of the cosines between the label sets of
    the labelled rows. Only the abstract of [1]_ was at hand: that the two penalties
    stand beside S_t, and their default weights, are our choice. The norm is that of
    this metric, not of S_w as in :class:`WMLDA`.

    L2 is dense but of rank q beside its diagonal, and is never formed. Time O(n^2 D)
    for the exact neighbour search and O(n D (D + k) + D^3) for the directions, memory
    O(n D + D^2); the dual form when D > n, conjugate gradients when both are large.

    References
    ----------
    .. [1] H. Li, P. Li, Y. Guo, M. Wu, "Multi-label dimensionality reduction based on
       semi-supervised discriminant analysis", Journal of Central South University of
       Technology 17(6), 2010.

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.labels import hide_rows
    >>> from demurk.projection import MSDA
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> murky = hide_rows(toy.target, 0.5, random_state=0).labels
    >>> MSDA().fit_transform(toy.data, murky).shape
    (400, 3)
    """

    _parameter_constraints: dict = {
        "n_components": N_COMPONENTS,
        "graph_weight": [Interval(Real, 0, None, closed="left")],
        "label_weight": [Interval(Real, 0, None, closed="left")],
        "reg": REG,
        **GRAPH_CONSTRAINTS,
    }
    _semi_supervised = True
    _compares_labels = True

    def __init__(
        self,
        n_components=None,
        *,
        graph_weight=0.1,
        label_weight=0.1,
        n_neighbors=10,
        reg=0.1,
        neighbors="exact",
        n_jobs=None,
    ):
        self.n_components = n_components
        self.graph_weight = graph_weight
        self.label_weight = label_weight
        self.n_neighbors = n_neighbors
        self.reg = reg
        self.neighbors = neighbors
        self.n_jobs = n_jobs

    def _problem(self, X, labels):
        graph = nearest_neighbors(
            X, self.n_neighbors, method=self.neighbors, n_jobs=self.n_jobs
        )
        # L2 = diag(degrees) - units units'; rows without a label have no part in it.
        norms = np.linalg.norm(labels.values, axis=1, keepdims=True)
        units = labels.values / np.where(norms > 0, norms, 1)
        degrees = diags_array(self.label_weight * (units @ units.sum(axis=0)))
        return between_classes(
            labels.values,
            self.reg,
            within=False,
            omega=degrees + self.graph_weight * laplacian(affinity(graph)),
            removed=np.sqrt(self.label_weight) * units,
        )
