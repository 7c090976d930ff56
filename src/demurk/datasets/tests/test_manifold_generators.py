"""Tests of the artificial data with garbage features."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsClassifier

from demurk.datasets._manifold_generators import make_clusdat, make_torus

MAKERS = [make_torus, make_clusdat]


def test_sizes_are_those_of_the_paper():
    torus, clusdat = make_torus(random_state=0), make_clusdat(random_state=0)
    assert torus.data.shape == (1000, 10) and clusdat.data.shape == (1600, 10)
    assert np.bincount(torus.target).tolist() == [500, 500]
    assert np.bincount(clusdat.target).tolist() == [800, 800]
    assert np.bincount(clusdat.clusters).tolist() == [200] * 8
    assert torus.feature_names[2:4] == ["x3", "garbage1"]
    assert len(clusdat.feature_names) == 10 and clusdat.name == "clusdat"


def test_tori_are_tori_and_do_not_touch():
    torus = make_torus(random_state=1)
    x, y, z = torus.data[torus.target == 0, :3].T
    assert_allclose((np.hypot(x, y) - 1) ** 2 + z**2, 0.25**2)
    x, y, z = torus.data[torus.target == 1, :3].T
    assert_allclose((np.hypot(x - 1, z) - 1) ** 2 + y**2, 0.25**2)
    first, second = (torus.data[torus.target == c, :3] for c in (0, 1))
    gaps = np.linalg.norm(first[:, None] - second[None], axis=2)
    # The rings are one apart where they are closest, and the tubes a quarter thick.
    assert 0.49 < gaps.min() < 0.6


def test_clusters_take_turns():
    clusdat = make_clusdat(random_state=1)
    assert_array_equal(clusdat.target, clusdat.clusters % 2)
    means = np.array(
        [clusdat.data[clusdat.clusters == c, :2].mean(0) for c in range(8)]
    )
    assert_allclose(np.linalg.norm(means, axis=1), 2, atol=0.1)


@pytest.mark.parametrize("make", MAKERS)
def test_garbage_says_nothing(make):
    bunch = make(2000, random_state=0)
    n_signal = sum(name.startswith("x") for name in bunch.feature_names)
    signal, garbage = bunch.data[:, :n_signal], bunch.data[:, n_signal:]
    half = slice(0, 1000), slice(1000, 2000)
    scores = []
    for X in (signal, garbage):
        model = KNeighborsClassifier(5).fit(X[half[0]], bunch.target[half[0]])
        scores.append(model.score(X[half[1]], bunch.target[half[1]]))
    # Chance is 0.5 with a standard error of 0.016.
    assert scores[0] > 0.97 and abs(scores[1] - 0.5) < 0.06
    assert_allclose(garbage.std(axis=0), 0.25, rtol=0.1)


@pytest.mark.parametrize("make", MAKERS)
def test_seed_and_options(make):
    first, again = make(40, random_state=3), make(40, random_state=3)
    assert_array_equal(first.data, again.data)
    assert (make(40, random_state=4).data != first.data).any()
    bare = make(40, n_garbage=0, random_state=3)
    assert_array_equal(bare.data, first.data[:, : bare.data.shape[1]])
    assert not make(40, garbage_scale=0, random_state=3).data[:, 3:].any()


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"n_samples": 1}, "n_samples must be an integer of at least"),
        ({"n_samples": 9.5}, "n_samples must be an integer of at least"),
        ({"n_garbage": -1}, "n_garbage must be an integer >= 0"),
        ({"garbage_scale": -0.1}, "garbage_scale must be a number >= 0"),
        ({"garbage_scale": float("nan")}, "garbage_scale must be a number >= 0"),
    ],
)
def test_wrong_options(make, wrong, message):
    with pytest.raises(ValueError, match=message):
        make(**wrong)
