"""Exact nearest neighbours on a device: screened in half precision, then certified.

The products of all rows are taken in the precision the device is fastest at, and of
each 64 points only a bound below all their distances is kept. The points of the groups
with the smallest bounds are compared by direct differences. A query is certified when
no other group can hold a neighbour, given the errors of its products as they are: the
rows are known, and so is what rounding took from each. The few queries that are not
certified are compared with all points in single or double precision.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from contextlib import nullcontext
from dataclasses import dataclass

import torch

from demurk.device._plain import pair_squares, search_plain, shifted_products
from demurk.utils._optional import import_optional

__all__ = ["Found", "exact_search"]

GROUP = 64
# Groups, and candidates among their points, beyond those that would do without errors.
SPARE_GROUPS = 6
SPARE_POINTS = 4
# Bounds of groups whose smallest one is looked at first.
TOGETHER = 64
# Queries of a block: two blocks of 128 for each of 132 multiprocessors.
BLOCK = 33_792
# Bytes of bounds, of differences and of distances at a time.
BLOCK_BYTES = 2**33
WORK_BYTES = 2**29


@dataclass
class Found:
    """Neighbours, and how they were certified.

    Attributes
    ----------
    squares : Tensor of shape (n_queries, k), float64
        Squared distances, increasing; equal ones by the lowest index.
    indices : Tensor of shape (n_queries, k), int64
        Which points.
    n_repeated : int
        Queries that were not certified at once, and searched again.
    """

    squares: torch.Tensor
    indices: torch.Tensor
    n_repeated: int


def unwatched(name):
    """Nobody measures the parts."""
    return nullcontext()


def exact_search(points, queries, k, *, watch=unwatched, fused=None):
    """Find the k nearest points of each query.

    Parameters
    ----------
    points : Tensor of shape (n, d), float32 or float64
        Where to look.
    queries : Tensor of shape (m, d) or None
        Whose neighbours to find; None for the points themselves, none of which is its
        own neighbour.
    k : int
        At most the points there are, less one for the points themselves.
    watch : callable, default=unwatched
        Makes a context in which the part of that name runs.
    fused : bool, default=None
        Whether to use the Triton kernels; by default, on a GPU with Triton.

    Returns
    -------
    found : Found
        The neighbours.

    Notes
    -----
    Time O(m n d). Memory O(n d + m k), and 8 GiB at most for a block of queries.
    """
    if fused is None:
        fused = points.is_cuda and _has_triton()
    with watch("preparation"):
        search = _Search(points, queries, k, fused, watch)
    m = search.queries.n
    squares = points.new_empty((m, k), dtype=torch.float64)
    indices = points.new_empty((m, k), dtype=torch.int64)
    certain = points.new_empty(m, dtype=torch.bool)
    for start in range(0, m, search.block):
        rows = slice(start, min(start + search.block, m))
        at = search.queries.order[rows]
        squares[at], indices[at], certain[at] = search.rank(rows)
    again = torch.nonzero(~certain).ravel()
    if len(again):
        with watch("second search"):
            squares[again], indices[again] = search_plain(points, queries, again, k)
    return Found(squares, indices, len(again))


def _has_triton():
    try:
        import_optional("triton", "gpu")
    except ImportError:
        return False
    return True


class _Screened:
    """Rows for the products, the shortest first, and what rounding took from them.

    Padding makes whole tiles of them; the rows there are zero.
    """

    def __init__(self, X, mean, scale, dtype):
        self.n, d = X.shape
        size = -(-self.n // (GROUP * TOGETHER)) * GROUP * TOGETHER
        self.rows = X.new_zeros((size, -(-d // GROUP) * GROUP), dtype=dtype)
        chunks = torch.arange(self.n, device=X.device).split(_chunk_rows(d))
        lengths = [_centered(X[at], mean, scale).norm(dim=1) for at in chunks]
        # Rows that lie close together then have errors of like size.
        self.order = torch.cat(lengths).argsort(stable=True)
        self.squares = X.new_empty(self.n, dtype=torch.float64)
        self.lost = torch.empty_like(self.squares)
        for at in chunks:
            exact = _centered(X[self.order[at]], mean, scale)
            short = exact.to(dtype)
            self.rows[at, :d] = short
            self.squares[at] = (exact * exact).sum(dim=1)
            self.lost[at] = exact.sub_(short).norm(dim=1)
        self.length = self.squares.sqrt()


def _centered(rows, mean, scale):
    return (rows.to(torch.float64) - mean).mul_(scale)


def _chunk_rows(d):
    return max(1, WORK_BYTES // (8 * d))


def _frame(points, queries):
    """The mean of the points, and a power of two that brings all rows into range."""
    mean = points.mean(dim=0, dtype=torch.float64)
    largest = 0.0
    for X in (points,) if queries is None else (points, queries):
        low, high = (X.amin(dim=0).double(), X.amax(dim=0).double())
        gap = torch.maximum(high - mean, mean - low).max()
        largest = max(largest, float(gap))
    # Half precision ends at 65,504 and loses digits below 2^-14.
    scale = 2.0 ** (13 - torch.frexp(torch.tensor(largest)).exponent.item())
    return mean, scale if largest > 0 else 1.0


class _Search:
    """Points and queries prepared for ranking in blocks of queries."""

    def __init__(self, points, queries, k, fused, watch):
        self.k, self.watch, self.fused = k, watch, fused
        self.own = queries is None
        mean, self.scale = _frame(points, queries)
        dtype = torch.float16 if fused else torch.float32
        self.points = _Screened(points, mean, self.scale, dtype)
        self.X = points[self.points.order]
        if self.own:
            self.queries, self.Q = self.points, self.X
        else:
            self.queries = _Screened(queries, mean, self.scale, dtype)
            self.Q = queries[self.queries.order]
        n_groups = len(self.points.rows) // GROUP
        self.kept = min(k + self.own + SPARE_GROUPS, n_groups)
        room = min(BLOCK_BYTES // (4 * n_groups), WORK_BYTES // (GROUP * self.kept))
        self.block = max(128, min(BLOCK, room // 128 * 128))
        width = self.points.rows.shape[1]
        # Sums of `width` products in single precision, whatever their order.
        self.unit = 2.0**-23
        self.sum_unit = (width + 2) * self.unit

    def rank(self, rows):
        """Neighbours of a block of queries, and which of them are certain."""
        with self.watch("products"):
            slack = self._slack(rows)
            bounds = self._bounds(rows, slack)
        with self.watch("groups"):
            lower, groups, cut = self._nearest_groups(bounds)
            twice = _padded(2 * slack, bounds.shape[1] * GROUP, 0.0)
            twice = twice.view(-1, GROUP).amax(dim=1)
            reach = lower + twice[groups]
            # So many different points lie this close, one of which may be the query.
            enough = self.k + self.own
            if enough <= reach.shape[1]:
                reach = reach.topk(enough, largest=False).values[:, -1]
            else:  # few groups, all of which are looked at
                reach = reach.new_full((len(reach),), torch.inf)
        with self.watch("differences"):
            squares = self._squares(rows, lower, groups, reach.contiguous())
            close, at = _smallest(squares.flatten(1), self.k + SPARE_POINTS)
            at = groups.gather(1, at // GROUP) * GROUP + at % GROUP
        with self.watch("ranking"):
            return self._ranked(rows, close, at, cut)

    def _slack(self, rows):
        """How far the distances to each point may be off, for any query of a block."""
        squares, lost = self.queries.squares[rows], self.queries.lost[rows]
        far, rough = float(squares.max().sqrt() + lost.max()), float(lost.max())
        points = self.points
        length = points.length + points.lost
        slack = far * points.lost + rough * points.length
        slack += (self.sum_unit + self.unit) * far * length
        slack = (2 * slack).add_(points.squares, alpha=2 * self.unit)
        return slack.mul_(1 + 1e-6)  # it is rounded too, with the norms

    def _bounds(self, rows, slack):
        """Bounds below the squared distances of each group, less those of queries."""
        norms = (self.points.squares - slack).to(torch.float32)
        norms = _padded(norms, len(self.points.rows), torch.inf)
        queries = self.queries.rows[rows]
        n = len(queries)
        if not self.fused:
            bounds = shifted_products(queries, self.points.rows, norms)
            return bounds.view(n, -1, GROUP).amin(dim=2)
        from demurk.device._kernels import group_minima

        end = -(-n // 128) * 128
        queries = self.queries.rows[rows.start : rows.start + end]
        out = norms.new_empty((end, len(norms) // GROUP))
        group_minima(queries, self.points.rows, norms, out, GROUP)
        return out[:n]

    def _nearest_groups(self, bounds):
        """The groups with the smallest bounds, and the smallest bound of the others."""
        wanted = min(self.kept + 1, bounds.shape[1])
        parts = bounds.view(len(bounds), -1, TOGETHER)
        if parts.shape[1] > 2 * wanted:
            _, part = parts.amin(dim=2).topk(wanted, largest=False)
            inside = torch.arange(TOGETHER, device=bounds.device)
            at = (part[:, :, None] * TOGETHER + inside).flatten(1)
            lower, first = bounds.gather(1, at).topk(wanted, largest=False)
            groups = at.gather(1, first)
        else:
            lower, groups = bounds.topk(wanted, largest=False)
        cut = lower.new_full((len(lower),), torch.inf)
        if wanted > self.kept:
            cut = lower[:, self.kept]
        kept = slice(0, self.kept)
        return lower[:, kept].contiguous(), groups[:, kept].contiguous(), cut

    def _squares(self, rows, lower, groups, reach):
        """Squared distances to the points of the groups within reach."""
        own = torch.full_like(groups[:, 0], -1)
        if self.own:
            own = torch.arange(rows.start, rows.stop, device=own.device)
        out = self.X.new_empty((*groups.shape, GROUP))
        if self.fused:
            from demurk.device._kernels import group_squares

            group_squares(self.Q[rows], self.X, groups, lower, reach, own, out)
            return out
        inside = torch.arange(GROUP, device=groups.device)
        at = groups[:, :, None] * GROUP + inside
        left_out = (at >= self.points.n) | (at == own[:, None, None])
        left_out |= (lower > reach[:, None])[:, :, None]
        query, near = torch.nonzero(~left_out)[:, 0], at[~left_out]
        out.fill_(torch.inf)
        out[~left_out] = pair_squares(self.Q[rows], self.X, query, near, out.dtype)
        return out

    def _ranked(self, rows, close, at, cut):
        """Order candidates by exact distances, and see what may have been missed."""
        n, m = at.shape
        valid = torch.isfinite(close)
        query = torch.arange(n, device=at.device)[:, None].expand(n, m)
        exact = close.new_full((n, m), torch.inf, dtype=torch.float64)
        exact[valid] = pair_squares(self.Q[rows], self.X, query[valid], at[valid])
        index = self.points.order[at.clamp_(max=self.points.n - 1)]
        index, order = index.sort(dim=1)
        exact, again = exact.gather(1, order).sort(dim=1, stable=True)
        exact, index = exact[:, : self.k], index.gather(1, again)[:, : self.k]
        last = exact[:, -1] * self.scale**2 * (1 + 1e-9)
        certain = last < cut.double() + self.queries.squares[rows] * (1 - 1e-9)
        # Candidates were chosen by rounded squares.
        rounding = (self.X.shape[1] + 3) * torch.finfo(close.dtype).eps
        worst = close[:, -1].double() * (1 - rounding)
        certain &= (exact[:, -1] < worst) | ~valid[:, -1]
        return exact, index, certain


def _smallest(values, m):
    """The m smallest of each row, or all there are, increasing."""
    return values.topk(min(m, values.shape[1]), largest=False)


def _padded(values, size, fill):
    out = values.new_full((size,), fill)
    out[: len(values)] = values
    return out
