"""What every linear reducer shares: validation, transform, label centring."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from dataclasses import replace
from numbers import Integral, Real

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from demurk.base import DemurkEstimator
from demurk.linalg import Projection, moments_of_chunks
from demurk.utils._compat import Interval

__all__ = [
    "N_COMPONENTS",
    "REG",
    "LinearReducer",
    "centered_targets",
    "column_means",
    "first_components",
    "keep_labeled",
    "target_moments",
    "total_scatter",
]

N_COMPONENTS = [Interval(Integral, 1, None, closed="left"), None]
REG = [Interval(Real, 0, None, closed="left"), str]


class LinearReducer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, DemurkEstimator):
    """Base of the linear reducers: ``transform`` is a product with `components_`."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _set_projection(self, projection, mean, dtype):
        self.components_ = projection.components.astype(dtype, copy=False)
        self.eigenvalues_ = projection.eigenvalues
        self.mean_ = np.asarray(mean).astype(dtype, copy=False)
        return self

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


def column_means(X):
    """Means of the columns of a dense or sparse X, in float64."""
    return np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()


def centered_targets(labels):
    """Labels minus the mean of their observed entries; 0 where not observed.

    A missing entry then contributes nothing to ``X' T``, and the columns of T still
    sum to zero, so that X need not be centred.
    """
    counts = np.maximum(labels.observed.sum(axis=0), 1)
    means = labels.values.sum(axis=0) / counts
    return np.where(labels.observed, labels.values - means, 0.0)


def keep_labeled(X, labels):
    """The labelled rows; nothing is copied where that is all of them."""
    labeled = labels.labeled
    if labeled.all():
        return X, labels
    values, observed = labels.values[labeled], labels.observed[labeled]
    return X[labeled], replace(labels, values=values, observed=observed)


def target_moments(chunks, *, scatter):
    """Moments of X and `centered_targets`, for labels that arrive in chunks.

    The means of the observed entries are known only at the end, and are taken out
    there: ``observed * (values - means)`` is linear in the two arrays summed up.
    """
    parts = moments_of_chunks(
        ((X, np.hstack([y.values, y.observed])) for X, y in chunks), scatter=scatter
    )
    q = parts.mean_t.size // 2
    seen = parts.mean_t[q:]
    means = parts.mean_t[:q] / np.where(seen > 0, seen, 1)
    parts.cross = parts.cross[:, :q] - parts.cross[:, q:] * means
    both = parts.target_scatter[:, :q] - parts.target_scatter[:, q:] * means
    parts.target_scatter = both[:q] - both[q:] * means[:, None]
    parts.mean_t = np.zeros(q)
    return parts


def total_scatter(X, mean, weights=None):
    """Weighted sum of the squared distances of the rows from `mean`, their mean."""
    weights = np.ones(X.shape[0]) if weights is None else weights
    if not issparse(X):
        rows = X - mean
        return float(np.einsum("ij,ij,i->", rows, rows, weights))
    X = X.astype(np.float64, copy=False)
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() @ weights
    return float(squares - weights.sum() * (mean @ mean))


def first_components(projection, n_components, default):
    """The leading `n_components` directions, or `default` many for None.

    A warning says so where fewer were found than asked for.
    """
    found = len(projection.eigenvalues)
    if n_components is not None and n_components > found:
        warnings.warn(
            f"n_components is {n_components}, but only {found} directions exist; "
            f"{found} are returned.",
            UserWarning,
            stacklevel=4,
        )
    d = default if n_components is None else n_components
    return Projection(projection.components[:d], projection.eigenvalues[:d])
