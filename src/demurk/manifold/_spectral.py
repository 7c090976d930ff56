"""Coordinates of the nodes of a graph: one eigenproblem for every embedding here.

All methods minimise ``sum_ij w_ij |z_i - z_j|^2`` under ``Z'DZ = I``, or a relative of
it, and differ in the weights alone. Weights are a sparse matrix, or a sparse matrix
plus a low-rank one; they are only ever multiplied with vectors.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, svd
from scipy.sparse import (
    block_array,
    block_diag,
    csr_array,
    diags_array,
    hstack,
    issparse,
)
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator

from demurk.graph import SparseLowRank
from demurk.linalg import flip_signs, graph_eigenvectors

__all__ = [
    "SpectralMap",
    "embed_graph",
    "graph_parts",
    "part_contrasts",
    "spectral_coordinates",
]

# Residual of the eigenpairs; coordinates are then good to about 1e-7.
TOL = 1e-9
# Weight of the edges between all pairs of nodes, relative to the mean degree.
TELEPORT = 1e-3
# The known eigenvectors move from 1 to -2, below all others.
SHIFT = 3.0


@dataclass(frozen=True)
class SpectralMap:
    """Coordinates of the nodes of a graph.

    Attributes
    ----------
    coordinates : ndarray of shape (n, m)
        One row per node.
    eigenvalues : ndarray of shape (m,)
        Cost of each coordinate, smallest first.
    degrees : ndarray of shape (n,)
        Sum of the weights of each node.
    """

    coordinates: np.ndarray
    eigenvalues: np.ndarray
    degrees: np.ndarray


def embed_graph(weights, n_components, *, on_disconnected="warn", random_state=0):
    """Smallest generalised eigenvectors of ``(D - W, D)`` beyond the constant one.

    Parameters
    ----------
    weights : {csr_array, SparseLowRank} of shape (n, n)
        Symmetric weights W >= 0 outside the diagonal.
    n_components : int
        Number m of coordinates.
    on_disconnected : {"warn", "teleport", "raise"}, default="warn"
        What to do about a graph in several parts: say so and let the first
        coordinates tell the parts apart; join all nodes by a weak edge; refuse.
    random_state : int, RandomState instance or None, default=0
        Start of the eigen-solver.

    Returns
    -------
    found : SpectralMap
        Coordinates with ``Z'DZ = I`` and ``Z'D1 = 0``; nodes without edges lie at the
        origin. The entry of largest magnitude of each coordinate is positive.
    """
    n_parts, part = graph_parts(weights)
    if n_parts > 1:
        weights, n_parts, part = _join(weights, n_parts, part, on_disconnected)
    degree = np.asarray(weights @ np.ones(weights.shape[1]))
    joined = degree > 0
    n_joined = np.count_nonzero(joined)
    if n_components >= n_joined:
        raise ValueError(
            f"n_components is {n_components}, but a graph that joins {n_joined} "
            f"samples has only {max(n_joined - 1, 0)} coordinates; ask for fewer, or "
            "give more samples."
        )
    scale = np.zeros(len(degree))
    scale[joined] = degree[joined] ** -0.5
    normalized = _restrict(_scaled(weights, scale), joined)
    theta, Z = spectral_coordinates(
        normalized, degree[joined], part[joined], n_components, random_state
    )
    coordinates = np.zeros((len(degree), n_components))
    coordinates[joined] = Z
    return SpectralMap(coordinates, 1.0 - theta, degree)


def graph_parts(weights):
    """Number of connected parts, and the part of each node.

    Parameters
    ----------
    weights : {csr_array, SparseLowRank} of shape (n, n)
        Symmetric weights.

    Returns
    -------
    n_parts : int
        Number of parts; a node without edges is one.
    part : ndarray of int of shape (n,)
        Which part.
    """
    if not isinstance(weights, SparseLowRank):
        return connected_components(weights, directed=False)
    n = weights.shape[0]
    # Groups that are joined act as one more node, joined with all their members. A
    # group without members joins nothing.
    used = np.flatnonzero(np.asarray(abs(weights.U).sum(axis=0)).ravel() > 0)
    core = csr_array(weights.C)[used][:, used]
    used = used[np.asarray(abs(core).sum(axis=1)).ravel() > 0]
    core = csr_array(weights.C)[used][:, used]
    n_groups, group = connected_components(core, directed=False)
    merge = csr_array(
        (np.ones(len(group)), (np.arange(len(group)), group)),
        shape=(len(group), n_groups),
    )
    members = csr_array(weights.U)[:, used] @ merge
    graph = block_array([[weights.W, members], [members.T, None]], format="csr")
    n_parts, part = connected_components(graph, directed=False)
    return n_parts, part[:n]


def _join(weights, n_parts, part, on_disconnected):
    """Deal with a graph in several parts."""
    sizes = np.bincount(part)
    alone = np.count_nonzero(sizes == 1)
    text = f"The graph falls into {n_parts} parts"
    text += f", {alone} of them single samples" if alone else ""
    if on_disconnected == "raise":
        raise ValueError(
            f"{text}; a larger n_neighbors would join them, or choose "
            "on_disconnected='warn' or 'teleport'."
        )
    if on_disconnected == "teleport":
        return _teleported(weights), 1, np.zeros(len(part), dtype=np.intp)
    warnings.warn(
        f"{text}: the first coordinates only tell the parts apart, and samples without "
        "edges lie at the origin; a larger n_neighbors, or "
        "on_disconnected='teleport', would join the parts.",
        UserWarning,
        stacklevel=7,
    )
    return weights, n_parts, part


def _teleported(weights):
    """Add ``TELEPORT * mean degree / n`` to every weight."""
    n = weights.shape[0]
    everyone = np.ones((n, 1))
    total = float(everyone.ravel() @ (weights @ everyone.ravel()))
    extra = TELEPORT * (total or n) / n**2
    if not isinstance(weights, SparseLowRank):
        return SparseLowRank(weights, everyone, np.array([[extra]]))
    core = block_diag([csr_array(weights.C), [[extra]]], format="csr")
    core = core if issparse(weights.C) else core.toarray()
    members = hstack([csr_array(weights.U), csr_array(everyone)], format="csr")
    return SparseLowRank(weights.W, members, core)


def _scaled(weights, scale):
    """Rows and columns of the weights times `scale`."""
    if isinstance(weights, SparseLowRank):
        return weights.scaled(scale)
    diagonal = diags_array(scale)
    return csr_array(diagonal @ weights @ diagonal)


def _restrict(weights, kept):
    """Rows and columns of the nodes that are kept."""
    if kept.all():
        return weights
    if isinstance(weights, SparseLowRank):
        W = None if weights.W is None else weights.W[kept][:, kept]
        return SparseLowRank(W, weights.U[kept], weights.C)
    return weights[kept][:, kept]


def spectral_coordinates(
    A, degree, part, n_components, random_state=0, *, solver="auto"
):
    """Largest eigenvectors of A beyond the ones that are constant on each part.

    Parameters
    ----------
    A : {csr_array, LinearOperator} of shape (n, n)
        Symmetric, with ``degree ** 0.5`` as an eigenvector; if there are several
        parts, restricted to each of them, with eigenvalue 1, and no other is larger.
    degree : ndarray of shape (n,)
        Positive masses of the nodes, the D of ``Z'DZ = I``.
    part : ndarray of int of shape (n,)
        Connected part of each node.
    n_components : int
        Number m < n of coordinates.
    random_state : int, RandomState instance or None, default=0
        Start of the eigen-solver.
    solver : str, default="auto"
        Of :func:`~demurk.linalg.graph_eigenvectors`, for a sparse connected A.

    Returns
    -------
    theta : ndarray of shape (m,)
        Eigenvalues, largest first.
    Z : ndarray of shape (n, m)
        Eigenvectors divided by ``degree ** 0.5``.
    """
    root = np.sqrt(degree)
    part = np.unique(part, return_inverse=True)[1]
    n_parts = part.max() + 1
    Z = part_contrasts(degree, part, min(n_parts - 1, n_components))
    theta = np.ones(Z.shape[1])
    n_wanted = n_components - Z.shape[1]
    if n_wanted:
        if n_parts == 1 and issparse(A):
            found, vectors = _beside_constant(A, root, n_wanted, random_state, solver)
        else:
            found, vectors = graph_eigenvectors(
                _Deflated(A, root, part), n_wanted, tol=TOL, random_state=random_state
            )
        theta = np.r_[theta, found]
        Z = np.hstack([Z, vectors / root[:, None]])
    return theta, np.ascontiguousarray(flip_signs(Z.T).T)


def part_contrasts(degree, part, n_contrasts):
    """Coordinates that tell the parts apart, the heaviest ones first.

    Coordinate j sets part j + 1 against all parts before it, so that the result does
    not depend on an arbitrary rotation.
    """
    Z = np.zeros((len(part), n_contrasts))
    mass = np.bincount(part, weights=degree)
    order = np.argsort(-mass, kind="stable")
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    rank, mass = rank[part], mass[order]
    before = np.cumsum(mass)
    for j in range(n_contrasts):
        norm = np.sqrt(1 / before[j] + 1 / mass[j + 1])
        Z[rank <= j, j] = -1 / (before[j] * norm)
        Z[rank == j + 1, j] = 1 / (mass[j + 1] * norm)
    return Z


def _beside_constant(A, root, m, random_state, solver):
    """The m pairs of a sparse A at right angles to `root`.

    The matrix itself is handed over, so that a factorisation can take over where
    iterations converge slowly. The constant may come back mixed with a vector of
    nearly the same eigenvalue, hence the second, small problem.
    """
    _, vectors = graph_eigenvectors(
        A, m + 1, tol=TOL, random_state=random_state, solver=solver
    )
    constant = root / np.linalg.norm(root)
    vectors -= np.outer(constant, constant @ vectors)
    basis = svd(vectors, full_matrices=False)[0][:, :m]
    theta, rotation = eigh(basis.T @ (A @ basis))
    return theta[::-1], basis @ rotation[:, ::-1]


class _Deflated(LinearOperator):
    """A with the eigenvectors that are constant on each part moved out of the way."""

    def __init__(self, A, root, part):
        norms = np.sqrt(np.bincount(part, weights=root**2))
        self.A, self.n_parts, self.part = A, len(norms), part
        self.known = root / norms[part]
        super().__init__(dtype=np.dtype(np.float64), shape=A.shape)

    def _matmat(self, block):
        product = self.A @ block
        if self.n_parts == 1:
            return product - SHIFT * np.outer(self.known, self.known @ block)
        for j, column in enumerate(block.T):
            sums = np.bincount(self.part, weights=self.known * column)
            product[:, j] -= SHIFT * self.known * sums[self.part]
        return product

    def _matvec(self, vector):
        return self._matmat(vector.reshape(-1, 1)).ravel()

    def _adjoint(self):
        return self
