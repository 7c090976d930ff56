"""cleanlab at its best, with each of its options."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import time

import joblib
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestRegressor

from demurk.out_of_sample import out_of_bag_scores
from demurk.utils._optional import import_optional

__all__ = ["CleanlabAudit"]

# The other ways to flag that cleanlab's guide names.
FILTERS = (
    *("prune_by_class", "both", "confident_learning", "predicted_neq_given"),
    *("low_normalized_margin", "low_self_confidence"),
)


class CleanlabAudit(BaseEstimator):
    """cleanlab's suspicion and flags, from probabilities made without the row.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    method : {"self_confidence", "confidence_weighted_entropy"}, \
            default="self_confidence"
        How entries are ranked. For each label by itself cleanlab's third way,
        "normalized_margin", gives the numbers of the first.
    adjust_pred_probs : bool, default=False
        Whether probabilities are divided by how frequent each label is.
    all_filters : bool, default=False
        Whether :meth:`other_flags` gives what cleanlab's other filters flag.
    random_state : int, default=None
        Seed.

    Attributes
    ----------
    scores_ : ndarray of shape (n_samples, n_labels)
        Larger for more suspect entries.
    flags_ : ndarray of bool of shape (n_samples, n_labels)
        What cleanlab calls wrong.
    shared_seconds_ : float
        CPU time of the probabilities, where those of the last fit were taken again.

    Examples
    --------
    >>> from demurk.benchmark.rivals import CleanlabAudit
    >>> CleanlabAudit(50)
    CleanlabAudit(n_estimators=50)
    """

    def __init__(
        self,
        n_estimators=100,
        method="self_confidence",
        adjust_pred_probs=False,
        all_filters=False,
        random_state=None,
    ):
        self.n_estimators = n_estimators
        self.method = method
        self.adjust_pred_probs = adjust_pred_probs
        self.all_filters = all_filters
        self.random_state = random_state

    def fit(self, X, y):
        """Find suspicious entries.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Features.
        y : ndarray of shape (n_samples, n_labels)
            Labels 0 and 1, two of them at least.

        Returns
        -------
        self : CleanlabAudit
            With ``scores_`` and ``flags_``.
        """
        room = "cleanlab.multilabel_classification"
        issues = import_optional(f"{room}.filter", "peers")
        rank = import_optional(f"{room}.rank", "peers")
        p, self.shared_seconds_ = _shared(
            self._proba, X, y, self.n_estimators, self.random_state
        )
        quality = rank.get_label_quality_scores_per_class(
            _lists(y), p, method=self.method, adjust_pred_probs=self.adjust_pred_probs
        )
        self.scores_ = 1 - quality
        # Its own processes would be forked from one with threads, and wait forever.
        found = issues.find_multilabel_issues_per_class(_lists(y), p, n_jobs=1)
        self.flags_ = np.asarray(found, dtype=bool)
        self._given, self._issues = (y, p), issues
        return self

    @staticmethod
    def _proba(X, y, n_estimators, random_state):
        """Out-of-bag probabilities of a forest."""
        forest = RandomForestRegressor(
            n_estimators,
            max_features="sqrt",
            min_samples_leaf=3,
            random_state=random_state,
        ).fit(X, y)
        unseen = out_of_bag_scores(forest, X.astype(np.float32), y.astype(float))
        return unseen.clip(0, 1)

    def other_flags(self):
        """What the other filters call wrong.

        Returns
        -------
        flags : dict of str to ndarray of bool of shape (n_samples, n_labels)
            By name of the filter; empty without `all_filters`. A label that all rows
            have, or none, is not flagged: cleanlab refuses it.
        """
        y, p = self._given
        varies = np.ptp(y, axis=0) > 0
        out = {}
        for name in FILTERS if self.all_filters and varies.sum() > 1 else ():
            out[name] = np.zeros(y.shape, dtype=bool)
            out[name][:, varies] = self._issues.find_multilabel_issues_per_class(
                _lists(y[:, varies]), p[:, varies], filter_by=name, n_jobs=1
            )
        return out


def _lists(y):
    """Labels in the form that cleanlab takes."""
    return [np.flatnonzero(row).tolist() for row in y]


_last = {}


def _shared(make, *arguments):
    """Probabilities and 0, or those of the last call and what they had cost."""
    place = joblib.hash(arguments)
    if place == _last.get(make, (None,))[0]:
        return _last[make][1:]
    start = time.process_time()
    found = make(*arguments)
    _last[make] = place, found, time.process_time() - start
    return found, 0.0
