"""Hamming loss, micro and macro F1, and the checks of their input."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.exceptions import UndefinedMetricWarning

from demurk.metrics import hamming_loss, macro_f1, micro_f1

MEASURES = [hamming_loss, macro_f1, micro_f1]


def random_case(seed, shape=(30, 5)):
    rng = np.random.default_rng(seed)
    Y = rng.integers(0, 2, shape)
    Y_pred = rng.integers(0, 2, shape)
    observed = rng.random(shape) < 0.6
    return Y, Y_pred, observed


def slow_counts(Y, Y_pred, observed):
    """True positives, false positives and false negatives of each label."""
    counts = []
    for c in range(Y.shape[1]):
        hit = false_alarm = miss = 0
        for i in range(Y.shape[0]):
            if observed[i, c]:
                hit += Y[i, c] == 1 and Y_pred[i, c] == 1
                false_alarm += Y[i, c] == 0 and Y_pred[i, c] == 1
                miss += Y[i, c] == 1 and Y_pred[i, c] == 0
        counts.append((hit, false_alarm, miss))
    return counts


def slow_f1(hit, false_alarm, miss):
    total = 2 * hit + false_alarm + miss
    return 2 * hit / total if total else 0.0


@pytest.mark.parametrize("seed", range(5))
def test_against_loops_over_observed_entries(seed):
    Y, Y_pred, observed = random_case(seed)
    counts = slow_counts(Y, Y_pred, observed)
    wrong = sum(false_alarm + miss for _, false_alarm, miss in counts)
    expected = {
        hamming_loss: wrong / observed.sum(),
        macro_f1: np.mean([slow_f1(*count) for count in counts]),
        micro_f1: slow_f1(*np.sum(counts, axis=0)),
    }
    for measure, value in expected.items():
        assert measure(Y, Y_pred, observed=observed) == pytest.approx(value)


@settings(max_examples=100, deadline=None)
@given(
    hnp.arrays(
        np.int8,
        st.tuples(st.just(2), st.integers(1, 6), st.integers(2, 4)),
        elements=st.integers(0, 1),
    )
)
def test_equal_to_scikit_learn(pair):
    Y, Y_pred = pair
    f1 = {"zero_division": 0.0}
    assert hamming_loss(Y, Y_pred) == pytest.approx(
        sklearn.metrics.hamming_loss(Y, Y_pred)
    )
    assert macro_f1(Y, Y_pred) == pytest.approx(
        sklearn.metrics.f1_score(Y, Y_pred, average="macro", **f1)
    )
    assert micro_f1(Y, Y_pred) == pytest.approx(
        sklearn.metrics.f1_score(Y, Y_pred, average="micro", **f1)
    )


@pytest.mark.parametrize("measure", MEASURES)
def test_mask_of_true_changes_nothing(measure):
    Y, Y_pred, _ = random_case(0)
    value = measure(Y, Y_pred)
    assert measure(Y, Y_pred, observed=np.ones(Y.shape, dtype=bool)) == value
    assert measure(Y, Y_pred, observed=np.ones(len(Y), dtype=bool)) == value


@pytest.mark.parametrize("measure", MEASURES)
def test_mask_of_rows_equals_dropping_them(measure):
    Y, Y_pred, observed = random_case(1)
    rows = observed[:, 0]
    assert measure(Y, Y_pred, observed=rows) == measure(Y[rows], Y_pred[rows])


@pytest.mark.parametrize("measure", MEASURES)
def test_mask_of_columns_equals_dropping_them(measure):
    Y, Y_pred, _ = random_case(2)
    observed = np.ones(Y.shape, dtype=bool)
    observed[:, [1, 3]] = False
    kept = [0, 2, 4]
    assert measure(Y, Y_pred, observed=observed) == measure(Y[:, kept], Y_pred[:, kept])


@pytest.mark.parametrize("measure", MEASURES)
def test_unobserved_entries_may_hold_anything(measure):
    Y, Y_pred, observed = random_case(3)
    value = measure(Y, Y_pred, observed=observed)
    hidden = np.where(observed, Y, -1)
    assert measure(hidden, Y_pred, observed=hidden != -1) == value
    assert measure(np.where(observed, Y, np.nan), Y_pred, observed=observed) == value


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    "convert",
    [
        sparse.csr_array,
        sparse.csr_matrix,
        pd.DataFrame,
        np.ndarray.tolist,
        lambda Y: Y.astype(bool),
        lambda Y: Y.astype(object),
    ],
)
def test_input_types(measure, convert):
    Y, Y_pred, _ = random_case(4)
    assert measure(convert(Y), convert(Y_pred)) == measure(Y, Y_pred)


def test_sparse_mask():
    Y, Y_pred, observed = random_case(5)
    value = hamming_loss(Y, Y_pred, observed=observed)
    assert hamming_loss(Y, Y_pred, observed=sparse.csr_array(observed)) == value


def test_label_that_never_occurs_counts_zero():
    assert macro_f1([[1, 0], [1, 0]], [[1, 0], [1, 0]]) == 0.5
    assert micro_f1([[0, 0]], [[0, 0]]) == 0.0


def test_results_are_python_floats():
    Y, Y_pred, _ = random_case(6)
    assert [type(measure(Y, Y_pred)) for measure in MEASURES] == [float] * 3


@pytest.mark.parametrize("measure", MEASURES)
def test_nothing_observed_is_nan_with_a_warning(measure):
    with pytest.warns(UndefinedMetricWarning, match=f"{measure.__name__} is undefined"):
        assert np.isnan(measure([[-1, -1]], [[1, 0]], observed=[[False, False]]))


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("Y", "Y_pred", "observed", "message"),
    [
        ([[1, 0], [0, -1]], [[1, 0], [0, 0]], None, r"-1 at row 1, column 1.*Y != -1"),
        ([[1, 0.5]], [[1, 0]], None, r"Y has 0.5 at row 0, column 1"),
        ([[1, np.nan]], [[1, 0]], None, r"Y has nan at row 0, column 1"),
        ([[1, 0]], [[-1, 0]], None, r"Y_pred has -1 at row 0, column 0"),
        ([[1, -1]], [[1, 0]], [[True, True]], r"wherever observed is True"),
        ([[1, 0]], [[1, 0, 0]], None, r"Y_pred has shape \(1, 3\) but Y has shape"),
        ([[1, 0]], [[1, 0]], [[1, 0]], r"observed has dtype int64"),
        ([[1, 0]], [[1, 0]], [[True]], r"observed has shape \(1, 1\)"),
        ([1, 0], [1, 0], None, r"Y has 1 dimension"),
        ([[1, "a"]], [[1, 0]], None, r"Y has entries that are not numbers"),
        (np.empty((0, 2)), np.empty((0, 2)), None, r"Y has shape \(0, 2\)"),
        (np.ma.masked_equal([[1, -1]], -1), [[1, 0]], None, r"getmaskarray\(Y\)"),
    ],
)
def test_errors_name_place_and_remedy(measure, Y, Y_pred, observed, message):
    with pytest.raises(ValueError, match=message):
        measure(Y, Y_pred, observed=observed)
