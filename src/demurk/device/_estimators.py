"""Estimators as they work on a device.

An estimator is seen through a class of its own, made of the estimator's and of what
differs here. It shares the attributes of the estimator, so that what the method learns
is learned by the estimator.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import replace
from functools import cache

import numpy as np
import torch
from scipy.linalg import eigh
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted, validate_data

from demurk.base import beside_absence
from demurk.device._arrays import check_rows, place_of, to_numpy
from demurk.device._embedding import Joined, embed_graph, join_graphs
from demurk.device._graph import affinity
from demurk.device._labels import read_indicator
from demurk.device._moments import sum_rows
from demurk.device._neighbors import neighbors
from demurk.device._plain import full_precision
from demurk.device._propagation import propagate
from demurk.graph import NeighborGraph
from demurk.labels import check_labels
from demurk.linalg import Problem
from demurk.linalg._metric import MAX_PRIMAL
from demurk.linalg._problem import solve_rows, solve_sums
from demurk.manifold import SLEML, LaplacianEigenmaps
from demurk.manifold._out_of_sample import neighbor_average
from demurk.multilabel import MLkNN, SemiSupervisedMLkNN
from demurk.projection import MLSI, NMLSDR, SSMLDR, LinearReducer
from demurk.projection._base import centered_targets
from demurk.propagation import NoisyLabelPropagation
from demurk.utils._rows import FAR
from demurk.utils._weights import check_weights, keep_weighted

__all__ = ["OnDevice", "seen_on_device"]


class OnDevice:
    """What every estimator does otherwise on a device: it checks rows there."""

    def _validate_features(self, X, *, ensure_min_samples=1, **options):
        rows = check_rows(X, place_of(X), min_samples=ensure_min_samples)
        validate_data(self, rows, skip_check_array=True, **options)
        return rows

    def _validate_fit(self, X, y, *, observed=None):
        needed = None if y is None else "no_validation"
        X = self._validate_features(X, y=needed, ensure_min_samples=2)
        self._far_origin = _far_origin(X) if self._moves_far_rows else None
        return self._moved(X), self._read_labels(y, len(X), observed)

    def _read_labels(self, y, n_samples, observed):
        labels = check_labels(
            to_numpy(y), n_samples=n_samples, kind=self._label_kind, observed=observed
        )
        if self._compares_labels and labels.n_labels == 1 and not labels.single:
            labels = beside_absence(labels)
        return labels

    def _moved(self, X):
        if getattr(self, "_far_origin", None) is None:
            return X
        return (X.double() - torch.as_tensor(self._far_origin).to(X.device)).to(X)


def _far_origin(X):
    """Mean of rows that lie far from zero, as rows go apart; else None."""
    mean = X.mean(dim=0, dtype=torch.float64)
    square = float(X.square().sum(dim=0, dtype=torch.float64).sum()) / len(X)
    if square <= (1 + FAR**2) * (square - float(mean @ mean)):
        return None
    return mean.cpu().numpy() if bool((X != X[0]).any()) else None


def _dtype(X):
    """The type of numpy's numbers that X has."""
    return np.dtype(np.float32 if X.dtype == torch.float32 else np.float64)


class Summed(LinearReducer):
    """A reducer whose sums are taken on the device; the small problem is solved here.

    It stands behind the reducer, which may have something to do before.
    """

    def _learn(self, X, y, labels, weights=None):
        self._look_ahead([labels])
        problem = self._problem(X, labels)
        if problem.targets is labels:
            problem = replace(problem, targets=centered_targets(labels, weights))
        targets = torch.as_tensor(problem.targets, device=X.device).double()
        if weights is not None:
            targets = targets * torch.as_tensor(weights, device=X.device)[:, None]
            problem = replace(problem, weights=weights)
        problem = replace(problem, targets=targets)
        self._set_projection(*self._solved(problem, X), _dtype(X))

    def _solved(self, problem, X):
        if problem.needs_scatter and X.shape[1] > min(len(X), MAX_PRIMAL):
            # The metric is no sum that fits: it is made in memory.
            problem = replace(problem, targets=to_numpy(problem.targets))
            return solve_rows(problem, to_numpy(X), self.n_components)
        return solve_sums(problem, sum_rows(X, problem), _dtype(X), self.n_components)


class Reducer(OnDevice):
    """A linear reducer."""

    def _fit(self, X, y, observed, sample_weight=None):
        X, labels = self._validate_fit(X, y, observed=observed)
        if self._semi_supervised:
            weights = check_weights(sample_weight, np.empty((len(X), 1)))
        else:
            X, labels, weights = keep_weighted(X, labels, sample_weight)
        self._learn(X, y, labels, *(() if weights is None else (weights,)))
        return self

    def transform(self, X):
        """Project samples onto the learned directions."""
        check_is_fitted(self)
        X = self._validate_new(X)
        directions = torch.as_tensor(self.components_.T.copy()).to(X)
        with full_precision():
            return X @ directions - torch.as_tensor(self.mean_).to(X) @ directions


class SpectralReducer(Reducer):
    """A reducer that asks for the rows themselves, of which their moments would do."""

    def _learn(self, X, y, labels):
        targets = torch.as_tensor(centered_targets(labels), device=X.device)
        sums = sum_rows(X, Problem(targets, scatter=1.0))
        rows, targets = _same_moments(sums)
        known = np.ones(targets.shape, dtype=bool)
        like = replace(labels, values=targets, observed=known, single=False)
        super()._learn(rows, y, like)
        self.components_ = self.components_.astype(_dtype(X), copy=False)
        self.mean_ = self.mean_.astype(_dtype(X), copy=False)


def _same_moments(sums):
    """A few rows and targets with the means and the products of all."""
    joint = sums.joint
    gram = np.block(
        [[joint.scatter, joint.cross], [joint.cross.T, sums.target_scatter]]
    )
    values, vectors = eigh(gram)
    half = np.sqrt(np.maximum(values, 0) / 2)[:, None] * vectors.T
    rows = np.vstack([half, -half])  # their mean is zero
    d = len(joint.mean_x)
    return rows[:, :d] + joint.mean_x, rows[:, d:]


class Propagating(OnDevice):
    """An estimator that begins by propagating labels."""

    def _read_labels(self, y, n_samples, observed):
        labels = None
        if observed is None and not self._compares_labels:
            labels = read_indicator(y, n_samples, self._label_kind)
        return labels or super()._read_labels(y, n_samples, observed)

    def _propagate(self, X, labels, stage):
        values = torch.as_tensor(labels.values, device=X.device)
        observed = torch.as_tensor(labels.observed, device=X.device)
        with stage("neighbour search"):
            graph = neighbors(X, self.n_neighbors, method=self.neighbors)
        with stage("label propagation"):
            kind = "binary" if self.affinity == "knn" else "heat"
            weights = affinity(graph, weights=kind)
            if torch.equal(observed.all(dim=1), observed.any(dim=1)):
                # Whole rows are labelled or not: one system serves all labels.
                observed = observed[:, :1]
            alpha = torch.full_like(observed, self.alpha_unlabeled, dtype=torch.float64)
            alpha[observed] = self.alpha_labeled
            result = propagate(weights, values, alpha, observed)
        self._set_classes(labels)
        self.label_distributions_ = result.values[:, : len(self.classes_)]
        self.transduction_ = self._transduced(result)
        self.neighbors_recall_ = graph.recall
        self.n_iter_ = result.n_iter
        return result, graph

    def _transduced(self, result):
        soft = self.label_distributions_
        if not self._single and bool(result.reached.all()):
            return (soft > 0.5).to(torch.int64)
        return self._transduce(to_numpy(soft), to_numpy(result.reached))


class PropagatingReducer(Propagating, Reducer):
    """A reducer of propagated labels."""


class NoisyReducer(PropagatingReducer):
    """NMLSDR, whose targets never leave the device."""

    def _problem(self, X, labels):
        soft = self.label_distributions_
        observed = torch.as_tensor(labels.observed, device=soft.device)
        return Problem(torch.where(observed, (soft > 0.5).double(), soft))


class Propagation(Propagating):
    """Label propagation as a classifier."""

    def predict_proba(self, X):
        """Soft labels of new samples: the average over their nearest neighbours."""
        check_is_fitted(self)
        X = self._validate_new(X)
        graph = neighbors(self._fit_X, self.n_neighbors, X, self.neighbors)
        soft = torch.as_tensor(to_numpy(self.label_distributions_), device=X.device)
        return self._normalized(to_numpy(graph.sums(soft) / graph.indices.shape[1]))


class Counting(OnDevice):
    """ML-kNN: the search and the counts are made on the device."""

    def _count(self, graph):
        values = torch.as_tensor(self._fit_values, device=graph.indices.device)
        return to_numpy(graph.sums(values).round_().to(torch.int64))


class PropagatedCounting(Propagating, Counting):
    """ML-kNN of propagated labels."""

    def _propagate(self, X, labels, stage):
        result, graph = super()._propagate(X, labels, stage)
        here = {name: to_numpy(getattr(result, name)) for name in ("values", "reached")}
        return replace(result, **here), graph


class Embedding(OnDevice):
    """A graph embedding: graph and eigenvectors are found on the device."""

    def _solve(self, weights):
        return embed_graph(
            weights,
            self.n_components,
            on_disconnected=self.on_disconnected,
            random_state=self.random_state,
        )

    def _set_map(self, X, graph, found):
        # Only regressions on the features look at them.
        rows = np.broadcast_to(np.zeros((), _dtype(X)), tuple(X.shape))
        if self.out_of_sample in ("linear", "kernel"):
            rows = to_numpy(X)
        super()._set_map(rows, graph.on_host(), found)
        self._fit_X = X

    def _place(self, X):
        if self.out_of_sample in ("linear", "kernel"):
            return super()._place(to_numpy(X))
        graph = self._search(self._fit_X, self._n_new, X).on_host()
        unshrink = self.out_of_sample == "nystroem" and self._averages_shrink
        costs = self.eigenvalues_ if unshrink else None
        Z = neighbor_average(graph, self._fit_Z, costs)
        return Z.astype(_dtype(X), copy=False)


class FeatureMap(Embedding):
    """Laplacian eigenmaps."""

    def _weights(self, X, labels, graph):
        if self.affinity == "knn":
            return Joined(affinity(graph, symmetrize="mean"))
        bandwidth = self.bandwidth
        if bandwidth is None:
            spread = X.double().var(dim=0, correction=1).sum()
            bandwidth = float((2 * spread).sqrt()) or None
        return Joined(affinity(graph, weights="heat", bandwidth=bandwidth))


class LabelMap(Embedding):
    """SLE-ML."""

    def _graphs(self, labels, graph):
        n = labels.n_samples
        nobody = NeighborGraph(csr_array((n, n)))
        _, sets = super()._graphs(labels, nobody)
        return affinity(graph, symmetrize="mean"), sets

    def _join(self, graphs, feature_weight):
        return join_graphs(*graphs, feature_weight, self.balance)


FRONTS = {
    NMLSDR: NoisyReducer,
    SSMLDR: PropagatingReducer,
    MLSI: SpectralReducer,
    LinearReducer: Reducer,
    NoisyLabelPropagation: Propagation,
    SemiSupervisedMLkNN: PropagatedCounting,
    MLkNN: Counting,
    LaplacianEigenmaps: FeatureMap,
    SLEML: LabelMap,
}


def seen_on_device(estimator, *, shared):
    """The estimator as it works on a device; None where it does not.

    Parameters
    ----------
    estimator : object
        The estimator.
    shared : bool
        Whether what is learned is learned by the estimator.

    Returns
    -------
    seen : OnDevice or None
        With the attributes of the estimator, or a copy of their table.
    """
    for base, front in FRONTS.items():
        if isinstance(estimator, base):
            # Any other reducer must state sums over its rows.
            if front is Reducer and not estimator._streams:
                return None
            seen = object.__new__(_class(type(estimator), front))
            seen.__dict__ = vars(estimator) if shared else dict(vars(estimator))
            return seen
    return None


@cache
def _class(estimator, front):
    behind = (Summed,) if issubclass(front, Reducer) else ()
    return type(estimator.__name__, (front, estimator, *behind), {})
