"""How far a review has come, and whether to go on."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
from math import sqrt

import numpy as np

from demurk.review._agreement import agreements

try:
    from demurk.review._estimate import remaining_errors
except ImportError:  # the probabilities are then taken as they are
    remaining_errors = None

__all__ = ["progress"]

LAST = 20
MOST_POINTS = 100
Z90 = 1.645


def progress(session):
    """Counts for the page, ready for JSON."""
    hits, shown, checks = _history(session.verdicts.values())
    wrong = session.ranking.wrong
    left = wrong[np.isfinite(wrong) & ~session.settled]
    low, expected, high = _remaining(left, shown, hits)
    second = session.settled & ~session.own
    return {
        "decided": len(hits),
        "found": sum(hits),
        "last": [sum(hits[-LAST:]), len(hits[-LAST:])],
        "remaining": [round(low), round(expected), round(high)],
        "checked": [sum(checks), len(checks)],
        "curve": _curve(hits),
        "unlabelled": int((~session.done[session.unlabeled_questions]).sum()),
        "second": int(second.sum()),
        "disputed": sum(verdict.disputed for verdict in session.verdicts.values()),
        "agreement": agreements(session.standing),
        "version": session.version,
    }


def _history(verdicts):
    """Whether each was an error, in order; its score; those drawn at random apart."""
    settled = [max(verdict.settled, key=lambda d: d.id) for verdict in verdicts]
    settled = sorted((d for d in settled if d.given), key=lambda d: d.id)
    hits = [int(decision.decided != decision.given) for decision in settled]
    cards = [json.loads(decision.shown) for decision in settled]
    checks = [hit for hit, card in zip(hits, cards) if card.get("random")]
    return hits, [card.get("score") for card in cards], checks


def _remaining(wrong, shown, hits):
    """Errors expected among what is open, and where nine in ten intervals hold it."""
    if remaining_errors is not None:
        known = [(s, hit) for s, hit in zip(shown, hits) if s is not None]
        found = remaining_errors(wrong, *(zip(*known) if known else ((), ())))
        return found.low, found.expected, found.high
    expected = float(wrong.sum())
    spread = Z90 * sqrt(float((wrong * (1 - wrong)).sum()))
    return max(0.0, expected - spread), expected, expected + spread


def _curve(hits):
    """Errors found after so many decisions, at up to a hundred points."""
    total = np.cumsum([0, *hits])
    places = np.unique(np.linspace(0, len(hits), MOST_POINTS).round().astype(int))
    return [[int(place), int(total[place])] for place in places]
