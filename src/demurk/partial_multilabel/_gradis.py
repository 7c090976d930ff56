"""Multi-view partial multi-label learning with graph-based disambiguation."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral, Real

import numpy as np
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from demurk.partial_multilabel._base import PartialMultiLabelClassifier, on_candidates
from demurk.partial_multilabel._gradis_parts import (
    MAX_SEED,
    constant_score,
    disambiguated,
    fused_graph,
    label_model,
    label_scores,
    scaled,
    split_views,
    view_slices,
)
from demurk.partial_multilabel._particle_parts import credible_labels
from demurk.utils._compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    _fit_context,
)
from demurk.utils._progress import fit_progress

__all__ = ["GRADIS"]


class GRADIS(CallbackSupportMixin, PartialMultiLabelClassifier):
    """Multi-view partial multi-label learning with graph-based disambiguation (GRADIS).

    For samples described by several groups of features, the views: colours and words,
    rhythm and timbre. Neighbours are sought in each view, and their graphs are added
    up to one, over which candidates are propagated. Credible and other samples of each
    label are clustered, and the label is learned from the distances to the clusters in
    each view.

    Read more in the :ref:`User Guide <partial_multilabel>`.

    Parameters
    ----------
    views : int or list of int, default=2
        Number of blocks of equal size into which the features are cut, or the sizes of
        the blocks, in the order of the features; their sum is the number of features.
    balance : "rows" or None, default="rows"
        "rows": the weights of a sample's neighbours sum to one in each view before
        they are added. None adds them as they are, as in the paper. Distances grow with
        the number of features: as they are, the smallest view outvotes the others.
    n_neighbors : int, default=8
        Neighbours of a sample in each view.
    alpha : float, default=0.95
        How much a sample listens to its neighbours, in [0, 1).
    credibility : float, default=0.1
        A candidate whose confidence, scaled to [0, 1] in its row, reaches this is
        credible.
    cluster_share : float, default=0.1
        Clusters of the credible samples of a label, and of the others, as a share of
        the smaller group.
    max_iter : int, default=30
        Largest number of iterations of the propagation.
    tol : float, default=1e-4
        Iterations end when the confidences move by less than this.
    neighbors : {"exact", "approx"}, default="exact"
        How neighbours are found.
    n_jobs : int, default=None
        Threads of the neighbour search; None means 1, -1 all processors.
    random_state : int, RandomState instance or None, default=None
        Seed of the clusters.

    Attributes
    ----------
    label_distributions_ : ndarray of shape (n_labeled, n_labels)
        Confidence in each label, scaled to [0, 1] in a row.
    credible_ : ndarray of shape (n_labeled, n_labels), bool
        Credible labels.
    noise_scores_ : csr_array of shape (n_samples, n_labels)
        How suspect each candidate is: one minus its confidence.
    prototypes_ : list of n_labels ndarrays of shape (n_clusters, n_features)
        Centres of the clusters of each label, features divided by their standard
        deviation; None for a label that all samples have, or none.
    coef_ : list of n_labels ndarrays of shape (n_views * n_clusters,)
        Weights of the distances to the centres, the first view first, or None.
    intercept_ : ndarray of shape (n_labels,)
        Intercepts.
    n_iter_ : int
        Number of iterations of the propagation.
    thresholds_ : float
        One half.
    classes_ : ndarray of shape (n_labels,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    PARTICLE : Propagates candidates too, for features of one kind.

    Notes
    -----
    In each view, features scaled to unit variance, the k nearest neighbours j of a
    sample i at distance d have the weights ``exp(-d)``, which sum to one for each
    sample unless `balance` is None. W is their sum over the views, rows scaled
    to sum one. With P_0 the candidates, rows scaled likewise, confidences are ``P =
    (alpha W P + (1 - alpha) P_0) * Y``, rows scaled after each step; then each label
    is scaled to the mass it has in P_0, and each row to [0, 1] [1]_. The credible
    samples of a label and the others are clustered by the leading eigenvectors of the
    symmetric form of their own W, followed by k-means, and the distances to the
    centres in each view, standardised, are the features of the label.

    Differences from the authors' program: it standardises training and test samples
    together, takes the eigenvectors of smallest magnitude, searches ten neighbours for
    the clusters whatever k is, and learns the labels with libsvm's linear machine and
    Platt's probabilities, here with logistic regression at the same penalty. It calls
    no candidate of a sample credible where none reaches the bound; here the best one
    is. The published data of several views are not at hand: features are cut into
    halves, or into groups that their names tell.

    Time O(q n^2 D) for the searches, which dominate, and for m clusters O(n m D) for
    the distances of each label; memory O(n (D + q + m)) and O(m D) for each label.

    References
    ----------
    .. [1] Z.-S. Chen, X. Wu, Q.-G. Chen, Y. Hu, M.-L. Zhang, "Multi-view partial
       multi-label learning with graph-based disambiguation", AAAI 2020.

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.labels import add_extra_labels
    >>> from demurk.partial_multilabel import GRADIS
    >>> toy = make_multilabel_blocks(200, random_state=0)
    >>> candidates = add_extra_labels(toy.target, random_state=0).labels
    >>> model = GRADIS(views=[80, 240], random_state=0).fit(toy.data, candidates)
    >>> model.predict(toy.data).shape
    (200, 4)
    """

    _parameter_constraints: dict = {
        "views": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "balance": [StrOptions({"rows"}), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, 1, closed="left")],
        "credibility": [Interval(Real, 0, 1, closed="right")],
        "cluster_share": [Interval(Real, 0, 1, closed="right")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "neighbors": [StrOptions({"exact", "approx"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        views=2,
        *,
        balance="rows",
        n_neighbors=8,
        alpha=0.95,
        credibility=0.1,
        cluster_share=0.1,
        max_iter=30,
        tol=1e-4,
        neighbors="exact",
        n_jobs=None,
        random_state=None,
    ):
        self.views = views
        self.balance = balance
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.credibility = credibility
        self.cluster_share = cluster_share
        self.max_iter = max_iter
        self.tol = tol
        self.neighbors = neighbors
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, observed=None):
        """Propagate candidates over the views, then learn each label from clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features, view after view.
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
        slices = view_slices(self.views, data.X.shape[1])
        self._view_sizes = np.array([part.stop - part.start for part in slices])
        self._scale = StandardScaler(with_mean=False).fit(data.X).scale_
        views = split_views(scaled(data.X, self._scale), slices)
        candidates = data.candidates.toarray() > 0
        with fit_progress(self, 2, X, y) as stage:
            with stage("credible labels"):
                self._elicit(views, candidates)
            with stage("labels"):
                self._fit_labels(views)
        beliefs = on_candidates(self.label_distributions_, data.candidates)
        noise = data.on_all_rows(1 - beliefs)
        self.noise_scores_ = noise[:, : len(self.classes_)]
        self.thresholds_ = 0.5
        return self

    def _graph(self, views):
        search = {"method": self.neighbors, "n_jobs": self.n_jobs}
        balanced = self.balance == "rows"
        return fused_graph(views, self.n_neighbors, balanced, **search)

    def _elicit(self, views, candidates):
        self.label_distributions_, self.n_iter_ = disambiguated(
            self._graph(views), candidates, self.alpha, self.max_iter, self.tol
        )
        self.credible_ = credible_labels(
            self.label_distributions_, candidates, self.credibility
        )

    def _fit_labels(self, views):
        # One seed for all labels, whose order then does not matter.
        seed = check_random_state(self.random_state).randint(MAX_SEED)
        self.prototypes_, self.coef_, self.intercept_ = [], [], []
        for has in self.credible_.T:
            centers, coef, intercept = None, None, constant_score(has)
            if intercept is None:
                centers, coef, intercept = label_model(
                    views, has, self._graph, self.cluster_share, seed
                )
            self.prototypes_.append(centers)
            self.coef_.append(coef)
            self.intercept_.append(intercept)
        self.intercept_ = np.array(self.intercept_)

    def _scores(self, X):
        ends = np.cumsum(self._view_sizes)
        slices = [slice(e - n, e) for e, n in zip(ends, self._view_sizes)]
        views = split_views(scaled(X, self._scale), slices)
        models = zip(self.prototypes_, self.coef_, self.intercept_)
        return np.column_stack([label_scores(views, *model) for model in models])
