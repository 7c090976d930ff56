"""Tests of the MATLAB reader."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import struct
import sys
import zlib

import numpy as np
import pytest
from scipy import sparse
from scipy.io import loadmat, savemat

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


# Files written by hand, as the format describes it

TYPES = {"i1": 1, "u1": 2, "i2": 3, "u2": 4, "i4": 5, "u4": 6, "f4": 7, "f8": 9}


def element(kind, data, order="<"):
    return struct.pack(order + "II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def numbers(values, dtype, order="<"):
    return element(TYPES[dtype], np.asarray(values, order + dtype).tobytes("F"), order)


def variable(name, shape, *parts, code=6, order="<", sizes="i4"):
    head = numbers([code, 0], "u4", order) + numbers(shape, sizes, order)
    return element(14, head + element(1, name.encode(), order) + b"".join(parts), order)


def mat_file(*variables, order="<"):
    head = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack(order + "H", 0x0100)
    return head + (b"IM" if order == "<" else b"MI") + b"".join(variables)


TARGET = variable("target", Y.shape, numbers(Y, "u1"))


def sparse_data(rows, starts, shape=(4, 3), n_values=3):
    parts = (rows, "i4"), (starts, "i4"), (np.arange(1.0, 1 + n_values), "f8")
    return variable("data", shape, *(numbers(*part) for part in parts), code=5)


@pytest.mark.parametrize("order", "<>")
def test_files_of_both_byte_orders_written_by_hand(tmp_path, order):
    path = tmp_path / "hand.mat"
    data = variable("data", X.shape, numbers(X, "i2", order), order=order)
    # Up to four bytes stand in the head of an element, which is turned with it.
    small = struct.pack(order + "I", 3 << 16 | 1) + b"abc\0"
    name = numbers([6, 0], "u4", order) + numbers([1, 1], "i4", order) + small
    more = element(14, name + numbers([5.0], "f8", order), order)
    target = variable("target", Y.shape, numbers(Y, "u1", order), order=order)
    path.write_bytes(mat_file(data, target, more, order=order))
    toy = read_mat(path)
    np.testing.assert_array_equal(toy.data, X)
    assert toy.target.tolist() == Y.tolist()
    assert loadmat(path)["abc"] == 5


@pytest.mark.parametrize("options", [{}, {"do_compression": True}, {"format": "4"}])
@pytest.mark.parametrize("kind", ["dense", "sparse", "logical"])
def test_variables_are_those_of_scipy(tmp_path, rng, kind, options):
    path = tmp_path / "any.mat"
    for dtype in ("f8", "f4", "i4", "i2", "u2", "u1", "i1", "u4", "i8", "u8"):
        if options.get("format") and dtype in ("i1", "u4", "i8", "u8"):
            continue
        values = rng.randint(0, 100, (6, 3)).astype(dtype)
        if kind == "sparse":
            values = sparse.csc_array((values * (values > 50)).astype(np.float64))
        elif kind == "logical":
            values = values > 50
        savemat(path, {"X": values, "y": np.arange(6)[:, None]}, **options)
        found, expected = read_mat(path).data, loadmat(path)["X"]
        if kind == "sparse":
            found, expected = found.toarray(), expected.toarray()
        np.testing.assert_array_equal(found, expected)


def packed(content):
    content = zlib.compress(content)
    return struct.pack("<II", 15, len(content)) + content


def nested_cells(depth):
    inside = variable("", (1, 1), numbers([1.0], "f8"))
    head = variable("", (1, 1), code=1)[8:]
    heads, size = [], len(inside)
    for _ in range(depth):
        heads.append(struct.pack("<II", 14, len(head) + size) + head)
        size += len(heads[-1])
    return variable("cells", (1, 1), *heads[::-1], inside, code=1)


def test_what_is_not_asked_for_is_not_read(tmp_path):
    """Cells nested 20,000 deep ended the interpreter."""
    path = tmp_path / "deep.mat"
    data = variable("data", X.shape, numbers(X, "f8"))
    for cells in (nested_cells(20_000), packed(nested_cells(20_000))):
        path.write_bytes(mat_file(data, TARGET, cells))
        np.testing.assert_array_equal(read_mat(path).data, X)
    with pytest.raises(ValueError, match="must be a numeric matrix, got type cell"):
        read_mat(path, data="cells")


WRONG = {
    "row too large": (sparse_data([0, 4, 1], [0, 1, 2, 3]), "is not from 0 to 3"),
    "row negative": (sparse_data([0, -1, 1], [0, 1, 2, 3]), "is not from 0 to 3"),
    "columns fall": (sparse_data([0, 1, 2], [0, 2, 1, 3]), "not where it says"),
    "first column": (sparse_data([0, 1, 2], [1, 1, 2, 3]), "not where it says"),
    "columns missing": (sparse_data([0, 1, 2], [0, 1, 3]), "not where it says"),
    "too few": (sparse_data([0, 1, 2], [0, 1, 2, 9]), "fewer values"),
    "too few values": (sparse_data([0, 1, 2], [0, 1, 2, 3], n_values=2), "fewer"),
    "rows declared": (
        sparse_data([0, 1, 2], [0, 1, 2, 3], (2**31 - 1, 3)),
        "2.15e+09 rows and columns by its highest index",
    ),
    "large": (
        variable("data", (2**31 - 1, 2**31 - 1), numbers(X, "f8")),
        "would be 4.61e+18 numbers",
    ),
    "negative": (variable("data", (-4, -3), numbers(X, "f8")), "the sizes (-4, -3)"),
    "no sizes": (
        variable("data", (4, np.nan), numbers(X, "f8"), sizes="f4"),
        "the sizes of a variable are no integers",
    ),
    "wrong size": (variable("data", (4, 4), numbers(X, "f8")), "another size than"),
    "no class": (variable("data", (4, 3), numbers(X, "f8"), code=99), "unknown class"),
    "no type": (variable("data", (4, 3), element(8, b"")), "the unknown type 8"),
    "no numbers": (variable("data", (4, 3)), "ends inside an element"),
    "element": (element(9, b"12345678"), "an element of the unknown type 9"),
    "no matrix": (packed(element(9, b"12345678")), "that is no matrix"),
    "twice": (2 * variable("data", (4, 3), numbers(X, "f8")), "two variables 'data'"),
    "too long": (struct.pack("<II", 14, 2**32 - 1), "longer than the file"),
}


@pytest.mark.parametrize("name", WRONG)
def test_structure_is_checked_before_it_is_believed(tmp_path, name):
    content, message = WRONG[name]
    path = tmp_path / "wrong.mat"
    path.write_bytes(mat_file(TARGET, content))
    with pytest.raises(ValueError) as caught:
        read_mat(path)
    found = str(caught.value)
    assert message in found and str(path) in found
    assert found.endswith(".") and "\n" not in found and len(found) < 400


def test_compressed_data_may_expand_up_to_a_limit(tmp_path, monkeypatch):
    from demurk.datasets import _room

    path = tmp_path / "bomb.mat"
    zeros = variable("data", (4, 2**18), numbers(np.zeros((4, 2**18)), "f8"))
    path.write_bytes(mat_file(packed(TARGET), packed(zeros)))
    assert read_mat(path).data.shape == (4, 2**18)
    monkeypatch.setattr(_room, "ROOM", 2**20)
    with pytest.raises(ValueError, match="expands to more than"):
        read_mat(path)
    # A variable that nobody asks for is not unpacked.
    data = variable("X", X.shape, numbers(X, "f8"))
    path.write_bytes(mat_file(TARGET, data, packed(zeros)))
    assert read_mat(path, data="X").data.shape == X.shape


def test_compressed_data_that_are_cut_off(tmp_path):
    path = tmp_path / "cut.mat"
    whole = variable("data", X.shape, numbers(X, "f8"))
    for cut in (zlib.compress(whole)[:-6], b"no zlib data"):
        element = struct.pack("<II", 15, len(cut)) + cut
        path.write_bytes(mat_file(TARGET, element))
        with pytest.raises(ValueError, match="cannot be read as a MATLAB file"):
            read_mat(path)


def version_4(name, values, code=0, shape=None):
    head = struct.pack("<5i", code, *(shape or values.shape), 0, len(name) + 1)
    return head + name.encode() + b"\0" + values.astype("<f8").tobytes("F")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (version_4("data", X, shape=(4, 2**30)), "longer than the file"),
        (version_4("data", X, shape=(-4, 3)), "the sizes (-4, 3)"),
        (version_4("data", X, code=90), "an unknown type"),
        (version_4("data", X)[:15], "ends inside the head"),
        (version_4("data", np.array([[1, 9, 1], [2, 2, 0.0]]), 2), "out of range"),
        (version_4("data", np.array([[0, 1, 1], [2, 2, 0.0]]), 2), "out of range"),
        (version_4("data", np.array([[0.5, 1, 1], [2, 2, 0]]), 2), "no integers"),
        (version_4("data", np.array([[2.0**40, 1, 0]]), 2), "out of range"),
        (version_4("data", np.array([[2.0**31, 1, 0]]), 2), "by its highest index"),
        (version_4("data", np.ones((2, 2)), 2), "three columns"),
    ],
)
def test_version_4_is_checked_too(tmp_path, content, message):
    path = tmp_path / "old.mat"
    path.write_bytes(version_4("target", Y.astype(float)) + content)
    with pytest.raises(ValueError) as caught:
        read_mat(path)
    assert message in str(caught.value) and str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("import os; os.abort()", "its reader ended with code"),
        ("import time; time.sleep(60)", "its reader took more than 1 seconds"),
        ("raise OSError('damaged')", "its reader ended with code 1"),
    ],
)
def test_version_73_may_end_its_reader(tmp_path, monkeypatch, module, message):
    """A crash inside the HDF5 library is a sentence, too."""
    from demurk.datasets import _hdf5

    monkeypatch.setattr(_hdf5, "_SECONDS", 1)
    (tmp_path / "h5py.py").write_text(module)
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "new.mat"
    path.write_bytes(header_73())
    with pytest.raises(ValueError, match=message) as caught:
        read_mat(path)
    assert str(caught.value).endswith(".") and str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "message"), [([0, 9], "from 0 to 3"), ([0, -1], "from 0 to 3")]
)
def test_version_73_indices_are_checked(tmp_path, rows, message):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "new.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["target"] = Y.T
        group = file.create_group("data")
        group["data"], group["ir"], group["jc"] = [1.0, 2.0], rows, [0, 1, 2]
        group.attrs["MATLAB_sparse"] = 4
        file["name"] = "text"
    with path.open("r+b") as stream:
        stream.write(header_73())
    with pytest.raises(ValueError, match=message):
        read_mat(path)
    with pytest.raises(ValueError, match="must be a numeric matrix"):
        read_mat(path, data="name")


def test_version_73_sizes_are_believed_up_to_a_limit(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "new.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["target"] = Y.T
        file.create_dataset("data", (4, 2**40), "f8", chunks=(4, 1024))
    with path.open("r+b") as stream:
        stream.write(header_73())
    with pytest.raises(ValueError, match="its reader ended with code"):
        read_mat(path)
