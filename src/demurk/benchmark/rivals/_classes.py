"""Other ways to find wrong classes, and forests that suit them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demurk.utils._optional import import_optional

__all__ = [
    "CleanlabClasses",
    "CleanlabLearner",
    "ForestClasses",
    "NeighborVote",
    "TunedForest",
    "class_logistic_regression",
]

N_TREES = 300
N_FOLDS = 5
LEAVES = (1, 2, 3, 5, 10)
FILTERS = (
    "prune_by_noise_rate",
    "prune_by_class",
    "both",
    "confident_learning",
    "predicted_neq_given",
    "low_normalized_margin",
    "low_self_confidence",
)
RANKINGS = ("self_confidence", "normalized_margin", "confidence_weighted_entropy")


def _folded_proba(X, y, random_state):
    """Out-of-fold probabilities of a forest, as cleanlab's guide makes them."""
    forest = RandomForestClassifier(N_TREES, random_state=random_state)
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=random_state)
    return cross_val_predict(forest, X, y, cv=folds, method="predict_proba")


class CleanlabClasses(BaseEstimator):
    """cleanlab's rankings and filters of one class per sample.

    Parameters
    ----------
    random_state : int, default=None
        Seed of the forest whose probabilities in five folds it is given.
    """

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        """Find suspicious rows; classes are 0, 1, ..., each in some rows.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Features.
        y : ndarray of int of shape (n_samples,)
            Classes.

        Returns
        -------
        self : CleanlabClasses
            With ``scores_`` and ``flags_`` of the default options, and all others.
        """
        rank = import_optional("cleanlab.rank", "peers")
        issues = import_optional("cleanlab.filter", "peers")
        y = np.unique(y, return_inverse=True)[1]
        p = self._proba(X, y)
        self.other_scores_ = {
            name: -rank.get_label_quality_scores(y, p, method=name) for name in RANKINGS
        }
        self.other_flags_ = {
            name: issues.find_label_issues(y, p, filter_by=name, n_jobs=1)
            for name in FILTERS
        }
        self.scores_ = self.other_scores_[RANKINGS[0]]
        self.flags_ = self.other_flags_[FILTERS[0]]
        return self

    def _proba(self, X, y):
        """Out-of-fold probabilities of a forest, as cleanlab's guide makes them."""
        return _folded_proba(X, y, self.random_state)


class ForestClasses(BaseEstimator):
    """Rows by how unlikely an out-of-bag forest finds their class.

    Parameters
    ----------
    random_state : int, default=None
        Seed.
    """

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        """Rank the rows, and flag where another class is likelier.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Features.
        y : ndarray of int of shape (n_samples,)
            Classes.

        Returns
        -------
        self : ForestClasses
            With ``scores_`` and ``flags_``.
        """
        forest = RandomForestClassifier(
            N_TREES, oob_score=True, random_state=self.random_state
        ).fit(X, y)
        p = np.nan_to_num(forest.oob_decision_function_)
        own = np.searchsorted(forest.classes_, y)
        self.scores_ = 1 - p[np.arange(len(p)), own]
        self.flags_ = p.argmax(axis=1) != own
        return self


class NeighborVote(BaseEstimator):
    """Rows whose nearest neighbours have other classes.

    Parameters
    ----------
    n_neighbors : int, default=10
        How many vote.
    """

    def __init__(self, n_neighbors=10):
        self.n_neighbors = n_neighbors

    def fit(self, X, y):
        """Let the neighbours vote.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Features.
        y : ndarray of int of shape (n_samples,)
            Classes.

        Returns
        -------
        self : NeighborVote
            With ``scores_`` and ``flags_``.
        """
        X = StandardScaler().fit_transform(X)
        near = NearestNeighbors(n_neighbors=self.n_neighbors).fit(X)
        classes, own = np.unique(y, return_inverse=True)
        votes = np.eye(len(classes))[own[near.kneighbors(return_distance=False)]]
        votes = votes.mean(axis=1)
        self.scores_ = 1 - votes[np.arange(len(X)), own]
        self.flags_ = votes.argmax(axis=1) != own
        return self


class TunedForest(ClassifierMixin, BaseEstimator):
    """A forest whose leaf size is chosen out of bag.

    Parameters
    ----------
    random_state : int, default=None
        Seed.
    """

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        """Begin a forest for each leaf size, and go on with the best.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Features.
        y : ndarray of int of shape (n_samples,)
            Classes.

        Returns
        -------
        self : TunedForest
            The fitted classifier.
        """
        forests = [
            RandomForestClassifier(
                N_TREES // 3,
                min_samples_leaf=leaf,
                oob_score=True,
                warm_start=True,
                random_state=self.random_state,
            ).fit(X, y)
            for leaf in LEAVES
        ]
        self.forest_ = max(forests, key=lambda forest: forest.oob_score_)
        self.forest_.set_params(n_estimators=N_TREES, oob_score=False).fit(X, y)
        self.classes_ = self.forest_.classes_
        return self

    def predict(self, X):
        """Classes of new rows."""
        return self.forest_.predict(X)

    def predict_proba(self, X):
        """Probabilities of their classes."""
        return self.forest_.predict_proba(X)


def class_logistic_regression():
    """Logistic regression on standardised features."""
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000))


class CleanlabLearner(ClassifierMixin, BaseEstimator):
    """cleanlab's CleanLearning around a forest.

    Parameters
    ----------
    random_state : int, default=None
        Seed.
    """

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        """Drop the rows that look wrong, and fit to the others.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
            Features.
        y : ndarray of int of shape (n_samples,)
            Classes.

        Returns
        -------
        self : CleanlabLearner
            The fitted classifier.
        """
        learning = import_optional("cleanlab.classification", "peers")
        self.classes_, own = np.unique(y, return_inverse=True)
        forest = RandomForestClassifier(N_TREES, random_state=self.random_state)
        self.learner_ = learning.CleanLearning(
            forest, find_label_issues_kwargs={"n_jobs": 1}
        )
        self.learner_.fit(X, own)
        return self

    def predict(self, X):
        """Classes of new rows."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X):
        """Probabilities of their classes."""
        found = self.learner_.predict_proba(X)
        proba = np.zeros((len(X), len(self.classes_)))
        # A class whose rows were all dropped is never predicted.
        proba[:, self.learner_.clf.classes_] = found
        return proba
