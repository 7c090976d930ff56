"""The command, run as a user runs it."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from demurk.cli import main
from demurk.datasets import make_multilabel_blocks
from demurk.labels import flip_labels, hide_rows


@pytest.fixture
def songs(tmp_path):
    """A table with names, missing values, and labels that are partly hidden."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(80, 5))
    Y = (X[:, :2] + 0.3 * rng.normal(size=(80, 2)) > 0).astype(int)
    frame = pd.DataFrame(X, columns=["tempo", "loudness", "key", "mode", "length"])
    frame.loc[3, "key"] = np.nan
    for j, name in enumerate(["happy", "fast"]):
        frame[f"label:{name}"] = Y[:, j].astype(object)
        frame.loc[40:, f"label:{name}"] = ""
    path = tmp_path / "songs.csv"
    frame.to_csv(path, index=False)
    return path


def run(*arguments):
    return main([str(argument) for argument in arguments])


def test_the_demo_tells_how_it_went(tmp_path, monkeypatch, capsys):
    import demurk.cli._demo as demo

    monkeypatch.setattr(demo, "N_LABELED", 300)
    out = tmp_path / "out"
    assert run("demo", "--output", out) == 0
    shown = capsys.readouterr().out
    assert "got every tenth one wrong: 30 of them" in shown
    assert "In truth 30 are wrong" in shown and "random forest" in shown
    assert shown.rstrip().endswith(
        f"Now open {out / 'clean' / 'audit.html'} in a browser."
    )
    table = pd.read_csv(out / "demo.csv")
    assert table.shape == (1797, 65) and table["class"].notna().sum() == 300
    assert len(pd.read_csv(out / "predictions.csv")) == 1797
    assert (out / "map" / "map.html").is_file()
    assert run("demo", "--output", out) == 2
    assert "exists already" in capsys.readouterr().err


def test_reduce_then_predict(songs, tmp_path, capsys):
    out = tmp_path / "out"
    assert run("reduce", songs, "-o", out, "-d", 2, "-k", 5) == 0
    embedding = pd.read_csv(out / "embedding.csv")
    assert list(embedding) == ["row", "component_1", "component_2"]
    assert len(embedding) == 80
    labels = pd.read_csv(out / "labels.csv")
    assert set(labels["happy: cleaned"]) <= {0, 1}
    assert labels["happy"].eq(-1).sum() == 40
    summary = json.loads((out / "summary.json").read_text())
    assert summary["completed"] == 80 and summary["given"] == 80
    # New rows: other columns and another order of columns do not matter.
    new = pd.read_csv(songs)[["mode", "key", "tempo", "loudness", "length"]].dropna()
    new.insert(0, "title", "a song")
    new.to_csv(tmp_path / "new.csv", index=False)
    predictions = tmp_path / "predictions.csv"
    code = run("predict", out / "model.skops", tmp_path / "new.csv", "-o", predictions)
    assert code == 0
    table = pd.read_csv(predictions)
    names = ["row", "happy", "fast", "happy: probability", "fast: probability"]
    assert list(table) == names
    truth = (new["tempo"].to_numpy() > 0).astype(int)
    assert (table["happy"].to_numpy() == truth).mean() > 0.8


def test_reduce_one_class_per_sample(tmp_path):
    out = tmp_path / "out"
    assert run("reduce", "digits", "-o", out, "-d", 3, "--method", "MDDM") == 0
    labels = pd.read_csv(out / "labels.csv")
    assert labels["given"].equals(labels["given"])
    assert (labels["given"] == labels["cleaned"]).mean() > 0.5


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["reduce", "absent.csv"], "neither a file nor a known data set"),
        (["reduce", "SONGS", "--method", "t-SNE"], "choose one of NMLSDR"),
        (["reduce", "SONGS", "--labels", "happy,sad"], "no column"),
        (["reduce", "SONGS", "--components", "0"], "'--components'"),
        (["predict", "absent.skops", "SONGS"], "no model file"),
        (["predict", "SONGS", "SONGS"], "not a model file"),
        (["frobnicate"], "frobnicate"),
    ],
)
def test_errors_are_one_sentence_and_code_2(
    arguments, message, songs, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    arguments = [songs if a == "SONGS" else a for a in arguments]
    before = sorted(tmp_path.rglob("*"))
    assert run(*arguments) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_map(songs, tmp_path):
    out = tmp_path / "map"
    assert run("map", songs, "-o", out, "-k", 5, "--methods", "PCA,MDDM") == 0
    assert (out / "map.html").stat().st_size > 100_000
    assert json.loads((out / "summary.json").read_text())["maps"] == ["PCA", "MDDM"]


def test_text_column_is_used_or_left_out(songs, capsys, tmp_path):
    frame = pd.read_csv(songs)
    frame["title"] = [f"a {'slow' if t < 0 else 'quick'} song" for t in frame["tempo"]]
    frame.to_csv(songs, index=False)
    for folder, options, size in (("a", [], 1), ("b", ["--drop", "title"], 0)):
        assert run("reduce", songs, "-o", tmp_path / folder, *options) == 0
        summary = json.loads((tmp_path / folder / "summary.json").read_text())
        assert summary["n_features"] == 5 + size
    assert "title: left out, as you said" in capsys.readouterr().err


def test_debug_shows_the_traceback():
    with pytest.raises(FileNotFoundError):
        run("--debug", "reduce", "absent.csv")


def test_lists(capsys):
    assert run("methods") == 0
    assert "SemiSupervisedMLkNN" in capsys.readouterr().out
    assert run("datasets") == 0
    assert "emotions" in capsys.readouterr().out
    assert run("--version") == 0


def test_progress_is_plain_lines_off_a_terminal(songs, tmp_path, capsys):
    run("reduce", songs, "-o", tmp_path / "out", "-k", 5)
    lines = capsys.readouterr().err.splitlines()
    assert any(line.startswith("NMLSDR: neighbour search (") for line in lines)


def test_program_is_installed():
    command = [sys.executable, "-m", "demurk.cli", "methods"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "NMLSDR" in result.stdout


def test_mulan_file_by_path(tmp_path):
    toy = make_multilabel_blocks(120, random_state=0)
    murky = hide_rows(flip_labels(toy.target, random_state=0).labels, 0.5).labels
    np.savez(tmp_path / "toy.npz", X=toy.data, Y=murky)
    assert run("reduce", tmp_path / "toy.npz", "-o", tmp_path / "out", "-d", 3) == 0
    assert pd.read_csv(tmp_path / "out" / "embedding.csv").shape == (120, 4)
