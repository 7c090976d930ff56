"""Corrected labels, in the form in which labels were given."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from demurk import io
from demurk.audit import LabelAudit
from demurk.audit._words import UnknownRateWarning
from demurk.labels import flip_labels

NAMES = ["a", "b", "c", "d"]


@pytest.fixture(scope="module")
def noisy():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(300, 6))
    Y = (X[:, :4] > 0.3).astype(np.int8)
    labels = flip_labels(Y, 0.1, random_state=0).labels
    labels[::10, 1] = -1
    return X, Y, labels


def audit(X, y):
    return LabelAudit(n_estimators=20, random_state=0).fit(X, y)


def test_entries_above_the_threshold_change(noisy):
    X, Y, labels = noisy
    model = audit(X, labels)
    assert model.estimated_ is True
    for threshold in (0.5, 0.8, 1.0):
        found = model.corrected(threshold)
        assert found.dtype == np.int8
        assert_array_equal(found != labels, model.wrong_proba_ > threshold)
    assert_array_equal(model.corrected(), model.corrected(0.8))
    seen = labels >= 0
    assert (model.corrected(0.5) != Y)[seen].sum() < (labels != Y)[seen].sum() / 1.5
    with pytest.raises(ValueError, match="threshold is 80"):
        model.corrected(80)


def test_frames_keep_names_and_index(noisy):
    X, _, labels = noisy
    expected = audit(X, labels).corrected()
    index = pd.Index([f"song {i}" for i in range(300)], name="song")
    frame = pd.DataFrame(labels, columns=NAMES, index=index)
    model = audit(X, frame)
    found = model.corrected()
    assert list(found.columns) == NAMES and list(found.index) == list(index)
    assert_array_equal(found, expected)
    suspects = model.suspects()
    assert_array_equal(suspects["index"], index[suspects["row"]])
    assert list(suspects.columns[:3]) == ["list", "row", "index"]
    found = audit(X, pl.DataFrame(labels, schema=NAMES)).corrected()
    assert isinstance(found, pl.DataFrame) and found.columns == NAMES
    assert_array_equal(found, expected)


def test_suspects_know_the_index_of_the_features(noisy):
    X, _, labels = noisy
    rows = pd.DataFrame(X, index=np.arange(300) + 1000)
    suspects = audit(rows, labels).suspects()
    assert_array_equal(suspects["index"], suspects["row"] + 1000)
    assert "index" not in audit(pd.DataFrame(X), labels).suspects()


def test_one_class_per_sample(noisy):
    numbers = np.arange(300) % 3
    X = noisy[0] + 4 * np.eye(6)[numbers]
    classes = np.array(["x", "y", "z"], dtype=object)
    wrong = np.random.RandomState(1).uniform(size=300) < 0.15
    given = np.where(wrong, classes[(numbers + 1) % 3], classes[numbers])
    given[7::20] = None
    model = audit(X, pd.Series(given, name="kind", index=range(5, 305)))
    found = model.corrected(0.55)
    assert found.name == "kind" and found.index[0] == 5
    assert_array_equal(found.isna(), [g is None for g in given])
    rows = model.wrong_proba_ > 0.55
    assert rows.any()
    assert_array_equal((found != given)[found.notna()], rows[found.notna()])
    assert (found == classes[numbers])[rows].mean() > 0.9


def test_without_a_rate_nothing_changes(noisy):
    X, Y, labels = noisy
    none = LabelAudit("none", n_estimators=20, random_state=0).fit(X, labels)
    assert none.estimated_ is False
    assert_array_equal(none.corrected(0.0), labels)
    with pytest.warns(UnknownRateWarning):
        clean = audit(X, Y)
    assert clean.estimated_ is False and (clean.corrected() == Y).all()


def test_a_saved_audit_corrects_alike(noisy, tmp_path):
    X, _, labels = noisy
    frame = pd.DataFrame(labels, columns=NAMES, index=[f"r{i}" for i in range(300)])
    model = audit(X, frame)
    restored = io.load(io.save(model, tmp_path / "audit.skops"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pd.testing.assert_frame_equal(restored.corrected(), model.corrected())
        pd.testing.assert_frame_equal(restored.suspects(), model.suspects())
