"""Means and centred cross-products of rows that need not fit in memory."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

Floats = NDArray[np.float64]

CHUNK_BYTES = 64_000_000


class Moments:
    """Weighted means and centred cross-products of features X and targets T.

    Holds what the linear reducers need to know about their rows, and no row. Parts
    made from different rows, by different processes for instance, can be merged: the
    result is that of all rows together, in any order, up to round-off.

    Parameters
    ----------
    scatter : bool, default=False
        Whether to accumulate the (D, D) scatter of the features too.

    Attributes
    ----------
    n_rows : int
        Number of rows seen.
    weight : float
        Sum of their weights; `n_rows` when none were given.
    mean_x : ndarray of shape (D,)
        Weighted mean of the features.
    mean_t : ndarray of shape (q,)
        Weighted mean of the targets.
    cross : ndarray of shape (D, q)
        ``sum_i w_i (x_i - mean_x) (t_i - mean_t)'``.
    scatter : ndarray of shape (D, D) or None
        ``sum_i w_i (x_i - mean_x) (x_i - mean_x)'``.
    target_scatter : ndarray of shape (q, q)
        ``sum_i w_i (t_i - mean_t) (t_i - mean_t)'``.

    See Also
    --------
    moments : Moments of arrays, in chunks of rows.
    moments_of_chunks : Moments of an iterable of chunks.

    Notes
    -----
    Each chunk is centred by its own mean, and two parts are merged by
    ``S = S_a + S_b + (w_a w_b / w) (m_a - m_b) (m_a - m_b)'``, which loses no digits
    when means are large beside the spread. Sparse features are not centred one by
    one: their scatter is ``X'WX - w m m'``, whose relative error grows with the square
    of mean over spread. Everything is accumulated in float64.

    A chunk of r rows costs O(r D q), or O(r D (D + q)) with the scatter. Memory is
    O(D q) or O(D (D + q)), plus one centred copy of a dense chunk.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.linalg import Moments
    >>> part = Moments().update([[1.0, 0.0]], [[1.0]])
    >>> other = Moments().update([[3.0, 4.0]], [[0.0]])
    >>> part.merge(other).mean_x
    array([2., 2.])
    >>> part.cross
    array([[-1.],
           [-2.]])
    """

    def __init__(self, *, scatter: bool = False) -> None:
        self.n_rows = 0
        self.weight = 0.0
        self.mean_x: Floats = np.zeros(0)
        self.mean_t: Floats = np.zeros(0)
        self.cross: Floats = np.zeros((0, 0))
        self.scatter: Floats | None = np.zeros((0, 0)) if scatter else None
        self.target_scatter: Floats = np.zeros((0, 0))

    def update(
        self, X: Any, T: Any, sample_weight: ArrayLike | None = None
    ) -> "Moments":
        """Add the rows of one chunk.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (r, D)
            Features of the chunk.
        T : {array-like, sparse matrix} of shape (r, q) or (r,)
            Targets of the chunk.
        sample_weight : array-like of shape (r,), default=None
            Non-negative weights; one each by default.

        Returns
        -------
        self : Moments
            With the rows added.
        """
        return self._add(X, T, sample_weight)

    def _add(
        self, X: Any, T: Any, sample_weight: Any, chunk_rows: int | None = None
    ) -> "Moments":
        X, T, w = _check_rows(X, T, sample_weight)
        n = X.shape[0]
        if chunk_rows is None:
            values = 2 * X.nnz / max(n, 1) if issparse(X) else X.shape[1]
            chunk_rows = max(1, int(CHUNK_BYTES / 8 / (values + T.shape[1] + 1)))
        for first in range(0, n, chunk_rows):
            rows = slice(first, first + chunk_rows)
            chunk = (X, T) if n <= chunk_rows else (X[rows], T[rows])
            weights = None if w is None else w[rows]
            self.merge(_measure(*chunk, weights, self.scatter is not None))
        return self

    def merge(self, other: "Moments") -> "Moments":
        """Add the rows that another object has seen.

        Parameters
        ----------
        other : Moments
            Left unchanged. It must hold a scatter if this object does.

        Returns
        -------
        self : Moments
            With the rows added.
        """
        if self.scatter is not None and other.scatter is None:
            raise ValueError(
                "The moments to merge hold no scatter; make them with scatter=True."
            )
        self.n_rows += other.n_rows
        if other.weight == 0.0:
            return self
        if self.weight == 0.0:
            self.weight = other.weight
            self.mean_x, self.mean_t = other.mean_x.copy(), other.mean_t.copy()
            self.cross = other.cross.copy()
            self.target_scatter = other.target_scatter.copy()
            if self.scatter is not None and other.scatter is not None:
                self.scatter = other.scatter.copy()
            return self
        if self.cross.shape != other.cross.shape:
            raise ValueError(
                f"Rows of {other.cross.shape[0]} features and {other.cross.shape[1]} "
                f"targets do not fit earlier ones of {self.cross.shape[0]} and "
                f"{self.cross.shape[1]}."
            )
        share = other.weight / (self.weight + other.weight)
        dx, dt = other.mean_x - self.mean_x, other.mean_t - self.mean_t
        gap = self.weight * share
        self.cross += other.cross
        self.cross += np.multiply.outer(gap * dx, dt)
        self.target_scatter += other.target_scatter
        self.target_scatter += np.multiply.outer(gap * dt, dt)
        if self.scatter is not None and other.scatter is not None:
            self.scatter += other.scatter
            self.scatter += np.multiply.outer(gap * dx, dx)
        self.mean_x += share * dx
        self.mean_t += share * dt
        self.weight += other.weight
        return self


def moments(
    X: Any,
    T: Any,
    *,
    scatter: bool = False,
    sample_weight: ArrayLike | None = None,
    chunk_rows: int | None = None,
) -> Moments:
    """Compute the moments of features and targets in chunks of rows.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n, D)
        Features. A memory-mapped array is read once, chunk after chunk; a sparse one
        is never made dense.
    T : {array-like, sparse matrix} of shape (n, q) or (n,)
        Targets.
    scatter : bool, default=False
        Whether to compute the (D, D) scatter of the features.
    sample_weight : array-like of shape (n,), default=None
        Non-negative weights of the rows; one each by default.
    chunk_rows : int, default=None
        Rows taken at a time; by default, as many as make a chunk of 64 MB.

    Returns
    -------
    result : Moments
        The moments of all rows.

    See Also
    --------
    moments_of_chunks : The same from an iterable.

    Notes
    -----
    Time O(n D q), with the scatter O(n D (D + q)); n D is the number of stored values
    when X is sparse. Memory as in :class:`Moments`.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.linalg import moments
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 4.0]])
    >>> result = moments(X, [0.0, 0.0, 1.0], scatter=True, chunk_rows=2)
    >>> result.scatter
    array([[8., 6.],
           [6., 6.]])
    """
    if chunk_rows is not None and chunk_rows < 1:
        raise ValueError(f"chunk_rows is {chunk_rows}; it should be at least 1.")
    return _check_weight(Moments(scatter=scatter)._add(X, T, sample_weight, chunk_rows))


def moments_of_chunks(
    chunks: Iterable[tuple[Any, ...]], *, scatter: bool = False
) -> Moments:
    """Compute the moments of rows that arrive in chunks.

    Parameters
    ----------
    chunks : iterable of (X, T) or (X, T, sample_weight)
        As for :meth:`Moments.update`. Chunks may differ in size, and be empty.
    scatter : bool, default=False
        Whether to compute the (D, D) scatter of the features.

    Returns
    -------
    result : Moments
        The moments of all rows.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.linalg import moments_of_chunks
    >>> chunks = ((np.full((2, 1), k), np.full((2, 1), 2 * k)) for k in range(3))
    >>> moments_of_chunks(chunks).cross
    array([[8.]])
    """
    result = Moments(scatter=scatter)
    for chunk in chunks:
        result.update(*chunk)
    return _check_weight(result)


def _check_weight(result: Moments) -> Moments:
    if result.weight == 0.0:
        raise ValueError(
            f"The {result.n_rows} rows given have no weight; at least one row with a "
            "positive weight is needed."
        )
    return result


def _check_rows(
    X: Any, T: Any, sample_weight: ArrayLike | None
) -> tuple[Any, Any, Floats | None]:
    """Bring one set of rows into the forms that `_measure` takes."""
    X = csr_array(X) if issparse(X) else np.asarray(X)
    T = csr_array(T) if issparse(T) else np.asarray(T)
    if T.ndim == 1:
        T = T[:, None]
    if X.ndim != 2 or T.ndim != 2 or X.shape[0] != T.shape[0]:
        raise ValueError(
            f"X has shape {X.shape} and T {T.shape}; both should be tables with the "
            "same number of rows."
        )
    if sample_weight is None:
        return X, T, None
    w = np.asarray(sample_weight, dtype=np.float64)
    if w.shape != X.shape[:1]:
        raise ValueError(f"sample_weight has shape {w.shape} for {X.shape[0]} rows.")
    if not (w >= 0.0).all():
        row = int(np.argmin(w >= 0.0))
        raise ValueError(f"sample_weight is {w[row]} in row {row}; it should be >= 0.")
    return X, T, w


def _measure(X: Any, T: Any, w: Floats | None, scatter: bool) -> Moments:
    """Moments of one chunk, around its own means."""
    result = Moments(scatter=scatter)
    result.n_rows = X.shape[0]
    weights = np.ones(result.n_rows) if w is None else w
    result.weight = float(weights.sum())
    if result.weight == 0.0:
        return result
    targets = T.toarray() if issparse(T) else T
    if issparse(X):
        _measure_sparse(result, X, targets, weights)
    else:
        _measure_dense(result, X, targets, w, weights)
    return result


def _check_means(result: Moments) -> None:
    """Refuse NaN and infinity, which cannot hide from a mean."""
    for name, mean in (("X", result.mean_x), ("T", result.mean_t)):
        if not np.isfinite(mean).all():
            column = int(np.argmin(np.isfinite(mean)))
            raise ValueError(
                f"Column {column} of {name} holds a value that is not finite."
            )


def _measure_dense(
    result: Moments, X: Any, T: Any, w: Floats | None, weights: Floats
) -> None:
    n_features = X.shape[1]
    rows = np.empty((X.shape[0], n_features + T.shape[1]))
    rows[:, :n_features] = X
    rows[:, n_features:] = T
    mean = weights @ rows / result.weight
    result.mean_x, result.mean_t = mean[:n_features], mean[n_features:]
    _check_means(result)
    rows -= mean
    if result.scatter is None:
        right = rows[:, n_features:]
        gram = rows.T @ (right if w is None else w[:, None] * right)
    else:
        if w is not None:
            rows *= np.sqrt(w)[:, None]
        gram = rows.T @ rows  # numpy sees the symmetry and does half the work
        result.scatter = gram[:n_features, :n_features].copy()
        gram = gram[:, n_features:]
    result.cross = gram[:n_features].copy()
    result.target_scatter = gram[n_features:].copy()


def _measure_sparse(result: Moments, X: csr_array, T: Any, weights: Floats) -> None:
    X = X.astype(np.float64, copy=False)
    result.mean_x = X.T @ weights / result.weight
    result.mean_t = weights @ T / result.weight
    _check_means(result)
    centred = T - result.mean_t
    weighted = weights[:, None] * centred
    # The targets being centred, the features need not be; what round-off leaves of
    # the mean of the targets is taken out.
    result.cross = X.T @ weighted
    result.cross -= np.multiply.outer(result.mean_x, weighted.sum(axis=0))
    result.target_scatter = centred.T @ weighted
    if result.scatter is not None:
        # Rows scaled through the stored values: a diagonal matrix would cost a product.
        scaled = X.copy()
        scaled.data *= np.repeat(np.sqrt(weights), np.diff(X.indptr))
        gram: Floats = (scaled.T @ scaled).toarray()
        mean = np.sqrt(result.weight) * result.mean_x
        gram -= np.multiply.outer(mean, mean)
        result.scatter = gram
