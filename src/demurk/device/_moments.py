"""Sums over rows on a device, for problems that are solved in memory."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import torch

from demurk.linalg import Moments, Sums

__all__ = ["sum_rows"]

CHUNK_BYTES = 2**30


def sum_rows(X, problem):
    """The sums that a problem needs of its rows.

    Parameters
    ----------
    X : Tensor of shape (n, d)
        Rows.
    problem : demurk.linalg.Problem
        Its targets are a tensor on the same device, its weights too or None.

    Returns
    -------
    sums : demurk.linalg.Sums
        In memory.

    Notes
    -----
    Time O(n d q), or O(n d (d + q)) with the scatter; memory 1 GiB and the sums.
    """
    sums = Sums(scatter=problem.needs_scatter)
    if problem.weights is None:
        sums.joint = _moments(X, problem.targets, None, problem.needs_scatter)
        sums.features = sums.joint
        return sums
    sums.joint = _moments(X, problem.targets, None, False)
    nothing = X.new_empty((len(X), 0), dtype=torch.float64)
    sums.features = _moments(X, nothing, problem.weights, problem.needs_scatter)
    return sums


def _moments(X, T, weights, scatter):
    """Moments around the means, which are taken first."""
    n, d = X.shape
    result = Moments(scatter=scatter)
    result.n_rows = n
    each = X.new_ones(n, dtype=torch.float64) if weights is None else weights
    result.weight = float(each.sum())
    step = max(1, CHUNK_BYTES // (8 * (d + T.shape[1])))
    chunks = [slice(start, start + step) for start in range(0, n, step)]

    def rows(at):
        return torch.cat([X[at].double(), T[at].double()], dim=1)

    mean = sum(each[at] @ rows(at) for at in chunks) / result.weight
    gram = 0.0
    for at in chunks:
        centred = rows(at) - mean
        right = centred if scatter else centred[:, d:]
        gram = gram + centred.T @ (right * each[at, None])
    gram, mean = gram.cpu().numpy(), mean.cpu().numpy()
    result.mean_x, result.mean_t = mean[:d], mean[d:]
    if scatter:
        result.scatter = gram[:d, :d].copy()
        gram = gram[:, d:]
    result.cross, result.target_scatter = gram[:d].copy(), gram[d:].copy()
    return result
