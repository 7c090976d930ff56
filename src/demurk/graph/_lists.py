"""Approximate nearest neighbours of rows that lie in a file.

An index holds a copy of all points. Here only the numbers of the lists do: each list is
read, with the queries near it, and compared by one matrix product. Further lists are
read, those nearest to each query first, until the recall is good.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array
from sklearn.utils import gen_batches

from demurk.graph._exact import (
    Found,
    _pair_squares,
    drop_self,
    exact_search,
    nearest_of,
)
from demurk.utils._rows import BLOCK_BYTES

# Rows on which recall is measured, rows for each centre of the clustering.
_SAMPLE = 500
_PER_LIST = 64
# Lists read for each query before recall is measured, and at most at a time.
_FIRST = 4
_MOST = 16


def search_lists(
    faiss: Any, points: Any, queries: Any, n_neighbors: int, enough: float, rng: Any
) -> tuple[Found, float]:
    """Find nearest neighbours list by list; arguments as for `approximate_search`.

    Parameters
    ----------
    faiss : module
        FAISS.
    points, queries, n_neighbors
        As for `approximate_search`.
    enough : float
        Recall to reach.
    rng : RandomState
        Draws the sample, and the rows to be clustered.

    Returns
    -------
    found, recall
        As from `approximate_search`.

    Notes
    -----
    Time O(n^(3/2) D) for each list that a query reads; memory O(n k) and two blocks.
    """
    own = queries is None
    search = _Lists(faiss, points, points if own else queries, n_neighbors + own, rng)
    size = min(_SAMPLE, len(search.queries))
    sample = np.sort(rng.choice(len(search.queries), size, replace=False))
    truth = exact_search(points, search.queries[sample], search.n_wanted)[0]
    done, step, recall = 0, _FIRST, 0.0
    while recall < enough:
        if 2 * (done + step) >= search.n_lists:
            return exact_search(points, queries, n_neighbors), 1.0
        search.read(done, done + step)
        done, step = done + step, min(max(done, _FIRST), _MOST)
        distances = search.measured(sample)[0]
        # The point itself is always found and does not count; far from zero the
        # exact search moves the points, which may cost them a digit.
        hits = (distances <= (1 + 1e-6) * truth[:, -1:]).sum() - own * size
        recall = float(hits / (n_neighbors * size))
    parts = []
    for batch in gen_batches(len(search.queries), search.batch):
        rows = np.arange(batch.start, batch.stop)
        found = search.measured(rows)
        parts.append(drop_self(*found, batch.start) if own else found)
    distances, indices = (np.concatenate(part) for part in zip(*parts))
    return (distances, indices), recall


class _Lists:
    """Points in lists around centres, and the nearest found so far of each query."""

    def __init__(
        self, faiss: Any, points: Any, queries: Any, n_wanted: int, rng: Any
    ) -> None:
        self.faiss, self.points, self.queries = faiss, points, queries
        self.n_wanted = n_wanted
        n, width = points.shape
        self.batch = max(1, BLOCK_BYTES // (8 * width))
        self.n_lists = int(np.sqrt(n))
        rows = rng.choice(n, min(n, _PER_LIST * self.n_lists), replace=False)
        clusters = faiss.Kmeans(
            width,
            self.n_lists,
            niter=10,
            seed=rng.randint(2**31 - 1),
            min_points_per_centroid=1,
        )
        # float32 keeps more digits of the differences when the mean is gone.
        self.mean = points.mean(axis=0, dtype=np.float64)
        clusters.train(self._rows(points, np.sort(rows)))
        self.centers, self.index = clusters.centroids, clusters.index
        self.members = self._near(points, 0, 1)
        shape = len(queries), n_wanted
        self.squares = np.full(shape, np.inf, dtype=np.float32)
        self.found = np.full(shape, -1, dtype=np.int32 if n < 2**31 else np.int64)

    def _rows(self, X: Any, rows: Any) -> NDArray[np.float32]:
        return (X[rows] - self.mean).astype(np.float32)

    def _near(self, X: Any, first: int, last: int) -> csc_array:
        """Rows of X in each list, by the lists from the first to the last nearest."""
        lists = np.empty((len(X), last - first), dtype=np.int32)
        for batch in gen_batches(len(X), self.batch):
            near = self.index.search(self._rows(X, batch), last)[1]
            lists[batch] = near[:, first:]
        ends = np.arange(0, lists.size + 1, last - first)
        shape = len(X), self.n_lists
        ones = np.ones(lists.size, dtype=np.int8)
        # The other order of a sparse matrix is found by counting, faster than sorting.
        return csr_array((ones, lists.ravel(), ends), shape=shape).tocsc()

    def read(self, first: int, last: int) -> None:
        """Compare each query with the lists from the first to the last nearest."""
        readers = self._near(self.queries, first, last)
        for number, center in enumerate(self.centers):
            members = _column(self.members, number)
            rows = _column(readers, number)
            if not len(rows) or not len(members):
                continue
            near = self._rows(self.points, members) - center
            k = min(self.n_wanted, len(members))
            for batch in gen_batches(len(rows), self.batch):
                part = rows[batch]
                there = self._rows(self.queries, part) - center
                squares, places = self.faiss.knn(there, near, k)
                new = squares, members[places]
                self.squares[part], self.found[part] = nearest_of(
                    (self.squares[part], self.found[part]), new, self.n_wanted
                )

    def measured(self, rows: NDArray[Any]) -> Found:
        """Neighbours of some queries with distances by direct differences."""
        found = self.found[rows].astype(np.intp)
        at = np.repeat(np.arange(len(rows)), self.n_wanted)
        targets = self.queries[rows]
        squares = _pair_squares(targets, self.points, at, found.ravel())
        squares = np.where(found < 0, np.inf, squares.reshape(found.shape))
        short = np.flatnonzero((found < 0).any(axis=1))
        distances = np.sqrt(squares)
        if len(short):  # the lists read held too few points
            distances[short], found[short] = exact_search(
                self.points, targets[short], self.n_wanted
            )
        order = np.lexsort((found, distances), axis=1)
        return (
            np.take_along_axis(distances, order, axis=1),
            np.take_along_axis(found, order, axis=1),
        )


def _column(matrix: csc_array, number: int) -> NDArray[Any]:
    """Rows of a column."""
    return matrix.indices[matrix.indptr[number] : matrix.indptr[number + 1]]
