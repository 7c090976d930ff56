"""Multi-label dimension reduction by dependence maximisation."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real

from demurk.linalg import Problem
from demurk.projection._base import N_COMPONENTS, WeightedReducer
from demurk.utils._compat import Interval

__all__ = ["MDDM"]


class MDDM(WeightedReducer):
    """Multi-label dimension reduction by dependence maximisation.

    Finds the directions whose projections depend most on the labels, in the sense of
    the Hilbert-Schmidt independence criterion with linear kernels. Fast, robust, and
    the baseline to beat when labels are complete. Unlabelled rows are ignored.

    Read more in the :ref:`User Guide <dependence>`.

    Parameters
    ----------
    n_components : int, default=None
        Number of directions; None keeps all that carry dependence, at most the number
        of labels.
    decorrelation : float, default=0.0
        The paper's mu in [0, 1]: 0 asks for orthonormal directions (MDDMp), 1 for
        uncorrelated features (orthonormalised partial least squares), 0.5 is MDDMf.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Directions, strongest dependence first.
    eigenvalues_ : ndarray of shape (n_components,)
        Dependence captured by each direction.
    mean_ : ndarray of shape (n_features,)
        Mean of the labelled samples, subtracted by `transform`.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    NMLSDR : The same directions from propagated labels; uses unlabelled rows.

    Notes
    -----
    With T the centred labels, directions p solve
    ``X'T T'X p = lambda (mu X'HX + (1 - mu) I) p`` [1]_. For mu = 0 they are the left
    singular vectors of the D x q matrix X'T: time O(n D q + D q^2), memory O(D q).
    Otherwise one D x D Cholesky factor, or the n x n dual form when D > n.

    The identity is not scaled with n, as in the authors' code: with thousands of rows
    the scatter dwarfs it and any mu > 0 behaves like 1. The scale of the features
    matters; standardise first. A missing entry of a label contributes nothing.

    References
    ----------
    .. [1] Y. Zhang, Z.-H. Zhou, "Multilabel dimensionality reduction via dependence
       maximization", ACM TKDD 4(3), 2010. :doi:`10.1145/1839490.1839495`

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.projection import MDDM
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> MDDM(n_components=3).fit_transform(toy.data, toy.target).shape
    (400, 3)
    """

    _parameter_constraints: dict = {
        "n_components": N_COMPONENTS,
        "decorrelation": [Interval(Real, 0, 1, closed="both")],
    }
    _streams = True

    def __init__(self, n_components=None, *, decorrelation=0.0):
        self.n_components = n_components
        self.decorrelation = decorrelation

    def _problem(self, X, labels):
        mu = self.decorrelation
        return Problem(labels, scatter=mu, reg=1 - mu)
