"""The exact search on a device against the one in memory."""

import os
import subprocess
import sys

import numpy as np
import pytest

from demurk.graph import nearest_neighbors
from demurk.graph._exact import exact_search as search_in_memory


def tables():
    rng = np.random.default_rng(0)
    centers = 100 * rng.normal(size=(20, 16))
    few = rng.normal(size=(30, 8))
    return {
        "normal": rng.normal(size=(1500, 20)),
        "clustered": centers[rng.integers(20, size=1500)] + rng.normal(size=(1500, 16)),
        "duplicated": few[rng.integers(30, size=600)],
        "ill-scaled": rng.normal(size=(1500, 10)) * 10.0 ** np.arange(-5, 5),
        "heavy": np.exp(3 * rng.normal(size=(1500, 10))),
        "far": 1e6 + rng.normal(size=(800, 6)),
        "grid": rng.integers(3, size=(800, 5)).astype(float),
        "equal": np.ones((300, 4)),
        "tiny": 1e-15 * rng.normal(size=(500, 3)),
        "few": rng.normal(size=(12, 3)),
    }


@pytest.mark.parametrize("name", tables())
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exact_for_any_data(device, torch, name, dtype):
    from demurk.device._search import exact_search

    X = tables()[name].astype(dtype)
    k = min(10, len(X) - 1)
    for queries in (None, X[:77][::-1].copy()):
        wanted, which = search_in_memory(X, queries, k)
        there = None if queries is None else torch.tensor(queries, device=device)
        found = exact_search(torch.tensor(X, device=device), there, k)
        np.testing.assert_array_equal(found.indices.cpu().numpy(), which)
        squares = found.squares.cpu().numpy()
        np.testing.assert_allclose(np.sqrt(squares), wanted, rtol=1e-12)


def test_every_row_is_certified_or_searched_again(device, torch):
    from demurk.device._search import exact_search

    def repeated(X):
        return exact_search(torch.tensor(X, device=device), None, 5).n_repeated

    data = tables()
    assert repeated(data["normal"]) == 0
    # Equal distances cannot be told apart by bounds.
    assert repeated(data["equal"]) == len(data["equal"])


@pytest.mark.parametrize("width", [40, 200])
def test_other_kernels_and_none(torch, monkeypatch, width):
    """Devices with little shared memory, and without Triton."""
    if not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    from demurk.device import _kernels, _search

    X = np.random.default_rng(0).normal(size=(3000, width)).astype(np.float32)
    _, which = search_in_memory(X, None, 10)
    rows = torch.tensor(X, device="cuda")
    plain = _search.exact_search(rows, None, 10, fused=False)
    monkeypatch.setattr(_kernels, "LARGE", 1e9)
    small = _search.exact_search(rows, None, 10, fused=True)
    for found in (plain, small):
        np.testing.assert_array_equal(found.indices.cpu(), which)
        assert not found.n_repeated


def test_no_compiler(torch, monkeypatch):
    from demurk.device import _search

    pytest.importorskip("triton", reason="the extra gpu (triton) is not installed")
    monkeypatch.setattr(torch, "zeros", lambda *a, **k: 1 / 0)
    with pytest.warns(UserWarning, match="slower without it: division by zero"):
        assert not _search._kernels_work.__wrapped__(torch.device("cpu"))


@pytest.mark.parametrize("k", [1, 64, 300])
def test_many_neighbors(device, torch, k):
    X = np.random.default_rng(1).normal(size=(1000, 7))
    graph = nearest_neighbors(torch.tensor(X, device=device), k)
    wanted = nearest_neighbors(X, k).distances
    found = graph.distances
    assert found.layout == torch.sparse_csr
    np.testing.assert_array_equal(found.col_indices().cpu(), wanted.indices)
    np.testing.assert_array_equal(found.crow_indices().cpu(), wanted.indptr)
    np.testing.assert_allclose(found.values().cpu(), wanted.data, rtol=1e-12)
    assert graph.recall == 1.0
    host = graph.on_host().distances
    assert (host != wanted).nnz <= k * len(X)
    np.testing.assert_array_equal(host.indices, wanted.indices)
    assert float(graph.connectivity.values().sum()) == k * len(X)


@pytest.mark.parametrize("twice", [False, True])
def test_bounds_lie_below_all_distances(torch, twice):
    from demurk.device import _search

    X = torch.randn(700, 12, generator=torch.Generator().manual_seed(0))
    # In half precision, as a GPU screens, but with products that a CPU has.
    which = torch.arange(len(X)) if twice else None
    search = _search._Search(X, None, 5, False, _search.unwatched, which)
    frame = _search.Frame(X)
    parts = ("hhl", "hlh") if twice else ("h", "h")
    search.points = _search._Screened(X, frame, torch.float16, parts[0])
    search.queries = _search._Screened(X, frame, torch.float16, parts[1])
    for screened in (search.points, search.queries):
        screened.rows = screened.rows.float()
    rows = slice(0, len(X))
    bounds = search._bounds(rows, search._slack(rows)).double()
    exact = ((X.double() - frame.mean) * frame.scale)[search.points.order]
    true = exact.square().sum(dim=1) - 2 * exact @ exact.T
    pad = torch.full((len(X), bounds.shape[1] * 64 - len(X)), torch.inf)
    smallest = torch.cat([true, pad], dim=1).view(len(X), -1, 64).amin(dim=2)
    gap = (smallest - bounds)[:, :11]
    assert (gap >= 0).all()
    # And not far below: the errors are those of the rows, not of any rows.
    assert gap.max() < (1e-4 if twice else 1e-2) * true.abs().max()


def test_second_screen(torch):
    """Queries that are not certified at once are, with twice the digits."""
    from demurk.device import _search

    data = tables()["clustered"]
    wanted, which = search_in_memory(data, None, 10)
    X = torch.tensor(data)
    rough = torch.randperm(len(X), generator=torch.Generator().manual_seed(0))[:900]
    search = _search._Search(X, None, 10, False, _search.unwatched, rough)
    squares = torch.zeros((len(X), 10), dtype=torch.float64)
    indices = torch.zeros((len(X), 10), dtype=torch.int64)
    state = torch.full((len(X),), 9, dtype=torch.uint8)
    search.fill(squares, indices, state)
    assert (state[rough] == _search.CERTAIN).all()
    assert (state == 9).sum() == len(X) - len(rough)
    np.testing.assert_array_equal(indices[rough], which[rough])
    np.testing.assert_allclose(squares[rough].sqrt(), wanted[rough], rtol=1e-12)


def test_second_search_in_double_precision(torch, monkeypatch):
    from demurk.device import _plain

    X = (
        np.random.default_rng(3).normal(size=(500, 4))
        + 1e7 * np.eye(4)[np.random.default_rng(4).integers(4, size=500)]
    )
    wanted, which = search_in_memory(X, None, 3)
    rows = torch.tensor(X)
    monkeypatch.setattr(_plain, "MANY", 20)
    squares, indices = _plain.search_plain(rows, None, torch.arange(500), 3)
    np.testing.assert_array_equal(indices, which)
    np.testing.assert_allclose(squares.sqrt(), wanted, rtol=1e-12)


def test_products_ignore_the_precision_of_the_session(torch):
    from demurk.device._plain import full_precision

    matmul = torch.backends.cuda.matmul
    before = matmul.allow_tf32
    try:
        matmul.allow_tf32 = True
        with full_precision():
            assert not matmul.allow_tf32
        assert matmul.allow_tf32
    finally:
        matmul.allow_tf32 = before


KERNELS = """
import torch
from demurk.device._kernels import group_minima, group_squares
torch.manual_seed(0)
for width in (64, 128, 192):
    P = torch.randn(256, width).half()
    norms = P.float().square().sum(dim=1)
    out = torch.full((128, 4), 9e9)
    group_minima(P[:128].contiguous(), P, norms, out, 64)
    wanted = (norms - 2 * P[:128].float() @ P.float().T).view(128, 4, 64).amin(dim=2)
    assert (out - wanted).abs().max() < 1e-3, width
for dtype in (torch.float32, torch.float64):
    X = torch.randn(150, 70, dtype=dtype)
    groups = torch.tensor([[0, 2], [1, 0]])
    lower = torch.tensor([[0.0, 1.0], [0.0, 5.0]])
    bound, own = torch.tensor([2.0, 2.0]), torch.tensor([3, -1])
    out = torch.full((2, 2, 64), -1.0, dtype=dtype)
    group_squares(X[3:5].contiguous(), X, groups, lower, bound, own, out)
    wanted = (X[3:5, None] - X[None]).square().sum(dim=2)
    wanted[0, 3] = torch.inf
    assert torch.allclose(out[0, 0], wanted[0, :64])
    assert torch.allclose(out[0, 1, :22], wanted[0, 128:])
    assert torch.isinf(out[0, 1, 22:]).all()
    assert torch.allclose(out[1, 0], wanted[1, 64:128])
    assert torch.isinf(out[1, 1]).all()
"""


def test_kernels_in_the_interpreter(torch):
    pytest.importorskip("triton", reason="the extra gpu (triton) is not installed")
    if torch.cuda.is_available():
        pytest.skip("the compiled kernels are tested")
    # Triton decides at its import whether kernels are compiled or interpreted.
    done = subprocess.run(
        [sys.executable, "-c", KERNELS],
        env=os.environ | {"TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
    )
    if "only 0-dimensional arrays can be converted" in done.stderr:
        pytest.skip("Triton's interpreter does not know this numpy")
    assert done.returncode == 0, done.stderr
