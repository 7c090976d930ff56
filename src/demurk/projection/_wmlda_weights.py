"""How much each sample counts for each of its labels: five rules."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.sparse import issparse
from sklearn.metrics import euclidean_distances
from sklearn.utils import check_random_state

from demurk.projection._base import column_means

__all__ = [
    "correlation_weights",
    "dependence_weights",
    "entropy_weights",
    "fuzzy_weights",
    "label_cosines",
    "label_weights",
]

# Rows whose scores are computed together; their pairwise products are kept.
BLOCK_ROWS = 64


def label_weights(rule, X, labels, random_state=None):
    """Weights of the samples for the labels, by the rule of that name.

    Parameters
    ----------
    rule : {"binary", "entropy", "correlation", "fuzzy", "dependence"}
        The rule.
    X : ndarray or csr_array of shape (n_samples, n_features)
        Features of the labelled rows; looked at by the last two rules only.
    labels : LabelData
        Their labels. An entry that was not observed gets weight 0.
    random_state : int, RandomState instance or None, default=None
        Order in which "dependence" visits the samples.

    Returns
    -------
    weights : ndarray of shape (n_samples, n_labels)
        Non-negative weights. Samples without a label have none.
    """
    Y = labels.values
    if rule == "binary":
        return Y
    if rule == "entropy":
        return entropy_weights(Y)
    if rule == "correlation":
        return correlation_weights(Y, labels.observed, label_cosines(Y.T @ Y))
    if rule == "fuzzy":
        return fuzzy_weights(X, Y)
    return dependence_weights(X, Y, random_state)


def entropy_weights(Y):
    """Each sample counts once, shared equally among its labels."""
    return Y / np.maximum(Y.sum(axis=1, keepdims=True), 1)


def label_cosines(gram):
    """Cosines between label columns, from their products; 0 for an empty label."""
    norms = np.sqrt(gram.diagonal())
    inverse = np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
    return gram * inverse * inverse[:, None]


def correlation_weights(Y, observed, cosines):
    """The labels and, by their cosines, those related to them, over the label count."""
    related = Y @ cosines / np.maximum(Y.sum(axis=1, keepdims=True), 1)
    return np.where(observed, related, 0.0)


def fuzzy_weights(X, Y, *, max_iter=100, tol=0.01):
    """Each sample counts once, shared by closeness to the centres of its labels.

    Weights and centres are computed in turn until the centres move by less than `tol`
    of their distance from the mean. O(n D q) per iteration.
    """
    mean = column_means(X)
    if not issparse(X):
        X = X - mean  # distances keep their digits where the mean is large
        mean = np.zeros_like(mean)
    W = entropy_weights(Y)
    centers = _fuzzy_centers(X, W)
    for _ in range(max_iter):
        distances = euclidean_distances(X, centers, squared=True)
        # A sample on a centre would get all of the weight, or 0 / 0.
        floor = 1e-12 * distances.max() + np.finfo(np.float64).tiny
        closeness = Y / np.maximum(distances, floor)
        total = closeness.sum(axis=1, keepdims=True)
        W = closeness / np.where(total > 0, total, 1)
        old, centers = centers, _fuzzy_centers(X, W)
        if np.linalg.norm(centers - old) <= tol * np.linalg.norm(centers - mean):
            break
    return W


def _fuzzy_centers(X, W):
    squares = W**2
    total = squares.sum(axis=0)
    return (X.T @ squares).T / np.where(total > 0, total, 1)[:, None]


def dependence_weights(X, Y, random_state=None, *, max_iter=1000):
    """Each sample counts for that one of its labels which adds most dependence.

    Maximises ``||Xc'W||^2``, the dependence (HSIC) between features and weights, with
    the rows of W on the simplex over the labels of the sample. In one row the
    criterion is convex, hence best at a corner: row after row takes the label k with
    the largest ``xc_i' G_k - |xc_i|^2 W_ik``, where ``G = Xc'W`` is kept up to date. It
    never decreases.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        Features.
    Y : ndarray of shape (n_samples, n_labels)
        0/1 labels.
    random_state : int, RandomState instance or None, default=None
        Order in which the samples are visited, a new one for each sweep.
    max_iter : int, default=1000
        Most sweeps; they end when one changes nothing.

    Returns
    -------
    weights : ndarray of shape (n_samples, n_labels)
        One 1 in each row that has a label.

    Notes
    -----
    Rows are taken in blocks, with one product for the scores of a block and one for
    its Gram matrix, by which a change is passed on to the later rows of the block. The
    result is that of visiting them one by one. A sweep costs O(n D (q + 64)), memory
    is O(D q + n q); 10 to 30 sweeps are usual, the later ones with few changes.
    """
    rng = check_random_state(random_state)
    mean = column_means(X)
    W = entropy_weights(Y)
    several = np.flatnonzero(Y.sum(axis=1) > 1)
    if several.size == 0:
        return W
    G = X.T @ W - np.multiply.outer(mean, W.sum(axis=0))
    for _ in range(max_iter):
        order = rng.permutation(several)
        changed = False
        for first in range(0, order.size, BLOCK_ROWS):
            block = order[first : first + BLOCK_ROWS]
            rows = X[block].toarray() if issparse(X) else X[block]
            rows = rows - mean
            before = W[block]
            after = _assign(rows @ G, rows @ rows.T, before, Y[block] > 0)
            if after is not before:
                changed = True
                G += rows.T @ (after - before)
                W[block] = after
        if not changed:
            break
    return W


def _assign(scores, gram, weights, allowed):
    """Visit the rows of a block in turn; return `weights` itself if all stay."""
    gains = scores - gram.diagonal()[:, None] * weights
    best = np.where(allowed, gains, -np.inf).argmax(axis=1)
    moving = weights[np.arange(len(best)), best] != 1.0
    if not moving.any():
        return weights
    weights = weights.copy()
    for i in range(moving.argmax(), len(weights)):
        mine = allowed[i].nonzero()[0]
        own = weights[i, mine]
        best = (scores[i, mine] - gram[i, i] * own).argmax()
        if own[best] == 1.0:
            continue
        own[best] -= 1.0  # now the old weights less the new ones
        scores[i + 1 :, mine] -= gram[i + 1 :, i, None] * own
        weights[i, mine] = 0.0
        weights[i, mine[best]] = 1.0
    return weights
