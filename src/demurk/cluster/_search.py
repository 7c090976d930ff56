"""Nearest neighbours, block against block."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral

import numpy as np
from sklearn.utils import gen_batches

from demurk.cluster._blocks import Blocks, as_array, delayed, is_dask, read
from demurk.graph import NeighborGraph
from demurk.graph._approximate import approximate_search
from demurk.graph._exact import drop_self, exact_search, nearest_of
from demurk.graph._neighbors import _as_csr, _threads
from demurk.utils._optional import import_optional

__all__ = ["neighbor_tasks", "search_blocks"]

# Blocks of points that one task reads, one after the other: a lost worker costs no
# more, and the answers that wait to be merged stay few.
GROUP = 8
# Bytes of points, and of queries, that are prepared for the search at a time, beside
# the two blocks; of fewer rows, too many would be ranked in double precision.
PREPARED = 2**23
MIN_ROWS = 1024


def search_blocks(
    X, n_neighbors, *, queries=None, method="exact", n_jobs=None, random_state=0
):
    """Find nearest neighbours among the rows of a dask collection.

    Parameters
    ----------
    X : dask array or dask data frame of shape (n_points, n_features)
        The points.
    n_neighbors, queries, method, n_jobs, random_state
        As for :func:`demurk.graph.nearest_neighbors`; `queries` may be of Dask too, or
        in memory. There are no methods but "exact" and "approx".

    Returns
    -------
    NeighborGraph
        In the memory of the caller.
    """
    dask = import_optional("dask", "dask")
    points = as_array(X)
    tasks = neighbor_tasks(points, n_neighbors, queries, method, n_jobs, random_state)
    distances, indices, recalls = zip(*dask.compute(*tasks))
    graph = _as_csr(
        np.concatenate(distances),
        np.concatenate(indices),
        points.shape[0],
        points.dtype,
    )
    recall = np.average(recalls, weights=[len(part) for part in distances])
    return NeighborGraph(graph, float(recall))


def neighbor_tasks(points, n_neighbors, queries, method, n_jobs, random_state=0):
    """Lazy neighbours of each block of queries that holds rows.

    Parameters
    ----------
    points : dask array of shape (n_points, n_features)
        From `as_array`.
    n_neighbors, queries, method, n_jobs, random_state
        As for `search_blocks`.

    Returns
    -------
    tasks : list of Delayed
        Each gives distances, indices and the recall.
    """
    _check_options(n_neighbors, method)
    own = queries is None
    n_available = points.shape[0] - own
    if n_available < 1:
        raise ValueError("X holds no two samples; pass at least two.")
    k = min(int(n_neighbors), n_available)
    near = Blocks(points)
    asked = near if own else _queries(queries, points)
    options = {"method": method, "n_jobs": n_jobs, "random_state": random_state}
    compare, join = delayed(_compare), delayed(_join)
    tasks = []
    for part, first in zip(asked.parts, asked.starts):
        found = [
            compare(part, near.parts[group], near.starts[group], k + own, options)
            for group in gen_batches(len(near), GROUP)
        ]
        tasks.append(join(found, k, int(first) if own else None))
    return tasks


def _check_options(n_neighbors, method):
    if not isinstance(n_neighbors, Integral) or n_neighbors < 1:
        raise ValueError(f"n_neighbors must be an integer >= 1, got {n_neighbors!r}.")
    if not isinstance(method, str) or method not in ("exact", "approx"):
        raise ValueError(
            "Neighbours of rows of Dask are found by 'exact' or 'approx', not "
            f"{method!r}."
        )


def _queries(queries, points):
    """Blocks of queries, which may be in memory."""
    if is_dask(queries):
        queries = as_array(queries)
    else:
        da = import_optional("dask.array", "dask")
        rows = np.asarray(queries, dtype=points.dtype)
        queries = da.from_array(rows, chunks=(max(points.chunks[0]), -1))
    if queries.shape[1] != points.shape[1]:
        raise ValueError(
            f"queries have {queries.shape[1]} features, but X has {points.shape[1]}."
        )
    return Blocks(queries.astype(points.dtype))


def _compare(part, parts, starts, n_wanted, options):
    """Neighbours of one block among others, of which one is in memory at a time."""
    queries, best, recalls = read(part), None, []
    for other, start in zip(parts, starts):
        points = read(other)
        found, recall = _search(points, queries, n_wanted, **options)
        del points  # before the next is read
        found = found[0], found[1] + start
        best = found if best is None else nearest_of(best, found, n_wanted)
        recalls.append(recall)
    return *best, float(np.mean(recalls))


def _search(points, queries, n_wanted, *, method, n_jobs, random_state):
    with _threads(method, n_jobs):
        if method == "approx":
            k = min(n_wanted, len(points))
            return approximate_search(points, queries, k, random_state)
        rows = max(MIN_ROWS, PREPARED // (points.itemsize * points.shape[1]))
        parts = [
            _exact(points, queries[batch], n_wanted, rows)
            for batch in gen_batches(len(queries), rows)
        ]
    distances, indices = (np.concatenate(part) for part in zip(*parts))
    return (distances, indices), 1.0


def _exact(points, queries, n_wanted, n_rows):
    """Neighbours among so many points at a time."""
    best = None
    for batch in gen_batches(len(points), n_rows):
        near = points[batch]
        found = exact_search(near, queries, min(n_wanted, len(near)))
        found = found[0], found[1] + batch.start
        best = found if best is None else nearest_of(best, found, n_wanted)
    return best


def _join(parts, n_neighbors, first):
    """The nearest of all groups of blocks, without the queries themselves."""
    n_wanted = n_neighbors + (first is not None)
    best = parts[0][:2]
    for part in parts[1:]:
        best = nearest_of(best, part[:2], n_wanted)
    if first is not None:
        best = drop_self(*best, first)
    return *best, float(np.mean([part[2] for part in parts]))
