"""Tests of the corruption tools."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from demurk.labels import (
    add_candidates,
    add_extra_labels,
    flip_labels,
    hide_entries,
    hide_rows,
)

TABLES = hnp.arrays(
    np.int8,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=7),
    elements=st.integers(-1, 1),
)
SHARES = st.floats(0, 1)
SEEDS = st.integers(0, 2**31)
TOOLS = [flip_labels, hide_rows, hide_entries, add_extra_labels]
quiet = pytest.mark.filterwarnings("ignore:y holds only 1 and -1:UserWarning")


@quiet
@settings(max_examples=60, deadline=None)
@given(Y=TABLES, amount=SHARES, seed=SEEDS, tool=st.sampled_from(TOOLS))
def test_every_tool(Y, amount, seed, tool):
    before = Y.copy()
    result = tool(Y, amount, random_state=seed)
    np.testing.assert_array_equal(Y, before)
    assert result.labels.dtype == np.int8 and result.changed.dtype == bool
    assert not np.shares_memory(result.labels, Y)
    np.testing.assert_array_equal(result.changed, result.labels != Y)
    assert not result.changed[Y == -1].any()
    again = tool(Y.tolist(), amount, random_state=seed)
    np.testing.assert_array_equal(again.labels, result.labels)
    from_sparse = tool(sparse.csr_array(Y), amount, random_state=seed)
    np.testing.assert_array_equal(from_sparse.labels, result.labels)
    np.testing.assert_array_equal(tool(Y, 0).labels, Y)


@pytest.mark.parametrize("noise, value", [("extra", 0), ("missing", 1)])
def test_one_sided_noise_is_half_of_the_symmetric(rng, noise, value):
    Y = rng.randint(-1, 2, (40, 6))
    both = flip_labels(Y, 0.3, random_state=0)
    one = flip_labels(Y, 0.3, noise=noise, random_state=0)
    np.testing.assert_array_equal(one.changed, both.changed & (Y == value))


@quiet
@settings(max_examples=60, deadline=None)
@given(Y=TABLES, fraction=SHARES, seed=SEEDS)
def test_hiding_is_exact(Y, fraction, seed):
    entries = hide_entries(Y, fraction, random_state=seed)
    assert entries.changed.sum() == round(fraction * int((Y >= 0).sum()))
    assert (entries.labels[entries.changed] == -1).all()
    rows = hide_rows(Y, fraction, random_state=seed)
    labelled = (Y >= 0).any(axis=1)
    lost = labelled & (rows.labels == -1).all(axis=1)
    assert lost.sum() == round(fraction * int(labelled.sum()))
    np.testing.assert_array_equal(rows.labels[~lost], Y[~lost])


@quiet
@settings(max_examples=60, deadline=None)
@given(Y=TABLES, amount=st.floats(0, 4), seed=SEEDS)
def test_noisy_labels_are_exact(Y, amount, seed):
    result = add_extra_labels(Y, amount, random_state=seed)
    for before, after in zip(Y.tolist(), result.labels.tolist()):
        wanted = math.floor(amount * before.count(1) + 1e-9)
        extra = min(wanted, before.count(0))
        assert after.count(1) == before.count(1) + extra
        assert after.count(0) == before.count(0) - extra
        assert all(b == 1 for a, b in zip(before, after) if a == 1)


def test_amount_is_not_lost_to_rounding():
    Y = np.zeros((1, 200))
    Y[0, :100] = 1
    assert 0.29 * 100 < 29
    assert add_extra_labels(Y, 0.29).changed.sum() == 29
    assert not add_extra_labels(np.eye(5), 0.5).changed.any()


def test_flips_are_independent_and_fair():
    rng = np.random.RandomState(0)
    Y = rng.randint(-1, 2, size=(20000, 5))
    changed = flip_labels(Y, 0.2, random_state=1).changed
    seen = Y >= 0
    # five standard deviations of a binomial share, per value and per column
    columns = [seen & (np.arange(5) == j) for j in range(5)]
    for part in [Y == 0, Y == 1, *columns]:
        spread = 5 * np.sqrt(0.2 * 0.8 / part.sum())
        assert abs(changed[part].mean() - 0.2) < spread
    both = seen[:, 0] & seen[:, 1]
    joint = (changed[:, 0] & changed[:, 1])[both].mean()
    assert abs(joint - 0.04) < 5 * np.sqrt(0.04 * 0.96 / both.sum())
    np.testing.assert_array_equal(flip_labels(Y, 1).labels, np.where(seen, 1 - Y, -1))


@settings(max_examples=80, deadline=None)
@given(data=st.data(), q=st.integers(2, 6), fraction=SHARES, seed=SEEDS)
def test_candidates_are_exact(data, q, fraction, seed):
    y = np.array(data.draw(st.lists(st.integers(-1, q - 1), min_size=1, max_size=12)))
    y = np.append(y, 0)  # at least one labelled sample, and not only -1 and 1
    r = data.draw(st.integers(0, q - 1))
    options = {"classes": range(q), "fraction": fraction, "random_state": seed}
    result = add_candidates(y, r, **options)
    assert result.labels.shape == (len(y), q) and result.labels.dtype == np.int8
    known = y >= 0
    assert (result.labels[~known] == -1).all() and not result.changed[~known].any()
    assert (result.labels[known, y[known]] == 1).all()
    assert not result.changed[known, y[known]].any()
    np.testing.assert_array_equal(
        result.labels[known].sum(axis=1), 1 + result.changed[known].sum(axis=1)
    )
    sizes = result.changed.sum(axis=1)
    assert set(sizes.tolist()) <= {0, r}
    if r:
        assert np.count_nonzero(sizes) == round(fraction * int(known.sum()))
    one_hot = np.where(known[:, None], y[:, None] == np.arange(q), -1)
    del options["classes"]
    again = add_candidates(one_hot, r, **options)
    np.testing.assert_array_equal(again.labels, result.labels)


def test_wrong_classes_are_drawn_uniformly():
    q, n = 6, 30000
    y = np.arange(n) % q
    added = add_candidates(y, 2, random_state=0).changed
    for true in range(q):
        share = added[y == true].mean(axis=0)
        expected = np.where(np.arange(q) == true, 0, 2 / (q - 1))
        # five standard deviations
        np.testing.assert_allclose(share, expected, atol=5 * np.sqrt(0.24 / (n / q)))


@pytest.mark.parametrize("coupling", [0.0, 0.2, 0.7, 1.0])
def test_coupling(coupling):
    q, n = 5, 20000
    y = np.arange(n) % q
    result = add_candidates(y, coupling=coupling, random_state=3)
    share = np.array([result.changed[y == true].mean(axis=0) for true in range(q)])
    assert (result.changed.sum(axis=1) == 1).all()
    assert (np.diag(share) == 0).all()
    # one partner per class, each class the partner of one, the others share the rest
    other = (1 - coupling) / (q - 2)
    odd = np.abs(share - other) > 5 * np.sqrt(0.25 / (n / q))
    np.fill_diagonal(odd, False)
    assert (odd.sum(axis=0) == 1).all() and (odd.sum(axis=1) == 1).all()
    np.testing.assert_allclose(share[odd], coupling, atol=5 * np.sqrt(0.25 / (n / q)))


def test_coupling_at_chance_is_uniform():
    q, n = 5, 20000
    y = np.arange(n) % q
    added = add_candidates(y, coupling=1 / (q - 1), random_state=0).changed
    share = np.array([added[y == true].mean(axis=0) for true in range(q)])
    wrong = ~np.eye(q, dtype=bool)
    np.testing.assert_allclose(share[wrong], 0.25, atol=5 * np.sqrt(0.19 / (n / q)))


def test_candidates_of_named_classes():
    y = ["b", "a", None, "b"]
    result = add_candidates(y, 0, classes=["c", "b", "a"])
    assert result.labels.tolist() == [[0, 1, 0], [0, 0, 1], [-1, -1, -1], [0, 1, 0]]
    assert add_candidates(y, 1).labels.tolist() == [[1, 1], [1, 1], [-1, -1], [1, 1]]


Y = [[1, 0], [0, 1]]
MALFORMED = {
    "rate": (lambda: flip_labels(Y, 1.5), "rate is 1.5", "0 to 1"),
    "rate nan": (lambda: flip_labels(Y, np.nan), "rate is nan", "0 to 1"),
    "rate text": (lambda: flip_labels(Y, "a"), "rate is 'a'", "0 to 1"),
    "rate bool": (lambda: flip_labels(Y, True), "rate is True", "0 to 1"),
    "rows": (lambda: hide_rows(Y, -0.1), "fraction is -0.1", "0 to 1"),
    "entries": (lambda: hide_entries(Y, 2), "fraction is 2", "0 to 1"),
    "noise": (lambda: flip_labels(Y, noise="auto"), "noise is 'auto'", "extra"),
    "amount": (lambda: add_extra_labels(Y, -1), "amount is -1", "from 0 up"),
    "endless": (lambda: add_extra_labels(Y, np.inf), "amount is inf", "finite"),
    "1-D": (lambda: flip_labels([0, 1]), "Y has shape (2,)", "one column per label"),
    "entry": (lambda: hide_rows([[0, 3]]), "3 at row 0, column 1", "every entry is"),
    "too many": (lambda: add_candidates([0, 1, 2], 3), "n_extra is 3", "from 0 to 2"),
    "negative": (lambda: add_candidates([0, 1], -1), "n_extra is -1", "from 0 to 1"),
    "half": (lambda: add_candidates([0, 1], 0.5), "n_extra is 0.5", "a whole number"),
    "share": (lambda: add_candidates([0, 1], fraction=7), "fraction is 7", "0 to 1"),
    "coupling": (
        lambda: add_candidates([0, 1, 2], coupling=2),
        "coupling is 2",
        "0 to 1",
    ),
    "coupling of two": (
        lambda: add_candidates([0, 1, 2], 2, coupling=0.5),
        "coupling came with n_extra=2 and 3 classes",
        "give n_extra=1",
    ),
    "coupling of a pair": (
        lambda: add_candidates([0, 1], coupling=0.5),
        "coupling came with n_extra=1 and 2 classes",
        "at least three classes",
    ),
    "unknown class": (
        lambda: add_candidates([0, 5], classes=[0, 1]),
        "Row 1 of y holds the label 5",
        "add it there",
    ),
    "two true": (lambda: add_candidates([[1, 0], [1, 1]]), "Row 1 of y", "one true"),
    "no truth": (lambda: add_candidates([[1, 0], [0, 0]]), "Row 1 of y", "one true"),
    "half seen": (lambda: add_candidates([[1, 0], [1, -1]]), "Row 1 of y", "row of -1"),
    "two orders": (
        lambda: add_candidates(Y, classes=[0, 1]),
        "y is a matrix",
        "leave `classes` out",
    ),
}


@pytest.mark.parametrize("case", MALFORMED)
def test_refusals_name_place_and_remedy(case):
    call, place, remedy = MALFORMED[case]
    with pytest.raises(ValueError) as caught:
        call()
    message = str(caught.value)
    assert place in message
    assert remedy in message[message.index(place) + len(place) :]
    assert message.endswith(".") and "\n" not in message


def test_one_column_is_a_table():
    # unlike at the door of estimators: a corruption returns a matrix anyway
    assert flip_labels([[1], [0], [-1]], 1.0).labels.tolist() == [[0], [1], [-1]]


def test_nothing_observed_is_left_alone():
    Y = -np.ones((3, 2), dtype=np.int8)
    for tool in TOOLS:
        np.testing.assert_array_equal(tool(Y, 1.0).labels, Y)
