"""Exact nearest neighbours on a device: screened in half precision, then certified.

The products of all rows are taken in the precision the device is fastest at, and of
each 64 points only a bound below all their distances is kept. The points of the groups
with the smallest bounds are compared by direct differences. A query is certified when
no other group can hold a neighbour, given the errors of its products as they are: the
rows are known, and so is what rounding took from each. Queries that are not certified
are screened again with twice the digits, and compared with all points in single or
double precision if that does not certify them either.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache

import torch
from sklearn.utils import gen_batches
from torch.nn.functional import pad

from demurk.device._plain import Frame, pair_squares, search_plain, shifted_products
from demurk.utils._optional import import_optional

__all__ = ["Found", "exact_search"]

GROUP = 64
# Groups, and candidates among their points, beyond those that would do without errors;
# the second number of groups is that of the screen with twice the digits.
SPARE_GROUPS = 6, 22
SPARE_POINTS = 8
# So few queries are faster compared with all points at once.
FEW = 1_024
# Bounds of groups whose smallest one is looked at first.
TOGETHER = 64
# Queries of a block: two blocks of 128 for each of 132 multiprocessors.
BLOCK = 33_792
# Bytes of bounds, of differences and of distances at a time.
BLOCK_BYTES = 2**33
WORK_BYTES = 2**29
# What rounding may take from a number in single precision.
EPS = 2.0**-23


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
        fused = points.is_cuda and _kernels_work(points.device)
    m = len(points if queries is None else queries)
    squares = points.new_empty((m, k), dtype=torch.float64)
    indices = points.new_empty((m, k), dtype=torch.int64)
    state = points.new_empty(m, dtype=torch.uint8)
    with watch("preparation"):
        search = _Search(points, queries, k, fused, watch)
    search.fill(squares, indices, state)
    n_repeated = int((state != CERTAIN).sum())
    # More digits do not tell equal distances apart.
    rough = torch.nonzero(state == ROUGH).ravel()
    if fused and len(rough) >= FEW:
        with watch("second search"):
            search = _Search(points, queries, k, True, unwatched, rough)
            search.fill(squares, indices, state)
    again = torch.nonzero(state != CERTAIN).ravel()
    if len(again):
        with watch("last search"):
            squares[again], indices[again] = search_plain(points, queries, again, k)
    return Found(squares, indices, n_repeated)


# What a search says of a query: certain, errors may hide a neighbour, equal distances.
CERTAIN, ROUGH, TIED = range(3)


@cache
def _kernels_work(device):
    """Whether Triton is there and compiles for the device, which takes a compiler."""
    try:
        import_optional("triton", "gpu")
    except ImportError:
        return False
    try:
        from demurk.device._kernels import group_minima

        rows = torch.zeros((256, GROUP), dtype=torch.float16, device=device)
        norms = torch.zeros(256, device=device)
        group_minima(rows, rows, norms, torch.empty((256, 4), device=device), GROUP)
    except Exception as error:
        warnings.warn(
            "Triton could not compile the kernel of the neighbour search, which is "
            f"exact but some ten times slower without it: {error}",
            UserWarning,
            stacklevel=2,
        )
        return False
    return True


def _room(device):
    """Bytes that the bounds of a block of queries may take."""
    if device.type != "cuda":
        return BLOCK_BYTES // 32
    return min(BLOCK_BYTES, torch.cuda.mem_get_info(device)[0] // 4)


class _Screened:
    """Rows for the products, the shortest first, and what rounding took from them.

    Padding makes whole tiles of them; the rows there are zero. In twice the digits, a
    row is its rounded self and what that leaves, in three parts: products of queries
    (high, low, high) and points (high, high, low) leave out the two low parts alone.
    """

    def __init__(self, X, frame, dtype, parts):
        self.n, d = X.shape
        size = -(-self.n // (GROUP * TOGETHER)) * GROUP * TOGETHER
        width = -(-d // GROUP) * GROUP
        self.rows = X.new_zeros((size, len(parts), width), dtype=dtype)
        step = max(1, WORK_BYTES // (8 * d))
        chunks = torch.arange(self.n, device=X.device).split(step)
        lengths = [frame.moved(X[at]).norm(dim=1) for at in chunks]
        # Rows that lie close together then have errors of like size.
        self.order = torch.cat(lengths).argsort(stable=True)
        self.squares = X.new_empty(self.n, dtype=torch.float64)
        self.lost, self.low = torch.empty((2, self.n)).to(self.squares)
        for at in chunks:
            exact = frame.moved(X[self.order[at]])
            self.squares[at] = (exact * exact).sum(dim=1)
            high = exact.to(dtype)
            rest = exact.sub_(high)
            low = rest.to(dtype) if "l" in parts else torch.zeros_like(high)
            for number, part in enumerate(parts):
                self.rows[at, number, :d] = high if part == "h" else low
            self.low[at] = low.double().norm(dim=1)
            self.lost[at] = rest.sub_(low).norm(dim=1)
        self.rows = self.rows.flatten(1)
        self.length = self.squares.sqrt()
        # No less than the length of any part of a row.
        self.size = self.length + self.low + self.lost


class _Search:
    """Points and queries prepared for ranking in blocks of queries."""

    def __init__(self, points, queries, k, fused, watch, which=None):
        self.k, self.watch, self.fused = k, watch, fused
        self.own = queries is None
        self.frame = Frame(points) if self.own else Frame(points, queries)
        dtype = torch.float16 if fused else torch.float32
        parts = ("h", "h") if which is None else ("hhl", "hlh")
        self.points = _Screened(points, self.frame, dtype, parts[0])
        self.X = points[self.points.order]
        if self.own and which is None:
            self.queries, self.Q = self.points, self.X
        else:
            queries = points if self.own else queries
            queries = queries if which is None else queries[which]
            self.queries = _Screened(queries, self.frame, dtype, parts[1])
            self.Q = queries[self.queries.order]
        # Which query, as they were given, each of the prepared ones is.
        order = self.queries.order
        self.given = order if which is None else which[order]
        self.itself = self._places()
        n_groups = len(self.points.rows) // GROUP
        spare = SPARE_GROUPS[which is not None]
        self.kept = min(k + self.own + spare, n_groups)
        # Without the kernels, all products are held before their minima are taken.
        held = 4 * n_groups * (1 if fused else GROUP)
        room = min(_room(points.device) // held, WORK_BYTES // (GROUP * self.kept))
        self.block = max(128, min(BLOCK, room // 128 * 128))

    def _places(self):
        """Where the queries are among the points, -1 if they are others."""
        if not self.own:
            return torch.full_like(self.given, -1)
        place = torch.empty_like(self.points.order)
        place[self.points.order] = torch.arange(len(place), device=place.device)
        return place[self.given]

    def fill(self, squares, indices, state):
        """Write the neighbours of all queries, and what is known of each."""
        for rows in gen_batches(self.queries.n, self.block):
            at = self.given[rows]
            squares[at], indices[at], state[at] = self.rank(rows)

    def rank(self, rows):
        """Neighbours of a block of queries, and what is known of each."""
        with self.watch("products"):
            slack = self._slack(rows)
            bounds = self._bounds(rows, slack)
        with self.watch("groups"):
            lower, groups, cut = self._nearest_groups(bounds)
            twice = pad(2 * slack, (0, len(self.points.rows) - len(slack)))
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
            squares = squares.flatten(1)
            n_close = min(self.k + SPARE_POINTS, squares.shape[1])
            close, at = squares.topk(n_close, largest=False)
            at = groups.gather(1, at // GROUP) * GROUP + at % GROUP
        with self.watch("ranking"):
            return self._ranked(rows, close, at, cut)

    def _slack(self, rows):
        """How far the distances to each point may be off, for any query of a block."""
        lost = float(self.queries.lost[rows].max())
        low = float(self.queries.low[rows].max())
        size = float(self.queries.size[rows].max())
        points = self.points
        slack = size * points.lost + lost * points.size + low * points.low
        # Sums of as many products in single precision, whatever their order.
        unit = (points.rows.shape[1] + 3) * EPS
        slack += unit * (size + low) * (points.size + points.low)
        slack = (2 * slack).add_(points.squares, alpha=2 * EPS)
        return slack.mul_(1 + 1e-6)  # it is rounded too, with the norms

    def _bounds(self, rows, slack):
        """Bounds below the squared distances of each group, less those of queries."""
        norms = (self.points.squares - slack).to(torch.float32)
        norms = pad(norms, (0, len(self.points.rows) - len(norms)), value=torch.inf)
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
        # Infinity where there are no others.
        cut = pad(lower, (0, 1), value=torch.inf)[:, self.kept]
        kept = slice(0, self.kept)
        return lower[:, kept].contiguous(), groups[:, kept].contiguous(), cut

    def _squares(self, rows, lower, groups, reach):
        """Squared distances to the points of the groups within reach."""
        own = self.itself[rows]
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

    def _exact(self, rows, at):
        """Squared distances to some points in float64."""
        if self.fused:
            from demurk.device._kernels import group_squares

            out = at.new_empty((*at.shape, 1), dtype=torch.float64)
            low = torch.zeros_like(at, dtype=torch.float32)
            nobody = torch.full_like(at[:, 0], -1)
            bound = low[:, 0].contiguous()
            group_squares(self.Q[rows], self.X, at, low, bound, nobody, out)
            return out[:, :, 0]
        query = torch.arange(len(at), device=at.device)[:, None].expand_as(at)
        pairs = query.reshape(-1), at.reshape(-1)
        return pair_squares(self.Q[rows], self.X, *pairs).view(at.shape)

    def _ranked(self, rows, close, at, cut):
        """Order candidates by exact distances, and see what may have been missed."""
        valid = torch.isfinite(close)
        at.clamp_(max=self.points.n - 1)
        exact = self._exact(rows, at).masked_fill_(~valid, torch.inf)
        index = self.points.order[at]
        index, order = index.sort(dim=1)
        exact, again = exact.gather(1, order).sort(dim=1, stable=True)
        exact, index = exact[:, : self.k], index.gather(1, again)[:, : self.k]
        last = exact[:, -1] * self.frame.scale**2 * (1 + 1e-9)
        certain = last < cut.double() + self.queries.squares[rows] * (1 - 1e-9)
        # Candidates were chosen by rounded squares.
        rounding = (self.X.shape[1] + 3) * torch.finfo(close.dtype).eps
        worst = close[:, -1].double() * (1 - rounding)
        apart = (exact[:, -1] < worst) | ~valid[:, -1]
        state = torch.where(apart, CERTAIN, TIED)
        return exact, index, torch.where(certain, state, ROUGH).to(torch.uint8)
