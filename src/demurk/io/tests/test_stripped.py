"""Forged trees without values are refused before compiled code follows them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from demurk import io
from demurk.io.tests.forge import forge, nodes, npy, plain, read_npy, state_of
from demurk.out_of_sample import OutOfSampleForest


@pytest.fixture
def data(rng):
    X = rng.normal(size=(40, 5))
    return X, (X[:, :2] > 0).astype(int)


def set_leaves(name, change):
    """Edit an array of the first forest without values."""

    def edit(schema, members):
        (holder,) = [
            node
            for node in nodes(schema, "ObjectNode")
            if node["__class__"] == "StrippedTrees"
        ]
        state = holder["content"]["content"]
        if name.startswith("n_"):
            state[name] = plain(change)
            return
        array = read_npy(members, state[name]["file"])
        changed = change(array)
        members["other.npy"] = npy(array if changed is None else changed)
        state[name]["file"] = "other.npy"

    return edit


def put(value, place=-1):
    def change(array):
        array[place] = value

    return change


def last_split(value):
    """Let the last split have another feature."""

    def change(features):
        features[np.flatnonzero(features)[-1]] = value

    return change


def to_the_first_node(right):
    right[-1] = 0


@pytest.fixture
def stripped(data):
    model = OutOfSampleForest(DecisionTreeRegressor(), 3, random_state=0)
    model.fit_out_of_sample(data[0], data[1].astype(float))
    return model


@pytest.mark.parametrize(
    "name, change",
    [
        ("n_features", 1),
        ("n_features", 0),
        ("n_features", 2.0),
        ("n_rows", 39),
        ("n_rows", 5),
        ("n_rows", 10**6),
        ("n_rows", -1),
        ("node_counts", put(0)),
        ("node_counts", put(1)),
        ("node_counts", put(250)),
        ("node_counts", lambda a: a[:-1]),
        ("node_counts", lambda a: a[:0]),
        ("node_counts", lambda a: (a + [2, -2, 0]).astype(a.dtype)),
        ("node_counts", lambda a: a.astype(np.int64)),
        ("features", last_split(6)),
        ("features", last_split(200)),
        ("features", last_split(0)),
        ("features", put(1)),
        ("features", lambda a: a[:-1]),
        ("features", lambda a: np.zeros_like(a)),
        ("features", lambda a: a.astype(np.int8)),
        ("features", lambda a: np.roll(a, 1)),
        ("thresholds", lambda a: a[:-1]),
        ("thresholds", lambda a: a.astype(np.float64)),
        ("right_children", put(250)),
        ("right_children", to_the_first_node),
        ("right_children", put(2, place=0)),
        ("right_children", lambda a: a[:-1]),
        ("right_children", lambda a: a[::-1].copy()),
        ("right_children", lambda a: a.astype(np.uint64)),
        ("leaf_sizes", put(0)),
        ("leaf_sizes", put(250)),
        ("leaf_sizes", lambda a: a[:-1]),
        ("rows", put(40)),
        ("rows", put(255)),
        ("rows", lambda a: a[:-1]),
        ("rows", lambda a: a[:, np.newaxis]),
        ("rows", lambda a: a.astype(np.int32) - 1),
        ("counts", put(0)),
        ("counts", lambda a: a[:-1]),
        ("counts", lambda a: a.astype(float)),
    ],
)
def test_forged_trees_without_values(name, change, stripped, data, tmp_path):
    path = io.save(stripped, tmp_path / "m.skops")
    restored = io.load(path)
    np.testing.assert_array_equal(restored.predict(data[0]), stripped.predict(data[0]))
    assert stripped.trees_.n_rows == 40 and stripped.trees_.rows.dtype == np.uint8
    with pytest.raises(ValueError, match=r"damaged \((trees without|the leaves)"):
        io.load(forge(path, set_leaves(name, change)))


@pytest.mark.parametrize(
    "change",
    [lambda a: a[:-1], lambda a: a.ravel(), lambda a: a.astype("U3")],
)
def test_forged_targets_of_leaves(change, stripped, tmp_path):
    path = io.save(stripped, tmp_path / "m.skops")

    def edit(schema, members):
        file = state_of(schema, "ObjectNode")["targets_"]["file"]
        members[file] = npy(change(read_npy(members, file)))

    with pytest.raises(ValueError, match="leaves of a forest do not fit its rows"):
        io.load(forge(path, edit))


def test_trees_without_values_check_the_features_of_new_rows(stripped, data, tmp_path):
    restored = io.load(io.save(stripped, tmp_path / "m.skops"))
    with pytest.raises(ValueError, match=r"X has 3 features.*grown on 5"):
        restored.predict(data[0][:, :3])


def test_trees_without_values_are_checked_block_by_block(
    stripped, tmp_path, monkeypatch
):
    monkeypatch.setattr("demurk.out_of_sample._trees.BLOCK_BYTES", 1)
    path = io.save(stripped, tmp_path / "m.skops")
    assert len(list(io.load(path).trees_.blocks(0))) == 3
    with pytest.raises(ValueError, match="trees without"):
        io.load(forge(path, set_leaves("right_children", put(250))))
