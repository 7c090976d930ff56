"""Graphs on a device: neighbours, symmetric weights, products, connected parts."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from dataclasses import dataclass

import numpy as np
import torch

from demurk.graph import NeighborGraph
from demurk.graph._neighbors import _as_csr

__all__ = ["DeviceGraph", "Weights", "affinity", "connected_parts", "sparse_tensor"]


@dataclass(frozen=True)
class DeviceGraph:
    """Neighbours of every query, as two tables.

    Attributes
    ----------
    lengths : Tensor of shape (n_queries, k)
        Distances, increasing, in the precision of the rows.
    indices : Tensor of shape (n_queries, k), int64
        Which points; equal distances by the lowest index.
    n_points : int
        Points there are.
    kind : {"torch", "cupy"}
        What matrices are made of.
    recall : float
        Share of the true neighbours, which is one.
    """

    lengths: torch.Tensor
    indices: torch.Tensor
    n_points: int
    kind: str = "torch"
    recall: float = 1.0

    @property
    def distances(self):
        """The distances as a sparse matrix there, of torch or of CuPy."""
        return self._matrix(self.lengths)

    @property
    def connectivity(self):
        """The same with ones in place of distances."""
        return self._matrix(torch.ones_like(self.lengths, dtype=torch.float64))

    def _matrix(self, values):
        n, k = self.indices.shape
        starts = torch.arange(0, n * k + 1, k, device=self.indices.device)
        values, columns = values.reshape(-1), self.indices.reshape(-1)
        shape = n, self.n_points
        if self.kind == "cupy":
            from cupy import from_dlpack
            from cupyx.scipy.sparse import csr_matrix

            parts = (from_dlpack(part) for part in (values, columns, starts))
            return csr_matrix(tuple(parts), shape=shape)
        return sparse_tensor(starts, columns, values, shape)

    def on_host(self):
        """The same as a graph in memory."""
        lengths, indices = self.lengths.cpu().numpy(), self.indices.cpu().numpy()
        matrix = _as_csr(lengths, indices, self.n_points, lengths.dtype)
        return NeighborGraph(matrix, self.recall)

    def sums(self, values):
        """Sum of the values of the neighbours of each query, (n_queries, c)."""
        out = values.new_zeros((len(self.indices), values.shape[1]))
        for column in self.indices.unbind(dim=1):
            out += values[column]
        return out


def sparse_tensor(starts, columns, values, shape):
    """A sparse matrix of torch, which calls all of them young."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return torch.sparse_csr_tensor(starts, columns, values, size=shape)


class Weights:
    """A sparse matrix on the device.

    Parameters
    ----------
    rows, columns : Tensor of shape (nnz,), int64
        Places of the entries, by row, then by column.
    values : Tensor of shape (nnz,), float64
        The entries.
    n : int
        Rows and columns of the matrix.
    """

    def __init__(self, rows, columns, values, n):
        self.rows, self.columns, self.values, self.n = rows, columns, values, n
        starts = torch.bincount(rows, minlength=n).cumsum(0)
        starts = torch.cat([starts.new_zeros(1), starts])
        index = torch.int32 if max(n, len(rows)) < 2**31 else torch.int64
        self.matrix = sparse_tensor(starts.to(index), columns.to(index), values, (n, n))

    def __matmul__(self, block):
        return self.matrix @ block

    def sums(self):
        """Sum of each row, (n,)."""
        ones = self.values.new_ones((self.n, 1))
        return (self @ ones)[:, 0]

    def scaled(self, scale):
        """``diag(scale) self diag(scale)``, without the entries that become zero."""
        values = self.values * (scale[self.rows] * scale[self.columns])
        kept = values != 0
        if bool(kept.all()):
            return Weights(self.rows, self.columns, values, self.n)
        return Weights(self.rows[kept], self.columns[kept], values[kept], self.n)


def affinity(graph, *, weights="binary", symmetrize="or", bandwidth=None):
    """Symmetric weights of neighbours, as :func:`demurk.graph.affinity` makes them.

    Parameters
    ----------
    graph : DeviceGraph
        Neighbours of the points among themselves.
    weights : {"binary", "heat"}, default="binary"
        Weight 1 for every edge, or ``exp(-distance**2 / bandwidth**2)``.
    symmetrize : {"or", "mean"}, default="or"
        The larger of both weights, or their mean.
    bandwidth : float, default=None
        Width of the heat kernel; None takes the median distance to the last neighbour.

    Returns
    -------
    weights : Weights
        Symmetric, with a zero diagonal.
    """
    n, k = graph.indices.shape
    if weights == "binary":
        values = graph.lengths.new_ones((n, k), dtype=torch.float64)
    else:
        width = _bandwidth(graph.lengths) if bandwidth is None else float(bandwidth)
        values = torch.exp(-((graph.lengths / width) ** 2)).double()
    rows = torch.arange(n, device=graph.indices.device)[:, None].expand(n, k)
    rows, columns = rows.reshape(-1), graph.indices.reshape(-1)
    # An edge as one number: sorted, these stand by row and column.
    edges = torch.cat([rows * n + columns, columns * n + rows])
    edges, at = torch.unique(edges, return_inverse=True)
    values = values.reshape(-1).repeat(2)
    joined = values.new_zeros(len(edges))
    if symmetrize == "or":
        joined.scatter_reduce_(0, at, values, "amax")
    else:
        joined.index_add_(0, at, values, alpha=0.5)
    kept = joined > 0  # heat weights of far neighbours underflow
    edges, joined = edges[kept], joined[kept]
    return Weights(edges // n, edges % n, joined, n)


def _bandwidth(lengths):
    """Median distance to the last neighbour, or what else gives a scale."""
    median = float(np.median(lengths[:, -1].double().cpu().numpy()))
    if median > 0:
        return median
    positive = lengths[lengths > 0]
    return float(positive.double().mean()) if len(positive) else 1.0


def connected_parts(rows, columns, n):
    """The part of each node, named by its lowest node.

    Parameters
    ----------
    rows, columns : Tensor of shape (nnz,), int64
        Edges, each in both directions.
    n : int
        Nodes.

    Returns
    -------
    part : Tensor of shape (n,), int64
        Lowest node that each is connected with.

    Notes
    -----
    Every part takes the lowest name among its neighbours, and nodes the name of the
    node they are named after, until nothing changes: O(log n) rounds of O(n + nnz).
    """
    part = torch.arange(n, device=rows.device)
    while True:
        lowest = part.scatter_reduce(0, rows, part[columns], "amin")
        joined = part.scatter_reduce(0, part, lowest, "amin")
        joined = torch.minimum(joined, lowest)
        while not torch.equal(jumped := joined[joined], joined):
            joined = jumped
        if torch.equal(joined, part):
            return part
        part = joined
