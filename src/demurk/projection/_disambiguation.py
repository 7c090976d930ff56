"""Reduction in turns with disambiguation, shared by the partial-label reducers.

A method states a metric B and targets T made of the present confidences. In turns,
the directions that maximise ``tr((P'BP)^-1 P'Xc'T T'Xc P)`` are found, and each sample
takes over the confidences of its neighbours in the reduced space. The metric does not
depend on the confidences: it is factored once.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.linalg import (
    LinAlgError,
    cholesky,
    eigh,
    eigvalsh,
    qr,
    solve_triangular,
    svd,
)
from scipy.sparse import csr_array, issparse
from sklearn.exceptions import ConvergenceWarning

from demurk.graph import nearest_neighbors
from demurk.linalg import block_cg, flip_signs
from demurk.linalg._rows import CenteredRows
from demurk.projection._base import LinearReducer, column_means
from demurk.utils._compat import CallbackSupportMixin
from demurk.utils._progress import fit_progress

__all__ = ["CandidateReducer", "centered_rows", "factor_metric", "update_confidences"]

EPS = np.finfo(np.float64).eps
# A sparse X gets a dense matrix of its shorter side up to this length.
MAX_DENSE = 2000
# Subspaces that still turn by more than this at the last iteration deserve a warning.
UNSETTLED = 0.1


def centered_rows(X):
    """Rows less their mean; a dense X is copied, since it is used in every turn."""
    X = csr_array(X) if issparse(X) else X
    return CenteredRows(X, column_means(X), copy=True)


class Metric:
    """The metric ``B = weight Xc'Xc + ridge I``.

    A `basis` holds directions in its columns, orthonormal in the metric, in
    coordinates that each kind of metric chooses for itself.
    """

    rank_tol = 1e-10

    def __init__(self, rows, weight, ridge):
        self.rows, self.weight, self.ridge = rows, weight, ridge
        # Bounds the sum of squares of the rows in coordinates where B is the identity.
        with np.errstate(divide="ignore", invalid="ignore"):
            bounds = np.array([rows.squares().sum(), min(rows.shape)]) / (ridge, weight)
        self.size = np.nanmin(bounds)

    def leading(self, targets):
        """All directions, by decreasing eigenvalue."""
        U, s, _ = svd(self.whitened(targets), full_matrices=False)
        return U, s**2

    def inner(self, a, b):
        """Inner products of the columns of two bases, in the metric."""
        return a.T @ b


class CholeskyMetric(Metric):
    """``B = L L'`` with a (d, d) factor; coordinates are ``L'p``."""

    def __init__(self, rows, weight, ridge):
        super().__init__(rows, weight, ridge)
        B = weight * rows.scatter()
        B.flat[:: B.shape[0] + 1] += ridge
        self.L = _cholesky(B)

    def whitened(self, targets):
        return solve_triangular(self.L, self.rows.transposed(targets), lower=True)

    def directions(self, basis):
        return solve_triangular(self.L, basis, lower=True, trans="T")

    def project(self, basis):
        return self.rows @ self.directions(basis)


class SpectralMetric(Metric):
    """Singular vectors of the rows, from their SVD or from their Gram matrix."""

    def __init__(self, rows, weight, ridge, *, gram):
        super().__init__(rows, weight, ridge)
        if gram:
            e, W = eigh(rows.gram())
            kept = e > 1e-12 * max(e[-1], 0)
            W, s = W[:, kept], np.sqrt(e[kept])
        else:
            if rows.sparse:
                raise ValueError(
                    "solver='svd' needs a dense X; choose 'auto', 'gram' or 'cg' for "
                    "a sparse one."
                )
            W, s, Rt = svd(rows.X, full_matrices=False)
            kept = s > 1e-10 * s[0]
            W, s = W[:, kept], s[kept]
        shrink = 1 / np.sqrt(weight * s**2 + ridge)
        self.coordinates = W * (s * shrink)  # of the rows, (m, r)
        self.s = s
        self.back = None if gram else Rt[kept].T * shrink

    def whitened(self, targets):
        return self.coordinates.T @ targets

    def project(self, basis):
        return self.coordinates @ basis

    def directions(self, basis):
        if self.back is not None:
            return self.back @ basis
        # The right singular vectors are Xc'W / s; they are not kept.
        weights = self.coordinates @ (basis / self.s[:, None] ** 2)
        return self.rows.transposed(weights)


class IterativeMetric(Metric):
    """Conjugate gradients from the last solution; coordinates are those of X."""

    # The solutions carry the errors of `tol`, of which weak directions consist.
    rank_tol = 1e-6
    tol = 1e-10

    def __init__(self, rows, weight, ridge):
        super().__init__(rows, weight, ridge)
        squares = weight * rows.squares()
        # A preconditioner must be positive; constant features leave nothing here.
        self.diagonal = np.maximum(squares, EPS * squares.max()) + ridge
        self.solution = None

    def __matmul__(self, V):
        return self.weight * self.rows.transposed(self.rows @ V) + self.ridge * V

    def leading(self, targets):
        cross = self.rows.transposed(targets)
        self.solution, _ = block_cg(
            self, cross, diagonal=self.diagonal, start=self.solution, tol=self.tol
        )
        # All directions lie in the span of B^-1 Xc'T; the problem is solved again
        # there, so that they are orthonormal in the metric to round-off.
        norms = np.linalg.norm(self.solution, axis=0)
        used = norms > 0
        Q, R, _ = qr(
            self.solution[:, used] / norms[used], mode="economic", pivoting=True
        )
        size = np.abs(R.diagonal())
        Q = Q[:, size > 1e-13 * size.max(initial=0)]
        L = _cholesky(self.inner(Q, Q))
        U, s, _ = svd(solve_triangular(L, Q.T @ cross, lower=True), full_matrices=False)
        return Q @ solve_triangular(L, U, lower=True, trans="T"), s**2

    def inner(self, a, b):
        product = self.rows @ a
        other = product if a is b else self.rows @ b
        return self.weight * (product.T @ other) + self.ridge * (a.T @ b)

    def directions(self, basis):
        return basis

    def project(self, basis):
        return self.rows @ basis


def _cholesky(B):
    """Lower factor; LinAlgError where a pivot is lost to round-off."""
    L = cholesky(B, lower=True)
    if (L.diagonal() ** 2 <= 1e-12 * B.diagonal()).any():
        raise LinAlgError("singular to working precision")
    return L


def factor_metric(rows, weight, ridge, solver="auto"):
    """Prepare ``weight Xc'Xc + ridge I`` by the cheapest factor that X offers.

    "auto" takes "cholesky" when d <= m (for a sparse X, d <= 2000 too), else "svd" for
    a dense X, "gram" for a sparse one of at most 2000 rows, and "cg" where both sides
    are long. A dense metric too close to singular for "cholesky" gets "svd".
    """
    auto = solver == "auto"
    if auto:
        m, d = rows.shape
        if d <= m and (d <= MAX_DENSE or not rows.sparse):
            solver = "cholesky"
        elif not rows.sparse:
            solver = "svd"
        else:
            solver = "gram" if m < d and m <= MAX_DENSE else "cg"
    if solver == "cg":
        return IterativeMetric(rows, weight, ridge)
    if solver == "cholesky":
        try:
            return CholeskyMetric(rows, weight, ridge)
        except LinAlgError as error:
            if not auto or rows.sparse:
                raise ValueError(
                    "The features are collinear and the metric has no ridge to speak "
                    "of; give it one, or choose the solver 'svd' for a dense X."
                ) from error
    return SpectralMetric(rows, weight, ridge, gram=solver == "gram")


def update_confidences(confidences, candidates, graph, self_weight):
    """Let the neighbours vote on the candidates of each sample, all at once.

    `graph` holds ones at the neighbours of each row; `self_weight` is the weight of
    the present confidences beside one neighbour. Rows of the result sum to one; a row
    whose candidates get no vote at all is kept.
    """
    votes = (self_weight * confidences + graph @ confidences) * candidates
    total = votes.sum(axis=1, keepdims=True)
    kept = total == 0
    return np.where(kept, confidences, votes / np.where(kept, 1, total))


@dataclass(frozen=True)
class Step:
    """Where the turns stand after one iteration."""

    basis: np.ndarray  # kept directions in the coordinates of the metric
    lengths: np.ndarray  # their lengths in the metric
    eigenvalues: np.ndarray  # as the method reports them
    ratio: np.ndarray  # their shares of the sum over all directions
    rank: int  # directions there are
    spread: float  # root mean square of the projected samples
    confidences: np.ndarray
    progress: tuple  # sine of the largest angle, largest change, directions kept


class CandidateReducer(CallbackSupportMixin, LinearReducer):
    """Base of the reducers that disambiguate candidate sets as they go.

    A method states its targets, and how eigenvalues are reported and make lengths. It
    has the parameters `n_components`, `n_neighbors`, `max_iter` and `tol`.
    """

    _label_kind = "candidates"

    def _targets(self, confidences):
        raise NotImplementedError

    def _lengths(self, eigenvalues):
        """Reported eigenvalues, and the lengths of the directions in the metric."""
        return eigenvalues, np.ones_like(eigenvalues)

    def _n_kept(self, eigenvalues, rank):
        """Directions kept, when `n_components` does not say so."""
        return rank

    def _output_scale(self, step):
        return 1.0

    def _alternate(self, X, y, labels, metric, *, self_weight=1.0, n_jobs=None):
        """Find directions and disambiguate in turns, and set what was learned."""
        candidates = (labels.values > 0) | ~labels.observed
        confidences = candidates / candidates.sum(axis=1, keepdims=True)
        rank_tol = 1e-6 if X.dtype == np.float32 else metric.rank_tol
        self.classes_ = labels.classes

        def vote(Z, confidences):
            graph = nearest_neighbors(Z, self.n_neighbors, n_jobs=n_jobs).connectivity
            return update_confidences(confidences, candidates, graph, self_weight)

        step, history, stopped = None, [], False
        with fit_progress(self, self.max_iter, X, y) as stage:
            while not stopped and len(history) < self.max_iter:
                with stage("iteration") as done:
                    found = self._find(metric, confidences, rank_tol)
                    if found is None:
                        stopped = _no_dependence(step)
                        break
                    step = self._advance(metric, found, step, confidences, vote)
                    confidences = step.confidences
                    history.append(step.progress)
                    state = step, history, metric, X.dtype
                    stopped = done(lambda state=state: self._learned(*state))
                stopped = stopped or step.progress[0] <= self.tol
            for name, value in self._learned(step, history, metric, X.dtype).items():
                setattr(self, name, value)
        self._warn(step, stopped)
        return self

    def _find(self, metric, confidences, rank_tol):
        """Directions with their eigenvalues and rank, None without dependence."""
        spread = confidences - confidences.mean(axis=0)
        if np.linalg.norm(spread) <= 1e-8 * np.linalg.norm(confidences):
            return None
        targets = self._targets(confidences)
        basis, eigenvalues = metric.leading(targets)
        floor = (64 * EPS) ** 2 * metric.size * np.linalg.norm(targets) ** 2
        if eigenvalues.size == 0 or not eigenvalues[0] > floor:
            return None
        return (
            basis,
            eigenvalues,
            np.count_nonzero(eigenvalues > rank_tol * eigenvalues[0]),
        )

    def _advance(self, metric, found, previous, confidences, vote):
        """Choose how many directions to keep, project, and let neighbours vote."""
        basis, eigenvalues, rank = found
        if self.n_components is None:
            n_kept = self._n_kept(eigenvalues, rank)
        else:
            n_kept = min(self.n_components, rank)
        basis = basis[:, :n_kept]
        reported, lengths = self._lengths(eigenvalues)
        lengths = lengths[:n_kept]
        Z = metric.project(basis * lengths)
        updated = vote(Z, confidences)
        change = np.abs(updated - confidences).max()
        return Step(
            basis,
            lengths,
            eigenvalues=reported[:n_kept],
            ratio=reported[:n_kept] / reported.sum(),
            rank=rank,
            spread=np.sqrt(np.mean(Z**2)),
            confidences=updated,
            progress=(_sine(metric, basis, previous), change, n_kept),
        )

    def _learned(self, step, history, metric, dtype):
        """Fitted attributes after some iteration."""
        scale = self._output_scale(step)
        directions = metric.directions(step.basis * (scale * step.lengths))
        components = flip_signs(np.ascontiguousarray(directions.T))
        return {
            "components_": components.astype(dtype, copy=False),
            "mean_": metric.rows.mean.astype(dtype, copy=False),
            "eigenvalues_": step.eigenvalues,
            "explained_dependence_ratio_": step.ratio,
            "n_components_": len(components),
            "label_distributions_": step.confidences,
            "labels_": self.classes_[step.confidences.argmax(axis=1)],
            "convergence_": np.array(history, dtype=np.float64),
            "n_iter_": len(history),
        }

    def _warn(self, step, stopped):
        if self.n_components is not None and self.n_components > step.rank:
            warnings.warn(
                f"n_components is {self.n_components}, but only {step.rank} directions "
                f"carry dependence on the candidates; {step.rank} are kept.",
                UserWarning,
                stacklevel=5,
            )
        if not stopped and self.n_iter_ > 1 and step.progress[0] > UNSETTLED:
            warnings.warn(
                f"After {self.n_iter_} iterations the directions still turn by an "
                f"angle whose sine is {step.progress[0]:.2g}; raise max_iter, or fix "
                "n_components.",
                ConvergenceWarning,
                stacklevel=5,
            )


def _sine(metric, basis, previous):
    """Sine of the largest angle between two subspaces; 1 if their dimensions differ."""
    if previous is None or previous.basis.shape[1] != basis.shape[1]:
        return 1.0
    # Through what is left of one outside the other: 1 - cos^2 would lose half the
    # digits of a small angle.
    rest = basis - previous.basis @ metric.inner(previous.basis, basis)
    return float(np.sqrt(np.clip(eigvalsh(metric.inner(rest, rest))[-1], 0, 1)))


def _no_dependence(step):
    """Refuse labels that say nothing, or tell that they came to say nothing."""
    if step is None:
        raise ValueError(
            "No direction of X depends on the candidates: all samples have the same "
            "ones, or X does not vary with them."
        )
    warnings.warn(
        "All samples came to have the same confidences, after which no direction can "
        "be found; a class that is a candidate of every sample may have taken all.",
        ConvergenceWarning,
        stacklevel=5,
    )
    return True
