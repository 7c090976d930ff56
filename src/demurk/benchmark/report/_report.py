"""Reports of benchmark runs: a page, Markdown, LaTeX and all results as CSV."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from demurk.benchmark.engine._results import results_csv
from demurk.benchmark.report._grids import (
    STEPS,
    cost_grid,
    measure_scale,
    printed_grid,
    problem_lines,
    problem_name,
    score_grids,
)
from demurk.benchmark.report._markup import (
    escape_latex,
    escape_markdown,
    latex_table,
    markdown_table,
)
from demurk.benchmark.report._page import report_page
from demurk.benchmark.report._published import published_value
from demurk.benchmark.report._ranking import (
    best_and_behind,
    friedman_grid,
    pairs_grid,
    rank_methods,
    ranking_grids,
    reference_method,
    wins_grid,
)
from demurk.benchmark.report._tables import (
    LEVEL,
    STATUS_WORDS,
    compare_printed,
    summarize,
)
from demurk.utils._amounts import amount
from demurk.utils._files import atomic_path

__all__ = ["write_report"]


@dataclass(frozen=True)
class Content:
    """Everything a report says, in whatever form.

    Parameters
    ----------
    summary : Summary
        Cells and rows.
    rankings : dict of str to Ranking
        By measure, where methods can be ranked.
    reference : str
        The method the others are compared with.
    command : str or None
        What was run.
    """

    summary: object
    rankings: dict
    reference: str
    command: str | None

    @cached_property
    def score_grids(self):
        """Tables of scores by measure."""
        return score_grids(self.summary)

    @cached_property
    def cost_grid(self):
        """What each method cost."""
        return cost_grid(self.summary)

    @property
    def title(self):
        """The protocol's title."""
        return self.summary.protocol.title or self.summary.protocol.name

    def what_ran(self):
        """How much was run and what became of it, in sentences."""
        summary = self.summary
        protocol = summary.protocol
        parts = [
            amount(len(protocol.methods), "method"),
            amount(len(protocol.data_sets), "data set"),
            *([amount(len(protocol.settings), "setting")] if protocol.settings else []),
            amount(protocol.seeds, "seed"),
        ]
        n_tasks = len(protocol.methods) * len(summary.problems) * protocol.seeds
        statuses = Counter(row["status"] for row in summary.rows)
        statuses["not run"] = n_tasks - len(summary.rows)
        done = statuses.pop("done", 0)
        rest = [
            f"{n:,} {STATUS_WORDS.get(status, status)}"
            for status, n in statuses.items()
            if n
        ]
        yield f"{', '.join(parts)}: {amount(n_tasks, 'task')}."
        yield f"{done:,} done, {', '.join(rest)}." if rest else "All of them are done."
        stale = Counter(row["method"] for row in summary.rows if row.get("stale"))
        if stale:
            which = ", ".join(f"{method} ({n:,})" for method, n in stale.items())
            yield f"Stale, from other code or data than today's: {which}."

    def findings(self):
        """What came out, in sentences."""
        ranking = self.rankings.get(self.summary.measures[0])
        yield from _rank_findings(self, ranking) if ranking else _best_findings(self)
        scales = {m: measure_scale(self.summary, m) for m in self.summary.measures}
        changes = [
            abs(change) / scales[m]
            for m in self.summary.measures
            for change in compare_printed(self.summary, m).values()
        ]
        if changes:
            size = np.round(changes, 12)
            words = " and ".join(
                f"{(size <= edge).sum():,} are within {edge:g}" for edge in STEPS[:2]
            )
            rest = " of ours" if max(scales.values()) == 1 else ", measured from 0 to 1"
            yield f"Of {amount(len(size), 'printed value')} compared, {words}{rest}."

    @cached_property
    def grids(self):
        """All tables but the scores and costs, in their order."""
        found = [printed_grid(self.summary)]
        if self.rankings:
            found.append(friedman_grid(self.summary, self.rankings))
            found += ranking_grids(self.summary, self.rankings)
        found.append(wins_grid(self.summary, self.reference))
        found.append(pairs_grid(self.summary, self.summary.measures[0]))
        return [grid for grid in found if grid is not None]

    def how_to_read(self):
        """What the marks in the tables of scores mean."""
        summary = self.summary
        if summary.protocol.seeds > 1:
            yield "Means and standard deviations over seeds; the best is bold."
            yield (
                "The sign = marks methods that do not differ significantly from the "
                f"best (paired t-test over seeds at the {100 * LEVEL:g} % "
                "level, corrected for overlapping training sets)."
            )
        else:
            yield "One seed only, so there is no spread and no test; the best is bold."
        yield (
            "A method with fewer seeds than another one on a data set shows how many "
            "it has, and takes no part in marks and ranks there."
        )

    def how_ranked(self):
        """Which data sets and methods the ranks are made of."""
        if not self.rankings:
            yield "Ranks need two methods that finished the same two data sets."
            return
        text = "Only data sets that every ranked method finished count"
        if self.summary.protocol.settings:
            text += (
                "; scores are averaged over settings first, since those of one data "
                "set are not independent"
            )
        yield f"{text}."
        summary = self.summary
        apart = [
            s for s in summary.protocol.settings if s not in summary.shared_settings
        ]
        if apart:
            yield (
                "Settings that do not concern every method are left out of ranks: "
                f"{', '.join(apart)}."
            )
        left = list(
            dict.fromkeys(m for r in self.rankings.values() for m in r.left_out)
        )
        if left:
            yield (
                "Left out because they did not finish half of the data sets: "
                f"{', '.join(left)}."
            )

    def environment(self):
        """Facts about the runs, as pairs of what and which."""
        rows = self.summary.rows
        if self.command:
            yield "command", [self.command]
        yield "protocol", [self.summary.protocol.name]
        codes = list(dict.fromkeys(str(row["code"]) for row in rows if row.get("code")))
        yield "code", codes or ["unknown"]
        yield from _versions(rows).items()
        dates = sorted(str(row["finished"]) for row in rows if row.get("finished"))
        if dates:
            yield "finished", list(dict.fromkeys([dates[0], dates[-1]]))
        sums = dict.fromkeys((r["data_set"], r["data"]) for r in rows if r.get("data"))
        if sums:
            yield "data", [f"{name} {_short(checksum)}" for name, checksum in sums]


def _short(checksum):
    return checksum if len(checksum) <= 16 else checksum[:12]


def _versions(rows):
    """The different versions of each package over all rows, as keys in their order."""
    found = defaultdict(dict)
    for row in rows:
        versions = row.get("versions") or {}
        if not isinstance(versions, dict):
            versions = {"versions": versions}
        for name, version in versions.items():
            found[name][str(version)] = None
    return found


def _rank_findings(content, ranking):
    summary, ranks = content.summary, ranking.friedman.average_ranks
    where = dict(zip(ranking.methods, ranks))
    first, behind = best_and_behind(ranking)
    has = "has" if len(first) == 1 else "have"
    yield (
        f"By {summary.measures[0]}, {' and '.join(first)} {has} the best average rank "
        f"({ranks.min():.2f} of {len(ranks)} methods); significantly behind: "
        f"{', '.join(behind) or 'none'}."
    )
    reference = content.reference
    if reference in where and reference not in first:
        yield f"{reference} has the average rank {where[reference]:.2f}."
    groups = {m: about.get("group") for m, about in summary.protocol.methods.items()}
    others = {m: r for m, r in where.items() if groups[m] == "alternative"}
    if others and not others.keys() & set(first):
        name = min(others, key=others.get)
        yield (
            f"Of what one would use instead, {name} comes first, with the average rank "
            f"{others[name]:.2f}."
        )


def _best_findings(content):
    """The best method of each problem, for want of ranks."""
    summary, measure = content.summary, content.summary.measures[0]
    for problem in summary.problems[:3]:
        cells = {m: summary.cells[(*problem, m, measure)] for m in summary.methods}
        best = [m for m, cell in cells.items() if cell.mark == "best"]
        ties = [m for m, cell in cells.items() if cell.mark == "tie"]
        if best:
            mean = cells[best[0]].mean
            text = f"By {measure}, {' and '.join(best)} is best on "
            text += f"{problem_name(problem)} ({mean:.3f})"
            yield f"{text}; ties: {', '.join(ties)}." if ties else f"{text}."


def write_report(protocol, rows, folder, *, command=None, published=published_value):
    """Write the report of a benchmark run in four forms.

    Parameters
    ----------
    protocol : Protocol
        What was compared.
    rows : sequence of dict
        Rows of a :class:`ResultStore` or from :func:`read_results`. If a task occurs
        more than once the last row counts; rows that belong to no task of the protocol
        are left out.
    folder : path-like
        Where the files go; made if needed. Files of an earlier report are replaced.
    command : str, default=None
        The command that did it, shown in the report.
    published : callable or None, default=published_value
        Gives the printed value, or None, for the protocol and the names of a data set,
        a setting, a method and a measure; None shows no printed values.

    Returns
    -------
    paths : list of Path
        ``<name>.html``, one page with figures that needs no network; ``<name>.md``;
        ``<name>.csv``, one line for each task, which :func:`read_results` reads; and
        ``<name>.tex``, tables for the package booktabs. Each is written whole or not
        at all.

    See Also
    --------
    read_results : Read the rows back from the CSV file.

    Notes
    -----
    Figures need matplotlib; without it the page says so and has none. Means are marked
    by a paired t-test over seeds that is corrected for overlapping training sets.
    Ranks are over the data sets that every method finished.

    Examples
    --------
    >>> import tempfile
    >>> from demurk.benchmark import Protocol, write_report
    >>> protocol = Protocol(name="mine", kind="module.function", measures=("AP",),
    ...                     seeds=1, data_sets={"toy": {}}, methods={"kNN": {}})
    >>> row = {"data_set": "toy", "setting": "", "method": "kNN", "seed": 0,
    ...        "status": "done", "values": {"AP": 0.75}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_report(protocol, [row], folder)]
    ['mine.html', 'mine.md', 'mine.csv', 'mine.tex']
    """
    summary = summarize(protocol, rows, published=published)
    found = {measure: rank_methods(summary, measure) for measure in summary.measures}
    rankings = {measure: ranking for measure, ranking in found.items() if ranking}
    reference = reference_method(summary, rankings)
    content = Content(summary, rankings, reference, command)
    texts = {
        "html": report_page(content),
        "md": _markdown(content),
        "csv": results_csv(summary.rows),
        "tex": _latex(content),
    }
    paths = []
    for suffix, text in texts.items():
        path = Path(folder) / f"{protocol.name}.{suffix}"
        with atomic_path(path, force=True) as temporary:
            temporary.write_text(text, encoding="utf-8", newline="\n")
        paths.append(path)
    return paths


def _markdown(content):
    protocol = content.summary.protocol
    say = escape_markdown
    lines = [f"# {say(content.title)}", ""]
    if protocol.claim:
        lines += [f"The claim: {say(protocol.claim)}", ""]
    lines += ["## What was run", "", *(f"- {say(t)}" for t in content.what_ran())]
    lines += [f"- {say(text)}" for text, _ in problem_lines(content.summary)]
    if protocol.not_run:
        lines += ["", "Of the paper, not run:", ""]
        lines += [
            f"- {say(what)}: {say(why)}" for what, why in protocol.not_run.items()
        ]
    found = list(content.findings())
    if found:
        lines += ["", "## What came out", "", *(f"- {say(text)}" for text in found)]
    lines += ["", "## Scores", "", say(" ".join(content.how_to_read()))]
    lines += ["In brackets: the paper's value.", ""]
    lines = [*lines, *_markdown_grids(content.score_grids.values())]
    lines += ["## Comparisons", "", say(" ".join(content.how_ranked())), ""]
    lines += _markdown_grids(content.grids)
    lines += ["## Cost", "", *_markdown_grids([content.cost_grid])]
    lines += ["## Environment", ""]
    for what, which in content.environment():
        lines.append(f"- {say(what)}: {say(', '.join(which))}")
    return "\n".join(lines) + "\n"


def _markdown_grids(grids):
    for grid in grids:
        yield f"### {escape_markdown(grid.title)}\n"
        yield markdown_table(grid)
        if grid.note:
            yield f"{escape_markdown(grid.note)}\n"


def _latex(content):
    name = content.summary.protocol.name
    grids = [*content.score_grids.values(), *content.grids, content.cost_grid]
    comment = f"{content.title}: needs \\usepackage{{booktabs}}".replace("\n", " ")
    tables = [latex_table(grid, f"{name}-{i}") for i, grid in enumerate(grids, 1)]
    how = escape_latex(" ".join(content.how_to_read()))
    note = f"{{\\footnotesize {how} In brackets: the paper's value.\\par}}"
    return "\n\n".join([f"% {comment}", note, *tables]) + "\n"
