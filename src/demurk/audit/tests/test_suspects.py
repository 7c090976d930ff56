"""Reasons that a person can check."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from demurk.audit._suspects import Evidence, suspect_frame, top_entries


@pytest.fixture
def evidence():
    """Two groups on a line; row 2 of the first group lacks what its group has."""
    X = np.array([[0.0], [0.1], [0.2], [0.3], [9.0], [9.1], [9.25]])
    labels = np.array([[1, 1], [1, 1], [0, 1], [1, 1], [0, 0], [1, 0], [0, 0]], float)
    coefs = np.array([[0.0, 0.3], [0.4, 0.0]])
    return Evidence(
        rows=np.array([0, 1, 2, 3, 5, 6, 7]),
        features=X,
        labels=labels,
        observed=np.ones((7, 2), bool),
        out_of_sample=np.full((7, 2), 0.25),
        coefs=coefs,
        means=labels.mean(axis=0),
    )


def frame_of(evidence, entries):
    scores = np.arange(16.0).reshape(8, 2) / 16
    names = np.array(["sun", "sea"])
    return suspect_frame(np.array(entries), scores, scores / 2, names, evidence)


def test_reasons_name_neighbours_and_labels(evidence):
    frame = frame_of(evidence, [(6, 0), (2, 0)])
    assert frame["row"].tolist() == [6, 2]
    assert frame["label"].tolist() == ["sun", "sun"]
    wrong, missing = frame["reason"]
    assert "probability 0.25 without its own label" in wrong
    assert "3 of 6 nearest rows carry it (not rows 5, 7, 2)" in wrong
    assert "without 'sea', as in rows that lack it" in wrong
    assert "4 of 6 nearest rows carry it (rows 3, 1, 0, 6)" in missing
    assert "with 'sea', as in rows that have it" in missing
    assert frame["list"].tolist() == [
        "given but probably wrong",
        "missing but probably right",
    ]


def test_neighbours_without_the_label_observed_are_not_asked(evidence):
    evidence.observed[[0, 1], 0] = False
    assert "2 of 4 nearest rows carry it" in frame_of(evidence, [(2, 0)])["reason"][0]


def test_without_features_or_dependence_only_the_probability_is_left(evidence):
    plain = Evidence(
        evidence.rows,
        None,
        evidence.labels,
        evidence.observed,
        evidence.out_of_sample,
        np.zeros((2, 2)),
        evidence.means,
    )
    reason = frame_of(plain, [(2, 0)])["reason"][0]
    assert reason == "probability 0.25 without its own label"


def test_top_entries_overall_and_per_list():
    scores = np.array([[0.9, np.nan], [0.5, 0.8], [0.7, 0.7]])
    given = np.array([[1, 1], [0, 0], [1, 0]])
    assert_array_equal(top_entries(scores, given, 3), [[0, 0], [2, 0], [1, 1]])
    limits = {1: 1, 0: 2}
    assert_array_equal(top_entries(scores, given, limits), [[0, 0], [1, 1], [2, 1]])
    assert top_entries(scores, given, 0).shape == (0, 2)
    assert len(top_entries(scores, given, 99)) == 5
    assert frame_is_empty(scores, given)


def frame_is_empty(scores, given):
    nothing = Evidence(
        np.arange(3),
        None,
        given.astype(float),
        np.ones((3, 2), bool),
        scores,
        np.zeros((2, 2)),
        np.zeros(2),
    )
    empty = top_entries(scores, given, 0)
    return len(suspect_frame(empty, scores, scores, np.arange(2), nothing)) == 0
