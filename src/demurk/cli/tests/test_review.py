"""`demurk review` from the shell, and what other commands make of its decisions."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from urllib.parse import urlsplit

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from demurk.audit import LabelAudit
from demurk.cli import _output, _review, main
from demurk.cli._input import read_input
from demurk.multilabel import MurkyClassifier
from demurk.review.tests.cases import emotions_file, flowers_file, open_session

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")


@pytest.fixture
def reviewed(tmp_path):
    """A table and three decisions that change it."""
    path, wrong = emotions_file(tmp_path)
    session = open_session(path, wrong, reviewer="anna")
    for question in session.ranking.order[:3].tolist():
        session.decide([(question, "accept", None)])
    session.store.close()
    places = [session.questions.split(q) for q in np.flatnonzero(session.settled)]
    settled = {(row, session.questions.names[j]) for row, j in places}
    return path, session.values, settled


COMMANDS = {
    "clean": ["-o", "out"],
    "map": ["-o", "out", "--methods", "PCA"],
    "predict": ["-o", "out.csv", "--members", "fast"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_other_commands_use_the_decisions_and_say_so(
    reviewed, tmp_path, monkeypatch, capsys, command
):
    path, values, settled = reviewed
    monkeypatch.chdir(tmp_path)
    assert main([command, path.name, *COMMANDS[command]]) == 0
    said = capsys.readouterr().err
    assert (
        "With the decisions of songs.review.sqlite: 3 labels changed, 0 kept." in said
    )
    if command == "clean":
        summary = json.loads((tmp_path / "out" / "summary.json").read_text())
        given = [label["given"] for label in summary["labels"]]
        assert given == (values > 0).sum(axis=0).tolist()
        # What a person has settled is no suspect any more.
        suspects = pd.read_csv(tmp_path / "out" / "suspects.csv")
        assert not settled & set(zip(suspects["row"] - 1, suspects["label"]))


def test_predict_learns_what_the_audit_believes(reviewed, tmp_path, monkeypatch):
    path, values, settled = reviewed
    monkeypatch.chdir(tmp_path)
    learned = []
    fit = MurkyClassifier.fit
    monkeypatch.setattr(
        MurkyClassifier, "fit", lambda self, X, y: fit(self, X, learned.append(y) or y)
    )
    words = ["predict", path.name, "-o", "out.csv", "--members", "fast"]
    assert main(words) == 0
    (labels,) = learned
    names = labels.classes.tolist()
    known = labels.observed
    assert_array_equal(known, values >= 0)
    certain = np.zeros_like(known)
    for row, name in settled:
        certain[row, names.index(name)] = True
    assert_array_equal(labels.values[certain], values[certain])
    # Other entries keep their side unless they are probably wrong.
    beliefs = np.abs(labels.values - values)[known & ~certain]
    assert ((beliefs > 0) & (beliefs < 1)).all()
    assert np.mean(beliefs) < 0.2
    # Whoever says how much is wrong is believed instead, as is "nothing is".
    for more in (["--rate", "0.1"], ["--noise", "none"]):
        assert main([*words, *more, "--force"]) == 0
        assert set(np.unique(learned.pop().values)) == {0.0, 1.0}


def test_predict_learns_beliefs_about_one_class_per_row(tmp_path, monkeypatch):
    path, truth = flowers_file(tmp_path)
    session = open_session(path, truth, reading={"class_": "species"})
    for question in session.ranking.order[:4].tolist():
        session.decide([(question, "accept", None)])
    settled = session.settled.nonzero()[0]
    session.store.close()
    learned = []
    fit = MurkyClassifier.fit
    monkeypatch.setattr(
        MurkyClassifier, "fit", lambda self, X, y: fit(self, X, learned.append(y) or y)
    )
    out = tmp_path / "out.csv"
    words = ["--class", "species", "-o", str(out), "--members", "fast"]
    assert main(["predict", str(path), *words]) == 0
    (labels,) = learned
    assert_allclose(labels.values[labels.labeled].sum(axis=1), 1)
    chosen = labels.classes[labels.values.argmax(axis=1)]
    assert len(settled) == 4 and (chosen[settled] == truth[settled]).all()
    assert (labels.values[settled].max(axis=1) == 1).all()
    blank = ~labels.labeled
    assert blank.sum() == 3
    assert (pd.read_csv(out)["predicted"][blank] == truth[blank]).all()
    # A wrong class is an extra and a missing label at once, whatever is asked for.
    assert main(["predict", str(path), *words, "--noise", "extra", "--force"]) == 0
    assert_array_equal(learned.pop().values, labels.values)


def test_apply_never_writes_over_the_table(reviewed, capsys):
    path, *_ = reviewed
    before = path.read_bytes()
    assert main(["apply", str(path), "-o", str(path), "--force"]) == 2
    assert main(["apply", str(path)]) == 0
    assert main(["apply", str(path)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_sorted_and_shortened_table_keeps_its_decisions(reviewed, capsys):
    path, values, _ = reviewed
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    changed = frame.index[
        (frame.filter(like="label:").to_numpy() != values.astype(str)).any(axis=1)
        & (frame["label:calm"] != "")
    ]
    kept = frame.drop(index=changed[0]).iloc[::-1]
    kept.loc[changed[1], "x0"] = "9.5"
    kept.to_csv(path, index=False)
    assert main(["apply", str(path)]) == 0
    said = capsys.readouterr().out
    assert "2 decisions left out where the row has gone or has changed" in said
    after = pd.read_csv(
        path.with_name("songs.reviewed.csv"), dtype=str, keep_default_na=False
    )
    kept = kept.reset_index(drop=True)
    differs = (after != kept).any(axis=1)
    assert after["id"][differs].tolist() == [frame["id"][changed[-1]]]


def test_a_review_from_the_shell(tmp_path):
    path, _ = emotions_file(tmp_path, n_rows=80)
    command = [sys.executable, "-m", "demurk.cli", "review", str(path), "--no-open"]
    with subprocess.Popen(
        [*command, "--reviewer", "anna"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    ) as process:
        try:
            lines = iter(process.stdout.readline, "")
            address = next(line for line in lines if line.startswith("Open http"))
            parts = urlsplit(address.split()[1])
            home = f"http://{parts.netloc}"
            with httpx.Client(base_url=home, trust_env=False, timeout=60) as http:
                http.get("/", params={"token": parts.query[6:]})
                card = http.get("/api/card").json()["card"]
                body = {"answers": [{"question": card["question"], "action": "accept"}]}
                answer = http.post("/api/decide", json=body, headers={"origin": home})
                assert answer.json()["card"]["question"] != card["question"]
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
    assert main(["apply", str(path)]) == 0
    changes = pd.read_csv(path.with_name("songs.changes.csv"))
    assert changes["what"].tolist() == ["changed"]
    assert changes["reviewer"].tolist() == ["anna"]


def test_large_tables_get_fewer_trees(tmp_path, monkeypatch, capsys):
    fit, grown = LabelAudit.fit, []

    def noted(self, *args, **options):
        grown.append(self.n_estimators)
        return fit(self, *args, **options)

    monkeypatch.setattr(LabelAudit, "fit", noted)
    monkeypatch.setattr(_output, "EXACT_ROWS", 49)
    monkeypatch.setattr(_output, "GROWN_ROWS", 1)
    path, _ = flowers_file(tmp_path)
    table = read_input(str(path), class_="species")
    with ExitStack() as stack:
        session = _review._session(table, "anna", False, "auto", 0, stack)
        assert session._on_decision.settings["n_estimators"] == 15
    assert grown == [15]
    assert "Forests have 15 trees each" in capsys.readouterr().err


def test_what_cannot_be_reviewed_is_said(tmp_path, capsys):
    assert main(["review", "emotions", "--no-open"]) == 2
    assert "is no file: decisions are kept beside the table" in capsys.readouterr().err


@pytest.mark.parametrize("why", ["audit", "port"])
def test_a_review_that_cannot_begin_leaves_nothing_behind(tmp_path, capsys, why):
    path, _ = flowers_file(tmp_path)
    words = ["review", str(path), "--class", "species", "--no-open"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        if why == "port":
            words += ["--port", str(taken.getsockname()[1])]
        else:
            frame = pd.read_csv(path, keep_default_na=False)
            frame.loc[2:, "species"] = ""
            frame.to_csv(path, index=False)
            words += ["--noise", "sideways"]
        assert main(words) == 2
    said = capsys.readouterr().err.strip().splitlines()[-1]
    assert said.startswith("demurk: ")
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert main(["apply", str(path)]) == 2
    assert "There are no decisions" in capsys.readouterr().err
