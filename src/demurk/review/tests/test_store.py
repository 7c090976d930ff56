"""Decisions are never lost, never changed, and stay with their rows."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import sqlite3
import threading

import numpy as np
import pandas as pd
import pytest

from demurk.datasets import Table
from demurk.review._keys import row_keys
from demurk.review._standing import Standing
from demurk.review._store import Decision, Store, store_path


def decision(key, action="accept", **more):
    more = {"label": "calm", "given": "1", "decided": "0", "reviewer": "anna"} | more
    return Decision(action, key, **more)


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "table.review.sqlite") as store:
        yield store


def standing(store):
    standing = Standing()
    places = standing.take(store.since())
    found = {place: standing.of(place) for place in places}
    return {
        place: {name: d.decided for name, d in own.items()}
        for place, own in found.items()
        if own
    }


def test_the_store_lies_beside_the_table(tmp_path):
    assert store_path(tmp_path / "pets.csv") == tmp_path / "pets.review.sqlite"
    assert store_path("pets.csv.gz").name == "pets.review.sqlite"
    assert store_path("pets.v2.csv").name == "pets.v2.review.sqlite"


def test_decisions_are_there_after_opening_again(store):
    store.add([decision("a", note="sure \ud800 '; drop table decisions")])
    with Store(store.path) as again:
        (found,) = again.since()
    assert (found.key, found.label, found.decided) == ("a", "calm", "0")
    assert found.note == "sure \\ud800 '; drop table decisions"
    assert found.time.endswith("+00:00") and found.batch


def test_undo_takes_back_one_key_at_a_time_and_only_ones_own(store):
    store.add([decision("a")])
    store.add([decision("b"), decision("c")])
    store.add([decision("d", reviewer="bert")])
    assert [d.key for d in store.undo("anna")] == ["b", "c"]
    assert set(standing(store)) == {("a", "calm"), ("d", "calm")}
    assert [d.key for d in store.undo("anna")] == ["a"]
    assert store.undo("anna") == []
    assert set(standing(store)) == {("d", "calm")}
    # An undo is a row too: nothing has gone.
    assert [d.action for d in store.since()] == ["accept"] * 4 + ["undo"] * 2


def test_an_undone_decision_lets_the_earlier_one_stand(store):
    store.add([decision("a", decided="0")])
    store.add([decision("a", "keep", decided="1")])
    assert standing(store) == {("a", "calm"): {"anna": "1"}}
    store.undo("anna")
    assert standing(store) == {("a", "calm"): {"anna": "0"}}


def test_skips_do_not_hide_what_was_settled(store):
    store.add([decision("a")])
    store.add([decision("a", "skip", decided="")])
    store.add([decision("a", "note", decided="", note="odd")])
    assert standing(store) == {("a", "calm"): {"anna": "0"}}


def test_the_file_refuses_to_change_or_forget(store):
    store.add([decision("a")])
    with sqlite3.connect(store.path) as other:
        for words in ("delete from decisions", "update decisions set decided = '1'"):
            with pytest.raises(sqlite3.IntegrityError, match="never"):
                other.execute(words)
    other.close()
    assert len(store.since()) == 1


def test_a_batch_is_written_whole_or_not_at_all(store):
    with pytest.raises(AttributeError):
        store.add([decision("a"), decision("b", note=3)])
    assert store.since() == []
    store.add([decision("c")])
    assert len(store.since()) == 1


def test_two_writers_at_once_lose_nothing(store):
    def write(name):
        with Store(store.path) as own:
            for k in range(15):
                own.add([decision(f"{name}{k}", reviewer=name)])

    writers = [threading.Thread(target=write, args=(name,)) for name in "xyz"]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    found = store.since()
    assert len({d.key for d in found}) == len(found) == 45
    assert [d.id for d in store.since(found[9].id)] == [d.id for d in found[10:]]


def test_another_file_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "table.review.sqlite").write_text("no database at all, " * 50)
    with pytest.raises(ValueError, match=r"review\.sqlite holds no decisions"):
        Store(tmp_path / "table.review.sqlite")


# Names of rows


def pets(n_rows=12, ids=True):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=n_rows).round(3)})
    frame["kind"] = np.where(np.arange(n_rows) % 2, "cat", "dog")
    if ids:
        frame.insert(0, "id", [f"p{k}" for k in range(n_rows)])
    return frame


@pytest.mark.parametrize("ids", [True, False])
def test_rows_keep_their_names_when_sorted_added_and_removed(store, ids):
    frame = pets(ids=ids)
    before = row_keys(Table(frame, class_="kind"), store)
    edited = pd.concat([frame[3:], pets(14, ids)[12:]]).sort_values("size")
    edited = edited.assign(remark="new column").reset_index(drop=True)
    after = row_keys(Table(edited, class_="kind"), store)
    for row, size in enumerate(frame["size"]):
        made = Decision("keep", before.keys[row], before.cells[row])
        found = after.find(made)
        same = np.flatnonzero(edited["size"] == size)
        assert found == (same[0] if same.size else None)
    assert after.find(Decision("keep", before.keys[0], before.cells[0])) is None


def test_a_row_whose_cells_changed_asks_again(store):
    frame = pets()
    before = row_keys(Table(frame, class_="kind"), store)
    frame.loc[4, "size"] = 99
    after = row_keys(Table(frame, class_="kind"), store)
    found = [
        after.find(Decision("keep", k, c)) for k, c in zip(before.keys, before.cells)
    ]
    assert found == [0, 1, 2, 3, None, *range(5, 12)]


def test_rows_that_are_alike_have_names_of_their_own(store):
    frame = pets(ids=False)
    frame["size"] = 1.0
    keys = row_keys(Table(frame, class_="kind"), store)
    assert len(set(keys.keys)) == 12
    # Whoever sorts the table does not swap cats and dogs.
    turned = frame[::-1].reset_index(drop=True)
    other = row_keys(Table(turned, class_="kind"), store)
    kind = dict(zip(keys.keys, frame["kind"]))
    assert kind == dict(zip(other.keys, turned["kind"]))


def test_ids_that_recur_are_no_names(store):
    frame = pets()
    frame.loc[3, "id"] = "p2"
    keys = row_keys(Table(frame, class_="kind"), store)
    assert len(set(keys.keys)) == 12 and "p2" not in keys.keys


def test_a_lost_column_is_said(store):
    frame = pets().assign(weight=np.arange(12) * 1.5)
    row_keys(Table(frame, class_="kind"), store)
    with pytest.raises(ValueError, match="has lost the column 'size'"):
        row_keys(Table(frame.drop(columns="size"), class_="kind"), store)
