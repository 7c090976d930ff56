"""Curves of a benchmark report: a measure along a parameter."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from demurk.benchmark.report._figure_style import (
    COLORS,
    SOFT,
    figure_style,
    new_figure,
    panel_axes,
)

__all__ = ["plot_curves"]

# With more curves than this the error bars fade.
MOST_BARS = 6
# Names in a line of the legend.
MOST_ACROSS = 5
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def plot_curves(x, panels, *, x_label="", y_label="", title=None):
    """Draw scores over the settings of an experiment with error bars.

    Parameters
    ----------
    x : sequence of float or of str
        Settings; numbers are joined by lines and texts are not.
    panels : dict of str to dict of str to (means, deviations)
        By title of the panel and name of the method: two sequences as long as x, NaN
        where there is nothing.
    x_label, y_label : str, default=""
        Names of the axes.
    title : str, default=None
        Title of the figure.

    Returns
    -------
    figure : matplotlib Figure
        Three panels in a row.

    Examples
    --------
    >>> from demurk.benchmark.report import plot_curves
    >>> figure = plot_curves([0.1, 0.2], {"toy": {"kNN": ([0.5, 0.6], [0.1, 0.1])}})
    >>> len(figure.axes)
    1
    """
    numeric = all(isinstance(value, (int, float)) for value in x)
    places = np.asarray(x, dtype=float) if numeric else np.arange(len(x), dtype=float)
    names = list(dict.fromkeys(name for panel in panels.values() for name in panel))
    columns = 2 if len(panels) == 4 else min(3, len(panels))
    rows = -(-len(panels) // columns)
    # Places in inches: the automatic layout draws everything several times.
    legend = 0.2 * -(-len(names) // MOST_ACROSS)
    width, height = 0.5 + max(5.4, 3.6 * columns), 2.6 * rows + 0.7 + legend
    left, right = 0.75 / width, 1 - 0.1 / width
    handles = {}
    with figure_style():
        figure = new_figure(width, height)
        figure.subplots_adjust(
            left=left,
            right=right,
            top=(height - (0.65 if title else 0.3)) / height,
            bottom=(0.65 + legend) / height,
            wspace=0.2,
            hspace=0.3,
        )
        axes = panel_axes(figure, panels, columns, title)
        for ax, panel in zip(axes, panels.values()):
            for method, (means, errors) in panel.items():
                place = names.index(method)
                offset = 0 if numeric else 0.5 * ((place + 0.5) / len(names) - 0.5)
                bars = np.where(np.isfinite(errors), errors, 0.0)
                bars = bars if bars.any() else None
                drawn = ax.errorbar(
                    places + offset, means, bars, **_look(place, numeric)
                )
                handles.setdefault(method, drawn[0])
                for part in (*drawn[1], *drawn[2]):
                    part.set_alpha(0.4 if len(names) > MOST_BARS else 1)
            ax.grid(axis="y", color=SOFT, alpha=0.25, lw=0.6)
            ax.tick_params(labelsize="small")
            if numeric and places.min() > 0 and places.max() / places.min() >= 50:
                ax.set_xscale("log")
            if not numeric or _apart(ax, places):
                ax.set_xticks(places, [f"{v:g}" for v in x] if numeric else x)
                ax.minorticks_off()
        middle = 0.5 * (left + right)
        figure.text(middle, (0.15 + legend) / height, x_label, ha="center", va="bottom")
        figure.text(0.1 / width, 0.5, y_label, va="center", rotation="vertical")
        _add_legend(figure, handles)
    return figure


def _apart(ax, places):
    """Whether ticks at these places leave room for their numbers."""
    x = np.sort(np.log(places) if ax.get_xscale() == "log" else places)
    return len(x) < 2 or np.diff(x).min() >= 0.07 * (x[-1] - x[0])


def _look(number, joined):
    """Colour, marker and line of a method by its number."""
    cycle, place = divmod(number, len(COLORS))
    return {
        "color": COLORS[place],
        "marker": MARKERS[(place + cycle) % len(MARKERS)],
        "ls": ("-", "--", ":", "-.")[cycle % 4] if joined else "",
        "ms": 4,
        "lw": 1.3,
        "elinewidth": 0.8,
        "capsize": 2,
    }


def _add_legend(figure, handles):
    # Matplotlib keeps names that begin with an underscore out of legends.
    shown = [f"\u200b{name}" if name.startswith("_") else name for name in handles]
    figure.legend(
        list(handles.values()),
        shown,
        loc="lower left",
        bbox_to_anchor=(0.04, 0),
        borderaxespad=0.2,
        ncols=min(MOST_ACROSS, len(handles)),
        frameon=False,
        fontsize="small",
    )
