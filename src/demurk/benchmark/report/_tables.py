"""From the rows of a run to cells: means over seeds, with the best marked."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

import numpy as np

from demurk.benchmark.statistics._significance import fold_t_test

__all__ = ["Cell", "Summary", "compare_printed", "summarize"]

# What tables say of a task that gave no value, where that is not its status.
STATUS_WORDS = {"timeout": "over the time limit", "memory": "too large"}
# Level of the paired tests over seeds.
LEVEL = 0.05


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
    """

    protocol: object
    rows: list
    cells: dict

    @property
    def settings(self):
        """Names of the settings; without any this is [""]."""
        return list(self.protocol.settings) or [""]

    @property
    def problems(self):
        """Pairs of data set and setting; without settings the latter is ""."""
        return list(product(self.protocol.data_sets, self.settings))

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
        found = self._table(measure, lambda c: c.mean if c.comparable else np.nan)
        return self.sign(measure) * found

    def _table(self, measure, number):
        """A number of each cell of a measure, NaN for None, as in `matrix`."""
        rows = [
            [number(self.cells[(*problem, m, measure)]) for m in self.methods]
            for problem in self.problems
        ]
        return np.array(rows, dtype=float)

    @cached_property
    def shared_settings(self):
        """Settings that concern every method: those in which none is always skipped.

        Methods without any result do not count. Without settings this is [""].
        """
        concerned = defaultdict(set)
        for (_, setting, method, _), cell in self.cells.items():
            if cell.values or set(cell.missing) != {"skipped"}:
                concerned[method].add(setting)
        return [s for s in self.settings if all(s in c for c in concerned.values())]

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
        return self._mean_over_settings(self.matrix(measure))

    def printed_over_settings(self, measure):
        """Like `over_settings`, of the printed values with their own sign."""
        return self._mean_over_settings(self._table(measure, lambda c: c.paper))

    def _mean_over_settings(self, values):
        shape = (len(self.protocol.data_sets), len(self.settings), len(self.methods))
        keep = np.isin(self.settings, self.shared_settings)
        if not keep.any():
            return np.full((shape[0], shape[2]), np.nan)
        return values.reshape(shape)[:, keep].mean(axis=1)


def summarize(protocol, rows, *, published=None):
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

    Returns
    -------
    summary : Summary
        Cells by data set, setting, method and measure.

    Notes
    -----
    Ties with the best are found by a paired t-test over seeds that is corrected for
    overlapping training sets. Time is O(rows x measures).

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
    summary, seeds = Summary(protocol, rows=[], cells={}), range(protocol.seeds)
    tasks = product(summary.problems, seeds, summary.methods)
    places = [(*problem, method, seed) for problem, seed, method in tasks]
    summary.rows.extend(found[place] for place in places if place in found)
    about = protocol.methods.items()
    oracles = {name for name, table in about if table.get("group") == "oracle"}
    for problem, measure in product(summary.problems, summary.measures):
        line = {}
        for method in summary.methods:
            by_seed = {seed: found.get((*problem, method, seed)) for seed in seeds}
            line[method] = _cell(by_seed, measure)
        for method, cell in _mark(line, oracles, summary.sign(measure)).items():
            place = (*problem, method, measure)
            if published is not None:
                cell = replace(cell, paper=published(protocol, *place))
            summary.cells[place] = cell
    return summary


def _cell(rows, measure):
    """The cell of a measure from the rows of its seeds, None for those without."""
    values, missing = {}, Counter()
    for seed, row in rows.items():
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


def _mark(line, oracles, sign):
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
        elif not _differ(line[best].values, line[m].values):
            marked[m] = replace(marked[m], mark="tie")
    return marked


def common_scores(first, second):
    """Scores of two methods on their common seeds, in two rows."""
    seeds = sorted(first.keys() & second.keys())
    return [[values[seed] for seed in seeds] for values in (first, second)]


def _differ(first, second):
    """Whether two methods differ on their common seeds; one seed proves nothing."""
    scores = common_scores(first, second)
    return len(scores[0]) < 2 or fold_t_test(*scores, corrected=True) < LEVEL


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
