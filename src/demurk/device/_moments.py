"""Sums over rows on a device, for problems that are solved in memory."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import torch
from sklearn.utils import gen_batches

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
        Its targets are a tensor on the same device; its weights, if any, in memory.

    Returns
    -------
    sums : demurk.linalg.Sums
        In memory.

    Notes
    -----
    Time O(n d q), or O(n d (d + q)) with the scatter; memory 1 GiB and the sums.
    """
    scatter, weighted = problem.needs_scatter, problem.weights is not None
    sums = Sums(scatter=scatter)
    sums.joint = _moments(X, problem.targets, None, scatter and not weighted)
    sums.features = sums.joint
    if weighted:
        weights = torch.as_tensor(problem.weights, device=X.device)
        nothing = X.new_empty((len(X), 0), dtype=torch.float64)
        sums.features = _moments(X, nothing, weights, scatter)
    return sums


def _moments(X, T, weights, scatter):
    """Moments around the means, which are taken first."""
    n, d = X.shape
    result = Moments(scatter=scatter)
    result.n_rows = n
    each = X.new_ones(n, dtype=torch.float64) if weights is None else weights
    result.weight = float(each.sum())
    chunks = list(gen_batches(n, max(1, CHUNK_BYTES // (8 * (d + T.shape[1])))))

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
