"""The tables of a report as texts in rows and columns, before any markup."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from demurk.benchmark.engine._results import short_paths
from demurk.benchmark.report._tables import STATUS_WORDS, compare_printed

__all__ = [
    "Entry",
    "Grid",
    "cost_grid",
    "printed_grid",
    "problem_lines",
    "score_grids",
]

GROUP_WORDS = {
    "paper": "methods of the paper",
    "demurk": "further methods of demurk",
    "alternative": "what one would use instead",
    "oracle": "an oracle, which sees what no user has",
}
# Differences from the printed value, on measures between 0 and 1, that are shown as
# the same, small, middling or large.
STEPS = (0.01, 0.03, 0.1)
# A sentence names no more places of failure than this.
MOST_PLACES = 8


@dataclass(frozen=True)
class Entry:
    """What one place of a table says.

    Parameters
    ----------
    text : str
        Main text.
    spread : str, default=""
        Standard deviation, shown after a plus-minus sign.
    mark : {"", "best", "tie"}, default=""
        Whether this is the best here or ties with it.
    count : str, default=""
        How many of the seeds counted, if not all did.
    paper : str, default=""
        Printed value.
    change : str, default=""
        Ours minus the paper's, with its sign.
    step : int, default=0
        Size of the change, 0 to 3, negative where ours is worse.
    note : str, default=""
        Said on request.
    blank : bool, default=False
        Whether the text stands in the place of a value.
    words : bool, default=False
        Whether the text is to be read, not compared.
    """

    text: str
    spread: str = ""
    mark: str = ""
    count: str = ""
    paper: str = ""
    change: str = ""
    step: int = 0
    note: str = ""
    blank: bool = False
    words: bool = False


@dataclass(frozen=True)
class Grid:
    """A table of entries with heads.

    Parameters
    ----------
    title : str
        What the table shows.
    corner : tuple of str
        Names of the columns of row heads.
    columns : list of str
        Heads of the columns.
    rows : list of (tuple of str, list of Entry)
        Heads and entries of each row.
    column_groups, row_groups : list of str, default=[]
        What each column or row belongs to; empty if that is not worth saying.
    note : str, default=""
        A sentence below.
    """

    title: str
    corner: tuple
    columns: list
    rows: list
    column_groups: list = field(default_factory=list)
    row_groups: list = field(default_factory=list)
    note: str = ""


def _largest(summary, measure):
    """The largest number that is shown of a measure, ours or the paper's."""
    cells = [cell for place, cell in summary.cells.items() if place[3] == measure]
    numbers = [c.mean for c in cells] + [c.paper for c in cells if c.paper is not None]
    return max((abs(v) for v in numbers if np.isfinite(v)), default=0)


def decimals(summary, measure):
    """Digits after the point for numbers of the size that a measure has."""
    size = max(_largest(summary, measure) / 2, 1)
    return int(np.clip(3 - np.floor(np.log10(size)), 0, 3))


def measure_scale(summary, measure):
    """1 for a measure with numbers up to 1, 100 for percentages, and so on."""
    return 10.0 ** np.ceil(np.log10(max(_largest(summary, measure), 1)) - 1e-9)


def _groups(summary):
    """The group of each method in words, if there is more than one."""
    about = summary.protocol.methods.items()
    groups = {method: table.get("group", "paper") for method, table in about}
    words = {method: GROUP_WORDS.get(g, g) for method, g in groups.items()}
    return words if len(set(words.values())) > 1 else {}


def methods_grid(summary, title, columns, lines, *, corner="method", note=""):
    """A table with a row for each method, from a list of entries by method."""
    rows = [((method,), entries) for method, entries in lines.items()]
    groups = _groups(summary)
    groups = [groups[method] for method in lines if groups]
    return Grid(title, (corner,), columns, rows, row_groups=groups, note=note)


def _entry(cell, digits, scale, sign):
    if not cell.values:
        paper = "" if cell.paper is None else f"{cell.paper:.{digits}f}"
        return Entry(cell.note, paper=paper, blank=True)
    total = len(cell.values) + sum(cell.missing.values())
    facts = {"mark": cell.mark, "note": cell.note}
    if np.isfinite(cell.sd):
        facts["spread"] = f"{cell.sd:.{digits}f}"
    if cell.missing:
        facts["count"] = f"{len(cell.values)}/{total}"
    if cell.paper is not None:
        change = round(cell.mean - cell.paper, 12)
        step = int(np.searchsorted(np.multiply(STEPS, scale), abs(change), "left"))
        facts["paper"] = f"{cell.paper:.{digits}f}"
        facts["change"] = signed(change, digits)
        facts["step"] = step if sign * change > 0 else -step
    return Entry(f"{cell.mean:.{digits}f}", **facts)


def signed(number, digits):
    """A number with its sign, and a true minus."""
    text = f"{number:+.{digits}f}"
    return text.lstrip("+-") if float(text) == 0 else text.replace("-", "−")


def _entries(summary, measure):
    """Entries of one measure by data set, setting and method."""
    cells = {place[:3]: c for place, c in summary.cells.items() if place[3] == measure}
    digits, sign = decimals(summary, measure), summary.sign(measure)
    scale = measure_scale(summary, measure)
    return {place: _entry(c, digits, scale, sign) for place, c in cells.items()}


def measure_title(summary, measure):
    """The measure, and its direction where that is the unusual one."""
    return f"{measure} (lower is better)" if summary.sign(measure) < 0 else measure


def problem_name(problem):
    """A data set and its setting in a line."""
    return ", ".join(part for part in problem if part)


def score_grids(summary):
    """Tables of mean scores.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize`.

    Returns
    -------
    grids : dict of str to Grid
        One for each measure, the longer of methods and problems running down; or a
        single one of all measures if there is only one data set and setting.
    """
    problems, methods = summary.problems, summary.methods
    entries = {measure: _entries(summary, measure) for measure in summary.measures}
    titles = {measure: measure_title(summary, measure) for measure in summary.measures}
    if len(problems) == 1:
        (problem,) = problems
        title = f"All measures on {problem_name(problem)}"
        lines = {
            m: [found[(*problem, m)] for found in entries.values()] for m in methods
        }
        return {"all": methods_grid(summary, title, list(titles.values()), lines)}
    grids = {}
    for measure, found in entries.items():
        if len(methods) > len(problems):
            names = [problem_name(problem) for problem in problems]
            lines = {m: [found[(*p, m)] for p in problems] for m in methods}
            grid = methods_grid(summary, titles[measure], names, lines)
        else:
            corner = ("data set", "setting")[: 2 if summary.protocol.settings else 1]
            rows = [
                (p[: len(corner)], [found[(*p, m)] for m in methods]) for p in problems
            ]
            groups = list(_groups(summary).values())
            grid = Grid(titles[measure], corner, methods, rows, column_groups=groups)
        grids[measure] = grid
    return grids


def printed_grid(summary):
    """How far the means are from the printed values, measure by measure.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize`.

    Returns
    -------
    grid : Grid or None
        None if nothing was printed.
    """
    rows = []
    for measure in summary.measures:
        found = compare_printed(summary, measure)
        if not found:
            continue
        numbers = np.array(list(found.values()))
        digits = decimals(summary, measure)
        near = np.multiply(STEPS, measure_scale(summary, measure))
        largest = max(found, key=lambda place: abs(found[place]))
        size = np.round(np.abs(numbers), 12)
        where = f"{largest[2]} on {problem_name(largest[:2])}"
        texts = [
            str(len(numbers)),
            signed(numbers.mean(), digits),
            f"{size.mean():.{digits}f}",
            *(f"{(size <= edge).sum()} (≤ {edge:g})" for edge in near[:2]),
            f"{signed(found[largest], digits)} ({where})",
        ]
        rows.append(((measure_title(summary, measure),), [Entry(t) for t in texts]))
    columns = ["values", "mean difference", "mean absolute", "same", "close", "largest"]
    note = "Ours minus the paper's."
    title = "Ours against the paper's"
    return Grid(title, ("measure",), columns, rows, note=note) if rows else None


def cost_grid(summary):
    """What each method cost.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize`.

    Returns
    -------
    grid : Grid
        One row for each method.
    """
    lines, n_tasks = {}, len(summary.problems) * summary.protocol.seeds
    for method in summary.methods:
        own = [row for row in summary.rows if row["method"] == method]
        done = [row for row in own if row["status"] == "done"]
        cpu, each = _known(own, "cpu_s"), _known(done, "cpu_s")
        peak = _known(own, "peak_mb")
        texts = [
            f"{len(done):,} of {n_tasks:,}",
            f"{np.median(each):.3g}" if each else "",
            f"{max(each):.3g}" if each else "",
            f"{sum(cpu):,.1f}" if cpu else "",
            f"{max(peak):,.0f}" if peak else "",
        ]
        lines[method] = [Entry(t) if t else Entry("unknown", blank=True) for t in texts]
    columns = ["tasks done", "median", "longest", "all tasks", "peak memory, MB"]
    return methods_grid(summary, "CPU seconds", columns, lines)


def _known(rows, name):
    return [row[name] for row in rows if row.get(name) is not None]


def problem_lines(summary):
    """Tasks that gave no result, alike ones together.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize`.

    Returns
    -------
    lines : list of (str, str)
        A sentence and, where there is more to say, the whole error of one of them.
    """
    alike = defaultdict(list)
    for row in summary.rows:
        if row["status"] != "done":
            error = short_paths(row.get("error") or "").strip()
            last = error.splitlines()[-1] if error else ""
            place = (row["data_set"], row["setting"])
            alike[row["method"], row["status"], last].append((place, error))
    lines = []
    for (method, status, last), cases in alike.items():
        places, n = list(dict.fromkeys(place for place, _ in cases)), len(cases)
        where = "; ".join(map(problem_name, places))
        if len(places) > MOST_PLACES:
            sets = list(dict.fromkeys(data_set for data_set, _ in places))
            where = ", ".join(sets)
            if len(sets) < len(places):
                where = f"{len(places)} settings of {where}"
        word = STATUS_WORDS.get(status, status)
        text = f"{method}: {word} on {where} ({n} {'task' if n == 1 else 'tasks'})"
        text += f": {last}" if last else "."
        error = cases[0][1]
        lines.append((text, error if error != last else ""))
    return lines
