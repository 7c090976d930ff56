"""Estimators on a GPU: rows that are tensors of torch or arrays of CuPy.

Nothing here needs to be called: an estimator that is handed a CUDA tensor computes on
that device and returns tensors on it (extra ``gpu``). See the user guide,
:ref:`scale`.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.device._run import run, to_host

__all__ = ["run", "to_host"]
