# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import eigsh

from demurk.graph import SparseLowRank, _operator, affinity, nearest_neighbors


def parts(seed=0, n=50, r=6):
    rng = np.random.default_rng(seed)
    W = affinity(nearest_neighbors(rng.standard_normal((n, 3)), 4), weights="heat")
    C = rng.standard_normal((r, r))
    return W, rng.standard_normal((n, r)), C + C.T


FACTORS = {
    "dense": lambda U: U,
    "sparse": lambda U: sparse.csr_array(np.where(np.abs(U) > 1, U, 0)),
    "one-hot": lambda U: sparse.csr_matrix(np.eye(U.shape[1])[np.argmax(U, axis=1)]),
}


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("core", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("with_sparse", [True, False])
def test_operator_equals_the_dense_matrix(factor, core, with_sparse, monkeypatch):
    monkeypatch.setattr(_operator, "_CHUNK_BYTES", 8 * 6 * 7)  # several chunks
    W, U, C = parts()
    U = FACTORS[factor](U)
    dense_U = U.toarray() if sparse.issparse(U) else U
    dense = dense_U @ C @ dense_U.T
    if with_sparse:
        dense = dense + W.toarray()
    operator = SparseLowRank(W if with_sparse else None, U, core(C))

    rng = np.random.default_rng(1)
    v, V = rng.standard_normal(50), rng.standard_normal((50, 4))
    close = {"rtol": 1e-11, "atol": 1e-12}
    np.testing.assert_allclose(operator @ v, dense @ v, **close)
    np.testing.assert_allclose(operator @ V, dense @ V, **close)
    np.testing.assert_allclose(operator.T @ V, dense @ V, **close)
    np.testing.assert_allclose(operator.degrees(), dense.sum(axis=1), **close)
    np.testing.assert_allclose(operator.diagonal(), np.diag(dense), **close)
    d = rng.random(50)
    scaled = operator.scaled(d)
    assert isinstance(scaled, SparseLowRank)
    np.testing.assert_allclose(
        scaled @ np.eye(50), d[:, None] * dense * d[None, :], **close
    )
    np.testing.assert_allclose(operator @ v, dense @ v, **close)  # unchanged


def test_label_graph_with_zero_diagonal_and_its_eigenvalues():
    # W^F / 2 + Jaccard similarity of label sets without its diagonal, as SLE-ML
    # needs it, against a loop over all pairs.
    rng = np.random.default_rng(0)
    n = 80
    Y = (rng.random((n, 4)) < 0.4).astype(float)
    graph = nearest_neighbors(rng.standard_normal((n, 3)), 5)
    features = affinity(graph, symmetrize="mean")
    labels = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            union = np.maximum(Y[i], Y[j]).sum()
            if i != j and union:
                labels[i, j] = np.minimum(Y[i], Y[j]).sum() / union
    dense = 0.5 * features.toarray() + 0.5 * labels

    sets, member = np.unique(Y, axis=0, return_inverse=True)
    member = member.ravel()  # numpy 2.0.0 gives a column
    both = sets @ sets.T
    union = sets.sum(1)[:, None] + sets.sum(1) - both
    J = np.divide(both, union, out=np.zeros_like(both), where=union > 0)
    U = sparse.csr_array((np.ones(n), (np.arange(n), member)))
    W = 0.5 * features - sparse.diags_array(0.5 * np.diag(J)[member])
    operator = SparseLowRank(W, U, 0.5 * J)
    d = operator.degrees()
    np.testing.assert_allclose(d, dense.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(operator.diagonal(), 0.0, atol=1e-15)
    values = eigsh(operator.scaled(d**-0.5), 4, which="LA", return_eigenvectors=False)
    expected = np.linalg.eigvalsh(dense / np.sqrt(np.outer(d, d)))[-4:]
    np.testing.assert_allclose(values, expected, rtol=1e-10)


def test_rank_zero_is_the_sparse_part():
    W, _, _ = parts()
    operator = SparseLowRank(W, np.zeros((50, 0)), np.zeros((0, 0)))
    np.testing.assert_array_equal(operator @ np.eye(50), W.toarray())
    np.testing.assert_array_equal(operator.diagonal(), 0.0)


def test_errors():
    W, U, C = parts()
    with pytest.raises(ValueError, match=r"C must have shape \(6, 6\)"):
        SparseLowRank(W, U, C[:5, :5])
    with pytest.raises(ValueError, match="not symmetric"):
        SparseLowRank(W, U, C + np.triu(np.ones((6, 6)), 1))
    with pytest.raises(ValueError, match=r"W must have shape \(49, 49\)"):
        SparseLowRank(W, U[:-1], C)
    with pytest.raises(ValueError, match="two dimensions"):
        SparseLowRank(W, U[:, 0], C)
    with pytest.raises(ValueError, match=r"scale must have shape \(50,\)"):
        SparseLowRank(W, U, C).scaled(np.ones(3))
