"""The steps of GRADIS: one graph of several views, confidences, labels by clusters."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from math import ceil
from numbers import Integral

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse
from scipy.special import expit
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from demurk.graph import nearest_neighbors, normalize_symmetric
from demurk.linalg import graph_eigenvectors
from demurk.linalg._kernel import squared_distances
from demurk.partial_multilabel._particle_parts import row_shares, scaled_rows

__all__ = [
    "MAX_SEED",
    "clusters",
    "constant_score",
    "disambiguated",
    "fused_graph",
    "label_model",
    "label_scores",
    "scaled",
    "split_views",
    "view_slices",
]

MAX_SEED = 2**31 - 1
# Scores of a label that all samples have, or none: a probability of one, or of zero.
CERTAIN = 40.0


def view_slices(views, n_features):
    """Columns of each view, from the number of views or from their sizes."""
    if isinstance(views, Integral):
        n_views = min(int(views), n_features)
        sizes = [len(part) for part in np.array_split(np.arange(n_features), n_views)]
    else:
        sizes = [int(size) for size in views]
        if min(sizes, default=0) < 1 or sum(sizes) != n_features:
            raise ValueError(
                f"views is {list(views)}, but X has {n_features} features: give "
                "positive sizes that add up to them."
            )
    ends = np.cumsum(sizes)
    return [slice(int(end) - size, int(end)) for end, size in zip(ends, sizes)]


def scaled(X, scale):
    """Features divided by their scale, which leaves a sparse X sparse."""
    return csr_array(X @ diags_array(1 / scale)) if issparse(X) else X / scale


def split_views(X, slices):
    """The views of scaled features; distances need no centring."""
    return [X[:, part] for part in slices]


def fused_graph(views, n_neighbors, balanced=True, **search):
    """Weights ``exp(-d)`` of neighbours, summed over views; rows sum to one.

    Parameters
    ----------
    views : list of {ndarray, csr_array} of shape (n, d_v)
        Features of each view.
    n_neighbors : int
        Neighbours of a sample in each view.
    balanced : bool, default=True
        Whether the rows of each view are made to sum one before they are added.
    **search : keywords
        How they are found, see `nearest_neighbors`.

    Returns
    -------
    graph : csr_array of shape (n, n)
        Directed weights; empty for one sample.
    """
    n = views[0].shape[0]
    if n == 1:
        return csr_array((1, 1))
    found = [nearest_neighbors(view, n_neighbors, **search) for view in views]
    found = [neighbors.distances for neighbors in found]
    lengths = [d.data.reshape(n, -1).astype(np.float64) for d in found]
    # The scale of a row falls out when it is made to sum one; so nothing underflows.
    nearest = np.min([d.min(axis=1, keepdims=True) for d in lengths], axis=0)
    total = csr_array((n, n))
    for d, graph in zip(lengths, found):
        weights = np.exp((d.min(axis=1, keepdims=True) if balanced else nearest) - d)
        if balanced:
            weights /= weights.sum(axis=1, keepdims=True)
        places = graph.indices, graph.indptr
        total = total + csr_array((weights.ravel(), *places), shape=(n, n))
    return csr_array(diags_array(1 / total.sum(axis=1)) @ total)


def disambiguated(graph, candidates, alpha, max_iter, tol):
    """Confidences of candidates that listen to each other along a graph.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Weights of the neighbours, rows summing to one.
    candidates : ndarray of shape (n, q), bool
        Candidates.
    alpha : float
        Share of the neighbours, below 1.
    max_iter, tol : int, float
        When to end.

    Returns
    -------
    confidences : ndarray of shape (n, q)
        Scaled to [0, 1] in each row, zero outside the candidates.
    n_iter : int
        Number of iterations.
    """
    given = row_shares(candidates.astype(np.float64))
    P, n_iter = given, 0
    for _ in range(max_iter):
        before, n_iter = P, n_iter + 1
        P = row_shares((alpha * (graph @ P) + (1 - alpha) * given) * candidates)
        if np.linalg.norm(P - before) < tol:
            break
    mass = P.sum(axis=0)
    P = P * (given.sum(axis=0) / np.where(mass > 0, mass, 1))
    return scaled_rows(P, candidates), n_iter


def constant_score(has):
    """The score of a label that all samples have or none, None for any other."""
    if has.all():
        return CERTAIN
    return None if has.any() else -CERTAIN


def clusters(graph, n_clusters, seed):
    """Cluster of each node: leading eigenvectors of the graph, then k-means."""
    n = graph.shape[0]
    if n_clusters == 1:
        return np.zeros(n, dtype=np.intp)
    S = normalize_symmetric((graph + graph.T) * 0.5)
    vectors = graph_eigenvectors(S, n_clusters, random_state=seed)[1]
    means = KMeans(n_clusters, n_init=1, random_state=seed)
    with warnings.catch_warnings():
        # Samples that look alike may fill fewer clusters.
        warnings.simplefilter("ignore", ConvergenceWarning)
        return means.fit(vectors).labels_


def label_model(views, has, graph_of, ratio, seed):
    """Learn one label from distances to clusters of those who have it or not.

    Parameters
    ----------
    views : list of {ndarray, csr_array} of shape (n, d_v)
        Scaled features of each view.
    has : ndarray of shape (n,), bool
        Who has the label: some, but not all.
    graph_of : callable
        Makes a graph from views.
    ratio : float
        Clusters as a share of the smaller group.
    seed : int
        Seed of the clusters.

    Returns
    -------
    centers : ndarray of shape (m, d)
        Centres of the clusters.
    coef : ndarray of shape (n_views * m,)
        Weights of the distances to them.
    intercept : float
        Intercept.
    """
    n_clusters = ceil(ratio * min(has.sum(), np.sum(~has)))
    means = []
    for rows in (np.flatnonzero(has), np.flatnonzero(~has)):
        own = [view[rows] for view in views]
        places = clusters(graph_of(own), n_clusters, seed)
        for place in np.unique(places):
            members = [view[places == place].mean(axis=0) for view in own]
            means.append(np.concatenate(members))
    centers = np.array(means)
    features = center_distances(views, centers)
    mean, spread = features.mean(axis=0), features.std(axis=0)
    spread = np.where(spread > 1e-12 * (1 + mean), spread, 1)
    model = LogisticRegression(solver="newton-cholesky", tol=1e-8)
    model.fit((features - mean) / spread, has)
    coef = model.coef_[0] / spread
    return centers, coef, float(model.intercept_[0] - coef @ mean)


def center_distances(views, centers):
    """Distances to the centres in each view, (n, n_views * m)."""
    ends = np.cumsum([view.shape[1] for view in views])
    parts = np.split(centers, ends[:-1], axis=1)
    found = [squared_distances(view, part) for view, part in zip(views, parts)]
    return np.sqrt(np.hstack(found))


def label_scores(views, centers, coef, intercept):
    """Probability of a label, from its model."""
    if centers is None:
        return np.full(views[0].shape[0], expit(intercept))
    return expit(center_distances(views, centers) @ coef + intercept)
