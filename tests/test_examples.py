"""Every example of the gallery runs, and every page of the guide tells the truth."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import doctest
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
PAGES = [
    *sorted((ROOT / "doc").glob("*.rst")),
    *sorted((ROOT / "doc" / "user_guide").glob("*.rst")),
]


def test_examples_and_pages_are_found():
    assert EXAMPLES
    assert PAGES


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, tmp_path):
    # A process of its own: an example may set styles and must not leave them behind.
    done = subprocess.run(
        [sys.executable, "-W", "error::FutureWarning", path],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg", "DEMURK_QUICK": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not any(tmp_path.iterdir()), "an example must not leave files behind"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_page_examples(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    failed, _ = doctest.testfile(
        str(path),
        module_relative=False,
        encoding="utf-8",
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )
    assert failed == 0, "see the output above"
