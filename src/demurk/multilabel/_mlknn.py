"""Multi-label k nearest neighbours."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral, Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from demurk.base import DemurkEstimator, LabelClassifierMixin, LabelOutputMixin
from demurk.graph import nearest_neighbors
from demurk.utils._compat import HasMethods, Interval, StrOptions, _fit_context
from demurk.utils._weights import keep_weighted

__all__ = ["MLkNN", "fit_posterior"]


def fit_posterior(counts, values, observed, n_neighbors, smoothing, weights=None):
    """Posterior of each label given how many neighbours carry it.

    Parameters
    ----------
    counts : ndarray of int of shape (n_samples, n_labels)
        Neighbours of each sample that carry the label.
    values, observed : ndarray of shape (n_samples, n_labels)
        Labels, and which of them were observed.
    n_neighbors : int
        The k behind `counts`.
    smoothing : float
        Pseudo-count s added to every cell.
    weights : ndarray of shape (n_samples,), default=None
        How often each sample counts.

    Returns
    -------
    posterior : ndarray of shape (n_labels, n_neighbors + 1)
        Probability of the label for every possible count.
    """
    n_labels = values.shape[1]
    n_bins = n_neighbors + 1
    cells = counts + n_bins * np.arange(n_labels)
    times = None if weights is None else np.repeat(weights[:, None], n_labels, axis=1)

    def histogram(mask):
        found = np.bincount(
            cells[mask],
            weights=None if times is None else times[mask],
            minlength=n_labels * n_bins,
        )
        return found.reshape(n_labels, n_bins)

    positive = histogram(observed & (values > 0))
    negative = histogram(observed & (values == 0))
    n_positive = positive.sum(axis=1, keepdims=True)
    n_observed = n_positive + negative.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        prior = (smoothing + n_positive) / (2 * smoothing + n_observed)
        joint_1 = prior * (smoothing + positive)
        joint_1 /= smoothing * n_bins + n_positive
        joint_0 = (1 - prior) * (smoothing + negative)
        joint_0 /= smoothing * n_bins + n_observed - n_positive
        posterior = joint_1 / (joint_1 + joint_0)
    # Without smoothing a count may never have been seen: only the prior is left.
    posterior = np.where(np.isnan(posterior), prior, posterior)
    return np.nan_to_num(posterior)


class MLkNN(LabelOutputMixin, LabelClassifierMixin, DemurkEstimator):
    """Multi-label k nearest neighbours.

    For each label on its own: count the neighbours that carry it, and look up how
    probable the label was among training samples with that count. A strong, simple
    classifier behind any dimension reduction. Rows without labels are ignored.

    Read more in the :ref:`User Guide <mlknn>`.

    Parameters
    ----------
    n_neighbors : int, default=10
        Neighbours that are counted.
    smoothing : float, default=1.0
        Pseudo-count of every cell (the paper's s).
    neighbors : {"exact", "approx"} or transformer, default="exact"
        How neighbours are found; see
        :class:`~demurk.propagation.NoisyLabelPropagation`.
    n_jobs : int, default=None
        Threads of the neighbour search; None means 1, -1 all processors.

    Attributes
    ----------
    posterior_ : ndarray of shape (n_labels, n_neighbors + 1)
        Probability of each label given the number of neighbours that carry it.
    classes_ : ndarray of shape (n_labels,)
        Class values of a 1-D y, column names of a frame, or 0, 1, ...
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, when X had string column names.

    See Also
    --------
    SemiSupervisedMLkNN : Cleans and completes the labels first.

    Notes
    -----
    Training samples are never their own neighbours [1]_; some public implementations
    count them. A label is predicted when its posterior reaches one half. Entries that
    were not observed enter neither the counts nor the tables. A sample of weight w
    enters the tables w times, but is one neighbour; weight zero leaves it out.

    Time: one neighbour search for `fit` and one for `predict`, O(n^2 D) and O(m n D);
    everything else is O(n k q). Memory O(n (D + k + q)).

    References
    ----------
    .. [1] M.-L. Zhang, Z.-H. Zhou, "ML-KNN: A lazy learning approach to multi-label
       learning", Pattern Recognition 40(7), 2007. :doi:`10.1016/j.patcog.2006.12.019`

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.multilabel import MLkNN
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> model = MLkNN().fit(toy.data[:300], toy.target[:300])
    >>> model.predict(toy.data[300:]).shape
    (100, 4)
    """

    _parameter_constraints: dict = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "smoothing": [Interval(Real, 0, None, closed="left")],
        "neighbors": [
            StrOptions({"exact", "approx"}),
            HasMethods(["fit", "kneighbors_graph"]),
        ],
        "n_jobs": [Integral, None],
    }
    _label_kind = "labels"

    def __init__(
        self, n_neighbors=10, *, smoothing=1.0, neighbors="exact", n_jobs=None
    ):
        self.n_neighbors = n_neighbors
        self.smoothing = smoothing
        self.neighbors = neighbors
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, observed=None, sample_weight=None):
        """Learn the tables from the labelled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Labels; -1 marks what was not observed.
        observed : array-like of bool of shape (n_samples,) or \
                (n_samples, n_labels), default=None
            What was observed, when y is sparse; overrides -1.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each sample counts in the tables; one each by default.

        Returns
        -------
        self : object
            The fitted classifier.
        """
        X, labels = self._validate_fit(X, y, observed=observed)
        self._set_classes(labels)
        X, labels, weights = keep_weighted(X, labels, sample_weight)
        return self._fit_tables(X, labels.values, labels.observed, weights=weights)

    def _fit_tables(self, X, values, observed, graph=None, weights=None):
        if X.shape[0] < 2:
            raise ValueError(
                "Only one sample is labelled, but MLkNN needs at least 2 to count "
                "neighbours: label more samples."
            )
        self._fit_X, self._fit_values = X, values
        k = min(self.n_neighbors, X.shape[0] - 1)
        if graph is None:
            graph = nearest_neighbors(X, k, **self._search)
        counts = self._count(graph)
        self.posterior_ = fit_posterior(
            counts, values, observed, k, self.smoothing, weights
        )
        return self

    @property
    def _search(self):
        return {"method": self.neighbors, "n_jobs": self.n_jobs}

    def _count(self, graph):
        return np.rint(graph.connectivity @ self._fit_values).astype(np.intp)

    def predict_proba(self, X):
        """Probability of each label.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_labels)
            Probabilities; rows sum to one only if `fit` had a 1-D y.
        """
        check_is_fitted(self)
        X = self._validate_new(X)
        k = self.posterior_.shape[1] - 1
        counts = self._count(
            nearest_neighbors(self._fit_X, k, queries=X, **self._search)
        )
        return self._normalized(self.posterior_[np.arange(counts.shape[1]), counts])

    def predict(self, X):
        """Labels of samples.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        labels : ndarray of shape (n_samples, n_labels) or (n_samples,)
            0/1 for each label, or one class per sample if `fit` had a 1-D y.
        """
        return self._decide(self.predict_proba(X))
