"""Grids as HTML, Markdown and LaTeX."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import html
import re
from itertools import groupby

from demurk.viz._report import boxed

__all__ = [
    "escape_latex",
    "escape_markdown",
    "html_table",
    "latex_table",
    "markdown_table",
]

LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "±": r"$\pm$",
    "≤": r"$\leq$",
    "−": "$-$",
    "·": r"$\cdot$",
    "\n": " ",
    **{sign: f"\\{sign}" for sign in "&%$#_"},
}


def escape_markdown(text):
    """A text that Markdown shows as it is."""
    lines = re.sub(r"([\\`*_\[\]|~#])", r"\\\1", str(text)).replace("\n", " ")
    return html.escape(lines, quote=False)


def escape_latex(text):
    """A text that LaTeX prints as it is."""
    return "".join(LATEX.get(sign, sign) for sign in str(text))


def html_table(grid):
    """A grid as an HTML table in a box that scrolls by itself."""
    head = []
    if grid.column_groups:
        cells = [f'<td colspan="{len(grid.corner)}"></td>']
        for name, members in groupby(grid.column_groups):
            n = len(list(members))
            cells.append(f'<th class="group" colspan="{n}">{html.escape(name)}</th>')
        head.append(f"<tr>{''.join(cells)}</tr>")
    starts = _starts(grid.column_groups)
    cells = [f'<th scope="col" class="head">{html.escape(c)}</th>' for c in grid.corner]
    for j, name in enumerate(grid.columns):
        words = any(entries[j].words for _, entries in grid.rows)
        kind = ' class="start"' if j in starts else ' class="left"' * words
        cells.append(f'<th scope="col"{kind}>{html.escape(name)}</th>')
    head.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(_html_rows(grid, starts))
    table = f"<thead>{''.join(head)}</thead>\n<tbody>{body}</tbody>"
    return boxed(grid.title, f"<table>{table}</table>", "box")


def _starts(groups):
    """Where a new group begins, except the first one."""
    return {j for j in range(1, len(groups)) if groups[j] != groups[j - 1]}


def _html_rows(grid, column_starts):
    starts, width = _starts(grid.row_groups), len(grid.corner) + len(grid.columns)
    before = ()
    for i, (heads, entries) in enumerate(grid.rows):
        if grid.row_groups and (i == 0 or i in starts):
            name = html.escape(grid.row_groups[i])
            yield (
                f'<tr class="group"><th scope="rowgroup">{name}</th>'
                f'<td colspan="{width - 1}"></td></tr>'
            )
        # A data set with several settings is named once.
        again = len(heads) > 1 and heads[:1] == before[:1]
        cells = []
        for j, name in enumerate(heads):
            kind = "head again" if again and j == 0 else "head"
            cells.append(f'<th scope="row" class="{kind}">{html.escape(name)}</th>')
        before = heads
        for j, entry in enumerate(entries):
            cells.append(_html_cell(entry, "start" if j in column_starts else ""))
        kind = ' class="new"' if len(heads) > 1 and i > 0 and not again else ""
        yield f"<tr{kind}>{''.join(cells)}</tr>"


def _html_cell(entry, kind):
    kinds = [kind, entry.mark, "blank" * entry.blank, "words" * entry.words]
    classes = " ".join(filter(None, kinds))
    title = f' title="{html.escape(entry.note, quote=True)}"' if entry.note else ""
    value = html.escape(entry.text)
    if entry.mark == "best":
        value = f"<b>{value}</b>"
    if entry.mark == "tie":
        value += '<sup class="tie">=</sup>'
    if entry.spread:
        value += f' <small class="sd">±{html.escape(entry.spread)}</small>'
    if entry.paper:
        value += f'<br><small class="paper">{html.escape(entry.paper)}</small>'
    if entry.change:
        side = "better" if entry.step > 0 else "worse"
        look = f"{side} s{abs(entry.step)}" if entry.step else "same"
        sign = {"better": "▲", "worse": "▼"}[side] if entry.step else "≈"
        text = html.escape(f"{sign}\u2009{entry.change}")
        value += f' <small class="change {look}">{text}</small>'
    if entry.count:
        value += f'<br><small class="count">{html.escape(entry.count)} seeds</small>'
    classes = f' class="{classes}"' if classes else ""
    return f"<td{classes}{title}>{value}</td>"


def markdown_table(grid):
    """A grid as a Markdown table; printed values in brackets."""
    heads = [escape_markdown(name) for name in (*grid.corner, *grid.columns)]
    rule = ["---"] * len(grid.corner) + ["---:"] * len(grid.columns)
    lines = [heads, rule]
    for names, entries in grid.rows:
        cells = [_cell(entry, escape_markdown, IN_MARKDOWN) for entry in entries]
        lines.append([*map(escape_markdown, names), *cells])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def latex_table(grid, label):
    """A grid as a floating table in the style of booktabs."""
    corner, n = len(grid.corner), len(grid.columns)
    heads = [escape_latex(name) for name in (*grid.corner, *grid.columns)]
    starts, lines, before = _starts(grid.row_groups), [], ()
    for i, (names, entries) in enumerate(grid.rows):
        again = corner > 1 and names[:1] == before[:1]
        if i in starts or (corner > 1 and i > 0 and not again):
            lines.append(r"\addlinespace")
        shown = ["", *names[1:]] if again else names
        before = names
        cells = [_cell(entry, escape_latex, IN_LATEX) for entry in entries]
        lines.append(" & ".join([*map(escape_latex, shown), *cells]) + r" \\")
    note = f" {grid.note}" if grid.note else ""
    return "\n".join(
        [
            r"\begin{table}[htbp]",
            r"\centering\footnotesize\setlength{\tabcolsep}{3pt}",
            f"\\caption{{{escape_latex(grid.title + '.' + note)}}}",
            f"\\label{{tab:{re.sub('[^A-Za-z0-9]+', '-', label).strip('-')}}}",
            f"\\begin{{tabular}}{{{'l' * corner}{'r' * n}}}",
            r"\toprule",
            " & ".join(heads) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    )


# How the parts of an entry look.
IN_MARKDOWN = {"best": "**%s**", "tie": "%s⁼", "spread": " ±%s", "count": " %s seeds"}
IN_LATEX = {
    "best": r"\textbf{%s}",
    "tie": "%s$^{=}$",
    "spread": r" {\tiny$\pm$%s}",
    "count": r" {\tiny %s seeds}",
}


def _cell(entry, escape, looks):
    """An entry of a table in Markdown or LaTeX."""
    text = looks.get(entry.mark, "%s") % escape(entry.text)
    text += looks["spread"] % escape(entry.spread) if entry.spread else ""
    text += looks["count"] % escape(entry.count) if entry.count else ""
    return text + (f" ({escape(entry.paper)})" if entry.paper else "")
