"""The neighbour search of :mod:`demurk.graph`, for rows on a device."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral

from demurk.device._arrays import check_rows, place_of
from demurk.device._graph import DeviceGraph
from demurk.device._search import exact_search, unwatched

__all__ = ["neighbors"]


def neighbors(X, n_neighbors, queries=None, method="exact", *, watch=unwatched):
    """Find the nearest neighbours of every point, or of new points.

    Parameters
    ----------
    X : Tensor or cupy.ndarray of shape (n_points, n_features)
        The points.
    n_neighbors : int
        Neighbours of each query, capped at the points there are.
    queries : Tensor or cupy.ndarray of shape (n_queries, n_features), default=None
        Whose neighbours to find; None stands for the points.
    method : {"exact"}, default="exact"
        No other search is here.
    watch : callable
        Makes a context in which the part of that name runs.

    Returns
    -------
    graph : DeviceGraph
        The neighbours.
    """
    if not isinstance(n_neighbors, Integral) or n_neighbors < 1:
        raise ValueError(f"n_neighbors must be an integer >= 1, got {n_neighbors!r}.")
    if not isinstance(method, str) or method != "exact":
        raise ValueError(
            f"neighbors={method!r} is not served on a device, where the exact search "
            "is fast: choose 'exact', or hand over X.cpu()."
        )
    place = place_of(X)
    points = check_rows(X, place)
    if queries is not None:
        queries = check_rows(queries, place, "queries").to(points.dtype)
        if queries.shape[1] != points.shape[1]:
            raise ValueError(
                f"queries have {queries.shape[1]} features, but X has "
                f"{points.shape[1]}."
            )
    available = len(points) - (queries is None)
    if not available:
        raise ValueError(
            "X holds one sample, which has no neighbour but itself; pass at least two "
            "samples, or the sample to search for as queries."
        )
    k = min(int(n_neighbors), available)
    found = exact_search(points, queries, k, watch=watch)
    lengths = found.squares.sqrt_().to(points.dtype)
    return DeviceGraph(lengths, found.indices, len(points), place.kind)
