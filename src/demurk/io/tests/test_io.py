"""Models are saved whole and loaded without running foreign code."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
import skops.io as skops_io
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder, StandardScaler

from demurk import io
from demurk.annotators import Annotations
from demurk.audit import LabelAudit
from demurk.cli import main
from demurk.datasets import table_features
from demurk.io._trusted import HELPERS, SKLEARN, find_class
from demurk.io.tests.forge import nodes
from demurk.multilabel import MurkyClassifier
from demurk.projection import MDDM


class Foreign(BaseEstimator):
    """An estimator of somebody else."""


@pytest.fixture
def model(rng):
    X = rng.normal(size=(20, 4))
    return make_pipeline(StandardScaler(), MDDM()).fit(X, (X[:, :2] > 0).astype(int))


def test_round_trip_of_a_pipeline(model, tmp_path, rng):
    X = rng.normal(size=(5, 4))
    restored = io.load(io.save(model, tmp_path / "m.skops"))
    np.testing.assert_allclose(restored.transform(X), model.transform(X))


@pytest.mark.parametrize("people", [False, True])
def test_round_trip_of_classes_and_people(people, tmp_path, rng):
    y = rng.randint(3, size=40)
    X = rng.normal(size=(40, 4)) + 2 * np.eye(3, 4)[y]
    if people:
        y = Annotations.from_array(np.stack([y, np.where(X[:, 3] > 0, y, 0)], axis=1))
    audit = LabelAudit("symmetric", n_estimators=5, random_state=0).fit(X, y)
    restored = io.load(io.save(audit, tmp_path / "a.skops"))
    pd.testing.assert_frame_equal(restored.suspects(3), audit.suspects(3))
    model = MurkyClassifier(["rf"], n_estimators=5, random_state=0).fit(X, y)
    restored = io.load(io.save(model, tmp_path / "m.skops"))
    np.testing.assert_array_equal(restored.predict(X), model.predict(X))


def test_nothing_is_overwritten(model, tmp_path):
    path = io.save(model, tmp_path / "m.skops")
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="exists already"):
        io.save(model, path)
    assert path.read_bytes() == before
    io.save(model, path, force=True)


def test_foreign_types_are_refused(tmp_path):
    path = io.save(Foreign(), tmp_path / "m.skops")
    with pytest.raises(ValueError, match=r"Foreign.*only if you trust"):
        io.load(path)


def test_not_a_model_file(tmp_path):
    path = tmp_path / "m.skops"
    path.write_text("hello")
    with pytest.raises(ValueError, match="not a model file"):
        io.load(path)
    with pytest.raises(FileNotFoundError, match="no model file"):
        io.load(tmp_path / "absent.skops")


def test_a_failed_save_leaves_nothing(model, tmp_path, monkeypatch):
    def half_way(model, file):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr("skops.io.dump", half_way)
    with pytest.raises(OSError, match="disk full"):
        io.save(model, tmp_path / "m.skops")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sorted(HELPERS | SKLEARN))
def test_every_name_of_the_list_is_a_class(name):
    module, _, kind = name.rpartition(".")
    assert find_class(module, kind).__name__ == kind


def test_the_helpers_of_the_list_are_those_that_are_held(rng, tmp_path):
    # The common tests load every estimator of the registry, with few members.
    X = rng.normal(size=(60, 4))
    Y = (X[:, :2] + rng.normal(size=(60, 2)) > 0).astype(int)
    members = ["full", LogisticRegression()]
    model = MurkyClassifier(members, n_estimators=3, random_state=0).fit(X, Y)
    audit = LabelAudit(n_estimators=3, random_state=0).fit(X, Y)
    frame = pd.DataFrame(X).add_prefix("x").assign(note="a b c d".split() * 15)
    table = table_features(categorical=["note"]).fit(frame)
    # One class per sample, once from one person and once from several.
    one = MurkyClassifier(["rf"], n_estimators=3, random_state=0).fit(X, Y[:, 0])
    people = LabelAudit(n_estimators=3, random_state=0).fit(
        X, Annotations.from_array(Y)
    )
    path = io.save([model, audit, table, one, people], tmp_path / "m.skops")
    restored = io.load(path)
    np.testing.assert_array_equal(restored[2].transform(frame), table.transform(frame))
    np.testing.assert_array_equal(restored[0].predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(restored[1].scores_, audit.scores_)
    with zipfile.ZipFile(path) as archive:
        schema = json.loads(archive.read("schema.json"))
    held = {f"{n['__module__']}.{n['__class__']}" for n in nodes(schema, "ObjectNode")}
    assert held >= HELPERS


def test_saved_forests_are_of_the_order_of_the_table(rng, tmp_path):
    X = rng.normal(size=(100, 72))
    sizes = []
    for n_labels in (6, 60):
        Y = (X[:, :1] + rng.normal(size=(100, n_labels)) > 0).astype(int)
        model = MurkyClassifier("trees", random_state=0).fit(X, Y)
        path = io.save(model, tmp_path / f"{n_labels}.skops")
        np.testing.assert_array_equal(
            io.load(path).predict_proba(X), model.predict_proba(X)
        )
        sizes.append(path.stat().st_size)
    assert sizes[0] < 10 * X.nbytes
    assert sizes[1] < 1.5 * sizes[0]


def test_preparation_of_scikit_learn(rng, tmp_path):
    X = pd.DataFrame(rng.normal(size=(30, 3)), columns=list("abc"))
    X["d"] = np.resize(["x", "y", "z"], 30)
    columns = make_column_transformer(
        (StandardScaler(), ["a", "b"]),
        (OrdinalEncoder(), ["d"]),
        remainder="passthrough",
    )
    model = make_pipeline(columns, MDDM()).fit(X, rng.randint(2, size=(30, 2)))
    restored = io.load(io.save(model, tmp_path / "m.skops"))
    np.testing.assert_array_equal(restored.transform(X), model.transform(X))


def test_trust_makes_a_class_loadable_but_no_function(rng, tmp_path):
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 2
    path = io.save(KNeighborsClassifier(algorithm="brute").fit(X, y), tmp_path / "k")
    name = "sklearn.neighbors._classification.KNeighborsClassifier"
    with pytest.raises(ValueError, match=f"trusted=.'{name}'"):
        io.load(path)
    assert io.load(path, trusted=[name]).predict(X).shape == (20,)
    assert io.load(path, trusted=name).predict(X).shape == (20,)

    path = io.save(SelectKBest(k=1).fit(X, y), tmp_path / "s")
    name = "sklearn.feature_selection._univariate_selection."
    with pytest.raises(ValueError, match=r"f_classif.*no functions"):
        io.load(path, trusted=[f"{name}SelectKBest", f"{name}f_classif"])


def test_the_command_refuses_in_one_line(model, tmp_path, capsys):
    path = io.save(model, tmp_path / "m.skops")
    path.write_bytes(path.read_bytes()[:-40])
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n")
    output = str(tmp_path / "out.csv")
    assert main(["predict", str(path), str(table), "--output", output]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "is not a model file or is damaged" in line


def test_nothing_but_the_version_is_required_of_the_format(model, tmp_path):
    # Files of skops itself, indented and not compressed, are read as well.
    path = tmp_path / "m.skops"
    skops_io.dump(model, path)
    assert io.load(path)[-1].components_.shape == model[-1].components_.shape
