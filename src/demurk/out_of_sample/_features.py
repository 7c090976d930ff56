"""The views of the features that the members of a stack look at."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

__all__ = ["MOSTLY_ZERO", "FeatureViews"]

# Data with more zeros than this are counts or words rather than measurements.
MOSTLY_ZERO = 0.8


class FeatureViews(BaseEstimator):
    """Bring features to the scale a learner needs, by what kind of data they are.

    Mostly zero features (words, counts, indicators) keep their zeros: they are weighted
    and the rows brought to unit length. Other features are standardised.

    Parameters
    ----------
    tfidf : bool, default=True
        Whether mostly zero features are weighted by their inverse document frequency.
    n_components : int, default=30
        Principal components of the views "reduced" and "raw+reduced"; 0 for none.
    random_state : int, RandomState instance or None, default=None
        Seed of the principal components of large data.

    Attributes
    ----------
    mostly_zero_ : bool
        Whether more than 80 % of the entries are zero.
    mean_, scale_ : ndarray of shape (n_features,)
        What is subtracted from each feature, and what it is multiplied with.
    max_abs_ : ndarray of shape (n_features,)
        Largest magnitude of each feature.
    pca_ : PCA or None
        Principal components of the scaled features.

    Notes
    -----
    The views are

    - "raw": the features as they are;
    - "scaled": mostly zero features times ``log((1 + n) / (1 + df)) + 1``, with df the
      rows where a feature is not zero, in rows of unit length; others standardised;
    - "linear": mostly zero features divided by their largest magnitude; others
      standardised;
    - "reduced": principal components of "scaled";
    - "raw+reduced": both side by side.

    Time O(n D) and the principal components, O(n D k); memory one copy of X per view.
    """

    def __init__(self, *, tfidf=True, n_components=30, random_state=None):
        self.tfidf = tfidf
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X, y=None):
        """Learn the scales from all rows, labelled or not.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n_samples, n_features)
            Validated features.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted views.
        """
        n_rows, n_features = X.shape
        counts = _nonzero_counts(X)
        self.mostly_zero_ = bool(1 - counts.sum() / (n_rows * n_features) > MOSTLY_ZERO)
        self.max_abs_ = np.maximum(_columns(abs(X).max(axis=0)), 0)
        self.mean_ = np.zeros(n_features)
        self.scale_ = np.ones(n_features)
        if not self.mostly_zero_:
            dense = _dense(X)
            self.mean_ = dense.mean(axis=0, dtype=np.float64)
            self.scale_ = _inverse(dense.std(axis=0, dtype=np.float64), self.max_abs_)
        elif self.tfidf:
            self.scale_ = np.log((1 + n_rows) / (1 + counts)) + 1
        self.pca_ = self._fit_pca(X) if self.n_components else None
        return self

    def _fit_pca(self, X):
        scaled = self._scaled(X)
        n_components = min(self.n_components, *scaled.shape)
        solver = "auto"
        if sparse.issparse(scaled):
            spread = scaled.max(axis=0) - scaled.min(axis=0)
            if spread.nnz == 0:
                scaled = scaled[:2].toarray()  # all rows are the same
                n_components = min(n_components, *scaled.shape)
            elif n_components < min(scaled.shape):
                solver = "arpack"  # centres a sparse matrix without filling it
            else:
                scaled = scaled.toarray()
        pca = PCA(n_components, svd_solver=solver, random_state=self.random_state)
        with np.errstate(divide="ignore", invalid="ignore"):  # features without spread
            return pca.fit(scaled)

    def views(self, X, names):
        """Compute several views at once.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n_samples, n_features)
            Validated features.
        names : iterable of str
            Which views.

        Returns
        -------
        views : dict of str to {ndarray, csr_array}
            The views asked for.
        """
        check_is_fitted(self)
        names = set(names)
        found = {"raw": X}
        if names & {"scaled", "reduced", "raw+reduced"}:
            found["scaled"] = self._scaled(X)
        if names & {"reduced", "raw+reduced"}:
            found["reduced"] = self.pca_.transform(found["scaled"])
        if "raw+reduced" in names:
            found["raw+reduced"] = _side_by_side(X, found["reduced"])
        if "linear" in names:
            found["linear"] = self._linear(X)
        return {name: found[name] for name in names}

    def _scaled(self, X):
        if not self.mostly_zero_:
            return (_dense(X) - self.mean_) * self.scale_
        weighted = csr_array(X, dtype=np.float64) * self.scale_[np.newaxis, :]
        return normalize(csr_array(weighted))

    def _linear(self, X):
        if not self.mostly_zero_:
            return (_dense(X) - self.mean_) * self.scale_
        divided = csr_array(X, dtype=np.float64) * _inverse(self.max_abs_)[None, :]
        return csr_array(divided)


def _nonzero_counts(X):
    if sparse.issparse(X):
        return np.bincount(X.indices[X.data != 0], minlength=X.shape[1])
    return np.count_nonzero(X, axis=0)


def _columns(values):
    """One number per column, from a dense or a sparse row."""
    if sparse.issparse(values):
        values = values.toarray()
    return np.asarray(values, dtype=np.float64).ravel()


def _dense(X):
    X = X.toarray() if sparse.issparse(X) else X
    return np.asarray(X, dtype=np.float64)


def _inverse(scale, magnitude=1.0):
    """1 / scale, and 0 where a feature does not vary beyond rounding."""
    varies = scale > 1e-12 * magnitude
    return np.divide(1.0, scale, out=np.zeros_like(scale), where=varies)


def _side_by_side(X, reduced):
    if sparse.issparse(X):
        return csr_array(sparse.hstack([X, csr_array(reduced)], format="csr"))
    return np.hstack([X, reduced])
