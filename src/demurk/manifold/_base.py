"""What every embedding shares: parameters, the fit, places for new samples."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import replace
from numbers import Integral, Real

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from demurk.base import DemurkEstimator
from demurk.graph import nearest_neighbors
from demurk.linalg._kernel import gaussian_product
from demurk.manifold._label_graph import distinct_sets
from demurk.manifold._out_of_sample import (
    fit_kernel_map,
    fit_linear_map,
    neighbor_average,
)
from demurk.manifold._spectral import embed_graph
from demurk.utils._compat import (
    CallbackSupportMixin,
    HasMethods,
    Interval,
    StrOptions,
    _fit_context,
)
from demurk.utils._progress import fit_progress

__all__ = [
    "BANDWIDTH",
    "EMBEDDING_CONSTRAINTS",
    "SHARE",
    "GraphEmbedding",
    "usual_neighbors",
]

SHARE = [Interval(Real, 0, 1, closed="both")]
BANDWIDTH = [Interval(Real, 0, None, closed="neither"), None]

EMBEDDING_CONSTRAINTS: dict = {
    "n_components": [Interval(Integral, 1, None, closed="left")],
    "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
    "out_of_sample": [StrOptions({"harmonic", "nystroem", "linear", "kernel"})],
    "n_neighbors_new": [Interval(Integral, 1, None, closed="left"), None],
    "normalization": [StrOptions({"degree", "unit", "sqrt_n"})],
    "on_disconnected": [StrOptions({"warn", "teleport", "raise"})],
    "neighbors": [
        StrOptions({"exact", "approx", "precomputed"}),
        HasMethods(["fit", "kneighbors_graph"]),
    ],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
}

# The paper's neighbourhoods reach beyond a class of average size.
CLASS_SIZES = 1.5
MAX_NEIGHBORS = 300
# With fewer samples per label set, label sets are no classes.
SAMPLES_PER_SET = 20


def usual_neighbors(labels):
    """The SLE-ML paper's number of neighbours: 1.5 times the mean class size.

    Classes are the distinct label sets where these have 20 samples or more on average,
    else the labels. At most 300.
    """
    sets, _ = distinct_sets(labels.values > 0, labels.values.any(axis=1))
    n_classes = len(sets)
    if not 0 < n_classes * SAMPLES_PER_SET <= labels.n_samples:
        n_classes = labels.n_labels
    return max(1, min(int(CLASS_SIZES * labels.n_samples / n_classes), MAX_NEIGHBORS))


class GraphEmbedding(
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    CallbackSupportMixin,
    DemurkEstimator,
):
    """Base of the embeddings: a method says what its weights are, in `_weights`."""

    _label_kind = "labels"
    _moves_far_rows = True
    # Whether unlabelled samples take part, or are placed like new ones.
    _uses_unlabeled = True
    # Whether the mean of the neighbours of a sample is 1 - eigenvalue times its place.
    _averages_shrink = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, observed=None):
        """Make the map of the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features; a sparse graph of distances with ``neighbors="precomputed"``.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Labels; -1 marks what was not observed.
        observed : array-like of bool of shape (n_samples,) or \
                (n_samples, n_labels), default=None
            What was observed, when y is sparse; overrides -1.

        Returns
        -------
        self : object
            The fitted embedding.
        """
        X, labels = self._validate_fit(X, y, observed=observed)
        return self._fit(X, y, labels)

    def fit_transform(self, X, y=None, observed=None):
        """Make the map and return it.

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
        embedding : ndarray of shape (n_samples, n_components)
            The same as `embedding_`.
        """
        return self.fit(X, y, observed=observed).embedding_

    def _fit(self, X, y, labels):
        explicit = self.out_of_sample in ("linear", "kernel")
        if explicit and self.neighbors == "precomputed":
            raise ValueError(
                f"out_of_sample is '{self.out_of_sample}', which needs features, but X "
                "is a precomputed graph; choose 'harmonic' or 'nystroem'."
            )
        labeled = None
        if not (self._uses_unlabeled or labels.labeled.all()):
            labeled = labels.labeled
            everyone, X = X, X[labeled]
            labels = replace(
                labels,
                values=labels.values[labeled],
                observed=labels.observed[labeled],
            )
        with fit_progress(self, 3, X, y) as stage:
            with stage("neighbour search"):
                graph = self._search(X, self._n_neighbors(labels))
            with stage("weights"):
                weights = self._weights(X, labels, graph)
            with stage("eigenvectors"):
                found = self._solve(weights)
        self._set_map(X, graph, found)
        if labeled is not None:
            embedding = np.empty((len(labeled), self._fit_Z.shape[1]), X.dtype)
            embedding[labeled] = self._fit_Z
            embedding[~labeled] = self._place(everyone[~labeled])
            self.embedding_ = embedding
        return self

    def _n_neighbors(self, labels):
        if self.n_neighbors is not None:
            return self.n_neighbors
        return usual_neighbors(labels)

    def _search(self, X, n_neighbors, queries=None):
        return nearest_neighbors(
            X,
            n_neighbors,
            queries=queries,
            method=self.neighbors,
            n_jobs=self.n_jobs,
        )

    def _weights(self, X, labels, graph):
        """Weights of the graph, sparse or sparse plus low-rank."""
        raise NotImplementedError

    def _solve(self, weights):
        """Coordinates of the nodes of the graph."""
        return embed_graph(
            weights,
            self.n_components,
            on_disconnected=self.on_disconnected,
            random_state=self.random_state,
        )

    def _set_map(self, X, graph, found):
        """Keep the map, and what it takes to place new samples on it."""
        n = X.shape[0]
        Z = self._normalized(found)[:n]
        self.embedding_ = self._fit_Z = Z.astype(X.dtype, copy=False)
        self.eigenvalues_ = found.eigenvalues
        self.neighbors_recall_ = graph.recall
        self._fit_X = X
        asked = self.n_neighbors_new or np.inf
        self._n_new = int(min(max(np.diff(graph.distances.indptr).max(), 1), asked))
        weight = found.degrees[:n]
        if self.out_of_sample == "linear":
            self._coef, self._intercept = fit_linear_map(X, Z, weight)
        elif self.out_of_sample == "kernel":
            reach = np.median(graph.distances.data)
            self._gamma = 1.0 / (2.0 * float(reach) ** 2 or 1.0)
            landmarks, self._coef = fit_kernel_map(
                X, Z, weight, self._gamma, self.random_state
            )
            self._centers = X[landmarks]

    def _normalized(self, found):
        if self.normalization == "degree":
            return found.coordinates
        if self.normalization == "sqrt_n":
            return found.coordinates * np.sqrt(found.degrees.sum())
        return found.coordinates / np.linalg.norm(found.coordinates, axis=0)

    def transform(self, X):
        """Place samples on the map.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples, without labels.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            Coordinates. With "harmonic" and "nystroem", a sample that was there
            during `fit` gets its place in `embedding_`.
        """
        check_is_fitted(self)
        return self._place(self._validate_new(X))

    def _place(self, X):
        dtype = X.dtype
        if self.out_of_sample == "linear":
            Z = X @ self._coef.T + self._intercept
        elif self.out_of_sample == "kernel":
            Z = gaussian_product(X, self._centers, self._gamma, self._coef)
        else:
            graph = self._search(self._fit_X, self._n_new, X)
            unshrink = self.out_of_sample == "nystroem" and self._averages_shrink
            costs = self.eigenvalues_ if unshrink else None
            Z = neighbor_average(graph, self._fit_Z, costs)
        return Z.astype(dtype, copy=False)

    @property
    def _n_features_out(self):
        return self.embedding_.shape[1]
