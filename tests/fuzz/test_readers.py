"""Damaged files of every format are read or refused in one sentence.

`run.py` does the same for any number of files, in processes that may die.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# All that need no process or optional package of their own.
FORMATS = "mat,npz,arff,arff.gz,xml,libsvm,libsvm.gz,csv,csv.gz,json,toml,jsonl,tasks"


def run(*arguments, **environment):
    return subprocess.run(
        [sys.executable, str(HERE / "run.py"), *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_damaged_files_are_read_or_refused():
    done = run("--seed", "1", "--files", "6000", "--only", FORMATS)
    assert done.returncode == 0, done.stdout + done.stderr


def test_damaged_hdf5_is_read_or_refused():
    pytest.importorskip("h5py")
    done = run("--seed", "1", "--files", "4", "--only", "mat73")
    assert done.returncode == 0, done.stdout + done.stderr


BROKEN = """
import os
import time

from tests.fuzz.outcome import Format

def read(path):
    what = path.read_bytes()
    if what == b"d":
        os.abort()
    if what == b"t":
        time.sleep(60)
    if what == b"m":
        del [bytearray(b"x") * 2**29][0]
    if what == b"e":
        raise KeyError("foreign")
    if what == b"s":
        raise ValueError("two" + chr(10) + "lines.")
    if what == b"f":
        raise ValueError("no full stop")
    raise ValueError("Refused.")

def damaged(name, seed, number):
    return b"rdtmesfr"[number : number + 1]

FORMATS = {"broken": Format(".x", list, read)}
"""


def test_the_harness_sees_what_it_looks_for(tmp_path):
    (tmp_path / "broken.py").write_text(BROKEN)
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    options = ("--files", "8", "--only", "broken", "--timeout", "10")
    done = run(*options, "--formats", "broken", PYTHONPATH=path)
    assert done.returncode == 1, done.stderr
    kinds = ["death", "timeout", "memory", "exception", "no sentence", "foreign"]
    for number, kind in enumerate(kinds, start=1):
        assert f"broken {number}: {kind}: " in done.stdout
    assert done.stdout.splitlines()[-2].split()[:2] == ["all", "8"]
