"""Coordinates of the nodes of a graph on a device."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import torch
from scipy.sparse import csr_array, issparse
from scipy.sparse.csgraph import connected_components

from demurk.device._eigen import largest_pairs
from demurk.device._graph import Weights, connected_parts
from demurk.linalg import flip_signs
from demurk.manifold._spectral import (
    SHIFT,
    TELEPORT,
    TOL,
    SpectralMap,
    _join,
    part_contrasts,
)

__all__ = ["Joined", "embed_graph", "join_graphs"]


class Joined:
    """A sparse graph, plus one of groups of nodes, plus a weight between all nodes.

    Parameters
    ----------
    sparse : Weights
        Sparse weights.
    share : float, default=1.0
        What they are multiplied with.
    group : ndarray of int of shape (n,), default=None
        Group of each node, -1 for none.
    core : {ndarray, csr_array} of shape (m, m), default=None
        Weights between the nodes of groups. A node has no edge with itself.
    """

    def __init__(self, sparse, share=1.0, group=None, core=None):
        self.sparse, self.share, self.everyone = sparse, share, 0.0
        self.n, self.device = sparse.n, sparse.values.device
        self.group, self.core = group, core
        if group is None:
            return
        own = np.r_[core.diagonal(), 0.0]
        self.n_groups = len(own)
        # Nodes without a group meet in one more, which is joined with none.
        place = np.where(group < 0, self.n_groups - 1, group)
        self.place = torch.as_tensor(place, device=self.device)
        self.weights = _beside_nothing(core, self.device)
        self.loops = torch.as_tensor(own[place], device=self.device)[:, None]

    def __matmul__(self, block):
        product = self.share * (self.sparse @ block)
        if self.group is not None:
            sums = block.new_zeros((self.n_groups, block.shape[1]))
            sums.index_add_(0, self.place, block)
            product += (self.weights @ sums)[self.place] - self.loops * block
        if self.everyone:
            product += self.everyone * block.sum(dim=0)
        return product

    def parts(self):
        """The part of each node, as a tensor of numbers from 0 on."""
        rows, columns, n = self.sparse.rows, self.sparse.columns, self.n
        if not self.share:
            rows, columns = rows[:0], columns[:0]
        if self.group is not None:
            # Groups that are joined act as one more node, joined with their members.
            _, joined = connected_components(csr_array(self.core), directed=False)
            sums = np.asarray(abs(self.core).sum(axis=1)).ravel()
            used = (self.group >= 0) & (np.r_[sums, 0.0][self.group] > 0)
            member = torch.as_tensor(np.flatnonzero(used), device=self.device)
            hub = torch.as_tensor(joined[self.group[used]] + n, device=self.device)
            rows = torch.cat([rows, member, hub])
            columns = torch.cat([columns, hub, member])
            n += len(joined)
        part = connected_parts(rows, columns, n)[: self.n]
        return torch.unique(part, return_inverse=True)[1]


def _beside_nothing(core, device):
    """A matrix on the device with one more row and column of zeros."""
    if not issparse(core):
        return torch.as_tensor(np.pad(core, (0, 1)), device=device)
    core = csr_array(core).tocoo()
    parts = (*(at.astype(np.int64) for at in core.coords), core.data)
    parts = (torch.as_tensor(part, device=device) for part in parts)
    return Weights(*parts, core.shape[0] + 1)


def join_graphs(features, labels, feature_weight, balance):
    """Weighted sum of the feature graph and the label graph, as SLEML's in memory.

    Parameters
    ----------
    features : Weights
        Weights of the feature graph.
    labels : LabelGraph
        Similarities of the label sets.
    feature_weight : float
        Share of the features.
    balance : {"degree", None}
        Whether both graphs are divided by their mean degrees first.

    Returns
    -------
    weights : Joined
        The sum.
    """
    label_degrees = labels.degrees()
    feature_share, label_share = feature_weight, 1.0 - feature_weight
    if not label_degrees.any():
        label_share = 0.0
    if balance == "degree":
        feature_share /= float(features.sums().mean()) or 1.0
        if label_share:
            label_share /= label_degrees[labels.labeled].mean()
    if not label_share:
        return Joined(features, feature_share)
    core = label_share * labels.similarity
    return Joined(features, feature_share, labels.group, core)


def embed_graph(weights, n_components, *, on_disconnected="warn", random_state=0):
    """Smallest generalised eigenvectors of ``(D - W, D)`` beyond the constant one.

    Parameters
    ----------
    weights : Joined
        Symmetric weights.
    n_components : int
        Number m of coordinates.
    on_disconnected : {"warn", "teleport", "raise"}, default="warn"
        What to do about a graph in several parts.
    random_state : int, RandomState instance or None, default=0
        Start of the eigen-solver.

    Returns
    -------
    found : SpectralMap
        In memory; see :func:`demurk.manifold._spectral.embed_graph`.
    """
    n, part = weights.n, weights.parts()
    ones = torch.ones((n, 1), dtype=torch.float64, device=weights.device)
    degree = (weights @ ones)[:, 0]
    n_parts = int(part.max()) + 1
    if n_parts > 1 and on_disconnected == "teleport":
        weights.everyone = TELEPORT * (float(degree.sum()) or n) / n**2
        degree, part, n_parts = degree + n * weights.everyone, 0 * part, 1
    elif n_parts > 1:
        _join(None, n_parts, part.cpu().numpy(), on_disconnected)
    joined = degree > 0
    n_joined = int(joined.sum())
    if n_components >= n_joined:
        raise ValueError(
            f"n_components is {n_components}, but a graph that joins {n_joined} "
            f"samples has only {max(n_joined - 1, 0)} coordinates; ask for fewer, or "
            "give more samples."
        )
    theta, Z = _coordinates(weights, degree, part, n_components, random_state)
    return SpectralMap(Z, 1.0 - theta, degree.cpu().numpy())


def _coordinates(weights, degree, part, n_components, random_state):
    """Eigenvalues and coordinates, in memory; zero for nodes without edges."""
    joined = degree > 0
    root = degree.clamp(min=0).sqrt()
    scale = torch.where(joined, 1 / root, 0.0)[:, None]
    part = torch.unique(torch.where(joined, part, -1), return_inverse=True)[1]
    part = part - 1 if not bool(joined.all()) else part
    where = joined.cpu().numpy()
    n_parts = int(part.max()) + 1
    Z = np.zeros((len(where), min(n_parts - 1, n_components)))
    Z[where] = part_contrasts(
        degree[joined].cpu().numpy(), part[joined].cpu().numpy(), Z.shape[1]
    )
    theta = np.ones(Z.shape[1])
    n_wanted = n_components - len(theta)
    if n_wanted:
        part = part.clamp(min=0)
        masses = degree.new_zeros(n_parts).index_add_(0, part, degree)
        known = (root / masses.sqrt()[part])[:, None]

        def product(block):
            result = scale * (weights @ (scale * block))
            sums = block.new_zeros((n_parts, block.shape[1]))
            sums.index_add_(0, part, known * block)
            # The vectors that are constant on a part move below all others.
            return result - SHIFT * known * sums[part]

        found, vectors = largest_pairs(
            *(product, len(degree), n_wanted),
            support=joined.double(),
            tol=TOL,
            random_state=random_state,
        )
        theta = np.r_[theta, found.cpu().numpy()]
        Z = np.hstack([Z, (scale * vectors).cpu().numpy()])
    return theta, np.ascontiguousarray(flip_signs(Z.T).T)
