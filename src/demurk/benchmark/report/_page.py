"""The HTML page of a benchmark report."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import html

from demurk.benchmark.report._figure_style import figure_svg
from demurk.benchmark.report._grids import STEPS, measure_scale, problem_lines
from demurk.benchmark.report._markup import html_table
from demurk.benchmark.report._page_figures import (
    mean_figure,
    rank_figures,
    setting_figures,
)
from demurk.viz._report import boxed, bullets, filled, folded

__all__ = ["report_page"]


def report_page(content):
    """The text of the page.

    Parameters
    ----------
    content : Content
        What to say.

    Returns
    -------
    page : str
        A whole HTML document; its style and figures are inside.
    """
    found = list(content.findings())
    sections = {
        "What came out": bullets(found) if found else "",
        "What was run": _ran(content),
        **_pictures(content),
        "Scores": _scores(content),
        "Comparisons": _comparisons(content),
        content.cost_grid.title: html_table(content.cost_grid),
        "Environment": _environment(content),
    }
    sections = {title: body for title, body in sections.items() if body}
    links, bodies = [], []
    for number, (title, body) in enumerate(sections.items()):
        links.append(f'<a href="#part{number}">{title}</a>')
        bodies.append(f'<section id="part{number}"><h2>{title}</h2>\n{body}</section>')
    claim = html.escape(content.summary.protocol.claim or "")
    return filled(
        "report.html",
        content.title,
        package="demurk.benchmark.report",
        sheet="report.css",
        claim=f'<p class="claim"><b>The claim.</b> {claim}</p>' if claim else "",
        links="\n".join(links),
        sections="\n".join(bodies),
    )


def _paragraph(sentences):
    return f'<p class="note">{html.escape(" ".join(sentences))}</p>'


def _ran(content):
    parts = [bullets(content.what_ran())]
    items = []
    for text, error in problem_lines(content.summary):
        more = folded("error", f"<pre>{html.escape(error)}</pre>") if error else ""
        items.append(f"<li>{html.escape(text)}{more}</li>")
    if items:
        parts.append(f"<h3>Without a result</h3><ul>{''.join(items)}</ul>")
    not_run = content.summary.protocol.not_run
    if not_run:
        parts.append("<h3>Of the paper, not run</h3>")
        parts.append(bullets(f"{what}: {why}" for what, why in not_run.items()))
    return "\n".join(parts)


def _table(grid):
    note = _paragraph([grid.note]) if grid.note else ""
    return f"<h3>{html.escape(grid.title)}</h3>\n{html_table(grid)}{note}"


def _scores(content):
    summary = content.summary
    parts = [_paragraph(content.how_to_read())]
    if any(cell.paper is not None for cell in summary.cells.values()):
        parts.append(_legend(summary))
    return "\n".join([*parts, *map(_table, content.score_grids.values())])


def _legend(summary):
    """What the colours of differences mean."""
    first, second, third = (f"{edge:g}" for edge in STEPS)
    spans = (f"{first} to {second}", f"{second} to {third}", f"above {third}")
    chips = [f'<span class="change same">≈ up to {first}</span>']
    for sign, side in (("▲", "better"), ("▼", "worse")):
        for step, span in enumerate(spans, 1):
            chip = f"{sign} {side} by {span}"
            chips.append(f'<span class="change {side} s{step}">{chip}</span>')
    sentences = [
        "Below each mean: the paper’s value, and ours minus the paper’s, coloured by "
        "its size."
    ]
    for measure in summary.measures:
        scale = measure_scale(summary, measure)
        if scale > 1:
            sentences.append(f"For {measure} the steps are {scale:g} times as large.")
    return f'{_paragraph(sentences)}<p class="legend">{" ".join(chips)}</p>'


def _comparisons(content):
    return "\n".join([_paragraph(content.how_ranked()), *map(_table, content.grids)])


def _environment(content):
    items = []
    for what, which in content.environment():
        shown = "<br>".join(html.escape(text) for text in which)
        shown = f"<code>{shown}</code>" if what in ("command", "code") else shown
        items.append(f"<dt>{html.escape(what)}</dt><dd>{shown}</dd>")
    return f"<dl>{''.join(items)}</dl>"


# Figures


def _pictures(content):
    """Sections with figures by title."""
    summary, reference = content.summary, content.reference
    try:
        found = {
            "Average ranks": rank_figures(content.rankings),
            "Mean scores": mean_figure(summary, reference),
            "Over the settings": setting_figures(summary, reference),
        }
        return {
            title: "\n".join(_fold(figures, title))
            for title, figures in found.items()
            if figures
        }
    except ImportError as error:
        return {"Figures": _paragraph([str(error)])}


def _fold(figures, salt):
    """The first figure, and those of further measures on request."""
    opened = {}
    for number, (measure, caption, figure) in enumerate(figures):
        picture = _picture(figure, f"{salt} {number}", caption)
        if measure == figures[0][0]:
            yield picture
        else:
            opened.setdefault(measure, []).append(picture)
    for measure, pictures in opened.items():
        yield folded(measure, "".join(pictures))


def _picture(figure, salt, caption):
    text = f"<figcaption>{html.escape(caption)}</figcaption>"
    return f"<figure>{boxed(caption, figure_svg(figure, salt), 'box')}{text}</figure>"
