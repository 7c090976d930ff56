"""What a classifier learns from after a review."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from demurk.audit import LabelAudit, soft_labels
from demurk.datasets import make_multilabel_blocks
from demurk.labels import check_labels, flip_labels


@pytest.fixture(scope="module")
def reviewed():
    """Features, labels after a review of every fifth row, and what is known of it."""
    toy = make_multilabel_blocks(300, random_state=0)
    given = flip_labels(toy.target, 0.15, random_state=0).labels
    settled = np.zeros(given.shape, dtype=bool)
    settled[::5] = True
    decided = np.where(settled, toy.target, given)
    decided[7] = -1
    return toy.data, decided, settled, given


def audited(reviewed, **params):
    X, decided, settled, given = reviewed
    return LabelAudit(random_state=0).fit(
        X, decided, trusted=settled, given=given, **params
    )


def test_settled_entries_are_certain_and_others_as_probable_as_the_audit_says(reviewed):
    _, decided, settled, _ = reviewed
    audit = audited(reviewed)
    labels = soft_labels(audit)
    assert_array_equal(labels.values[settled], decided[settled])
    rest = ~settled & (decided >= 0)
    wrong = audit.wrong_proba_[rest]
    y = decided[rest]
    assert_allclose(labels.values[rest], y * (1 - wrong) + (1 - y) * wrong)
    assert_array_equal(labels.observed, decided >= 0)
    assert_array_equal(labels.values[7], 0)
    assert (labels.kind, labels.single) == ("noisy", False)
    assert check_labels(labels, kind="noisy") is labels


def test_beliefs_are_nearer_to_the_truth_than_what_was_given(reviewed):
    decided = reviewed[1]
    true = make_multilabel_blocks(300, random_state=0).target
    labels = soft_labels(audited(reviewed))
    seen = labels.observed
    before = ((decided - true)[seen] ** 2).sum()
    assert ((labels.values - true)[seen] ** 2).sum() < 0.8 * before


def test_rows_that_are_not_judged_stay_as_given(reviewed):
    _, decided, _, _ = reviewed
    weights = np.ones(len(decided))
    weights[1] = 0
    labels = soft_labels(audited(reviewed, sample_weight=weights))
    assert_array_equal(labels.values[1], decided[1])


def test_without_a_rate_nothing_is_guessed(reviewed):
    X, decided, _, _ = reviewed
    audit = LabelAudit("none", random_state=0).fit(X, decided)
    values = soft_labels(audit).values
    assert_array_equal(values, np.where(decided >= 0, decided, 0))


def test_one_class_per_row_gives_a_distribution(reviewed):
    X = reviewed[0]
    y = make_multilabel_blocks(300, random_state=0).target[:, 0].astype(object)
    y[3] = None
    settled = np.zeros(len(y), dtype=bool)
    settled[::2] = True
    given = np.where(np.arange(len(y)) % 7 == 0, 1 - np.where(y == 1, 1, 0), y)
    given[3] = None
    now = np.where(settled, y, given)
    audit = LabelAudit(random_state=0).fit(X, now, trusted=settled, given=given)
    labels = soft_labels(audit)
    seen = labels.labeled
    assert_array_equal(np.flatnonzero(~seen), [3])
    assert_allclose(labels.values[seen].sum(axis=1), 1)
    chosen = labels.classes[labels.values.argmax(axis=1)]
    known = seen & settled
    assert_array_equal(chosen[known], now[known])


def test_an_audit_must_be_fitted():
    with pytest.raises(NotFittedError):
        soft_labels(LabelAudit())
