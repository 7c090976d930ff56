"""In which order to ask, when the labels have been audited more than once."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

__all__ = ["mean_order"]


def mean_order(latest, first):
    """Questions by their mean place in two orders.

    Parameters
    ----------
    latest : ndarray of int
        Questions of the latest audit, the most suspect first.
    first : ndarray of int
        Those of the first one, which may ask more.

    Returns
    -------
    order : ndarray of int
        The questions of `latest`.

    Notes
    -----
    The latest audit has learned from the decisions. What it has left are the errors
    that it takes for right itself, and there the first one often knows better: on
    medical and enron the latest alone finds fewer errors than the first alone.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.review._order import mean_order
    >>> mean_order(np.array([4, 7, 2]), np.array([9, 7, 2, 4]))
    array([7, 4, 2])
    """
    n_questions = max(latest.max(initial=-1), first.max(initial=-1)) + 1
    place = np.full(n_questions, n_questions)
    place[first] = np.arange(len(first))
    rank = np.empty(len(latest), dtype=np.intp)
    rank[np.argsort(place[latest], kind="stable")] = np.arange(len(latest))
    return latest[np.argsort(rank + np.arange(len(latest)), kind="stable")]
