"""Results of a report that today's code, arguments or data would not give again."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections import Counter
from operator import attrgetter, itemgetter
from pathlib import Path

from demurk.benchmark.engine._keys import keyed_tasks
from demurk.benchmark.engine._protocol import list_protocols, load_protocol
from demurk.benchmark.engine._results import read_results
from demurk.benchmark.engine._store import NAMES

__all__ = ["count_stale", "mark_stale", "merged_rows", "read_report"]

# What a task, and a row, is known by.
task_names = attrgetter(*NAMES[1:])
row_names = itemgetter(*NAMES[1:])


def read_report(protocol, folder):
    """Rows of the report that a folder has of a protocol; none without a report."""
    path = Path(folder) / f"{protocol.name}.csv"
    return read_results(path) if path.is_file() else []


def mark_stale(protocol, rows):
    """Compare rows with the tasks as they are now.

    Parameters
    ----------
    protocol : Protocol
        The comparison.
    rows : sequence of dict
        As :func:`read_results` gives them.

    Returns
    -------
    rows : list of dict
        The same with "now", the key that the task has now (None if it is no task any
        more), and "stale", whether another key made the row. Where the data are not at
        hand they are taken to be the same.
    """
    now = {
        task_names(task): (key, task, code, data)
        for key, (task, code, data) in keyed_tasks(protocol).items()
    }
    marked = []
    for row in rows:
        key, task, code, data = now.get(row_names(row), (None,) * 4)
        wanted = task.key(code, row["data"]) if data == "missing" else key
        stale = key is None or row.get("key") != wanted
        marked.append(row | {"now": key, "stale": stale})
    return marked


def merged_rows(protocol, earlier, rows):
    """Rows of a protocol in the order of its tasks; new ones replace earlier ones.

    But one that was skipped, for want of a package perhaps, replaces no result.
    """
    found = {row_names(row): row for row in earlier}
    for row in rows:
        old = found.get(row_names(row))
        if old is None or row["status"] != "skipped" or old["status"] != "done":
            found[row_names(row)] = row
    tasks = map(task_names, protocol.tasks())
    return [found[task] for task in tasks if task in found]


def as_reported(protocol, rows):
    """A protocol with as many seeds as the rows of its report have."""
    return protocol.select(seeds=max((row["seed"] for row in rows), default=0) + 1)


def count_stale(folder):
    """How many rows of the reports in a folder are stale.

    Parameters
    ----------
    folder : path-like
        Folder with reports of protocols that come with demurk.

    Returns
    -------
    counts : dict of (str, str) to (int, int)
        Stale rows and all rows, by protocol and method.

    Examples
    --------
    >>> from demurk.benchmark import count_stale
    >>> count_stale("no such folder")
    {}
    """
    counts = {}
    for name in list_protocols():
        protocol = load_protocol(name)
        rows = read_report(protocol, folder)
        rows = mark_stale(as_reported(protocol, rows), rows) if rows else []
        stale = Counter(row["method"] for row in rows if row["stale"])
        for method, n in Counter(row["method"] for row in rows).items():
            counts[name, method] = (stale[method], n)
    return counts
