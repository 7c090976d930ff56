"""Trees without values: which splits they make, and which rows share a leaf."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from demurk.utils._trees import compiled_tree, node_dtype

__all__ = ["StrippedTrees", "leaf_means", "leaf_numbers", "strip_tree"]

# What the compiled trees and the label means of a block of trees may take in memory.
BLOCK_BYTES = 32_000_000


@dataclass(frozen=True)
class StrippedTrees:
    """The trees of a forest, for targets that are kept elsewhere.

    A tree of scikit-learn holds q values per node. These hold none: the values of a
    leaf are the means of its rows' targets, made by a sparse product when they are
    needed. Memory O(trees n) for any q.

    The nodes of a tree are in the order in which it grew: the left child of a node
    follows it, and a tree with m splits has m + 1 leaves.

    Attributes
    ----------
    n_features, n_rows : int
        Features of the rows, and rows that the trees were grown on.
    node_counts : ndarray of shape (n_trees,)
        Nodes of each tree.
    features : ndarray of shape (n_nodes,)
        Feature of each split, counted from 1; 0 for a leaf.
    thresholds : ndarray of shape (n_splits,), float32
        Rows up to it go to the left.
    right_children : ndarray of shape (n_splits,)
        Number of the right child within its tree.
    leaf_sizes : ndarray of shape (n_leaves,)
        Different rows in each leaf.
    rows, counts : ndarray of shape (n_entries,)
        Rows of the leaves, one leaf after the other, and how often each was drawn.
    """

    n_features: int
    n_rows: int
    node_counts: np.ndarray
    features: np.ndarray
    thresholds: np.ndarray
    right_children: np.ndarray
    leaf_sizes: np.ndarray
    rows: np.ndarray
    counts: np.ndarray

    @classmethod
    def joined(cls, parts, n_features, n_rows):
        """Join what `strip_tree` gave for each tree, in the smallest numbers."""
        columns = [np.concatenate(column) for column in zip(*parts)]
        counts = np.array([len(part[0]) for part in parts])
        small = [
            column if column.dtype.kind == "f" else _small(column)
            for column in (counts, *columns)
        ]
        return cls(n_features, n_rows, *small)

    def blocks(self, n_targets):
        """Split into parts whose leaves have room in memory.

        Parameters
        ----------
        n_targets : int
            Values of a leaf.

        Yields
        ------
        trees : StrippedTrees
            Some of the trees.
        """
        n_trees = len(self.node_counts)
        needed = len(self.features) * (node_dtype().itemsize + 8 + 4 * n_targets)
        needed += 12 * len(self.rows)
        step = max(int(n_trees * BLOCK_BYTES / needed), 1)
        cuts = np.append(np.arange(0, n_trees, step), n_trees)
        nodes = _ends(self.node_counts)[cuts]
        splits = (nodes - cuts) // 2
        leaves = splits + cuts
        entries = _ends(np.add.reduceat(self.leaf_sizes, leaves[:-1], dtype=np.int64))
        for i, j in zip(range(len(cuts) - 1), range(1, len(cuts))):
            yield StrippedTrees(
                self.n_features,
                self.n_rows,
                self.node_counts[cuts[i] : cuts[j]],
                self.features[nodes[i] : nodes[j]],
                self.thresholds[splits[i] : splits[j]],
                self.right_children[splits[i] : splits[j]],
                self.leaf_sizes[leaves[i] : leaves[j]],
                self.rows[entries[i] : entries[j]],
                self.counts[entries[i] : entries[j]],
            )

    def apply(self, X):
        """Leaves that rows fall into.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n_samples, n_features), float32
            Rows.

        Returns
        -------
        leaves : ndarray of shape (n_samples, n_trees)
            Numbers of the leaves, counted through all trees.
        """
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"X has {X.shape[1]} features, but the trees were grown on "
                f"{self.n_features}."
            )
        nodes, ends = self._nodes(), _ends(self.node_counts)
        numbers = np.cumsum(self.features == 0) - 1
        leaves = np.empty((X.shape[0], len(self.node_counts)), dtype=np.int32)
        for k, (start, end) in enumerate(pairwise(ends)):
            found = compiled_tree(nodes[start:end], self.n_features).apply(X)
            leaves[:, k] = numbers[start:end][found]
        return leaves

    def _nodes(self):
        """Nodes of all trees as scikit-learn has them."""
        nodes = np.zeros(len(self.features), dtype=node_dtype())
        splits = np.flatnonzero(self.features)
        starts = np.repeat(_ends(self.node_counts)[:-1], self.node_counts)[splits]
        for name in ("left_child", "right_child", "feature"):
            nodes[name] = -1
        nodes["left_child"][splits] = splits - starts + 1
        nodes["right_child"][splits] = self.right_children
        nodes["feature"][splits] = self.features[splits].astype(np.intp) - 1
        nodes["threshold"][splits] = self.thresholds
        return nodes

    def leaf_means(self, targets):
        """Mean of the targets of each leaf.

        Parameters
        ----------
        targets : ndarray of shape (n_rows, n_targets)
            Targets of the rows that the trees were grown on.

        Returns
        -------
        means : ndarray of shape (n_leaves, n_targets)
            One sparse product.
        """
        return leaf_means(self.leaf_sizes, self.rows, self.counts, targets)

    def mean_targets(self, X, targets):
        """Mean, over the trees, of the leaf means of rows.

        Parameters
        ----------
        X : {ndarray, csr_array} of shape (n_samples, n_features), float32
            Rows.
        targets : ndarray of shape (n_rows, n_targets)
            Targets of the rows that the trees were grown on.

        Returns
        -------
        means : ndarray of shape (n_samples, n_targets)
            What the forest predicts.
        """
        total = np.zeros((X.shape[0], targets.shape[1]))
        for block in self.blocks(targets.shape[1]):
            leaves = block.apply(X)
            ends = np.arange(leaves.shape[0] + 1) * leaves.shape[1]
            falls = csr_array(
                (np.ones(leaves.size), leaves.ravel(), ends),
                shape=(leaves.shape[0], len(block.leaf_sizes)),
            )
            total += falls @ block.leaf_means(targets)
        return total / len(self.node_counts)


def leaf_means(leaf_sizes, rows, counts, targets):
    """Mean of the targets of each leaf; arrays as in `StrippedTrees`."""
    parts = counts.astype(np.float64), rows.astype(np.int32), _ends(leaf_sizes)
    shape = len(leaf_sizes), len(targets)
    membership = csr_array(parts, shape=shape)
    return (membership @ targets) / (membership @ np.ones((len(targets), 1)))


def leaf_numbers(tree, X):
    """Leaves of rows in a compiled tree, counted in the order of its nodes."""
    return (np.cumsum(tree.children_left < 0) - 1)[tree.apply(X)]


def strip_tree(tree, leaves, counts):
    """What `StrippedTrees` keeps of a tree.

    Parameters
    ----------
    tree : Tree
        A compiled tree, grown depth first.
    leaves : ndarray of shape (n_rows,)
        Leaf of each row, from `leaf_numbers`.
    counts : ndarray of shape (n_rows,)
        How often each row was drawn.

    Returns
    -------
    features, thresholds, right_children, leaf_sizes, rows, counts : ndarray
        Arrays of one tree.
    """
    splits = tree.children_left >= 0
    rows = np.flatnonzero(counts)
    order = np.argsort(leaves[rows], kind="stable")
    rows = rows[order]
    return (
        _small(np.where(splits, tree.feature + 1, 0)),
        _below(tree.threshold[splits]),
        _small(tree.children_right[splits]),
        _small(np.bincount(leaves[rows])),
        _small(rows),
        _small(counts[rows]),
    )


def _below(thresholds):
    """Thresholds in single precision, rounded down: they divide such numbers alike."""
    short = thresholds.astype(np.float32)
    return np.where(short > thresholds, np.nextafter(short, np.float32(-np.inf)), short)


def _small(values):
    return values.astype(np.min_scalar_type(values.max(initial=0)))


def _ends(sizes):
    """Where parts of these sizes begin, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
