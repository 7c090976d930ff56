"""The linear member of the stack."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.model_selection import KFold

from demurk.out_of_sample import label_means
from demurk.utils._compat import l1_logistic

__all__ = ["SparseLogistic", "folds"]

# Beside the other members more folds bring little: on emotions, scene, yeast and
# medical, with seeds of no protocol, average precision with two is .0004 below that of
# three, .001 in the pool "fast"; five were no better than three.
N_FOLDS = 2


def folds(n_rows, n_folds, random_state):
    """Split rows for out-of-fold scores.

    Parameters
    ----------
    n_rows : int
        Rows, at least two.
    n_folds : int
        Folds, if there are so many rows.
    random_state : int or None
        Seed.

    Returns
    -------
    splits : iterator of (train, test)
        Indices of the rows.
    """
    splitter = KFold(min(n_folds, n_rows), shuffle=True, random_state=random_state)
    return splitter.split(np.empty((n_rows, 1)))


class SparseLogistic(BaseEstimator):
    """L1 logistic regression per label, the mean of two strengths.

    Parameters
    ----------
    random_state : int, default=None
        Seed of the folds and of the solver.

    Attributes
    ----------
    coefs_ : list of csr_array of shape (n_labels, n_features)
        Coefficients for each strength.
    intercepts_ : ndarray of shape (n_strengths, n_labels)
        Intercepts for each strength.

    Notes
    -----
    The solver is called without the estimator around it: with hundreds of labels there
    are thousands of small fits, and checking the same features again for each of them
    took more than half of the time.
    """

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit_out_of_sample(self, X, Y, observed, weights=None):
        """Fit two folds for the out-of-sample scores, then all rows.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n_samples, n_features)
            Features; mostly zero ones are sparse.
        Y, observed : ndarray of shape (n_samples, n_labels)
            Labels, and the entries to learn from.
        weights : ndarray of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        out_of_sample : ndarray of shape (n_samples, n_labels)
            Out-of-fold scores.
        """
        if sparse.issparse(X):
            # liblinear knows only short indices.
            X = csr_array(X, dtype=np.float64)
            X.indices, X.indptr = X.indices.astype("i4"), X.indptr.astype("i4")
        else:
            X = np.ascontiguousarray(X, dtype=np.float64)
        weights = np.ones(len(Y)) if weights is None else weights
        out_of_sample = np.empty(Y.shape)
        for train, test in folds(len(Y), N_FOLDS, self.random_state):
            self._fit_labels(X[train], Y[train], observed[train], weights[train])
            out_of_sample[test] = self.predict(X[test])
        self._fit_labels(X, Y, observed, weights)
        return out_of_sample

    def _fit_labels(self, X, Y, observed, weights):
        strengths = (0.3, 1.0) if sparse.issparse(X) else (0.03, 0.1)
        means = label_means(Y, observed, weights)
        # A constant label keeps its mean: 0 and 1 up to rounding.
        constant = np.where(observed.any(axis=0), 40 * (2 * means - 1), _logit(means))
        self.intercepts_ = np.tile(constant, (len(strengths), 1))
        used = [[(np.empty(0, int), np.empty(0))] * Y.shape[1] for _ in strengths]
        seed = np.random.RandomState(self.random_state).randint(np.iinfo("i").max)
        for j in range(Y.shape[1]):
            seen = observed[:, j]
            # A soft label is the likelier one, and counts for what it is likelier.
            target = (Y[seen, j] > 0.5).astype(np.float64)
            if target.size == 0 or target.min() == target.max():
                continue
            part, each = (X, weights) if seen.all() else (X[seen], weights[seen])
            each = each * np.abs(2 * Y[seen, j] - 1)
            rows, empty = (part, target), True
            for k, strength in enumerate(strengths):
                # Where a strong penalty lets features in, a weak one need not be asked.
                level = _without_features(*rows, strength, each) if empty else None
                empty = level is not None
                if not empty:
                    columns, values, level = l1_logistic(*rows, strength, seed, each)
                    used[k][j] = columns, values
                self.intercepts_[k, j] = level
        self.coefs_ = [_stacked(rows, X.shape[1]) for rows in used]

    def predict(self, X):
        """Scores of new rows.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels)
            Mean probability over the strengths.
        """
        total = 0.0
        for coef, intercept in zip(self.coefs_, self.intercepts_):
            product = X @ coef.T
            product = product.toarray() if sparse.issparse(product) else product
            total = total + expit(product + intercept)
        return total / len(self.coefs_)


def _stacked(rows, n_features):
    """A sparse matrix from the columns and values of its rows."""
    columns, values = zip(*rows)
    ends = np.cumsum([0, *map(len, columns)])
    parts = np.concatenate(values), np.concatenate(columns), ends
    return csr_array(parts, shape=(len(rows), n_features))


def _without_features(X, y, strength, weights):
    """Intercept of an L1 logistic regression that uses no feature, else None.

    liblinear penalises the intercept as well, which moves the mean by 1/C towards one
    half. No feature enters if none has a gradient above its penalty.
    """
    n_rows, n_ones, step = weights.sum(), weights @ y, 1 / strength
    mean = np.clip(0.5, (n_ones - step) / n_rows, (n_ones + step) / n_rows)
    if np.abs(X.T @ (weights * (y - mean))).max() > step:
        return None
    return _logit(mean)


def _logit(share):
    share = np.clip(share, 1e-12, 1 - 1e-12)
    return np.log(share / (1 - share))
