"""Linear dimension reduction that learns from murky labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.projection._base import LinearReducer
from demurk.projection._cca import LabelCCA, SemiSupervisedCCA
from demurk.projection._cenda import CENDA
from demurk.projection._chunks import fit_chunks
from demurk.projection._delin import DELIN
from demurk.projection._kernel_nmlsdr import KernelNMLSDR
from demurk.projection._mddm import MDDM
from demurk.projection._mlsi import MLSI
from demurk.projection._msda import MSDA
from demurk.projection._mvmd import MVMD
from demurk.projection._nmlsdr import NMLSDR
from demurk.projection._shared_subspace import SharedSubspace
from demurk.projection._smdr import SMDRdm
from demurk.projection._ssmldr import SSMLDR
from demurk.projection._wmlda import WMLDA

__all__ = [
    "CENDA",
    "DELIN",
    "MDDM",
    "MLSI",
    "MSDA",
    "MVMD",
    "NMLSDR",
    "SSMLDR",
    "WMLDA",
    "KernelNMLSDR",
    "LabelCCA",
    "LinearReducer",
    "SMDRdm",
    "SemiSupervisedCCA",
    "SharedSubspace",
    "fit_chunks",
]
