"""``demurk predict --dask`` on a folder of Parquet files."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pandas as pd
import pytest

from demurk.cli import _predict_dask, main

distributed = pytest.importorskip(
    "distributed", reason="needs Dask: pip install demurk[dask]"
)

N_ROWS = 120


@pytest.fixture(scope="module")
def address():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A model, and a folder of two files with three row groups."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((N_ROWS, 3)), columns=list("abc"))
    frame.insert(0, "title", [f"song {i}" for i in range(N_ROWS)])
    frame["kind"] = rng.choice(["rock", "pop"], N_ROWS)
    hidden = np.arange(N_ROWS) < 5
    labelled = frame.assign(**{"label:x": (frame.a > 0) * 1})
    labelled["label:y"] = np.where(hidden, "", (frame.b > 0).astype(int))
    labelled.to_csv("train.csv", index=False)
    frame.to_csv("new.csv", index=False)
    (tmp_path / "new").mkdir()
    frame[:80].to_parquet("new/1.parquet", row_group_size=50, index=False)
    frame[80:].to_parquet("new/2.parquet", index=False)
    main(["predict", "train.csv", "-o", "model.csv", "--method", "MLkNN"])
    return tmp_path


def test_parts_are_the_predictions_of_the_whole(folder, address):
    assert main(["predict", "model.skops", "new.csv", "-o", "whole.csv"]) == 0
    call = ["predict", "model.skops", "new", "-o", "parts", "--dask", address]
    assert main(call) == 0
    parts = sorted((folder / "parts").iterdir())
    assert [path.name for path in parts] == [f"part-0000{i}.parquet" for i in range(3)]
    assert [len(pd.read_parquet(path)) for path in parts] == [50, 30, 40]
    found = pd.concat(map(pd.read_parquet, parts), ignore_index=True)
    expected = pd.read_csv("whole.csv")
    pd.testing.assert_frame_equal(
        found, expected, check_dtype=False, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (["new", "-o", "parts"], "--dask predicts with a model that is trained"),
        (["model.skops", "none", "-o", "parts"], "There is no Parquet file at none"),
        (["model.skops", "new"], "--dask writes a folder of Parquet"),
    ],
)
def test_bad_calls(folder, address, capsys, call, sentence):
    assert main(["predict", *call, "--dask", address]) != 0
    assert sentence in " ".join(capsys.readouterr().err.split())
    assert not (folder / "parts").exists()


def test_no_scheduler(folder, capsys, monkeypatch):
    monkeypatch.setattr(_predict_dask, "WAIT", 1)
    call = ["predict", "model.skops", "new", "-o", "parts"]
    assert main([*call, "--dask", "tcp://127.0.0.1:9"]) != 0
    shown = " ".join(capsys.readouterr().err.split())
    assert "No Dask scheduler answers at tcp://127.0.0.1:9" in shown
    assert not (folder / "parts").exists()
