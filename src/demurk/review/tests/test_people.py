"""Who said what, on the cards of a table of several people."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pandas as pd

from demurk.annotators import Annotations
from demurk.datasets import read_table
from demurk.review._apply import apply_decisions
from demurk.review._people import WhoSaid
from demurk.review.tests.cases import open_session

NAMES = np.array(["iris", "lily", "rose"])


def people_file(folder, n_rows=60):
    """Three people about flowers; cleo errs in every seventh row."""
    rng = np.random.default_rng(0)
    kind = np.arange(n_rows) % 3
    X = rng.normal(size=(n_rows, 4)) * 0.5 + 3 * np.eye(3, 4)[kind]
    frame = pd.DataFrame(X.round(4), columns=list("abcd"))
    said = np.where(np.arange(n_rows) % 7 == 3, (kind + 1) % 3, kind)
    for person, given in {"anna": kind, "ben": kind, "cleo": said}.items():
        frame[f"class@{person}"] = NAMES[given]
    frame.loc[n_rows - 2 :, [f"class@{p}" for p in ("anna", "ben", "cleo")]] = ""
    path = folder / "flowers.csv"
    frame.to_csv(path, index=False)
    return path, NAMES[kind]


def test_sentences():
    said = np.array([["a", "a", "b"], ["a", None, None], [None] * 3], dtype=object)
    who = WhoSaid(Annotations.from_array(said, names=["u", "v", "w"]))
    assert who.sentence(0) == "u and v say 'a', w says 'b'."
    assert who.sentence(1) == "u says 'a'." and who.sentence(2) == ""
    labels = np.array([[[1, 1], [0, 1], [1, -1], [0, 0]]])
    who = WhoSaid(Annotations.from_array(labels, classes=["x", "y"]))
    assert who.sentence(0, 0) == "0 and 2 say yes, 1 and 3 say no."
    assert who.sentence(0, 1) == "0 and 1 say yes, 3 says no."
    assert who.groups(0)["'x' and 'y'"] == ["0"]
    assert who.groups(0)["no label"] == ["3"]
    crowd = WhoSaid(Annotations.from_array(np.zeros((1, 50), dtype=int)))
    assert crowd.sentence(0) == "0, 1, 2, 3, 4 and 45 more say '0'."


def test_a_review_begins_with_the_consensus_and_says_who_said_what(tmp_path):
    path, true = people_file(tmp_path)
    session = open_session(path, true, reviewer="dora")
    with session.store:
        assert session.table.y.tolist() == [*true[:58], None, None]
        row = 3
        sentences = [reason["sentence"] for reason in session.card(row)["reasons"]]
        given, other = true[row], NAMES[(row % 3 + 1) % 3]
        assert sentences[1] == f"anna and ben say '{given}', cleo says '{other}'."
        session.blind = True
        assert "anna" not in str(session.card(row))
        session.blind = False
        # What was decided counts, and the copy has one answer for all.
        session.decide([(row, "choose", other)])
        made = apply_decisions(read_table(path), session.store)
        assert made.table.y[row] == other and made.table.checked[0][row].all()
        assert list(made.table.frame) == ["a", "b", "c", "d", "class"]
