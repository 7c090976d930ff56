"""Tests of the MATLAB reader."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import sys

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from demurk.datasets import read_mat

X = np.arange(12.0).reshape(4, 3)
Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
ONE = np.array([[1, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]])
GIVEN = np.array([[1, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1]])


@pytest.fixture
def save(tmp_path):
    def save(name="toy.mat", **variables):
        savemat(tmp_path / name, variables)
        return tmp_path / name

    return save


@pytest.mark.parametrize("data_side", ["rows", "columns"])
@pytest.mark.parametrize("label_side", ["rows", "columns"])
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csc_array])
def test_orientation_is_found_from_the_shapes(save, data_side, label_side, wrap):
    path = save(
        data=wrap(X if data_side == "rows" else X.T),
        target=wrap(Y if label_side == "rows" else Y.T),
    )
    for options in ({}, {"samples": data_side, "label_samples": label_side}):
        toy = read_mat(path, **options)
        found = toy.data.toarray() if wrap is sparse.csc_array else toy.data
        np.testing.assert_array_equal(found, X)
        assert toy.data.dtype == np.float64
        assert toy.target.tolist() == Y.tolist() and toy.target.dtype == np.int8
    assert isinstance(toy.data, sparse.csr_array) == (wrap is sparse.csc_array)
    assert toy.feature_names == ["x0", "x1", "x2"]
    assert toy.target_names == ["0", "1"] and toy.name == "toy"
    assert "candidates" not in toy


def test_square_matrices_take_rows_unless_told(save):
    square = np.arange(16.0).reshape(4, 4)
    labels = np.triu(np.ones((4, 4)))
    path = save(data=square, target=labels)
    toy = read_mat(path)
    np.testing.assert_array_equal(toy.data, square)
    np.testing.assert_array_equal(toy.target, labels)
    turned = read_mat(path, samples="columns", label_samples="columns")
    np.testing.assert_array_equal(turned.data, square.T)
    np.testing.assert_array_equal(turned.target, labels.T)


def test_signed_labels(save):
    toy = read_mat(save(data=X, target=2 * Y - 1))
    assert toy.target.tolist() == Y.tolist()
    partly = Y.copy()
    partly[0] = -1
    toy = read_mat(save(data=X, target=partly))
    assert toy.target.tolist() == partly.tolist()
    unknown = (2.0 * Y) - 1
    unknown[0, 0] = np.nan
    toy = read_mat(save(data=X, target=unknown))
    assert toy.target.tolist() == [[-1, 0], [0, 1], [1, 1], [0, 0]]


def test_partial_labels_have_a_true_class(save):
    for truth in (ONE, ONE.T, 2 * ONE - 1, np.array([[1], [3], [2], [1]])):
        path = save(data=X[:, :2], partial_target=GIVEN.T, target=truth)
        toy = read_mat(path)
        assert toy.target.tolist() == [0, 2, 1, 0]
        assert toy.candidates.tolist() == GIVEN.tolist()
        assert toy.candidates.dtype == np.int8
        assert toy.target_names == ["0", "1", "2"]


def test_partial_multilabel_has_true_label_sets(save):
    truth = GIVEN.copy()
    truth[0] = 0
    toy = read_mat(save(data=X, partial_labels=sparse.csc_array(GIVEN), target=truth))
    assert toy.target.tolist() == truth.tolist() and toy.target.dtype == np.int8
    assert toy.candidates.tolist() == GIVEN.tolist()


def test_candidates_without_truth_and_the_reverse(save):
    toy = read_mat(save(data=X, candidates=GIVEN))
    assert toy.target is None and toy.candidates.tolist() == GIVEN.tolist()
    path = save(data=X, candidates=GIVEN, target=ONE)
    assert read_mat(path, target=False).target is None
    toy = read_mat(path, candidates=False)
    assert toy.target.tolist() == ONE.tolist() and "candidates" not in toy
    toy = read_mat(path, target=False, candidates=False)
    assert toy.target is None and toy.target_names == []


def test_class_vector(save):
    toy = read_mat(save(X=X, y=np.array([[5, 2, 5, 7]])))
    assert toy.target.tolist() == [1, 0, 1, 2] and toy.target_names == ["2", "5", "7"]


def test_named_variables_and_labels(save, tmp_path):
    path = save(train_data=X, train_target=Y, test_data=X[:1], test_target=Y[:1])
    toy = read_mat(path, data="test_data", target="test_target", label_names=["p", "q"])
    assert toy.data.shape == (1, 3) and toy.target_names == ["p", "q"]
    xml = tmp_path / "names.xml"
    xml.write_text("<labels><label name='u'/><label name='v'/></labels>")
    toy = read_mat(path, data="train_data", target="train_target", label_names=xml)
    assert toy.target_names == ["u", "v"]


def test_dense_data_as_sparse(save):
    toy = read_mat(save(data=X.astype(np.uint8), target=Y), sparse_data=True)
    assert isinstance(toy.data, sparse.csr_array) and toy.data.nnz == 11
    np.testing.assert_array_equal(toy.data.toarray(), X)


INFINITE = X.copy()
INFINITE[2, 1] = np.inf
DEFECTS = [
    ({"target": Y}, {}, "has no data under a usual name; pass data=NAME.*target"),
    ({"data": X}, {}, "has no target under a usual name"),
    ({"data": X, "X": X, "target": Y}, {}, "several variables that may be the data"),
    ({"data": X, "target": Y}, {"data": "z"}, "no variable 'z'; it has data"),
    ({"data": X, "target": ONE[:3]}, {}, r"shape \(4, 3\).*\(3, 3\); one side must"),
    ({"data": X, "target": np.ones((5, 3))}, {}, "one side must agree"),
    ({"data": X, "target": Y[:2]}, {}, "one side must agree"),
    ({"data": X, "target": Y}, {"samples": "columns"}, "but the data have 3"),
    ({"data": X, "target": Y}, {"label_samples": "columns"}, "cover 2 samples"),
    ({"data": X, "target": 2 * Y}, {}, "hold 2 at row 0, column 0; they must be 0, 1"),
    ({"data": X, "target": 0.5 * Y}, {}, "hold 0.5 at row 0"),
    ({"data": INFINITE, "target": Y}, {}, "infinite at row 2, column 1"),
    ({"data": X * 1j, "target": Y}, {}, "must be a numeric matrix, got type complex"),
    ({"data": np.array(["ab", "cd"]), "target": Y}, {}, "must be a numeric matrix"),
    ({"data": {"a": X}, "target": Y}, {}, "must be a numeric matrix"),
    ({"data": np.zeros((0, 3)), "target": Y}, {}, "one side must agree"),
    ({"data": X, "target": Y}, {"label_names": ["a"]}, "1 names; .* has 2 labels"),
    ({"data": X, "target": Y}, {"samples": "sideways"}, "samples must be one of"),
    (
        {"data": X, "target": ONE, "candidates": 1 - ONE},
        {},
        "label 0 of row 0 is true but no candidate",
    ),
    ({"data": X, "target": Y, "candidates": GIVEN}, {}, "has 2 labels and the cand"),
    (
        {"data": X, "target": np.array([[0, 1, 2, 3]]), "candidates": GIVEN},
        {},
        "label numbers from 1 to 3",
    ),
]


@pytest.mark.parametrize(("variables", "options", "message"), DEFECTS)
def test_defects(save, variables, options, message):
    path = save("broken.mat", **variables)
    with pytest.raises(ValueError, match=message) as info:
        read_mat(path, **options)
    assert str(info.value).endswith(".")


def test_damaged_files(tmp_path, save):
    path = tmp_path / "noise.mat"
    path.write_bytes(b"no MATLAB file at all, but long enough to look at" * 9)
    with pytest.raises(ValueError, match=r"noise\.mat cannot be read as a MATLAB file"):
        read_mat(path)
    whole = save(data=np.random.RandomState(0).normal(size=(50, 50))).read_bytes()
    path.write_bytes(whole[:1000])
    with pytest.raises(ValueError, match=r"noise\.mat cannot be read as a MATLAB file"):
        read_mat(path)


def header_73():
    """The first 512 bytes of a version 7.3 file."""
    text = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(124)
    return (text + b"\x00\x02IM").ljust(512, b"\0")


def test_version_73_asks_for_h5py(tmp_path, monkeypatch):
    path = tmp_path / "new.mat"
    path.write_bytes(header_73())
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(
        ImportError, match=r"new\.mat is a MATLAB 7.3 file; install h5py"
    ):
        read_mat(path)


def test_version_73_with_h5py(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "new.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["data"] = X.T
        group = file.create_group("target")
        stored = sparse.csc_array(Y)
        group["data"], group["ir"] = stored.data, stored.indices
        group["jc"] = stored.indptr
        group.attrs["MATLAB_sparse"] = len(Y)
    with path.open("r+b") as stream:
        stream.write(header_73())
    toy = read_mat(path)
    np.testing.assert_array_equal(toy.data, X)
    assert toy.target.tolist() == Y.tolist()
