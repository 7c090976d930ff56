"""From a protocol to results: tasks, their keys, processes that do them, the store."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from demurk.benchmark.engine._keys import code_version, data_checksum
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

__all__ = [
    "Outcome",
    "Progress",
    "Protocol",
    "ResultStore",
    "RunSummary",
    "Task",
    "code_version",
    "count_stale",
    "data_checksum",
    "list_protocols",
    "load_protocol",
    "protocol_rows",
    "read_results",
    "run_protocol",
]
