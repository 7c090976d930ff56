"""A subspace that the predictors of all labels share."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real

import numpy as np
from scipy.linalg import qr, solve

from demurk.linalg import Projection, dependence_projection, flip_signs
from demurk.linalg._reg import ridge_of
from demurk.linalg._ridge import FeatureBasis
from demurk.projection._base import N_COMPONENTS, LinearReducer, centered_targets
from demurk.utils._compat import Interval

__all__ = ["SharedSubspace"]


class SharedSubspace(LinearReducer):
    """Shared-subspace multi-label least squares (ML-LS).

    A linear predictor is fitted for every label, of which as much as possible lies in
    one small subspace common to all labels. The subspace is the reduction; the
    predictors come with it. Unlabelled rows are ignored.

    Read more in the :ref:`User Guide <reducers>`.

    Parameters
    ----------
    n_components : int, default=None
        Dimension of the subspace; None takes one less than there are labels.
    subspace_weight : float, default=1.0
        The paper's alpha: penalty on the part of the predictors outside the subspace.
    reg : float or str, default="rel:0.1"
        The paper's beta: penalty on the predictors, positive. A string such as
        "rel:0.1" stands for that share of the mean variance of the features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal basis of the subspace; the first d rows span the best subspace of
        dimension d.
    eigenvalues_ : ndarray of shape (n_components,)
        What each dimension takes off the objective, up to a constant.
    coef_ : ndarray of shape (n_labels, n_features)
        Predictors of the labels.
    intercept_ : ndarray of shape (n_labels,)
        Their constants: ``X @ coef_.T + intercept_`` estimates the labels.
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled samples, subtracted by `transform`.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    MDDM : With ``decorrelation=1`` the span of the predictors without a ridge.

    Notes
    -----
    Over predictors U (D x q) and orthonormal P (D x d) the objective is
    ``|XU - T|^2 / n + a |U - P P'U|^2 + b |U|^2`` with centred X and labels T [1]_.
    With ``N = X'X / n + b I``, the best P spans ``N^-1 X'T v`` for the leading
    eigenvectors v of ``T'X (N + a I)^-1 N^-1 X'T``. For d = q this is the span of the
    ridge predictors, and a has no influence.

    The paper tunes a and b; the defaults are ours. All is computed in the eigenvectors
    of X'X: time O(n D min(n, D) + min(n, D)^3), memory O(D min(n, D)). A missing entry
    of a label contributes nothing.

    References
    ----------
    .. [1] S. Ji, L. Tang, S. Yu, J. Ye, "A shared-subspace learning framework for
       multi-label classification", ACM TKDD 4(2), 2010.
       :doi:`10.1145/1754428.1754431`

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.projection import SharedSubspace
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> reducer = SharedSubspace(n_components=2).fit(toy.data, toy.target)
    >>> reducer.transform(toy.data).shape, reducer.coef_.shape
    ((400, 2), (4, 320))
    """

    _parameter_constraints: dict = {
        "n_components": N_COMPONENTS,
        "subspace_weight": [Interval(Real, 0, None, closed="left")],
        "reg": [Interval(Real, 0, None, closed="neither"), str],
    }

    def __init__(self, n_components=None, *, subspace_weight=1.0, reg="rel:0.1"):
        self.n_components = n_components
        self.subspace_weight = subspace_weight
        self.reg = reg

    def _learn(self, X, y, labels):
        n, n_features = X.shape
        targets = centered_targets(labels)
        basis = FeatureBasis(X, exact=True)
        cross, variances = basis.cross(targets), basis.squares / n
        # N on the diagonal.
        inner = variances + ridge_of(self.reg, n_features, variances.sum())
        outer = inner + self.subspace_weight
        small = dependence_projection(
            cross / np.sqrt(inner * outer)[:, None], n_components=self.n_components
        )
        n_varying = np.count_nonzero(targets.any(axis=0))
        d = self.n_components or max(n_varying - 1, 1)
        # Only the span counts; the triangular factor keeps the leading ones leading.
        span = np.sqrt(outer / inner)[:, None] * small.components[:d].T
        P = qr(span, mode="economic")[0]
        U = _predictors(cross / n, outer, P, self.subspace_weight)
        components = flip_signs(P.T @ basis.directions.T)
        projection = Projection(components, small.eigenvalues[:d])
        self._set_projection(projection, basis.mean, X.dtype)
        self.coef_ = (basis.directions @ U).T.astype(X.dtype, copy=False)
        seen = np.maximum(labels.observed.sum(axis=0), 1)
        self.intercept_ = labels.values.sum(axis=0) / seen - self.coef_ @ self.mean_


def _predictors(cross, outer, P, weight):
    """``(diag(outer) - weight P P')^-1 cross``, by Woodbury's identity."""
    U = cross / outer[:, None]
    scaled = P / outer[:, None]
    inner = np.eye(P.shape[1]) - weight * (P.T @ scaled)
    return U + weight * scaled @ solve(inner, P.T @ U, assume_a="pos")
