"""A few kills on every run of the tests; ``run.py`` makes any number by hand."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_output_is_all_old_or_all_new():
    # In a process of its own: a copy of this one might hang in its threads.
    command = [sys.executable, str(Path(__file__).with_name("run.py")), "--kills", "25"]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(
        command, env=os.environ | threads, capture_output=True, text=True, timeout=600
    )
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_no_decision_is_lost():
    pytest.importorskip("uvicorn")
    script = Path(__file__).with_name("review.py")
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(
        [sys.executable, str(script), "--kills", "5"],
        env=os.environ | threads,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout + result.stderr
