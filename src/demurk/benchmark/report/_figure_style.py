"""What the figures of a report share: colours, style, and SVG for a page."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import io
import re

from demurk.utils._optional import import_optional

__all__ = [
    "COLORS",
    "INK",
    "SOFT",
    "figure_style",
    "figure_svg",
    "new_figure",
    "panel_axes",
]

# Text and axes; becomes the colour of the text around a figure in a page.
INK = "#1c2430"
SOFT = "#8b95a3"
# Colours that colour-blind readers can tell apart, on white and on black.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", INK)
STYLE = {
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    # Names of methods are no mathematics, whatever signs they contain.
    "text.parse_math": False,
    "svg.fonttype": "none",
    "axes.unicode_minus": True,
}


def figure_style():
    return import_optional("matplotlib", "viz").rc_context(STYLE)


def new_figure(width, height, **options):
    figure = import_optional("matplotlib.figure", "viz")
    return figure.Figure(figsize=(width, height), **options)


def panel_axes(figure, names, across, title=None, **options):
    """Axes of panels under their names, so many in a row, below a title of all."""
    down = -(-len(names) // across)
    axes = list(figure.subplots(down, across, squeeze=False, **options).flat)
    for ax in axes[len(names) :]:
        ax.remove()
    for ax, name in zip(axes, names):
        ax.set_title(name, fontsize="medium", loc="left")
    if title:
        figure.suptitle(title, fontsize="large", x=0.01, ha="left")
    return axes[: len(names)]


def figure_svg(figure, salt):
    """A figure as SVG that can stand inside an HTML page.

    Parameters
    ----------
    figure : matplotlib Figure
        Figure made here.
    salt : str
        Distinguishes the names inside this figure from those of others in the page.

    Returns
    -------
    svg : str
        One element without a background, in the colour of the text around it.
    """
    matplotlib = import_optional("matplotlib", "viz")
    out = io.StringIO()
    with matplotlib.rc_context(STYLE | {"svg.hashsalt": salt}):
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r' xmlns(:\w+)?="[^"]*"', "", text)
    # Names such as "axes_1" occur in every figure and nothing refers to them.
    text = re.sub(r' id="[a-zA-Z0-9.]+_\d+"', "", text)
    text = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", text)
    text = re.sub(r' (width|height)="[\d.]+pt"', "", text, count=2)
    # A hundredth of a point is enough, and halves the size.
    places = r' (?:d|x|y|transform)="[^"]*"'
    text = re.sub(places, lambda m: re.sub(r"(\.\d\d)\d+", r"\1", m[0]), text)
    width = re.search(r'viewBox="0 0 ([\d.]+)', text)[1]
    text = text.replace("<svg", f'<svg style="width: {width}pt" role="img"', 1)
    return text.replace(INK, "currentColor").strip()
