"""One HTML page of findings in words and tables, without a map."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import html
import re
from importlib.resources import files

__all__ = [
    "Markup",
    "boxed",
    "bullets",
    "filled",
    "folded",
    "report_table",
    "sections",
    "story",
    "table",
    "web_text",
]


class Markup(str):
    """HTML that `table` puts in as it is."""


def filled(template, title, style="", package="demurk.viz", sheet="page.css", **parts):
    """A template of ours with these parts in their places, as they are.

    A page made of ``report.html`` runs no script and loads nothing.

    Parameters
    ----------
    template : str
        Name of the file.
    title : str
        Title of the page, as plain text.
    style : str, default=""
        Rules beyond those of the sheet.
    package : str, default="demurk.viz"
        Whose template it is.
    sheet : str, default="page.css"
        Rules of all its pages.
    **parts : str
        HTML for each name in the template.

    Returns
    -------
    page : str
        The text of the HTML file.
    """
    parts["title"] = html.escape(title)
    parts["style"] = web_text(sheet, package=package) + style
    text = web_text(template, package=package)
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], text)


def web_text(*names, package="demurk.viz"):
    """What the pages of a package are made of, one file below the other."""
    web = files(package) / "web"
    return "\n".join((web / name).read_text("utf-8") for name in names)


def sections(parts):
    """HTML under headings, from a dict of them."""
    return "\n".join(f"<h2>{title}</h2>\n{part}" for title, part in parts.items())


def story(lines):
    """Lines of plain text: the first one stands out, the others are a list."""
    first, *others = lines
    return f'<p class="verdict">{html.escape(first)}</p>\n{bullets(others)}'


def bullets(lines):
    """Lines of plain text as a list."""
    return f"<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>"


def boxed(label, content, kind="list"):
    """HTML in a box that scrolls, also with the keys, and that has a name."""
    return (
        f'<div class="{kind}" tabindex="0" role="region" aria-label="'
        f'{html.escape(label)}">{content}</div>'
    )


def folded(title, content, opened=False):
    """HTML that is shown on request, or `opened` at once."""
    summary = f"<summary>{html.escape(title)}</summary>"
    return f"<details{' open' * opened}>{summary}{content}</details>"


def report_table(label, lines, columns, most=None, others=""):
    """The table that `table` makes of the first lines, in a box of this name.

    Of the lines beyond `most` their number and `others` are said below.
    """
    more = len(lines[most:]) if most else 0
    below = f"<p>{more:,} {others}</p>" if more else ""
    return boxed(label, table(lines[:most], columns)) + below


def table(lines, columns, kind=""):
    """A table.

    Parameters
    ----------
    lines : iterable of dict
        Facts.
    columns : sequence of (str, str, str or callable)
        Heading of each column; the class of its cells, of which that of numbers holds
        for the heading too; and what is said of a line, as a format of its facts or a
        function of it. All but `Markup` is plain text.
    kind : str, default=""
        Class of the table.

    Returns
    -------
    table : str
        The HTML.
    """
    rows = ["".join(_heading(name, kind) for name, kind, _ in columns)]
    rows += ["".join(_cell(line, *own) for _, *own in columns) for line in lines]
    content = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table{_class(kind)}>{content}</table>"


def _class(kind):
    return f' class="{kind}"' if kind else ""


def _heading(name, kind):
    return f"<th{_class(kind) if kind == 'number' else ''}>{name}</th>"


def _cell(line, kind, fact):
    text = fact(line) if callable(fact) else fact.format_map(line)
    text = text if isinstance(text, Markup) else html.escape(text)
    return f"<td{_class(kind)}>{text}</td>"
