"""Disambiguation over a graph that is learned together with the confidences."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral, Real

import numpy as np
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.preprocessing import normalize

from demurk.graph import nearest_neighbors
from demurk.graph._reconstruction import difference_products, weight_graph
from demurk.linalg import project_simplex, solve_simplex
from demurk.partial_label._base import uniform_confidences
from demurk.partial_label._kernel import KERNEL_CONSTRAINTS, KernelCandidateClassifier
from demurk.utils._compat import CallbackSupportMixin, Interval, _fit_context
from demurk.utils._progress import fit_progress

__all__ = ["PLAGGD"]

# Steps and relative accuracy of the projected gradient for the confidences.
GRADIENT_STEPS = 200
GRADIENT_TOL = 1e-4


class PLAGGD(CallbackSupportMixin, KernelCandidateClassifier):
    """Adaptive graph guided disambiguation.

    Three things in turns: a kernel ridge regression on the confidences; a graph whose
    weights rebuild each sample and its confidences from the neighbours; confidences
    that agree with both. About as accurate as :class:`SURE`, at two to three times its
    cost.

    Read more in the :ref:`User Guide <partial_label>`.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours in the graph; all other training samples if there are fewer.
    reg : float, default=0.05
        Penalty on the regression function (the paper's gamma).
    feature_weight : float, default=1.0
        Weight of the features when the graph is learned (the paper's lambda).
    label_weight : float, default=1.0
        Weight of the graph beside the regression (the paper's mu), positive.
    bandwidth : float, default=None
        The kernel is ``exp(-d^2 / (2 bandwidth^2))``; None takes the mean distance
        between two training samples.
    n_landmarks : int, default=None
        Number of training samples that serve as centres of the kernel, drawn at
        random, at most 10,000. None takes all of up to 10,000 samples, and 1,000 of
        more (Nyström approximation).
    max_iter : int, default=10
        Number of iterations.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw of centres.
    n_jobs : int, default=None
        Threads of the neighbour search; None means 1, -1 all processors.

    Attributes
    ----------
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Confidence in each candidate of the training samples: rows sum to one and are
        zero outside the candidates.
    labels_ : ndarray of shape (n_samples,)
        The class of largest confidence, the first one on ties.
    dual_coef_ : ndarray of shape (n_centers, n_classes)
        Weights of the centres.
    intercept_ : ndarray of shape (n_classes,)
        Intercepts.
    bandwidth_ : float
        Bandwidth of the kernel.
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
    SURE : The same regression without a graph.

    Notes
    -----
    The method of [1]_ with the parameters of the authors' code. Rows of the graph are
    the weights on the simplex that minimise ``lambda |x_i - sum w x|^2 + mu |y_i - sum
    w y|^2``; samples have unit length for this, as in the authors' code. All rows are
    found together, from the k x k products of the neighbours. The confidences minimise
    ``|Y - WY|^2 + |Y - F|^2 / mu`` with F the regression; the paper's quadratic
    programme of n q variables is solved by an accelerated projected gradient with the
    projection on the simplex in closed form.

    Time O(n^2 D + n^3) once and O(n^2 q + n k^2 (q + k)) a turn, memory O(n^2) for up
    to 10,000 samples; with m centres O(n m) in the place of O(n^2), beside the
    neighbour search.

    References
    ----------
    .. [1] D.-B. Wang, L. Li, M.-L. Zhang, "Adaptive graph guided disambiguation for
       partial label learning", KDD 2019. :doi:`10.1145/3292500.3330840`

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from demurk.labels import add_candidates
    >>> from demurk.partial_label import PLAGGD
    >>> X, y = load_iris(return_X_y=True)
    >>> candidates = add_candidates(y, n_extra=1, random_state=0).labels
    >>> model = PLAGGD().fit(X, candidates)
    >>> bool((model.labels_ == y).mean() > 0.9), bool(model.score(X, y) > 0.9)
    (True, True)
    """

    _parameter_constraints: dict = {
        **KERNEL_CONSTRAINTS,
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "feature_weight": [Interval(Real, 0, None, closed="left")],
        "label_weight": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_neighbors=10,
        *,
        reg=0.05,
        feature_weight=1.0,
        label_weight=1.0,
        bandwidth=None,
        n_landmarks=None,
        max_iter=10,
        random_state=None,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.reg = reg
        self.feature_weight = feature_weight
        self.label_weight = label_weight
        self.bandwidth = bandwidth
        self.n_landmarks = n_landmarks
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, observed=None):
        """Fit regression, graph and confidences in turns.

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
        X, candidates = self._validate_candidates(X, y, observed)
        ridge = self._ridge(X)
        units = normalize(X)
        found = nearest_neighbors(units, self.n_neighbors, n_jobs=self.n_jobs)
        indices = found.distances.indices.reshape(X.shape[0], -1)
        feature_part = difference_products(units, indices)
        graph = weight_graph(indices, solve_simplex(feature_part))
        confidences = agree(graph, candidates, uniform_confidences(candidates))
        feature_part *= self.feature_weight
        with fit_progress(self, self.max_iter, X, y) as stage:
            for n_iter in range(1, self.max_iter + 1):
                with stage("iteration") as done:
                    values = ridge.fitted(confidences)
                    label_part = difference_products(confidences, indices)
                    label_part *= self.label_weight
                    label_part += feature_part
                    graph = weight_graph(indices, solve_simplex(label_part))
                    confidences = agree(
                        graph, candidates, confidences, values, 1 / self.label_weight
                    )
                    state = ridge, confidences, n_iter
                    stopped = done(lambda state=state: self._learned(*state))
                if stopped:
                    break
        for name, value in self._learned(ridge, confidences, n_iter).items():
            setattr(self, name, value)
        return self


def agree(graph, candidates, start, values=None, weight=0.0):
    """Confidences that agree with their neighbours and with given values.

    Minimises ``|Y - WY|^2 + weight |Y - values|^2`` over rows that are confidences on
    the candidates, by accelerated projected gradient with restarts.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Weights W, rows sum to one.
    candidates : ndarray of shape (n, q), bool
        Candidate sets.
    start : ndarray of shape (n, q)
        First confidences.
    values : ndarray of shape (n, q), default=None
        Values to stay close to.
    weight : float, default=0.0
        Weight of the values.

    Returns
    -------
    confidences : ndarray of shape (n, q)
        Rows sum to one and are zero outside the candidates.
    """
    rest = csr_array(eye_array(graph.shape[0]) - graph)
    back = csr_array(rest.T)
    step = 1 / (_spectral_norm(rest) ** 2 + weight)
    confidences = ahead = start
    momentum = 1.0
    for _ in range(GRADIENT_STEPS):
        slope = back @ (rest @ ahead)
        if weight:
            slope += weight * (ahead - values)
        updated = project_simplex(ahead - step * slope, candidates)
        change = updated - confidences
        if np.vdot(ahead - updated, change) > 0:  # momentum points uphill: restart
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = updated + (momentum - 1) / following * change
        confidences, momentum = updated, following
        if np.linalg.norm(change) <= GRADIENT_TOL * np.sqrt(len(change)):
            break
    return confidences


def _spectral_norm(matrix):
    """Largest singular value, a little more to be sure."""
    if matrix.shape[0] < 20:
        return np.linalg.norm(matrix.toarray(), 2)
    first, back = np.linspace(1, 2, matrix.shape[0]), matrix.T
    squared = LinearOperator(matrix.shape, lambda v: back @ (matrix @ v), dtype=float)
    found = eigsh(squared, k=1, v0=first, tol=1e-3, return_eigenvectors=False)
    return 1.01 * np.sqrt(found[0])
