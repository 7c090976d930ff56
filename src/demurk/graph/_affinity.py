"""Symmetric edge weights from neighbours, and the matrices made of them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csr_array
from sklearn.utils import check_array

from demurk.graph._neighbors import NeighborGraph


def affinity(
    graph: NeighborGraph,
    *,
    weights: str = "binary",
    symmetrize: str = "or",
    bandwidth: float | None = None,
) -> csr_array:
    """Turn neighbour distances into a symmetric matrix of edge weights.

    Parameters
    ----------
    graph : NeighborGraph
        Neighbours of every point among the points themselves.
    weights : {"binary", "heat"}, default="binary"
        Weight 1 for every edge, or ``exp(-distance**2 / bandwidth**2)``.
    symmetrize : {"or", "and", "mean"}, default="or"
        Join two points if either is a neighbour of the other ("or"), only if both are
        ("and"), or with the mean of the two directed weights, where no edge counts as
        weight 0 ("mean": binary weights become 0, 1/2 and 1).
    bandwidth : float, default=None
        Width of the heat kernel; None takes the median distance to the last neighbour.
        Where that is 0, because most points have duplicates, the mean positive
        distance is taken, and 1 if all distances are 0.

    Returns
    -------
    csr_array of shape (n_points, n_points)
        Symmetric weights with a zero diagonal, float64. Duplicates are joined like any
        other neighbours, with weight 1.

    See Also
    --------
    nearest_neighbors : Finds the neighbours.
    propagate : Spreads labels over the weights.

    Notes
    -----
    Time and memory are O(n_points n_neighbors).

    Examples
    --------
    >>> from demurk.graph import affinity, nearest_neighbors
    >>> graph = nearest_neighbors([[0.0], [1.0], [3.0]], 1)
    >>> affinity(graph).toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    >>> affinity(graph, symmetrize="and").toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    distances = graph.distances
    if distances.shape[0] != distances.shape[1]:
        raise ValueError(
            f"affinity needs neighbours of the points among themselves, got a graph of "
            f"shape {distances.shape}; search with queries=None."
        )
    if weights == "binary":
        values = np.ones(distances.nnz)
    elif weights == "heat":
        values = np.exp(-((distances.data / _bandwidth(distances, bandwidth)) ** 2))
    else:
        raise ValueError(f"weights must be 'binary' or 'heat', got {weights!r}.")
    directed = csr_array(
        (values, distances.indices.copy(), distances.indptr.copy()),
        shape=distances.shape,
    )
    directed.sort_indices()
    if symmetrize == "or":
        joined = directed.maximum(directed.T)
    elif symmetrize == "and":
        joined = directed.minimum(directed.T)
    elif symmetrize == "mean":
        joined = (directed + directed.T) * 0.5
    else:
        raise ValueError(
            f"symmetrize must be 'or', 'and' or 'mean', got {symmetrize!r}."
        )
    if joined.diagonal().any():
        joined.setdiag(0.0)
    joined = csr_array(joined)
    joined.eliminate_zeros()  # heat weights of far neighbours underflow
    return joined


def _bandwidth(distances: csr_array, bandwidth: float | None) -> float:
    if bandwidth is not None:
        if not isinstance(bandwidth, Real) or not 0 < bandwidth < np.inf:
            raise ValueError(f"bandwidth must be a positive number, got {bandwidth!r}.")
        return float(bandwidth)
    ends = distances.indptr[1:][np.diff(distances.indptr) > 0]
    last = distances.data[ends - 1]
    median = float(np.median(last)) if len(last) else 0.0
    if median > 0:
        return median
    positive = distances.data[distances.data > 0]
    return float(positive.mean(dtype=np.float64)) if len(positive) else 1.0


def degrees(W: Any) -> NDArray[np.float64]:
    """Sum the weights of each node.

    Parameters
    ----------
    W : sparse matrix or array of shape (n, n)
        Symmetric non-negative weights.

    Returns
    -------
    ndarray of shape (n,)
        Row sums.

    Examples
    --------
    >>> from demurk.graph import degrees
    >>> degrees([[0, 2, 1], [2, 0, 0], [1, 0, 0]])
    array([3., 2., 1.])
    """
    return row_sums(check_weights(W))


def normalize_symmetric(W: Any) -> csr_array:
    """Divide each weight by the square roots of both degrees.

    Parameters
    ----------
    W : sparse matrix or array of shape (n, n)
        Symmetric non-negative weights.

    Returns
    -------
    csr_array of shape (n, n)
        ``D**-1/2 @ W @ D**-1/2`` with D the diagonal matrix of degrees, exactly
        symmetric. Rows of nodes without edges stay 0.

    Examples
    --------
    >>> from demurk.graph import normalize_symmetric
    >>> normalize_symmetric([[0, 4, 0], [4, 0, 0], [0, 0, 0]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 0., 0.]])
    """
    W = check_weights(W)
    return scale_symmetric(W, inverse_sqrt(row_sums(W)))


def laplacian(W: Any, *, normalized: bool = False) -> csr_array:
    """Graph Laplacian of symmetric weights.

    Parameters
    ----------
    W : sparse matrix or array of shape (n, n)
        Symmetric non-negative weights.
    normalized : bool, default=False
        Divide by the square roots of the degrees on both sides.

    Returns
    -------
    csr_array of shape (n, n)
        ``D - W``, or ``I - D**-1/2 @ W @ D**-1/2`` where the identity has 0 at nodes
        without edges, so that an isolated node is a component of its own in both.

    Examples
    --------
    >>> from demurk.graph import laplacian
    >>> laplacian([[0, 2, 1], [2, 0, 0], [1, 0, 0]]).toarray()
    array([[ 3., -2., -1.],
           [-2.,  2.,  0.],
           [-1.,  0.,  1.]])
    """
    W = check_weights(W)
    diagonal = row_sums(W)
    if normalized:
        W = scale_symmetric(W, inverse_sqrt(diagonal))
        diagonal = (diagonal > 0).astype(np.float64)
    return csr_array(sparse.diags_array(diagonal, format="csr") - W)


def check_weights(W: Any) -> csr_array:
    """Validate symmetric non-negative weights and store them as CSR in float64."""
    W = csr_array(check_array(W, accept_sparse="csr", dtype=np.float64, input_name="W"))
    if W.shape[0] != W.shape[1]:
        raise ValueError(f"W must be square, got shape {W.shape}.")
    if W.nnz and W.data.min() < 0:
        row = np.searchsorted(W.indptr, np.argmin(W.data), side="right") - 1
        raise ValueError(f"W has a negative weight in row {row}; weights are >= 0.")
    # Two products with a vector without symmetries of its own tell as much as the
    # transpose, at a tenth of its cost.
    probe = np.cos(np.arange(1.0, W.shape[0] + 1))
    forward, backward = W @ probe, W.T @ probe
    gap = np.abs(forward - backward)
    if np.any(gap > 1e-8 * (row_sums(W) + W.sum(axis=0))):
        raise ValueError(
            f"W is not symmetric in row {int(np.argmax(gap))}; take W.maximum(W.T)."
        )
    return W


def row_sums(W: csr_array) -> NDArray[np.float64]:
    """Row sums as a vector."""
    return np.asarray(W @ np.ones(W.shape[1]))


def inverse_sqrt(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / sqrt(values), and 0 where a value is 0."""
    return np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)


def scale_symmetric(W: csr_array, scale: NDArray[np.float64]) -> csr_array:
    """diag(scale) @ W @ diag(scale), exactly symmetric if W is."""
    rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    data = W.data * (scale[rows] * scale[W.indices])
    # Copies, because scipy may drop zeros or sort in place.
    return csr_array((data, W.indices.copy(), W.indptr.copy()), shape=W.shape)
