"""What every linear reducer shares: validation, transform, label centring."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from demurk.base import DemurkEstimator
from demurk.utils._compat import Interval

__all__ = ["N_COMPONENTS", "LinearReducer", "centered_targets", "column_means"]

N_COMPONENTS = [Interval(Integral, 1, None, closed="left"), None]


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
