"""Extreme eigenvectors of graphs, and the sign of vectors."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh, qr
from scipy.sparse import csc_array, csr_array, eye_array, issparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import (
    ArpackNoConvergence,
    LinearOperator,
    aslinearoperator,
    eigsh,
    splu,
)
from sklearn.utils import check_random_state

Floats = NDArray[np.float64]
Pairs = tuple[Floats, Floats]  # eigenvalues, eigenvectors in columns

SOLVERS = ("auto", "dense", "arpack", "shift-invert")
# Iterations win from about 200 rows on, but only a dense solver cannot miss a pair.
MAX_DENSE = 500
# Restarts of ARPACK, about ten products each: where a factorisation can take over,
# it is the cheaper way for graphs that need more.
RESTARTS = 3_000
RESTARTS_BEFORE_FACTORING = 300
# Since scipy 1.17, ARPACK draws its later start vectors from an unseeded generator.
SEEDED = "rng" in signature(eigsh).parameters


def graph_eigenvectors(
    S: Any,
    n_components: int,
    *,
    which: str = "LA",
    random_state: int | np.random.RandomState | None = 0,
    tol: float = 1e-8,
    solver: str = "auto",
) -> Pairs:
    """Compute extreme eigenpairs of a symmetric matrix such as a normalised graph.

    Multiple eigenvalues are found as often as they occur. Each connected component
    of a sparse matrix is solved alone, so that the eigenvectors of a graph in several
    pieces live on one piece each.

    Parameters
    ----------
    S : {sparse matrix, LinearOperator, ndarray} of shape (n, n)
        Symmetric matrix; for graphs, the normalised affinity ``D^-1/2 W D^-1/2``.
    n_components : int
        Number m of eigenpairs.
    which : {"LA", "SA"}, default="LA"
        Largest or smallest eigenvalues.
    random_state : int, RandomState instance or None, default=0
        Determines the start vectors of the iterations.
    tol : float, default=1e-8
        Residual of an eigenpair, relative to its eigenvalue, at which ARPACK stops.
    solver : {"auto", "dense", "arpack", "shift-invert"}, default="auto"
        "dense" makes an (n, n) array; "arpack" takes products only; "shift-invert"
        factorises a sparse matrix, which pays for graphs of low intrinsic dimension,
        whose eigenvalues lie close together. "auto" takes "dense" up to 500 rows (or
        when half of the pairs are wanted), else "arpack", and, for a sparse matrix,
        "shift-invert" should "arpack" not converge in some 3000 products.

    Returns
    -------
    eigenvalues : ndarray of shape (m,)
        The most extreme one first: decreasing for "LA", increasing for "SA".
    vectors : ndarray of shape (n, m)
        Eigenvectors of norm one. The entry of largest magnitude is positive.

    Notes
    -----
    ARPACK costs one product with S and O(n m) per step, and O(n m) of memory. Since it
    easily overlooks copies of a multiple eigenvalue, the search is repeated, to less
    accuracy, at right angles to what was found, which adds some 20 %.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from demurk.linalg import graph_eigenvectors
    >>> path = csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> eigenvalues, vectors = graph_eigenvectors(path, 1)
    >>> eigenvalues.round(4)
    array([1.4142])
    >>> vectors.round(4).ravel()
    array([0.5   , 0.7071, 0.5   ])
    """
    S, m = _check_problem(S, n_components, which, solver)
    if which == "SA":
        S = -S
    rng = check_random_state(random_state)

    def solve(part: Any, n_pairs: int) -> Pairs:
        return _solve(part, n_pairs, rng, tol, solver)

    eigenvalues, vectors = (
        _solve_by_component(S, m, solve) if issparse(S) else solve(S, m)
    )
    residual = np.linalg.norm(S @ vectors - vectors * eigenvalues, axis=0).max()
    if not residual <= max(1e-6, 100.0 * tol) * np.abs(eigenvalues).max():
        raise LinAlgError(
            f"The eigenvectors leave a residual of {residual:.2g}; S should be "
            "symmetric and finite."
        )
    vectors = np.ascontiguousarray(flip_signs(vectors.T).T)
    return (eigenvalues if which == "LA" else -eigenvalues), vectors


def flip_signs(components: ArrayLike) -> NDArray[Any]:
    """Make the entry of largest magnitude of each row positive.

    Parameters
    ----------
    components : array-like of shape (d, D)
        Vectors in rows, each with an arbitrary sign.

    Returns
    -------
    flipped : ndarray of shape (d, D)
        A copy. Among entries of equal magnitude, up to round-off, the first decides.

    Examples
    --------
    >>> from demurk.linalg import flip_signs
    >>> flip_signs([[0.5, -2.0], [1.0, -1.0]])
    array([[-0.5,  2. ],
           [ 1. , -1. ]])
    """
    rows = np.asarray(components)
    if rows.ndim != 2:
        raise ValueError(f"components has shape {rows.shape}; it should be a table.")
    if rows.size == 0:
        return rows.copy()
    size = np.abs(rows)
    eps = np.finfo(np.result_type(rows.dtype, np.float32)).eps
    ties = size >= (1.0 - np.sqrt(eps)) * size.max(axis=1, keepdims=True)
    deciding = np.take_along_axis(rows, ties.argmax(axis=1)[:, None], axis=1)
    return np.where(deciding < 0, -rows, rows) + 0  # no negative zeros


def _check_problem(
    S: Any, n_components: int, which: str, solver: str
) -> tuple[Any, int]:
    if issparse(S):
        S = csr_array(S).astype(np.float64, copy=False)
        if not np.isfinite(S.data).all():
            entry = int(np.argmin(np.isfinite(S.data)))
            row = int(np.searchsorted(S.indptr, entry, side="right")) - 1
            raise ValueError(f"Row {row} of S holds a value that is not finite.")
    elif isinstance(S, np.ndarray):
        S = S.astype(np.float64, copy=False)
    else:
        S = aslinearoperator(S)
    if S.ndim != 2 or S.shape[0] != S.shape[1]:
        raise ValueError(f"S has shape {S.shape}; it should be square.")
    if not 1 <= n_components <= S.shape[0]:
        raise ValueError(
            f"n_components is {n_components}; it should be from 1 to {S.shape[0]}, "
            "the number of rows of S."
        )
    if which not in ("LA", "SA"):
        raise ValueError(f'which is {which!r}; it should be "LA" or "SA".')
    if solver not in SOLVERS:
        raise ValueError(f"solver is {solver!r}; it should be one of {SOLVERS}.")
    if solver == "shift-invert" and not issparse(S):
        raise TypeError(f"Shift-invert needs a sparse matrix, not {type(S).__name__}.")
    return S, int(n_components)


def _solve_by_component(
    S: csr_array, m: int, solve: Callable[[csr_array, int], Pairs]
) -> Pairs:
    """Eigenpairs of a block-diagonal matrix from those of its blocks."""
    n_parts, labels = connected_components(S, directed=False)
    if n_parts == 1:
        return solve(S, m)
    order = np.argsort(labels, kind="stable")
    S = S[order][:, order]
    ends = np.cumsum(np.bincount(labels))
    diagonal = S.diagonal()
    found: list[tuple[slice, Floats]] = []  # where a vector lives, and the vector
    values: list[float] = []
    for start, end in zip(np.r_[0, ends], ends):
        rows = slice(int(start), int(end))
        if end - start == 1:
            part_values, part_vectors = diagonal[rows], np.ones((1, 1))
        else:
            part_values, part_vectors = solve(S[rows, rows], min(m, int(end - start)))
        values.extend(part_values.tolist())
        found.extend((rows, vector) for vector in part_vectors.T)
    # Equal up to round-off: the piece with the lowest row goes first.
    scale = max(float(np.abs(values).max()), np.finfo(np.float64).tiny)
    best = np.argsort(-np.round(np.array(values) / scale, 12), kind="stable")[:m]
    vectors = np.zeros((S.shape[0], m))
    for column, k in enumerate(best):
        rows, vector = found[k]
        vectors[order[rows], column] = vector
    return np.array(values)[best], vectors


def _solve(
    S: Any, m: int, rng: np.random.RandomState, tol: float, solver: str
) -> Pairs:
    """The m largest eigenpairs of one block, by decreasing eigenvalue."""
    n = S.shape[0]
    if solver == "auto":
        solver = "dense" if n <= MAX_DENSE or 2 * m > n else "arpack"
        factoring = issparse(S) and solver == "arpack"
    else:
        factoring = False
    if solver == "dense" or m >= n - 1:  # ARPACK cannot give all pairs
        return _dense(S, m)
    if solver == "shift-invert":
        return _shift_invert(S, m, rng, tol)
    try:
        restarts = RESTARTS_BEFORE_FACTORING if factoring else RESTARTS
        return _lanczos(aslinearoperator(S), m, rng, tol, restarts)
    except ArpackNoConvergence as error:
        if factoring:
            return _shift_invert(S, m, rng, tol)
        raise LinAlgError(
            f"The {m} eigenvectors of {n} rows did not converge to tol={tol:g}; a "
            "larger tol, or a graph with more neighbours, would help."
        ) from error


def _dense(S: Any, m: int) -> Pairs:
    n = S.shape[0]
    if issparse(S):
        matrix = S.toarray()
    else:
        matrix = S if isinstance(S, np.ndarray) else S @ np.eye(n)
    values, vectors = eigh(matrix, subset_by_index=[n - m, n - 1])
    return values[::-1], vectors[:, ::-1]


def _lanczos(
    S: LinearOperator, m: int, rng: np.random.RandomState, tol: float, restarts: int
) -> Pairs:
    """ARPACK, and again beside what it found until nothing larger turns up."""
    values, vectors = _arpack(S, m, rng, tol, restarts)
    while True:
        scale = float(np.abs(values).max())
        rest = _without(S, values, vectors)
        spread = float(values[0] - values[-1]) / scale if scale else 0.0
        rough = max(tol, min(1e-3, 0.1 * spread))
        top = _arpack(rest, 1, rng, rough, restarts)[0][0]
        if not top > values[-1] + 10.0 * tol * scale:
            return values, vectors
        more = _arpack(rest, m, rng, tol, restarts)[1]
        basis = qr(np.hstack([vectors, more]), mode="economic")[0]
        values, rotation = eigh(basis.T @ (S @ basis))
        values, vectors = values[: -m - 1 : -1], basis @ rotation[:, : -m - 1 : -1]


def _arpack(
    S: LinearOperator, m: int, rng: np.random.RandomState, tol: float, restarts: int
) -> Pairs:
    start = rng.uniform(-1.0, 1.0, S.shape[0])
    seed = rng.randint(2**31 - 1)
    options = {"rng": np.random.default_rng(seed)} if SEEDED else {}
    values, vectors = eigsh(
        S, m, which="LA", v0=start, tol=tol, maxiter=restarts, **options
    )
    order = np.argsort(-values, kind="stable")
    return values[order], vectors[:, order]


def _without(S: LinearOperator, values: Floats, vectors: Floats) -> LinearOperator:
    """S with the given eigenvalues moved below the smallest of them."""
    shift = values - (values[-1] - np.abs(values).max())

    def product(v: Floats) -> Floats:
        v = v.ravel()
        return S @ v - vectors @ (shift * (vectors.T @ v))

    return LinearOperator(S.shape, matvec=product, dtype=np.float64)


def _shift_invert(
    S: csr_array, m: int, rng: np.random.RandomState, tol: float
) -> Pairs:
    """The m largest pairs from the inverse of ``sigma I - S``, sigma above them all."""
    bound = float(abs(S).sum(axis=1).max())
    try:
        top = float(_arpack(aslinearoperator(S), 1, rng, 1e-4, RESTARTS)[0][0])
    except ArpackNoConvergence:
        top = bound
    distance = 1e-5 * bound
    while True:
        sigma = top + distance
        factors = splu(
            csc_array(sigma * eye_array(S.shape[0]) - S),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        # By Sylvester's law, a negative pivot is an eigenvalue above sigma.
        if (factors.U.diagonal() > 0.0).all():
            break
        distance *= 10.0
    inverse = LinearOperator(S.shape, matvec=factors.solve, dtype=np.float64)
    values, vectors = _lanczos(inverse, m, rng, tol, RESTARTS)
    return sigma - 1.0 / values, vectors
