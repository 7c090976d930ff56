"""How often the interval of what remains holds the truth."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.special import expit, logit
from scipy.stats import binom

from demurk.review import _estimate
from demurk.review._estimate import (
    LOGITS,
    remaining_errors,
    remaining_from_tallies,
    tallies_of_decided,
    tally,
)


@pytest.fixture
def constants(monkeypatch):
    """Other constants, for one test."""

    def change(**values):
        for name, value in values.items():
            monkeypatch.setattr(_estimate, name, value)
        _estimate._calibrations.cache_clear()

    yield change
    _estimate._calibrations.cache_clear()


def simulate(
    rng,
    shift=0.0,
    suspect=0.0,
    tail=0.0,
    slope=1.0,
    person=0.0,
    n=1500,
    n_decided=150,
):
    """Review the most suspect of some labels, every tenth at random.

    Returns probabilities of the open ones, those shown, hits, and what remains.
    """
    p = expit(rng.normal(-3.5, 2, size=n))
    true = shift + slope * logit(p) + tail * expit(-1 - logit(p))
    true = true + suspect * expit((logit(p) + 2) / 0.7)
    wrong = rng.random_sample(n) < expit(true)
    order = list(np.argsort(-p))
    decided = []
    for k in range(n_decided):
        random = k % 10 == 9
        decided.append(order.pop(rng.randint(len(order)) if random else 0))
    errs = rng.random_sample(n_decided) < person
    return p[order], p[decided], wrong[decided] ^ errs, int(wrong[order].sum())


def coverage(rng, n_runs=150, **how):
    held = []
    for _ in range(n_runs):
        left, shown, hits, truth = simulate(rng, **how)
        found = remaining_errors(left, shown, hits)
        held.append(found.low <= truth <= found.high)
    return np.mean(held)


def test_intervals_hold_the_truth_as_often_as_they_say():
    rng = np.random.RandomState(0)
    how = [
        {"suspect": rng.normal(0, _estimate.SHIFT_SPREAD)}
        | {"tail": rng.normal(0, _estimate.TAIL_SPREAD)}
        for _ in range(200)
    ]
    held = np.mean([coverage(rng, 1, **one) for one in how])
    assert 0.85 <= held <= 0.96


@pytest.mark.parametrize(
    ("how", "least"),
    [
        ({}, 0.9),
        ({"shift": 0.5}, 0.8),
        ({"shift": -0.5}, 0.8),
        ({"slope": 0.9}, 0.8),
        ({"tail": 0.4}, 0.8),
        ({"person": 0.05}, 0.8),
    ],
)
def test_they_hold_it_where_the_audit_or_the_person_is_off(how, least):
    rng = np.random.RandomState(1)
    assert coverage(rng, 100, **how) >= least


def test_the_plain_sum_would_not_have_held_it():
    rng = np.random.RandomState(2)
    held = []
    for _ in range(50):
        left, _, _, truth = simulate(rng, shift=0.7)
        spread = 1.645 * np.sqrt((left * (1 - left)).sum())
        held.append(abs(left.sum() - truth) <= spread)
    assert np.mean(held) < 0.3
    assert coverage(rng, 50, shift=0.7) > np.mean(held) + 0.4


def test_what_people_find_moves_the_estimate():
    left = [0.05] * 1000
    before = remaining_errors(left)
    assert before.low < 50 < before.high
    many = remaining_errors(left, [0.05] * 60, [1, 0, 0] * 20)
    none = remaining_errors(left, [0.05] * 200, [0] * 200)
    assert none.high < before.high and none.expected < before.expected / 2
    assert many.low > before.low and many.expected > 2 * before.expected
    assert many.expected > many.low and none.expected < none.high


def test_counts_of_a_known_calibration_are_binomial(constants):
    constants(SHIFTS=np.zeros(1), TAILS=np.zeros(1), PERSONS=np.zeros(1))
    p = expit(LOGITS[20])
    found = remaining_errors([p] * 300)
    assert found.expected == pytest.approx(300 * p)
    assert found.low == binom(300, p).ppf(0.05)
    assert found.high == binom(300, p).ppf(0.95)
    wide = remaining_errors([p] * 300, level=0.99)
    assert wide.low < found.low and wide.high > found.high


def test_tallies_add_up():
    rng = np.random.RandomState(3)
    left, shown, hits, _ = simulate(rng)
    everything = tally(np.r_[left, shown])
    assert_array_equal(everything - tally(shown), tally(left))
    found, kept = tallies_of_decided(shown, hits)
    counts = np.arange(1, 151) / 150
    assert found.sum() == pytest.approx(counts[hits].sum())
    assert kept.sum() == pytest.approx(counts[~hits].sum())
    again = remaining_from_tallies(everything - tally(shown), found, kept)
    assert again == remaining_errors(left, shown, hits)


def test_an_audit_that_has_learned_is_judged_by_the_last_decisions():
    rng = np.random.RandomState(5)
    left, shown, hits, truth = simulate(rng, n_decided=300)
    # Before, labels that nobody suspected were nearly all wrong.
    early = np.full(30, 0.01)
    found = remaining_errors(left, np.r_[early, shown], np.r_[early > 0, hits])
    assert found.low <= truth <= found.high
    wrong_order = remaining_errors(left, np.r_[shown, early], np.r_[hits, early > 0])
    assert wrong_order.expected > 1.2 * found.expected


def test_the_grid_is_fine_enough(constants):
    rng = np.random.RandomState(4)
    left, shown, hits, _ = simulate(rng, shift=-0.4)
    coarse = remaining_errors(left, shown, hits)
    constants(SHIFTS=np.linspace(-5, 5, 201), TAILS=np.linspace(-4, 4, 81))
    fine = remaining_errors(left, shown, hits)
    assert coarse.expected == pytest.approx(fine.expected, rel=0.03)
    assert coarse.low == pytest.approx(fine.low, abs=2)
    assert coarse.high == pytest.approx(fine.high, abs=2)


def test_ends():
    assert remaining_errors([]) == remaining_errors([], [0.5], [1])
    nothing = remaining_errors([])
    assert (nothing.low, nothing.expected, nothing.high) == (0, 0.0, 0)
    sure = remaining_errors([1.0] * 5, [0.0, 1.0], [False, True])
    assert sure.high == 5 and sure.low >= 4
    clean = remaining_errors([0.0] * 5)
    assert clean.low == 0 and clean.high <= 1
