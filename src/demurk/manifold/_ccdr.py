"""Classification constrained dimensionality reduction."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.sparse import block_array, csr_array

from demurk.graph import affinity
from demurk.manifold._base import (
    BANDWIDTH,
    EMBEDDING_CONSTRAINTS,
    SHARE,
    GraphEmbedding,
)
from demurk.utils._compat import StrOptions

__all__ = ["CCDR"]


class CCDR(GraphEmbedding):
    """Classification constrained dimensionality reduction (CCDR).

    Laplacian eigenmaps with one more node for every class, joined with the samples of
    the class. A sample with several labels is drawn to several centres, a sample
    without labels to none.

    Read more in the :ref:`User Guide <sleml>`.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    feature_weight : float, default=0.5
        Share of the feature graph in [0, 1] (the paper's lambda).
    n_neighbors : int, default=None
        Neighbours of each sample in the feature graph (k); None as in :class:`SLEML`.
    bandwidth : float, default=None
        Width of the heat kernel; None takes the root of ten times the mean squared
        distance to the nearest neighbour.
    membership : {"binary", "sample", "class"}, default="binary"
        Weight of an edge to a class centre: 1, or 1 divided by the number of labels of
        the sample, or by the size of the class relative to the mean size.
    out_of_sample : {"harmonic", "nystroem", "linear", "kernel"}, default="harmonic"
        How `transform` places new samples; see :class:`SLEML`.
    n_neighbors_new : int, default=5
        Neighbours that place a new sample with "harmonic" and "nystroem"; None takes
        as many as in the graph.
    normalization : {"degree", "unit", "sqrt_n"}, default="degree"
        Scale of the coordinates; see :class:`SLEML`.
    on_disconnected : {"warn", "teleport", "raise"}, default="warn"
        What to do about a graph in several parts; see :class:`SLEML`.
    neighbors : {"exact", "approx", "precomputed"} or transformer, default="exact"
        How neighbours are found; see
        :class:`~demurk.propagation.NoisyLabelPropagation`.
    n_jobs : int, default=None
        Threads of the neighbour search; None means 1, -1 all processors.
    random_state : int, RandomState instance or None, default=None
        Start of the eigen-solver, and landmarks of "kernel".

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map of the training samples.
    eigenvalues_ : ndarray of shape (n_components,)
        Cost of each coordinate, between 0 and 2.
    class_centers_ : ndarray of shape (n_labels, n_components)
        Places of the class centres; NaN for a class without edges.
    neighbors_recall_ : float
        Share of true neighbours found by an approximate search (1 if exact).
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    SLEML : The labels form a graph of their own.

    Notes
    -----
    The cost ``l sum_ij w_ij |z_i - z_j|^2 + (1 - l) sum_ki c_ki |m_k - z_i|^2`` [1]_
    is that of Laplacian eigenmaps on n samples and q centres with the weights
    ``[[2 l W, (1 - l) C'], [(1 - l) C, 0]]``: the first sum meets every pair twice.
    The two terms are of size O(n k) and O(n q), so that l does not mean the same on
    every data set: on digits with 269 neighbours, labels are felt below 0.02.

    Time and memory as :class:`LaplacianEigenmaps`, plus the labels.

    References
    ----------
    .. [1] J. A. Costa, A. O. Hero, "Classification constrained dimensionality
       reduction", ICASSP 2005. :doi:`10.1109/ICASSP.2005.1416494`

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from demurk.manifold import CCDR
    >>> X, y = load_digits(n_class=4, return_X_y=True)
    >>> CCDR(n_neighbors=15, random_state=0).fit(X, y).class_centers_.shape
    (4, 2)
    """

    _parameter_constraints: dict = {
        **EMBEDDING_CONSTRAINTS,
        "feature_weight": SHARE,
        "bandwidth": BANDWIDTH,
        "membership": [StrOptions({"binary", "sample", "class"})],
    }

    def __init__(
        self,
        n_components=2,
        *,
        feature_weight=0.5,
        n_neighbors=None,
        bandwidth=None,
        membership="binary",
        out_of_sample="harmonic",
        n_neighbors_new=5,
        normalization="degree",
        on_disconnected="warn",
        neighbors="exact",
        n_jobs=None,
        random_state=None,
    ):
        self.n_components = n_components
        self.feature_weight = feature_weight
        self.n_neighbors = n_neighbors
        self.bandwidth = bandwidth
        self.membership = membership
        self.out_of_sample = out_of_sample
        self.n_neighbors_new = n_neighbors_new
        self.normalization = normalization
        self.on_disconnected = on_disconnected
        self.neighbors = neighbors
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _weights(self, X, labels, graph):
        bandwidth = self.bandwidth
        if bandwidth is None:
            # Duplicates have no width: `affinity` then finds one.
            bandwidth = np.sqrt(10 * neighbor_squares(graph).mean()) or None
        features = affinity(graph, weights="heat", bandwidth=bandwidth)
        members = self._members(labels)
        share = self.feature_weight
        # Only classes that have an edge become nodes.
        self._has_center = (members.sum(axis=0) > 0) & (share < 1)
        members = csr_array((1 - share) * members[:, self._has_center])
        weights = block_array(
            [[2 * share * features, members], [members.T, None]], format="csr"
        )
        weights.eliminate_zeros()
        return weights

    def _members(self, labels):
        """Weights between samples and classes."""
        members = labels.values
        if self.membership == "sample":
            return members / np.maximum(members.sum(axis=1, keepdims=True), 1)
        if self.membership == "class":
            sizes = members.sum(axis=0)
            return members * (sizes.mean() / np.maximum(sizes, 1))
        return members

    def _set_map(self, X, graph, found):
        super()._set_map(X, graph, found)
        places = self._normalized(found)[X.shape[0] :].astype(X.dtype, copy=False)
        shape = len(self._has_center), places.shape[1]
        self.class_centers_ = np.full(shape, np.nan, X.dtype)
        self.class_centers_[self._has_center] = places


def neighbor_squares(graph, which=0):
    """Squared distances of all points to their neighbour number `which` (or last)."""
    distances = graph.distances
    counts = np.diff(distances.indptr)
    has = counts > 0
    at = distances.indptr[:-1][has] + np.minimum(counts[has] - 1, which)
    return distances.data[at].astype(np.float64) ** 2
