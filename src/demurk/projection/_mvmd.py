"""Variance and dependence at once."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Real

import numpy as np
from scipy.sparse.linalg import LinearOperator

from demurk.linalg import Projection, graph_eigenvectors, moments
from demurk.projection._base import (
    N_COMPONENTS,
    LinearReducer,
    centered_targets,
    first_components,
    keep_labeled,
    target_moments,
    total_scatter,
)
from demurk.utils._compat import Interval, StrOptions, _fit_context

__all__ = ["MVMD"]

MAX_DENSE = 5_000


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
    ``beta = tr(X'HX) / (tr(X'HX) + tr(X'T T'X))``.

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
    _label_kind = "labels"

    def __init__(self, n_components=None, *, dependence_weight=0.5):
        self.n_components = n_components
        self.dependence_weight = dependence_weight

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, observed=None):
        """Learn the directions from the labelled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Labels; -1 marks what was not observed.
        observed : array-like of bool of shape (n_samples,) or \
                (n_samples, n_labels), default=None
            What was observed, when y is sparse; overrides -1.

        Returns
        -------
        self : object
            The fitted reducer.
        """
        X, labels = keep_labeled(*self._validate_fit(X, y, observed=observed))
        n, n_features = X.shape
        dense = n_features <= min(n, MAX_DENSE)
        statistics = moments(X, centered_targets(labels), scatter=dense)
        if dense:
            return self._fit_statistics(statistics, X.dtype)
        total = total_scatter(X, statistics.mean_x)
        rows = _centered_operator(X, statistics.mean_x)
        return self._fit_criterion(rows.T @ rows, total, statistics, X.dtype)

    def _fit_chunks(self, chunks):
        statistics = target_moments(chunks, scatter=True)
        return self._fit_statistics(statistics, chunks.dtype)

    def _fit_statistics(self, statistics, dtype):
        scatter = statistics.scatter
        return self._fit_criterion(scatter, np.trace(scatter), statistics, dtype)

    def _fit_criterion(self, scatter, total, statistics, dtype):
        """Leading eigenvectors of the sum, `scatter` being an array or an operator."""
        M = statistics.cross
        n_varying = np.count_nonzero(statistics.target_scatter.diagonal() > 0)
        dependence = np.sum(M**2)
        size = statistics.weight * np.sum(statistics.mean_x**2)
        if not total > 1e-28 * size:
            raise ValueError(
                "There is no direction to find: the labelled rows of X do not differ."
            )
        beta = self.dependence_weight
        if beta == "balanced":
            beta = total / (total + dependence)
        if isinstance(scatter, np.ndarray):
            criterion = (1 - beta) * scatter + beta * (M @ M.T)
        else:
            criterion = LinearOperator(
                scatter.shape,
                matvec=lambda v: (1 - beta) * (scatter @ v) + beta * (M @ (M.T @ v)),
                matmat=lambda V: (1 - beta) * (scatter @ V) + beta * (M @ (M.T @ V)),
                dtype=np.float64,
            )
        wanted = self.n_components or max(n_varying, 1)
        limit = min(wanted, M.shape[0])
        eigenvalues, vectors = graph_eigenvectors(criterion, limit)
        rank = np.count_nonzero(eigenvalues > 1e-10 * eigenvalues[0])
        if rank == 0:
            raise ValueError(
                "There is no direction to find: the labels are constant, and a "
                "dependence_weight of 1 looks at nothing else."
            )
        projection = Projection(vectors.T[:rank], eigenvalues[:rank])
        self.dependence_weight_ = float(beta)
        return self._set_projection(
            first_components(projection, self.n_components, rank),
            statistics.mean_x,
            dtype,
        )


def _centered_operator(X, mean):
    """The rows ``X - 1 mean'`` as an operator; X is not copied."""

    def forward(V):
        return X @ V - mean @ V

    def backward(U):
        return X.T @ U - np.multiply.outer(mean, U.sum(axis=0))

    return LinearOperator(
        X.shape,
        matvec=forward,
        matmat=forward,
        rmatvec=backward,
        rmatmat=backward,
        dtype=np.float64,
    )
