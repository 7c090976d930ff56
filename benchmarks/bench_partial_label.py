"""IPAL and SURE against literal implementations, one problem per sample."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.optimize import minimize, nnls
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_digits, make_classification
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import scale

from benchmarks.common import CpuBenchmark, best_times, cpu_time, size
from demurk.labels import add_candidates
from demurk.partial_label import IPAL, PLAGGD, PLECOC, PLSVM, SURE

N_NEIGHBORS = 10
ALPHA = 0.95
REG, SHARPNESS = 0.05, 0.3
# Turns of SURE; the literal one takes minutes for the hundred it may need.
N_TURNS = 5


def candidate_data(n_samples, n_features=108, n_classes=16):
    """Features and classes as many as in Lost, two false candidates for all."""
    X, y = make_classification(
        n_samples,
        n_features,
        n_informative=20,
        n_redundant=10,
        n_classes=n_classes,
        n_clusters_per_class=2,
        class_sep=2.0,
        random_state=0,
    )
    return X, add_candidates(y, n_extra=2, random_state=0).labels


def least_squares(A, x):
    """Non-negative least squares by the compiled active-set routine of scipy."""
    return nnls(A, x)[0]


def quadratic_programme(A, x):
    """The same as a quadratic programme for a general solver."""
    G, c = A.T @ A, A.T @ x
    return minimize(
        lambda w: w @ G @ w / 2 - c @ w,
        np.full(len(c), 1 / len(c)),
        jac=lambda w: G @ w - c,
        bounds=[(0, None)] * len(c),
        method="SLSQP",
    ).x


def literal_ipal(X, S, queries, solve):
    """Zhang and Yu's method as published: loops over samples, a dense graph."""
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    search = NearestNeighbors(n_neighbors=N_NEIGHBORS).fit(X)
    W = np.zeros((len(X), len(X)))
    for i, near in enumerate(search.kneighbors(return_distance=False)):
        weights = solve(X[near].T, X[i])
        W[i, near] = weights / max(weights.sum(), 1e-300)
    P = S / S.sum(axis=1, keepdims=True)
    F = P
    for _ in range(100):
        new = (ALPHA * W @ F + (1 - ALPHA) * P) * S
        new /= new.sum(axis=1, keepdims=True)
        change, F = np.linalg.norm(new - F, 2), new
        if change < 1e-4:
            break
    labels = (F * (P.sum(axis=0) / F.sum(axis=0))).argmax(axis=1)
    predicted = []
    for x, near in zip(queries, search.kneighbors(queries, return_distance=False)):
        weights = solve(X[near].T, x)
        residuals = [
            np.linalg.norm(x - (weights * (labels[near] == c)) @ X[near])
            for c in range(S.shape[1])
        ]
        predicted.append(int(np.argmin(residuals)))
    return np.array(predicted)


def literal_sure(X, S):
    """Feng and An's method as published: a system a turn, a programme a sample."""
    m = len(X)
    K = np.exp(-(cdist(X, X) ** 2) / (2 * pdist(X).mean() ** 2))
    P = S / S.sum(axis=1, keepdims=True)
    for _ in range(N_TURNS):
        matrix = K + REG * np.eye(m) - np.ones((m, m)) @ K / m
        A = np.linalg.solve(matrix, P - P.mean(axis=0))
        b = (P.sum(axis=0) - A.T @ K.sum(axis=1)) / m
        P = np.array([label_programme(q, s) for q, s in zip(K @ A + b, S)])
    return P


def label_programme(value, candidates):
    """Confidences of one sample, with a general solver."""
    inside = np.flatnonzero(candidates)
    v = value[inside]
    j = int(v.argmax())
    reward = SHARPNESS * (np.arange(len(v)) == j)
    found = minimize(
        lambda p: ((p - v) ** 2).sum() - SHARPNESS * p[j],
        np.full(len(v), 1 / len(v)),
        jac=lambda p: 2 * (p - v) - reward,
        bounds=[(0, 1)] * len(v),
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1},
            {"type": "ineq", "fun": lambda p: p[j] - p},
        ],
        method="SLSQP",
    )
    out = np.zeros(len(value))
    out[inside] = found.x
    return out


class InstanceBased(CpuBenchmark):
    """IPAL: 2,000 x 108 training samples, 500 queries, 16 classes."""

    def setup(self):
        n_train, n_queries = size((2000, 500), (120, 30))
        X, S = candidate_data(n_train + n_queries)
        self.X, self.S, self.queries = X[:n_train], S[:n_train], X[n_train:]

    def _ours(self):
        return IPAL(N_NEIGHBORS, alpha=ALPHA).fit(self.X, self.S).predict(self.queries)

    def _literal(self, solve=least_squares):
        return literal_ipal(self.X, self.S, self.queries, solve)

    def time_fit_predict(self):
        self._ours()

    def peakmem_fit_predict(self):
        self._ours()

    def track_speedup_over_programmes(self):
        """Literal with a quadratic programme per sample / ours; the goal is 10."""
        literal = cpu_time(lambda: self._literal(quadratic_programme))
        return literal / best_times(self._ours)[0]

    def track_speedup_over_least_squares(self):
        """Literal with scipy's compiled routine per sample / ours; the goal is 10.

        The neighbour search, which both need, is about half of what we take.
        """
        # A few hundredths of a second, which load disturbs.
        literal, ours = best_times(self._literal, self._ours, repeat=9)
        return literal / ours

    def track_agreement_with_literal(self):
        """Share of equal predictions."""
        return float(np.mean(self._ours() == self._literal()))

    track_speedup_over_programmes.unit = "ratio"
    track_speedup_over_least_squares.unit = "ratio"
    track_agreement_with_literal.unit = "share"


class SelfTraining(CpuBenchmark):
    """SURE: 2,000 x 108 training samples, 16 classes, 5 turns."""

    def setup(self):
        self.X, self.S = candidate_data(size(2000, 100))

    def _ours(self):
        return SURE(REG, sharpness=SHARPNESS, max_iter=N_TURNS, tol=0).fit(
            self.X, self.S
        )

    def time_fit(self):
        self._ours()

    def time_fit_until_settled(self):
        SURE().fit(self.X, self.S)

    def time_fit_plaggd(self):
        PLAGGD().fit(self.X, self.S)

    def peakmem_fit(self):
        self._ours()

    def track_speedup_over_literal(self):
        """Literal / ours; the goal is at least 10."""
        literal = cpu_time(lambda: literal_sure(self.X, self.S))
        return literal / best_times(self._ours)[0]

    def track_difference_from_literal(self):
        """Largest difference of a confidence."""
        literal = literal_sure(self.X, self.S)
        return float(np.abs(literal - self._ours().label_distributions_).max())

    track_speedup_over_literal.unit = "ratio"
    track_difference_from_literal.unit = "difference"


class Machines(CpuBenchmark):
    """PL-SVM and PL-ECOC: digits, 1,617 training samples, one false candidate."""

    def setup(self):
        X, y = load_digits(return_X_y=True)
        X, S = scale(X), add_candidates(y, n_extra=1, random_state=0).labels
        n_train = size(1617, 200)
        self.X, self.S, self.queries = X[:n_train], S[:n_train], X[n_train:]
        self.codes = PLECOC(random_state=0).fit(self.X, self.S)

    def time_fit_plsvm(self):
        PLSVM(max_iter=size(1000, 50)).fit(self.X, self.S)

    def time_fit_plecoc(self):
        PLECOC(random_state=0).fit(self.X, self.S)

    def time_predict_plecoc(self):
        self.codes.predict(self.queries)
