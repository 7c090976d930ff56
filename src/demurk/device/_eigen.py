"""Extreme eigenvectors of operators on a device."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import torch
from numpy.linalg import LinAlgError
from sklearn.utils import check_random_state

__all__ = ["largest_pairs"]

# Up to so many rows a dense solver is as fast, and cannot miss a pair.
MAX_DENSE = 500
# Vectors of the basis beyond those asked for; more mean fewer restarts.
BASIS = 60
MAX_RESTARTS = 3_000


def largest_pairs(product, n, m, *, support, tol=1e-9, random_state=0):
    """The m largest eigenpairs of a symmetric operator.

    Parameters
    ----------
    product : callable
        The operator, given blocks of shape (n, c) in float64.
    n : int
        Rows of the operator.
    m : int
        Pairs to find.
    support : Tensor of shape (n,), float64
        1 for rows that take part, 0 for those where eigenvectors are zero.
    tol : float, default=1e-9
        Residual of a pair relative to its eigenvalue.
    random_state : int, RandomState instance or None, default=0
        Start of the iterations.

    Returns
    -------
    values : Tensor of shape (m,)
        Largest first.
    vectors : Tensor of shape (n, m)
        Of norm one.

    Notes
    -----
    Lanczos with thick restarts and full orthogonalisation: one product and O(n (m +
    60)) for each step. As copies of a multiple eigenvalue are easily overlooked, the
    search is repeated, to less accuracy, at right angles to what was found.
    """
    if n <= MAX_DENSE or 2 * m + BASIS > n:
        return _dense(product, m, support)
    rng = check_random_state(random_state)

    def start():
        return torch.as_tensor(rng.uniform(-1.0, 1.0, n), device=support.device)

    values, vectors = _lanczos(product, start() * support, m, tol)
    while True:
        size = float(values.abs().max())
        shift = values - values[-1] + size

        def rest(block, vectors=vectors, shift=shift):
            return product(block) - vectors @ (shift[:, None] * (vectors.T @ block))

        rough = max(tol, min(1e-3, 0.1 * float(values[0] - values[-1]) / size))
        top, _ = _lanczos(rest, start() * support, 1, rough)
        if not float(top[0]) > float(values[-1]) + 10 * tol * size:
            return values, vectors
        _, more = _lanczos(rest, start() * support, m, tol)
        basis = torch.linalg.qr(torch.cat([vectors, more], dim=1)).Q
        values, rotation = torch.linalg.eigh(basis.T @ product(basis))
        values = values.flip(0)[:m]
        vectors = basis @ rotation.flip(1)[:, :m]


def _dense(product, m, support):
    """All pairs; rows that take no part have eigenvalues below all others."""
    matrix = product(torch.diag(support))
    matrix = 0.5 * (matrix + matrix.T) * support
    matrix -= torch.diag((1 - support) * (2 * matrix.abs().sum(dim=1).max() + 1))
    values, vectors = torch.linalg.eigh(matrix)
    return values.flip(0)[:m], vectors.flip(1)[:, :m]


def _lanczos(product, start, m, tol):
    """The m largest pairs, restarted with the best vectors of the basis."""
    size = 2 * m + BASIS
    basis = start.new_zeros((size + 1, len(start)))
    basis[0] = start / start.norm()
    small = start.new_zeros((size, size))
    kept = 0
    for _ in range(MAX_RESTARTS):
        for j in range(kept, size):
            vector = product(basis[j][:, None])[:, 0]
            found = basis[: j + 1]
            weights = found @ vector
            vector = vector - weights @ found
            again = found @ vector  # round-off would let copies creep in
            vector -= again @ found
            weights += again
            small[j, : j + 1] = small[: j + 1, j] = weights
            rest = vector.norm()
            basis[j + 1] = vector / rest
        # A few numbers: faster in memory than on the device.
        values, rotation = torch.linalg.eigh(small.cpu())
        values, rotation = values.flip(0), rotation.flip(1)
        residual = float(rest) * rotation[-1, :m].abs()
        if bool((residual <= tol * values[:m].abs().clamp(min=1e-12)).all()):
            return values[:m].to(start), (rotation[:, :m].T.to(start) @ basis[:size]).T
        kept = m + (size - m) // 2
        basis[:kept] = rotation[:, :kept].T.to(start) @ basis[:size]
        basis[kept] = basis[size].clone()
        small.zero_()
        small[:kept, :kept] = torch.diag(values[:kept])
    raise LinAlgError(
        f"The {m} eigenvectors of {len(start)} rows did not converge to tol={tol:g}; a "
        "graph with more neighbours would help."
    )
