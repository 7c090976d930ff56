"""Approximate nearest neighbours with a recall that is measured, not hoped for.

FAISS sorts the points into lists around k-means centres and searches only the lists
nearest to a query. How many lists are enough depends on the data: on clustered data
16 of 200 find everything, on pure noise in 50 dimensions they find half. So the recall
is measured on a sample, the number of lists is doubled until it is good, and where that
would take half of the lists the search is exact.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from demurk.graph._exact import Found, drop_self, exact_search
from demurk.graph._lists import search_lists
from demurk.utils._optional import import_optional
from demurk.utils._rows import mapped

_RECALL = 0.95
_SAMPLE = 500
_PROBES = 16


def approximate_search(
    points: Any, queries: Any, n_neighbors: int, random_state: Any
) -> tuple[Found, float]:
    """Find nearest neighbours through inverted lists.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_features)
        Where to look.
    queries : ndarray of shape (n_queries, n_features) or None
        Whose neighbours to find; None for the points themselves.
    n_neighbors : int
        At most the number of points, less one for the points themselves.
    random_state : int, RandomState instance or None
        Seeds the clustering and the sample on which recall is measured.

    Returns
    -------
    found : tuple of ndarray of shape (n_queries, n_neighbors)
        Distances (float32 accuracy) and indices, sorted by (distance, index).
    recall : float
        Measured share of the true neighbours; 1.0 when the search became exact.
    """
    if sparse.issparse(points):
        raise ValueError(
            "Approximate search needs dense X; choose method='exact' for sparse X."
        )
    faiss = import_optional("faiss", "ann")
    rng = check_random_state(random_state)
    own = queries is None
    n_lists = int(np.sqrt(points.shape[0]))
    if 2 * _PROBES >= n_lists:
        return exact_search(points, queries, n_neighbors), 1.0
    if mapped(points):
        return search_lists(faiss, points, queries, n_neighbors, _RECALL, rng)
    # float32 keeps more digits of the differences when the mean is gone.
    mean = points.mean(axis=0, dtype=np.float64)
    base = (points - mean).astype(np.float32)
    target = base if own else (queries - mean).astype(np.float32)
    index = _build(faiss, base, n_lists, seed=rng.randint(2**31 - 1))

    size = min(_SAMPLE, len(target))
    sample = np.sort(rng.choice(len(target), size, replace=False))
    # Neighbours of a sampled point include itself, on both sides of the comparison.
    n_asked = n_neighbors + own
    truth = exact_search(base, target[sample], n_asked)[0]
    index.nprobe = _PROBES
    while True:
        recall = _recall(index.search(target[sample], n_asked), truth, own)
        if recall >= _RECALL:
            break
        index.nprobe *= 2
        if 2 * index.nprobe >= n_lists:
            return exact_search(points, queries, n_neighbors), 1.0

    squared, indices = index.search(target, n_asked)
    short = np.flatnonzero(indices[:, -1] < 0)
    if len(short):  # the lists probed held too few points
        exact, indices[short] = exact_search(base, target[short], n_asked)
        squared[short] = exact**2
    if own:
        squared, indices = drop_self(squared, indices)
    order = np.lexsort((indices, squared), axis=1)
    return (
        np.sqrt(np.take_along_axis(squared, order, axis=1)),
        np.take_along_axis(indices, order, axis=1),
    ), recall


def _recall(
    answer: tuple[NDArray[Any], NDArray[Any]], truth: NDArray[Any], own: bool
) -> float:
    """Share of answers that lie within the true k-th distance.

    Distances rather than indices are compared, so that any of several tied neighbours
    counts as found. The point itself is always found and does not count.
    """
    squared, indices = answer
    limit = truth[:, -1:] ** 2
    # float32 distances carry seven digits.
    hits = (indices >= 0) & (squared <= limit * (1 + 1e-5))
    n_wanted = truth.shape[1] - own
    return float((hits.sum() - own * len(truth)) / (n_wanted * len(truth)))


def _build(faiss: Any, base: NDArray[np.float32], n_lists: int, seed: int) -> Any:
    quantizer = faiss.IndexFlatL2(base.shape[1])
    index = faiss.IndexIVFFlat(quantizer, base.shape[1], n_lists)
    index.cp.seed = seed
    # sqrt(n) points a list are what there is; do not complain of too few.
    index.cp.min_points_per_centroid = 1
    index.train(base)
    index.add(base)
    return index
