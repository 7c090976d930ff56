"""The program's PL-kNN, one sample at a time."""

import numpy as np
from numpy.testing import assert_array_equal

from demurk.benchmark.rivals import WithoutNearest


def test_the_second_to_eleventh_neighbours_vote(rng):
    X, new = rng.normal(size=(60, 3)), rng.normal(size=(20, 3))
    candidates = np.eye(4, dtype=int)[rng.randint(4, size=60)]
    candidates |= rng.uniform(size=(60, 4)) < 0.3
    mean, spread = X.mean(axis=0), X.std(axis=0)
    expected = []
    for x in new:
        d = [np.linalg.norm((x - z) / spread) for z in X]
        order = np.argsort(d)[1:11]
        total = sum(d[j] for j in order)
        votes = sum((1 - d[j] / total) * candidates[j] for j in order)
        expected.append(np.argmax(votes))
    found = WithoutNearest().fit(X, candidates).predict(new)
    assert_array_equal(found, expected)
    moved = WithoutNearest().fit(3 * X + mean, candidates).predict(3 * new + mean)
    assert_array_equal(moved, expected)


def test_the_nearest_says_nothing():
    X, candidates = np.array([[0.0], [1.0], [9.0]]), np.eye(3, dtype=int)
    assert WithoutNearest(1).fit(X, candidates).predict([[0.1]]) == [1]
