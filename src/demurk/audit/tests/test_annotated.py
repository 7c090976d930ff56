"""The audit of what most of several people say."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score

from demurk.annotators import Annotations
from demurk.audit import LabelAudit
from demurk.audit._annotated import people_reasons

NAMES = ["anna", "ben", "cleo", "dora", "emil"]
MOODS = np.array(["angry", "calm", "sad"])


@pytest.fixture(scope="module")
def moods():
    """Three classes far enough apart; two people guess, three are good."""
    rng = np.random.RandomState(0)
    true = rng.randint(3, size=300)
    X = rng.normal(size=(300, 5)) + 3 * np.eye(3, 5)[true]
    right = rng.random_sample((300, 5)) < [0, 0, 0.8, 0.8, 0.8]
    codes = np.where(right, true[:, np.newaxis], rng.randint(3, size=(300, 5)))
    codes[:, 1] = 1
    keep = rng.random_sample((300, 5)).argsort(axis=1) < 3
    table = {
        f"class@{name}": np.where(keep[:, j], MOODS[codes[:, j]], None)
        for j, name in enumerate(NAMES)
    }
    frame = pd.DataFrame(table, index=[f"r{i}" for i in range(300)])
    return X, true, Annotations.from_wide(frame)


def test_finds_where_most_people_are_wrong(moods):
    X, true, said = moods
    audit = LabelAudit(n_estimators=30, random_state=0).fit(X, said)
    most = said.votes()[0].argmax(axis=1)
    wrong = most != true
    assert average_precision_score(wrong, audit.scores_) > 0.95
    assert abs(audit.n_suspects_ - wrong.sum()) < 0.3 * wrong.sum()
    corrected = audit.corrected(0.5)
    assert np.mean(corrected == MOODS[true]) > 0.95 > np.mean(~wrong)
    assert audit.message_.startswith("5 people gave 900 answers")
    np.testing.assert_allclose(audit.noise_matrix_.sum(axis=1), 1)


def test_says_who_says_what(moods):
    X, _, said = moods
    audit = LabelAudit(n_estimators=30, random_state=0).fit(X, said)
    suspects = audit.suspects(10)
    assert suspects["index"].str.startswith("r").all()
    for line in suspects.itertuples():
        given = said.of_row(line.row)
        agree = [name for name, said_ in given.items() if said_ == line.given]
        before, after = line.reason.split(f" {line.given}, ")
        assert all(name in before for name in agree)
        others = set(given) - set(agree)
        assert all(name in after for name in others) and after.endswith("not")
        assert "the features" in line.reason
    alone = LabelAudit(random_state=0).fit(None, said).suspects(5)
    assert not alone["reason"].str.contains("features").any()


def test_several_labels():
    rng = np.random.RandomState(1)
    true = (rng.random_sample((250, 3)) < 0.4).astype(int)
    X = rng.normal(size=(250, 5)) + 3 * np.pad(true, [(0, 0), (0, 2)])
    flips = rng.random_sample((250, 4, 3)) < 0.15
    answers = np.where(flips, 1 - true[:, np.newaxis], true[:, np.newaxis])
    answers[:, 0] = 0
    answers[rng.random_sample((250, 4)) < 0.4] = -1
    said = Annotations.from_array(answers, names=NAMES[:4], classes=["x", "y", "z"])
    audit = LabelAudit(n_estimators=30, random_state=0).fit(X, said)
    given = audit._given
    wrong = (given.values != true)[given.observed]
    scores = audit.scores_[given.observed]
    assert average_precision_score(wrong, scores) > 0.8
    assert np.isnan(audit.scores_[~given.observed]).all()
    suspects = audit.suspects(5)
    first = suspects.iloc[0]
    votes = said.of_row(first["row"])
    yes = [name for name, labels in votes.items() if first["label"] in labels]
    assert all(name in first["reason"] for name in yes)
    assert (audit.corrected(0.5)[~given.observed] == -1).all()


def test_sentences():
    answers = [["calm"] * 7 + ["sad"], ["sad"] + ["calm"] * 7, [None] * 7 + ["sad"]]
    names = list("abcdefgh")
    said = Annotations.from_array(np.array(answers, dtype=object), names=names)
    frame = pd.DataFrame({"row": [0, 1, 2, 2], "given": ["calm", "sad", "sad", "calm"]})
    features = np.array([[False, True], [False, True], [False, True]])
    assert people_reasons(frame, said, features) == [
        "a, b, c, d and 3 others say calm, h and the features do not",
        "a and the features say sad, b, c, d, e and 3 others do not",
        "h and the features say sad",
        "h and the features do not say calm",
    ]
    assert people_reasons(frame, said, None)[2:] == [
        "h says sad",
        "h does not say calm",
    ]


def test_what_goes_with_labels_is_refused(moods):
    X, _, said = moods
    with pytest.raises(ValueError, match="leave them out"):
        LabelAudit().fit(X, said, sample_weight=np.ones(300))
