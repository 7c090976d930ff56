"""The suspects as two lists, with reasons a person can check."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any

import numpy as np

from demurk.graph import nearest_neighbors

__all__ = [
    "LISTS",
    "Evidence",
    "list_lengths",
    "nearest_rows",
    "suspect_frame",
    "top_entries",
]

LISTS = {1: "given but probably wrong", 0: "missing but probably right"}
COLUMNS = ("list", "row", "label", "given", "score", "wrong_proba", "reason")
N_NEIGHBORS = 10
N_NAMES = 3
# What another label must add to the score to be worth a word.
SMALLEST_SAY = 0.02


@dataclass(frozen=True, eq=False)
class Evidence:
    """What reasons are made of; rows are the labelled ones.

    Attributes
    ----------
    rows : ndarray of shape (n_labeled,)
        Their places among all samples.
    features : {ndarray, csr_array} or None
        Scaled features.
    labels, observed : ndarray of shape (n_labeled, n_labels)
        Given labels, and which of them were observed.
    out_of_sample : ndarray of shape (n_labeled, n_labels)
        Probabilities made without the entry itself.
    coefs, means : ndarray of shape (n_labels, n_labels) and (n_labels,)
        What the labels say about each other, and their frequencies. The last three
        are None for one class per sample.
    """

    rows: np.ndarray
    features: Any
    labels: np.ndarray
    observed: np.ndarray
    out_of_sample: np.ndarray | None = None
    coefs: np.ndarray | None = None
    means: np.ndarray | None = None


def list_lengths(n, given, wrong, n_suspects, uncertain):
    """How many suspects to list: in all, or of each list where they cannot be mixed.

    Parameters
    ----------
    n : int or None
        How many are asked for; None for as many as are expected to be wrong.
    given, wrong : ndarray of shape (n_samples, n_labels)
        Given labels, and their probabilities of being wrong.
    n_suspects : int
        How many are expected in all.
    uncertain : bool
        Whether the two lists must be read apart.

    Returns
    -------
    limits : int or dict of int to int
        As `top_entries` takes them.
    """
    if not uncertain:
        return n_suspects if n is None else n
    if n is not None:
        return {0: n, 1: n}
    wrong = np.nan_to_num(wrong)
    return {v: int(np.rint(wrong[given == v].sum())) for v in (0, 1)}


def top_entries(scores, given, limits):
    """The most suspect entries.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_labels)
        Higher is more suspect; NaN where nothing was given.
    given : ndarray of shape (n_samples, n_labels)
        Given labels, 0 or 1.
    limits : int or dict of int to int
        How many in all, or how many of those given 1 and of those given 0.

    Returns
    -------
    entries : ndarray of shape (n_found, 2)
        Rows and columns: first what was given, then what was not, each by falling
        score; ties by the lowest row, then column.
    """
    known = np.argwhere(np.isfinite(scores))
    known = known[np.argsort(-scores[tuple(known.T)], kind="stable")]
    value = given[tuple(known.T)]
    if isinstance(limits, dict):
        return np.vstack([known[value == v][: limits[v]] for v in (1, 0)])
    known, value = known[:limits], value[:limits]
    return np.vstack([known[value == 1], known[value == 0]])


def suspect_frame(entries, scores, wrong, classes, evidence):
    """Build the table of suspects.

    Parameters
    ----------
    entries : ndarray of shape (n_found, 2)
        Rows and columns among all samples.
    scores, wrong : ndarray of shape (n_samples, n_labels)
        Scores and probabilities of being wrong.
    classes : ndarray of shape (n_labels,)
        Names of the labels.
    evidence : Evidence
        What the reasons are made of.

    Returns
    -------
    frame : pandas.DataFrame
        One line per suspect.
    """
    # Imported here, since `import demurk` is to stay quick.
    import pandas

    place = np.searchsorted(evidence.rows, entries[:, 0])
    neighbors = nearest_rows(evidence, np.unique(place))
    lines = []
    for (row, column), local in zip(entries.tolist(), place.tolist()):
        given = int(evidence.labels[local, column])
        proba = evidence.out_of_sample[local, column]
        reasons = [
            f"probability {proba:.2f} without its own label",
            _neighbor_reason(evidence, neighbors.get(local, ()), column, given),
            _label_reason(evidence, local, column, given, classes),
        ]
        lines.append(
            (
                LISTS[given],
                row,
                classes[column],
                given,
                scores[row, column],
                wrong[row, column],
                "; ".join(reason for reason in reasons if reason),
            )
        )
    return pandas.DataFrame(lines, columns=list(COLUMNS))


def nearest_rows(evidence, places):
    """Nearest labelled rows of some labelled rows, the row itself left out."""
    if evidence.features is None or places.size == 0 or len(evidence.rows) < 2:
        return {}
    graph = nearest_neighbors(
        evidence.features, N_NEIGHBORS + 1, queries=evidence.features[places]
    ).distances
    found = {}
    for k, place in enumerate(places.tolist()):
        near = graph.indices[graph.indptr[k] : graph.indptr[k + 1]]
        found[place] = near[near != place][:N_NEIGHBORS]
    return found


def _neighbor_reason(evidence, near, column, given):
    near = np.asarray(near, dtype=np.intp)
    near = near[evidence.observed[near, column]]
    if near.size == 0:
        return ""
    values = evidence.labels[near, column]
    against = evidence.rows[near[values != given]]
    text = f"{int(values.sum())} of {near.size} nearest rows carry it"
    if against.size == 0:
        return text
    shown = ", ".join(str(row) for row in against[: 2 * N_NAMES])
    more = ", ..." if against.size > 2 * N_NAMES else ""
    return f"{text} ({'not ' if given else ''}rows {shown}{more})"


def _label_reason(evidence, local, column, given, classes):
    """The other labels that speak loudest against what was given."""
    known = evidence.observed[local]
    value = evidence.labels[local]
    say = evidence.coefs[:, column] * np.where(known, value - evidence.means, 0.0)
    say = -say if given else say
    loud = np.argsort(-say, kind="stable")[:N_NAMES]
    loud = loud[say[loud] >= SMALLEST_SAY]
    parts = []
    for is_given, word in ((True, "with"), (False, "without")):
        names = [repr(str(classes[k])) for k in loud if bool(value[k]) == is_given]
        if names:
            parts.append(f"{word} {', '.join(names)}")
    if not parts:
        return ""
    return f"{' and '.join(parts)}, as in rows that {'lack' if given else 'have'} it"
