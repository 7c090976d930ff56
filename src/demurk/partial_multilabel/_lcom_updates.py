"""The blocks of PML-LCom as functions of a problem and a state.

The objective, with candidates Y, noise E, compressed labels U, label components V and
predictor (W, b), is

    |Y - E - UV'|^2 + |U - XW' - 1b'|^2 + noise_penalty |E|_1 + reg |W|^2
    + smoothness tr(U'LU) + component_penalty |V|^2,      U, V, E >= 0.

Y has stored entries only, E lives on them, and UV' is never formed elsewhere.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from demurk.graph import affinity, nearest_neighbors
from demurk.linalg._ridge import CenteredRidge
from demurk.partial_multilabel._base import product_on

__all__ = [
    "RULES",
    "Problem",
    "State",
    "objective",
    "similarity_graph",
    "update_noise",
    "update_predictor",
]


@dataclass(frozen=True)
class Problem:
    """What does not change during a fit."""

    candidates: csr_array  # (n, q), ones
    graph: csr_array | None  # (n, n) symmetric similarities; None without smoothness
    degrees: np.ndarray | None  # (n, 1)
    predictor: CenteredRidge
    noise_penalty: float
    smoothness: float
    component_penalty: float = 0.0


@dataclass(frozen=True)
class State:
    """What does."""

    embedding: np.ndarray  # U (n, r)
    components: np.ndarray  # V (q, r)
    noise: np.ndarray  # E on the stored candidates
    coef: np.ndarray  # W (r, d)
    intercept: np.ndarray  # b (r,)
    products: np.ndarray | None = None  # UV' on the stored candidates, if up to date


def similarity_graph(X, n_neighbors, *, method="exact", n_jobs=None):
    """Similarities of near samples, eq. (4): heat kernel, S + S'.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Features.
    n_neighbors : int
        Neighbours k of a sample.
    method, n_jobs : object
        How they are found, see `nearest_neighbors`.

    Returns
    -------
    graph : csr_array of shape (n, n)
        Symmetric weights; neighbours of each other have twice the weight.
    """
    found = nearest_neighbors(X, n_neighbors, method=method, n_jobs=n_jobs)
    distances = found.distances
    width = distances.data[distances.indptr[1:] - 1].mean(dtype=np.float64)
    # exp(-d^2 / (2 width^2)); where all neighbours are duplicates any width will do.
    bandwidth = float(np.sqrt(2) * width) if width > 0 else 1.0
    return 2 * affinity(found, weights="heat", symmetrize="mean", bandwidth=bandwidth)


def _cleaned(problem, state):
    """Y - E."""
    Y = problem.candidates
    return csr_array((Y.data - state.noise, Y.indices, Y.indptr), shape=Y.shape)


def _scaled(values, numerator, denominator):
    """values * numerator / denominator; unchanged where the denominator is zero.

    It is zero only for an entry that is zero, or that no term sees.
    """
    ratio = np.ones_like(values)
    np.divide(numerator, denominator, out=ratio, where=denominator > 0)
    ratio *= values
    return ratio


def update_embedding(problem, state):
    """Multiplicative step for U that never raises the objective.

    The Laplacian is L = D - S. Adding ``smoothness D U`` above and below makes S + D,
    which is positive semi-definite, the concave part of the majoriser.
    """
    U, V = state.embedding, state.components
    predicted = problem.predictor.fitted(state.coef, state.intercept)
    numerator = _cleaned(problem, state) @ V
    numerator += np.maximum(predicted, 0)
    denominator = U @ (V.T @ V)
    denominator += U
    denominator += np.maximum(-predicted, 0)
    if problem.graph is not None:
        held = problem.smoothness * problem.degrees * U
        numerator += problem.smoothness * (problem.graph @ U) + held
        denominator += 2 * held
    U = _scaled(U, numerator, denominator)
    return replace(state, embedding=U, products=None)


def update_components(problem, state):
    """Multiplicative step for V that never raises the objective."""
    U, V = state.embedding, state.components
    numerator = _cleaned(problem, state).T @ U
    denominator = V @ (U.T @ U) + problem.component_penalty * V
    return replace(state, components=_scaled(V, numerator, denominator), products=None)


def update_embedding_literal(problem, state):
    """Eq. (12) as printed: LU itself is split into its signs. It can diverge."""
    U, V = state.embedding, state.components
    predicted = problem.predictor.fitted(state.coef, state.intercept)
    pull = np.zeros_like(U)
    if problem.graph is not None:
        pull = problem.smoothness * (problem.degrees * U - problem.graph @ U)
    Y, noise = problem.candidates, _noise_matrix(problem, state)
    numerator = Y @ V + np.maximum(predicted, 0) + np.maximum(-pull, 0)
    denominator = U @ (V.T @ V) + noise @ V + U
    denominator += np.maximum(-predicted, 0) + np.maximum(pull, 0)
    U = _scaled(U, numerator, denominator)
    return replace(state, embedding=U, products=None)


def update_components_literal(problem, state):
    """Eq. (15) as printed."""
    U, V = state.embedding, state.components
    numerator = problem.candidates.T @ U
    denominator = V @ (U.T @ U) + _noise_matrix(problem, state).T @ U
    denominator += problem.component_penalty * V
    return replace(state, components=_scaled(V, numerator, denominator), products=None)


def _noise_matrix(problem, state):
    Y = problem.candidates
    return csr_array((state.noise, Y.indices, Y.indptr), shape=Y.shape)


RULES = {
    "safe": (update_embedding, update_components),
    "literal": (update_embedding_literal, update_components_literal),
}


def update_noise(problem, state):
    """Exact minimiser for E. It is zero off the candidates, and at most 1 on them."""
    products = product_on(problem.candidates, state.embedding, state.components)
    noise = np.maximum(1 - products - problem.noise_penalty / 2, 0)
    return replace(state, noise=noise, products=products)


def update_predictor(problem, state):
    """Exact ridge regression of U on X."""
    coef, intercept = problem.predictor.solve(state.embedding, start=state.coef)
    return replace(state, coef=coef, intercept=intercept)


def objective(problem, state):
    """Value of the objective, in O((nnz + n d + n k + (n + q) r) r)."""
    U, V, E = state.embedding, state.components, state.noise
    products = state.products
    if products is None:
        products = product_on(problem.candidates, U, V)
    kept = 1 - E
    # |UV'|^2 needs no entry of UV'; the candidates are then put right.
    fit = np.vdot(U.T @ U, V.T @ V) + np.sum(kept * (kept - 2 * products))
    misfit = U - problem.predictor.fitted(state.coef, state.intercept)
    value = fit + np.vdot(misfit, misfit) + problem.noise_penalty * E.sum()
    value += problem.predictor.penalty * np.vdot(state.coef, state.coef)
    value += problem.component_penalty * np.vdot(V, V)
    if problem.graph is not None:
        smooth = np.vdot(U, problem.degrees * U) - np.vdot(U, problem.graph @ U)
        value += problem.smoothness * smooth
    return float(value)
