"""Fixtures shared by all tests."""

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# How long an example takes says nothing on a busy machine.
settings.register_profile("demurk", deadline=None)
settings.load_profile("demurk")


# The search for doctests would import them.
collect_ignore_glob = [
    f"src/demurk/device/{files}"
    for package, files in (("torch", "_*.py"), ("triton", "_kernels.py"))
    if find_spec(package) is None
]


@pytest.fixture
def rng():
    """A fresh generator with a fixed seed."""
    return np.random.RandomState(42)


@pytest.fixture(scope="session")
def data_home():
    """The folder of benchmark data; tests that need it skip where it is absent."""
    beside = Path(__file__).resolve().parent.parent / "shared" / "data"
    home = Path(os.environ.get("DEMURK_DATA", beside))
    if not home.is_dir():
        pytest.skip("benchmark data not found: set DEMURK_DATA to their folder")
    return home


@pytest.fixture(autouse=True, scope="session")
def _headless():
    """Pictures are drawn without a screen."""
    os.environ.setdefault("MPLBACKEND", "Agg")
