"""Neighbours of some queries by products with all points, whatever the data."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from contextlib import contextmanager
from math import frexp

import torch
from sklearn.utils import gen_batches

__all__ = [
    "Frame",
    "full_precision",
    "pair_squares",
    "search_plain",
    "shifted_products",
]

# Points whose smallest product stands for them when the filter is set.
BLOCK = 64
# Bytes of products and of differences at a time.
PRODUCT_BYTES = 2**31
PAIR_BYTES = 2**28
PART_ROWS = 2**16
# Candidates of a query on average from which on double precision pays.
MANY = 256


@contextmanager
def full_precision():
    """Products of float32 as they are, whatever the session allows."""
    matmul = torch.backends.cuda.matmul
    before, matmul.allow_tf32 = matmul.allow_tf32, False
    try:
        yield
    finally:
        matmul.allow_tf32 = before


class Frame:
    """The mean of the first table, and a power of two that brings all into range."""

    def __init__(self, *tables):
        self.mean = tables[0].mean(dim=0, dtype=torch.float64)
        ends = torch.stack([end for X in tables for end in X.aminmax(dim=0)]).double()
        largest = (ends - self.mean).abs().max().item()
        # A power of two takes no digits, and keeps squares from running out of range.
        # Half precision ends at 65,504 and loses digits below 2^-14.
        self.scale = 2.0 ** (13 - frexp(largest)[1])

    def moved(self, rows):
        """Rows less the mean, scaled, in double precision."""
        return (rows.to(torch.float64) - self.mean).mul_(self.scale)


def shifted_products(queries, points, norms):
    """``norms - 2 queries points'``."""
    with full_precision():
        return torch.addmm(norms, queries, points.T, alpha=-2)


def pair_squares(queries, points, rows, columns, dtype=torch.float64):
    """Squares of ``queries[rows] - points[columns]`` by direct differences."""
    out = points.new_empty(len(rows), dtype=dtype)
    step = max(1, PAIR_BYTES // (8 * points.shape[1]))
    for pairs in gen_batches(len(rows), step):
        gap = queries[rows[pairs]].to(dtype) - points[columns[pairs]].to(dtype)
        out[pairs] = gap.square_().sum(dim=1)
    return out


def search_plain(points, queries, which, k):
    """Find the k nearest points of some of the queries.

    Every point whose product, given its errors, may belong to a neighbour is compared
    by direct differences in float64. That is exact for any data; many equal distances,
    as among duplicates, make it the larger part.

    Parameters
    ----------
    points : Tensor of shape (n, d)
        Where to look.
    queries : Tensor of shape (m, d) or None
        Whose neighbours to find; None for the points themselves.
    which : Tensor of shape (r,), int64
        Of which queries.
    k : int
        Neighbours of each.

    Returns
    -------
    squares : Tensor of shape (r, k), float64
        Squared distances.
    indices : Tensor of shape (r, k), int64
        Which points.
    """
    own = queries is None
    queries = points if own else queries
    step = max(1, PRODUCT_BYTES // (8 * len(points)))
    screen = _Filter(points, torch.float32)
    squares, indices = [], []
    for at in which.split(step):
        row, column = screen.candidates(queries[at], k + own)
        if screen.dtype == torch.float32 and len(row) > MANY * len(at):
            screen = _Filter(points, torch.float64)
            row, column = screen.candidates(queries[at], k + own)
        if own:
            other = column != at[row]
            row, column = row[other], column[other]
        exact = pair_squares(queries[at], points, row, column)
        first = _first(row, exact, column, k)
        squares.append(exact[first].view(-1, k))
        indices.append(column[first].view(-1, k))
    return torch.cat(squares), torch.cat(indices)


def _first(row, exact, column, k):
    """The k smallest of each row, by distance and index; pairs come by row, column."""
    order = exact.sort(stable=True).indices
    order = order[row[order].sort(stable=True).indices]
    row = row[order]
    counts = torch.bincount(row)
    start = counts.cumsum(0) - counts
    rank = torch.arange(len(row), device=row.device) - start[row]
    return order[rank < k]


class _Filter:
    """Products of all points in one precision, and their errors."""

    def __init__(self, points, dtype):
        self.dtype = dtype
        self.frame = Frame(points)
        self.points, squares, self.lost, self.length = self._moved(points)
        self.norms = squares.to(dtype)
        self.unit = 4 * (points.shape[1] + 4) * torch.finfo(dtype).eps

    def _moved(self, X):
        """Rows, their squares, and the most that rounding took from one."""
        rows, squares = torch.empty_like(X, dtype=self.dtype), []
        lost = []
        for at, part in zip(rows.split(PART_ROWS), X.split(PART_ROWS)):
            exact = self.frame.moved(part)
            at.copy_(exact)
            squares.append(exact.square().sum(dim=1))
            lost.append((exact - at).norm(dim=1).max())
        squares = torch.cat(squares)
        return rows, squares, torch.stack(lost).max(), squares.max().sqrt()

    def candidates(self, queries, k):
        """Pairs of a query and a point that may be among its k nearest."""
        rows, squares, lost, _ = self._moved(queries)
        products = shifted_products(rows, self.points, self.norms)
        whole = len(self.points) // BLOCK * BLOCK
        if whole >= BLOCK * k:
            # The smallest products of blocks are those of as many different points.
            smallest = products[:, :whole].view(len(rows), -1, BLOCK).amin(dim=2)
        else:
            smallest = products
        limit = smallest.topk(k, largest=False).values[:, -1].double()
        length = squares.sqrt()
        slack = 2 * (length * self.lost + lost * self.length)
        slack += self.unit * (squares + self.length**2)
        limit = (limit + 2 * slack * (1 + 1e-6)).to(self.dtype)
        limit = torch.nextafter(limit, torch.full_like(limit, torch.inf))
        return torch.nonzero(products <= limit[:, None]).unbind(dim=1)
