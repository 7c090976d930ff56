"""Fixtures of the device tests."""

import pytest


@pytest.fixture
def torch():
    """The package torch, without which these tests are skipped."""
    return pytest.importorskip("torch", reason="the extra gpu (torch) is not installed")


@pytest.fixture
def on_device(torch, monkeypatch):
    """Tensors in memory take the way of those on a device."""
    monkeypatch.setattr("demurk.device._run.everywhere", True)


@pytest.fixture(params=["cpu", "cuda"])
def device(request, torch, monkeypatch):
    """Every device there is; memory stands in for one."""
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("there is no CUDA device")
    if request.param == "cpu":
        monkeypatch.setattr("demurk.device._run.everywhere", True)
    return request.param
