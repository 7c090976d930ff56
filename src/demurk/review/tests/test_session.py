"""Which card comes, what a key writes, and what the labels are afterwards."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
from contextlib import closing

import numpy as np
import pytest

from demurk.datasets import read_table
from demurk.review._apply import apply_decisions
from demurk.review._questions import Filter
from demurk.review._ranking import rank_labels
from demurk.review._rerank import Reranker
from demurk.review._session import RANDOM_EVERY
from demurk.review._store import Store, store_path
from demurk.review.tests.cases import (
    emotions_file,
    flowers_file,
    open_session,
    pets_file,
)


@pytest.fixture
def songs(tmp_path):
    path, wrong = emotions_file(tmp_path)
    session = open_session(path, wrong, reviewer="anna")
    yield session, wrong
    session.store.close()


@pytest.fixture
def flowers(tmp_path):
    path, truth = flowers_file(tmp_path)
    session = open_session(path, truth, reading={"class_": "species"})
    yield session, truth
    session.store.close()


def test_accepting_every_suspect_corrects_every_error(songs):
    session, wrong = songs
    given, found = session.values.copy(), 0
    while found < wrong.sum():
        question, random = session.next()
        row, column = session.questions.split(question)
        action = "accept" if wrong[row, column] else "keep"
        session.decide([(question, action, None)], random=random)
        found += wrong[row, column]
    changed = session.values != given
    np.testing.assert_array_equal(changed, wrong)
    state = session.state()
    assert state["found"] == wrong.sum() and state["decided"] == session.settled.sum()
    assert state["checked"][1] == (state["decided"]) // RANDOM_EVERY
    assert state["curve"][-1] == [state["decided"], state["found"]]


def test_every_tenth_card_is_drawn_at_random_and_says_so(songs):
    session, _ = songs
    drawn = []
    for _ in range(30):
        question, random = session.next()
        assert session.next() == (question, random)  # looking changes nothing
        drawn.append(random)
        session.decide([(question, "keep", None)], random=random)
    assert [k for k, random in enumerate(drawn) if random] == [9, 19, 29]
    shown = [json.loads(d.shown)["random"] for d in session.store.since()]
    assert shown == drawn


def test_undo_gives_back_card_label_and_count(songs):
    session, _ = songs
    before = session.values.copy()
    asked = []
    for _ in range(3):
        question, _ = session.next()
        session.decide([(question, "accept", None)])
        asked.append(question)
    assert (session.values != before).sum() == 3
    assert [session.undo() for _ in range(4)] == [*asked[::-1], None]
    np.testing.assert_array_equal(session.values, before)
    assert session.next()[0] == asked[0]


def test_many_at_once_are_one_decision_and_one_undo(songs):
    session, _ = songs
    before = session.values.copy()
    chosen = Filter(label="happy", kind="given")
    listed = session.listed(chosen=chosen)
    pairs = [session.questions.split(q) for q in listed]
    assert len(pairs) > 1
    assert {column for _, column in pairs} == {1}
    assert all(before[row, 1] == 1 for row, _ in pairs)
    batch = session.decide([(q, "accept", None) for q in listed])
    assert {d.batch for d in session.store.since()} == {batch}
    assert (session.values != before).sum() == len(listed)
    assert session.listed(chosen=chosen) == []
    session.undo()
    np.testing.assert_array_equal(session.values, before)
    assert session.listed(chosen=chosen) == listed


def test_search_and_lasso_choose_rows(songs):
    session, _ = songs
    question, _ = session.next(chosen=Filter(search="SONG 17"))
    assert session.questions.split(question)[0] == 17
    name = session.rows.lasso([3, 4])
    asked = set()
    while (question := session.next(chosen=Filter(lasso=name))[0]) is not None:
        asked.add(session.questions.split(question)[0])
        session.decide([(question, "keep", None)])
    assert asked == {3, 4} and session.settled.sum() == 6
    assert session.next(chosen=Filter(lasso="unknown"))[0] is None


def test_skipped_cards_stay_open_for_others(songs, tmp_path):
    session, wrong = songs
    question, _ = session.next()
    session.decide([(question, "unsure", None)])
    assert session.next()[0] != question
    assert not session.settled.any()
    other = open_session(tmp_path / "songs.csv", wrong, reviewer="bert")
    assert other.next()[0] == question


def test_two_reviewers_see_each_other_and_disagreements_change_nothing(songs, tmp_path):
    session, wrong = songs
    other = open_session(tmp_path / "songs.csv", wrong, reviewer="bert")
    question, _ = session.next()
    session.decide([(question, "accept", None)])
    other.refresh()
    assert other.next()[0] != question
    assert other.next("second")[0] == question
    other.decide([(question, "keep", None)])
    session.refresh()
    row, column = session.questions.split(question)
    given = session.labels.values[row, column]
    assert session.values[row, column] == other.values[row, column] == given
    assert session.state()["disputed"] == 1
    other.undo()
    session.refresh()
    assert session.values[row, column] == 1 - given


def test_rows_without_labels_are_labelled_in_random_order(songs):
    session, _ = songs
    question, _ = session.next("unlabelled")
    row = session.questions.split(question)[0]
    assert row >= 116 and session.card(question)["labeled"] is False
    numbers = [session.questions.number(row, j) for j in range(3)]
    answers = zip(numbers, ["label"] * 3, ["1", "0", "1"])
    session.decide(list(answers), queue="unlabelled")
    assert session.values[row].tolist() == [1, 0, 1]
    assert session.state()["unlabelled"] == 3
    session.undo()
    assert session.values[row].tolist() == [-1, -1, -1]


def test_one_class_accept_keep_choose(flowers):
    session, truth = flowers
    names = session.questions.names
    first, _ = session.next()
    card = session.card(first)
    assert names[card["suggested"]] == truth[first]
    given = names[card["given"][0]]
    assert card["reasons"][0]["sentence"].startswith(
        f"Given '{given}', probably '{truth[first]}'"
    )
    told = session.questions.sentence(first, [], session.values, card["suggested"], 0.4)
    assert told.startswith(f"Given '{given}', perhaps '{truth[first]}' (0.40)")
    session.decide([(first, "accept", None)])
    assert names[session.values[first].argmax()] == truth[first]
    second, _ = session.next()
    session.decide([(second, "choose", "rose")])
    assert names[session.values[second].argmax()] == "rose"
    third, _ = session.next()
    session.decide([(third, "keep", None)])
    np.testing.assert_array_equal(session.values[third], session.labels.values[third])
    assert session.state()["decided"] == 3
    with pytest.raises(ValueError, match="'tulip' is no label"):
        session.decide([(third, "choose", "tulip")])


def test_the_card_says_why(songs):
    session, _ = songs
    question, _ = session.next()
    row, column = session.questions.split(question)
    card = session.card(question)
    name = session.questions.names[column]
    X = session.table.features - session.table.features.mean(0)
    X = X / session.table.features.std(0)
    far = ((X - X[row]) ** 2).sum(axis=1)
    far[row], far[116:] = np.inf, np.inf
    near = np.argsort(far)[:10]
    assert [other["row"] for other in card["neighbors"]] == near[:5].tolist()
    count = int((session.values[near, column] == 1).sum())
    if session.values[row, column]:
        assert card["reasons"][0]["sentence"] == (
            f"Given '{name}'; of its 10 nearest rows {10 - count} are not '{name}'."
        )
    else:
        assert card["reasons"][0]["sentence"] == (
            f"Not given '{name}'; of its 10 nearest rows {count} are."
        )
    assert card["reasons"][0]["wrong"] == 0.9 and card["title"] == f"song {row}"
    assert len(card["features"]) == 5
    session.blind = True
    hidden = session.card(question)
    assert hidden["suggested"] is None
    (reason,) = hidden["reasons"]
    assert set(reason) == {"sentence"} and "nearest" not in reason["sentence"]


def test_a_new_order_leaves_decided_cards_behind(songs):
    session, wrong = songs
    question, _ = session.next()
    session.decide([(question, "accept", None)])
    table = session.table
    ranking = rank_labels(table.features, table.labels, trusted=session.trusted)
    assert np.isfinite(ranking.wrong).sum() == table.labels.observed.sum()
    top = [session.questions.split(q) for q in ranking.order[:10]]
    assert np.mean([wrong[place] for place in top]) > 0.4
    session.take_ranking(ranking)
    assert session.version == 1 and session.next()[0] != question


def test_one_class_ranking_suggests_the_true_class(flowers):
    session, truth = flowers
    ranking = rank_labels(session.table.features, session.labels)
    names = np.array(session.questions.names)
    top = ranking.order[:5]
    given = names[session.labels.values[top].argmax(axis=1)]
    assert (given != truth[top]).mean() > 0.7
    assert (names[ranking.suggested[top]] == truth[top]).mean() > 0.7
    assert np.isnan(ranking.wrong[-3:]).all()
    assert read_table(session.table.source.path, class_="species").form.form == "class"


@pytest.mark.parametrize("question", [-1, 10**6])
def test_a_question_that_is_none_is_refused(songs, question):
    session, _ = songs
    with pytest.raises(ValueError, match="no question"):
        session.decide([(question, "keep", None)])
    assert session.store.since() == []


def test_candidates_one_is_true_or_one_is_not(tmp_path):
    path, truth = pets_file(tmp_path)
    session = open_session(path, None, reading={"candidates": "pet"})
    table, names = session.table, np.array(session.questions.names)
    question, _ = session.next()
    card = session.card(question)
    assert names[card["suggested"]] == truth[question]
    assert "is the most probable" in card["reasons"][0]["sentence"]
    session.decide([(question, "accept", None)])
    assert names[session.values[question].argmax()] == truth[question]
    assert session.values[question].sum() == 1
    # One candidate less: the others stay.
    three = session.card(0)
    assert len(three["labels"]) == 3
    left = [k for k in three["labels"] if k != three["unlikely"]]
    session.decide([(0, "choose", "|".join(names[left]))])
    assert np.flatnonzero(session.values[0] > 0).tolist() == left
    session.store.close()
    with Store(store_path(path)) as store:
        made = apply_decisions(table, store)
    cells = made.table.frame["pet"]
    assert cells[0] == "|".join(names[left]) and cells[question] == truth[question]
    other = [k for k in range(60) if k not in (0, question)]
    assert cells[other].tolist() == table.frame["pet"][other].tolist()


def test_ranking_anew_goes_on_in_the_background(songs):
    session, _ = songs
    with closing(Reranker(session.table.features, every=3)) as reranker:
        session._on_decision = reranker
        for _ in range(3):
            session.decide([(session.next()[0], "accept", None)])
        card = session.card(session.next()[0])
        reranker.wait(120)
        assert session.version == 1 and reranker.failures == 0
        # The card in view still stands, and what is settled is not asked again.
        assert session.card(card["question"])["row"] == card["row"]
        settled = np.flatnonzero(session.settled)
        assert session.next()[0] not in settled and settled.size == 3
        # A crash loses nothing: the old order stays.
        order = session.ranking.order
        (reranker.folder / "features.npy").write_bytes(b"broken")
        for _ in range(3):
            session.decide([(session.next()[0], "keep", None)])
        reranker.wait(120)
        assert reranker.failures == 1 and session.version == 1
        assert session.ranking.order is order and session.settled.sum() == 6
    assert not reranker.folder.exists()
