"""Forged arrays and sizes are refused on loading, before compiled code follows them."""

import io as stdio
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

from demurk import io
from demurk.io._archive import FACTOR, FREE
from demurk.io.tests.forge import (
    forge,
    nodes,
    npy,
    plain,
    read_npy,
    state_of,
    write_schema,
)
from demurk.multilabel import MLkNN
from demurk.projection import MDDM


@pytest.fixture
def data(rng):
    X = rng.normal(size=(40, 5))
    return X, (X[:, :2] > 0).astype(int)


def set_nodes(**values):
    """Edit the last inner node of the first tree."""

    def edit(schema, members):
        name = state_of(schema, "TreeNode")["nodes"]["file"]
        array = read_npy(members, name)
        inner = np.flatnonzero(array["left_child"] != -1)[-1]
        for field, value in values.items():
            array[field][inner] = inner if value == "itself" else value
        members[name] = npy(array)

    return edit


def set_tree(**values):
    def edit(schema, members):
        state_of(schema, "TreeNode").update(
            {name: plain(value) for name, value in values.items()}
        )

    return edit


def cut_array(name):
    def edit(schema, members):
        file = state_of(schema, "TreeNode")[name]["file"]
        members[file] = npy(read_npy(members, file)[:-1])

    return edit


def set_size(index, value):
    def edit(schema, members):
        args = nodes(schema, "TreeNode")[0]["__reduce__"]["args"]
        args["content"][index] = value

    return edit


def forest_of_many_features(schema, members):
    """Every tree is sound, but for more columns than the forest checks."""
    for node in nodes(schema, "TreeNode"):
        node["__reduce__"]["args"]["content"][0] = plain(10**6)


def trees_of_many_features(schema, members):
    forest_of_many_features(schema, members)
    for node in nodes(schema, "ObjectNode")[1:]:
        node["content"]["content"]["n_features_in_"] = plain(10**6)


def forget_features(schema, members):
    del state_of(schema, "ObjectNode")["n_features_in_"]


@pytest.mark.parametrize(
    "edit",
    [
        set_nodes(left_child=10**6),
        set_nodes(right_child=10**6),
        set_nodes(left_child=-5),
        set_nodes(left_child="itself"),
        set_nodes(left_child=0),
        set_nodes(right_child=-1),
        set_nodes(feature=10**6),
        set_nodes(feature=-2),
        set_nodes(feature=5),
        set_tree(max_depth=0),
        set_tree(max_depth=10**9),
        set_tree(node_count=10**6),
        set_tree(node_count=1),
        set_tree(nodes=None),
        cut_array("nodes"),
        cut_array("values"),
        set_size(0, plain(10**6)),
        set_size(0, plain(1)),
        set_size(2, plain(1000)),
        set_size(2, plain(-1)),
        forest_of_many_features,
        trees_of_many_features,
        forget_features,
    ],
    ids=lambda edit: edit.__qualname__.partition(".")[0],
)
@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(3, random_state=0),
        ExtraTreesRegressor(3, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_forged_trees(model, edit, data, tmp_path):
    path = io.save(model.fit(*data), tmp_path / "m.skops")
    np.testing.assert_array_equal(
        io.load(path).predict(data[0]), model.predict(data[0])
    )
    with pytest.raises(ValueError, match=r"damaged \((a|the|its) "):
        io.load(forge(path, edit))


def test_a_stump_and_a_chain_are_trees(tmp_path):
    X = np.arange(200.0)[:, np.newaxis]
    for depth, y in ((0, np.zeros(200)), (None, 2.0 ** np.arange(200))):
        model = DecisionTreeRegressor(max_depth=depth or None).fit(X, y)
        restored = io.load(io.save(model, tmp_path / "m.skops", force=True))
        assert restored.get_depth() == model.get_depth()
        np.testing.assert_array_equal(restored.predict(X), model.predict(X))


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(
    "name, change",
    [
        ("_n_support", lambda a: a + 10**6),
        ("_n_support", lambda a: np.array([-5, a.sum() + 5], dtype=np.int32)),
        ("support_", lambda a: a[:-1]),
        ("_intercept_", lambda a: a[:0]),
        ("_probA", lambda a: np.ones(1)),
    ],
)
def test_forged_support_vectors(name, change, sparse, data, tmp_path):
    X, Y = data
    path = io.save(SVC().fit(csr_array(X) if sparse else X, Y[:, 0]), tmp_path / "m")
    io.load(path).predict(X)

    def edit(schema, members):
        file = state_of(schema, "ObjectNode")[name]["file"]
        members["other.npy"] = npy(change(read_npy(members, file)))
        state_of(schema, "ObjectNode")[name]["file"] = "other.npy"

    with pytest.raises(ValueError, match="support vector machine"):
        io.load(forge(path, edit))


def test_forged_kernel_and_random_state(data, tmp_path):
    X, Y = data
    path = io.save(SVC().fit(X, Y[:, 0]), tmp_path / "m.skops")

    def precomputed(schema, members):
        state_of(schema, "ObjectNode")["kernel"] = plain("precomputed")

    with pytest.raises(ValueError, match="support vector machine"):
        io.load(forge(path, precomputed))

    def beyond(schema, members):
        state = state_of(schema, "RandomStateNode")
        state["state"]["content"]["pos"] = plain(10**6)

    model = MDDM().set_params(n_components=np.random.RandomState(3))
    path = io.save(model, tmp_path / "r.skops")
    drawn = io.load(path).n_components.uniform(size=3)
    np.testing.assert_array_equal(drawn, np.random.RandomState(3).uniform(size=3))
    with pytest.raises(ValueError, match="random state"):
        io.load(forge(path, beyond))


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X.indices.__setitem__(0, 10**6),
        lambda X: X.indices.__setitem__(0, -1),
        lambda X: X.indptr.__setitem__(3, 10**6),
        lambda X: X.indptr.__setitem__(-1, 10**6),
    ],
)
@pytest.mark.parametrize("empty", [False, True])
def test_forged_sparse_indices(change, empty, data, tmp_path):
    X, Y = data
    path = io.save(MLkNN().fit(csr_array(X), Y), tmp_path / "m.skops")

    def edit(schema, members):
        matrix = csr_array(X.shape) if empty else csr_array(X)
        if empty:  # of which scipy checks nothing
            matrix.indptr[2] = 2**30
        else:
            change(matrix)
        buffer = stdio.BytesIO()
        save_npz(buffer, matrix)
        for node in nodes(schema, "SparseMatrixNode"):
            members[node["file"]] = buffer.getvalue()

    with pytest.raises(ValueError, match="not fit together"):
        io.load(forge(path, edit))


def test_bytes_that_numpy_takes_on_trust(tmp_path):
    text, flags = np.array(["ab", "c"]), np.array([True, False])
    path = io.save([text, flags], tmp_path / "m.skops")
    assert io.load(path)[0].tolist() == ["ab", "c"]
    for i, value in ((0, np.uint32(2**31)), (1, np.uint8(7))):

        def edit(schema, members, i=i, value=value):
            name = schema["content"][i]["file"]
            members[name] = members[name][: -value.nbytes] + value.tobytes()

        io.save([text, flags], path, force=True)
        with pytest.raises(ValueError, match=r"neither true nor false|do not exist"):
            io.load(forge(path, edit))


# Sizes


def peak_of_refusal(path):
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"damaged \(") as caught:
        io.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(str(caught.value).splitlines()) == 1
    return peak


def bomb(path, content, member="a.npy", compression=zipfile.ZIP_DEFLATED, n_nodes=1):
    """A model file that is an array, `n_nodes` times over."""
    array = {
        "__module__": "numpy",
        "__class__": "ndarray",
        "__loader__": "NdArrayNode",
        "type": "numpy",
        "file": member,
    }
    schema = {"__module__": "builtins", "__class__": "list", "__loader__": "ListNode"}
    schema |= {"content": [array] * n_nodes, "protocol": 2}
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr(member, content)
        archive.writestr("schema.json", json.dumps(schema))
    return path


@pytest.mark.parametrize(
    "compression, size", [(zipfile.ZIP_DEFLATED, 9_000_000), (zipfile.ZIP_LZMA, 10**6)]
)
def test_a_file_takes_ten_times_its_size_at_most(compression, size, tmp_path):
    path = bomb(tmp_path / "m.skops", npy(np.zeros(size)), compression=compression)
    assert path.stat().st_size < 200_000
    assert peak_of_refusal(path) < 2_000_000


def test_one_array_many_times_over(tmp_path):
    path = bomb(tmp_path / "m.skops", npy(np.zeros(1_000_000)), n_nodes=1000)
    assert peak_of_refusal(path) < FACTOR * path.stat().st_size + 2 * FREE


def test_a_member_that_is_longer_than_it_says(tmp_path):
    path = bomb(tmp_path / "m.skops", npy(np.zeros(2_000_000)))
    content = bytearray(path.read_bytes())
    # Sizes in the local header and in the central directory.
    for signature, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        struct.pack_into("<I", content, content.index(signature) + place, 208)
    path.write_bytes(content)
    assert peak_of_refusal(path) < 2_000_000


@pytest.mark.parametrize(
    "shape",
    ["(1000000000000,)", "(0, 1000000000000)", "(3, 4)", "(-1,)", "(2.0,)", "((2,),)"],
)
def test_a_shape_that_the_data_do_not_have(shape, tmp_path):
    content = npy(np.zeros(2))
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    forged = content[:10] + header.ljust(117).encode() + b"\n" + content[128:]
    assert peak_of_refusal(bomb(tmp_path / "m.skops", forged)) < 2_000_000


@pytest.mark.parametrize("descr", ["'|O'", "'<U0'", "'<f9'", "'|V8'", "[('a', '<f8')]"])
def test_a_type_that_is_no_number(descr, tmp_path):
    content = npy(np.zeros(2))
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': (2,), }}"
    forged = content[:10] + header.ljust(117).encode() + b"\n" + content[128:]
    peak_of_refusal(bomb(tmp_path / "m.skops", forged))


@pytest.mark.parametrize(
    "text",
    [
        '{"content": ' + "[" * 100_000,
        '{"content": [' + "[]," * 1_000_000 + "0]}",
        '{"a": "' + "a" * 70_000_000 + '"}',
        "\xff",
        "",
        "[]",
        '"text"',
        '{"protocol": 2}',
        '{"protocol": ' + "9" * 5000 + "}",
    ],
    ids=["deep", "wide", "long", "binary", "empty", "list", "text", "bare", "number"],
)
def test_the_table_of_contents_is_bounded(text, tmp_path):
    path = tmp_path / "m.skops"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", text.encode("latin1"))
    assert peak_of_refusal(path) < 2 * FREE


def test_objects_nested_deeply(tmp_path):
    schema = plain(1)
    for _ in range(200):
        schema = {
            "__module__": "builtins",
            "__class__": "list",
            "__loader__": "ListNode",
            "content": [schema],
        }
    path = write_schema(tmp_path / "m.skops", schema)
    with pytest.raises(ValueError, match="nested too deeply"):
        io.load(path)


def test_too_many_jobs(tmp_path):
    path = io.save(MLkNN(n_jobs=10**6), tmp_path / "m.skops")
    with pytest.raises(ValueError, match="n_jobs"):
        io.load(path)


# Honest files


@pytest.mark.parametrize(
    "value",
    [
        np.zeros((300, 500)),
        csr_array(np.ones((100, 1200), dtype=np.int8)),
        [{"a": [i]} for i in range(500)],
        np.arange(6).reshape(2, 3, order="F"),
        np.array([["a", None], [1.5, "b"]], dtype=object),
        {1: "a", "b": (None, True, {2.5})},
        np.dtype("f4"),
    ],
    ids=["zeros", "sparse", "lists", "order", "objects", "plain", "dtype"],
)
def test_what_is_saved_can_be_loaded(value, tmp_path, monkeypatch):
    # As for large files, for which the free part does not count.
    for module in ("_archive", "_pack"):
        monkeypatch.setattr(f"demurk.io.{module}.FREE", 5_000)
    path = io.save([value], tmp_path / "m.skops")
    (restored,) = io.load(path)
    if hasattr(value, "shape") and not isinstance(value, np.dtype):
        assert restored.dtype == value.dtype and restored.shape == value.shape
        assert type(restored) is type(value)
        assert (abs(restored != value)).sum() == 0
    else:
        assert restored == value


def test_compression(data, tmp_path):
    X, Y = data
    model = RandomForestClassifier(50, random_state=0).fit(X, Y)
    path = io.save(model, tmp_path / "m.skops")
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(info.file_size for info in archive.infolist())
    assert path.stat().st_size < unpacked / 3
