"""Partial multi-label learning by low-rank and sparse decomposition."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral, Real

import numpy as np
from scipy.sparse import csr_array

from demurk.linalg._admm import admm, shrink_singular_values, soft_threshold
from demurk.linalg._ridge import FeatureBasis
from demurk.partial_multilabel._base import (
    THRESHOLD,
    LinearPartialMultiLabelClassifier,
)
from demurk.utils._compat import CallbackSupportMixin, Interval, _fit_context
from demurk.utils._progress import fit_progress

__all__ = ["PMLLRS"]


class PMLLRS(CallbackSupportMixin, LinearPartialMultiLabelClassifier):
    """Partial multi-label learning by low-rank and sparse decomposition (PML-LRS).

    The candidate matrix is the sum of true labels, taken to be of low rank, and sparse
    noise; a linear model of low rank predicts the true labels. The decomposition needs
    singular values of an n x q matrix in every iteration.

    Read more in the :ref:`User Guide <partial_multilabel>`.

    Parameters
    ----------
    model_rank_penalty : float, default=0.01
        Weight gamma of the nuclear norm of the linear model.
    label_rank_penalty : float, default=0.1
        Weight beta of the nuclear norm of the labels.
    noise_penalty : float, default=1.0
        Weight eta of the noise.
    nonnegative_noise : bool, default=False
        Whether noise may only add labels.
    max_iter : int, default=500
        Largest number of iterations.
    tol : float, default=1e-6
        Iterations end when all constraints hold to this relative accuracy.
    growth : float, default=1.1
        Factor of the penalty on violated constraints, from 1e-4 on; 1 keeps it at 1.
    threshold : {"cardinality", "linear"} or float, default="cardinality"
        Where scores become labels; see :class:`PMLLCom`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Linear model.
    intercept_ : ndarray of shape (n_labels,)
        Its intercept.
    noise_ : csr_array of shape (n_samples, n_labels)
        Sparse noise.
    noise_scores_ : csr_array of shape (n_samples, n_labels)
        How suspect each candidate is: one minus its fitted score.
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
    PMLLCom : Compresses labels by a product of thin matrices.
    PMLNI : Splits the model instead of the labels.

    Notes
    -----
    Minimises ``|XW + 1b' - G|^2 / 2 + gamma |W|_* + beta |G|_* + eta |E|_1`` subject
    to ``Y = G + E``, by alternating directions with copies of W and G [1]_. Which of
    gamma and beta belongs to which norm is not certain. We add an intercept, and work
    in the principal axes of X, where each update of W is a division. At the default
    weights nearly all noise stays in G, whose entries rank wrong candidates worse than
    chance; the fitted scores do better, and are used.

    With the growing penalty the iterations end near a minimum, not at it; with
    ``growth=1`` they converge to it, slowly.

    Time O(n D min(n, D)) once and O(n q (q + p)) an iteration with p = min(n, D), in
    the usual case q < n; memory O(n (p + q)).

    References
    ----------
    .. [1] L. Sun, S. Feng, T. Wang, C. Lang, Y. Jin, "Partial multi-label learning by
       low-rank and sparse decomposition", AAAI 2019.

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.labels import add_extra_labels
    >>> from demurk.partial_multilabel import PMLLRS
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> candidates = add_extra_labels(toy.target, random_state=0).labels
    >>> PMLLRS().fit(toy.data, candidates).predict(toy.data).shape
    (400, 4)
    """

    _parameter_constraints: dict = {
        "model_rank_penalty": [Interval(Real, 0, None, closed="left")],
        "label_rank_penalty": [Interval(Real, 0, None, closed="left")],
        "noise_penalty": [Interval(Real, 0, None, closed="left")],
        "nonnegative_noise": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "growth": [Interval(Real, 1, None, closed="left")],
        "threshold": THRESHOLD,
    }

    def __init__(
        self,
        model_rank_penalty=0.01,
        *,
        label_rank_penalty=0.1,
        noise_penalty=1.0,
        nonnegative_noise=False,
        max_iter=500,
        tol=1e-6,
        growth=1.1,
        threshold="cardinality",
    ):
        self.model_rank_penalty = model_rank_penalty
        self.label_rank_penalty = label_rank_penalty
        self.noise_penalty = noise_penalty
        self.nonnegative_noise = nonnegative_noise
        self.max_iter = max_iter
        self.tol = tol
        self.growth = growth
        self.threshold = threshold

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, observed=None):
        """Split the candidates and learn the linear model.

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
        basis = FeatureBasis(data.X)
        parts = LowRankSparse(
            basis.coordinates(data.X),
            basis.squares,
            data.candidates.toarray(),
            (self.model_rank_penalty, self.label_rank_penalty, self.noise_penalty),
            nonnegative=self.nonnegative_noise,
        )

        def learned():
            coef = (basis.directions @ parts.W).T
            intercept = parts.b - coef @ basis.mean
            return {
                "coef_": coef,
                "intercept_": intercept,
                "thresholds_": self._early_threshold,
            }

        with fit_progress(self, self.max_iter, X, y) as stage:
            self.residuals_ = admm(
                parts.step,
                penalty=1.0 if self.growth == 1 else 1e-4,
                growth=self.growth,
                # A growing penalty ends the movement by itself; a constant one must
                # wait for it.
                settled=self.tol if self.growth == 1 else np.inf,
                tol=self.tol,
                max_iter=self.max_iter,
                stage=stage,
                learned=learned,
            )
        self.n_iter_ = len(self.residuals_)
        noise = np.zeros((len(data.labeled), data.candidates.shape[1]))
        noise[data.labeled] = parts.E
        self.noise_ = csr_array(noise)
        return self._set_linear(learned(), data)


class LowRankSparse:
    """Blocks of the decomposition, with their copies and multipliers.

    Parameters
    ----------
    Z : ndarray of shape (n, p)
        Features in principal axes.
    squares : ndarray of shape (p,)
        Diagonal of Z'Z.
    Y : ndarray of shape (n, q)
        Candidates.
    weights : tuple of float
        Weights of the nuclear norms of W and G, and of the noise.
    nonnegative : bool, default=False
        Whether the noise may only be positive.
    """

    def __init__(self, Z, squares, Y, weights, *, nonnegative=False):
        self.Z, self.squares, self.Y, self.weights = Z, squares, Y, weights
        self.nonnegative = nonnegative
        self.G = self.K = Y
        self.E = self.T2 = self.T3 = np.zeros_like(Y)
        self.J = self.T1 = np.zeros((Z.shape[1], Y.shape[1]))
        self.model_size = 1e-300  # largest norm of W so far: W may vanish

    def step(self, mu):
        """Update all blocks once; return the relative primal and dual residuals."""
        gamma, beta, eta = self.weights
        Y, before = self.Y, (self.J, self.K, self.E)
        right = self.Z.T @ self.G + mu * self.J - self.T1
        self.W = right / (self.squares + mu)[:, np.newaxis]
        self.b = self.G.mean(axis=0)
        self.J, _ = shrink_singular_values(self.W + self.T1 / mu, gamma / mu)
        pull = self.T3 - self.T2 + mu * (self.K + Y - self.E)
        self.G = (self.Z @ self.W + self.b + pull) / (1 + 2 * mu)
        self.K, _ = shrink_singular_values(self.G + self.T2 / mu, beta / mu)
        left = Y - self.G + self.T3 / mu
        self.E = (
            np.maximum(left - eta / mu, 0)
            if self.nonnegative
            else soft_threshold(left, eta / mu)
        )
        gaps = self.W - self.J, self.G - self.K, Y - self.G - self.E
        self.T1 = self.T1 + mu * gaps[0]
        self.T2 = self.T2 + mu * gaps[1]
        self.T3 = self.T3 + mu * gaps[2]
        size = np.linalg.norm(Y)
        self.model_size = max(np.linalg.norm(self.W), self.model_size)
        sizes = self.model_size, size, size
        primal = max(np.linalg.norm(g) / s for g, s in zip(gaps, sizes))
        moved = zip((self.J, self.K, self.E), before)
        dual = mu * max(np.linalg.norm(new - old) for new, old in moved) / size
        return primal, dual
