"""Importing the library is light: optional packages load where they are used."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import pkgutil
import subprocess
import sys

import pytest

import demurk

HEAVY = {
    "bokeh",
    "faiss",
    "matplotlib",
    "pandas",
    "polars",
    "rich",
    "skops",
    "typer",
}
# `cli` is only imported by the command, which needs its packages anyway.
ROOMS = sorted(
    f"demurk.{module.name}"
    for module in pkgutil.iter_modules(demurk.__path__)
    if not module.name.startswith("_") and module.name not in {"cli", "tests"}
)


def run_python(code):
    """Run code in a fresh interpreter and return what it prints, read as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_import_loads_no_optional_package():
    code = "import sys, json, demurk; print(json.dumps(list(sys.modules)))"
    assert not HEAVY & set(run_python(code))


def test_rooms_load_no_optional_package():
    # scikit-learn itself loads pandas and rich where they are installed; what counts
    # is what a room adds.
    code = f"""
import importlib, json, sys
import sklearn.callback, sklearn.neighbors
added = {{}}
for room in {ROOMS}:
    before = set(sys.modules)
    importlib.import_module(room)
    added[room] = list(set(sys.modules) - before)
print(json.dumps(added))
"""
    added = {room: HEAVY & set(names) for room, names in run_python(code).items()}
    assert added == {room: set() for room in ROOMS}


def test_import_takes_little_beyond_scikit_learn():
    code = (
        "import time, json, sklearn; start = time.process_time(); import demurk; "
        "print(json.dumps(time.process_time() - start))"
    )
    # The least of three: another process may be warming the disk cache.
    assert min(run_python(code) for _ in range(3)) < 0.1


def test_the_two_classes_to_start_with_load_when_asked_for():
    code = """
import json, sys
import demurk
before = [name for name in sys.modules if name.startswith("demurk.")]
from demurk import LabelAudit, MurkyClassifier
homes = [LabelAudit.__module__, MurkyClassifier.__module__]
shown = [name for name in demurk.__all__ if name in dir(demurk)]
print(json.dumps([before, homes, shown]))
"""
    before, homes, shown = run_python(code)
    assert before == []
    assert homes == ["demurk.audit._audit", "demurk.multilabel._murky"]
    assert shown == demurk.__all__


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'Murky'"):
        demurk.Murky  # noqa: B018
