"""Discriminative and correlative partial multi-label learning."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral, Real

import numpy as np
from scipy import sparse
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator
from sklearn.preprocessing import normalize
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils import check_random_state

from demurk.graph import nearest_neighbors
from demurk.graph._reconstruction import reconstruction_graph
from demurk.linalg import block_cg, project_simplex
from demurk.linalg._admm import admm
from demurk.linalg._ridge import CenteredRidge
from demurk.partial_multilabel._base import (
    THRESHOLD,
    PartialMultiLabelClassifier,
    label_order,
    on_candidates,
)
from demurk.utils._compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    _fit_context,
)
from demurk.utils._progress import fit_progress

__all__ = ["DRAMA"]

# Weight of the augmented term, and accuracy of the linear solves within a step.
PENALTY = 1.0
SOLVE_TOL = 1e-9
# Added to the quadratic form, which is zero for constant confidences.
SHIFT = 1e-6


class DRAMA(CallbackSupportMixin, PartialMultiLabelClassifier):
    """Discriminative and correlative partial multi-label learning (DRAMA).

    First a confidence in every label of every sample, as smooth over near samples as
    the candidates allow; then boosted trees that fit the confidences and see those of
    the other labels. Finds what a linear model cannot, at a price that grows with the
    product of features and labels.

    Read more in the :ref:`User Guide <partial_multilabel>`.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours that rebuild a sample.
    candidate_margin : float, default=0.01
        A candidate has at least minus this confidence (delta_1).
    other_margin : float, default=0.5
        Any other label has at most minus this confidence (delta_2).
    reg : float or str, default=1.0
        Penalty of the linear model from which boosting starts. A string such as
        "rel:1e-3" stands for that share of the mean diagonal of the scatter matrix of
        the features.
    n_estimators : int, default=10
        Number of trees.
    max_depth : int, default=5
        Depth of a tree.
    max_iter : int, default=200
        Largest number of iterations for the confidences.
    tol : float, default=1e-5
        They end when both residuals are below this.
    threshold : float or {"cardinality", "linear"}, default=0.0
        Where scores become labels; see :class:`PMLLCom`. Confidences are positive for
        labels believed to be true.
    neighbors : {"exact", "approx"}, default="exact"
        How neighbours are found.
    n_jobs : int, default=None
        Threads of the neighbour search; None means 1, -1 all processors.
    random_state : int, RandomState instance or None, default=None
        Seed of the trees, for splits that are equally good.

    Attributes
    ----------
    label_distributions_ : ndarray of shape (n_labeled, n_labels)
        Confidences in the labels of the labelled samples.
    noise_scores_ : csr_array of shape (n_samples, n_labels)
        How suspect each candidate is: one minus its confidence.
    coef_ : ndarray of shape (n_labels, n_features)
        Linear model from which boosting starts.
    intercept_ : ndarray of shape (n_labels,)
        Its intercept.
    trees_ : list of DecisionTreeRegressor
        Trees, in the order of the rounds.
    tree_weights_ : ndarray of shape (n_estimators,)
        Factor of each tree.
    thresholds_ : float or ndarray of shape (n_labels + 1,)
        The cut, or weights of the scores and an intercept.
    residuals_ : ndarray of shape (n_iter_, 2)
        Relative primal and dual residual of every iteration.
    n_iter_ : int
        Number of iterations for the confidences.
    classes_ : ndarray of shape (n_labels,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    PARTICLE : Propagates candidates, then trains a classifier for each pair of labels.

    Notes
    -----
    With rows of X scaled to length one and W the non-negative weights with which their
    neighbours rebuild them, the confidences minimise ``|(I - W) C|^2`` subject to
    ``C >= -delta_1`` on candidates, ``C <= -delta_2`` elsewhere, and a sum of at least
    one over the candidates of a sample [1]_; a sample without candidates has no such
    sum. The paper solves one quadratic programme per label; here all labels advance
    together by alternating directions, with conjugate gradients on one sparse matrix
    and an exact projection of the rows.

    A sample is never its own neighbour. Boosting starts from ridge regression; the
    paper starts from support vector regression, label by label. One tree serves all
    labels here; the paper does not say. Trees split computed confidences, so that
    rounding errors choose between splits that are equally good: on another processor
    single samples may get other scores.

    Time O(n^2 D) for the search, O(n k q) for each of the dozens of products of an
    iteration, and O(n (D + q) q depth) a tree; memory O(n (D + q)).

    References
    ----------
    .. [1] H. Wang, W. Liu, Y. Zhao, C. Zhang, T. Hu, G. Chen, "Discriminative and
       correlative partial multi-label learning", IJCAI 2019.

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.labels import add_extra_labels
    >>> from demurk.partial_multilabel import DRAMA
    >>> toy = make_multilabel_blocks(200, random_state=0)
    >>> candidates = add_extra_labels(toy.target, random_state=0).labels
    >>> DRAMA(random_state=0).fit(toy.data, candidates).predict(toy.data).shape
    (200, 4)
    """

    _parameter_constraints: dict = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "candidate_margin": [Interval(Real, 0, None, closed="left")],
        "other_margin": [Interval(Real, 0, None, closed="left")],
        "reg": [Interval(Real, 0, None, closed="neither"), str],
        "n_estimators": [Interval(Integral, 0, None, closed="left")],
        "max_depth": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "threshold": THRESHOLD,
        "neighbors": [StrOptions({"exact", "approx"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_neighbors=10,
        *,
        candidate_margin=0.01,
        other_margin=0.5,
        reg=1.0,
        n_estimators=10,
        max_depth=5,
        max_iter=200,
        tol=1e-5,
        threshold=0.0,
        neighbors="exact",
        n_jobs=None,
        random_state=None,
    ):
        self.n_neighbors = n_neighbors
        self.candidate_margin = candidate_margin
        self.other_margin = other_margin
        self.reg = reg
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.neighbors = neighbors
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, observed=None):
        """Find the confidences, and boost trees that predict them.

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
        rows = normalize(data.X)
        # Trees break ties by the order of their features, some of which are labels.
        self._order = label_order(data.X, data.candidates)
        with fit_progress(self, 3, X, y) as stage:
            with stage("neighbour search"):
                graph = self._weights(rows)
            with stage("confidences"):
                smooth = SmoothConfidences(
                    graph,
                    data.candidates.toarray()[:, self._order] > 0,
                    self.candidate_margin,
                    self.other_margin,
                )
                self.residuals_ = admm(
                    smooth.step,
                    penalty=PENALTY,
                    settled=self.tol,
                    tol=self.tol,
                    max_iter=self.max_iter,
                )
            with stage("boosting"):
                scores = self._in_place(self._boost(rows, smooth.B))
        self.label_distributions_ = self._in_place(smooth.B)
        self.n_iter_ = len(self.residuals_)
        confidences = on_candidates(self.label_distributions_, data.candidates)
        return self._set_results(scores, confidences, data)

    def _in_place(self, values):
        """Columns back from the order of the fit to that of the user."""
        out = np.empty_like(values)
        out[:, self._order] = values
        return out

    def _weights(self, X):
        if X.shape[0] < 2:
            return sparse.csr_array((X.shape[0], X.shape[0]))
        found = nearest_neighbors(
            X, self.n_neighbors, method=self.neighbors, n_jobs=self.n_jobs
        ).distances
        return reconstruction_graph(X, found.indices.reshape(X.shape[0], -1))

    def _boost(self, X, targets):
        """Fit the linear model and the trees; return the scores of the rows."""
        rng = check_random_state(self.random_state)
        model = CenteredRidge(X, self.reg)
        coef, intercept = model.solve(targets)
        self.coef_ = self._in_place(coef.T).T
        self.intercept_ = self._in_place(intercept[np.newaxis])[0]
        scores = model.fitted(coef, intercept)
        self.trees_, steps = [], []
        for _ in range(self.n_estimators):
            tree = DecisionTreeRegressor(max_depth=self.max_depth, random_state=rng)
            design, rest = beside(X, scores), targets - scores
            found = tree.fit(design, rest).predict(design).reshape(scores.shape)
            size = np.vdot(found, found)
            step = np.vdot(found, rest) / size if size > 0 else 0.0
            scores = scores + step * found
            self.trees_.append(tree)
            steps.append(step)
        self.tree_weights_ = np.array(steps)
        return scores

    def _scores(self, X):
        X = normalize(X)
        scores = (X @ self.coef_.T + self.intercept_)[:, self._order]
        for tree, step in zip(self.trees_, self.tree_weights_):
            found = tree.predict(beside(X, scores)).reshape(scores.shape)
            scores = scores + step * found
        # Leaves of equal confidences differ by rounding; such labels tie.
        return self._in_place(np.round(scores, 10))


class SmoothConfidences:
    """Smooth confidences C under the constraints, and their feasible copy B.

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Weights W with which neighbours rebuild a sample.
    candidates : ndarray of shape (n, q), bool
        Candidates.
    candidate_margin, other_margin : float
        The margins delta_1 and delta_2.
    """

    def __init__(self, graph, candidates, candidate_margin, other_margin):
        self.candidates = candidates
        self.margins = candidate_margin, other_margin
        self.rest = sparse.eye_array(graph.shape[0], format="csr") - graph
        self.C = np.where(candidates, 1.0, -other_margin)
        self.B = self.project(self.C)
        self.T = np.zeros_like(self.C)  # multiplier over the penalty

    def step(self, rho):
        """Update both copies once; return the relative primal and dual residuals."""
        before, rest = self.B, self.rest

        def product(v):
            return 2 * (rest.T @ (rest @ v)) + (rho + 2 * SHIFT) * v

        n = rest.shape[0]
        operator = LinearOperator(
            (n, n), matvec=product, matmat=product, dtype=np.float64
        )
        right = rho * (self.B - self.T)
        self.C, _ = block_cg(operator, right, start=self.C, tol=SOLVE_TOL)
        self.B = self.project(self.C + self.T)
        gap = self.C - self.B
        self.T = self.T + gap
        size = max(np.linalg.norm(self.B), 1e-300)
        dual = rho * np.linalg.norm(self.B - before) / size
        return np.linalg.norm(gap) / size, dual

    def project(self, values):
        """Nearest matrix that meets the constraints, row by row.

        Candidates are cut from below. If they then sum to less than one, what they
        have above the bound is moved to the simplex of the size that is missing.
        """
        low, high = -self.margins[0], -self.margins[1]
        mask = self.candidates
        bounded = np.where(mask, np.maximum(values, low), np.minimum(values, high))
        total = np.sum(bounded, axis=1, where=mask)
        short = (total < 1) & mask.any(axis=1)
        if short.any():
            inside = mask[short]
            size = 1 - low * inside.sum(axis=1, keepdims=True)
            raised = project_simplex((values[short] - low) / size, inside)
            bounded[short] = np.where(inside, low + size * raised, bounded[short])
        return bounded

    def objective(self, values):
        """Squared norm of what the neighbours leave unexplained of some values."""
        rest = self.rest @ values
        return float(np.vdot(rest, rest) + SHIFT * np.vdot(values, values))


def beside(X, scores):
    """Features and scores as one matrix for a tree, which knows float32 only."""
    if issparse(X):
        both = sparse.hstack([X, scores], format="csr", dtype=np.float32)
        # scikit-learn's trees read 32-bit indices.
        both.indices = both.indices.astype(np.int32, copy=False)
        both.indptr = both.indptr.astype(np.int32, copy=False)
        return both
    return np.hstack([X, scores]).astype(np.float32)
