"""Tests of the artificial data."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest

from demurk.datasets import make_multilabel_blocks


@pytest.fixture(scope="module")
def blocks():
    return make_multilabel_blocks(random_state=0)


def test_shapes_types_and_names(blocks):
    assert blocks.data.shape == (8000, 320) and blocks.data.dtype == np.float64
    assert blocks.target.shape == (8000, 4) and blocks.target.dtype == np.int8
    assert len(set(blocks.feature_names)) == 320
    assert blocks.target_names == ["class1", "class2", "class3", "class4"]
    assert blocks.name == "synthetic"


def test_label_sets_have_the_published_shares(blocks):
    """Counts worked out from the text: 2000 per main class, shares of each class."""
    expected = {
        (1, 0, 0, 0): 1400,
        (1, 1, 0, 0): 600 + 600,
        (0, 1, 0, 0): 1000,
        (0, 1, 1, 0): 400 + 400,
        (0, 0, 1, 0): 1100,
        (0, 0, 1, 1): 500 + 500,
        (0, 0, 0, 1): 1500,
    }
    sets, counts = np.unique(blocks.target, axis=0, return_counts=True)
    found = {tuple(map(int, s)): int(c) for s, c in zip(sets, counts)}
    assert found == expected
    assert blocks.target.sum(axis=1).mean() == 1.375


def test_class_blocks_are_on_only_with_their_label(blocks):
    for c in range(4):
        block = blocks.data[:, 20 * c : 20 * (c + 1)]
        has_label = blocks.target[:, c] == 1
        assert not block[~has_label].any()
        on = block[has_label] != 0
        # Standard error of the share: sqrt(.09 / (20 * 2600)) = 0.0013.
        assert abs(on.mean() - 0.1) < 0.006
        # Independent draws leave 0.9^20 = 12 % of the rows empty.
        assert abs((~on.any(axis=1)).mean() - 0.9**20) < 0.03


def test_noise_blocks_are_on_in_half_the_rows_whatever_the_labels(blocks):
    for b in range(4, 16):
        on = blocks.data[:, 20 * b : 20 * (b + 1)] != 0
        assert abs(on.mean() - 0.5 * 0.2) < 0.004
        rows = on.any(axis=1)
        assert rows.sum() <= 4000
        assert abs(rows.sum() - 4000 * (1 - 0.8**20)) < 40
        for c in range(4):
            assert abs(rows[blocks.target[:, c] == 1].mean() - rows.mean()) < 0.06


def test_values_are_integers_from_one_to_ten(blocks):
    values, counts = np.unique(blocks.data[blocks.data != 0], return_counts=True)
    assert values.tolist() == list(range(1, 11))
    assert counts.min() / counts.max() > 0.95


def test_rows_are_in_random_order(blocks):
    for half in (blocks.target[:4000], blocks.target[4000:]):
        assert np.abs(half.mean(axis=0) - blocks.target.mean(axis=0)).max() < 0.05


def test_seed_decides(blocks):
    again = make_multilabel_blocks(random_state=0)
    np.testing.assert_array_equal(again.data, blocks.data)
    np.testing.assert_array_equal(again.target, blocks.target)
    other = make_multilabel_blocks(random_state=1)
    assert (other.target != blocks.target).any()


@pytest.mark.parametrize("n_samples", [4, 5, 7, 101])
def test_any_number_of_samples(n_samples):
    small = make_multilabel_blocks(n_samples, random_state=0)
    assert small.data.shape == (n_samples, 320)
    assert small.target.sum(axis=1).min() == 1 and small.target.sum(axis=1).max() <= 2


@pytest.mark.parametrize("n_samples", [3, -1, 2.5, "100"])
def test_bad_number_of_samples(n_samples):
    with pytest.raises(ValueError, match="n_samples must be an integer of at least 4"):
        make_multilabel_blocks(n_samples)
