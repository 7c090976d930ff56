"""The graph of label sets: how similar the labels of two samples are.

Two samples are joined by the Jaccard similarity of their label sets. There are far
fewer sets than samples, so that the similarities of the distinct sets say it all.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array, issparse, vstack
from sklearn.utils import gen_batches

__all__ = ["LabelGraph", "distinct_sets", "jaccard", "label_graph"]

# More pairs of sets that share a label than this are too many; weak ones are left out.
MAX_PAIRS = 50_000_000
WEAK = 0.1
# Rarer zeros are not worth a sparse matrix.
SPARSE_SHARE = 0.1
CHUNK_NUMBERS = 2**22


@dataclass(frozen=True)
class LabelGraph:
    """Similarity of the labels of n samples, through their m distinct label sets.

    Attributes
    ----------
    group : ndarray of int of shape (n,)
        Label set of each sample; -1 for a sample without label edges.
    sets : ndarray of bool of shape (m, n_labels)
        The distinct label sets.
    similarity : {ndarray, csr_array} of shape (m, m)
        Weight of an edge between samples of two sets.
    """

    group: np.ndarray
    sets: np.ndarray
    similarity: object

    @property
    def labeled(self):
        """Which samples have a label set."""
        return self.group >= 0

    def membership(self):
        """One-hot membership of the samples in the sets, (n, m)."""
        rows = np.flatnonzero(self.labeled)
        shape = len(self.group), len(self.sets)
        return csr_array((np.ones(len(rows)), (rows, self.group[rows])), shape=shape)

    def loops(self):
        """Weight of each sample with itself, which is no edge, (n,)."""
        own = np.r_[self.similarity.diagonal(), 0.0]
        return own[self.group]

    def degrees(self):
        """Sum of the weights of each sample with the others, (n,)."""
        degree = set_degrees(self.similarity, set_counts(self.group, len(self.sets)))
        return np.r_[degree, 0.0][self.group]


def label_graph(labels, *, empty="unlabeled", imbalance=0.0):
    """Jaccard similarities of the label sets.

    Parameters
    ----------
    labels : LabelData
        Checked labels; an entry that was not observed counts as absent.
    empty : {"unlabeled", "identical"}, default="unlabeled"
        Whether observed rows without any label have no label edges, or are all alike.
        Rows that were not observed never have any.
    imbalance : float, default=0.0
        Exponent g in [0, 1]: weights are divided by ``(d_i d_j) ** (g / 2)``, d the
        label degrees, and brought back to the same mean degree.

    Returns
    -------
    graph : LabelGraph
        Groups, sets and their similarities.

    Notes
    -----
    Time O(n q + n log n + m^2) and memory O(n + m q + pairs of sets that share a
    label). The similarities are positive semi-definite.
    """
    known = labels.values.any(axis=1)
    if empty == "identical":
        known |= labels.labeled
    sets, group = distinct_sets(labels.values > 0, known)
    similarity = jaccard(sets)
    if imbalance and len(sets):
        similarity = _rebalanced(similarity, set_counts(group, len(sets)), imbalance)
    return LabelGraph(group, sets, similarity)


def distinct_sets(values, known):
    """Distinct rows among the known ones, and which of them each row is.

    Parameters
    ----------
    values : ndarray of bool of shape (n, q)
        Indicator of the labels.
    known : ndarray of bool of shape (n,)
        Rows that count.

    Returns
    -------
    sets : ndarray of bool of shape (m, q)
        Distinct rows.
    group : ndarray of int of shape (n,)
        Index of the row's set, -1 where it is not known.
    """
    rows = np.flatnonzero(known)
    # Sorting numbers is faster than sorting rows: 64 labels go into one number.
    bits = np.packbits(values[rows], axis=1)
    padded = np.zeros((len(rows), -(-bits.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : bits.shape[1]] = bits
    keys = padded.view(np.uint64)
    keys = keys[:, 0] if keys.shape[1] == 1 else keys
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    group = np.full(len(values), -1, dtype=np.intp)
    group[rows] = inverse.ravel()
    return values[rows[first]], group


def jaccard(sets):
    """Jaccard similarities of label sets; two empty sets are identical.

    Parameters
    ----------
    sets : ndarray of bool of shape (m, q)
        Distinct label sets.

    Returns
    -------
    similarity : {ndarray, csr_array} of shape (m, m)
        Sparse where few pairs share a label.
    """
    m = len(sets)
    if not m:
        return np.zeros((0, 0))
    U = csr_array(sets.astype(np.float64))
    sizes = sets.sum(axis=1).astype(np.float64)
    n_pairs = float((sets.sum(axis=0).astype(np.float64) ** 2).sum())
    cut = WEAK if min(n_pairs, m * m) > MAX_PAIRS else 0.0
    if cut:
        warnings.warn(
            f"The {m} distinct label sets have too many pairs that share a label; "
            f"similarities below {cut} are left out.",
            UserWarning,
            stacklevel=8,
        )
    chunks = []
    for batch in gen_batches(m, max(1, CHUNK_NUMBERS // m)):
        common = csr_array(U[batch] @ U.T)
        rows = np.repeat(np.arange(m)[batch], np.diff(common.indptr))
        common.data /= sizes[rows] + sizes[common.indices] - common.data
        if cut:
            common.data[common.data < cut] = 0.0
            common.eliminate_zeros()
        chunks.append(common)
    similarity = csr_array(vstack(chunks))
    empty = np.flatnonzero(sizes == 0)
    if empty.size:
        similarity += csr_array((np.ones(len(empty)), (empty, empty)), shape=(m, m))
    dense = similarity.nnz > SPARSE_SHARE * m * m and not cut
    return similarity.toarray() if dense else csr_array(similarity)


def set_counts(group, n_sets):
    """How many samples have each set."""
    return np.bincount(group[group >= 0], minlength=n_sets).astype(np.float64)


def set_degrees(similarity, counts):
    """Label degree of a sample of each set, itself left out."""
    return similarity @ counts - similarity.diagonal()


def _rebalanced(similarity, counts, exponent):
    """Divide by powers of the degrees, and keep the mean degree of the samples."""
    before = np.maximum(set_degrees(similarity, counts), 0.0)
    scale = np.zeros(len(before))
    np.power(before, -exponent / 2, out=scale, where=before > 0)
    if issparse(similarity):
        diagonal = diags_array(scale)
        after = csr_array(diagonal @ similarity @ diagonal)
    else:
        after = scale[:, None] * similarity * scale
    total = counts @ set_degrees(after, counts)
    return after * (counts @ before / total) if total > 0 else after
