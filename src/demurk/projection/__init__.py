"""Linear dimension reduction that learns from murky labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.projection._mddm import MDDM
from demurk.projection._nmlsdr import NMLSDR

__all__ = ["MDDM", "NMLSDR"]
