"""Several people labelled the same rows and disagree: what holds, and who is good."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.annotators._agreement import Agreement
from demurk.annotators._annotations import Annotations
from demurk.annotators._consensus import Consensus

__all__ = ["Agreement", "Annotations", "Consensus"]
