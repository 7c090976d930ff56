"""Kernels of the neighbour search, in Triton.

What makes a search fast is that the products of rows never leave the chip: of each 64
of them only the smallest distance is written.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import cache

import torch
import triton
import triton.language as tl

__all__ = ["group_minima", "group_squares"]

# Widths up to which the queries stay on the chip while all points pass by.
RESIDENT = 128
# Rows of queries and of points, warps and stages of a program: the fastest of twelve
# and of four tried on an H200. The others are for devices with less shared memory.
STRIP = {"BM": 128, "BN": 128, "num_warps": 4, "num_stages": 3}
TILE = {"BM": 128, "BN": 256, "BK": 64, "num_warps": 8, "num_stages": 3}
SMALL_STRIP = {"BM": 64, "BN": 64, "num_warps": 4, "num_stages": 2}
SMALL_TILE = {"BM": 64, "BN": 128, "BK": 32, "num_warps": 4, "num_stages": 2}
# Bytes of shared memory that the former take.
LARGE = 160_000
# Tiles of so many blocks of queries are walked together, for the cache.
TOGETHER = 16


@triton.jit
def _smallest(products, norms, BM: tl.constexpr, BN: tl.constexpr, G: tl.constexpr):
    """Smallest distance of each group of points, less the norm of the query."""
    values = norms[None, :] - 2.0 * products
    return tl.min(tl.reshape(values, (BM, BN // G, G)), axis=2)


@triton.jit
def _strip_minima(
    queries,
    points,
    norms,
    out,
    n_points,
    n_groups,
    D: tl.constexpr,
    G: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    """One block of queries, kept on the chip, against all points."""
    rows = (tl.program_id(0) * BM + tl.arange(0, BM)).to(tl.int64)
    lane, depth = tl.arange(0, BN), tl.arange(0, D)
    q = tl.load(queries + rows[:, None] * D + depth[None, :])
    p = points + lane[None, :] * D + depth[:, None]
    place = out + rows[:, None] * n_groups + tl.arange(0, BN // G)[None, :]
    for start in range(0, n_points, BN):
        products = tl.dot(q, tl.load(p))
        smallest = _smallest(products, tl.load(norms + start + lane), BM, BN, G)
        tl.store(place, smallest)
        p += BN * D
        place += BN // G


@triton.jit
def _tile_minima(
    queries,
    points,
    norms,
    out,
    n_queries,
    n_points,
    n_groups,
    D: tl.constexpr,
    G: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    TOGETHER: tl.constexpr,
):
    """One block of queries against one block of points."""
    program = tl.program_id(0)
    n_rows, n_columns = n_queries // BM, n_points // BN
    band = program // (TOGETHER * n_columns)
    height = tl.minimum(n_rows - band * TOGETHER, TOGETHER)
    inside = program % (TOGETHER * n_columns)
    row, column = band * TOGETHER + inside % height, inside // height
    rows = (row * BM + tl.arange(0, BM)).to(tl.int64)
    columns = (column * BN + tl.arange(0, BN)).to(tl.int64)
    depth = tl.arange(0, BK)
    q = queries + rows[:, None] * D + depth[None, :]
    p = points + columns[None, :] * D + depth[:, None]
    products = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, D, BK):
        products = tl.dot(tl.load(q), tl.load(p), products)
        q += BK
        p += BK
    smallest = _smallest(products, tl.load(norms + columns), BM, BN, G)
    groups = column * (BN // G) + tl.arange(0, BN // G)
    tl.store(out + rows[:, None] * n_groups + groups[None, :], smallest)


@triton.jit
def _squares(
    queries,
    points,
    groups,
    lower,
    bound,
    own,
    out,
    n_points,
    D,
    KEPT: tl.constexpr,
    G: tl.constexpr,
    BK: tl.constexpr,
):
    """Squared distances of one query to the points of one group."""
    query, slot = tl.program_id(0).to(tl.int64), tl.program_id(1)
    lane = tl.arange(0, G)
    place = out + (query * KEPT + slot) * G + lane
    wanted = tl.load(lower + query * KEPT + slot) <= tl.load(bound + query)
    kind = out.dtype.element_ty
    if wanted:
        rows = tl.load(groups + query * KEPT + slot) * G + lane
        inside = rows < n_points
        total = tl.zeros((G, BK), dtype=kind)
        for start in range(0, D, BK):
            columns = start + tl.arange(0, BK)
            used = columns < D
            x = tl.load(queries + query * D + columns, mask=used, other=0.0)
            y = tl.load(
                points + rows[:, None] * D + columns[None, :],
                mask=inside[:, None] & used[None, :],
                other=0.0,
            )
            gap = x.to(kind)[None, :] - y.to(kind)
            total += gap * gap
        square = tl.sum(total, axis=1)
        square = tl.where(inside & (rows != tl.load(own + query)), square, float("inf"))
        tl.store(place, square)
    else:
        tl.store(place, tl.full((G,), float("inf"), dtype=kind))


def group_minima(queries, points, norms, out, group):
    """Smallest ``norms - 2 queries points'`` of each group of points.

    Parameters
    ----------
    queries : Tensor of shape (b, D), float16
        b a multiple of 128, D of 64.
    points : Tensor of shape (n, D), float16
        n a multiple of 256.
    norms : Tensor of shape (n,), float32
        Added to the products of each point.
    out : Tensor of shape (b, n / group), float32
        Filled with the minima.
    group : int
        Points of a group, a power of two.
    """
    (n_queries, width), n_points = queries.shape, len(points)
    large = _shared_memory(points.device) >= LARGE
    strip, tile = (STRIP, TILE) if large else (SMALL_STRIP, SMALL_TILE)
    with torch.cuda.device_of(points):
        if width <= RESIDENT:
            _strip_minima[(n_queries // strip["BM"],)](
                *(queries, points, norms, out, n_points, out.shape[1]),
                *(width, group),
                **strip,
            )
            return
        n_tiles = (n_queries // tile["BM"]) * (n_points // tile["BN"])
        _tile_minima[(n_tiles,)](
            *(queries, points, norms, out, n_queries, n_points, out.shape[1]),
            *(width, group),
            TOGETHER=TOGETHER,
            **tile,
        )


@cache
def _shared_memory(device):
    """Bytes that a program may share; none to speak of where none are told."""
    if device.type != "cuda":
        return 0
    utils = triton.runtime.driver.active.utils
    return utils.get_device_properties(device.index)["max_shared_mem"]


def group_squares(queries, points, groups, lower, bound, own, out):
    """Squared distances of queries to the points of some groups of theirs.

    Parameters
    ----------
    queries : Tensor of shape (b, d)
        Rows, as they were given.
    points : Tensor of shape (n, d)
        The same for the points; groups are consecutive.
    groups, lower : Tensor of shape (b, kept), int64 and float32
        Groups of each query, and a bound on the distances of their points.
    bound : Tensor of shape (b,), float32
        Groups whose `lower` is above it are left out: their distances are infinite.
    own : Tensor of shape (b,), int64
        The query itself among the points, which is left out; -1 where it is not there.
    out : Tensor of shape (b, kept, group)
        Filled with the squares, in its own precision.
    """
    n_queries, kept, group = out.shape
    width = points.shape[1]
    with torch.cuda.device_of(points):
        _squares[(n_queries, kept)](
            *(queries, points, groups, lower, bound, own, out, len(points), width),
            *(kept, group),
            BK=min(64, max(16, triton.next_power_of_2(width))),
            num_warps=4,
        )
