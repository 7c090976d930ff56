"""Laplacian eigenmaps of the features alone."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from demurk.graph import affinity
from demurk.linalg._kernel import mean_squared_distance
from demurk.manifold._base import BANDWIDTH, EMBEDDING_CONSTRAINTS, GraphEmbedding
from demurk.utils._compat import StrOptions, _fit_context

__all__ = ["LaplacianEigenmaps"]


class LaplacianEigenmaps(GraphEmbedding):
    """Laplacian eigenmaps: a map on which neighbours lie close.

    The unsupervised method that the others of this room build on. Unlike
    :class:`sklearn.manifold.SpectralEmbedding` it places new samples, keeps to sparse
    matrices throughout, and says so when the graph falls apart.

    Read more in the :ref:`User Guide <sleml>`.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    n_neighbors : int, default=15
        Neighbours of each sample in the graph (the paper's k).
    affinity : {"heat", "knn"}, default="heat"
        Weights of the edges: ``exp(-distance^2 / bandwidth^2)`` where either sample is
        a neighbour of the other, or 1 for mutual neighbours and 1/2 for others, which
        is SLE-ML with a feature weight of 1.
    bandwidth : float, default=None
        Width of the heat kernel; None takes the root mean square distance of two
        samples (the median distance to the last neighbour if X is a precomputed
        graph).
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
    neighbors_recall_ : float
        Share of true neighbours found by an approximate search (1 if exact).
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    SLEML : Labels have a say as well.
    sklearn.manifold.SpectralEmbedding : The same idea in scikit-learn.

    Notes
    -----
    With weights W and degrees D, the coordinates are the generalised eigenvectors of
    ``(D - W, D)`` with the smallest eigenvalues beyond 0 [1]_. Time O(n^2 D) for the
    exact neighbour search, which dominates, then O(n k) for each step of the
    eigen-solver. Memory O(n (k + D)).

    References
    ----------
    .. [1] M. Belkin, P. Niyogi, "Laplacian eigenmaps for dimensionality reduction and
       data representation", Neural Computation 15(6), 2003.
       :doi:`10.1162/089976603321780317`

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from demurk.manifold import LaplacianEigenmaps
    >>> X, _ = load_digits(n_class=4, return_X_y=True)
    >>> LaplacianEigenmaps(random_state=0).fit_transform(X).shape
    (720, 2)
    """

    _parameter_constraints: dict = {
        **EMBEDDING_CONSTRAINTS,
        "n_neighbors": EMBEDDING_CONSTRAINTS["n_neighbors"][:1],
        "affinity": [StrOptions({"heat", "knn"})],
        "bandwidth": BANDWIDTH,
    }

    def __init__(
        self,
        n_components=2,
        *,
        n_neighbors=15,
        affinity="heat",
        bandwidth=None,
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
        self.affinity = affinity
        self.bandwidth = bandwidth
        self.out_of_sample = out_of_sample
        self.n_neighbors_new = n_neighbors_new
        self.normalization = normalization
        self.on_disconnected = on_disconnected
        self.neighbors = neighbors
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        return tags

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y=None):
        """Make the map of the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features; a sparse graph of distances with ``neighbors="precomputed"``.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted embedding.
        """
        X = self._validate_features(X, ensure_min_samples=2)
        return self._fit(X, y, None)

    def fit_transform(self, X, y=None):
        """Make the map and return it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : None
            Ignored.

        Returns
        -------
        embedding : ndarray of shape (n_samples, n_components)
            The same as `embedding_`.
        """
        return self.fit(X).embedding_

    def _weights(self, X, labels, graph):
        if self.affinity == "knn":
            return affinity(graph, symmetrize="mean")
        bandwidth = self.bandwidth
        if bandwidth is None and self.neighbors != "precomputed":
            # Duplicates of one sample have no width; any will do.
            bandwidth = np.sqrt(mean_squared_distance(X)) or None
        return affinity(graph, weights="heat", bandwidth=bandwidth)
