"""Swapped ambiguous rows, beside a slow reference."""

from itertools import product

import numpy as np
from numpy.testing import assert_allclose

from demurk.audit import _ambiguous
from demurk.audit._ambiguous import swapped_gain


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def reference(p, given):
    """One row and one point of the grid at a time."""
    margins, seconds = [], []
    for row, old in zip(p, given):
        first, second = sorted(range(len(row)), key=lambda c: -row[c])[:2]
        if old in (first, second):
            margins.append(np.log(row[first] / row[second]))
            seconds.append(old == second)

    def fitness(chance):
        pairs = zip(margins, seconds)
        return sum(np.log(chance(m) if old else 1 - chance(m)) for m, old in pairs)

    def swapped(slope, share, rate):
        edge = np.quantile(margins, share)

        def chance(m):
            r = rate * sigmoid((edge - m) / _ambiguous.WIDTH)
            return r * sigmoid(slope * m) + (1 - r) * sigmoid(-slope * m)

        return chance

    grid = _ambiguous.SWAPPED_SLOPES, _ambiguous.SHARES, _ambiguous.SWAPPED
    slopes = _ambiguous.PLAIN_SLOPES
    plain = max(fitness(lambda m, b=b: sigmoid(-b * m)) for b in slopes)
    return max(fitness(swapped(*point)) for point in product(*grid)) - plain


def drawn(n_rows, seed=0):
    rng = np.random.RandomState(seed)
    p = rng.dirichlet(np.ones(4), n_rows)
    return p, (p.cumsum(axis=1) > rng.random_sample((n_rows, 1))).argmax(axis=1)


def test_gain_equals_a_slow_reference():
    p, given = drawn(40)
    assert_allclose(swapped_gain(p, given), reference(p, given), rtol=1e-8)


def test_order_of_rows_and_classes_changes_nothing():
    p, given = drawn(1000)
    rows, classes = np.random.RandomState(1).permutation(1000), np.array([2, 0, 3, 1])
    moved = p[np.ix_(rows, classes)], np.argsort(classes)[given[rows]]
    assert_allclose(swapped_gain(*moved), swapped_gain(p, given), rtol=1e-10)


def test_no_row_of_the_two_likeliest_classes():
    p = np.tile([0.5, 0.3, 0.2], (5, 1))
    assert swapped_gain(p, np.full(5, 2)) == 0
