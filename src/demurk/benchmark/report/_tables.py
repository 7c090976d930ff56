"""From the rows of a run to cells: means over seeds, with the best marked."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from demurk.benchmark.statistics._significance import fold_t_test

__all__ = ["Cell", "Summary", "compare_printed", "summarize"]

# What a task that gave no value is called in tables.
STATUS_WORDS = {
    "failed": "failed",
    "timeout": "over the time limit",
    "memory": "too large",
    "skipped": "skipped",
    "not run": "not run",
    "no value": "no value",
}


@dataclass(frozen=True)
class Cell:
    """One measure of one method on one data set in one setting.

    Parameters
    ----------
    values : dict of int to float
        Value by seed, of the tasks that finished.
    missing : dict of str to int
        What became of the other seeds, and how many they are.
    comparable : bool
        Whether no other method has more seeds here; the others take no part in marks
        and ranks.
    mark : {"", "best", "tie"}
        The best mean, or one that does not differ significantly from it.
    paper : float or None
        The printed value.
    """

    values: dict = field(default_factory=dict)
    missing: dict = field(default_factory=dict)
    comparable: bool = False
    mark: str = ""
    paper: float | None = None

    @property
    def mean(self):
        """Mean over the seeds; NaN if no task finished."""
        return float(np.mean(list(self.values.values()))) if self.values else np.nan

    @property
    def sd(self):
        """Standard deviation over the seeds; NaN below two."""
        values = list(self.values.values())
        return float(np.std(values, ddof=1)) if len(values) > 1 else np.nan

    @property
    def note(self):
        """What became of the seeds without a value; empty if there are none."""
        words = [STATUS_WORDS.get(key, key) for key in self.missing]
        if not self.values:
            return ", ".join(words)
        total = len(self.values) + sum(self.missing.values())
        lost = [f"{n} {word}" for word, n in zip(words, self.missing.values())]
        return f"{len(self.values)} of {total} seeds: {', '.join(lost)}" if lost else ""


@dataclass(frozen=True)
class Summary:
    """All cells of a run, with the protocol they belong to.

    Parameters
    ----------
    protocol : Protocol
        What was compared.
    rows : list of dict
        The last row of each task, in the order of the protocol's tasks.
    cells : dict of tuple to Cell
        By data set, setting, method and measure.
    level : float
        Level of the paired tests.
    """

    protocol: object
    rows: list
    cells: dict
    level: float = 0.05

    @property
    def problems(self):
        """Pairs of data set and setting; without settings the latter is ""."""
        settings = list(self.protocol.settings) or [""]
        return [(name, s) for name in self.protocol.data_sets for s in settings]

    @property
    def methods(self):
        """Names of the methods."""
        return list(self.protocol.methods)

    @property
    def measures(self):
        """Names of the measures, the headline first."""
        return list(self.protocol.measures)

    def sign(self, measure):
        """-1 where lower is better, else 1."""
        return -1 if measure in self.protocol.lower_is_better else 1

    def matrix(self, measure):
        """Means of comparable cells, larger is better, NaN for the others.

        Parameters
        ----------
        measure : str
            Which measure; its sign is turned where lower is better.

        Returns
        -------
        values : ndarray of shape (n_problems, n_methods)
            One row for each data set and setting.
        """
        rows = []
        for problem in self.problems:
            cells = [self.cells[(*problem, m, measure)] for m in self.methods]
            rows.append([c.mean if c.comparable else np.nan for c in cells])
        return self.sign(measure) * np.array(rows)

    @cached_property
    def shared_settings(self):
        """Settings that concern every method: those in which none is always skipped.

        Methods without any result do not count. Without settings this is [""].
        """
        found = {}
        for (_, setting, method, _), cell in self.cells.items():
            concerns = found.setdefault(method, {})
            other = bool(cell.values) or set(cell.missing) != {"skipped"}
            concerns[setting] = concerns.get(setting, False) or other
        used = [concerns for concerns in found.values() if any(concerns.values())]
        settings = list(self.protocol.settings) or [""]
        return [s for s in settings if all(concerns[s] for concerns in used)]

    def over_settings(self, measure):
        """Means over shared settings, since those of one data set are not independent.

        Parameters
        ----------
        measure : str
            Which measure; its sign is turned where lower is better.

        Returns
        -------
        values : ndarray of shape (n_data_sets, n_methods)
            NaN where any shared setting has no comparable value.
        """
        values = self.matrix(measure)
        settings = list(self.protocol.settings) or [""]
        keep = np.isin(settings, self.shared_settings)
        shape = (len(self.protocol.data_sets), len(settings), len(self.methods))
        if not keep.any():
            return np.full((shape[0], shape[2]), np.nan)
        return values.reshape(shape)[:, keep].mean(axis=1)


def summarize(protocol, rows, *, published=None, level=0.05, corrected=True):
    """Gather the rows of a run into cells and mark the best.

    Parameters
    ----------
    protocol : Protocol
        What was compared.
    rows : sequence of dict
        Rows of a :class:`ResultStore` or from :func:`read_results`. If a task occurs
        more than once the last row counts; rows that belong to no task of the protocol
        are left out.
    published : callable, default=None
        Gives the printed value, or None, for the protocol and the names of a data set,
        a setting, a method and a measure; None shows no printed values.
    level : float, default=0.05
        Level of the paired t-test over seeds that finds ties with the best.
    corrected : bool or float, default=True
        See :func:`fold_t_test`.

    Returns
    -------
    summary : Summary
        Cells by data set, setting, method and measure.

    Notes
    -----
    Time is O(rows x measures).

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from demurk.benchmark.report._tables import summarize
    >>> protocol = SimpleNamespace(data_sets={"toy": {}}, settings={}, seeds=2,
    ...     methods={"a": {}, "b": {}}, measures=("AP",), lower_is_better=())
    >>> rows = [{"data_set": "toy", "setting": "", "method": name, "seed": seed,
    ...          "status": "done", "values": {"AP": value + seed / 10}}
    ...         for name, value in (("a", 0.5), ("b", 0.7)) for seed in (0, 1)]
    >>> cell = summarize(protocol, rows).cells["toy", "", "b", "AP"]
    >>> round(cell.mean, 2), cell.mark
    (0.75, 'best')
    """
    found = {}
    for row in rows:
        place = (row["data_set"], row["setting"] or "", row["method"], row["seed"])
        found[place] = row
    settings = list(protocol.settings) or [""]
    ordered = [
        (data_set, setting, method, seed)
        for data_set in protocol.data_sets
        for setting in settings
        for seed in range(protocol.seeds)
        for method in protocol.methods
    ]
    cells = {}
    about = protocol.methods.items()
    oracles = {name for name, table in about if table.get("group") == "oracle"}
    for data_set in protocol.data_sets:
        for setting in settings:
            for measure in protocol.measures:
                line = {
                    method: _cell(protocol, found, data_set, setting, method, measure)
                    for method in protocol.methods
                }
                sign = -1 if measure in protocol.lower_is_better else 1
                marked = _mark(line, oracles, sign, level, corrected)
                for method, cell in marked.items():
                    if published is not None:
                        names = (data_set, setting, method, measure)
                        cell = replace(cell, paper=published(protocol, *names))
                    cells[data_set, setting, method, measure] = cell
    kept = [found[place] for place in ordered if place in found]
    return Summary(protocol, kept, cells, level)


def _cell(protocol, found, data_set, setting, method, measure):
    values, missing = {}, Counter()
    for seed in range(protocol.seeds):
        row = found.get((data_set, setting, method, seed))
        if row is None:
            missing["not run"] += 1
        elif row["status"] != "done":
            missing[row["status"]] += 1
        else:
            value = row["values"].get(measure)
            if value is None or not np.isfinite(value):
                missing["no value"] += 1
            else:
                values[seed] = float(value)
    return Cell(values, dict(missing))


def _mark(line, oracles, sign, level, corrected):
    """The cells of all methods on one problem, compared with each other.

    An oracle sees what no user has: it is shown, and compared with nothing.
    """
    most = max(len(cell.values) for cell in line.values())
    fair = [m for m, cell in line.items() if most and len(cell.values) == most]
    fair = [m for m in fair if m not in oracles]
    marked = {m: replace(cell, comparable=m in fair) for m, cell in line.items()}
    if len(fair) < 2:
        return marked
    # Round-off in the last digit makes no difference.
    means = {m: round(sign * line[m].mean, 12) for m in fair}
    best = max(fair, key=means.get)
    for m in fair:
        if means[m] == means[best]:
            marked[m] = replace(marked[m], mark="best")
        elif not _differ(line[best].values, line[m].values, level, corrected):
            marked[m] = replace(marked[m], mark="tie")
    return marked


def _differ(first, second, level, corrected):
    """Whether two methods differ on their common seeds; one seed proves nothing."""
    seeds = sorted(first.keys() & second.keys())
    if len(seeds) < 2:
        return True
    scores = [[values[seed] for seed in seeds] for values in (first, second)]
    return fold_t_test(*scores, corrected=corrected) < level


def compare_printed(summary, measure):
    """Differences between our means and the printed values.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize`.
    measure : str
        Which measure.

    Returns
    -------
    differences : dict of tuple to float
        Ours minus the paper's by data set, setting and method, where both exist.
    """
    return {
        place[:3]: cell.mean - cell.paper
        for place, cell in summary.cells.items()
        if place[3] == measure and cell.values and cell.paper is not None
    }
