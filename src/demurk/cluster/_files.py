"""Rows in files that workers read by themselves, chunk by chunk."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path

import numpy as np
from sklearn.utils import gen_batches

from demurk.utils._optional import import_optional

__all__ = ["parquet_files", "read_npy", "read_parquet"]


def parquet_files(path):
    """A Parquet file, or those of a folder, in order."""
    path = Path(path)
    found = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
    if not found or not found[0].is_file():
        raise FileNotFoundError(
            f"There is no Parquet file at {path}: name one, or a folder of files that "
            "end in .parquet."
        )
    return found


def read_parquet(path, columns=None):
    """Open a Parquet file, or a folder of them, without reading it.

    Parameters
    ----------
    path : path-like
        File or folder.
    columns : list of str, default=None
        Columns to read; None for all.

    Returns
    -------
    frame : dask.dataframe.DataFrame
        One partition for each row group; give it, or some of its columns, as X or y.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from demurk.cluster import read_parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0, 1, 0]})
    ...     table.to_parquet(f"{folder}/part.parquet", row_group_size=2)
    ...     frame = read_parquet(folder, columns=["a"])
    ...     frame.npartitions, len(frame)
    (2, 3)
    """
    import_optional("pyarrow", "tables")
    frames = import_optional("dask.dataframe", "dask")
    return frames.read_parquet(
        [str(file) for file in parquet_files(path)],
        columns=columns,
        split_row_groups=True,
    )


def read_npy(path, chunk_rows=100_000):
    """Open an array in a ``.npy`` file without reading it.

    Each task reads its rows from the file, whereas ``dask.array.from_array`` of a
    memory-mapped array sends all of it to every worker.

    Parameters
    ----------
    path : path-like
        File, under a name that workers know it by.
    chunk_rows : int, default=100_000
        Rows of a chunk. A worker holds two chunks in a search.

    Returns
    -------
    rows : dask array of shape (n_samples, n_features)
        Rows for X.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from demurk.cluster import read_npy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/rows.npy", np.arange(10.0).reshape(5, 2))
    ...     rows = read_npy(f"{folder}/rows.npy", chunk_rows=3)
    ...     rows.chunks, float(rows.sum().compute())
    (((3, 2), (2,)), 45.0)
    """
    da = import_optional("dask.array", "dask")
    delayed = import_optional("dask", "dask").delayed
    path = Path(path).resolve()
    whole = np.load(path, mmap_mode="r")
    if whole.ndim != 2 or not len(whole):
        raise ValueError(
            f"{path} holds an array of shape {whole.shape}; it should have rows and "
            "columns."
        )
    read = delayed(_rows, pure=True)
    parts = [
        da.from_delayed(
            read(path, rows.start, rows.stop),
            shape=(rows.stop - rows.start, whole.shape[1]),
            dtype=whole.dtype,
        )
        for rows in gen_batches(len(whole), chunk_rows)
    ]
    return da.concatenate(parts)


def _rows(path, first, last):
    return np.array(np.load(path, mmap_mode="r")[first:last])
