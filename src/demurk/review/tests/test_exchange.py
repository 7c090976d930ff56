"""Agreement, and decisions to and from files."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from demurk.cli import main
from demurk.review._agreement import agreements, cohen_kappa
from demurk.review._store import Store, store_path
from demurk.review.tests.cases import emotions_file, flowers_file, open_session


def raters(n, rng, quality=0.8):
    truth = rng.integers(0, 3, n)
    return [
        np.where(rng.random(n) < quality, truth, rng.integers(0, 3, n)).astype(str)
        for _ in range(2)
    ]


def test_kappa_is_that_of_scikit_learn_and_its_interval_covers():
    rng = np.random.default_rng(0)
    true = cohen_kappa_score(*raters(400_000, rng))
    inside = 0
    for _ in range(300):
        first, second = raters(120, rng)
        kappa, low, high = cohen_kappa(first, second)
        assert kappa == pytest.approx(cohen_kappa_score(first, second))
        inside += low <= true <= high
    assert 0.91 <= inside / 300 <= 0.98
    assert np.isnan(cohen_kappa(["1", "1"], ["1", "1"])[0])
    assert np.isnan(cohen_kappa([], [])[0])


@pytest.fixture
def songs(tmp_path):
    """Anna and Bert decide; they agree on nine of ten."""
    path, wrong = emotions_file(tmp_path)
    anna = open_session(path, wrong, reviewer="anna")
    bert = open_session(path, wrong, reviewer="bert")
    for k, question in enumerate(anna.ranking.order[:20].tolist()):
        anna.decide([(question, "accept" if k % 2 else "keep", None)])
        bert.decide([(question, "accept" if k % 2 or k == 4 else "keep", None)])
        if k % 10 == 4:
            bert.undo()
    anna.refresh()
    yield path, anna
    anna.store.close()
    bert.store.close()


def test_agreement_is_told_and_disagreements_are_a_queue(songs, capsys):
    path, anna = songs
    (known,) = agreements(anna.standing)
    assert known["reviewers"] == ["anna", "bert"] and known["both"] == 18
    anna.decide([(int(anna.ranking.order[0]), "accept", None)])
    question, _ = anna.next("disputed")
    assert question == anna.ranking.order[0]
    assert main(["apply", str(path)]) == 0
    said = capsys.readouterr().out
    assert "anna and bert both settled 18; Cohen's kappa is 0." in said
    assert "1 left as they were, for reviewers disagree" in said


def test_the_log_goes_out_and_comes_back(songs, tmp_path):
    path, anna = songs
    question = int(anna.ranking.order[30])
    for remark in ("=1+1", "'=1", "plain"):
        anna.decide([(question, "note", None)], note=remark)
    log = tmp_path / "decisions.csv"
    assert main(["apply", str(path), "--export", str(log)]) == 0
    other = tmp_path / "other"
    other.mkdir()
    copy = other / path.name
    copy.write_bytes(path.read_bytes())
    for _ in range(2):  # the second time nothing is new
        assert main(["apply", str(copy), "--import", str(log), "--force"]) == 0
    with Store(store_path(copy)) as store:
        found = store.since()
    same = [(d.action, d.key, d.decided, d.note, d.reviewer, d.batch) for d in found]
    assert same == [
        (d.action, d.key, d.decided, d.note, d.reviewer, d.batch)
        for d in anna.store.since()
    ]
    assert ",'=1+1," in log.read_text() and ",=1+1" not in log.read_text()
    assert main(["apply", str(path)]) == 0
    assert (other / "songs.reviewed.csv").read_bytes() == path.with_name(
        "songs.reviewed.csv"
    ).read_bytes()


@pytest.mark.parametrize("ending", ["json", "jsonl"])
@pytest.mark.parametrize("form", ["labels", "class"])
def test_annotation_tools_take_and_give_back(tmp_path, ending, form):
    if form == "labels":
        path, wrong = emotions_file(tmp_path)
        options, reading = [], {}
    else:
        path, wrong = flowers_file(tmp_path)
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
        frame.insert(0, "id", [f"f{k}" for k in range(len(frame))])
        frame.to_csv(path, index=False)
        options, reading = ["--class", "species"], {"class_": "species"}
    session = open_session(path, wrong, reading=reading)
    for question in session.ranking.order[:3].tolist():
        session.decide([(question, "accept", None)])
    session.store.close()
    tool = tmp_path / f"tool.{ending}"
    assert main(["apply", str(path), "--export", str(tool), *options]) == 0
    if ending == "json":
        # Somebody accepts every prediction.
        tasks = json.loads(tool.read_text())
        for task in tasks:
            if task.get("predictions"):
                task["annotations"] = task.pop("predictions")
        tool.write_text(json.dumps(tasks))
    assert main(["apply", str(path), *options]) == 0
    expected = path.with_name(f"{path.stem}.reviewed.csv").read_bytes()
    store_path(path).unlink()
    arguments = ["--import", str(tool), "--reviewer", "carl", "--force", *options]
    assert main(["apply", str(path), *arguments]) == 0
    assert path.with_name(f"{path.stem}.reviewed.csv").read_bytes() == expected
    with Store(store_path(path)) as store:
        found = store.since()
    assert {d.reviewer for d in found} == {"carl"}
    assert sum(d.action == "choose" for d in found) == 3


def test_another_file_is_refused(tmp_path, capsys):
    path, _ = emotions_file(tmp_path)
    assert main(["apply", str(path)]) == 2
    assert "There are no decisions about" in capsys.readouterr().err
    (tmp_path / "log.csv").write_text("a,b\n1,2\n")
    assert main(["apply", str(path), "--import", str(tmp_path / "log.csv")]) == 2
    assert "is no log of decisions" in capsys.readouterr().err
    assert main(["apply", str(path), "--export", str(tmp_path / "x.xml")]) == 2
