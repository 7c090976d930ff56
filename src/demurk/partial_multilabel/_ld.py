"""Partial multi-label learning with label distributions."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral, Real

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csr_array

from demurk.graph import affinity, nearest_neighbors, normalize_symmetric
from demurk.linalg import block_cg
from demurk.linalg._ridge import CenteredRidge
from demurk.partial_multilabel._base import (
    THRESHOLD,
    LinearPartialMultiLabelClassifier,
    on_candidates,
)
from demurk.partial_multilabel._particle_parts import row_shares
from demurk.utils._compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    _fit_context,
)
from demurk.utils._progress import fit_progress, settled

__all__ = ["PMLLD"]


class PMLLD(CallbackSupportMixin, LinearPartialMultiLabelClassifier):
    """Partial multi-label learning with label distributions (PML-LD).

    Candidates become degrees: how much a label describes a sample, told from near
    samples and from labels that come together. A linear model then learns the degrees.

    Read more in the :ref:`User Guide <partial_multilabel>`.

    Parameters
    ----------
    smoothness : float, default=1.0
        How much near samples are alike in their degrees.
    correlation_weight : float, default=1.0
        How much labels that are candidates together are alike in their degrees.
    reg : float or str, default=10.0
        Penalty of the squared coefficients; a string such as "rel:1e-3" stands for
        that share of the mean diagonal of the scatter matrix.
    insensitivity : float, default=0.1
        Distance between predicted and recovered degrees of a sample that costs
        nothing.
    n_neighbors : int, default=10
        Neighbours of a sample.
    max_iter : int, default=100
        Largest number of iterations of the second stage.
    tol : float, default=1e-4
        Iterations end when the objective falls by less than this, relatively.
    threshold : {"linear", "cardinality"} or float, default="linear"
        Where scores become labels; see :class:`PMLLCom`.
    neighbors : {"exact", "approx"}, default="exact"
        How neighbours are found.
    n_jobs : int, default=None
        Threads of the neighbour search; None means 1, -1 all processors.

    Attributes
    ----------
    label_distributions_ : ndarray of shape (n_labeled, n_labels)
        Degrees of the labelled samples: zero off the candidates, of sum one.
    coef_ : ndarray of shape (n_labels, n_features)
        Linear model.
    intercept_ : ndarray of shape (n_labels,)
        Its intercept.
    noise_scores_ : csr_array of shape (n_samples, n_labels)
        How suspect each candidate is: one minus its degree over the largest one of the
        sample.
    thresholds_ : float or ndarray of shape (n_labels + 1,)
        The cut, or weights of the scores and an intercept.
    objective_ : ndarray of shape (n_iter_,)
        Objective of the second stage after each iteration; it never rises.
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
    PARTICLE : Propagates candidates too, and then decides between pairs of labels.
    PMLLCom : Compresses the labels.

    Notes
    -----
    With Y the candidates, S the normalised weights ``exp(-d^2 / h^2)`` of the graph of
    samples and C the normalised cosines between columns of Y, degrees minimise ``|D -
    Y|^2 + a tr(D'(I - S)D) + b tr(D(I - C)D')``, where a is `smoothness` and b
    `correlation_weight`; what is off the candidates is dropped, and rows are scaled to
    sum one. In the eigenvectors of C this is one sparse system for each, solved by
    conjugate gradients. All weights are positive, and so are the degrees.

    The second stage minimises ``sum_i max(|f(x_i) - d_i| - e, 0)^2 + reg |coef|^2``,
    the multi-output regression whose loss ignores errors of length e [2]_. A sample
    costs its squared distance to a ball around its degrees, so that moving each target
    to the nearest point of its ball and solving a ridge regression, in turns, lowers
    the objective; one factor serves all turns.

    The method is named by the paper on :class:`PMLLCom`, which says in one sentence
    what it does: topology of the features, correlations of the labels, and a
    regularised multi-output regression [1]_. That sentence and the article's summary
    are followed here; weights and penalties are our own, and the regression is linear,
    for which a kernel map such as :class:`sklearn.kernel_approximation.Nystroem` can
    stand in a pipeline. Do not take its scores for those of the authors' program.

    Time O(n^2 D) for the search, O(n k q) a step of the conjugate gradients, O(q^3)
    and one ridge regression; memory O(n (k + q) + q^2 + min(n, D)^2).

    References
    ----------
    .. [1] N. Xu, Y.-P. Liu, X. Geng, "Partial multi-label learning with label
       distribution", AAAI 2020.
    .. [2] F. Perez-Cruz et al., "Multi-dimensional function approximation and
       regression estimation", ICANN 2002.

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.labels import add_extra_labels
    >>> from demurk.partial_multilabel import PMLLD
    >>> toy = make_multilabel_blocks(200, random_state=0)
    >>> candidates = add_extra_labels(toy.target, random_state=0).labels
    >>> PMLLD().fit(toy.data, candidates).predict(toy.data).shape
    (200, 4)
    """

    _parameter_constraints: dict = {
        "smoothness": [Interval(Real, 0, None, closed="left")],
        "correlation_weight": [Interval(Real, 0, None, closed="left")],
        "reg": [Interval(Real, 0, None, closed="neither"), str],
        "insensitivity": [Interval(Real, 0, None, closed="left")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "threshold": THRESHOLD,
        "neighbors": [StrOptions({"exact", "approx"})],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        smoothness=1.0,
        *,
        correlation_weight=1.0,
        reg=10.0,
        insensitivity=0.1,
        n_neighbors=10,
        max_iter=100,
        tol=1e-4,
        threshold="linear",
        neighbors="exact",
        n_jobs=None,
    ):
        self.smoothness = smoothness
        self.correlation_weight = correlation_weight
        self.reg = reg
        self.insensitivity = insensitivity
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.tol = tol
        self.threshold = threshold
        self.neighbors = neighbors
        self.n_jobs = n_jobs

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, observed=None):
        """Recover degrees from the candidates, then learn them.

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
        with fit_progress(self, 2, X, y) as stage:
            with stage("degrees"):
                degrees = self._degrees(data.X, data.candidates.toarray())
            with stage("regression"):
                self._fit_regression(data.X, degrees)
        self.label_distributions_ = degrees
        top = degrees.max(axis=1, keepdims=True)
        beliefs = on_candidates(degrees / np.where(top > 0, top, 1), data.candidates)
        return self._set_results(self._scores(data.X), beliefs, data)

    def _degrees(self, X, candidates):
        S = csr_array((X.shape[0], X.shape[0]))
        if X.shape[0] > 1:
            search = {"method": self.neighbors, "n_jobs": self.n_jobs}
            found = nearest_neighbors(X, self.n_neighbors, **search)
            S = normalize_symmetric(affinity(found, weights="heat"))
        values, vectors = eigh(label_cosines(candidates))
        system = Degrees(S, values, self.smoothness, self.correlation_weight)
        rotated = block_cg(system, candidates @ vectors, diagonal=system.diagonal())[0]
        return row_shares(np.maximum(rotated @ vectors.T, 0) * candidates)

    def _fit_regression(self, X, degrees):
        ridge = CenteredRidge(X, self.reg)
        targets, objective = degrees, []
        for _ in range(self.max_iter):
            coef, intercept = ridge.solve(targets)
            errors = ridge.fitted(coef, intercept) - degrees
            lengths = np.linalg.norm(errors, axis=1, keepdims=True)
            beyond = np.maximum(lengths - self.insensitivity, 0)
            objective.append(np.sum(beyond**2) + ridge.penalty * np.sum(coef**2))
            if settled(objective, self.tol):
                break
            inside = 1 - beyond / np.where(lengths > 0, lengths, 1)
            targets = degrees + inside * errors
        self.coef_, self.intercept_ = coef, intercept
        self.objective_, self.n_iter_ = np.array(objective), len(objective)


def label_cosines(candidates):
    """Cosines between columns, normalised by their sums; zero for empty columns."""
    products = candidates.T @ candidates
    lengths = np.sqrt(np.diag(products))
    scale = 1 / np.where(lengths > 0, lengths, 1)
    cosines = scale[:, None] * products * scale
    scale = 1 / np.sqrt(np.where(lengths > 0, cosines.sum(axis=1), 1))
    return scale[:, None] * cosines * scale


class Degrees:
    """What multiplies the degrees, one column for each eigenvector of the labels.

    Parameters
    ----------
    S : csr_array of shape (n, n)
        Normalised graph of the samples.
    values : ndarray of shape (q,)
        Eigenvalues of the normalised label graph.
    smoothness, correlation : float
        Weights of both graphs.
    """

    def __init__(self, S, values, smoothness, correlation):
        self.S, self.smoothness = S, smoothness
        self.shift = 1 + smoothness + correlation * (1 - values)

    def __matmul__(self, D):
        """Product with an (n, q) block."""
        return self.shift * D - self.smoothness * (self.S @ D)

    def diagonal(self):
        """Of the system of each column, (n, q)."""
        return np.tile(self.shift, (self.S.shape[0], 1))
