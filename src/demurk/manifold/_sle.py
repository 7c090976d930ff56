"""Supervised Laplacian eigenmaps with graphs within and between classes."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.sparse.linalg import LinearOperator
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import gen_batches

from demurk.linalg._kernel import mean_squared_distance
from demurk.manifold._base import (
    BANDWIDTH,
    EMBEDDING_CONSTRAINTS,
    SHARE,
    GraphEmbedding,
)
from demurk.manifold._label_graph import distinct_sets
from demurk.manifold._spectral import SpectralMap, spectral_coordinates
from demurk.utils._compat import HasMethods, StrOptions

__all__ = ["SLE"]

CHUNK_NUMBERS = 2**21


class SLE(GraphEmbedding):
    """Supervised Laplacian eigenmaps with two graphs (S-LE).

    Similar samples of one class are drawn together and similar samples of different
    classes pushed apart. How similar is similar, each sample decides by its mean
    similarity to all. Classes are the distinct label sets.

    Read more in the :ref:`User Guide <sleml>`.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    between_weight : float, default=0.01
        Share of the push between classes in [0, 1] (the paper's beta). The SLE-ML
        paper gives no value. On digits, 0.1 and more spend the map on two outliers.
    bandwidth : float, default=None
        Width of the similarity (the paper's sigma); None takes the root mean square
        distance of two samples.
    n_neighbors : int, default=15
        Neighbours kept for placing new samples.
    out_of_sample : {"harmonic", "nystroem", "linear", "kernel"}, default="harmonic"
        How `transform` places new samples; see :class:`SLEML`.
    n_neighbors_new : int, default=5
        Neighbours that place a new sample with "harmonic" and "nystroem"; None takes
        as many as in the graph.
    normalization : {"degree", "unit", "sqrt_n"}, default="degree"
        Scale of the coordinates; see :class:`SLEML`.
    neighbors : {"exact", "approx"} or transformer, default="exact"
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
        Gain of each coordinate, largest first.
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
    Maximises ``b tr Z'L_B Z - (1 - b) tr Z'L_W Z`` under ``Z'D_W Z = I`` [1]_, which
    is the largest eigenvectors of ``(b L_B + (1 - b) W_W, D_W)`` beside the constant.
    W_W holds the similarities ``exp(-distance^2 / bandwidth^2)`` above the mean of
    either sample within a class, W_B is 1 for such pairs of different classes.

    Both graphs are dense. They are computed anew, by chunks of rows, for each of some
    hundred products, in O(n^2 D) time each and O(n D) memory: a method for thousands of
    samples, not more. "nystroem" is the same as "harmonic" here. A labelled row
    without labels is a label set of its own; unlabelled rows are placed like new
    samples.

    References
    ----------
    .. [1] B. Raducanu, F. Dornaika, "A supervised non-linear dimensionality reduction
       approach for manifold learning", Pattern Recognition 45(6), 2012.
       :doi:`10.1016/j.patcog.2011.12.006`

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from demurk.manifold import SLE
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> SLE(random_state=0).fit_transform(X[:200], y[:200]).shape
    (200, 2)
    """

    _uses_unlabeled = False
    _averages_shrink = False
    _parameter_constraints: dict = {
        **EMBEDDING_CONSTRAINTS,
        "n_neighbors": EMBEDDING_CONSTRAINTS["n_neighbors"][:1],
        "between_weight": SHARE,
        "bandwidth": BANDWIDTH,
        "neighbors": [
            StrOptions({"exact", "approx"}),
            HasMethods(["fit", "kneighbors_graph"]),
        ],
    }
    del _parameter_constraints["on_disconnected"]

    def __init__(
        self,
        n_components=2,
        *,
        between_weight=0.01,
        bandwidth=None,
        n_neighbors=15,
        out_of_sample="harmonic",
        n_neighbors_new=5,
        normalization="degree",
        neighbors="exact",
        n_jobs=None,
        random_state=None,
    ):
        self.n_components = n_components
        self.between_weight = between_weight
        self.bandwidth = bandwidth
        self.n_neighbors = n_neighbors
        self.out_of_sample = out_of_sample
        self.n_neighbors_new = n_neighbors_new
        self.normalization = normalization
        self.neighbors = neighbors
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _weights(self, X, labels, graph):
        _, group = distinct_sets(labels.values > 0, labels.labeled)
        width = self.bandwidth
        squared = mean_squared_distance(X) if width is None else width**2
        return TwoGraphs(X, group, squared or 1.0, self.between_weight)

    def _solve(self, weights):
        n = weights.shape[0]
        if self.n_components >= n:
            raise ValueError(
                f"n_components is {self.n_components}, but {n} samples have only "
                f"{n - 1} coordinates; ask for fewer, or give more samples."
            )
        theta, Z = spectral_coordinates(
            weights,
            weights.degree,
            np.zeros(n, dtype=np.intp),
            self.n_components,
            self.random_state,
        )
        return SpectralMap(Z, theta, weights.degree)


class TwoGraphs(LinearOperator):
    """``D^-1/2 (b L_B + (1 - b) W_W) D^-1/2`` with D the degrees of W_W."""

    def __init__(self, X, group, squared_width, between_weight):
        n = X.shape[0]
        self.X, self.group, self.squared_width = X, group, squared_width
        self.between_weight = between_weight
        self.mean = np.empty(n)
        for batch, similarity in self._similarities():
            self.mean[batch] = similarity.mean(axis=1)
        within, between = np.empty(n), np.empty(n)
        for batch, inside, outside in self._graphs():
            within[batch], between[batch] = inside.sum(axis=1), outside.sum(axis=1)
        self.degree, self.between_degree = within, between
        self.scale = within**-0.5
        super().__init__(dtype=np.dtype(np.float64), shape=(n, n))

    def _similarities(self):
        n = self.X.shape[0]
        for batch in gen_batches(n, max(1, CHUNK_NUMBERS // n)):
            squared = euclidean_distances(self.X[batch], self.X, squared=True)
            squared = squared.astype(np.float64, copy=False)
            rows = np.arange(n)[batch]
            squared[np.arange(len(rows)), rows] = 0.0
            yield batch, np.exp(-squared / self.squared_width)

    def _graphs(self):
        """Rows of W_W, with self-loops, and of W_B."""
        for batch, similarity in self._similarities():
            near = similarity > np.minimum(self.mean[batch, None], self.mean)
            same = self.group[batch, None] == self.group
            rows = np.arange(len(self.mean))[batch]
            near[np.arange(len(rows)), rows] = True
            yield batch, similarity * (near & same), near & ~same

    def _matmat(self, block):
        scaled = self.scale[:, None] * block
        out = np.empty_like(scaled)
        b = self.between_weight
        for batch, inside, outside in self._graphs():
            pushed = self.between_degree[batch, None] * scaled[batch]
            pushed -= outside.astype(np.float64) @ scaled
            out[batch] = b * pushed + (1 - b) * (inside @ scaled)
        return self.scale[:, None] * out

    def _matvec(self, vector):
        return self._matmat(vector.reshape(-1, 1)).ravel()

    def _adjoint(self):
        return self
