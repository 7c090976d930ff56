"""Columns that say the same as a label."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

# What the first rows say about a leak is asked of all rows only where it holds.
FIRST_ROWS = 64


def find_leaks(features, names, labels, pieces=()):
    """Columns with a feature that says the same as a label, on all observed rows."""
    # Features that are no column of numbers stand last, piece by piece.
    coded = [piece["column"] for piece in pieces for _ in piece["outputs"]]
    columns = [*names[: len(names) - len(coded)], *coded]
    found = []
    if labels.single:
        targets = [(labels.values.argmax(axis=1), labels.labeled)]
    else:
        targets = [*zip(labels.values.T.astype(np.intp), labels.observed.T)]
    for codes, seen in targets:
        rows = np.flatnonzero(seen)
        kinds, firsts = np.unique(codes[rows], return_index=True)
        if len(kinds) < 2:
            continue
        places = np.searchsorted(kinds, codes)
        alike = np.arange(features.shape[1])
        for part in (rows[:FIRST_ROWS], rows):
            if alike.size:
                values = features[np.ix_(rows[firsts], alike)]
                same = features[np.ix_(part, alike)] == values[places[part]]
                alike = alike[same.all(axis=0) & _distinct(values)]
        found += [columns[j] for j in alike]
    return list(dict.fromkeys(found))


def _distinct(values):
    """Columns without two equal values."""
    ordered = np.sort(values, axis=0)
    return (np.diff(ordered, axis=0) != 0).all(axis=0)
