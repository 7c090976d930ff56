"""Partial multi-label learning by credible label elicitation."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral, Real

import numpy as np
from scipy.sparse import csr_array
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state

from demurk.graph import nearest_neighbors
from demurk.graph._reconstruction import reconstruction_graph
from demurk.multilabel._mlknn import fit_posterior
from demurk.partial_multilabel._base import PartialMultiLabelClassifier, on_candidates
from demurk.partial_multilabel._particle_parts import (
    credible_labels,
    fit_pair,
    near_votes,
    propagated,
    scaled_rows,
)
from demurk.utils._compat import (
    CallbackSupportMixin,
    Interval,
    StrOptions,
    _fit_context,
)
from demurk.utils._progress import fit_progress

__all__ = ["PARTICLE"]

# Sums of votes that are whole but for rounding stay as they are.
WHOLE = 1e-9


class PARTICLE(CallbackSupportMixin, PartialMultiLabelClassifier):
    """Partial multi-label learning by credible label elicitation (PARTICLE).

    Candidates are propagated among near samples, those that stand out are called
    credible, and a linear classifier for each pair of labels learns from them. A
    virtual label separates the labels of a sample from the others. For up to some
    dozens of labels, as there are q (q - 1) / 2 pairs.

    Read more in the :ref:`User Guide <partial_multilabel>`.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours of a sample.
    alpha : float, default=0.95
        How much a sample listens to its neighbours, in [0, 1).
    credibility : float, default=0.9
        A candidate whose confidence, scaled to [0, 1] in its row, reaches this is
        credible.
    C : float, default=1.0
        Inverse penalty of the linear classifiers.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        Loss of the pairwise classifiers; the public code takes libsvm's "hinge", which
        is slower.
    votes : {"weighted", "rounded"}, default="weighted"
        Whether the sum of the weighted votes for a label counts as it is, or rounded
        up to a whole number, as in the public code. For ``decision="virtual"``.
    decision : {"virtual", "map"}, default="virtual"
        How votes become labels: those with more votes than the virtual label, or those
        that are more likely than not given their number of votes.
    n_folds : int, default=10
        Each fold of the samples is judged by the others.
    smoothing : float, default=1.0
        Pseudo-count of ``decision="map"``.
    neighbors : {"exact", "approx"}, default="exact"
        How neighbours are found.
    n_jobs : int, default=None
        Threads of the neighbour search; None means 1, -1 all processors.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.

    Attributes
    ----------
    label_distributions_ : ndarray of shape (n_labeled, n_labels)
        Confidence in each label, as the other folds see it, scaled to [0, 1] in a row.
    credible_ : ndarray of shape (n_labeled, n_labels), bool
        Credible labels.
    noise_scores_ : csr_array of shape (n_samples, n_labels)
        How suspect each candidate is: one minus its confidence.
    pairs_ : ndarray of shape (n_classifiers, 2)
        Labels between which each classifier decides; the virtual label has the number
        n_labels.
    coef_ : ndarray of shape (n_classifiers, n_features)
        Classifiers, positive for the first label of the pair.
    intercept_ : ndarray of shape (n_classifiers,)
        Their intercepts.
    accuracies_ : ndarray of shape (n_classifiers,)
        Share of its samples that a classifier puts right: the weight of its vote.
    posterior_ : ndarray of shape (n_labels, n_labels)
        Probability of a label given its number of votes; for ``decision="map"`` only.
    thresholds_ : float
        Zero for the virtual label, one half for "map".
    classes_ : ndarray of shape (n_labels,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    DRAMA : Smooths confidences and boosts trees.

    Notes
    -----
    With T the non-negative weights with which neighbours rebuild a sample, rows summing
    to one, and Y the candidates, confidences are propagated by ``P = (alpha T P +
    (1 - alpha) Y) * Y``, rows scaled to sum one [1]_. Then each label is scaled to the
    mass it has in Y and each row to [0, 1]. A sample of another fold has the
    confidences of its neighbours, weighted by ``1 - d / sum(d)``.

    A classifier of the pair (l, m) learns from samples in which l is credible and m no
    candidate, and the reverse; that of (l, virtual) from samples in which l is
    credible, or no candidate. A pair with samples on one side only votes for it.

    The public code lets a sample be its own neighbour, which then rebuilds it alone
    and leaves its candidates as they are, and takes the counts of "map" from the test
    labels. Neither is done here. It also calls non-candidates credible where no
    candidate reaches the bound; here the best candidate is taken, as zeros are trusted.
    Its pairs have libsvm's hinge loss, ``loss="hinge"`` here, and its votes are rounded
    up, ``votes="rounded"``; liblinear's squared hinge, the default, also penalises the
    intercept.

    Time O(n^2 D) for the searches, O(n k q) a step of the propagation and q^2 / 2
    classifiers of O(n D) a step; memory O(q^2 D + n q).

    References
    ----------
    .. [1] J.-P. Fang, M.-L. Zhang, "Partial multi-label learning via credible label
       elicitation", AAAI 2019.

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.labels import add_extra_labels
    >>> from demurk.partial_multilabel import PARTICLE
    >>> toy = make_multilabel_blocks(200, random_state=0)
    >>> candidates = add_extra_labels(toy.target, random_state=0).labels
    >>> PARTICLE(random_state=0).fit(toy.data, candidates).predict(toy.data).shape
    (200, 4)
    """

    _parameter_constraints: dict = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, 1, closed="left")],
        "credibility": [Interval(Real, 0, 1, closed="right")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "votes": [StrOptions({"weighted", "rounded"})],
        "decision": [StrOptions({"virtual", "map"})],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "smoothing": [Interval(Real, 0, None, closed="left")],
        "neighbors": [StrOptions({"exact", "approx"})],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_neighbors=10,
        *,
        alpha=0.95,
        credibility=0.9,
        C=1.0,
        loss="squared_hinge",
        votes="weighted",
        decision="virtual",
        n_folds=10,
        smoothing=1.0,
        neighbors="exact",
        n_jobs=None,
        random_state=None,
    ):
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.credibility = credibility
        self.C = C
        self.loss = loss
        self.votes = votes
        self.decision = decision
        self.n_folds = n_folds
        self.smoothing = smoothing
        self.neighbors = neighbors
        self.n_jobs = n_jobs
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, observed=None):
        """Elicit credible labels and train a classifier for each pair.

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
        candidates = data.candidates.toarray() > 0
        with fit_progress(self, 2, X, y) as stage:
            with stage("credible labels"):
                self.label_distributions_ = self._confidences(data.X, candidates)
                self.credible_ = credible_labels(
                    self.label_distributions_, candidates, self.credibility
                )
            with stage("classifiers"):
                self._fit_pairs(data.X, candidates)
        self.noise_scores_ = data.on_all_rows(
            1 - on_candidates(self.label_distributions_, data.candidates)
        )
        self.thresholds_ = 0.0
        if self.decision == "map":
            self._fit_posterior(data.X)
            self.thresholds_ = 0.5
        return self

    def _confidences(self, X, candidates):
        """Confidences of each fold, as the others see it."""
        n = X.shape[0]
        if n < 4:  # too few to be judged by others
            return candidates.astype(np.float64)
        rng = check_random_state(self.random_state)
        # Dealt by the features, so that the order of the samples does not matter.
        order = np.argsort(X @ rng.normal(size=X.shape[1]), kind="stable")
        folds = KFold(min(self.n_folds, n // 2), shuffle=True, random_state=rng)
        found = np.empty(candidates.shape)
        for train, test in folds.split(order):
            train, test = order[train], order[test]
            P = propagated(self._weights(X[train]), candidates[train], self.alpha)
            near = self._search(X[train], X[test])
            found[test] = scaled_rows(near_votes(near) @ P, candidates[test])
        return found

    def _search(self, X, queries=None):
        return nearest_neighbors(
            X,
            self.n_neighbors,
            queries=queries,
            method=self.neighbors,
            n_jobs=self.n_jobs,
        ).distances

    def _weights(self, X):
        found = self._search(X)
        return reconstruction_graph(X, found.indices.reshape(X.shape[0], -1))

    def _fit_pairs(self, X, candidates):
        """Train all classifiers; a virtual label stands behind the others."""
        n_labels = candidates.shape[1]
        credible = np.column_stack([self.credible_, np.ones(len(candidates), bool)])
        excluded = np.column_stack([~candidates, np.zeros(len(candidates), bool)])
        firsts, seconds = np.triu_indices(n_labels + 1, 1)
        models = []
        for first, second in zip(firsts, seconds):
            # Against the virtual label: credible, or no candidate.
            rival_is_out = excluded[:, second] | (second == n_labels)
            for_first = credible[:, first] & rival_is_out
            for_second = credible[:, second] & excluded[:, first]
            models.append(fit_pair(X, for_first, for_second, self.C, self.loss))
        self.pairs_ = np.column_stack([firsts, seconds])
        self.coef_ = np.array([model[0] for model in models])
        self.intercept_ = np.array([model[1] for model in models])
        self.accuracies_ = np.array([model[2] for model in models])

    def _votes(self, X, weights):
        """Votes that each label and the virtual one get, (n, q + 1)."""
        n_labels = len(self.classes_)
        first_wins = X @ self.coef_.T + self.intercept_ > 0
        places = np.arange(len(weights))

        def counts(column):
            return csr_array(
                (weights, (places, self.pairs_[:, column])),
                shape=(len(weights), n_labels + 1),
            )

        return first_wins @ counts(0) + ~first_wins @ counts(1)

    def _pair_counts(self, X):
        """Number of pairs, without the virtual label, that a label wins."""
        real = (self.pairs_[:, 1] < len(self.classes_)) & (self.accuracies_ > 0)
        votes = self._votes(X, real.astype(np.float64))
        return np.rint(votes[:, :-1]).astype(np.intp)

    def _fit_posterior(self, X):
        counts, labels = self._pair_counts(X), self.credible_
        self.posterior_ = fit_posterior(
            counts,
            labels.astype(np.float64),
            np.ones_like(labels),
            labels.shape[1] - 1,
            self.smoothing,
        )

    def _scores(self, X):
        if self.decision == "map":
            counts = self._pair_counts(X)
            return self.posterior_[np.arange(counts.shape[1]), counts]
        votes = self._votes(X, self.accuracies_)
        if self.votes == "rounded":
            votes = np.ceil(votes - WHOLE)
        return (votes[:, :-1] - votes[:, -1:]) / len(self.classes_)
