"""Tables in Parquet files, one chunk for each row group."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path

from demurk.utils._optional import import_optional

__all__ = ["parquet_files", "read_parquet"]


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
