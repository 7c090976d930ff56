"""Convex learning from partial labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from numbers import Integral, Real

import numpy as np
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning

from demurk.partial_label._base import (
    LinearCandidateClassifier,
    informative_rows,
    uniform_confidences,
)
from demurk.utils._compat import CallbackSupportMixin, Interval, _fit_context
from demurk.utils._progress import fit_progress

__all__ = ["CLPL"]


class CLPL(CallbackSupportMixin, LinearCandidateClassifier):
    """Convex learning from partial labels.

    A linear classifier that wants the mean score of the candidates above one and the
    scores of all other classes below minus one. The problem is convex: no random
    start, no local minimum, one answer. A fast and dependable baseline.

    Read more in the :ref:`User Guide <partial_label>`.

    Parameters
    ----------
    reg : float, default=0.01
        Penalty on the squared weights; intercepts are free.
    max_iter : int, default=1000
        Largest number of L-BFGS steps.
    tol : float, default=1e-6
        The steps end when no entry of the gradient is larger.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        Weights; zero for a class that was never a candidate.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts.
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
    PLSVM : Counts the best candidate in place of their mean.

    Notes
    -----
    Minimises ``reg/2 |W|^2 + mean_i [psi(mean_{y in S_i} f_y(x_i)) + sum_{y not in S_i}
    psi(-f_y(x_i))]`` with ``f_y(x) = w_y.x + b_y`` and the squared hinge
    ``psi(u) = max(0, 1 - u)^2`` [1]_. A public port sums the scores of the candidates
    where the paper takes their mean; the mean is used here. Samples with all classes as
    candidates exclude nothing and are left out.

    Time O(n D q) a step, memory O(n (D + q) + D q).

    References
    ----------
    .. [1] T. Cour, B. Sapp, B. Taskar, "Learning from partial labels", JMLR 12, 2011.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from demurk.labels import add_candidates
    >>> from demurk.partial_label import CLPL
    >>> X, y = load_wine(return_X_y=True)
    >>> candidates = add_candidates(y, n_extra=1, random_state=0).labels
    >>> model = CLPL().fit(scale(X), candidates)
    >>> bool(model.score(scale(X), y) > 0.9)
    True
    """

    _parameter_constraints: dict = {
        "reg": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, reg=0.01, *, max_iter=1000, tol=1e-6):
        self.reg = reg
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
        objective = ConvexObjective(
            X[rows].astype(np.float64, copy=False),
            candidates[rows][:, self._possible],
            self.reg,
        )
        with fit_progress(self, 1, X, y) as stage, stage("optimisation"):
            found = minimize(
                objective,
                np.zeros(objective.size),
                jac=True,
                method="L-BFGS-B",
                options={
                    "maxiter": self.max_iter,
                    "maxfun": 10 * self.max_iter,
                    "gtol": self.tol,
                    "ftol": 0.0,
                },
            )
        self.n_iter_ = int(found.nit)
        if self.n_iter_ >= self.max_iter:
            warnings.warn(
                f"CLPL has not converged after {self.n_iter_} steps: scale the "
                "features, raise max_iter or reg.",
                ConvergenceWarning,
                stacklevel=3,
            )
        for name, value in self._full(*objective.unpack(found.x)).items():
            setattr(self, name, value)
        return self


class ConvexObjective:
    """Value and gradient of the objective of `CLPL`."""

    def __init__(self, X, candidates, reg):
        self.X, self.reg = X, reg
        self.share = uniform_confidences(candidates)
        self.outside = ~candidates
        self.shape = candidates.shape[1], X.shape[1]
        self.size = self.shape[0] * (self.shape[1] + 1)

    def unpack(self, parameters):
        """Weights and intercepts."""
        table = parameters.reshape(self.shape[0], -1)
        return table[:, :-1], table[:, -1]

    def __call__(self, parameters):
        coef, intercept = self.unpack(parameters)
        scores = self.X @ coef.T + intercept
        mean = np.einsum("ij,ij->i", self.share, scores)
        short = np.maximum(0, 1 - mean)
        over = np.maximum(0, 1 + scores) * self.outside
        n = len(short)
        value = (short @ short + np.vdot(over, over)) / n
        value += self.reg / 2 * np.vdot(coef, coef)
        slope = (over - short[:, None] * self.share) * (2 / n)
        gradient = np.empty((self.shape[0], self.shape[1] + 1))
        gradient[:, :-1] = (self.X.T @ slope).T + self.reg * coef
        gradient[:, -1] = slope.sum(axis=0)
        return value, gradient.ravel()
