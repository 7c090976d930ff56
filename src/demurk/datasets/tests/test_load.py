"""Tests of the catalogue and of loading by name."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import hashlib
import os
import urllib.error
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils import Bunch

from demurk.datasets import list_datasets, load_dataset, read_arff
from demurk.datasets._catalogue import catalogue

BESIDE = Path(__file__).parents[5] / "shared" / "data"
HOME = Path(os.environ.get("DEMURK_DATA", BESIDE))
needs_data = pytest.mark.skipif(not HOME.is_dir(), reason="no folder with data sets")

FILES = {name for name, entry in catalogue().items() if "sha256" in entry}
READABLE = [name for name in sorted(FILES) if catalogue()[name]["splits"]]


@pytest.fixture(autouse=True)
def no_other_folders(monkeypatch, tmp_path):
    """Only the folders a test names; and no network."""
    monkeypatch.delenv("DEMURK_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", offline)


def offline(**options):
    raise urllib.error.URLError("no network")


def digest(bunch):
    """Digest of the numbers of a data set."""
    found = hashlib.sha256()
    for numbers in (bunch.data, bunch.target, bunch.get("candidates", np.empty(0))):
        parts = [numbers]
        if sparse.issparse(numbers):
            numbers = numbers.tocsr()
            parts = [numbers.data, numbers.indices, numbers.indptr]
        for part in parts:
            kind = np.float64 if part.dtype.kind == "f" else np.int64
            found.update(np.ascontiguousarray(part, dtype=kind).tobytes())
        found.update(str(numbers.shape).encode())
    return found.hexdigest()[:12]


def test_catalogue_is_complete():
    tasks = {"multilabel", "partial_label", "partial_multilabel", "multiclass"}
    for name, entry in catalogue().items():
        assert entry["task"] in tasks and entry["source"]
        assert min(entry[k] for k in ("n_samples", "n_features", "n_labels")) > 1
        for part in entry["splits"].values():
            assert set(part.get("files", ())) <= set(entry.get("sha256", ()))
        if entry["splits"]:
            assert entry["splits"]["all"]["n_samples"] == entry["n_samples"], name
        else:
            assert entry["unreadable"]
    assert len(catalogue()) == 35


@needs_data
@pytest.mark.parametrize("name", READABLE)
def test_known_files(name):
    """Checksums and shapes are verified by the loader; the values here."""
    entry = catalogue()[name]
    bunch = load_dataset(name, data_home=HOME, download=False)
    assert bunch.name == name
    # Keys of results hold this digest instead of the source of the readers: whoever
    # reads other numbers writes the new digest into the catalogue.
    assert digest(bunch) == entry["arrays"]
    assert bunch.data.shape == (entry["n_samples"], entry["n_features"])
    assert len(bunch.feature_names) == entry["n_features"]
    assert len(bunch.target_names) == entry["n_labels"]
    stored = bunch.data.data if sparse.issparse(bunch.data) else bunch.data
    assert bunch.data.dtype == np.float64
    assert np.isnan(stored).sum() == (8 if name == "dermatology" else 0)
    task = entry["task"]
    assert ("candidates" in bunch) == task.startswith("partial")
    labels = bunch.get("candidates", bunch.target)
    if task == "multiclass":
        assert set(bunch.target) == set(range(entry["n_labels"]))
        return
    assert labels.dtype == np.int8 and set(np.unique(labels)) == {0, 1}
    assert labels.shape == (entry["n_samples"], entry["n_labels"])
    assert labels.sum(axis=1).mean() == pytest.approx(entry["cardinality"], abs=6e-5)
    if task == "partial_label":
        assert bunch.target.shape == (entry["n_samples"],)
        assert labels[np.arange(len(labels)), bunch.target].all()
    elif task == "partial_multilabel":
        assert (bunch.target <= labels).all()
        truth = bunch.target.sum(axis=1).mean()
        assert truth == pytest.approx(entry["true_cardinality"], abs=6e-5)


@needs_data
@pytest.mark.parametrize("name", ["emotions", "scene", "birds", "genbase", "medical"])
def test_splits_make_up_the_whole(name):
    parts = [load_dataset(name, split=s, data_home=HOME) for s in ("train", "test")]
    sizes = [catalogue()[name]["splits"][s]["n_samples"] for s in ("train", "test")]
    assert [part.data.shape[0] for part in parts] == sizes
    whole = load_dataset(name, data_home=HOME)
    assert parts[0].target_names == parts[1].target_names == whole.target_names

    def rows(bunch):
        dense = bunch.data.toarray() if sparse.issparse(bunch.data) else bunch.data
        return [r.tobytes() for r in np.hstack([dense, bunch.target])]

    # One row of genbase differs between its files.
    different = set(rows(whole)) ^ set(rows(parts[0]) + rows(parts[1]))
    assert len(different) <= (2 if name == "genbase" else 0)


@needs_data
def test_traps():
    genbase = load_dataset("genbase", data_home=HOME)
    assert "protein" not in genbase.feature_names
    # YES stands first in the header, and few motifs occur per protein.
    assert 0 < genbase.data.mean() < 0.01
    medical = load_dataset("medical", split="train", data_home=HOME)
    assert medical.target_names[0] == "Class-0-593_70"
    slashdot = load_dataset("slashdot", split="train", data_home=HOME)
    assert slashdot.target_names[0] == "Entertainment" and len(slashdot.target) == 1891
    birds = load_dataset("birds", data_home=HOME)
    assert (birds.target.sum(axis=1) == 0).sum() == 294
    location = [j for j, n in enumerate(birds.feature_names) if "location=" in n]
    assert (birds.data[:, location].sum(axis=1) == 1).all() and len(location) == 12
    plain = load_dataset("birds", data_home=HOME, as_number=["location"])
    assert plain.data.shape == (645, 260)
    zoo = load_dataset("zoo", data_home=HOME)
    assert "animal" not in zoo.feature_names and zoo.data.max() == 8
    columns = load_dataset("YeastCC", data_home=HOME, samples="columns")
    rows = load_dataset("YeastCC", data_home=HOME)
    assert (columns.data != rows.data.T).nnz == 0


@needs_data
def test_corel16k001_rows():
    """Its test rows are those of Mulan's test file, with the same label order."""
    folder = HOME / "multilabel" / "corel16k001"
    mulan = read_arff(folder / "Corel16k001-test.arff.gz")
    test = load_dataset("corel16k001", split="test", data_home=HOME)
    np.testing.assert_array_equal(test.data, mulan.data)
    np.testing.assert_array_equal(test.target, mulan.target)
    assert test.target_names == mulan.target_names
    train = load_dataset("corel16k001", split="train", data_home=HOME)
    assert train.data.shape == (5188, 500)
    assert train.target.sum(axis=1).mean() == pytest.approx(3.0852, abs=1e-4)


@needs_data
def test_delicious_labels_by_xml_and_by_position():
    by_name = read_arff(HOME / "multilabel" / "delicious" / "delicious-test.arff.gz")
    by_place = load_dataset("delicious", split="test", data_home=HOME)
    assert by_name.target_names == by_place.target_names
    np.testing.assert_array_equal(by_name.target, by_place.target)


def test_built_in_sets():
    digits = load_dataset("Digits")
    assert digits.data.shape == (1797, 64) and digits.target.shape == (1797,)
    assert digits.target_names == [str(d) for d in range(10)]
    whole = load_dataset("synthetic")
    train = load_dataset("synthetic", split="train")
    test = load_dataset("synthetic", split="test")
    np.testing.assert_array_equal(np.vstack([train.data, test.data]), whole.data)
    assert len(train.target) == 6000 and len(test.target) == 2000
    with pytest.raises(ValueError, match="'digits' has no split 'train'; it has all"):
        load_dataset("digits", split="train")
    with pytest.raises(TypeError, match="takes no options"):
        load_dataset("digits", n_labels=3)


def test_unknown_names_and_unreadable_sets():
    with pytest.raises(
        ValueError, match="no data set 'emotion'; did you mean emotions"
    ):
        load_dataset("emotion")
    with pytest.raises(ValueError, match=r"no data set 'zzzzzz'; did you mean .*scene"):
        load_dataset("zzzzzz")
    with pytest.raises(ValueError, match="'delicious_mil' cannot be loaded: its train"):
        load_dataset("delicious_mil")


def write_emotions(path, n_rows=593, n_labels=6):
    rng = np.random.RandomState(0)
    lines = ["@relation x", *(f"@attribute f{j} numeric" for j in range(72))]
    lines += [f"@attribute l{j} {{0,1}}" for j in range(n_labels)] + ["@data"]
    for _ in range(n_rows):
        labels = rng.randint(0, 2, n_labels).astype(str)
        lines.append(",".join([*rng.normal(size=72).round(3).astype(str), *labels]))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines))


@pytest.mark.parametrize("place", ["multilabel/emotions", "emotions", "."])
@pytest.mark.parametrize("how", ["data_home", "variable", "cache"])
def test_folders(tmp_path, monkeypatch, place, how):
    folder = tmp_path / ("cache/demurk" if how == "cache" else "own")
    write_emotions(folder / place / "emotions.arff")
    if how == "variable":
        monkeypatch.setenv("DEMURK_DATA", str(folder))
    home = folder if how == "data_home" else None
    bunch = load_dataset("emotions", data_home=home, download=False)
    assert bunch.data.shape == (593, 72) and bunch.target.shape == (593, 6)
    record = next(r for r in list_datasets(home) if r["name"] == "emotions")
    assert record["available"] and record["where"] == str(folder / place)


def test_the_first_folder_wins(tmp_path, monkeypatch):
    write_emotions(tmp_path / "a" / "emotions.arff", n_rows=3)
    write_emotions(tmp_path / "b" / "emotions.arff", n_rows=4)
    monkeypatch.setenv("DEMURK_DATA", str(tmp_path / "b"))
    bunch = load_dataset("emotions", data_home=tmp_path / "a", verify=False)
    assert len(bunch.data) == 3


def test_verification(tmp_path):
    write_emotions(tmp_path / "emotions.arff", n_rows=592)
    with pytest.raises(ValueError, match="n_samples = 592 instead of 593"):
        load_dataset("emotions", data_home=tmp_path)
    assert len(load_dataset("emotions", data_home=tmp_path, verify=False).data) == 592
    write_emotions(tmp_path / "emotions.arff", n_labels=7)
    with pytest.raises(ValueError, match="n_features = 73 instead of 72"):
        load_dataset("emotions", data_home=tmp_path)
    write_emotions(tmp_path / "emotions.arff.gz")
    with pytest.raises(ValueError, match=r"its SHA-256 is .* instead of f4216883c0b5"):
        load_dataset("emotions", data_home=tmp_path)
    found = load_dataset("emotions", data_home=tmp_path, verify=False)
    assert found.data.shape == (593, 72)


def test_missing_files_are_explained(tmp_path):
    with pytest.raises(FileNotFoundError) as info:
        load_dataset("scene", data_home=tmp_path / "own", download=False)
    message = str(info.value)
    assert "scene-train.arff.gz and scene-test.arff.gz" in message
    assert str(tmp_path / "own") in message and "cache" in message
    assert "github.com/tsoumakas/mulan" in message and "OpenML has the whole" in message
    assert "\n" not in message and message.endswith(".")
    with pytest.raises(FileNotFoundError, match=r"OpenML failed.*no network"):
        load_dataset("scene")
    with pytest.raises(FileNotFoundError, match=r"in none of the folders \S*; get it"):
        load_dataset("lost")


def test_openml(monkeypatch):
    pd = pytest.importorskip("pandas")
    rng = np.random.RandomState(0)
    asked = {}

    def fetch(data_id, as_frame, parser):
        asked["id"] = data_id
        frame = pd.DataFrame(rng.normal(size=(645, 258)))
        frame["hasSegments"] = pd.Categorical(rng.choice(["0", "1"], 645))
        places = [str(p) for p in range(1, 13)]
        frame["location"] = pd.Categorical(places + list(rng.choice(places, 633)))
        labels = [f"bird {j}" for j in range(19)]
        for name in labels:
            frame[name] = pd.Categorical(rng.choice(["TRUE", "FALSE"], 645))
        return Bunch(frame=frame, target=frame[labels])

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    birds = load_dataset("birds")
    assert asked["id"] == 40588 and birds.name == "birds"
    assert birds.data.shape == (645, 271) and birds.feature_names[-1] == "location=12"
    assert birds.target.shape == (645, 19) and set(np.unique(birds.target)) == {0, 1}
    for options in ({"split": "train"}, {"download": False}, {"as_number": True}):
        with pytest.raises(FileNotFoundError, match="OpenML has the whole of it"):
            load_dataset("birds", **options)


def test_list_datasets():
    records = {record["name"]: record for record in list_datasets()}
    assert set(records) == set(catalogue())
    assert records["emotions"] == {
        "name": "emotions",
        "task": "multilabel",
        "n_samples": 593,
        "n_features": 72,
        "n_labels": 6,
        "splits": ["all", "train", "test"],
        "available": False,
        "where": "OpenML",
    }
    assert records["lost"]["where"] is None and not records["lost"]["available"]
    assert records["synthetic"]["available"]
    assert not records["delicious_mil"]["available"]


@needs_data
def test_everything_readable_is_listed_as_available():
    records = {record["name"]: record for record in list_datasets(HOME)}
    assert {n for n, r in records.items() if r["available"]} == {
        *READABLE,
        "digits",
        "synthetic",
    }


def test_parts_that_do_not_fit_are_not_joined(tmp_path):
    write_emotions(tmp_path / "scene-train.arff", n_rows=2)
    write_emotions(tmp_path / "scene-test.arff", n_rows=3)
    whole = load_dataset("scene", data_home=tmp_path, verify=False)
    assert whole.data.shape == (5, 72) and whole.target.shape == (5, 6)
    write_emotions(tmp_path / "scene-test.arff", n_rows=3, n_labels=7)
    with pytest.raises(ValueError, match="scene-train and scene-test differ in their"):
        load_dataset("scene", data_home=tmp_path, verify=False)
