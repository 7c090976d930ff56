"""The written table differs from the original in exactly the decided cells."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pandas as pd
import pytest

from demurk.cli import main
from demurk.datasets import read_table
from demurk.review._ranking import Ranking
from demurk.review._session import Session
from demurk.review._store import Store, store_path

N_ROWS = 40


def features():
    X = np.random.default_rng(0).normal(size=(N_ROWS, 3)).round(3)
    return pd.DataFrame(X, columns=list("abc"))


def truths():
    return np.random.default_rng(1).integers(0, 2, size=(N_ROWS, 2))


def class_numbers(path):
    kind = np.arange(N_ROWS) % 3 + 1
    features().assign(y=kind).to_csv(path / "t.csv", index=False)
    return path / "t.csv", ["--class", "y"]


def yes_and_no(path):
    words = np.array(["No", "Yes"])[truths()]
    words[5, 1] = ""
    frame = features().assign(wet=words[:, 0], dry=words[:, 1])
    frame.to_csv(path / "t.v1.csv", index=False, sep=";")
    return path / "t.v1.csv", ["--labels", "wet,dry"]


def tags(path):
    names = np.array(["wet", "dry"])
    cells = [";".join(names[row == 1]) or "none" for row in truths()]
    features().assign(tags=cells).to_csv(path / "t.tsv", index=False, sep="\t")
    return path / "t.tsv", ["--tags", "tags"]


def parquet(path):
    Y = truths()
    frame = features().assign(**{"label:wet": Y[:, 0], "label:dry": Y[:, 1] == 1})
    frame.to_parquet(path / "t.parquet")
    return path / "t.parquet", []


def json_lines(path):
    frame = features().assign(label=[["x"] if k % 2 else ["y"] for k in range(N_ROWS)])
    frame.to_json(path / "t.jsonl", orient="records", lines=True)
    return path / "t.jsonl", []


def read(path, options):
    names = {"--class": "class_", "--labels": "labels", "--tags": "tags"}
    pairs = dict(zip(options[::2], options[1::2]))
    reading = {names[key]: value for key, value in pairs.items()}
    if "labels" in reading:
        reading["labels"] = reading["labels"].split(",")
    return read_table(path, **reading)


@pytest.mark.parametrize("make", [class_numbers, yes_and_no, tags, parquet, json_lines])
def test_exactly_the_decided_cells_differ(tmp_path, make):
    path, options = make(tmp_path)
    table = read(path, options)
    labels = table.labels
    width = 1 if labels.single else labels.n_labels
    wrong = np.where(labels.observed[:, :width].ravel(), 0.5, np.nan)
    given = labels.values.argmax(axis=1)
    suggested = (given + 1) % labels.n_labels if labels.single else None
    chance = None if suggested is None else np.full(N_ROWS, 0.5)
    ranking = Ranking(np.flatnonzero(~np.isnan(wrong)), wrong, suggested, chance)
    chosen = ranking.order[[2, 9, 17]].tolist()
    with Store(store_path(path)) as store:
        session = Session(table, store, ranking)
        for question in chosen:
            session.decide([(question, "accept", None)])
        session.decide([(int(ranking.order[20]), "keep", None)])
        expected = session.values
    assert main(["apply", str(path), *options]) == 0
    stem = store_path(path).name.removesuffix(".review.sqlite")
    ending = path.name.removeprefix(stem)
    after = read(tmp_path / f"{stem}.reviewed{ending}", options)
    found = np.where(after.labels.observed, after.labels.values, -1)
    np.testing.assert_array_equal(found, expected)
    before = table.frame.astype(object).map(str)
    differs = before != after.frame.astype(object).map(str)
    assert set(np.flatnonzero(differs.any(axis=1))) == {q // width for q in chosen}
    assert set(differs.columns[differs.any()]) <= set(table.form.columns)
    assert differs.to_numpy().sum() == 3
    changes = pd.read_csv(tmp_path / f"{stem}.changes.csv")
    assert changes["what"].value_counts().to_dict() == {"changed": 3, "kept": 1}
