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
from scipy.linalg import eigvalsh
from scipy.sparse import csr_array, issparse
from sklearn.exceptions import ConvergenceWarning

from demurk.graph import nearest_neighbors
from demurk.linalg import flip_signs
from demurk.linalg._metric import EPS, SpectralMetric, factor_metric
from demurk.linalg._rows import CenteredRows
from demurk.projection._base import LinearReducer
from demurk.utils._compat import CallbackSupportMixin
from demurk.utils._progress import fit_progress

__all__ = [
    "CandidateReducer",
    "choose_candidates",
    "rank_weights",
    "update_confidences",
]

# Subspaces that still turn by more than this at the last iteration deserve a warning.
UNSETTLED = 0.1
# Where at most one entry in so many is a candidate, products with zeros cost more than
# looking for the others.
FEW = 8


def update_confidences(confidences, candidates, graph, self_weight):
    """Let the neighbours vote on the candidates of each sample, all at once.

    `graph` holds the weights of the neighbours of each row; `self_weight` is that of
    the present confidences. Rows of the result sum to one; a row whose candidates get
    no vote at all is kept.
    """
    votes = (self_weight * confidences + graph @ confidences) * candidates
    total = votes.sum(axis=1, keepdims=True)
    kept = total == 0
    return np.where(kept, confidences, votes / np.where(kept, 1, total))


def choose_candidates(confidences, candidates, graph):
    """Let the neighbours choose one candidate of each sample.

    The candidate with the largest sum of votes, weighted as in `graph`, gets the share
    of neighbours that have any confidence in it, and the others share the rest evenly;
    candidates that tie for it are treated alike, and share what they get. A row whose
    candidates get no vote at all is kept.
    """
    votes = (graph @ confidences) * candidates
    best = votes.max(axis=1, keepdims=True)
    chosen = candidates & (votes >= (1 - 1e-12) * best)
    supported = graph.astype(bool).astype(float) @ (confidences > 0).astype(float)
    n_neighbors = np.maximum(np.diff(graph.indptr), 1)[:, np.newaxis]
    n_chosen = chosen.sum(axis=1, keepdims=True)
    n_others = candidates.sum(axis=1, keepdims=True) - n_chosen
    share = (supported * chosen).sum(axis=1, keepdims=True) / n_chosen / n_neighbors
    share = np.where(n_others == 0, 1.0, share)
    spread = np.where(chosen, share / n_chosen, (1 - share) / np.maximum(n_others, 1))
    return np.where(best > 0, spread * candidates, confidences)


def rank_weights(distances):
    """Neighbours with the weights k, k - 1, ..., 1 from the nearest to the farthest."""
    graph = distances.astype(np.float64)
    graph.sort_indices()
    sizes = np.diff(graph.indptr)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((graph.indices, graph.data, rows))
    weights = np.empty(len(order))
    places = np.arange(len(order)) - np.repeat(graph.indptr[:-1], sizes)
    weights[order] = np.repeat(sizes, sizes) - places
    return csr_array((weights, graph.indices, graph.indptr), shape=graph.shape)


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

    A method states its metric and its targets, and how eigenvalues are reported and
    make lengths. It has the parameters `n_components`, `n_neighbors`, `max_iter` and
    `tol`, and may have those that follow.
    """

    self_weight = 1.0
    solver = "auto"
    n_jobs = None
    _label_kind = "candidates"
    _semi_supervised = True

    def _metric(self, rows):
        """How much of the scatter, and which ridge, make the metric."""
        raise NotImplementedError

    def _targets(self, confidences):
        """Targets of one turn, zero where the confidences are."""
        raise NotImplementedError

    def _lengths(self, eigenvalues):
        """Reported eigenvalues, and the lengths of the directions in the metric."""
        return eigenvalues, np.ones_like(eigenvalues)

    def _n_kept(self, eigenvalues, rank):
        """Directions kept, when `n_components` does not say so."""
        return rank

    def _direction_scale(self, metric, basis):
        """What to multiply the directions with, beside their lengths."""
        return 1.0

    def _update(self, confidences, candidates, graph):
        """Confidences after the vote of the neighbours."""
        graph = graph.connectivity
        return update_confidences(confidences, candidates, graph, self.self_weight)

    def _output_scale(self, step):
        return 1.0

    def fit(self, X, y, observed=None):
        """Find directions and disambiguate the candidates in turns.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples, n_classes) or (n_samples,)
            Candidate sets: 1 for a candidate, 0 for a class that is excluded, -1 where
            that is not known, which makes the class a candidate too. A 1-D y gives
            each sample its one class, -1 for any.
        observed : array-like of bool of shape (n_samples,) or \
                (n_samples, n_classes), default=None
            What was observed, when y is sparse; overrides -1.

        Returns
        -------
        self : object
            The fitted reducer.
        """
        return super().fit(X, y, observed=observed)

    def _factored(self, X):
        """The metric, factored once for all turns."""
        rows = CenteredRows(csr_array(X) if issparse(X) else X, copy=True)
        scatter, reg = self._metric(rows)
        metric = factor_metric(rows, float(scatter), reg, self.solver, repeated=True)
        if self.solver == "cholesky" and isinstance(metric, SpectralMetric):
            raise ValueError(
                "The features are collinear and the metric has no ridge to speak of; "
                "give it one, or choose the solver 'svd' for a dense X."
            )
        return metric

    def _learn(self, X, y, labels):
        metric = self._factored(X)
        candidates = (labels.values > 0) | ~labels.observed
        confidences = candidates / candidates.sum(axis=1, keepdims=True)
        rank_tol = 1e-6 if X.dtype == np.float32 else metric.rank_tol
        self.classes_ = labels.classes

        def vote(Z, confidences):
            graph = nearest_neighbors(Z, self.n_neighbors, n_jobs=self.n_jobs)
            return self._update(confidences, candidates, graph)

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

    def _find(self, metric, confidences, rank_tol):
        """Directions with their eigenvalues and rank, None without dependence."""
        spread = confidences - confidences.mean(axis=0)
        if np.linalg.norm(spread) <= 1e-8 * np.linalg.norm(confidences):
            return None
        targets, cross = self._targets(confidences), None
        if not metric.rows.sparse and FEW * np.count_nonzero(targets) <= targets.size:
            cross = metric.rows.transposed(csr_array(targets))
        targets = targets - targets.mean(axis=0)
        basis, eigenvalues = metric.leading(targets, cross)
        floor = (64 * EPS) ** 2 * metric.size * np.linalg.norm(targets) ** 2
        if eigenvalues.size == 0 or not eigenvalues[0] > floor:
            return None
        rank = np.count_nonzero(eigenvalues > rank_tol * eigenvalues[0])
        return basis, eigenvalues, rank

    def _advance(self, metric, found, previous, confidences, vote):
        """Choose how many directions to keep, project, and let neighbours vote."""
        basis, eigenvalues, rank = found
        if self.n_components is None:
            n_kept = self._n_kept(eigenvalues, rank)
        else:
            n_kept = min(self.n_components, rank)
        basis = basis[:, :n_kept]
        reported, lengths = self._lengths(eigenvalues)
        lengths = lengths[:n_kept] * self._direction_scale(metric, basis)
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
