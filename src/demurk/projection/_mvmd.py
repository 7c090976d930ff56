"""Variance and dependence at once."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real

import numpy as np

from demurk.linalg import Problem
from demurk.projection._base import N_COMPONENTS, LinearReducer
from demurk.utils._compat import Interval, StrOptions

__all__ = ["MVMD"]


class MVMD(LinearReducer):
    """Maximise feature variance and dependence on the labels simultaneously.

    A compromise between principal components and :class:`MDDM`: orthonormal directions
    along which the samples spread and which depend on the labels. More directions
    than labels may be asked for. Unlabelled rows are ignored.

    Read more in the :ref:`User Guide <reducers>`.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions; None takes as many as there are labels.
    dependence_weight : float or "balanced", default=0.5
        The paper's beta in [0, 1]: 0 gives principal components, 1 gives MDDM.
        "balanced" gives both terms the same trace.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, largest eigenvalue first.
    eigenvalues_ : ndarray of shape (n_components,)
        Weighted sum of variance and dependence along each direction.
    dependence_weight_ : float
        The weight used.
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled samples, subtracted by `transform`.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    MDDM : Dependence alone.

    Notes
    -----
    With T the centred labels, the directions are the leading eigenvectors of
    ``(1 - beta) X'HX + beta X'T T'X`` [1]_. The first term grows with n and the second
    with n^2, so that at beta = 0.5 dependence prevails and the result is close to
    MDDM (the ratio of the largest eigenvalues was 8 for 40 rows and 41 for 200).
    Whether the paper rescales them is not known; "balanced" is our own choice:
    ``beta = tr(X'HX) / (tr(X'HX) + tr(X'T T'X))``. A toolbox in circulation (ML-FE)
    codes labels as -1 and 1, which makes T T' four times as large: its beta of 0.5 is
    0.8 here.

    Time O(n D^2) and memory O(D^2) when D <= n. Otherwise only products with X are
    taken, some dozens per direction: time O(n D) each, memory O(D (q + d)); a sparse X
    stays sparse. A missing entry of a label contributes nothing.

    References
    ----------
    .. [1] J. Xu, J. Liu, J. Yin, C. Sun, "A multi-label feature extraction algorithm
       via maximizing feature variance and feature-label dependence simultaneously",
       Knowledge-Based Systems 98, 2016. :doi:`10.1016/j.knosys.2016.01.032`

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.projection import MVMD
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> MVMD(n_components=6).fit_transform(toy.data, toy.target).shape
    (400, 6)
    """

    _parameter_constraints: dict = {
        "n_components": N_COMPONENTS,
        "dependence_weight": [
            Interval(Real, 0, 1, closed="both"),
            StrOptions({"balanced"}),
        ],
    }
    _streams = True

    def __init__(self, n_components=None, *, dependence_weight=0.5):
        self.n_components = n_components
        self.dependence_weight = dependence_weight

    def _problem(self, X, labels):
        return Problem(labels, spread=self._spread)

    def _spread(self, sums):
        weight = self.dependence_weight
        if weight == "balanced":
            weight = sums.total / (sums.total + np.sum(sums.cross**2))
        self.dependence_weight_ = float(weight)
        return 1 - self.dependence_weight_
