"""How far a review has come, and whether to go on."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json

import numpy as np

from demurk.review._agreement import agreements
from demurk.review._estimate import remaining_from_tallies, tallies_of_decided, tally

__all__ = ["counts", "findings"]

LAST = 20
MOST_POINTS = 100


def counts(session):
    """What waits, and how far reviewers agree; ready for JSON."""
    return {
        "unlabelled": int((~session.done[session.unlabeled_questions]).sum()),
        "second": int((session.settled & ~session.own).sum()),
        "disputed": sum(verdict.disputed for verdict in session.verdicts.values()),
        "agreement": agreements(session.standing),
        "version": session.version,
    }


def findings(ranking, verdicts):
    """Errors found and errors left; ready for JSON.

    Parameters
    ----------
    ranking : Ranking
        What is suspect.
    verdicts : dict of int to Verdict
        What stands, by question.
    """
    hits, shown, checks = _history(verdicts.values())
    left = _remaining(ranking, list(verdicts), shown, hits)
    return {
        "decided": len(hits),
        "found": sum(hits),
        "last": [sum(hits[-LAST:]), len(hits[-LAST:])],
        "remaining": [left.low, round(left.expected), left.high],
        "checked": [sum(checks), len(checks)],
        "curve": _curve(hits),
    }


def _history(verdicts):
    """Whether each was an error, in order; its score; those drawn at random apart."""
    settled = [max(verdict.settled, key=lambda d: d.id) for verdict in verdicts]
    settled = sorted((d for d in settled if d.given), key=lambda d: d.id)
    hits = [int(decision.decided != decision.given) for decision in settled]
    cards = [json.loads(decision.shown) for decision in settled]
    checks = [hit for hit, card in zip(hits, cards) if card.get("random")]
    return hits, [card.get("score") for card in cards], checks


def _remaining(ranking, settled, shown, hits):
    """Errors that are left, from tallies: a table may have millions of labels."""
    wrong = ranking.wrong[settled]
    left = ranking.tally - tally(wrong[np.isfinite(wrong)])
    scored = [place for place, score in enumerate(shown) if score is not None]
    decided = ([values[place] for place in scored] for values in (shown, hits))
    return remaining_from_tallies(left, *tallies_of_decided(*decided))


def _curve(hits):
    """Errors found after so many decisions, at up to a hundred points."""
    total = np.cumsum([0, *hits])
    places = np.unique(np.linspace(0, len(hits), MOST_POINTS).round().astype(int))
    return [[int(place), int(total[place])] for place in places]
