"""Classifiers for samples tagged with more labels than are true."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.partial_multilabel._drama import DRAMA
from demurk.partial_multilabel._fp import PMLfp
from demurk.partial_multilabel._fpml import FPML
from demurk.partial_multilabel._gradis import GRADIS
from demurk.partial_multilabel._lc import PMLlc
from demurk.partial_multilabel._lcom import PMLLCom
from demurk.partial_multilabel._ld import PMLLD
from demurk.partial_multilabel._lrs import PMLLRS
from demurk.partial_multilabel._ni import PMLNI
from demurk.partial_multilabel._particle import PARTICLE

__all__ = [
    "DRAMA",
    "FPML",
    "GRADIS",
    "PARTICLE",
    "PMLLD",
    "PMLLRS",
    "PMLNI",
    "PMLLCom",
    "PMLfp",
    "PMLlc",
]
