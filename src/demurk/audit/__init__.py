"""Looking for wrong and missing labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.audit._audit import LabelAudit
from demurk.audit._soft_labels import soft_labels

__all__ = ["LabelAudit", "soft_labels"]
