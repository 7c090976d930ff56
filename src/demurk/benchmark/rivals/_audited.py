"""Our own audit behind other methods: its order, or its probabilities."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from demurk.audit import LabelAudit
from demurk.audit._class_members import ClassMembers
from demurk.audit._probabilities import scaled_features
from demurk.benchmark.rivals._candidates import SuspectCandidates
from demurk.benchmark.rivals._classes import CleanlabClasses
from demurk.benchmark.rivals._cleanlab import CleanlabAudit

__all__ = ["AuditedClasses", "AuditedCleanlab", "audited_candidates"]

SMALLEST_PROBA = 1e-4


class AuditedCleanlab(CleanlabAudit):
    """cleanlab on the probabilities of :class:`~demurk.audit.LabelAudit`.

    Parameters and attributes are those of its base.
    """

    @staticmethod
    def _proba(X, y, n_estimators, random_state):
        model = LabelAudit("none", n_estimators=n_estimators, random_state=random_state)
        # Without a kind of noise the score of an entry is how unlikely it is.
        return np.abs(y - model.fit(X, y).scores_).clip(0, 1)


class AuditedClasses(CleanlabClasses):
    """cleanlab on the probabilities of LabelAudit for one class per sample.

    Parameters and attributes are those of its base.
    """

    def _proba(self, X, y):
        Y = np.eye(y.max() + 1)[y]
        params = {"n_estimators": None, "n_jobs": None}
        params["random_state"] = self.random_state
        p = ClassMembers(X, scaled_features(X), Y, params).proba
        p = np.maximum(p, SMALLEST_PROBA)
        return p / p.sum(axis=1, keepdims=True)


def audited_candidates(random_state=None):
    """Label audit that ranks the candidates by how unlikely they are.

    Among candidates the order is the same whatever noise is assumed, so none is.

    Parameters
    ----------
    random_state : int, default=None
        Seed.

    Returns
    -------
    estimator : SuspectCandidates
        The estimator.

    Examples
    --------
    >>> from demurk.benchmark.rivals import audited_candidates
    >>> audited_candidates().estimator
    LabelAudit(noise='none')
    """
    return SuspectCandidates(LabelAudit("none", random_state=random_state))
