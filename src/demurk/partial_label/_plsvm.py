"""Maximum margin between candidates and other classes."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral, Real

import numpy as np
from scipy.sparse import issparse

from demurk.partial_label._base import LinearCandidateClassifier, informative_rows
from demurk.utils._compat import CallbackSupportMixin, Interval, _fit_context
from demurk.utils._progress import fit_progress

__all__ = ["PLSVM"]

# Steps between two looks at the objective.
BLOCK = 50


class PLSVM(CallbackSupportMixin, LinearCandidateClassifier):
    """Partial-label support vector machine.

    A linear classifier in which the best candidate of each sample beats the best of
    the other classes by a margin. Fast, and at its best with many features.

    Read more in the :ref:`User Guide <partial_label>`.

    Parameters
    ----------
    reg : float, default=0.01
        Penalty on the squared weights (the paper's lambda). The CENDA paper chooses it
        from 0.001, 0.01, ..., 1000; :func:`~demurk.model_selection.candidate_scorer`
        can do so without knowing the truth.
    fit_intercept : bool, default=True
        Whether to learn an intercept for each class, penalised like the weights; the
        original has none.
    max_iter : int, default=1000
        Largest number of iterations over all samples.
    tol : float, default=1e-4
        The steps end when 50 of them lower the objective by less than this share.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        Weights; zero for a class that was never a candidate.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts.
    objective_ : ndarray
        Objective of the averaged weights after every 50 steps.
    n_iter_ : int
        Number of iterations.
    classes_ : ndarray of shape (n_classes,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    CLPL : A convex relative without local minima.

    Notes
    -----
    Minimises ``reg/2 |W|^2 + mean_i max(0, 1 - (max_{y in S_i} w_y.x_i - max_{y not in
    S_i} w_y.x_i))`` [1]_, which is the multi-class hinge loss when every S_i has one
    class, and not convex otherwise. Subgradient steps on all samples with step size
    ``1 / (reg t)`` and projection on the ball of radius ``reg^(-1/2)`` (Pegasos) start
    at zero; the result is the average of the steps with weights proportional to t.
    Classes with the same score share a step, so that the order of the classes does not
    matter; the first step is that of equal confidence in all candidates. Samples with
    all classes as candidates have nothing to beat and are left out.

    The features should have a similar scale. On Lost (standardised, ten folds) reg
    0.001, 0.01, 0.1 and 1 give 0.720, 0.726, 0.793 and 0.762 (paper: 0.736); with few
    features small values are better. Time O(n D q) a step, memory
    O(n (D + q) + D q).

    References
    ----------
    .. [1] N. Nguyen, R. Caruana, "Classification with partial labels", KDD 2008.
       :doi:`10.1145/1401890.1401958`

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> from demurk.labels import add_candidates
    >>> from demurk.partial_label import PLSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> candidates = add_candidates(y, n_extra=1, random_state=0).labels
    >>> model = PLSVM().fit(scale(X), candidates)
    >>> bool(model.score(scale(X), y) > 0.9)
    True
    """

    _parameter_constraints: dict = {
        "reg": [Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, reg=0.01, *, fit_intercept=True, max_iter=1000, tol=1e-4):
        self.reg = reg
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, observed=None):
        """Learn the weights.

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
            The fitted classifier.
        """
        X, candidates = self._validate_candidates(X, y, observed, min_classes=2)
        rows = informative_rows(candidates)
        solver = MarginSolver(
            X[rows].astype(np.float64, copy=False),
            candidates[rows][:, self._possible],
            self.reg,
            self.fit_intercept,
        )
        objective, stopped = [], False
        with fit_progress(self, -(-self.max_iter // BLOCK), X, y) as stage:
            while not stopped and solver.n_steps < self.max_iter:
                with stage("steps") as done:
                    solver.advance(min(BLOCK, self.max_iter - solver.n_steps))
                    objective.append(solver.objective())
                    stopped = done(lambda: self._full(*solver.average))
                stopped = stopped or self._settled(objective)
        for name, value in self._full(*solver.average).items():
            setattr(self, name, value)
        self.objective_ = np.array(objective)
        self.n_iter_ = solver.n_steps
        return self

    def _settled(self, objective):
        if len(objective) < 2:
            return False
        before, after = objective[-2:]
        return before - after <= self.tol * abs(before)


class MarginSolver:
    """Subgradient steps with a weighted average; see the notes of `PLSVM`."""

    def __init__(self, X, candidates, reg, fit_intercept):
        # Products with few rows are quicker when columns stand together.
        self.X = X if issparse(X) else np.asfortranarray(X)
        self.reg, self.fit_intercept = reg, fit_intercept
        # Scores have a row for each class: maxima over long rows are quick to find.
        # Adding minus infinity leaves the candidates, or all others.
        self.keep_inside = np.where(candidates.T, 0.0, -np.inf)
        self.keep_outside = np.where(candidates.T, -np.inf, 0.0)
        shape = candidates.shape[1], X.shape[1]
        self.coef, self.intercept = np.zeros(shape), np.zeros(shape[0])
        self.average = self.coef, self.intercept
        self.n_steps = 0

    def _margins(self, coef, intercept):
        """Scores inside and outside, -inf elsewhere, and the best of both."""
        scores = coef @ self.X.T
        scores += intercept[:, None]
        inside, outside = scores + self.keep_inside, scores + self.keep_outside
        return inside, outside, inside.max(axis=0), outside.max(axis=0)

    def objective(self):
        """Value at the averaged weights."""
        coef, intercept = self.average
        _, _, best, rival = self._margins(coef, intercept)
        penalty = np.vdot(coef, coef) + np.vdot(intercept, intercept)
        loss = np.maximum(0, 1 - best + rival).mean()
        return float(self.reg / 2 * penalty + loss)

    def advance(self, n_steps):
        """Take some steps."""
        n = self.X.shape[0]
        for _ in range(n_steps):
            self.n_steps += 1
            inside, outside, best, rival = self._margins(self.coef, self.intercept)
            pull = _shares(inside == best)
            pull -= _shares(outside == rival)
            pull *= (best - rival < 1).astype(np.float64)
            rate = 1 / (self.reg * self.n_steps)
            keep = 1 - 1 / self.n_steps
            coef = keep * self.coef + rate / n * (pull @ self.X)
            intercept = self.intercept
            if self.fit_intercept:
                intercept = keep * intercept + rate / n * pull.sum(axis=1)
            length = np.sqrt(np.vdot(coef, coef) + np.vdot(intercept, intercept))
            shrink = 1 / max(1.0, np.sqrt(self.reg) * length)
            self.coef, self.intercept = shrink * coef, shrink * intercept
            share = 2 / (self.n_steps + 1)  # weights proportional to the step number
            old_coef, old_intercept = self.average
            self.average = (
                old_coef + share * (self.coef - old_coef),
                old_intercept + share * (self.intercept - old_intercept),
            )


def _shares(chosen):
    """Equal shares of the classes chosen for each sample, at least one."""
    shares = chosen.astype(np.float64)
    if np.count_nonzero(chosen) > chosen.shape[1]:  # ties are rare
        shares /= shares.sum(axis=0)
    return shares
