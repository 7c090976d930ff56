"""What all estimators share: documentation links, label tags, label outputs."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass, field, fields

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from demurk.labels import LabelTags, check_labels

__all__ = ["DemurkEstimator", "DemurkTags", "LabelOutputMixin", "narrow_indices"]


@dataclass
class DemurkTags(Tags):
    """scikit-learn's tags plus what an estimator accepts as labels.

    Attributes
    ----------
    label_tags : LabelTags
        The kinds of labels the estimator reads, and whether some may be missing.
    """

    label_tags: LabelTags = field(default_factory=LabelTags)


class DemurkEstimator(BaseEstimator):
    """Base of all estimators: documentation links, label tags, one validation."""

    _doc_link_module = "demurk"
    _doc_link_template = (
        "https://demurk.readthedocs.io/generated/"
        "{estimator_module}.{estimator_name}.html"
    )
    _label_tags = LabelTags()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        shared = {f.name: getattr(tags, f.name) for f in fields(Tags)}
        tags = DemurkTags(**shared, label_tags=self._label_tags)
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.sparse = True
        return tags

    def _validate_fit(self, X, y, *, observed=None, min_samples=2, dtype=None):
        """Check X with scikit-learn and y through the door; called once per fit."""
        X = validate_data(
            self,
            X,
            y=None if y is None else "no_validation",
            accept_sparse="csr",
            dtype=dtype or [np.float64, np.float32],
            ensure_min_samples=min_samples,
        )
        tags = self._label_tags
        labels = check_labels(
            y,
            n_samples=X.shape[0],
            kind=tags.kinds[0],
            observed=observed,
            missing=tags.missing,
        )
        return narrow_indices(X), labels

    def _validate_new(self, X):
        """Check the X of a method that comes after `fit`."""
        X = validate_data(
            self,
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            reset=False,
        )
        return narrow_indices(X)


def narrow_indices(X):
    """Indices of a sparse X in 32 bits where they fit; trees take no others."""
    if not issparse(X) or X.indices.dtype == np.int32:
        return X
    if max(*X.shape, X.nnz) > np.iinfo(np.int32).max:
        return X
    parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return type(X)(parts, shape=X.shape)


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
