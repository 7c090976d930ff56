"""Every benchmark runs once, small: benchmarks that nobody runs rot."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import importlib
import inspect
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("faiss")
pytest.importorskip("skmultilearn")

ROOT = Path(__file__).parents[1]
MODULES = sorted(path.stem for path in (ROOT / "benchmarks").glob("bench_*.py"))


@pytest.fixture
def load(monkeypatch):
    """Import a benchmark module in quick mode, the way asv does."""
    monkeypatch.setenv("DEMURK_QUICK", "1")
    monkeypatch.syspath_prepend(ROOT)
    names = ["benchmarks", "benchmarks.common"]
    names += [f"benchmarks.{name}" for name in MODULES]
    for name in names:
        # Forgotten before and after, so that quick mode neither comes late nor stays.
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield lambda name: importlib.import_module(f"benchmarks.{name}")
    for name in names:
        sys.modules.pop(name, None)


def first_parameters(benchmark):
    """First combination of the parameters, () if there are none."""
    params = getattr(benchmark, "params", [])
    if params and not isinstance(params[0], (list, tuple)):
        params = [params]
    return next(itertools.product(*params))


def test_benchmarks_are_found():
    assert MODULES


@pytest.mark.parametrize("module", MODULES)
def test_benchmarks_run(module, load):
    module = load(module)
    n_run = 0
    for _, cls in inspect.getmembers(module, inspect.isclass):
        if cls.__module__ != module.__name__:
            continue
        benchmark = cls()
        parameters = first_parameters(benchmark)
        try:
            benchmark.setup(*parameters)
        except NotImplementedError as error:  # how asv is told to leave one out
            pytest.skip(str(error))
        for name in dir(benchmark):
            if not name.startswith(("time_", "peakmem_", "track_")):
                continue
            result = getattr(benchmark, name)(*parameters)
            n_run += 1
            if name.startswith("track_"):
                assert np.isfinite(result), name
    assert n_run
