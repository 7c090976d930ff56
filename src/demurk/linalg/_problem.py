"""What a linear reducer maximises, stated apart from how it is solved."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import LinearOperator

from demurk.linalg._eigen import graph_eigenvectors
from demurk.linalg._metric import (
    MAX_PRIMAL,
    CholeskyMetric,
    Metric,
    Pairs,
    factor_metric,
)
from demurk.linalg._moments import Moments
from demurk.linalg._projection import Projection, check_dependence, finish, leading
from demurk.linalg._reg import ridge_of
from demurk.linalg._rows import CenteredRows

__all__ = ["Problem", "Sums", "solve_rows", "solve_sums"]

Floats = NDArray[np.float64]

RANK_TOL = 1e-10


@dataclass(frozen=True, eq=False)
class Problem:
    """Directions that maximise ``tr((P'BP)^-1 P'AP)``.

    Here ``A = M M'`` for ``M = Xc'T C`` and ``B = Xc' (Omega - U U') Xc + reg I``, Xc
    being the features less their weighted mean and ``Omega = scatter diag(weights) +
    omega``. It may state all rows or those of a chunk; what needs the sums over all
    chunks is a function of them.

    Attributes
    ----------
    targets : ndarray of shape (n, r)
        T, whose weights, if any, are in it already.
    weights : ndarray of shape (n,), default=None
        Weights of the rows in the mean and the scatter; one each by default.
    scatter : float, default=0.0
        How much of the scatter is in the metric.
    omega : sparse matrix of shape (n, n), default=None
        A graph over the rows.
    removed : ndarray of shape (n, u), default=None
        U, what is taken off the metric.
    reg : float or str, default=1.0
        The ridge; "rel:x" stands for x times the mean diagonal of the scatter.
    combine : callable, default=None
        Gives C of shape (r, q) from the :class:`Sums`; the identity by default.
    spread : callable, default=None
        Gives a share s from the sums: A becomes ``(1 - s) M M' + s Xc'Xc``, B the
        identity.
    within : bool, default=False
        Whether the directions have unit length in B - A, the scatter within classes.
    limit : int, default=None
        Directions to keep where the user does not say.
    """

    targets: Any
    weights: Floats | None = None
    scatter: float = 0.0
    omega: Any = None
    removed: Floats | None = None
    reg: float | str = 1.0
    combine: "Callable[[Sums], Floats] | None" = None
    spread: "Callable[[Sums], float] | None" = None
    within: bool = False
    limit: int | None = None

    @property
    def needs_scatter(self) -> bool:
        """Whether the scatter of the features matters."""
        relative = isinstance(self.reg, str)
        return self.scatter > 0.0 or self.spread is not None or relative

    def _full_omega(self) -> Any:
        """Omega as a number, a diagonal or a sparse matrix."""
        if self.omega is not None:
            ones = np.ones(self.omega.shape[0])
            weights = ones if self.weights is None else self.weights
            return csr_array(diags_array(self.scatter * weights) + self.omega)
        if self.weights is None or self.scatter == 0.0:
            return float(self.scatter)
        return self.scatter * self.weights


class Sums:
    """What a problem needs to know of its rows, added up over chunks.

    Parameters
    ----------
    scatter : bool
        Whether to add up the (D, D) scatter of the features.

    See Also
    --------
    Problem : What is summed up.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.linalg import Problem, Sums
    >>> X, T = np.array([[0.0], [2.0]]), np.array([[-1.0], [1.0]])
    >>> sums = Sums(scatter=True).add(X, Problem(T))
    >>> sums.mean, sums.cross, sums.scatter
    (array([1.]), array([[2.]]), array([[2.]]))
    """

    def __init__(self, *, scatter: bool) -> None:
        self.joint = Moments(scatter=scatter)
        self.features = self.joint
        self.rows: CenteredRows | None = None  # all of them, if they are at hand
        self.weights: Any = 1.0

    def add(self, X: Any, problem: Problem) -> "Sums":
        """Add the rows of one chunk.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (r, D)
            Features of the chunk.
        problem : Problem
            Its statement.

        Returns
        -------
        self : Sums
            With the rows added.
        """
        if problem.weights is None:
            self.joint.update(X, problem.targets)
            return self
        if self.features is self.joint:
            self.features = Moments(scatter=self.joint.scatter is not None)
            self.joint = Moments()
        self.joint.update(X, problem.targets)
        nothing = np.empty((X.shape[0], 0))
        self.features.update(X, nothing, problem.weights)
        return self

    @property
    def mean(self) -> Floats:
        """Weighted mean of the features."""
        return self.features.mean_x

    @property
    def scatter(self) -> Floats | None:
        """Weighted scatter of the features."""
        return self.features.scatter

    @property
    def total(self) -> float:
        """Trace of the weighted scatter."""
        if self.scatter is not None:
            return float(np.trace(self.scatter))
        assert self.rows is not None
        return float(self.rows.squares(self.weights).sum())

    @property
    def totals(self) -> Floats:
        """Sums of the targets."""
        return self.joint.weight * self.joint.mean_t

    @property
    def target_scatter(self) -> Floats:
        """Products of all pairs of centred targets."""
        return self.joint.target_scatter

    @property
    def cross(self) -> Floats:
        """``Xc'T``."""
        shift = self.joint.mean_x - self.mean
        return self.joint.cross + np.multiply.outer(shift, self.totals)


def solve_rows(
    problem: Problem, X: Any, n_components: int | None = None
) -> tuple[Projection, Floats]:
    """Directions and mean of a problem stated for all rows of X.

    Sums are enough where the scatter is small and has no graph in it; else the metric
    is factored in the form that suits its size.
    """
    n, d = X.shape
    small = d <= min(n, MAX_PRIMAL) and problem.omega is None
    sums = Sums(scatter=small and problem.needs_scatter).add(X, problem)
    sums.rows = CenteredRows(X, sums.mean)
    sums.weights = 1.0 if problem.weights is None else problem.weights
    return solve_sums(problem, sums, X.dtype, n_components)


def solve_sums(
    problem: Problem, sums: Sums, dtype: Any, n_components: int | None = None
) -> tuple[Projection, Floats]:
    """The same from sums over chunks, of which `problem` states any one."""
    if problem.spread is not None:
        basis, eigenvalues = _spread(problem.spread, sums, n_components)
        return finish(basis, eigenvalues, n_components, "metric", dtype), sums.mean
    rows, T = sums.rows, problem.targets
    if problem.combine is None:
        cross = sums.cross
    else:
        C = problem.combine(sums)
        cross = sums.cross @ C
        T = None if rows is None else T @ C
    if rows is not None:
        check_dependence(cross, rows.raw, T)
    metric = factor_metric(
        rows,
        problem._full_omega(),
        ridge_of(problem.reg, cross.shape[0], lambda: sums.total),
        scatter=None if sums.scatter is None else problem.scatter * sums.scatter,
    )
    wanted = n_components or problem.limit
    if problem.removed is None:
        basis, eigenvalues = leading(metric.leading(T, cross), wanted, RANK_TOL)
    else:
        basis, eigenvalues = _downdated(metric, T, problem.removed, wanted)
    if problem.within:
        basis, eigenvalues = _within(basis, eigenvalues)
    directions = metric.directions(basis)
    return finish(directions, eigenvalues, n_components, "metric", dtype), sums.mean


def _downdated(
    metric: Metric, T: Floats, removed: Floats, n_components: int | None
) -> Pairs:
    """Pairs in the metric less ``Xc'U U'Xc``.

    All solutions lie in the span of those for T and U together, in whose coordinates
    the metric is the identity.
    """
    both = metric.leading(np.hstack([T, removed]))
    # The span must hold weak directions too; the second solve judges them.
    basis, _ = leading(both, None, 1e-16)
    rows = metric.project(basis)
    thin = rows.T @ removed
    inner = CholeskyMetric(None, None, 0.0, np.eye(basis.shape[1]) - thin @ thin.T)
    found = inner.leading(None, rows.T @ T)
    small, eigenvalues = leading(found, n_components, RANK_TOL)
    return basis @ inner.directions(small), eigenvalues


def _within(basis: Floats, eigenvalues: Floats) -> Pairs:
    """From unit total scatter to unit scatter within classes."""
    rest = 1 - eigenvalues
    if rest.min() < 1e-12:
        raise ValueError(
            "The within-class scatter is singular: some direction separates the labels "
            "perfectly; a larger reg would make it positive definite."
        )
    return basis / np.sqrt(rest), eigenvalues / rest


def _spread(
    spread: Callable[[Sums], float], sums: Sums, n_components: int | None
) -> Pairs:
    """Eigenvectors of ``(1 - s) M M' + s Xc'Xc``."""
    M, rows = sums.cross, sums.rows
    if not sums.total > 1e-28 * sums.features.weight * np.sum(sums.mean**2):
        raise ValueError(
            "There is no direction to find: the labelled rows of X do not differ."
        )
    share = spread(sums)
    criterion: Any
    if sums.scatter is not None:
        criterion = share * sums.scatter + (1 - share) * (M @ M.T)
    else:
        assert rows is not None

        def product(V: Floats) -> Floats:
            return share * rows.transposed(rows @ V) + (1 - share) * (M @ (M.T @ V))

        shape = (M.shape[0], M.shape[0])
        criterion = LinearOperator(
            shape, matvec=product, matmat=product, dtype=np.float64
        )
    n_varying = np.count_nonzero(sums.target_scatter.diagonal() > 0)
    wanted = min(n_components or max(n_varying, 1), M.shape[0])
    eigenvalues, vectors = graph_eigenvectors(criterion, wanted)
    return leading((vectors, eigenvalues), None, RANK_TOL)
