"""What linear reducers share: a statement each, one solver, one transform."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import replace
from numbers import Integral, Real

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from demurk.base import DemurkEstimator
from demurk.linalg._problem import solve_rows
from demurk.utils._compat import HasMethods, Interval, StrOptions, _fit_context
from demurk.utils._weights import check_weights, keep_labeled, keep_weighted

__all__ = [
    "GRAPH_CONSTRAINTS",
    "N_COMPONENTS",
    "REG",
    "LinearReducer",
    "WeightedReducer",
    "centered_targets",
    "column_means",
    "keep_labeled",
]

N_COMPONENTS = [Interval(Integral, 1, None, closed="left"), None]
REG = [Interval(Real, 0, None, closed="left"), str]
GRAPH_CONSTRAINTS = {
    "n_neighbors": [Interval(Integral, 1, None, closed="left")],
    "neighbors": [StrOptions({"exact", "approx"}), HasMethods(["fit"])],
    "n_jobs": [Integral, None],
}


class LinearReducer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DemurkEstimator):
    """Base of linear reducers.

    A reducer of its own says in `_problem` what it maximises; validation, solving,
    fitted attributes, chunks and `transform` are here. It has the parameter
    `n_components`.

    See Also
    --------
    demurk.linalg.Problem : What there is to say.

    Examples
    --------
    The directions of MDDM, with labels that count alike:

    >>> import numpy as np
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.linalg import Problem
    >>> from demurk.projection import LinearReducer
    >>> class Balanced(LinearReducer):
    ...     def __init__(self, n_components=None):
    ...         self.n_components = n_components
    ...
    ...     def _problem(self, X, labels):
    ...         return Problem(labels, combine=self._lengths)
    ...
    ...     def _lengths(self, sums):
    ...         return np.diag(sums.target_scatter.diagonal() ** -0.5)
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> Balanced(3).fit_transform(toy.data, toy.target).shape
    (400, 3)
    """

    _parameter_constraints: dict = {"n_components": N_COMPONENTS}

    # Whether rows without any label take part.
    _semi_supervised = False
    # Whether the statement of some rows looks at no others, as chunks ask for.
    _streams = False

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _problem(self, X, labels):
        """State what is maximised.

        Parameters
        ----------
        X : ndarray or csr_array of shape (n_samples, n_features)
            Validated features of all samples, or of a chunk of them.
        labels : LabelData
            Their labels.

        Returns
        -------
        problem : demurk.linalg.Problem
            With `labels` as targets, these are the centred labels.
        """
        raise NotImplementedError

    def _look_ahead(self, labels):
        """See all labels, given one by one for each chunk, before any statement."""

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, observed=None):
        """Learn the directions.

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
        return self._fit(X, y, observed)

    def _fit(self, X, y, observed, sample_weight=None):
        X, labels = self._validate_fit(X, y, observed=observed)
        if self._semi_supervised:
            weights = check_weights(sample_weight, X)
        else:
            X, labels, weights = keep_weighted(X, labels, sample_weight)
        if weights is None:
            self._learn(X, y, labels)
        else:
            self._learn(X, y, labels, weights)
        return self

    def _learn(self, X, y, labels, weights=None):
        self._look_ahead([labels])
        problem = self._problem(X, labels)
        if problem.targets is labels:
            problem = replace(problem, targets=centered_targets(labels, weights))
        if weights is not None:
            targets = problem.targets * weights[:, np.newaxis]
            problem = replace(problem, targets=targets, weights=weights)
        self._set_projection(*solve_rows(problem, X, self.n_components), X.dtype)

    def _set_projection(self, projection, mean, dtype):
        self.components_ = projection.components.astype(dtype, copy=False)
        self.eigenvalues_ = projection.eigenvalues
        self.mean_ = np.asarray(mean).astype(dtype, copy=False)

    def transform(self, X):
        """Project samples onto the learned directions.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        Z : ndarray of shape (n_samples, n_components)
            Centred samples in the reduced space.
        """
        check_is_fitted(self)
        X = self._validate_new(X)
        # Centre after projecting, so that a sparse X stays sparse.
        return X @ self.components_.T - self.mean_ @ self.components_.T

    @property
    def _n_features_out(self):
        return self.components_.shape[0]


class WeightedReducer(LinearReducer):
    """A reducer whose samples may count more or less; its problem has no weights."""

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, observed=None, sample_weight=None):
        """Learn the directions.

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
            How often each sample counts in means, scatter and dependence; one each by
            default.

        Returns
        -------
        self : object
            The fitted reducer.
        """
        return self._fit(X, y, observed, sample_weight)


def column_means(X):
    """Means of the columns of a dense or sparse X, in float64."""
    return np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()


def centered_targets(labels, weights=None):
    """Labels minus the (weighted) mean of their observed entries; 0 where not observed.

    A missing entry then contributes nothing to ``X' T``, and the columns of T still
    sum to zero, so that X need not be centred.
    """
    each = np.ones(labels.n_samples) if weights is None else weights
    counts = each @ labels.observed
    means = each @ labels.values / np.where(counts > 0, counts, 1)
    return np.where(labels.observed, labels.values - means, 0.0)
