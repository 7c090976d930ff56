"""Reads a MATLAB 7.3 file and leaves its matrices as plain arrays; run by `_hdf5`.

Imports nothing of demurk: the process should start fast, and may be killed.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import sys
from pathlib import Path


def limit(n_bytes):
    """Bound the memory of this process, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def describe(item, h5py):
    """Kind and shape of a variable, and the datasets that make it up."""
    if isinstance(item, h5py.Dataset):
        # Stored transposed.
        return str(item.dtype), list(item.shape[::-1]), [item]
    if isinstance(item, h5py.Group) and "MATLAB_sparse" in item.attrs:
        parts = [item[key] for key in ("ir", "jc", "data") if key in item]
        n_columns = item["jc"].shape[0] - 1
        return "sparse", [int(item.attrs["MATLAB_sparse"]), n_columns], parts
    return "struct", [], []


def main(path, folder, most, memory, wanted):
    import h5py
    import numpy as np

    limit(int(memory))
    found = {}
    with h5py.File(path) as file:
        for number, (name, item) in enumerate(file.items()):
            kind, shape, parts = describe(item, h5py)
            entry = {"kind": kind, "shape": shape, "files": []}
            numeric = all(part.dtype.kind in "biuf" for part in parts)
            small = sum(part.size for part in parts) * 8 <= int(most)
            if len(shape) == 2 and numeric and name.lower() in json.loads(wanted):
                if not small:
                    raise MemoryError("more than the file can hold")
                if kind == "sparse" and len(parts) == 1:  # no entries: only jc
                    empty = np.zeros(0, dtype=np.int64)
                    parts = [empty, parts[0][()], empty.astype(np.float64)]
                for k, part in enumerate(parts):
                    entry["files"].append(f"{number}-{k}.npy")
                    array = np.ascontiguousarray(part[()])
                    np.save(Path(folder, entry["files"][-1]), array, allow_pickle=False)
            found[name] = entry
    Path(folder, "found.json").write_text(json.dumps(found), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
