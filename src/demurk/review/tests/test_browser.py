"""The whole review in a real Chromium, by keys alone and by clicks alone."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json

import numpy as np
import pandas as pd
import pytest

from demurk.cli import main
from demurk.review.tests.cases import (
    NAMES,
    emotions_file,
    flowers_file,
    open_session,
    pets_file,
)
from demurk.review.tests.hands import Clicks, Keys
from demurk.review.tests.live import live
from demurk.viz.tests.accessibility import axe_findings, axe_script, resize
from demurk.viz.tests.browser import open_browser

pytest.importorskip("uvicorn")


@pytest.fixture(scope="module")
def browser():
    with open_browser(webgl=False, size=(1280, 800), loopback=True) as browser:
        yield browser


def begin(browser, address):
    browser.requests()
    browser.open(address)
    browser.wait("document.documentElement.dataset.mapped")


def end(browser, address):
    """Nothing went wrong, and nothing was asked for elsewhere."""
    assert browser.errors() == []
    home = address.partition("?")[0]
    asked = browser.requests()
    assert asked and all(url.startswith(home) for url in asked)


def applied(path, *options):
    """The cells of the table before and after `demurk apply`, and the changes."""
    assert main(["apply", str(path), *options]) == 0
    stem = path.name.removesuffix(".csv")
    before, after, changes = (
        pd.read_csv(path.with_name(name), dtype=str, keep_default_na=False)
        for name in (path.name, f"{stem}.reviewed.csv", f"{stem}.changes.csv")
    )
    return before, after, changes


@pytest.mark.parametrize("kind", [Keys, Clicks])
def test_a_review_of_several_labels(browser, tmp_path, kind):
    path, wrong = emotions_file(tmp_path)
    session = open_session(path, wrong, reviewer="anna")
    expected = {}  # row and label: what the written table must say

    def settle(card, value):
        expected[card["row"], card["column"]] = value

    with live(session) as address:
        begin(browser, address)
        hand = kind(browser)
        hand.picture("card")
        # Read the card, accept, keep.
        first = hand.card
        name = NAMES[first["column"]]
        assert f"'{name}'; of its 10 nearest rows" in hand.text
        assert "P(wrong) 0.90" in hand.text and first["title"] in hand.text
        assert len(browser.find("#card .neighbors li")) == 5
        hand.do("a")
        settle(first, 1 - (first["column"] in first["labels"]))
        second = hand.card
        assert second["question"] != first["question"]
        hand.do("k")
        # Another label of the same row; the card stays.
        third = hand.card
        other = (third["column"] + 1) % 3
        hand.choose(other)
        assert hand.card["question"] == third["question"]
        assert (other in hand.card["labels"]) != (other in third["labels"])
        expected[third["row"], other] = 1 - (other in third["labels"])
        # Skip; a note; back and forth.
        hand.do("s")
        fourth = hand.card
        assert fourth["question"] != third["question"]
        hand.do("n")
        assert hand.opened() == f"Note on {fourth['title']}"
        hand.write("sounds odd")
        assert hand.said == "Note saved."
        hand.do("ArrowLeft")
        assert hand.card["question"] == third["question"]
        # Three undos take back the note, the skip and the other label.
        for _ in range(3):
            hand.do("z")
        assert hand.said == "Taken back."
        assert hand.card["question"] == third["question"]
        assert hand.card["labels"] == third["labels"]
        del expected[third["row"], other]
        hand.do("a")
        settle(third, 1 - (third["column"] in third["labels"]))
        # Filter, then all of it at once, and back.
        hand.pick_label("sad")
        assert NAMES[hand.card["column"]] == "sad"
        listed = browser.run("demurk.state.items")
        assert {item["label"] for item in listed} == {"sad"}
        hand.do("A")
        assert hand.opened() == f"Accept all {len(listed)}?"
        least = min(item["wrong"] for item in listed)
        assert f"P(wrong) {least:.2f}" in browser.find("#ask-body")[0].text
        hand.picture("all")
        hand.yes()
        assert hand.said.startswith(f"Accepted {len(listed)} at once")
        assert browser.run("demurk.state.items.length") == 0
        hand.do("z")
        assert browser.run("demurk.state.items") == listed
        hand.do("c")
        # A lasso on the map.
        hand.lasso()
        inside = browser.run("demurk.state.items")
        assert 0 < len(inside) < session.ranking.n_listed - 2
        hand.picture("lasso")
        hand.do("K")
        hand.yes()
        assert hand.said.startswith(f"Kept {len(inside)} at once")
        hand.do("z")
        hand.do("c")
        # Search.
        hand.search("song 42")
        assert hand.card["title"] == "song 42"
        hand.do("c")
        # A row without labels.
        hand.queue("unlabelled")
        bare = hand.card
        assert bare["labeled"] is False and "Not labelled yet" in hand.text
        hand.choose(0)
        hand.choose(2)
        hand.do("a")
        expected |= {(bare["row"], j): value for j, value in enumerate((1, 0, 1))}
        assert hand.card["row"] != bare["row"]
        hand.do("f")
        assert hand.opened() == "All decisions are saved"
        assert f"demurk apply {path}" in browser.find("#ask-body")[0].text
        hand.close()
        hand.do("?")
        assert hand.opened() == "Keys"
        hand.close()
        end(browser, address)
    session.store.close()

    before, after, changes = applied(path)
    differs = {
        (row, j): int(after.loc[row, f"label:{name}"])
        for j, name in enumerate(NAMES)
        for row in range(len(before))
        if before.loc[row, f"label:{name}"] != after.loc[row, f"label:{name}"]
    }
    assert differs == expected
    cells = [column for column in before if not column.startswith("label:")]
    assert before[cells].equals(after[cells])
    assert (changes["what"] == "changed").sum() == len(expected)
    assert (changes["what"] == "kept").sum() == 1
    assert set(changes["reviewer"]) == {"anna"}


@pytest.mark.parametrize("kind", [Keys, Clicks])
def test_a_review_of_one_class(browser, tmp_path, kind):
    path, truth = flowers_file(tmp_path)
    session = open_session(path, truth, reading={"class_": "species"})
    names, expected = session.questions.names, {}
    with live(session) as address:
        begin(browser, address)
        hand = kind(browser)
        hand.picture("class")
        first = hand.card
        given, best = names[first["labels"][0]], names[first["suggested"]]
        assert f"Given '{given}', probably '{best}' (0.90)" in hand.text
        hand.do("a")
        expected[first["row"]] = best
        second = hand.card
        other = next(j for j in range(3) if j not in second["labels"])
        hand.choose(other)
        expected[second["row"]] = names[other]
        hand.do("k")
        hand.do("u")
        hand.queue("unlabelled")
        bare = hand.card
        hand.choose(1)
        expected[bare["row"]] = names[1]
        hand.do("z")
        assert hand.card["row"] == bare["row"]
        hand.choose(2)
        expected[bare["row"]] = names[2]
        end(browser, address)
    session.store.close()
    before, after, changes = applied(path, "--class", "species")
    new = after["species"][before["species"] != after["species"]]
    assert new.to_dict() == expected
    assert before.drop(columns="species").equals(after.drop(columns="species"))
    assert sorted(changes["what"]) == ["changed"] * 3 + ["kept"]


@pytest.mark.parametrize("kind", [Keys, Clicks])
def test_a_review_of_candidates(browser, tmp_path, kind):
    path, truth = pets_file(tmp_path)
    session = open_session(path, None, reading={"candidates": "pet"})
    names, expected = session.questions.names, {}
    with live(session) as address:
        begin(browser, address)
        hand = kind(browser)
        hand.picture("candidates")
        # The most probable candidate, which is the true one.
        first = hand.card
        best = names[first["suggested"]]
        assert best == truth[first["row"]] and len(first["labels"]) > 1
        assert f"Of its candidates '{best}' is the most probable" in hand.text
        assert "P(wrong)" not in hand.text
        hand.do("a")
        expected[first["row"]] = best
        # Another one; only candidates have a number.
        second = hand.card
        other = next(k for k in second["labels"] if k != second["suggested"])
        assert browser.run("demurk.state.numbered") == second["labels"]
        hand.choose(other)
        expected[second["row"]] = names[other]
        hand.do("k")
        # The least probable one goes, and comes back.
        hand.search("pet 0")
        three = hand.card
        assert three["row"] == 0 and len(three["labels"]) == 3
        assert names[three["unlikely"]] != truth[0]
        hand.do("x")
        assert hand.said.startswith(f"Removed {names[three['unlikely']]}")
        hand.do("z")
        assert hand.card["labels"] == three["labels"]
        hand.do("x")
        left = [names[k] for k in three["labels"] if k != three["unlikely"]]
        expected[0] = "|".join(left)
        hand.do("c")
        # A row without candidates can have any class.
        hand.queue("unlabelled")
        bare = hand.card
        assert "Which class?" in hand.text
        assert browser.run("demurk.state.numbered") == [0, 1, 2]
        hand.choose(2)
        expected[bare["row"]] = names[2]
        end(browser, address)
    session.store.close()
    before, after, changes = applied(path, "--candidates", "pet")
    new = after["pet"][before["pet"] != after["pet"]]
    assert new.to_dict() == expected
    assert before.drop(columns="pet").equals(after.drop(columns="pet"))
    assert sorted(changes["what"]) == ["changed"] * 4 + ["kept"]


@pytest.mark.parametrize("kind", [Keys, Clicks])
def test_many_classes_for_one_who_must_not_be_led(browser, tmp_path, kind):
    rng = np.random.default_rng(0)
    names = np.array([f"class {k}" for k in range(14)])
    truth = names[np.arange(84) % 14]
    frame = pd.DataFrame(rng.normal(size=(84, 3)).round(3), columns=list("abc"))
    given = np.where(np.arange(84) % 20 == 3, names[0], truth)
    path = tmp_path / "many.csv"
    frame.assign(species=given).to_csv(path, index=False)
    reading = {"class_": "species"}
    session = open_session(path, truth, reading=reading, blind=True)
    with live(session) as address:
        begin(browser, address)
        hand = kind(browser)
        card = hand.card
        assert "Given 'class 0'. Which class is it?" in hand.text
        assert "P(wrong)" not in hand.text and "probably" not in hand.text
        assert "if accepted" not in hand.text
        hand.do("a")
        assert hand.said == "Choose a class by its number."
        assert hand.card["question"] == card["question"]
        hand.find_label("CLASS 12")
        assert hand.said.startswith("class 12: ")
        end(browser, address)
    (made,) = session.store.since()
    assert (made.action, made.decided) == ("choose", "class 12")
    assert json.loads(made.shown)["blind"] is True
    session.store.close()


@pytest.mark.parametrize("dark", [False, True])
def test_everybody_can_use_it(tmp_path, dark):
    script = axe_script()
    path, wrong = emotions_file(tmp_path, n_rows=90)
    session = open_session(path, wrong)
    assert main(["clean", str(path), "-o", str(tmp_path / "out")]) == 0
    with (
        live(session) as address,
        open_browser(webgl=False, loopback=True, dark=dark) as browser,
    ):
        begin(browser, address)
        hand = Keys(browser)
        for size in ("desktop", "phone"):
            resize(browser, size)
            assert axe_findings(browser, script) == []
            hand.do("?")
            assert axe_findings(browser, script) == []
            hand.close()
            assert browser.run("document.documentElement.scrollWidth <= innerWidth")
        browser.open(tmp_path / "out" / "audit.html")
        browser.driver.execute_script("document.querySelector('a.find').click()")
        browser.wait("demurk.state.selected !== null")
        for size in ("desktop", "phone"):
            resize(browser, size)
            assert axe_findings(browser, script) == []
    session.store.close()


def test_two_windows_lose_nothing(browser, tmp_path):
    path, wrong = emotions_file(tmp_path)
    session = open_session(path, wrong, reviewer="anna")
    with live(session) as address:
        begin(browser, address)
        first, hand = browser.driver.current_window_handle, Keys(browser)
        browser.driver.switch_to.new_window("tab")
        second = browser.driver.current_window_handle
        begin(browser, address)
        assert hand.card["question"] == session.ranking.order[0]
        decided = []
        for k in range(6):
            browser.driver.switch_to.window((first, second)[k % 2])
            card = hand.card
            hand.do("a" if k < 4 else "k")
            decided.append((card["row"], card["column"]))
        browser.driver.close()
        browser.driver.switch_to.window(first)
    found = session.store.since()
    keys = [(session.keys.places[d.key], NAMES.index(d.label)) for d in found]
    assert keys == decided
    assert [d.action for d in found] == ["accept"] * 4 + ["keep"] * 2
    session.store.close()
