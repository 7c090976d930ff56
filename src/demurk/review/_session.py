"""A review: which card comes next, what a key means, and how far one has come."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import threading

import numpy as np

from demurk.review._cards import CardMaker
from demurk.review._keys import row_keys
from demurk.review._people import WhoSaid
from demurk.review._progress import counts, findings
from demurk.review._questions import Filter, Questions
from demurk.review._rows import RowFilter
from demurk.review._standing import Standing, entry_of, verdict_of
from demurk.review._store import SETTLED, Decision, shown_text

__all__ = ["QUEUES", "Session"]

QUEUES = ("suspects", "unlabelled", "second", "disputed")
# Every so many cards one is drawn at random: an unbiased look at what is left.
RANDOM_EVERY = 10
CHUNK = 8192
EVERYTHING = Filter()


class Session:
    """One reviewer at work on one table.

    Parameters
    ----------
    table : Table
        The table as it was read.
    store : Store
        Its decisions.
    ranking : Ranking
        What to ask first.
    reviewer : str, default="reviewer"
        Who decides.
    blind : bool, default=False
        Whether scores and reasons stay hidden.
    seed : int, default=0
        Seed of the cards that come at random.
    keys : RowKeys, default=None
        Names of the rows; None makes them.
    on_decision : callable, default=None
        Called after decisions, with the session; re-ranks.
    """

    def __init__(
        self,
        table,
        store,
        ranking,
        *,
        reviewer="reviewer",
        blind=False,
        seed=0,
        keys=None,
        on_decision=None,
    ):
        self.table, self.store, self.ranking = table, store, ranking
        self._first_ranking = ranking
        self.reviewer, self.blind = reviewer, blind
        self.labels = labels = table.labels
        self.questions = Questions(labels, table.form.form)
        self.keys = row_keys(table, store) if keys is None else keys
        self.cards = CardMaker(table)
        self._who = None if table.annotations is None else WhoSaid(table.annotations)
        self.version = 0
        self._on_decision = on_decision
        self._lock = threading.RLock()
        self._rng = np.random.default_rng(seed)
        self._random, self._count = None, 0
        self.values = self.questions.given_values()
        self.settled = np.zeros(len(self.questions), dtype=bool)  # by anybody
        self.done = np.zeros(len(self.questions), dtype=bool)  # settled, or put off
        self.own = np.zeros(len(self.questions), dtype=bool)  # settled by this one
        unlabeled = self._rng.permutation(np.flatnonzero(~labels.labeled))
        # A question about each row without labels, in the order that they come.
        self.unlabeled_questions = unlabeled * self.questions.width
        self.rows = RowFilter(table)
        self.standing = Standing()
        self.verdicts = {}  # what stands, by question
        self.refresh()

    # What was decided, by anybody

    def refresh(self):
        """Take in what was decided since, here or elsewhere."""
        with self._lock:
            new = self.store.since(self.standing.last)
            for place in self.standing.take(new):
                self._settle(place)

    def _settle(self, place):
        """Bring the labels and what is done up to date at one place."""
        own = self.standing.of(place)
        verdict = verdict_of(own)
        entry = entry_of(place, self.keys, self.questions)
        if entry is None:
            return
        row, column = entry
        question = self.questions.number(row, column)
        chosen = slice(None) if column is None else column
        self.values[row, chosen] = self.questions.given_values(row)[chosen]
        settled = verdict.fits(row, column, self.keys, self.questions)
        if settled and verdict.decided is not None:
            self.questions.write(self.values, row, column, verdict.decided)
        mine = own.get(self.reviewer)
        fits = mine is not None and self.keys.find(mine) == row
        self.settled[question] = settled
        self.verdicts.pop(question, None)
        if settled:
            self.verdicts[question] = verdict
        self.own[question] = fits and mine.action in SETTLED
        self.done[question] = settled or fits

    @property
    def trusted(self):
        """Entries that a person has settled, of shape (n_rows, n_labels)."""
        known = self.settled.reshape(-1, self.questions.width)
        return np.broadcast_to(known, self.values.shape)

    def take_ranking(self, ranking):
        """Go on in another order; the card in view is not the session's to move."""
        if self.questions.several:
            ranking = ranking.beside(self._first_ranking)
        # Made now, not while somebody waits for an answer.
        _ = ranking.n_listed, ranking.tally, ranking.digest
        with self._lock:
            self.ranking = ranking
            self.version += 1

    # Which card

    def next(self, queue="suspects", chosen=EVERYTHING, after=None):
        """The next question of a queue.

        Parameters
        ----------
        queue : {"suspects", "unlabelled", "second", "disputed"}, default="suspects"
            Suspects, rows without a label, what others have settled, or what
            reviewers disagree about.
        chosen : Filter, default=EVERYTHING
            Which of them.
        after : int, default=None
            Only those that come after this question.

        Returns
        -------
        question : int or None
            Its number; None where there is none left.
        random : bool
            Whether it was drawn at random.
        """
        with self._lock:
            if queue == "suspects" and chosen == EVERYTHING and after is None:
                drawn = self._draw()
                if drawn is not None:
                    return drawn, True
            order = self._queue(queue)
            if after is not None:
                # Then from the beginning, up to where it is.
                place = np.flatnonzero(order == after)
                order = np.roll(order, -1 - place[0]) if place.size else order
            return self._first_open(order, queue, chosen), False

    def _queue(self, queue):
        if queue == "unlabelled":
            return self.unlabeled_questions
        if queue == "second":
            return np.flatnonzero(self.settled & ~self.own)
        if queue == "disputed":
            known = self.verdicts.items()
            return np.array([q for q, v in known if v.disputed], dtype=np.intp)
        return self.ranking.order

    def _first_open(self, order, queue, chosen):
        rows = self.rows.passing(chosen)
        for begin in range(0, len(order), CHUNK):
            part = order[begin : begin + CHUNK]
            fit = self._open(part, queue) & self.questions.mask(part, chosen, rows)
            if fit.any():
                return int(part[fit.argmax()])
        return None

    def _open(self, questions, queue):
        if queue in ("second", "disputed"):
            return np.ones(len(questions), dtype=bool)
        return ~self.done[questions]

    def _draw(self):
        """Every tenth card: any open question, suspect or not."""
        if self._count % RANDOM_EVERY != RANDOM_EVERY - 1:
            return None
        if self._random is None or self.done[self._random]:
            order = self.ranking.order
            left = order[~self.done[order]]
            self._random = int(self._rng.choice(left)) if left.size else None
        return self._random

    def listed(self, queue="suspects", chosen=EVERYTHING):
        """The open questions on the list of suspects, as (question, words) in order."""
        with self._lock:
            order = self._queue(queue)
            if queue == "suspects":
                order = order[: self.ranking.n_listed]
            rows = self.rows.passing(chosen)
            fit = self._open(order, queue) & self.questions.mask(order, chosen, rows)
            return order[fit][: self.ranking.n_listed].tolist()

    # Deciding

    def decide(self, answers, *, card=None, random=False, queue="suspects", note=""):
        """Write answers, together; they are on disk when it returns.

        Parameters
        ----------
        answers : sequence of (question, action, decided)
            What one key said; see :meth:`Questions.answer`.
        card : int, default=None
            The question on the card; None for that of the first answer.
        random : bool, default=False
            Whether the card had been drawn at random.
        queue : str, default="suspects"
            Where it came from.
        note : str, default=""
            A remark.

        Returns
        -------
        batch : str
            The name under which one undo takes them back.
        """
        asked = [answer[0] for answer in answers] + ([] if card is None else [card])
        self.questions.check(asked)
        with self._lock:
            shown = {
                "card": self.questions.label(asked[0] if card is None else asked[-1]),
                "random": bool(random),
                "queue": queue,
            }
            made = [self._decision(*answer, note=note, **shown) for answer in answers]
            batch = self.store.add(made)
            self.refresh()
            if any(decision.action != "note" for decision in made):
                self._count += 1
                self._random = None
        if self._on_decision is not None:
            self._on_decision(self)
        return batch

    def _decision(self, question, action, decided=None, *, note, **shown):
        row, column = self.questions.split(question)
        wrong, best = self.ranking.wrong[question], self.ranking.suggested
        best = None if best is None else int(best[row])
        shown = shown_text(
            score=None if np.isnan(wrong) else round(float(wrong), 6),
            model=self.ranking.digest,
            blind=self.blind,
            **shown,
        )
        return Decision(
            action,
            self.keys.keys[row],
            self.keys.cells[row],
            self.questions.label(question),
            self.questions.given(row, column),
            self.questions.answer(question, action, decided, best),
            note,
            self.reviewer,
            shown=shown,
        )

    def undo(self):
        """Take back the last key; returns the question of its card, or None."""
        with self._lock:
            undone = self.store.undo(self.reviewer)
            self.refresh()
            if not undone:
                return None
            self._count = max(0, self._count - 1)
            row = self.keys.find(undone[0])
            # Another label may have been chosen on the card of this one.
            label = json.loads(undone[0].shown).get("card", undone[0].label)
            column = self.questions.columns.get(label)
            return None if row is None else self.questions.number(row, column)

    # Telling

    def card(self, question, random=False):
        """Everything that a card shows, ready for JSON."""
        row, column = self.questions.split(question)
        with self._lock:
            ranking, values = self.ranking, self.values
        near = self.cards.near(row, self.labels.labeled)
        card = self.cards.card(row, values, near)
        labeled = bool(self.labels.observed[row].any())
        wrong = float(ranking.wrong[question])
        asked = labeled and not np.isnan(wrong)
        card |= {
            "question": int(question),
            "column": column,
            "labels": self._shown_labels(question).tolist(),
            "labeled": labeled,
            "given": np.flatnonzero(self.labels.values[row] > 0).tolist(),
            "done": bool(self.own[question]),
            "random": bool(random),
            "suggested": None,
        }
        if not asked:
            word = "Which labels has it?" if self.questions.several else "Which class?"
            return card | {"reasons": [{"sentence": f"Not labelled yet. {word}"}]}
        if self.blind:
            return card | {"reasons": [{"sentence": self.questions.plain(question)}]}
        best = None if ranking.suggested is None else int(ranking.suggested[row])
        chance = None if best is None else float(ranking.chance[row])
        sentence = self.questions.sentence(question, near, values, best, chance)
        if self.questions.form == "candidates":
            # That one of several is wrong goes without saying.
            card["unlikely"], wrong = int(ranking.unlikely[row]), None
        reasons = [{"sentence": sentence, "wrong": wrong}]
        if self._who is not None:
            reasons.append({"sentence": self._who.sentence(row, column)})
        return card | {"reasons": reasons, "suggested": best}

    def _shown_labels(self, question):
        """Labels of the row; what others decided about the question leads nobody."""
        row, column = self.questions.split(question)
        values = self.values[row].copy()
        if not self.own[question]:
            asked = slice(None) if column is None else column
            values[asked] = self.questions.given_values(row)[asked]
        return np.flatnonzero(values > 0)

    def item(self, question):
        """A line of the list."""
        row, column = self.questions.split(question)
        wrong = self.ranking.wrong[question]
        return {
            "question": int(question),
            "row": row,
            "title": self.cards.brief(row),
            "label": None if column is None else self.questions.names[column],
            "given": self.questions.given(row, column),
            "wrong": None if self.blind or np.isnan(wrong) else round(float(wrong), 3),
        }

    def state(self):
        """How far one has come."""
        with self._lock:
            told = counts(self)
            ranking, verdicts = self.ranking, dict(self.verdicts)
        # This takes its time, and nobody should have to wait for it.
        return told | findings(ranking, verdicts)
