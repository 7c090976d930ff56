"""What all estimators share: label tags, validation, label outputs, scores."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass, field, fields, replace

import numpy as np
from scipy.linalg import lstsq
from scipy.sparse import issparse
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from demurk.labels import LabelTags, check_labels
from demurk.labels._truth import check_truth
from demurk.utils._elsewhere import METHODS, anywhere
from demurk.utils._rows import as_rows, canonical, check_magnitudes, far_origin
from demurk.utils._weights import check_weights, refuse_weightless

__all__ = [
    "CUT_MARGIN",
    "DemurkEstimator",
    "DemurkTags",
    "LabelClassifierMixin",
    "LabelOutputMixin",
    "ScoreClassifier",
    "as_rows",
    "best_cuts",
    "linear_threshold",
]

# How far a cut lies beyond all scores, where it must.
CUT_MARGIN = 0.1


@dataclass
class DemurkTags(Tags):
    """scikit-learn's tags plus what an estimator accepts as labels.

    Attributes
    ----------
    label_tags : LabelTags
        What a 1 means to the estimator.
    """

    label_tags: LabelTags = field(default_factory=LabelTags)


class DemurkEstimator(BaseEstimator):
    """Base of all estimators: documentation links, label tags, one validation."""

    _doc_link_module = "demurk"
    _doc_link_template = (
        "https://demurk.readthedocs.io/generated/"
        "{estimator_module}.{estimator_name}.html"
    )
    _label_kind = "labels"  # what a 1 means, see LabelData
    # Whether rows that lie far from zero, compared with their spread, are moved there:
    # for methods that lose digits or labels there, and show no means of features.
    _moves_far_rows = False
    # Whether the labels of a sample are set against each other, so that one label alone
    # needs its absence beside it.
    _compares_labels = False

    def __init_subclass__(cls, **options):
        # As scikit-learn wraps `transform` for `set_output`.
        for name in METHODS:
            if name in vars(cls):
                setattr(cls, name, anywhere(vars(cls)[name]))
        super().__init_subclass__(**options)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        shared = {f.name: getattr(tags, f.name) for f in fields(Tags)}
        tags = DemurkTags(**shared, label_tags=LabelTags(self._label_kind))
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags

    def _validate_fit(self, X, y, *, observed=None, min_samples=2, dtype=None):
        """Check X with scikit-learn and y through the door; called once per fit."""
        X = self._validate_features(
            X,
            y=None if y is None else "no_validation",
            dtype=dtype or [np.float64, np.float32],
            ensure_min_samples=min_samples,
        )
        labels = check_labels(
            y, n_samples=X.shape[0], kind=self._label_kind, observed=observed
        )
        if self._compares_labels and labels.n_labels == 1 and not labels.single:
            labels = beside_absence(labels)
        self._far_origin = far_origin(X) if self._moves_far_rows else None
        return self._moved(X), labels

    def _validate_new(self, X):
        """Check the X of a method that comes after `fit`."""
        return self._moved(self._validate_features(X, reset=False))

    def _validate_features(self, X, **options):
        """Check X alone; it is never written to, and nothing else may be sorted in it.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        **options : dict
            Further arguments of scikit-learn's `validate_data`.

        Returns
        -------
        X : {ndarray, sparse matrix} of shape (n_samples, n_features)
            Floating-point numbers; sparse ones by rows, sorted, each once.
        """
        options = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]} | options
        X = canonical(validate_data(self, X, **options))
        check_magnitudes(X, getattr(self, "feature_names_in_", None))
        return X

    def _moved(self, X):
        """Rows less the origin of rows that were far from zero in `fit`."""
        if getattr(self, "_far_origin", None) is None:
            return X
        rows = X.toarray() if issparse(X) else X
        return (rows - self._far_origin).astype(X.dtype, copy=False)


def beside_absence(labels):
    """One label as two columns, has it and has it not; its name stays alone."""
    absent = np.where(labels.observed, 1 - labels.values, 0.0)
    return replace(
        labels,
        values=np.hstack([labels.values, absent]),
        observed=np.hstack([labels.observed, labels.observed]),
    )


class LabelOutputMixin:
    """Turn label scores into what the user handed in: classes or an indicator."""

    def _set_classes(self, labels):
        self.classes_ = labels.classes
        self._single = labels.single

    def _normalized(self, scores):
        """Make the scores of a one-class-per-sample problem sum to one."""
        if not self._single:
            return scores
        total = scores.sum(axis=1, keepdims=True)
        # A sample that nothing speaks for is equally likely to be anything.
        return np.where(
            total > 0, scores / np.where(total > 0, total, 1), 1 / scores.shape[1]
        )

    def _decide(self, scores, *, strict=False):
        """Hard labels: the best class, or every label with a score of one half."""
        if self._single:
            return self.classes_[scores.argmax(axis=1)]
        return (scores > 0.5 if strict else scores >= 0.5).astype(np.int64)


class LabelClassifierMixin(ClassifierMixin):
    """A classifier whose score asks only for labels that were observed."""

    @anywhere
    def score(self, X, y, sample_weight=None, observed=None):
        """Share of samples whose observed labels are all predicted.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Test samples.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Their labels. What was not observed (-1, NaN, None) is not compared, and
            samples without an observed label do not count.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each sample counts.
        observed : array-like of bool of shape (n_samples,) or \
                (n_samples, n_labels), default=None
            What was observed, when y is sparse; overrides -1.

        Returns
        -------
        score : float
            The accuracy; with several labels all observed ones of a sample must be
            right, as in scikit-learn, so that samples with few of them are easier.
            After a fit to candidate sets, the share of predictions that are candidates.
        """
        predicted = self.predict(X)
        truth = check_truth(
            y,
            len(predicted),
            self.classes_,
            kind=self._label_kind,
            observed=observed,
            columns=self._label_columns(),
        )
        if predicted.ndim == 1:
            places = predicted[:, np.newaxis] == self.classes_
            right = (truth.values & places).any(axis=1)
            known = (truth.observed & places).any(axis=1)
        else:
            wrong = truth.observed & (truth.values != (predicted > 0))
            right = ~wrong.any(axis=1) & ~truth.foreign
            known = truth.observed.any(axis=1)
        weights = check_weights(sample_weight, predicted)
        weights = known * (1.0 if weights is None else weights)
        refuse_weightless(weights)
        return float(np.average(right, weights=weights))

    def _label_columns(self):
        """What a single column of y is, as it was in `fit`."""
        return "class" if self._single else "labels"


class ScoreClassifier(LabelOutputMixin, LabelClassifierMixin, DemurkEstimator):
    """Base of classifiers that score every label and cut at a threshold.

    A method gives scores (n, q), larger is better, and sets `thresholds_`.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _scores(self, X):
        """Scores of checked samples, (n, q)."""
        raise NotImplementedError

    def _checked_scores(self, X):
        check_is_fitted(self)
        return self._scores(as_rows(self._validate_new(X)))

    def _cuts(self, scores):
        """Cuts of some rows."""
        return cuts(scores, self.thresholds_)

    def _probabilities(self, scores):
        if self._single:
            return softmax(scores, axis=1)
        return expit(self._margins(scores))

    def _decisions(self, scores):
        if self._single:
            return self.classes_[_best(scores)]
        return (self._margins(scores) > 0).astype(np.int64)

    def _margins(self, scores):
        """Scores less their cuts, without the absence of a label that is alone."""
        return (scores - self._cuts(scores))[:, : len(self.classes_)]

    def decision_function(self, X):
        """Scores of the labels less the threshold.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_labels) or (n_samples,)
            Positive for the labels that are predicted; they rank the labels of a
            sample. If `fit` had a 1-D y no threshold applies, and with two classes
            this is the score of the second one less that of the first.
        """
        scores = self._checked_scores(X)
        if not self._single:
            return self._margins(scores)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_proba(self, X):
        """Scores of the labels between zero and one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Samples.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_labels)
            A rising function of the decision function that is one half at the
            threshold. It ranks labels and is not calibrated. Rows sum to one only if
            `fit` had a 1-D y.
        """
        return self._probabilities(self._checked_scores(X))

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
        return self._decisions(self._checked_scores(X))


def _best(scores):
    """The best class of each row; of those that differ by rounding only, the first."""
    top = scores.max(axis=1, keepdims=True)
    return (scores >= top - 1e-12 * np.maximum(np.abs(top), 1)).argmax(axis=1)


def cuts(scores, threshold):
    """Cuts of some rows under a fitted threshold of either kind."""
    if np.ndim(threshold) == 0:
        return threshold
    return (scores @ threshold[:-1] + threshold[-1])[:, np.newaxis]


def best_cuts(scores, labels):
    """Cut of each row that puts the fewest labels on the wrong side.

    Parameters
    ----------
    scores : ndarray of shape (n, q)
        Scores.
    labels : ndarray of shape (n, q), bool
        Labels that should be above the cut.

    Returns
    -------
    cuts : ndarray of shape (n,)
        Midpoint between two neighbouring scores, or 0.1 beyond the ends; the lowest
        of those that are equally good.
    """
    order = np.argsort(scores, axis=1, kind="stable")
    ordered = np.take_along_axis(scores, order, axis=1)
    wanted = np.take_along_axis(labels, order, axis=1)
    # With the cut after the first m scores: wanted ones below, others above.
    below = np.cumsum(wanted, axis=1)
    above = np.cumsum(~wanted[:, ::-1], axis=1)[:, ::-1]
    mistakes = np.empty((len(scores), scores.shape[1] + 1), dtype=np.intp)
    mistakes[:, 0], mistakes[:, -1] = above[:, 0], below[:, -1]
    mistakes[:, 1:-1] = below[:, :-1] + above[:, 1:]
    points = np.empty(mistakes.shape)
    points[:, 0] = ordered[:, 0] - CUT_MARGIN
    points[:, -1] = ordered[:, -1] + CUT_MARGIN
    points[:, 1:-1] = (ordered[:, :-1] + ordered[:, 1:]) / 2
    # A midpoint of two equal scores separates nothing.
    mistakes[:, 1:-1][ordered[:, :-1] == ordered[:, 1:]] = scores.shape[1] + 1
    return points[np.arange(len(points)), mistakes.argmin(axis=1)]


def linear_threshold(scores, labels):
    """Cut of a row as a linear function of its scores, by least squares.

    Parameters
    ----------
    scores : ndarray of shape (n, q)
        Scores of the training rows.
    labels : ndarray of shape (n, q), bool
        Labels believed to be true; never the hidden truth.

    Returns
    -------
    weights : ndarray of shape (q + 1,)
        Weight of each score, and the intercept.
    """
    design = np.column_stack([scores, np.ones(len(scores))])
    # Scores of a ranking sum to zero in each row; the shortest weights are taken.
    return lstsq(design, best_cuts(scores, labels), cond=1e-8)[0]
