"""The tables of a report as texts in rows and columns, before any markup."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections import Counter
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


def decimals(values):
    """Digits after the point for numbers of this size."""
    largest = max((abs(v) for v in values if np.isfinite(v)), default=0)
    return int(np.clip(3 - np.floor(np.log10(max(largest / 2, 1))), 0, 3))


def scale_of(values):
    """1 for numbers up to 1, 100 for percentages, and so on."""
    largest = max((abs(v) for v in values if np.isfinite(v)), default=0)
    return 10.0 ** np.ceil(np.log10(max(largest, 1)) - 1e-9)


def method_groups(summary):
    """The group of each method in words, if there is more than one."""
    groups = [
        about.get("group", "paper") for about in summary.protocol.methods.values()
    ]
    words = [GROUP_WORDS.get(group, group) for group in groups]
    return words if len(set(words)) > 1 else []


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


def _numbers(summary, measure):
    """All numbers that are shown of a measure, ours and the paper's."""
    cells = [c for place, c in summary.cells.items() if place[3] == measure]
    return [c.mean for c in cells] + [c.paper for c in cells if c.paper is not None]


def measure_scale(summary, measure):
    """How much larger than 1 the numbers of a measure are, as a power of ten."""
    return scale_of(_numbers(summary, measure))


def _entries(summary, measure):
    """Entries of one measure by data set, setting and method."""
    cells = {place[:3]: c for place, c in summary.cells.items() if place[3] == measure}
    digits = decimals(_numbers(summary, measure))
    scale, sign = measure_scale(summary, measure), summary.sign(measure)
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
    if len(problems) == 1:
        (problem,) = problems
        rows = [
            ((m,), [entries[measure][(*problem, m)] for measure in summary.measures])
            for m in methods
        ]
        heads = [measure_title(summary, measure) for measure in summary.measures]
        title = f"All measures on {problem_name(problem)}"
        grid = Grid(title, ("method",), heads, rows, row_groups=method_groups(summary))
        return {"all": grid}
    grids = {}
    for measure in summary.measures:
        found, title = entries[measure], measure_title(summary, measure)
        if len(methods) > len(problems):
            names = [problem_name(problem) for problem in problems]
            rows = [((m,), [found[(*p, m)] for p in problems]) for m in methods]
            groups = method_groups(summary)
            grid = Grid(title, ("method",), names, rows, row_groups=groups)
        else:
            settings = bool(summary.protocol.settings)
            corner = ("data set", "setting") if settings else ("data set",)
            rows = [
                (p[: len(corner)], [found[(*p, m)] for m in methods]) for p in problems
            ]
            groups = method_groups(summary)
            grid = Grid(title, corner, methods, rows, column_groups=groups)
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
        digits = decimals(_numbers(summary, measure))
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
    rows = []
    for method in summary.methods:
        own = [row for row in summary.rows if row["method"] == method]
        done = [row for row in own if row["status"] == "done"]
        cpu = [row["cpu_s"] for row in own if row.get("cpu_s") is not None]
        each = [row["cpu_s"] for row in done if row.get("cpu_s") is not None]
        peak = [row["peak_mb"] for row in own if row.get("peak_mb") is not None]
        texts = [
            f"{len(done):,} of {_n_tasks(summary):,}",
            f"{np.median(each):.3g}" if each else "",
            f"{max(each):.3g}" if each else "",
            f"{sum(cpu):,.1f}" if cpu else "",
            f"{max(peak):,.0f}" if peak else "",
        ]
        entries = [Entry(t) if t else Entry("unknown", blank=True) for t in texts]
        rows.append(((method,), entries))
    columns = ["tasks done", "median", "longest", "all tasks", "peak memory, MB"]
    title = "CPU seconds"
    return Grid(title, ("method",), columns, rows, row_groups=method_groups(summary))


def _n_tasks(summary):
    return len(summary.problems) * summary.protocol.seeds


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
    found, errors = {}, {}
    for row in summary.rows:
        if row["status"] == "done":
            continue
        error = short_paths(row.get("error") or "").strip()
        last = error.splitlines()[-1] if error else ""
        alike = (row["method"], row["status"], last)
        found.setdefault(alike, Counter())[row["data_set"], row["setting"]] += 1
        errors.setdefault(alike, error)
    lines = []
    for alike, places in found.items():
        method, status, last = alike
        word = STATUS_WORDS.get(status, status)
        names = [problem_name(place) for place in places]
        where = "; ".join(names)
        if len(names) > MOST_PLACES:
            sets = list(dict.fromkeys(place[0] for place in places))
            where = ", ".join(sets)
            if len(sets) < len(names):
                where = f"{len(names)} settings of {where}"
        n = sum(places.values())
        text = f"{method}: {word} on {where} ({n} {'task' if n == 1 else 'tasks'})"
        text += f": {last}" if last else "."
        lines.append((text, errors[alike] if errors[alike] != last else ""))
    return lines
