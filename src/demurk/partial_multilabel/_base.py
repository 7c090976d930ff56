"""What the room shares: candidates, confidences, noise scores, thresholds, labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from numbers import Real

import numpy as np
from scipy.sparse import csr_array, hstack, issparse
from sklearn.utils import gen_batches

from demurk.base import CUT_MARGIN, ScoreClassifier, as_rows, linear_threshold
from demurk.utils._compat import Interval, StrOptions

__all__ = [
    "THRESHOLD",
    "LinearPartialMultiLabelClassifier",
    "PartialMultiLabelClassifier",
    "TrainingRows",
    "cardinality_threshold",
    "dealt",
    "kept_candidates",
    "label_order",
    "on_candidates",
    "product_on",
    "with_constant",
]

# Numbers that a product on candidates holds at a time.
CHUNK_NUMBERS = 2**20

THRESHOLD = [
    StrOptions({"cardinality", "linear"}),
    Interval(Real, None, None, closed="neither"),
]


def with_constant(X):
    """X with a last column of ones."""
    ones = np.ones((X.shape[0], 1))
    if issparse(X):
        return csr_array(hstack([X, ones], format="csr"))
    return np.hstack([X, ones])


@dataclass(frozen=True)
class TrainingRows:
    """What a fit learns from.

    Attributes
    ----------
    X : {ndarray, csr_array} of shape (n_labeled, d)
        Features of the labelled rows in float64.
    candidates : csr_array of shape (n_labeled, q)
        One where a label is a candidate, columns sorted in each row.
    labeled : ndarray of shape (n,), bool
        The rows that are labelled.
    others : {ndarray, csr_array} of shape (n - n_labeled, d)
        Features of the rows that are left out.
    """

    X: np.ndarray | csr_array
    candidates: csr_array
    labeled: np.ndarray
    others: np.ndarray | csr_array

    def on_all_rows(self, values):
        """Values of the candidates as (n, q); rows left out hold nothing."""
        Y = self.candidates
        counts = np.zeros(len(self.labeled), dtype=Y.indptr.dtype)
        counts[self.labeled] = np.diff(Y.indptr)
        indptr = np.concatenate([[0], np.cumsum(counts)])
        shape = len(self.labeled), Y.shape[1]
        return csr_array((values, Y.indices.copy(), indptr), shape=shape)


class PartialMultiLabelClassifier(ScoreClassifier):
    """Base of the classifiers that learn from candidates of which some are true.

    A method has a parameter `threshold`, and ends its `fit` with `_set_results`.
    """

    _label_kind = "extra"
    _moves_far_rows = True

    def _validate_candidates(self, X, y, observed):
        """Check X and y once per fit.

        An entry that was not observed cannot be excluded, and is a candidate; a row
        without any observed entry is left out.
        """
        X, labels = self._validate_fit(X, y, observed=observed)
        self._set_classes(labels)
        labeled = labels.labeled
        possible = (labels.values > 0) | ~labels.observed
        candidates = csr_array(possible[labeled].astype(np.float64))
        if candidates.nnz == 0:
            raise ValueError(
                "y has no candidate label in any row, from which nothing can be "
                "learned: mark possible labels with 1."
            )
        X = as_rows(X)
        rows = X if labeled.all() else X[labeled]
        return TrainingRows(rows, candidates, labeled, X[~labeled])

    def _set_results(self, scores, confidences, data):
        """Set the noise scores and the threshold.

        Parameters
        ----------
        scores : ndarray of shape (n_labeled, q)
            What the fitted model gives the training rows.
        confidences : ndarray of shape (n_candidates,)
            Belief that a candidate is true, about 1 for a true and 0 for a wrong one,
            in the order in which the candidates are stored.
        data : TrainingRows
            What was learned from.
        """
        noise = data.on_all_rows(1 - confidences)
        self.noise_scores_ = noise[:, : len(self.classes_)]
        self.thresholds_ = self._threshold(scores, confidences, data.candidates)
        return self

    def _threshold(self, scores, confidences, candidates):
        if not isinstance(self.threshold, str):
            return float(self.threshold)
        kept = kept_candidates(confidences)
        if self.threshold == "cardinality":
            return cardinality_threshold(scores, np.count_nonzero(kept))
        labels = candidates.astype(bool)
        labels.data[:] = kept
        return linear_threshold(scores, labels.toarray())

    @property
    def _early_threshold(self):
        """A cut for a model that is still being fitted."""
        return 0.5 if isinstance(self.threshold, str) else float(self.threshold)


class LinearPartialMultiLabelClassifier(PartialMultiLabelClassifier):
    """Base of the methods whose scores are ``X coef_' + intercept_``.

    The confidence in a candidate is its fitted score.
    """

    def _scores(self, X):
        return X @ self.coef_.T + self.intercept_

    def _set_linear(self, learned, data):
        """Set the attributes of the model, then what follows from its scores."""
        for name, value in learned.items():
            setattr(self, name, value)
        scores = self._scores(data.X)
        return self._set_results(scores, on_candidates(scores, data.candidates), data)


def on_candidates(values, candidates):
    """Entries of a matrix where the candidates are, in the order they are stored."""
    rows = np.repeat(np.arange(candidates.shape[0]), np.diff(candidates.indptr))
    return values[rows, candidates.indices]


def product_on(candidates, left, right):
    """Entries of ``left @ right.T`` where `candidates` stores something.

    Time O(nnz r); memory of a few million numbers.
    """
    rows = np.repeat(np.arange(candidates.shape[0]), np.diff(candidates.indptr))
    columns = candidates.indices
    out = np.empty(len(columns))
    for batch in gen_batches(len(columns), max(1, CHUNK_NUMBERS // left.shape[1])):
        near, far = left[rows[batch]], right[columns[batch]]
        np.einsum("ij,ij->i", near, far, out=out[batch])
    return out


def kept_candidates(confidences):
    """The most credible candidates, as many as the confidences add up to.

    More where the last ones are equally credible.
    """
    expected = np.rint(np.clip(confidences, 0, 1).sum())
    n_kept = int(np.clip(expected, 1, len(confidences)))
    n_left_out = len(confidences) - n_kept
    return confidences >= np.partition(confidences, n_left_out)[n_left_out]


def cardinality_threshold(scores, n_labels):
    """One cut for all scores that leaves `n_labels` of them above.

    Parameters
    ----------
    scores : ndarray of shape (n, q)
        Scores of the training rows.
    n_labels : int
        Number of labels that all rows together should get.

    Returns
    -------
    threshold : float
        Half way between the last score above and the first one below, or 0.1 below
        all of them.
    """
    n_below = scores.size - n_labels
    if n_below <= 0:
        return float(scores.min() - CUT_MARGIN)
    flat = np.partition(scores, (n_below - 1, n_below), axis=None)
    return float((flat[n_below - 1] + flat[n_below]) / 2)


def label_order(X, candidates):
    """An order of the labels that depends on what they are, not on where they stand.

    For methods in which rounding or ties would let the order of the labels count.
    """
    probe = X @ np.cos(np.arange(1.0, X.shape[1] + 1))
    return np.argsort(candidates.T @ probe, kind="stable")


def dealt(values, keys):
    """Give the rows of `values` to the owners of the keys, smallest key first.

    A random start that is dealt by what the owners are, rather than by their place,
    does not depend on the order of samples or labels.
    """
    out = np.empty_like(values)
    out[np.argsort(keys, kind="stable")] = values
    return out
