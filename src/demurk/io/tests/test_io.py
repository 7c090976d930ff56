"""Models are saved whole and loaded without running foreign code."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from demurk import io
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
