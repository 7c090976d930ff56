"""The order after the labels were audited again."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from demurk.review._order import mean_order


def test_mean_places_of_what_is_left(rng):
    first = rng.permutation(40)
    latest = rng.permutation(np.flatnonzero(rng.random_sample(40) < 0.7))
    left = [question for question in first if question in latest]
    places = {q: left.index(q) + np.flatnonzero(latest == q)[0] for q in left}
    found = mean_order(latest, first)
    assert sorted(found) == sorted(latest)
    assert [places[q] for q in found] == sorted(places.values())


def test_equal_orders_stay_and_new_questions_come():
    order = np.array([3, 1, 2])
    np.testing.assert_array_equal(mean_order(order, order), order)
    np.testing.assert_array_equal(mean_order(np.array([8, 1, 3]), order), [8, 1, 3])
    assert not len(mean_order(order[:0], order))
