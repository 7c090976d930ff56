"""What the candidate-set classifiers share: validation, decisions, the simplex."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.sparse import csr_array, issparse
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from demurk.base import DemurkEstimator, LabelClassifierMixin

__all__ = [
    "CandidateClassifier",
    "DecisionMixin",
    "LinearCandidateClassifier",
    "informative_rows",
    "uniform_confidences",
]


class CandidateClassifier(LabelClassifierMixin, DemurkEstimator):
    """Base of the classifiers that learn from candidate sets.

    A method gives scores of shape (n_samples, n_classes), larger is better. The best
    class is predicted, the first one on ties, and never one that was no candidate.
    """

    _label_kind = "candidates"
    _moves_far_rows = True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # y may have many columns, but a sample has one class.
        tags.target_tags.multi_output = False
        return tags

    def _validate_candidates(self, X, y, observed=None, *, min_classes=1):
        """Check X and y once per fit; return features and candidates (n, q), bool.

        Entries that were not observed are candidates, so that an unlabelled row may be
        anything that some other row may be.
        """
        X, labels = self._validate_fit(X, y, observed=observed)
        given = labels.values > 0
        self.classes_ = labels.classes
        self._possible = given.any(axis=0)
        n_possible = np.count_nonzero(self._possible)
        if n_possible < min_classes:
            raise ValueError(
                f"y names one class only ({self.classes_[self._possible][0]!r}), but "
                f"{type(self).__name__} needs samples that exclude some class: give "
                f"candidates of at least {min_classes} classes."
            )
        candidates = (given | ~labels.observed) & self._possible
        if n_possible > 1 and not informative_rows(candidates).any():
            raise ValueError(
                f"Every sample has all {n_possible} classes as candidates, from which "
                "nothing can be learned: give some samples fewer candidates."
            )
        return (csr_array(X) if issparse(X) else X), candidates

    def _label_columns(self):
        """Candidates and classes alike tell what a prediction is worth."""
        return None

    def _scores(self, X):
        """Scores of checked samples, (n, q)."""
        raise NotImplementedError

    def _possible_scores(self, X):
        check_is_fitted(self)
        scores = self._scores(self._validate_new(X))
        return np.where(self._possible, scores, -np.inf)

    def _probabilities(self, scores):
        """Turn scores, -inf for impossible classes, into rows that sum to one."""
        return softmax(scores, axis=1)

    def predict_proba(self, X):
        """Share of belief that each class gets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes)
            Rows sum to one; zero for a class that was never a candidate. They rank
            the classes and are not calibrated.
        """
        return self._probabilities(self._possible_scores(X))

    def predict(self, X):
        """Class of each sample.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        labels : ndarray of shape (n_samples,)
            The class of the largest score, the first one on ties.
        """
        best = self._possible_scores(X).argmax(axis=1)
        return self.classes_[best]


class DecisionMixin:
    """Show the scores as `decision_function`, in scikit-learn's shape."""

    def decision_function(self, X):
        """Score the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
            Larger is better, -inf for a class that was never a candidate. With two
            classes the score of the second one less that of the first.
        """
        scores = self._possible_scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


class LinearCandidateClassifier(DecisionMixin, CandidateClassifier):
    """Base of the linear methods: scores are ``X coef_' + intercept_``."""

    def _scores(self, X):
        return X @ self.coef_.T + self.intercept_

    def _full(self, coef, intercept):
        """Attributes over all classes, zero where a class was never a candidate."""
        shape = len(self.classes_), coef.shape[1]
        full_coef, full_intercept = np.zeros(shape), np.zeros(shape[0])
        full_coef[self._possible] = coef
        full_intercept[self._possible] = intercept
        return {"coef_": full_coef, "intercept_": full_intercept}


def informative_rows(candidates):
    """Rows that exclude a class which some row has as a candidate."""
    sizes = candidates.sum(axis=1)
    return sizes < np.count_nonzero(candidates.any(axis=0))


def uniform_confidences(candidates):
    """Equal confidence in all candidates of a sample."""
    return candidates / candidates.sum(axis=1, keepdims=True)
