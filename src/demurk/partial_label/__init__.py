"""Classifiers for candidate sets, of which exactly one class is true."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.partial_label._clpl import CLPL
from demurk.partial_label._ipal import IPAL
from demurk.partial_label._plaggd import PLAGGD
from demurk.partial_label._plecoc import PLECOC
from demurk.partial_label._plknn import PLkNN
from demurk.partial_label._plsvm import PLSVM
from demurk.partial_label._sure import SURE

__all__ = ["CLPL", "IPAL", "PLAGGD", "PLECOC", "PLSVM", "SURE", "PLkNN"]
