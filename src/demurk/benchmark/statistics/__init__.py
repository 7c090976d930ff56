"""Which differences between methods are more than chance."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.benchmark.statistics._significance import (
    FriedmanResult,
    count_best,
    fold_t_test,
    friedman_test,
    nemenyi_difference,
    similar_groups,
    wilcoxon_scores,
    wilcoxon_signed_rank,
    win_tie_loss,
)

__all__ = [
    "FriedmanResult",
    "count_best",
    "fold_t_test",
    "friedman_test",
    "nemenyi_difference",
    "similar_groups",
    "wilcoxon_scores",
    "wilcoxon_signed_rank",
    "win_tie_loss",
]
