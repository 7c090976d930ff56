"""Rules of experts, written as data, that turn the columns of a table into labels."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.rules._labeler import RuleLabeler
from demurk.rules._rule import Rule, rules_from_file

__all__ = ["Rule", "RuleLabeler", "rules_from_file"]
