"""From results to a report: tables, figures, and what the papers print."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.benchmark.report._figure_curves import plot_curves
from demurk.benchmark.report._figures import (
    plot_critical_difference,
    plot_heat_maps,
    plot_mean_scores,
)
from demurk.benchmark.report._published import published_results, published_value
from demurk.benchmark.report._report import write_report

__all__ = [
    "plot_critical_difference",
    "plot_curves",
    "plot_heat_maps",
    "plot_mean_scores",
    "published_results",
    "published_value",
    "write_report",
]
