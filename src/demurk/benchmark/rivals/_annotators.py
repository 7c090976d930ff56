"""Other ways to one label from the answers of several people."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from demurk.annotators import Consensus
from demurk.annotators._features import Witness
from demurk.utils._optional import import_optional

__all__ = ["CrowdKitDawidSkene", "Crowdlab", "MajorityForest"]


class MajorityForest(BaseEstimator):
    """The forest of our own model, on what most people say.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    random_state : int, default=None
        Seed.
    """

    def __init__(self, n_estimators=100, random_state=None):
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X, y):
        """Predict each row without its own answers.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Features.
        y : Annotations
            What people said.

        Returns
        -------
        self : MajorityForest
            With ``label_distributions_`` and ``labels_``.
        """
        scores = _witness(X, self).forest(_most(y))
        if y.single:
            scores = scores / np.maximum(scores.sum(axis=1, keepdims=True), 1e-12)
        _set_beliefs(self, y, scores)
        return self


def _most(said):
    """What most people say, as ones and zeros."""
    most = Consensus("majority").fit(None, said).label_distributions_
    if said.single:
        return np.eye(said.n_labels)[most.argmax(axis=1)]
    return (most >= 0.5).astype(float)


def _witness(X, rival):
    """The models that our own consensus asks."""
    rng = check_random_state(rival.random_state)
    return Witness(X, rival.n_estimators, None, rng)


def _set_beliefs(rival, said, beliefs, best=None):
    rival.label_distributions_ = beliefs
    if best is None:
        best = beliefs.argmax(axis=1) if said.single else beliefs >= 0.5
    rival.labels_ = said.classes[best] if said.single else best.astype(np.int8)


class CrowdKitDawidSkene(BaseEstimator):
    """Dawid and Skene's model in crowd-kit; each label by itself."""

    def fit(self, X, y):
        """Weigh the answers.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Not used.
        y : Annotations
            What people said; every row has an answer.

        Returns
        -------
        self : CrowdKitDawidSkene
            With ``label_distributions_`` and ``labels_``.
        """
        if y.single:
            beliefs = self._fit_one(y, y.codes, y.n_labels)
        else:
            each = [self._fit_one(y, y.codes[:, k], 2) for k in range(y.n_labels)]
            beliefs = np.stack([part[:, 1] for part in each], axis=1)
        _set_beliefs(self, y, beliefs)
        return self

    @staticmethod
    def _fit_one(said, codes, q):
        pandas = import_optional("pandas", "tables")
        crowd = import_optional("crowdkit.aggregation", "peers")
        lines = {"task": said.rows, "worker": said.people, "label": codes}
        found = crowd.DawidSkene().fit_predict_proba(pandas.DataFrame(lines))
        beliefs = np.zeros((said.n_rows, q))
        beliefs[np.ix_(found.index, found.columns.astype(int))] = found.to_numpy()
        return beliefs


class Crowdlab(BaseEstimator):
    """CROWDLAB of cleanlab with our own models on the majority; each label by itself.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    random_state : int, default=None
        Seed.
    """

    def __init__(self, n_estimators=100, random_state=None):
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X, y):
        """Weigh the answers.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Features.
        y : Annotations
            What people said; every row has an answer, and some have two.

        Returns
        -------
        self : Crowdlab
            With ``label_distributions_``, ``labels_`` and ``quality_``.
        """
        scores = np.clip(_witness(X, self).beliefs(_most(y)), 1e-6, 1 - 1e-6)
        if y.single:
            scores = scores / scores.sum(axis=1, keepdims=True)
            beliefs, best, quality = self._fit_one(_table(y, y.codes), scores)
        else:
            parts = [
                self._fit_one(
                    _table(y, y.codes[:, k]),
                    np.stack([1 - scores[:, k], scores[:, k]], axis=1),
                )
                for k in range(y.n_labels)
            ]
            beliefs = np.stack([part[0][:, 1] for part in parts], axis=1)
            best = np.stack([part[1] for part in parts], axis=1)
            quality = np.mean([part[2] for part in parts], axis=0)
        _set_beliefs(self, y, beliefs, best)
        self.quality_ = {"quality": quality}
        return self

    @staticmethod
    def _fit_one(table, proba):
        cleanlab = import_optional("cleanlab.multiannotator", "peers")
        pandas = import_optional("pandas", "tables")
        found = cleanlab.get_label_quality_multiannotator(
            pandas.DataFrame(table), proba, verbose=False
        )
        best = found["label_quality"]["consensus_label"].to_numpy()
        # The distribution behind the score of the consensus has no public name.
        known = ~np.isnan(table)
        agree = ((table == best[:, np.newaxis]) & known).sum(axis=1) / known.sum(axis=1)
        beliefs, *_ = cleanlab._get_post_pred_probs_and_weights(
            table, best, proba, known.sum(axis=1), agree, verbose=False
        )
        stats = found["annotator_stats"].sort_index()
        return beliefs, best, stats["annotator_quality"].to_numpy()


def _table(said, codes):
    """Answers as cleanlab wants them, rows by people with NaN."""
    table = np.full((said.n_rows, said.n_people), np.nan)
    table[said.rows, said.people] = codes
    return table
