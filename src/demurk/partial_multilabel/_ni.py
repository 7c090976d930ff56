"""Partial multi-label learning with noisy label identification."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from demurk.linalg._admm import admm, shrink_singular_values, soft_threshold
from demurk.linalg._reg import positive_ridge_of
from demurk.linalg._ridge import FeatureBasis
from demurk.partial_multilabel._base import (
    THRESHOLD,
    LinearPartialMultiLabelClassifier,
    with_constant,
)
from demurk.utils._compat import CallbackSupportMixin, Interval, _fit_context
from demurk.utils._progress import fit_progress

__all__ = ["PMLNI"]

# Relative movement of the label model below which the penalty may grow.
SETTLED = 1e-5
# Relative accuracy after the last iteration that deserves a warning.
UNSETTLED = 1e-2


class PMLNI(CallbackSupportMixin, LinearPartialMultiLabelClassifier):
    """Partial multi-label learning with noisy label identification (PML-NI).

    One linear model of low rank predicts true labels, another one, sparse, predicts
    wrong ones from ambiguous features; their sum fits the candidates.

    Read more in the :ref:`User Guide <partial_multilabel>`.

    Parameters
    ----------
    reg : float or str, default=10.0
        Penalty lambda of the sum of both models. A string such as "rel:1e-3" stands for
        that share of the mean square of the features.
    rank_penalty : float, default=0.5
        Weight beta of the nuclear norm of the label model.
    noise_penalty : float, default=0.5
        Weight gamma of the absolute values of the noise model.
    max_iter : int, default=500
        Largest number of iterations.
    tol : float, default=1e-7
        Iterations end when both models add up to this relative accuracy.
    threshold : {"linear", "cardinality"} or float, default="linear"
        Where scores become labels; see :class:`PMLLCom`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Label model.
    intercept_ : ndarray of shape (n_labels,)
        Its intercept.
    noise_coef_ : ndarray of shape (n_labels, n_features)
        Noise model.
    noise_intercept_ : ndarray of shape (n_labels,)
        Its intercept.
    noise_scores_ : csr_array of shape (n_samples, n_labels)
        How suspect each candidate is: one minus the score of the label model.
    thresholds_ : float or ndarray of shape (n_labels + 1,)
        The cut, or weights of the scores and an intercept.
    residuals_ : ndarray of shape (n_iter_, 2)
        Relative primal and dual residual of every iteration.
    n_iter_ : int
        Number of iterations.
    classes_ : ndarray of shape (n_labels,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    PMLLRS : Splits the labels instead of the model.

    Notes
    -----
    With a constant feature appended to X, minimises ``|Y - X(A + N)'|^2 / 2 +
    lambda |A + N|^2 / 2 + beta |A|_* + gamma |N|_1`` by alternating directions [1]_;
    the penalty on their difference grows by a tenth whenever A has settled. At the
    default weights N is often zero, and the method is ridge regression; a smaller
    gamma soon lets N take over and leaves A empty.

    The public code of the paper fits its threshold to the hidden true labels, and
    forgets an intercept when it applies it. Here the threshold is fitted to the
    candidates that the scores speak for.

    Time O(n D min(n, D)) once and O(q D (q + min(n, D))) an iteration in the usual
    case q < D; memory O(D (q + min(n, D))).

    References
    ----------
    .. [1] M.-K. Xie, S.-J. Huang, "Partial multi-label learning with noisy label
       identification", AAAI 2020.

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.labels import add_extra_labels
    >>> from demurk.partial_multilabel import PMLNI
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> candidates = add_extra_labels(toy.target, random_state=0).labels
    >>> PMLNI().fit(toy.data, candidates).predict(toy.data).shape
    (400, 4)
    """

    _parameter_constraints: dict = {
        "reg": [Interval(Real, 0, None, closed="neither"), str],
        "rank_penalty": [Interval(Real, 0, None, closed="left")],
        "noise_penalty": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "threshold": THRESHOLD,
    }

    def __init__(
        self,
        reg=10.0,
        *,
        rank_penalty=0.5,
        noise_penalty=0.5,
        max_iter=500,
        tol=1e-7,
        threshold="linear",
    ):
        self.reg = reg
        self.rank_penalty = rank_penalty
        self.noise_penalty = noise_penalty
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, observed=None):
        """Learn both models.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples, n_labels) or (n_samples,)
            Candidates: 1 for a label that may be true, 0 for one that is not, -1 where
            that is not known, which makes the label a candidate too. Rows of -1 are
            left out. A 1-D y gives each sample its one class.
        observed : array-like of bool of shape (n_samples,) or \
                (n_samples, n_labels), default=None
            What was observed, when y is sparse; overrides -1.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        data = self._validate_candidates(X, y, observed)
        Phi = with_constant(data.X)
        cross = (Phi.T @ data.candidates.toarray()).T
        basis = FeatureBasis(Phi, center=False)
        reg = positive_ridge_of(self.reg, Phi.shape[1], basis.squares.sum())
        models = SplitModel(
            basis,
            cross,
            (reg, self.rank_penalty, self.noise_penalty),
        )

        def learned():
            return {
                "coef_": models.A[:, :-1],
                "intercept_": models.A[:, -1],
                "noise_coef_": models.N[:, :-1],
                "noise_intercept_": models.N[:, -1],
                "thresholds_": self._early_threshold,
            }

        with fit_progress(self, self.max_iter, X, y) as stage:
            self.residuals_ = admm(
                models.step,
                penalty=1e-4,
                growth=1.1,
                settled=SETTLED,
                tol=self.tol,
                max_iter=self.max_iter,
                stage=stage,
                learned=learned,
            )
        self.n_iter_ = len(self.residuals_)
        left = self.residuals_[-1].max()
        if self.n_iter_ == self.max_iter and left > UNSETTLED:
            warnings.warn(
                f"After {self.n_iter_} iterations both models still add up only to a "
                f"relative accuracy of {left:.2g}; raise max_iter.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self._set_linear(learned(), data)


class SplitModel:
    """The two models, their sum and its multiplier.

    Parameters
    ----------
    basis : FeatureBasis
        Of the features with a constant, not centred.
    cross : ndarray of shape (q, d + 1)
        Products of the candidates with the features.
    weights : tuple of float
        Ridge, weight of the nuclear norm, weight of the absolute values.
    """

    def __init__(self, basis, cross, weights):
        self.basis, self.cross, self.weights = basis, cross, weights
        self.A = self.N = self.T = np.zeros_like(cross)

    def step(self, mu):
        """Update all blocks once; return the relative primal and dual residuals."""
        ridge, beta, gamma = self.weights
        before = self.A
        right = self.cross + mu * (self.A + self.N) + self.T
        self.W = W = self.basis.solve(right, ridge + mu)
        self.A, _ = shrink_singular_values(W - self.N - self.T / mu, beta / mu)
        self.N = soft_threshold(W - self.A - self.T / mu, gamma / mu)
        gap = self.A + self.N - W
        self.T = self.T + mu * gap
        size = max(np.linalg.norm(W), 1e-300)
        dual = mu * np.linalg.norm(self.A - before) / size
        return np.linalg.norm(gap) / size, dual
