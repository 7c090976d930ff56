"""Rows that outgrow a machine: dask arrays and data frames as X.

What outgrows a machine are the features and the search for neighbours; graph and labels
of ten million rows do not. So rows are read and searched where Dask has its workers,
block against block, sums over rows are added up there, and graph and labels stay with
the caller. Nothing here has to be called: estimators and
:func:`~demurk.graph.nearest_neighbors` come here when X is of Dask.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.cluster._files import read_npy, read_parquet
from demurk.cluster._run import run

__all__ = ["read_npy", "read_parquet", "run"]
