"""Rows of labels sorted by their scores, and what the measures read off them.

All measures sort the labels of a row once, best first. Equal scores form a tie group;
the rules for ties differ only in what they read off that group.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from demurk.metrics._classification import Floats, Mask, check_scores, undefined

__all__ = [
    "DEGENERATE",
    "check_choice",
    "depth_rows",
    "loss_rows",
    "mean_of_rows",
    "precision_rows",
    "row_values",
    "top_rows",
]

TIES = ("reference", "worst", "average")
DEGENERATE = ("drop", "sklearn")

# Entries sorted at a time: bounds the working memory to some 30 MB.
CHUNK_ENTRIES = 2**18


class Ranked(NamedTuple):
    """Rows of labels sorted best first; positions count from 0."""

    relevant: np.ndarray  # bool (n, q): is the label at this position relevant
    start: np.ndarray  # (n, q) first position of the tie group of this position
    end: np.ndarray  # (n, q) its last position
    above: np.ndarray  # (n, q) relevant labels before the group
    inside: np.ndarray  # (n, q) relevant labels in the group
    n_relevant: np.ndarray  # (n,)
    n_observed: np.ndarray  # (n,)


def rank(truth: Mask, scores: Floats, observed: Mask) -> Ranked:
    """Sort each row; equal scores by falling label index, unobserved labels last."""
    # Reversed columns and a stable sort give the higher index the better rank.
    # Scores are finite, so that inf keeps unobserved labels in a group of their own.
    keys = np.where(observed, -scores, np.inf)[:, ::-1]
    order = np.argsort(keys, axis=1, kind="stable")
    keys = np.take_along_axis(keys, order, axis=1)
    relevant = np.take_along_axis(truth[:, ::-1], order, axis=1)

    position = np.arange(keys.shape[1])
    opens = np.ones(keys.shape, dtype=bool)
    opens[:, 1:] = keys[:, 1:] != keys[:, :-1]
    closes = np.ones(keys.shape, dtype=bool)
    closes[:, :-1] = opens[:, 1:]
    start = np.maximum.accumulate(np.where(opens, position, 0), axis=1)
    end = np.where(closes, position, position[-1])[:, ::-1]
    end = np.minimum.accumulate(end, axis=1)[:, ::-1]

    hits = np.cumsum(relevant, axis=1)
    above: NDArray[Any] = np.take_along_axis(hits - relevant, start, axis=1)
    inside = np.take_along_axis(hits, end, axis=1) - above
    n_observed = np.count_nonzero(observed, axis=1)
    return Ranked(relevant, start, end, above, inside, hits[:, -1], n_observed)


def loss_rows(ranked: Ranked, ties: str) -> Floats:
    strictly = ranked.start - ranked.above
    at_least = ranked.end + 1 - ranked.above - ranked.inside
    errors = (strictly + at_least) / 2 if ties == "average" else at_least
    n_pairs = ranked.n_relevant * (ranked.n_observed - ranked.n_relevant)
    return np.sum(errors, axis=1, where=ranked.relevant) / np.maximum(n_pairs, 1)


def precision_rows(ranked: Ranked, ties: str) -> Floats:
    relevant, start, end, above, inside, n_relevant, _ = ranked
    position = np.arange(relevant.shape[1])
    if ties == "reference":
        precision = np.cumsum(relevant, axis=1) / (position + 1) * relevant
    elif ties == "worst":
        precision = (above + inside) / (end + 1) * relevant
    else:
        # A random order puts a relevant label here with probability inside / size;
        # the others of the group then fall evenly on its remaining places.
        size = end - start + 1
        share_above = (position - start) / np.maximum(size - 1, 1)
        hits = above + 1 + share_above * (inside - 1)
        precision = hits / (position + 1) * inside / size
    total = precision.sum(axis=1)
    return np.where(n_relevant == 0, 1.0, total / np.maximum(n_relevant, 1))


def top_rows(ranked: Ranked, ties: str) -> Floats:
    size = ranked.end[:, 0] + 1
    inside = ranked.inside[:, 0]
    if ties == "reference":
        return (inside == 0).astype(np.float64)
    if ties == "worst":
        return (inside < size).astype(np.float64)
    return 1.0 - inside / size


def depth_rows(ranked: Ranked, ties: str, empty: float, normalize: Any) -> Floats:
    relevant, start, end, _, inside, n_relevant, n_observed = ranked
    last = relevant.shape[1] - 1 - np.argmax(relevant[:, ::-1], axis=1)
    rows = np.arange(len(last))
    if ties == "reference":
        depth = last.astype(np.float64)
    elif ties == "worst":
        depth = end[rows, last].astype(np.float64)
    else:
        # Expected largest of `hits` places drawn from `size`, counted from 1.
        start, hits = start[rows, last], inside[rows, last]
        size = end[rows, last] - start + 1
        depth = start + hits * (size + 1) / (hits + 1) - 1
    depth[n_relevant == 0] = empty
    if normalize is None:
        return depth
    divisor = n_observed - 1.0 if normalize == "C-1" else n_observed * 1.0
    return depth / np.where(divisor > 0, divisor, np.nan)


def row_values(
    rule: Callable[[Ranked, str], Floats],
    Y: Any,
    scores: Any,
    ties: str,
    degenerate: str,
    observed: Any,
    degenerate_choices: Any = DEGENERATE,
) -> Floats:
    """Apply a rule to all rows; NaN for rows that are left out."""
    check_choice("ties", ties, TIES)
    check_choice("degenerate", degenerate, degenerate_choices)
    truth, scores, observed = check_scores(Y, scores, observed)
    n_samples, n_labels = truth.shape
    values = np.empty(n_samples)
    for rows in gen_batches(n_samples, max(1, CHUNK_ENTRIES // n_labels)):
        ranked = rank(truth[rows], scores[rows], observed[rows])
        chunk = rule(ranked, ties)
        left_out = ranked.n_observed == 0
        if degenerate == "drop":
            left_out |= ranked.n_relevant == 0
            left_out |= ranked.n_relevant == ranked.n_observed
        values[rows] = np.where(left_out, np.nan, chunk)
    return values


def mean_of_rows(values: Floats, name: str) -> float:
    kept = ~np.isnan(values)
    if not kept.any():
        reason = "every row is degenerate or without observed labels"
        return undefined(name, reason, stacklevel=4)
    return float(values[kept].mean())


def check_choice(name: str, value: Any, choices: Any) -> None:
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} is {value!r}; it must be one of {listed}.")
