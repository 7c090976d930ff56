"""The sparse model against dense ones, written from the formulas."""

import numpy as np
import pytest

from demurk.annotators import Annotations, Consensus

TURNS = 7
FLOOR = 1e-10


def draw_classes(rng, n=70, people=6, q=4):
    true = rng.randint(q, size=n)
    right = rng.random_sample((n, people)) < np.linspace(0.3, 0.9, people)
    answers = np.where(right, true[:, np.newaxis], rng.randint(q, size=(n, people)))
    answers[rng.random_sample(answers.shape) < 0.4] = -1
    answers[0] = -1
    return answers


def draw_labels(rng, n=70, people=5, q=3):
    true = rng.random_sample((n, q)) < [0.2, 0.5, 0.7]
    flips = rng.random_sample((n, people, q)) < 0.25
    answers = np.where(flips, ~true[:, np.newaxis], true[:, np.newaxis]).astype(int)
    answers[rng.random_sample(answers.shape[:2]) < 0.4] = -1
    answers[rng.random_sample(answers.shape) < 0.1] = -1
    answers[0] = -1
    return answers


def drawn_to_guessing(counts):
    """A person who knows some answers and guesses the others as he likes."""
    people, q, _ = counts.shape
    total = np.array([counts[j].sum() for j in range(people)])
    guess, chance, gained = [], [], []
    for j in range(people):
        said = counts[j].sum(axis=0) + 1 / q
        true = counts[j].sum(axis=1) + 1 / q
        guess.append(said / said.sum())
        chance.append(guess[j] @ (true / true.sum()))
        gained.append(np.trace(counts[j]) - chance[j] * total[j])
    pooled = sum(gained) / sum((1 - c) * t for c, t in zip(chance, total))
    prior = np.empty(counts.shape)
    for j in range(people):
        knows = (gained[j] / (1 - chance[j]) + 2 * pooled) / (total[j] + 2)
        knows = min(max(knows, 0), 1)
        for k in range(q):
            prior[j, k] = (1 - knows) * guess[j]
            prior[j, k, k] += knows
    return prior


def dense_classes(answers, smoothing):
    n, people = answers.shape
    q = answers.max() + 1
    known = (answers >= 0).any(axis=1)
    beliefs = np.full((n, q), 1 / q)
    for i in np.flatnonzero(known):
        given = answers[i][answers[i] >= 0]
        beliefs[i] = np.bincount(given, minlength=q) / len(given)
    for _ in range(TURNS):
        counts = np.zeros((people, q, q))
        for i, j in np.argwhere(answers >= 0):
            counts[j, :, answers[i, j]] += beliefs[i]
        if smoothing:
            counts = counts + smoothing * drawn_to_guessing(counts)
        counts = np.maximum(counts, FLOOR)
        confusion = counts / counts.sum(axis=2, keepdims=True)
        shares = np.maximum(beliefs[known].mean(axis=0), FLOOR)
        logs = np.tile(np.log(shares), (n, 1))
        for i, j in np.argwhere(answers >= 0):
            logs[i] += np.log(np.maximum(confusion[j, :, answers[i, j]], FLOOR))
        beliefs = np.exp(logs - logs.max(axis=1, keepdims=True))
        beliefs /= beliefs.sum(axis=1, keepdims=True)
    return beliefs


def dense_labels(answers, smoothing):
    n, people, q = answers.shape
    asked, votes = (answers >= 0).sum(axis=1), (answers == 1).sum(axis=1)
    overall = votes.sum() / asked.sum()
    beliefs = np.where(asked > 0, votes / np.maximum(asked, 1), overall)
    for _ in range(TURNS):
        counts = np.zeros((people, q, 2, 2))
        for i, j, k in np.argwhere(answers >= 0):
            counts[j, k, 1, answers[i, j, k]] += beliefs[i, k]
            counts[j, k, 0, answers[i, j, k]] += 1 - beliefs[i, k]
        if smoothing:
            everybody = counts.sum(axis=(0, 1)) + FLOOR
            everybody /= everybody.sum(axis=1, keepdims=True)
            for j in range(people):
                own = counts[j].sum(axis=0) + 5 * everybody
                counts[j] += smoothing * own / own.sum(axis=1, keepdims=True)
        counts = np.maximum(counts, FLOOR)
        rates = counts / counts.sum(axis=3, keepdims=True)
        shares = (beliefs * (asked > 0)).sum(axis=0) / (asked > 0).sum(axis=0)
        odds = np.tile(np.log(shares / (1 - shares)), (n, 1))
        for i, j, k in np.argwhere(answers >= 0):
            hold, not_hold = rates[j, k, 1], rates[j, k, 0]
            value = answers[i, j, k]
            odds[i, k] += np.log(hold[value]) - np.log(not_hold[value])
        beliefs = 1 / (1 + np.exp(-odds))
    return beliefs


@pytest.mark.parametrize("smoothing", [0, 3.5])
@pytest.mark.parametrize(
    ("draw", "dense"), [(draw_classes, dense_classes), (draw_labels, dense_labels)]
)
def test_is_the_dense_model(draw, dense, smoothing):
    # One belief of a person who was never asked must not stop the counts.
    for seed in range(3):
        answers = draw(np.random.RandomState(seed))
        model = Consensus("dawid-skene", smoothing=smoothing, max_iter=TURNS, tol=0)
        model.fit(None, Annotations.from_array(answers))
        assert model.n_iter_ == TURNS
        np.testing.assert_allclose(
            model.label_distributions_, dense(answers, smoothing), atol=1e-8
        )


@pytest.mark.parametrize("draw", [draw_classes, draw_labels])
def test_without_a_prior_no_step_is_less_likely(draw):
    """Expectation and maximisation never lower the likelihood of the answers."""
    said = Annotations.from_array(draw(np.random.RandomState(5)))
    values = []
    for turns in range(1, 12):
        model = Consensus("dawid-skene", smoothing=0, max_iter=turns, tol=0)
        values.append(likelihood(said, model.fit(None, said)))
    assert (np.diff(values) > -1e-9).all() and values[-1] > values[0]


def likelihood(said, model):
    """Log-likelihood of the answers under the rates that follow from the beliefs."""
    beliefs, confusion = model.label_distributions_, model.confusion_
    total = 0.0
    if said.single:
        shares = beliefs[said.answers_per_row > 0].mean(axis=0)
        for i in np.unique(said.rows):
            each = shares.copy()
            for place in np.flatnonzero(said.rows == i):
                each = each * confusion[said.people[place], :, said.codes[place]]
            total += np.log(each.sum())
        return total
    asked = said.votes()[1] > 0
    for i, k in np.argwhere(asked):
        share = beliefs[asked[:, k], k].mean()
        each = np.array([1 - share, share])
        for place in np.flatnonzero(said.rows == i):
            if said.codes[place, k] >= 0:
                rates = confusion[said.people[place], k]
                each = each * rates[:, said.codes[place, k]]
        total += np.log(each.sum())
    return total
