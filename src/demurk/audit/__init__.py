"""Looking for wrong and missing labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.audit._audit import LabelAudit

__all__ = ["LabelAudit"]
