"""Our own audit as an alternative to methods for candidate labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.audit import LabelAudit
from demurk.benchmark.rivals._candidates import SuspectCandidates

__all__ = ["audited_candidates"]


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
