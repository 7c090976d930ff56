"""MATLAB 7.3 files, read in a process of their own: a damaged file may end it."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from demurk.datasets import _room
from demurk.datasets._mat_variables import Variable, checked_sparse, guarded

_CHILD = Path(__file__).with_name("_hdf5_child.py")
# Importing numpy and h5py takes that much address space by itself.
_BASE = 4 * 2**30
_SECONDS = 60
_BYTES_A_SECOND = 2**20


def hdf5_variables(path, wanted):
    """Variables of a version 7.3 file; those with a wanted name are read at once.

    `wanted` are names in lower case.
    """
    if find_spec("h5py") is None:
        raise ImportError(
            f"{path} is a MATLAB 7.3 file; install h5py to read it, or save it with "
            "version 7."
        )
    with tempfile.TemporaryDirectory(prefix="demurk-") as folder:
        found = _ask_child(path, folder, wanted)
        return {name: _variable(entry, folder, path) for name, entry in found.items()}


def _ask_child(path, folder, wanted):
    """What the child found, with the arrays as files in the folder."""
    most = _room.room(path)
    request = [path, folder, most, _BASE + 3 * most, json.dumps(sorted(wanted))]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    seconds = _SECONDS + path.stat().st_size / _BYTES_A_SECOND
    try:
        # -P: the files beside the script are not modules for it to import.
        done = subprocess.run(
            [sys.executable, "-P", str(_CHILD), *map(str, request)],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
        if done.returncode == 0:
            return json.loads(Path(folder, "found.json").read_text(encoding="utf-8"))
        reason = f"its reader ended with code {done.returncode}"
    except subprocess.TimeoutExpired:
        reason = f"its reader took more than {seconds:.0f} seconds"
    raise ValueError(
        f"{path} cannot be read as a MATLAB 7.3 file ({reason}); get the file again or "
        "save it anew with version 7."
    )


def _variable(entry, folder, path):
    """The variable of one entry that the child wrote."""
    shape = tuple(entry["shape"])
    parts = [np.load(Path(folder, file), allow_pickle=False) for file in entry["files"]]
    if not parts:
        return Variable(entry["kind"], shape)
    if entry["kind"] == "sparse":
        if len(parts) != 3:
            raise ValueError(
                f"{path} holds a sparse matrix without its indices; get the file again "
                "or save it anew with version 7."
            )
        read = guarded(partial(checked_sparse, *parts, shape, path), path)
    else:
        read = parts[0].transpose
    return Variable(entry["kind"], shape, read)
