"""Tests of the libsvm and NumPy readers, and of the choice by file name."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import gzip
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import savemat

from demurk.datasets import read_dataset, read_libsvm, read_npz

LIBSVM = "2,7 1:0.5 3:1 # comment\n\n7 2:-4e1\n 1:2\n"


@pytest.fixture
def write(tmp_path):
    def write(text, name="toy.svm"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return write


def test_libsvm(write):
    toy = read_libsvm(write(LIBSVM))
    assert isinstance(toy.data, sparse.csr_array) and toy.data.dtype == np.float64
    np.testing.assert_array_equal(
        toy.data.toarray(), [[0.5, 0, 1], [0, -40, 0], [2, 0, 0]]
    )
    assert toy.target.tolist() == [[1, 1], [0, 1], [0, 0]]
    assert toy.target.dtype == np.int8
    assert toy.target_names == ["2", "7"] and toy.feature_names == ["x0", "x1", "x2"]
    assert toy.name == "toy"


def test_libsvm_options(write, tmp_path):
    path = write("-1 0:1\n1 1:2\n-1 0:3\n")
    toy = read_libsvm(path, multilabel=False, n_features=5)
    assert toy.target.tolist() == [0, 1, 0] and toy.target_names == ["-1", "1"]
    assert toy.data.shape == (3, 5)
    zipped = tmp_path / "toy.svm.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    assert read_libsvm(zipped).target.tolist() == [[1, 0], [0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no rows"),
        ("1 1:x\n", "cannot be read as libsvm text"),
        ("1 1:1 1:2\n", "cannot be read as libsvm text"),
        ("1 2:1 1:2\n", "cannot be read as libsvm text"),
        ("1 5\n", "cannot be read as libsvm text"),
        ("a 1:1\n", "cannot be read as libsvm text"),
        ("1 99999999999999999999:1\n", "cannot be read as libsvm text"),
        ("1 2000000000:1\n", "features by its highest index; pass n_features"),
        ("1 1:nan\n", "feature that is not a number"),
        ("1 1:inf\n", "infinite at row 0, column 0"),
        ("nan 1:1\n", "sample 0: a label is not a finite number"),
        ("1:1\n2:1\n", "has no labels"),
    ],
)
def test_libsvm_defects(write, text, message):
    with pytest.raises(ValueError, match=message) as info:
        read_libsvm(write(text, "broken.svm"))
    assert "broken.svm" in str(info.value) and str(info.value).endswith(".")


def test_libsvm_is_read_in_blocks_as_in_one(write, monkeypatch):
    from sklearn.datasets import load_svmlight_file

    from demurk.datasets import _arrays

    lines = [f"{i % 5},{i % 3 + 7} {i % 4 + 2}:{i / 7:.3f} 9:1\n" for i in range(200)]
    path = write("".join(lines))
    expected, sets = load_svmlight_file(str(path), multilabel=True)
    for block in (1, 100, 10**6):
        monkeypatch.setattr(_arrays, "_BLOCK", block)
        toy = read_libsvm(path)
        np.testing.assert_array_equal(toy.data.toarray(), expected.toarray())
        found = [
            {toy.target_names[j] for j in np.flatnonzero(row)} for row in toy.target
        ]
        assert found == [{f"{label:g}" for label in row} for row in sets]
    assert read_libsvm(path, zero_based=True).data.shape == (200, 10)
    assert read_libsvm(path, zero_based=False, n_features=12).data.shape == (200, 12)
    with pytest.raises(ValueError, match="n_features is 5, but the file has 9"):
        read_libsvm(path, n_features=5)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("svm") / "file.svm"


PIECES = ["", *"0129.,-e: \n#_", "nan", "inf", "\r\n", "é", "\0", "qid:1 "]


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_mutated_libsvm_gives_an_error_or_consistent_data(path, data):
    text = "2,7 1:0.5 3:1\n7 2:-4e1\n3 1:2 2:1 # end\n"
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 5))
        middle = data.draw(st.sampled_from(PIECES))
        text = text[:position] + middle + text[position + length :]
    path.write_text(text, encoding="utf-8", newline="")
    try:
        toy = read_libsvm(path)
    except ValueError as error:
        assert "file.svm" in str(error) and str(error).endswith(".")
        return
    n = toy.data.shape[0]
    assert n > 0 and toy.data.shape == (n, len(toy.feature_names))
    assert toy.target.shape == (n, len(toy.target_names))
    assert np.isfinite(toy.data.data).all()
    assert set(np.unique(toy.target)) <= {0, 1}


X = np.array([[1.0, 2.0], [3.0, np.nan]])
Y = np.array([[1, 0, -1], [1, 1, 0]])


@pytest.fixture
def save(tmp_path):
    def save(**arrays):
        np.savez(tmp_path / "toy.npz", **arrays)
        return tmp_path / "toy.npz"

    return save


def test_npz(save):
    for names in (("X", "Y"), ("X", "y"), ("data", "target")):
        toy = read_npz(save(**dict(zip(names, (X, Y)))))
        np.testing.assert_array_equal(toy.data, X)
        assert toy.target.tolist() == Y.tolist() and toy.target.dtype == np.int8
        assert toy.feature_names == ["x0", "x1"] and toy.target_names == ["0", "1", "2"]
    toy = read_npz(save(X=X, Y=np.array([[1, -1], [-1, 1]])))
    assert toy.target.tolist() == [[1, -1], [-1, 1]]  # -1 is "not observed" here


def test_npz_names_and_classes(save):
    named = save(X=X, y=[2, -1], feature_names=["a", "b"], target_names=["p", "q", "r"])
    toy = read_npz(named)
    assert toy.target.tolist() == [2, -1] and toy.target_names == ["p", "q", "r"]
    assert toy.feature_names == ["a", "b"]
    toy = read_npz(save(X=X, y=["u", "t"]))
    assert toy.target.tolist() == [1, 0] and toy.target_names == ["t", "u"]


def test_npz_candidates(save):
    given = np.array([[1, 1, 0], [0, 1, 1]])
    for truth in ([0, 2], [[1, 0, 0], [0, 0, 1]]):
        toy = read_npz(save(X=X, Y=truth, candidates=given))
        assert toy.target.tolist() == [0, 2]
        assert toy.candidates.tolist() == given.tolist()
        assert toy.candidates.dtype == np.int8


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": X}, "must hold the arrays X and Y, or data and target; it has X"),
        ({"X": X, "target": Y}, "must hold the arrays"),
        ({"X": X, "Y": Y[:1]}, r"shape \(1, 3\) but the data have 2 rows"),
        ({"X": X, "Y": 3 * Y}, "hold 3 at row 0, column 0"),
        ({"X": X, "Y": Y[:, :, None]}, "must be a numeric matrix"),
        ({"X": X, "Y": Y.astype(str)}, "must be a numeric matrix"),
        ({"X": X[0], "Y": Y}, "non-empty numeric matrix"),
        ({"X": X.astype(str), "Y": Y}, "non-empty numeric matrix"),
        ({"X": X, "Y": 5}, "but the data have 2 rows"),
        ({"X": X, "Y": np.array([{}, {}])}, "cannot be read as a NumPy archive"),
        ({"X": X, "Y": Y, "feature_names": ["a"]}, "names of shape"),
        (
            {"X": X, "y": [0, 3], "target_names": ["a", "b"]},
            "positions in target_names",
        ),
        ({"X": X, "y": [0, 3], "candidates": [[1, 1], [1, 1]]}, "numbers from 0 to 1"),
        ({"X": X, "y": [0, 1], "candidates": [[1, 0], [1, 0]]}, "row 1 is true but no"),
    ],
)
def test_npz_defects(save, arrays, message):
    with pytest.raises(ValueError, match=message) as info:
        read_npz(save(**arrays))
    assert str(info.value).endswith(".")


def test_npz_damage(tmp_path):
    path = tmp_path / "noise.npz"
    path.write_bytes(b"PK\x03\x04 not an archive")
    with pytest.raises(
        ValueError, match=r"noise\.npz cannot be read as a NumPy archive"
    ):
        read_npz(path)


def npy(shape, values, descr="<f8"):
    """The bytes of a .npy file that may declare what it does not hold."""
    head = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {shape}, }}"
    head = head.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head + values


def pack(path, **members):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Y.npy", npy((2, 1), np.array([1.0, 0.0]).tobytes()))
        for name, content in members.items():
            archive.writestr(name.replace("_npy", ".npy"), content)
    return path


NUMBERS = np.arange(4.0).tobytes()
CLAIMS = {
    "good": (npy((2, 2), NUMBERS), None),
    "raw": (b"no array", "magic string"),
    "large": (npy((2, 600_000_000), NUMBERS), "another size than it declares"),
    "larger": (npy((2, 10**400), NUMBERS), "another size than it declares"),
    "negative": (npy((-2, -2), NUMBERS), "another size than it declares"),
    "empty text": (npy((10**9,), b"", "<U0"), "holds <U0"),
    "long text": (npy((1,), NUMBERS, "<U2000000000"), "cannot be read"),
    "no characters": (npy((2,), b"\xff" * 8, "<U1"), "no characters"),
    "objects": (npy((4,), NUMBERS, "|O"), "holds object"),
    "records": (npy((4,), NUMBERS, [("a", "<f8")]), "numbers and text"),
    "many sides": (npy((1,) * 70 + (4,), NUMBERS), "cannot be read"),
    "no literal": (npy("(" * 9000, NUMBERS), "cannot be read"),
}


@pytest.mark.parametrize("name", CLAIMS)
@pytest.mark.parametrize("member", ["X_npy", "X"])
def test_npz_members_are_checked_before_they_are_believed(tmp_path, name, member):
    """Raw members raised AttributeError; an 8-byte array could claim gigabytes."""
    content, message = CLAIMS[name]
    path = pack(tmp_path / "toy.npz", **{member: content})
    if message is None:
        assert read_npz(path).data.tolist() == [[0, 1], [2, 3]]
        return
    with pytest.raises(ValueError) as caught:
        read_npz(path)
    found = str(caught.value)
    assert message in found and str(path) in found
    assert found.endswith(".") and "\n" not in found and len(found) < 400


def test_npz_members_of_no_use_are_not_read(tmp_path):
    good = npy((2, 2), NUMBERS)
    path = pack(tmp_path / "toy.npz", X_npy=good, other=b"raw", more_npy=b"broken")
    assert read_npz(path).data.shape == (2, 2)


def test_npz_may_expand_up_to_a_limit(tmp_path, monkeypatch):
    from demurk.datasets import _room

    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, X=np.zeros((2, 2**18)), Y=np.ones((2, 1)))
    assert read_npz(path).data.shape == (2, 2**18)
    monkeypatch.setattr(_room, "ROOM", 2**20)
    with pytest.raises(ValueError, match="expands to more than"):
        read_npz(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("X.npy", npy((2, 2), NUMBERS))
        archive.writestr("Y.npy", npy((2, 1), np.ones(2).tobytes()))
    with pytest.raises(ValueError, match="packed in a way that NumPy does not use"):
        read_npz(path)


def test_a_position_among_many_labels_takes_no_square_matrix(save):
    """The identity of 60,000 labels would be 29 GB."""
    given = np.ones((2, 60_000), dtype=np.int8)
    toy = read_npz(save(X=X, Y=[3, 59_999], candidates=given))
    assert toy.target.tolist() == [3, 59_999]


def test_numbers_of_classes_keep_their_rules(save):
    for y, codes, names in (
        ([3, -1, 7, 3], [0, -1, 1, 0], ["3", "7"]),
        ([-1, 1, 1, -1], [0, 1, 1, 0], ["-1", "1"]),
        ([0.5, np.nan, -2, 0.5], [1, -1, 0, 1], ["-2", "0.5"]),
        ([-3, -1, 0, -3], [0, -1, 1, 0], ["-3", "0"]),
    ):
        toy = read_npz(save(X=np.eye(4), y=y))
        assert (toy.target.tolist(), toy.target_names) == (codes, names)


def test_libsvm_labels_that_nobody_could_hold(write):
    """40,000 lines with a label each took 13 GB."""
    text = "".join(f"{i} 1:1\n" for i in range(40_000))
    path = write(text)
    with pytest.raises(ValueError, match=r"label matrix in .* too many to believe"):
        read_libsvm(path)
    assert read_libsvm(path, multilabel=False).target.shape == (40_000,)


def test_libsvm_columns_that_are_only_declared(write):
    """Names of 4,000,000 features of one line of text took 300 MB."""
    path = write("1 4000000:1\n")
    with pytest.raises(ValueError, match="4e\\+06 features by its highest index"):
        read_libsvm(path)
    assert read_libsvm(path, n_features=4_000_000).data.shape == (1, 4_000_000)


def test_packed_text_may_expand_up_to_a_limit(tmp_path, monkeypatch):
    from demurk.datasets import _room

    path = tmp_path / "bomb.svm.gz"
    path.write_bytes(gzip.compress(b"1 1:1\n" * 200_000))
    assert read_libsvm(path).data.shape == (200_000, 1)
    monkeypatch.setattr(_room, "ROOM", 2**20)
    with pytest.raises(ValueError, match="expands to more text") as caught:
        read_libsvm(path)
    assert str(caught.value).endswith(".")
    path = path.rename(tmp_path / "bomb.csv.gz")
    path.write_bytes(gzip.compress(b"1,1\n" * 400_000))
    with pytest.raises(ValueError, match="expands to more than") as caught:
        read_dataset(path, labels=1)
    assert str(caught.value).endswith(".")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.arff", {"n_labels": 1}),
        ("a.ARFF.gz", {"n_labels": 1}),
        ("a.mat", {}),
        ("a.csv", {"labels": 1}),
        ("a.csv.gz", {"labels": ["l"]}),
        ("a.tsv", {"labels": 1}),
        ("a.parquet", {"labels": 1}),
        ("a.svm", {}),
        ("a.libsvm", {}),
        ("a.txt", {}),
        ("a.npz", {}),
    ],
)
def test_the_name_decides_the_reader(tmp_path, name, options):
    path = tmp_path / name
    data, labels = np.array([[1.0, 2], [3, 4]]), np.array([[1], [0]])
    texts = {
        ".arff": "@relation r\n@attribute a real\n@attribute b real\n"
        "@attribute l {0,1}\n@data\n1,2,1\n3,4,0\n",
        ".csv": "a,b,l\n1,2,1\n3,4,0\n",
        ".tsv": "a\tb\tl\n1\t2\t1\n3\t4\t0\n",
    }
    suffix = "." + name.lower().split(".")[1]
    if suffix == ".mat":
        savemat(path, {"data": data, "target": np.hstack([labels, 1 - labels])})
    elif suffix == ".npz":
        np.savez(path, X=data, Y=labels)
    elif suffix == ".parquet":
        pd = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        pd.DataFrame(np.hstack([data, labels]), columns=list("abl")).to_parquet(path)
    else:
        text = texts.get(suffix, "1 1:1 2:2\n 1:3 2:4\n").encode()
        path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    toy = read_dataset(path, **options)
    found = toy.data.toarray() if sparse.issparse(toy.data) else toy.data
    np.testing.assert_array_equal(found, data)
    assert toy.target[:, 0].tolist() == [1, 0]
    assert toy.name == "a"


def test_unknown_formats_and_options(tmp_path):
    with pytest.raises(ValueError, match=r"a\.xyz has no known format; .*\.arff"):
        read_dataset(tmp_path / "a.xyz")
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_dataset(tmp_path / "a.csv")
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        read_dataset(tmp_path / "a.npz", n_labels=3)
