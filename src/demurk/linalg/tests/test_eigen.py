"""Tests of graph eigenvectors and signs."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import block_diag, coo_array, csr_array, csr_matrix, diags_array
from scipy.sparse.linalg import LinearOperator, aslinearoperator
from sklearn.neighbors import kneighbors_graph

from demurk.linalg import _eigen as module
from demurk.linalg import flip_signs, graph_eigenvectors

SOLVERS = ("auto", "dense", "arpack", "shift-invert")


@pytest.fixture(autouse=True)
def iterate_early(monkeypatch):
    """Let graphs be small where the iterative solvers are tested."""
    monkeypatch.setattr(module, "MAX_DENSE", 50)


def normalized(W):
    scale = diags_array(1.0 / np.sqrt(W.sum(axis=1)))
    return csr_array(scale @ W @ scale)


def cloud(n, seed=0, n_neighbors=8, dim=4):
    """Normalised neighbour graph of one Gaussian cloud."""
    X = np.random.default_rng(seed).normal(size=(n, dim))
    W = csr_array(kneighbors_graph(X, n_neighbors))
    return normalized(((W + W.T) > 0).astype(float))


def ring(n):
    """Every eigenvalue but the extreme ones occurs twice."""
    i = np.arange(n)
    W = coo_array((np.ones(n), (i, (i + 1) % n)), shape=(n, n)).tocsr()
    return normalized(W + W.T)


def assert_pairs(S, values, vectors, which="LA", atol=1e-9):
    """Compare with a dense solver, eigenspace by eigenspace."""
    m = len(values)
    dense = S.toarray() if hasattr(S, "toarray") else S
    all_values, all_vectors = np.linalg.eigh(dense)
    if which == "LA":
        all_values, all_vectors = all_values[::-1], all_vectors[:, ::-1]
    assert_allclose(values, all_values[:m], rtol=0, atol=atol)
    assert_allclose(vectors.T @ vectors, np.eye(m), rtol=0, atol=1e-8)
    residual = np.linalg.norm(dense @ vectors - vectors * values, axis=0)
    assert residual.max() < 1e-7
    for j in range(m):
        space = all_vectors[:, np.abs(all_values - all_values[j]) < 1e-7]
        outside = vectors[:, j] - space @ (space.T @ vectors[:, j])
        assert np.linalg.norm(outside) < 1e-5


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n", [40, 200])
def test_against_dense(n, solver):
    S = cloud(n)
    values, vectors = graph_eigenvectors(S, 6, solver=solver)
    assert values.shape == (6,)
    assert vectors.shape == (n, 6)
    assert vectors.flags.c_contiguous
    assert_pairs(S, values, vectors)
    assert_array_equal(vectors, flip_signs(vectors.T).T)
    expected = np.linalg.eigh(S.toarray())[1][:, :-7:-1]
    assert_allclose(vectors, flip_signs(expected.T).T, rtol=0, atol=1e-5)


@pytest.mark.parametrize("n", [40, 200])
def test_kinds_of_matrix(n):
    S = cloud(n)
    operator = LinearOperator(S.shape, matvec=lambda v: S @ v, dtype=S.dtype)
    expected = graph_eigenvectors(S, 4)
    for same in (csr_matrix(S), S.tocsc(), S.tocoo(), operator, S.toarray()):
        values, vectors = graph_eigenvectors(same, 4)
        assert_allclose(values, expected[0], rtol=0, atol=1e-12)
        assert_allclose(vectors, expected[1], rtol=0, atol=1e-6)
    values, _ = graph_eigenvectors(S.astype(np.float32), 4)
    assert values.dtype == np.float64
    assert_allclose(values, expected[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("n", [40, 200])
def test_smallest(n, solver):
    S = csr_array(diags_array(np.ones(n)) - cloud(n))  # the normalised Laplacian
    values, vectors = graph_eigenvectors(S, 4, which="SA", solver=solver)
    assert (np.diff(values) > 0).all()
    assert_pairs(S, values, vectors, which="SA")
    operator = aslinearoperator(S)
    assert_allclose(graph_eigenvectors(operator, 4, which="SA")[0], values, atol=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_components_give_multiple_eigenvalues(solver):
    sizes = (130, 40, 3, 90, 2)
    blocks = [ring(n) if n == 3 else cloud(n, n) for n in sizes[:4]]
    S = csr_array(block_diag([*blocks, [[0.0, 1.0], [1.0, 0.0]]]))
    order = np.random.default_rng(0).permutation(S.shape[0])
    S = S[order][:, order]
    values, vectors = graph_eigenvectors(S, 7, solver=solver)
    assert_pairs(S, values, vectors)
    assert_allclose(values[:5], 1.0, rtol=0, atol=1e-10)
    assert values[5] < 1.0 - 1e-6
    # One component each, in the order of their first rows.
    owner = np.repeat(np.arange(5), sizes)[order]
    first = [owner[np.flatnonzero(vector)] for vector in vectors.T[:5]]
    assert all((part == part[0]).all() for part in first)
    appearance = list(dict.fromkeys(owner.tolist()))
    assert [int(part[0]) for part in first] == appearance


@pytest.mark.parametrize("parts", [2, 5, 9])
def test_operators_in_pieces(parts):
    # Nothing tells the solver that the operator falls apart; plain ARPACK misses
    # copies of the eigenvalue one here.
    S = csr_array(block_diag([cloud(60, seed) for seed in range(parts + 4)]))
    values, vectors = graph_eigenvectors(aslinearoperator(S), parts + 2)
    assert_allclose(values, 1.0, rtol=0, atol=1e-10)
    assert_pairs(S, values, vectors)


@pytest.mark.parametrize("solver", ["arpack", "shift-invert"])
def test_symmetric_graphs(solver):
    S = ring(200)
    values, vectors = graph_eigenvectors(S, 7, solver=solver)
    angles = 2.0 * np.pi * np.array([0, 1, 1, 2, 2, 3, 3]) / S.shape[0]
    assert_allclose(values, np.cos(angles), rtol=0, atol=1e-11)
    assert_pairs(S, values, vectors)


def test_isolated_rows():
    S = cloud(30)
    S = csr_array(block_diag([csr_array((2, 2)), S, csr_array((1, 1))]))
    values, vectors = graph_eigenvectors(S, 33)
    assert_pairs(S, values, vectors)
    values, vectors = graph_eigenvectors(csr_array((4, 4)), 2)
    assert_array_equal(values, 0.0)
    assert_array_equal(vectors, np.eye(4)[:, :2])


def test_all_pairs():
    S = cloud(40)
    for solver in SOLVERS:
        values, vectors = graph_eigenvectors(S, 40, solver=solver)
        assert_pairs(S, values, vectors)


def test_scale_and_shift():
    S = cloud(200)
    values, vectors = graph_eigenvectors(S, 4)
    moved = csr_array(1e6 * S - diags_array(np.full(200, 3e6)))  # all negative
    for solver in ("arpack", "shift-invert"):
        other = graph_eigenvectors(moved, 4, solver=solver)
        assert_allclose(other[0], 1e6 * values - 3e6, rtol=1e-10)
        assert_allclose(other[1], vectors, rtol=0, atol=1e-5)


def test_repeatable():
    S = cloud(200)
    operator = aslinearoperator(csr_array(block_diag([cloud(80, 1), cloud(80, 2)])))
    # Two distinct eigenvalues: ARPACK runs out of new directions and draws one.
    few = aslinearoperator(diags_array(np.repeat([1.0, 0.0], 40)))
    for problem in (S, operator, few):
        for seed in (0, 5):
            a = graph_eigenvectors(problem, 5, random_state=seed)
            b = graph_eigenvectors(problem, 5, random_state=seed)
            assert_array_equal(a[0], b[0])
            assert_array_equal(a[1], b[1])
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    graph_eigenvectors(S, 5)
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_order_of_rows():
    S = cloud(200)
    order = np.random.default_rng(1).permutation(200)
    values, vectors = graph_eigenvectors(S, 5)
    other = graph_eigenvectors(S[order][:, order], 5)
    assert_allclose(other[0], values, rtol=0, atol=1e-12)
    assert_allclose(other[1], vectors[order], rtol=0, atol=1e-6)


def test_close_eigenvalues_fall_back_to_factoring(monkeypatch):
    called = []
    factoring = module._shift_invert

    def watch(*args):
        called.append(args)
        return factoring(*args)

    monkeypatch.setattr(module, "_shift_invert", watch)
    monkeypatch.setattr(module, "RESTARTS_BEFORE_FACTORING", 5)
    S = ring(1000)
    values, _ = graph_eigenvectors(S, 5)
    assert called
    angles = 2.0 * np.pi * np.array([0, 1, 1, 2, 2]) / 1000
    assert_allclose(values, np.cos(angles), rtol=0, atol=1e-12)


def test_no_convergence_is_an_error(monkeypatch):
    monkeypatch.setattr(module, "RESTARTS", 3)
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        graph_eigenvectors(aslinearoperator(ring(1000)), 5)
    with pytest.raises(np.linalg.LinAlgError, match="did not converge"):
        graph_eigenvectors(ring(1000), 5, solver="arpack")


@pytest.mark.parametrize(
    ("S", "options", "message"),
    [
        (np.ones((3, 2)), {}, "should be square"),
        (np.eye(3), {"n_components": 0}, "from 1 to 3"),
        (np.eye(3), {"n_components": 4}, "from 1 to 3"),
        (np.eye(3), {"which": "LM"}, "which is 'LM'"),
        (np.eye(3), {"solver": "lobpcg"}, "solver is 'lobpcg'"),
        (csr_array([[1.0, 0.0], [np.nan, 1.0]]), {}, "Row 1 of S"),
        (np.array([[0.0, 1.0], [3.0, 0.0]]), {}, "symmetric"),
        (csr_array([[0.0, 1.0], [3.0, 0.0]]), {}, "symmetric"),
    ],
)
def test_wrong_input(S, options, message):
    with pytest.raises(ValueError, match=message):
        graph_eigenvectors(S, **{"n_components": 1, **options})


def test_shift_invert_needs_a_sparse_matrix():
    with pytest.raises(TypeError, match="sparse matrix"):
        graph_eigenvectors(np.eye(3), 1, solver="shift-invert")


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 25),
    density=st.floats(0.0, 0.5),
    seed=st.integers(0, 10_000),
    which=st.sampled_from(["LA", "SA"]),
    solver=st.sampled_from(SOLVERS),
    data=st.data(),
)
def test_any_sparse_matrix(n, density, seed, which, solver, data):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n, n)) * (rng.random((n, n)) < density)
    S = csr_array(W + W.T)
    m = data.draw(st.integers(1, n))
    values, vectors = graph_eigenvectors(S, m, which=which, solver=solver)
    order = np.linalg.eigvalsh(S.toarray())
    order = order[::-1] if which == "LA" else order
    assert_allclose(values, order[:m], rtol=0, atol=1e-6)
    assert_allclose(S @ vectors, vectors * values, rtol=0, atol=1e-5)


def test_flip_signs():
    rows = np.array([[1.0, -3.0, 2.0], [-2.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    before = rows.copy()
    flipped = flip_signs(rows)
    assert_array_equal(flipped, [[-1, 3, -2], [2, -2, 0], [0, 0, 0]])
    assert not np.signbit(flipped[2]).any()
    assert_array_equal(rows, before)
    assert flip_signs(rows.astype(np.float32)).dtype == np.float32
    assert flip_signs(np.zeros((0, 3))).shape == (0, 3)
    with pytest.raises(ValueError, match="components has shape"):
        flip_signs(np.zeros(3))


def test_flip_signs_ignores_round_off():
    row = np.array([[0.5, -0.5, 0.1]])
    for noise in (1e-15, -1e-15):
        assert flip_signs(row + [[0.0, noise, 0.0]])[0, 0] > 0


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 5), st.integers(1, 6), st.integers(0, 10_000))
def test_flip_signs_properties(d, n_features, seed):
    rows = np.random.default_rng(seed).normal(size=(d, n_features))
    flipped = flip_signs(rows)
    assert_array_equal(np.abs(flipped), np.abs(rows))
    assert_array_equal(flip_signs(-rows), flipped)
    assert_array_equal(flip_signs(flipped), flipped)
    largest = np.abs(rows).argmax(axis=1)
    assert (flipped[np.arange(d), largest] > 0).all()
