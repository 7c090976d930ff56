"""Supervised Laplacian eigenmaps with a distance that knows the classes."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils import check_random_state

from demurk.graph import NeighborGraph, affinity
from demurk.linalg._kernel import mean_distance
from demurk.manifold._base import BANDWIDTH, EMBEDDING_CONSTRAINTS, GraphEmbedding
from demurk.manifold._label_graph import distinct_sets
from demurk.utils._compat import HasMethods, StrOptions

__all__ = ["SLapEig"]

# exp(50) is as far as infinity; beyond, numbers overflow.
MAX_EXPONENT = 50.0


class SLapEig(GraphEmbedding):
    """Supervised Laplacian eigenmaps with a supervised distance (S-LapEig).

    Distances within a class are shrunk below 1 and distances between classes stretched
    beyond it; Laplacian eigenmaps follow. Classes are the distinct label sets.

    Read more in the :ref:`User Guide <sleml>`.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    n_neighbors : int, default=None
        Neighbours of each sample (k), by the supervised distance; None as in
        :class:`SLEML`. It must exceed the class sizes, or else no edge leaves a
        class.
    distance_scale : float, default=None
        Scale of the distance (the paper's tau); None takes the mean distance of two
        samples.
    bandwidth : float, default=1.0
        Width of the heat kernel of the supervised distance (the paper's sigma).
    out_of_sample : {"harmonic", "nystroem", "linear", "kernel"}, default="harmonic"
        How `transform` places new samples; see :class:`SLEML`.
    n_neighbors_new : int, default=5
        Neighbours that place a new sample with "harmonic" and "nystroem"; None takes
        as many as in the graph.
    normalization : {"degree", "unit", "sqrt_n"}, default="degree"
        Scale of the coordinates; see :class:`SLEML`.
    on_disconnected : {"warn", "teleport", "raise"}, default="warn"
        What to do about a graph in several parts; see :class:`SLEML`.
    neighbors : {"exact", "approx"} or transformer, default="exact"
        How neighbours are found; see
        :class:`~demurk.propagation.NoisyLabelPropagation`.
    n_jobs : int, default=None
        Threads of the neighbour search; None means 1, -1 all processors.
    random_state : int, RandomState instance or None, default=None
        Start of the eigen-solver, pairs for the mean distance, landmarks of "kernel".

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The map of the training samples.
    eigenvalues_ : ndarray of shape (n_components,)
        Cost of each coordinate, between 0 and 2.
    neighbors_recall_ : float
        Share of true neighbours found by an approximate search (1 if exact).
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    SLEML : Mixes features and labels with one parameter.

    Notes
    -----
    ``d^2 = 1 - exp(-e^2 / t^2)`` within a class and ``exp(e^2 / t^2)`` between classes,
    with e the Euclidean distance, and ``w = exp(-d^2 / s^2)`` where either sample is a
    neighbour of the other [1]_. The sources do not say whether neighbours are taken by
    d or by e, nor s: here by d, which explains why k must exceed the class size, and
    s = 1, since d has no unit. Since d grows with e, the neighbours are the nearest of
    the own class first and then the nearest of the others, which takes O(n^2 D) time
    and O(n (k + D)) memory.

    A labelled row without labels is a label set of its own. Unlabelled rows are placed
    like new samples.

    References
    ----------
    .. [1] Q. Jiang, M. Jia, "Supervised Laplacian eigenmaps for machinery fault
       classification", CSIE 2009. :doi:`10.1109/CSIE.2009.765`

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from demurk.manifold import SLapEig
    >>> X, y = load_digits(n_class=4, return_X_y=True)
    >>> SLapEig(random_state=0).fit_transform(X, y).shape
    (720, 2)
    """

    _uses_unlabeled = False
    _parameter_constraints: dict = {
        **EMBEDDING_CONSTRAINTS,
        "distance_scale": BANDWIDTH,
        "bandwidth": BANDWIDTH[:1],
        "neighbors": [
            StrOptions({"exact", "approx"}),
            HasMethods(["fit", "kneighbors_graph"]),
        ],
    }

    def __init__(
        self,
        n_components=2,
        *,
        n_neighbors=None,
        distance_scale=None,
        bandwidth=1.0,
        out_of_sample="harmonic",
        n_neighbors_new=5,
        normalization="degree",
        on_disconnected="warn",
        neighbors="exact",
        n_jobs=None,
        random_state=None,
    ):
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.distance_scale = distance_scale
        self.bandwidth = bandwidth
        self.out_of_sample = out_of_sample
        self.n_neighbors_new = n_neighbors_new
        self.normalization = normalization
        self.on_disconnected = on_disconnected
        self.neighbors = neighbors
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _weights(self, X, labels, graph):
        _, group = distinct_sets(labels.values > 0, labels.labeled)
        scale = self.distance_scale
        if scale is None:
            scale = mean_distance(X, check_random_state(self.random_state)) or 1.0
        supervised = self._class_neighbors(X, group, scale, self._n_neighbors(labels))
        return affinity(supervised, weights="heat", bandwidth=self.bandwidth)

    def _class_neighbors(self, X, group, scale, n_neighbors):
        """Neighbours by the supervised distance: the own class first, then others."""
        n = X.shape[0]
        rows, columns, distances = [], [], []

        def add(graph, own, others, supervise):
            found = graph.distances.tocoo()
            exponent = (found.data.astype(np.float64) / scale) ** 2
            rows.append(own[found.row])
            columns.append(others[found.col])
            distances.append(np.sqrt(supervise(exponent)))

        for g in range(group.max() + 1):
            own, others = np.flatnonzero(group == g), np.flatnonzero(group != g)
            n_inside = min(n_neighbors, len(own) - 1)
            if n_inside:
                inside = self._search(X[own], n_inside)
                add(inside, own, own, lambda e: -np.expm1(-e))
            if n_neighbors > n_inside and len(others):
                outside = self._search(X[others], n_neighbors - n_inside, X[own])
                add(
                    outside,
                    own,
                    others,
                    lambda e: np.exp(np.minimum(e, MAX_EXPONENT)),
                )
        parts = (np.concatenate(part) for part in (distances, rows, columns))
        data, row, column = parts
        return NeighborGraph(csr_array((data, (row, column)), shape=(n, n)))
