"""The steps of PARTICLE: confidences, credible labels, and classifiers of pairs."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.svm import SVC, LinearSVC

__all__ = ["credible_labels", "fit_pair", "near_votes", "propagated", "scaled_rows"]

# Propagation ends when the confidences move by less than this.
TOL = 1e-5
MAX_STEPS = 1000
MAX_SVM_STEPS = 10_000


def propagated(graph, candidates, alpha):
    """Confidences among samples that rebuild each other, rows scaled to [0, 1].

    Parameters
    ----------
    graph : csr_array of shape (n, n)
        Weights of the neighbours, rows summing to one.
    candidates : ndarray of shape (n, q), bool
        Candidates.
    alpha : float
        Share of the neighbours, below 1.

    Returns
    -------
    confidences : ndarray of shape (n, q)
        Zero outside the candidates; the best candidate of a row has one.
    """
    given = candidates.astype(np.float64)
    P = row_shares(given)
    for _ in range(MAX_STEPS):
        updated = row_shares((alpha * (graph @ P) + (1 - alpha) * given) * candidates)
        moved = np.linalg.norm(updated - P)
        P = updated
        if moved < TOL:
            break
    mass = P.sum(axis=0)
    P = P * (given.sum(axis=0) / np.where(mass > 0, mass, 1))
    return scaled_rows(P, candidates)


def row_shares(values):
    """Rows scaled to sum one; rows of zeros stay."""
    total = values.sum(axis=1, keepdims=True)
    return values / np.where(total > 0, total, 1)


def scaled_rows(values, candidates):
    """Rows scaled to [0, 1]; where all entries are equal the candidates have one."""
    low = values.min(axis=1, keepdims=True)
    width = values.max(axis=1, keepdims=True) - low
    scaled = (values - low) / np.where(width > 0, width, 1)
    return np.where(width > 0, scaled, candidates)


def near_votes(distances):
    """Weights ``1 - d / sum(d)`` of the neighbours, from their distances."""
    n, k = distances.shape[0], distances.nnz // distances.shape[0]
    d = distances.data.reshape(n, k).astype(np.float64)
    total = d.sum(axis=1, keepdims=True)
    # A single neighbour, or several at distance zero, count fully.
    weights = 1 - d / np.where(total > 0, total, 1) if k > 1 else np.ones((n, 1))
    return csr_array(
        (weights.ravel(), distances.indices, distances.indptr), shape=distances.shape
    )


def credible_labels(confidences, candidates, bound):
    """Candidates that reach the bound, or else the best candidate of the row."""
    credible = candidates & (confidences >= bound)
    lost = np.flatnonzero(candidates.any(axis=1) & ~credible.any(axis=1))
    inside = np.where(candidates[lost], confidences[lost], -np.inf)
    credible[lost, inside.argmax(axis=1)] = True
    return credible


def fit_pair(X, for_first, for_second, C, loss="squared_hinge"):
    """Linear classifier between two sets of samples.

    Parameters
    ----------
    X : {ndarray, csr_array} of shape (n, d)
        Features.
    for_first, for_second : ndarray of shape (n,), bool
        Samples of both sides.
    C : float
        Inverse penalty.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        That of liblinear, which penalises the intercept too, or of libsvm.

    Returns
    -------
    coef : ndarray of shape (d,)
        Weights, positive for the first side.
    intercept : float
        Intercept.
    accuracy : float
        Share of the samples put right; 0 if there are none.
    """
    used = np.flatnonzero(for_first ^ for_second)
    side = for_first[used]
    zero = np.zeros(X.shape[1])
    if used.size == 0:
        return zero, 0.0, 0.0
    if side.all() or not side.any():
        return zero, 1.0 if side[0] else -1.0, 1.0
    if loss == "hinge":
        model = SVC(C=C, kernel="linear")
    else:
        # The primal solver draws no random numbers, but would take a seed from numpy.
        model = LinearSVC(C=C, dual=False, max_iter=MAX_SVM_STEPS, random_state=0)
    model.fit(X[used], side)
    coef = model.coef_.toarray() if issparse(model.coef_) else model.coef_
    return coef[0], model.intercept_[0], model.score(X[used], side)
