"""How far two reviewers agree beyond chance."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections import defaultdict
from itertools import combinations

import numpy as np

from demurk.annotators._agreement import Z95, kappa_of_tables
from demurk.review._store import SETTLED

__all__ = ["agreements", "cohen_kappa"]


def cohen_kappa(first, second):
    """Cohen's kappa of two raters, with a 95 % interval.

    Parameters
    ----------
    first, second : sequence of str
        What each says about the same things.

    Returns
    -------
    kappa, low, high : float
        Agreement beyond chance, 1 at most; NaN where chance explains everything.
    """
    names, codes = np.unique([*first, *second], return_inverse=True)
    n = len(first)
    table = np.zeros((len(names), len(names)))
    np.add.at(table, (codes[:n], codes[n:]), 1)
    kappa, error = kappa_of_tables(table)
    if n == 0 or np.isnan(kappa):
        return np.nan, np.nan, np.nan
    return kappa, max(-1.0, kappa - Z95 * error), min(1.0, kappa + Z95 * error)


def agreements(standing):
    """Kappa of every two reviewers who settled the same things.

    Parameters
    ----------
    standing : Standing
        The decisions.

    Returns
    -------
    found : list of dict
        "reviewers", "both" (how many things both settled), "kappa", "low", "high".
    """
    if len(standing.reviewers) < 2:
        return []
    said = defaultdict(lambda: ([], []))
    for place in standing.places():
        own = standing.of(place)
        settled = {name: d for name, d in own.items() if d.action in SETTLED}
        for pair in combinations(sorted(settled), 2):
            for mine, name in zip(said[pair], pair):
                mine.append(settled[name].decided)
    found = []
    for pair, (first, second) in sorted(said.items()):
        values = zip(("kappa", "low", "high"), cohen_kappa(first, second))
        known = {k: None if np.isnan(v) else round(v, 3) for k, v in values}
        found.append({"reviewers": list(pair), "both": len(first)} | known)
    return found
