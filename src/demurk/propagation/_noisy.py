"""Label propagation that may overrule the given labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from demurk.base import DemurkEstimator, LabelClassifierMixin, LabelOutputMixin
from demurk.graph import affinity, nearest_neighbors, propagate
from demurk.utils._compat import (
    CallbackSupportMixin,
    HasMethods,
    Interval,
    StrOptions,
    _fit_context,
)
from demurk.utils._progress import fit_progress

__all__ = [
    "PROPAGATION_CONSTRAINTS",
    "NoisyLabelPropagation",
    "NoisyPropagationMixin",
]

PROPAGATION_CONSTRAINTS: dict = {
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "alpha_labeled": [Interval(Real, 0, 1, closed="left")],
    "alpha_unlabeled": [Interval(Real, 0, 1, closed="left")],
    "affinity": [StrOptions({"knn", "heat"})],
    "neighbors": [
        StrOptions({"exact", "approx"}),
        HasMethods(["fit", "kneighbors_graph"]),
    ],
    "n_jobs": [Integral, None],
}


class NoisyPropagationMixin(LabelOutputMixin, CallbackSupportMixin):
    """Propagation over the training samples, for estimators that begin with it.

    The estimator carries the parameters named in `PROPAGATION_CONSTRAINTS`.
    """

    def _propagate(self, X, labels, stage):
        """Propagate the labels and keep what was learned of the training samples.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n_samples, n_features)
            Validated features.
        labels : LabelData
            Validated labels.
        stage : callable
            From `fit_progress`; two stages are reported.

        Returns
        -------
        result : Propagation
            Soft labels, and which rows a label can reach.
        graph : NeighborGraph
            The neighbours used.
        """
        with stage("neighbour search"):
            graph = nearest_neighbors(
                X, self.n_neighbors, method=self.neighbors, n_jobs=self.n_jobs
            )
        with stage("label propagation"):
            weights = "binary" if self.affinity == "knn" else "heat"
            observed = labels.observed
            if np.array_equal(observed.all(axis=1), observed.any(axis=1)):
                # Whole rows are labelled or not: one system serves all labels.
                observed = observed[:, 0]
            alpha = np.where(observed, self.alpha_labeled, self.alpha_unlabeled)
            # Nobody else holds the weights, so that `propagate` may let them go.
            result = propagate(
                affinity(graph, weights=weights), labels.values, alpha, labeled=observed
            )
        self._set_classes(labels)
        # Without the absence of a label that is alone.
        values = result.values[:, : len(self.classes_)]
        self.label_distributions_ = values
        self.transduction_ = self._transduce(values, result.reached)
        self.neighbors_recall_ = graph.recall
        self.n_iter_ = result.n_iter
        return result, graph

    def _transduce(self, soft, reached):
        hard = self._decide(soft, strict=True)
        if reached.all():
            return hard
        warnings.warn(
            f"{np.count_nonzero(~reached)} of {len(reached)} samples cannot be reached "
            "from any labelled sample: their soft labels are 0 and they stay "
            "undecided; a larger n_neighbors would connect them.",
            UserWarning,
            stacklevel=4,
        )
        if self._single and self.classes_.dtype.kind not in "iuf":
            hard = hard.astype(object)
            hard[~reached] = None
        else:
            hard[~reached] = -1
        return hard


class NoisyLabelPropagation(
    NoisyPropagationMixin, LabelClassifierMixin, DemurkEstimator
):
    """Complete missing labels and correct noisy ones over a neighbour graph.

    Soft labels flow along the edges of a k-nearest-neighbour graph. An unlabelled
    sample takes the average of its neighbours; a labelled sample keeps only part of
    its given label, so that neighbours who agree may overrule it. One or several
    labels per sample, any of them missing.

    Read more in the :ref:`User Guide <propagation>`.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours of each sample in the graph (the paper's k).
    alpha_labeled : float, default=0.6
        How much a labelled sample listens to its neighbours, in [0, 1). 0 trusts the
        given labels without question.
    alpha_unlabeled : float, default=0.999
        The same for unlabelled samples; close to 1.
    affinity : {"knn", "heat"}, default="knn"
        Edge weights: all one, or a heat kernel of the distance whose width is the
        median distance to the k-th neighbour.
    neighbors : {"exact", "approx", "precomputed"} or transformer, default="exact"
        How neighbours are found: exact search, FAISS (extra ``ann``) with a measured
        recall, X itself as a sparse distance graph, or any scikit-learn neighbours
        transformer.
    n_jobs : int, default=None
        Threads of the neighbour search; None means 1, -1 all processors.

    Attributes
    ----------
    label_distributions_ : ndarray of shape (n_samples, n_labels)
        Soft labels in [0, 1]. The rows of a multi-label problem need not sum to one.
    transduction_ : ndarray of shape (n_samples, n_labels) or (n_samples,)
        Hard labels of the training samples: 1 where the soft label exceeds one half.
        -1 marks samples that no label can reach. One class per sample for a 1-D y.
    classes_ : ndarray of shape (n_labels,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    neighbors_recall_ : float
        Share of true neighbours found by an approximate search (1 if exact).
    n_iter_ : int
        Conjugate-gradient steps taken.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    demurk.projection.NMLSDR : Dimension reduction built on these soft labels.
    sklearn.semi_supervised.LabelSpreading : One class per sample, one shared alpha.

    Notes
    -----
    With W the symmetric neighbour graph, S its degree-normalised form and T the
    row-stochastic form of S, the soft labels solve
    ``(I - A T) F = (I - A) Y`` with A the diagonal of the alphas [1]_. The paper
    iterates ``F <- A T F + (I - A) Y``; here the equivalent symmetric positive
    definite system is solved for all labels at once by preconditioned conjugate
    gradients, which needs about a fifth of the graph products.

    Time O(n^2 D) for the exact search, then O(n k q) per step; memory O(n (k + q)).

    A missing entry in an otherwise labelled row has its own alpha, which the paper
    does not treat. Samples in a component without any label get soft labels 0.

    References
    ----------
    .. [1] K. Ø. Mikalsen, C. Soguero-Ruiz, F. M. Bianchi, R. Jenssen, "Noisy
       multi-label semi-supervised dimensionality reduction", Pattern Recognition 90,
       2019. :doi:`10.1016/j.patcog.2019.01.033`

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.propagation import NoisyLabelPropagation
    >>> X = np.array([[0.0], [0.1], [0.2], [0.3], [5.0], [5.1], [5.2], [5.3]])
    >>> y = np.array([0, -1, -1, 0, 1, -1, -1, -1])
    >>> NoisyLabelPropagation(n_neighbors=2).fit(X, y).transduction_
    array([0, 0, 0, 0, 1, 1, 1, 1])
    """

    _parameter_constraints: dict = {
        **PROPAGATION_CONSTRAINTS,
        # A graph takes the place of the features, which nothing else here needs.
        "neighbors": [
            *PROPAGATION_CONSTRAINTS["neighbors"],
            StrOptions({"precomputed"}),
        ],
    }
    _label_kind = "noisy"

    def __init__(
        self,
        n_neighbors=10,
        *,
        alpha_labeled=0.6,
        alpha_unlabeled=0.999,
        affinity="knn",
        neighbors="exact",
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.alpha_labeled = alpha_labeled
        self.alpha_unlabeled = alpha_unlabeled
        self.affinity = affinity
        self.neighbors = neighbors
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, observed=None):
        """Propagate the labels over the samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, or a sparse distance graph with ``neighbors="precomputed"``.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Noisy labels; -1 marks what was not observed.
        observed : array-like of bool of shape (n_samples,) or \
                (n_samples, n_labels), default=None
            What was observed, when y is sparse; overrides -1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, labels = self._validate_fit(X, y, observed=observed)
        with fit_progress(self, 2, X, y) as stage:
            self._propagate(X, labels, stage)
        self._fit_X = X
        return self

    def predict_proba(self, X):
        """Soft labels of new samples: the average over their nearest neighbours.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New samples.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_labels)
            Soft labels in [0, 1].
        """
        check_is_fitted(self)
        X = self._validate_new(X)
        graph = nearest_neighbors(
            self._fit_X,
            self.n_neighbors,
            queries=X,
            method=self.neighbors,
            n_jobs=self.n_jobs,
        )
        votes = graph.connectivity @ self.label_distributions_
        # A precomputed graph may give fewer than k neighbours.
        counts = np.maximum(np.diff(graph.distances.indptr), 1)
        return self._normalized(votes / counts[:, None])

    def predict(self, X):
        """Hard labels of new samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            New samples.

        Returns
        -------
        labels : ndarray of shape (n_samples, n_labels) or (n_samples,)
            0/1 for each label, or one class per sample if `fit` had a 1-D y.
        """
        return self._decide(self.predict_proba(X), strict=True)
