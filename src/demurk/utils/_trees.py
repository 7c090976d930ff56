"""scikit-learn's compiled tree, which has no public name."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import cache

import numpy as np
from sklearn.tree import DecisionTreeRegressor

__all__ = ["compiled_tree", "node_dtype", "tree_class"]


@cache
def tree_class():
    """The class of the trees below the estimators."""
    return type(DecisionTreeRegressor().fit([[0.0]], [0.0]).tree_)


@cache
def node_dtype():
    """The dtype of their nodes."""
    empty = tree_class()(1, np.ones(1, dtype=np.intp), 1)
    return empty.__getstate__()["nodes"].dtype


def compiled_tree(nodes, n_features):
    """A tree that finds the leaf of a row, and says nothing of its value.

    Parameters
    ----------
    nodes : ndarray of shape (n_nodes,) of `node_dtype`
        Splits; compiled code follows their children and features unchecked.
    n_features : int
        Features of the rows.

    Returns
    -------
    tree : Tree
        The tree.
    """
    tree = tree_class()(n_features, np.ones(1, dtype=np.intp), 1)
    tree.__setstate__(
        {
            "max_depth": 0,  # not needed on the way to a leaf
            "node_count": len(nodes),
            "nodes": nodes,
            "values": np.zeros((len(nodes), 1, 1)),
        }
    )
    return tree
