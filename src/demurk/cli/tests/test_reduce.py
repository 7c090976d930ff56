"""``demurk reduce`` and what one of several commands refuses."""

import numpy as np
import pandas as pd
import pytest

from demurk.cli import main
from demurk.review.tests.cases import flowers_file, open_session, pets_file

CLASS = ["--class", "species"]


def reduced(path, *options):
    out = path.with_name("out")
    assert main(["reduce", str(path), *options, "-o", str(out), "--force"]) == 0
    return pd.read_csv(out / "labels.csv", keep_default_na=False)


def test_candidates_leave_one_class(tmp_path, capsys):
    path, truth = pets_file(tmp_path)
    table = reduced(path, "--candidates", "pet")
    names = ["cat", "dog", "lynx"]
    given = table[names].to_numpy() > 0
    cleaned = table[[f"{name}: cleaned" for name in names]].to_numpy()
    assert (cleaned.sum(axis=1) == 1).all()
    told = given.any(axis=1)
    assert (cleaned <= given)[told].all() and not told.all()
    assert (np.array(names)[cleaned.argmax(axis=1)] == truth).mean() > 0.9
    ruled_out = given.sum() - told.sum()
    said = capsys.readouterr().out
    assert f"by CENDA. {ruled_out} of {given.sum()} candidates ruled out" in said


def test_what_a_person_decided_stays(tmp_path):
    path, truth = flowers_file(tmp_path)
    session = open_session(path, truth, reading={"class_": "species"})
    # Against all features: the person says that this iris is a rose.
    assert truth[0] == "iris"
    session.decide([(0, "choose", "rose")])
    session.store.close()
    table = reduced(path, *CLASS)
    assert table.loc[0, ["given", "cleaned"]].tolist() == ["rose", "rose"]
    assert table.loc[0, "rose: soft"] == 1


@pytest.mark.parametrize("command", ["clean", "map", "reduce", "predict", "review"])
def test_one_class_can_be_compared_with_nothing(tmp_path, capsys, command):
    path, _ = flowers_file(tmp_path)
    frame = pd.read_csv(path, keep_default_na=False)
    frame["species"] = np.where(frame["species"] == "", "", "iris")
    frame.to_csv(path, index=False)
    more = {"predict": ["-o", "o.csv"], "review": ["--no-open"]}
    assert main([command, str(path), *CLASS, *more.get(command, [])]) == 2
    said = capsys.readouterr().err
    assert f"Every labelled row of {path} is 'iris'" in said
    assert sorted(p.name for p in tmp_path.iterdir()) == [path.name]


def test_a_map_needs_more_than_three_rows(tmp_path, capsys):
    path, _ = flowers_file(tmp_path)
    pd.read_csv(path)[:3].to_csv(path, index=False)
    assert main(["map", str(path), *CLASS, "-o", str(tmp_path / "m")]) == 2
    assert f"{path} has 3 rows, but a map needs 4 or more." in capsys.readouterr().err
