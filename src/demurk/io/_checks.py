"""State that compiled code takes on trust is checked before it gets there."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.sparse import issparse

from demurk.io._archive import Damaged
from demurk.out_of_sample import OutOfSampleForest
from demurk.out_of_sample._trees import StrippedTrees
from demurk.utils._trees import node_dtype, tree_class

__all__ = ["check_object", "make_random_state", "make_tree"]

# A saved model must not start more threads or processes than this.
MAX_JOBS = 512
MAX_FEATURES = 2**31 - 1
MAX_TREES = 10**6
SEED_WORDS = 624  # of the Mersenne twister
TREES = (
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreeClassifier",
    "ExtraTreeRegressor",
)
FORESTS = (
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
)


def check_object(instance):
    """Check an object that was just built."""
    n_jobs = getattr(instance, "n_jobs", None)
    _require(n_jobs is None or _is_int(n_jobs, -MAX_JOBS, MAX_JOBS), "n_jobs is wrong")
    kind, state = type(instance), vars(instance)
    if kind is StrippedTrees:
        _check_stripped(instance)
    elif kind is OutOfSampleForest and "trees_" in state:
        _check_leaves(state)
    if not kind.__module__.startswith("sklearn."):
        return
    name = kind.__name__
    if name in TREES and "tree_" in state:
        _check_tree_estimator(state)
    elif name in FORESTS and "estimators_" in state:
        _check_forest(state)
    elif name == "SVC" and "support_" in state:
        _check_svc(state)


def _check_tree_estimator(state):
    tree = state["tree_"]
    _require(
        isinstance(tree, tree_class())
        and _is_int(state["n_features_in_"], tree.n_features, tree.n_features),
        "a tree does not fit its features",
    )


def _check_forest(state):
    trees = state["estimators_"]
    _require(
        isinstance(trees, list)
        and _is_int(state["n_features_in_"], 1, MAX_FEATURES)
        and all(
            type(tree).__name__ in TREES
            and "tree_" in vars(tree)
            and tree.n_features_in_ == state["n_features_in_"]
            for tree in trees
        ),
        "the trees of a forest do not fit its features",
    )


# Trees


def make_tree(args, state):
    """Build a compiled tree from arrays that were checked.

    Parameters
    ----------
    args : tuple
        Number of features, of classes for each output, and of outputs.
    state : dict
        Depth, number of nodes, nodes and their values.

    Returns
    -------
    tree : Tree
        Every path in it ends in a leaf, and every split is at a feature that exists.
    """
    _require(isinstance(args, tuple) and len(args) == 3, "a tree has no size")
    n_features, n_classes, n_outputs = args
    _require(
        _is_int(n_features, 1, MAX_FEATURES)
        and _is_int(n_outputs, 1, MAX_FEATURES)
        and _is_array(n_classes, np.intp, (n_outputs,))
        and bool((n_classes >= 1).all()),
        "a tree has no size",
    )
    nodes, values, most = state["nodes"], state["values"], int(n_classes.max())
    _require(
        _is_array(nodes, node_dtype(), (None,))
        and nodes.size >= 1
        and _is_int(state["node_count"], nodes.size, nodes.size)
        and _is_array(values, np.float64, (nodes.size, n_outputs, most)),
        "a tree does not have the nodes it claims",
    )
    depth = _depth(nodes, n_features)
    _require(_is_int(state["max_depth"], depth, depth), "a tree has another depth")
    tree = tree_class()(n_features, n_classes, n_outputs)
    tree.__setstate__(state)
    return tree


def _depth(nodes, n_features):
    """Depth of a tree, after a check that it is one."""
    left, right, feature = nodes["left_child"], nodes["right_child"], nodes["feature"]
    inner = np.flatnonzero(left != -1)
    children = np.concatenate([left[inner], right[inner]])
    ours = feature[inner]
    _require(
        bool((right[left == -1] == -1).all())
        # Children come after their parent, and every node but the root is one, once.
        and bool((children > np.concatenate([inner, inner])).all())
        and np.array_equal(np.sort(children), np.arange(1, nodes.size))
        and bool(((ours >= 0) & (ours < n_features)).all()),
        "a tree has a node that leads nowhere",
    )
    depth, level = 0, np.zeros(1, dtype=np.intp)
    while True:
        level = level[left[level] != -1]
        if level.size == 0:
            return depth
        level = np.concatenate([left[level], right[level]])
        depth += 1


# Trees without values


def _check_stripped(trees):
    """Check the arrays that compiled code follows, block by block to save memory."""
    what = "trees without values do not fit together"
    counted = ("node_counts", "features", "right_children", "leaf_sizes")
    arrays = [getattr(trees, name) for name in (*counted, "rows", "counts")]
    _require(
        all(
            isinstance(a, np.ndarray)
            and a.ndim == 1
            and a.dtype in (np.uint8, np.uint16, np.uint32)
            for a in arrays
        )
        and _is_int(trees.n_features, 1, MAX_FEATURES)
        and _is_int(trees.n_rows, 1, MAX_FEATURES),
        what,
    )
    node_counts, features, right, sizes, rows, drawn = arrays
    n_splits = np.count_nonzero(features)
    _require(
        1 <= node_counts.size <= MAX_TREES
        and 1 <= node_counts.min()
        # No tree has more leaves than there are rows.
        and node_counts.max() < 2 * trees.n_rows
        and int(node_counts.sum(dtype=np.int64)) == features.size
        and features.max() <= trees.n_features
        and _is_array(trees.thresholds, np.float32, (n_splits,))
        and right.size == n_splits
        and sizes.size == features.size - n_splits
        and sizes.min() >= 1
        and int(sizes.sum(dtype=np.int64)) == rows.size == drawn.size
        and drawn.min() >= 1
        and rows.max() < trees.n_rows,
        what,
    )
    for block in trees.blocks(0):
        _check_splits(block, what)


def _check_splits(trees, what):
    """Whether every node but the roots is a child once, of an earlier node."""
    counts = trees.node_counts.astype(np.int64)
    ends = np.repeat(np.cumsum(counts), counts)
    splits = np.flatnonzero(trees.features)
    right = trees.right_children
    _require(splits.size == right.size, what)
    right = right + (ends - np.repeat(counts, counts))[splits]
    children = np.concatenate([splits + 1, right])
    is_child = np.ones(trees.features.size, dtype=bool)
    is_child[np.cumsum(counts) - counts] = False
    _require(
        bool((right > splits).all())
        and bool((children < np.tile(ends[splits], 2)).all())
        and np.array_equal(np.sort(children), np.flatnonzero(is_child)),
        what,
    )


def _check_leaves(state):
    trees, targets = state["trees_"], state["targets_"]
    _require(
        isinstance(trees, StrippedTrees)
        and _is_array(targets, np.float64, (None, None))
        and len(targets) == trees.n_rows,
        "the leaves of a forest do not fit its rows",
    )


# Support vector machines


def _check_svc(state):
    counts, support = state["_n_support"], state["support_"]
    vectors, coef = state["support_vectors_"], state["_dual_coef_"]
    n_classes = counts.size
    n_pairs = n_classes * (n_classes - 1) // 2
    pairs = [state[name] for name in ("_intercept_", "_probA", "_probB")]
    _require(
        "_impl" not in state
        and state["kernel"] in ("linear", "poly", "rbf", "sigmoid")
        and issparse(vectors) == issparse(coef) == bool(state["_sparse"])
        and counts.dtype == support.dtype == np.int32
        and counts.ndim == support.ndim == 1
        and n_classes == len(state["classes_"]) >= 2
        and bool((counts >= 0).all())
        and int(counts.sum(dtype=np.int64)) == support.size
        and bool((support >= 0).all())
        and vectors.shape == (support.size, state["n_features_in_"])
        and coef.shape == (n_classes - 1, support.size)
        and vectors.dtype == coef.dtype == np.float64
        and (not issparse(coef) or coef.nnz == coef.shape[0] * coef.shape[1])
        and all(a.dtype == np.float64 and a.ndim == 1 for a in pairs)
        and pairs[0].size == n_pairs
        and pairs[1].size == pairs[2].size
        and pairs[1].size in (0, n_pairs),
        "a support vector machine does not fit together",
    )


# Random numbers


def make_random_state(state):
    """Build a RandomState whose position lies within its words."""
    twister = state["state"]
    key, position = twister["key"], twister["pos"]
    _require(
        state["bit_generator"] == "MT19937"
        and _is_array(key, np.uint32, (SEED_WORDS,))
        and _is_int(position, 0, SEED_WORDS)
        and _is_int(state["has_gauss"], 0, 1)
        and isinstance(state["gauss"], float),
        "a random state is none",
    )
    made = np.random.RandomState(0)
    made.set_state(("MT19937", key, position, state["has_gauss"], state["gauss"]))
    return made


def _is_int(value, low, high):
    return type(value) in (int, np.int64) and low <= value <= high


def _is_array(value, dtype, shape):
    """Whether it is an array of that type and shape; None stands for any length."""
    return (
        isinstance(value, np.ndarray)
        and value.dtype == dtype
        and value.ndim == len(shape)
        and all(n is None or n == own for n, own in zip(shape, value.shape))
    )


def _require(condition, message):
    if not condition:
        raise Damaged(message)
