"""``demurk map``: a page, a picture and a summary from a file."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import demurk.cli._map as module
from demurk.audit import LabelAudit
from demurk.cli import main
from demurk.cli._map import MAPS, map_file
from demurk.datasets import read_table

# Shown on the page, and no feature.
TITLE = {"text": "title", "drop": "title"}


@pytest.fixture
def songs(tmp_path):
    """A table with names, a gap, a text column, and labels that are partly hidden."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(80, 4))
    Y = (X[:, :2] + 0.3 * rng.normal(size=(80, 2)) > 0).astype(int)
    frame = pd.DataFrame(X, columns=["tempo", "loudness", "key", "length"])
    frame.loc[3, "key"] = np.nan
    frame["title"] = [f"song, {i}" for i in range(80)]
    for j, name in enumerate(["happy", "fast"]):
        frame[f"label:{name}"] = Y[:, j].astype(object)
        frame.loc[40:, f"label:{name}"] = ""
    path = tmp_path / "songs.csv"
    frame.to_csv(path, index=False)
    return path


def test_page_picture_and_summary(songs, tmp_path, capsys):
    out = tmp_path / "out"
    map_file(str(songs), out, methods=["pca", "SLE-ML", "NMLSDR"], **TITLE)
    assert sorted(path.name for path in out.iterdir()) == [
        "map.html",
        "map.png",
        "summary.json",
    ]
    summary = json.loads((out / "summary.json").read_text())
    weights = [f"SLE-ML {w}" for w in ("1", "0.9", "0.5", "0.1")]
    assert summary["maps"] == ["PCA", *weights, "NMLSDR"]
    assert summary["n_samples"] == 80 and summary["n_features"] == 4
    assert summary["given"] == 80
    page = (out / "map.html").read_text()
    assert "<title>songs</title>" in page
    assert (out / "map.png").read_bytes()[:4] == b"\x89PNG"
    shown = capsys.readouterr()
    assert f"{summary['listed']} of 80 entries" in shown.out
    assert "SLE-ML (" in shown.err


def test_what_the_page_gets(songs, tmp_path, monkeypatch):
    seen = {}

    def save_page(path, *args, **options):
        path.write_text("a page")
        seen.update(options)

    monkeypatch.setattr(module, "save_page", save_page)
    map_file(str(songs), tmp_path / "out", methods=["MDDM"], **TITLE)
    assert seen["samples"][:2] == ["song, 0", "song, 1"]
    # What is suspect to the audit, and to nothing else, is marked.
    table = read_table(songs, **{key: [value] for key, value in TITLE.items()})
    audit = LabelAudit(random_state=0).fit(table.features, table.y)
    given = table.y.to_numpy()
    changed = seen["cleaned"] != given
    assert (
        changed.sum()
        == json.loads((tmp_path / "out" / "summary.json").read_text())["listed"]
    )
    assert not changed[given == -1].any()
    if audit.estimated_:
        floor = np.nanmin(audit.scores_[changed])
        assert floor >= np.nanmax(np.where(changed, -np.inf, audit.scores_)) - 1e-12
    map_file(str(songs), tmp_path / "out", drop=["title"], clean=False, force=True)
    assert seen["cleaned"] is None and seen["samples"][:2] == ["row 1", "row 2"]


def test_nothing_is_overwritten_or_half_written(songs, tmp_path, monkeypatch):
    out = tmp_path / "out"
    out.mkdir()
    (out / "map.png").write_text("mine")
    with pytest.raises(FileExistsError, match="--force"):
        map_file(str(songs), out, drop=["title"])
    assert [path.name for path in out.iterdir()] == ["map.png"]

    class Unwritable:
        def savefig(self, path, **_):
            path.write_text("half")
            raise OSError("disk full")

    monkeypatch.setattr(module, "plot_embeddings", lambda *_, **__: Unwritable())
    with pytest.raises(OSError, match="disk full"):
        map_file(str(songs), out, methods=["PCA"], drop=["title"], force=True)
    assert (out / "map.png").read_text() == "mine"
    assert [path.name for path in out.iterdir()] == ["map.png"]
    assert [path.name for path in tmp_path.iterdir() if path.name[0] == "."] == []


def test_one_class_per_sample_by_name(tmp_path):
    map_file("digits", tmp_path, methods=["MDDM", "PCA"])
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["n_labels"] == 10 and summary["maps"] == ["MDDM", "PCA"]
    assert summary["listed"] == summary["suspect_samples"] < 50


@pytest.mark.parametrize("name", MAPS)
def test_every_map_takes_sparse_features(name):
    rng = np.random.RandomState(0)
    X = csr_array(rng.poisson(0.5, size=(60, 12)).astype(float))
    y = rng.randint(2, size=(60, 3))
    maps = MAPS[name](X, y, {"n_neighbors": 5}, (0.5, 0.9))
    assert all(Z.shape == (60, 2) for Z in maps.values())
    assert len(maps) == (2 if name == "SLE-ML" else 1)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"methods": ["t-SNE"]}, "choose from PCA"),
        ({"text": "composer"}, "composer"),
        ({"drop": ["title"], "weights": [2.0]}, "from 0 to 1"),
    ],
)
def test_errors_come_before_any_file(songs, tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        map_file(str(songs), tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_text_needs_a_table(tmp_path):
    path = tmp_path / "toy.npz"
    np.savez(path, X=np.eye(8), Y=np.eye(8, 2, dtype=int))
    with pytest.raises(ValueError, match="--text"):
        map_file(str(path), tmp_path / "out", text="title")


def test_weights_are_numbers(songs, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["map", str(songs), "-o", str(out), "--weights", "a,b"]) == 2
    assert "--weights is 'a,b'; give numbers" in capsys.readouterr().err
    assert not out.exists()
