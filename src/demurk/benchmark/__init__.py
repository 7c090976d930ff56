"""Protocols of the papers, their runner and their reports.

What protocols do is in ``tasks``, what users would pick instead in ``rivals``,
significance tests are in ``statistics``, figures in ``report``.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.benchmark.engine._protocol import (
    Protocol,
    Task,
    list_protocols,
    load_protocol,
)
from demurk.benchmark.engine._results import read_results
from demurk.benchmark.engine._runner import (
    Progress,
    RunSummary,
    protocol_rows,
    run_protocol,
)
from demurk.benchmark.engine._stale import count_stale
from demurk.benchmark.engine._store import Outcome, ResultStore
from demurk.benchmark.report import published_results, published_value, write_report

__all__ = [
    "Outcome",
    "Progress",
    "Protocol",
    "ResultStore",
    "RunSummary",
    "Task",
    "count_stale",
    "list_protocols",
    "load_protocol",
    "protocol_rows",
    "published_results",
    "published_value",
    "read_results",
    "run_protocol",
    "write_report",
]
