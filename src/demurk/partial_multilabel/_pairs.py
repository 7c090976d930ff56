"""Ranking candidates above other labels: pair losses, and the fit of PML-fp, PML-lc.

Sorting the scores of a row gives all its pairs at once, in O(q log q) instead of
O(q^2): a candidate needs only how many other labels lie above it, less a margin, and
the first two moments of their scores.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral, Real

import numpy as np
from scipy.optimize import minimize

from demurk.linalg import project_simplex
from demurk.partial_multilabel._base import (
    THRESHOLD,
    LinearPartialMultiLabelClassifier,
    label_order,
    on_candidates,
    with_constant,
)
from demurk.utils._compat import CallbackSupportMixin, Interval
from demurk.utils._progress import fit_progress, settled

__all__ = ["RankingClassifier", "feasible", "smooth_pairs", "squared_pairs"]

SOLVER_OPTIONS = {"maxiter": 50, "ftol": 1e-9, "gtol": 1e-6}


def squared_pairs(scores, weights, candidates, margin):
    """Squared hinge of all pairs of a candidate and another label.

    Parameters
    ----------
    scores : ndarray of shape (n, q)
        Scores.
    weights : ndarray of shape (n, q)
        Weight of each candidate; zero elsewhere.
    candidates : ndarray of shape (n, q), bool
        Candidates.
    margin : float
        By how much a candidate should lead.

    Returns
    -------
    costs : ndarray of shape (n, q)
        Sum over the other labels of ``max(margin - lead, 0)^2`` for each candidate,
        zero elsewhere.
    slopes : ndarray of shape (n, q)
        Gradient of the weighted sum of the costs with respect to the scores.
    """
    # Only differences count; around zero, fewer digits cancel.
    scores = scores - scores.mean(axis=1, keepdims=True)
    keys = np.where(candidates, scores - margin, scores)
    order = np.argsort(-keys, axis=1, kind="stable")
    K = np.take_along_axis(keys, order, axis=1)
    other = ~np.take_along_axis(candidates, order, axis=1)
    w = np.take_along_axis(weights, order, axis=1)
    above = np.cumsum(other, axis=1)
    above_1 = np.cumsum(other * K, axis=1)
    above_2 = np.cumsum(other * K**2, axis=1)
    lacks = above_1 - K * above  # sum of margin - lead over labels that matter
    costs = np.where(other, 0, np.maximum(above_2 - K * (above_1 + lacks), 0))
    below = w.sum(axis=1, keepdims=True) - np.cumsum(w, axis=1)
    below_1 = (w * K).sum(axis=1, keepdims=True) - np.cumsum(w * K, axis=1)
    slopes = 2 * np.where(other, K * below - below_1, -w * lacks)
    back = np.empty((2, *scores.shape))
    np.put_along_axis(back[0], order, costs, axis=1)
    np.put_along_axis(back[1], order, slopes, axis=1)
    return back[0], back[1]


def smooth_pairs(scores, weights, candidates, width):
    """Hinge of all pairs, rounded over `width`, averaged over the other labels.

    The rounded hinge is a difference of two squared ones: zero from a lead of 1 on,
    and ``1 - lead - width / 2`` up to a lead of ``1 - width``. Rows in which all
    labels are candidates cost nothing.
    """
    costs, slopes = squared_pairs(scores, weights, candidates, 1.0)
    less_costs, less_slopes = squared_pairs(scores, weights, candidates, 1.0 - width)
    n_others = np.count_nonzero(~candidates, axis=1)[:, np.newaxis]
    scale = 0.5 / (width * np.maximum(n_others, 1))
    return scale * (costs - less_costs), scale * (slopes - less_slopes)


def feasible(values, candidates):
    """Nearest confidences in [0, 1], zero off the candidates, of sum one at least."""
    nearest = np.where(candidates, np.clip(values, 0, 1), 0)
    short = (nearest.sum(axis=1) < 1) & candidates.any(axis=1)
    if short.any():
        nearest[short] = project_simplex(values[short], candidates[short])
    return nearest


class RankingClassifier(CallbackSupportMixin, LinearPartialMultiLabelClassifier):
    """Base of PML-fp and PML-lc: confidences that weigh a ranking loss.

    A method gives, by `_term(X, candidates, shares)`, what it asks of confidences
    besides the ranking: an object with `cost(P)`, `update(P, costs)` and
    `learned(order)`, attributes for the user in an order of the labels.
    All terms of a sample are divided by its number of candidates; `shares` holds one
    over that number.
    """

    _compares_labels = True
    _parameter_constraints: dict = {
        "ranking_weight": [Interval(Real, 0, None, closed="neither")],
        "confidence_penalty": [Interval(Real, 0, None, closed="neither")],
        "smoothing": [Interval(Real, 0, 1, closed="right")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "threshold": THRESHOLD,
    }

    def _fit(self, X, y, observed):
        data = self._validate_candidates(X, y, observed)
        # Rounding would otherwise let the order of the labels steer the solver.
        order = label_order(data.X, data.candidates)
        back = np.argsort(order)
        candidates = data.candidates.toarray()[:, order] > 0
        shares = 1 / np.maximum(candidates.sum(axis=1, keepdims=True), 1)
        P = candidates.astype(np.float64)
        Phi = with_constant(data.X)
        W = np.zeros((candidates.shape[1], Phi.shape[1]))
        term = self._term(data.X, candidates, shares)
        values, stopped = [], False
        with fit_progress(self, self.max_iter, X, y) as stage:
            while not stopped and len(values) < self.max_iter:
                with stage("iteration") as done:
                    W = self._rank(Phi, shares * P, candidates, W)
                    costs = self._pair_costs(Phi @ W.T, P, candidates)[0]
                    P = term.update(P, costs)
                    pulls = 0.5 * self.confidence_penalty * (P - candidates) ** 2
                    rows = P * costs + pulls
                    value = 0.5 * np.vdot(W, W) + np.sum(shares * rows) + term.cost(P)
                    values.append(float(value))
                    stopped = done(lambda W=W: self._learned(W[back]))
                stopped = stopped or settled(values, self.tol)
        self.objective_, self.n_iter_ = np.array(values), len(values)
        for name, value in {**self._learned(W[back]), **term.learned(back)}.items():
            setattr(self, name, value)
        self.label_distributions_ = P = P[:, back]
        # The candidates of a row compete: what counts is the share of the best one.
        best = P.max(axis=1, keepdims=True)
        belief = on_candidates(P / np.where(best > 0, best, 1), data.candidates)
        return self._set_results(self._scores(data.X), belief, data)

    def _learned(self, W):
        return {
            "coef_": W[:, :-1],
            "intercept_": W[:, -1],
            "thresholds_": self._early_threshold,
        }

    def _pair_costs(self, scores, weights, candidates):
        costs, slopes = smooth_pairs(scores, weights, candidates, self.smoothing)
        return self.ranking_weight * costs, self.ranking_weight * slopes

    def _rank(self, Phi, weights, candidates, start):
        """Minimise ``|W|^2 / 2`` and the ranking loss under given weights."""

        def value_and_slope(flat):
            W = flat.reshape(start.shape)
            costs, slopes = self._pair_costs(Phi @ W.T, weights, candidates)
            gradient = W + (Phi.T @ slopes).T
            return 0.5 * np.vdot(W, W) + np.vdot(weights, costs), gradient.ravel()

        found = minimize(
            value_and_slope,
            start.ravel(),
            jac=True,
            method="L-BFGS-B",
            options=SOLVER_OPTIONS,
        )
        return found.x.reshape(start.shape)
