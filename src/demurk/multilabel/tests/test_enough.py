"""Tests of how many trees are worth growing."""

import pytest

from demurk.multilabel._enough import enough_trees


@pytest.mark.parametrize(
    ("n_labeled", "n_trees"),
    [(0, 1000), (60, 1000), (200, 500), (334, 300), (5000, 300)],
)
def test_small_tables_get_more_trees(n_labeled, n_trees):
    assert enough_trees(n_labeled) == pytest.approx(n_trees, rel=0.01)
