"""What the commands write, over what, and what becomes of the user's own words."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from demurk.audit import LabelAudit
from demurk.cli import _clean, _output, main
from demurk.cli._output import beside, guarded, write_table

FOLDERS = {
    "clean": ["clean", "IN", "-o", "OUT"],
    "map": ["map", "IN", "-o", "OUT", "--methods", "PCA,MDDM,NMLSDR"],
    "reduce": ["reduce", "IN", "-o", "OUT", "-k", "5"],
    "predict": ["predict", "IN", "-o", "OUT/predictions.csv", "--method", "MLkNN"],
}


def make_table(path, labels=("sea", "sun"), n_samples=60):
    rng = np.random.RandomState(0)
    X = rng.normal(size=(n_samples, 4))
    frame = pd.DataFrame(X.round(3), columns=list("abcd"))
    for j, name in enumerate(labels):
        given = (X[:, j] + 0.5 * rng.normal(size=n_samples) > 0).astype(int)
        frame[f"label:{name}"] = np.where(np.arange(n_samples) < 50, given, "")
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_table(tmp_path / "in.csv")
    return tmp_path


def run(*arguments, source="in.csv", out="out"):
    words = [str(a).replace("OUT", str(out)) for a in arguments]
    return main([str(source) if word == "IN" else word for word in words])


# Nothing that was read is replaced


@pytest.mark.parametrize(
    "arguments, victim",
    [
        (["reduce", "labels.csv", "-o", ".", "--force"], "labels.csv"),
        (["map", "map.png", "-o", ".", "--force"], "map.png"),
        (["clean", "cleaned.csv", "-o", ".", "--force"], "cleaned.csv"),
        (["predict", "m.skops", "in.csv", "-o", "m.skops", "--force"], "m.skops"),
        (["predict", "m.skops", "in.csv", "-o", "in.csv", "--force"], "in.csv"),
        (["predict", "in.csv", "--train", "t.csv", "-o", "t.csv", "--force"], "t.csv"),
        (["predict", "in.arff", "-o", "in.xml", "--force"], "in.xml"),
        (["predict", "m.skops", "in.csv", "-o", "link.csv", "--force"], "in.csv"),
        (["predict", "m.skops", "in.csv", "-o", "hard.csv", "--force"], "in.csv"),
    ],
)
def test_force_never_replaces_an_input(folder, arguments, victim, capsys):
    for name in ("labels.csv", "cleaned.csv", "t.csv", "map.png"):
        make_table(folder / name)
    for name in ("in.arff", "in.xml", "m.skops"):
        (folder / name).write_text("something")
    (folder / "link.csv").symlink_to("in.csv")
    os.link(folder / "in.csv", folder / "hard.csv")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(arguments) == 2
    assert f"{victim} is the data itself" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_files_of_a_data_set_known_by_name_are_read_too(tmp_path, monkeypatch):
    monkeypatch.delenv("DEMURK_DATA", raising=False)
    (tmp_path / "emotions").mkdir()
    for name in ("emotions.arff", "emotions.xml"):
        (tmp_path / "emotions" / name).write_text("data")
    found = _output.files_read("emotions", data_home=tmp_path)
    assert {path.name for path in found} == {"emotions.arff", "emotions.xml"}


# What cannot be written is said before the work


@pytest.mark.parametrize("command", FOLDERS)
@pytest.mark.parametrize("out", ["in.csv", "in.csv/deep"])
def test_a_file_is_in_the_way(folder, command, out, capsys, monkeypatch):
    for module in ("_clean", "_map", "_reduce", "_predict"):
        __import__(f"demurk.cli.{module}")
        for name in ("_read", "read_input"):
            kept = sys.modules[f"demurk.cli.{module}"]
            if hasattr(kept, name):
                monkeypatch.setattr(kept, name, pytest.fail)
    assert run(*FOLDERS[command], "--force", out=out) == 2
    assert "in.csv is a file" in capsys.readouterr().err


def test_a_store_in_use_is_not_to_be_removed(tmp_path, monkeypatch):
    from demurk.benchmark import ResultStore
    from demurk.benchmark.engine import _store

    path = tmp_path / "results.sqlite"
    ResultStore(path).close()
    monkeypatch.setattr(_store, "BUSY_SECONDS", 0.1)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(ValueError, match="wait until no other run uses it") as error:
        ResultStore(path)
    assert "remove" not in str(error.value)
    other.close()


# The user's words are never markup


@pytest.mark.parametrize("command", FOLDERS)
def test_names_are_shown_as_they_are(folder, command, capsys):
    labels = ["$x_", "[/b] {{data}}", "_hidden <i>"]
    source = make_table(folder / "a $1^ [bold] {{report}} {0}.csv", labels)
    out = "[/red] $out$ {{title}}"
    assert run(*FOLDERS[command], source=source, out=out) == 0
    shown = capsys.readouterr().out
    assert out in shown.replace("\n", "")
    if command == "clean":
        page = (folder / out / "audit.html").read_text()
        assert page.count('<section class="report"') == 1
        assert "<title>a $1^ [bold] {{report}} {0}: label audit</title>" in page
        assert "_hidden &lt;i&gt;" in page and "_hidden <i>" not in page


def test_file_names_that_are_no_text(folder, capsys):
    source = os.fsdecode(b"song\xe9.csv")
    make_table(source)
    for command, words in FOLDERS.items():
        out = f"{source}-{command}"
        assert run(*words, source=source, out=out) == 0, capsys.readouterr().err
        assert os.path.isdir(out)
    assert r"song\udce9" in capsys.readouterr().out


def test_tables_of_titles_hold_no_markup(capsys):
    from demurk.cli._console import show_table

    show_table("[red]T", ["[b]name"], [["[/i]"]])
    shown = capsys.readouterr().out
    assert "[red]T" in shown and "[b]name" in shown and "[/i]" in shown


def test_labels_that_sound_like_our_columns(folder):
    words = ("probability", "given", "cleaned", "soft")
    labels = ["x", *(f"x: {word}" for word in words[:3])]
    source = make_table(folder / "odd.csv", labels)
    assert run(*FOLDERS["predict"], source=source) == 0
    table = pd.read_csv(folder / "out" / "predictions.csv")
    assert list(table)[:5] == ["row", *labels]
    assert table.shape[1] == 1 + 12 + 1 and list(table)[-1] == "filled"
    assert table["x: probability"].isin([0, 1]).all()
    assert table["x: probability (2)"].between(0, 1).all()
    assert run(*FOLDERS["reduce"], source=source, out="reduced") == 0
    table = pd.read_csv(folder / "reduced" / "labels.csv")
    assert table.shape[1] == 1 + 12 and set(labels) < set(table)
    assert table["x: cleaned (2)"].isin([0, 1]).all()


def test_a_label_called_row(folder):
    source = make_table(folder / "odd.csv", ["row", "row (2)"])
    assert run(*FOLDERS["clean"], source=source) == 0
    with open(folder / "out" / "label_distributions.csv") as file:
        assert next(csv.reader(file)) == ["row (2) (2)", "row", "row (2)"]


def test_beside():
    assert beside(["a", "b"], "soft") == ["a: soft", "b: soft"]
    assert beside(["a", "a: soft"], "soft") == ["a: soft (2)", "a: soft: soft"]


@pytest.mark.parametrize("command", FOLDERS)
def test_one_label_column(folder, command):
    source = make_table(folder / "one.csv", ["sea"])
    assert run(*FOLDERS[command], source=source) == 0
    if command == "predict":
        table = pd.read_csv(folder / "out" / "predictions.csv")
        names = ["row", "sea", "sea: probability", "sea: given", "filled"]
        assert list(table) == names
        assert table["sea: given"].notna().sum() == 50
    if command == "reduce":
        table = pd.read_csv(folder / "out" / "labels.csv")
        assert list(table) == ["row", "sea", "sea: cleaned", "sea: soft"]
    if command in ("map", "reduce"):
        facts = json.loads((folder / "out" / "summary.json").read_text())
        assert facts["given"] == 50
    if command == "reduce":
        assert facts["overruled"] < 25
    if command == "map":  # the suspects are those of `clean`, and no others
        assert run(*FOLDERS["clean"], source=source, out="cleaned") == 0
        assert facts["listed"] == len(pd.read_csv(folder / "cleaned" / "suspects.csv"))
        assert facts["expected_wrong"] < 25


# No cell of ours is a formula


@pytest.mark.parametrize("cell", ["=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1", "\r=1"])
def test_formulas_are_guarded(cell, tmp_path):
    assert guarded(cell) == f"'{cell}"
    write_table(pd.DataFrame({cell: [cell, "x"], "n": [-1, 2]}), tmp_path / "t.csv")
    with open(tmp_path / "t.csv", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [[f"'{cell}", "n"], [f"'{cell}", "-1"], ["x", "2"]]


@pytest.mark.parametrize("cell", ["-1", "+1", "-1.5e3", "a=b", "", -1, None, 2.5])
def test_numbers_and_words_stay(cell):
    assert guarded(cell) is cell


def test_suspects_are_guarded_and_the_copy_is_the_users(folder):
    make_table(folder / "t.csv", ["=HYPERLINK(1)", "sun"], n_samples=120)
    frame = pd.read_csv(folder / "t.csv", dtype=str, keep_default_na=False)
    frame.insert(0, "note", "=cmd|' /C calc'!A0")
    frame.to_csv("t.csv", index=False)
    words = [*FOLDERS["clean"], "--text", "note", "--review", "60"]
    assert run(*words, source="t.csv") == 0
    suspects = pd.read_csv(folder / "out" / "suspects.csv")
    assert (suspects["sample"] == "'=cmd|' /C calc'!A0").all()
    assert "'=HYPERLINK(1)" in set(suspects["label"])
    assert not suspects["reason"].str.match(r"[=+\-@]").any()
    copy = pd.read_csv(folder / "out" / "cleaned.csv", dtype=str)
    assert list(copy) == list(frame) and (copy["note"] == frame["note"]).all()
    assert run(*FOLDERS["predict"], source="t.csv", out="p") == 0
    assert "'=HYPERLINK(1)" in pd.read_csv(folder / "p" / "predictions.csv")


# Ctrl-C, pipes, large data

SLOW = """
import hashlib, sys
import demurk.cli
from demurk.audit import LabelAudit
def fit(self, X, y):
    print("fitting", flush=True)
    WAIT
LabelAudit.fit = fit
sys.argv[1:] = ["clean", "in.csv", "-o", "out", "--force"]
demurk.cli._run()
"""
WAITS = {
    "python": "import time; time.sleep(60)",
    # Python does not hear of the signal before this ends.
    "computing": "hashlib.pbkdf2_hmac('sha256', b'', b'', 500_000_000)",
    "threads": "from joblib import Parallel, delayed; import time; "
    "Parallel(2, prefer='threads')(delayed(time.sleep)(60) for _ in range(4))",
}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
@pytest.mark.parametrize("wait", WAITS)
def test_ctrl_c_is_answered_within_a_second(folder, wait):
    assert run(*FOLDERS["clean"]) == 0
    before = {path: path.read_bytes() for path in folder.rglob("*.*")}
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW.replace("WAIT", WAITS[wait])],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "fitting\n"
        time.sleep(0.2)
        begun = time.perf_counter()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    # A second, and what a busy machine needs to end a process.
    assert time.perf_counter() - begun < 2
    assert process.returncode == 130 and errors == "demurk: stopped\n"
    assert {path: path.read_bytes() for path in folder.rglob("*.*")} == before


@pytest.mark.skipif(os.name == "nt", reason="pipes differ on Windows")
@pytest.mark.parametrize("command", ["clean", "map"])
@pytest.mark.parametrize("closed", ["stdout", "stderr", "both"])
def test_a_closed_pipe_does_not_stop_the_work(folder, command, closed):
    words = [w.replace("OUT", "out").replace("IN", "in.csv") for w in FOLDERS[command]]
    read, write = os.pipe()
    os.close(read)
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    for name in streams:
        if closed in (name, "both"):
            streams[name] = write
    process = subprocess.run([sys.executable, "-m", "demurk.cli", *words], **streams)
    os.close(write)
    assert process.returncode == 0, process.stderr
    assert (folder / "out" / "summary.json").exists()
    if closed == "stdout":
        assert b"Broken" not in process.stderr and b"Error" not in process.stderr


def test_large_data_are_mapped_by_a_part(folder, monkeypatch, capsys):
    rows = _clean._mapped(np.arange(60) % 3 == 0, 0)
    assert rows == slice(None)
    monkeypatch.setattr(_clean, "EXACT_ROWS", 30)
    rows = _clean._mapped(np.arange(60) % 3 == 0, 0)
    assert len(set(rows)) == 30 and set(range(0, 60, 3)) < set(rows)
    assert run(*FOLDERS["clean"]) == 0
    assert "The map is learned from 30 of 60 samples" in capsys.readouterr().err
    assert "NMLSDR" in (folder / "out" / "audit.html").read_text()


def test_large_data_get_fewer_trees(folder, monkeypatch, capsys):
    fit, grown = LabelAudit.fit, []

    def noted(self, *args, **options):
        grown.append(self.n_estimators)
        return fit(self, *args, **options)

    monkeypatch.setattr(LabelAudit, "fit", noted)
    assert run(*FOLDERS["clean"]) == 0
    assert "trees each" not in capsys.readouterr().err
    monkeypatch.setattr(_output, "EXACT_ROWS", 49)
    monkeypatch.setattr(_output, "GROWN_ROWS", 1500)
    assert run(*FOLDERS["clean"], "--force") == 0
    assert "Forests have 30 trees each" in capsys.readouterr().err
    assert grown == [None, 30]


@pytest.mark.parametrize("command", ["clean", "map", "reduce"])
def test_large_data_take_approximate_neighbors(folder, command, monkeypatch, capsys):
    pytest.importorskip("faiss")
    assert run(*FOLDERS[command]) == 0
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert summary["neighbors"] == "exact"
    assert "approximate" not in capsys.readouterr().err
    monkeypatch.setattr(_output, "EXACT_ROWS", 59)
    assert run(*FOLDERS[command], "--force") == 0
    summary = json.loads((folder / "out" / "summary.json").read_text())
    assert summary["neighbors"] == "approx"
    assert "Neighbours are approximate" in capsys.readouterr().err
    monkeypatch.setattr(_output, "find_spec", lambda name: None)
    assert run(*FOLDERS[command], "--force") == 0
    assert "demurk[ann]" in capsys.readouterr().err
