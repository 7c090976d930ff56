"""One HTML page of findings in words and tables, without a map."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import html
import re
from importlib.resources import files

__all__ = ["report_page"]


def report_page(title, facts, report, style=""):
    """A page that runs no script and loads nothing.

    Parameters
    ----------
    title : str
        Its title, as plain text.
    facts : str
        A line beside the title, as plain text.
    report : str
        HTML of the findings, put in as it is.
    style : str, default=""
        Rules beyond those of all pages.

    Returns
    -------
    page : str
        The text of the HTML file.
    """
    web = files("demurk.viz") / "web"
    parts = {
        "title": html.escape(title),
        "facts": html.escape(facts),
        "style": (web / "page.css").read_text("utf-8") + style,
        "report": report,
    }
    template = (web / "report.html").read_text("utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], template)
