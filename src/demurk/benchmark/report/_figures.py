"""Figures of a benchmark report: critical differences, means, heat maps."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from demurk.benchmark.report._figure_style import (
    COLORS,
    INK,
    SOFT,
    figure_style,
    new_figure,
    panel_axes,
)
from demurk.benchmark.statistics._significance import similar_groups

__all__ = ["plot_critical_difference", "plot_heat_maps", "plot_mean_scores"]


def plot_critical_difference(average_ranks, names, difference, *, title=None):
    """Draw the critical-difference diagram of average ranks.

    Parameters
    ----------
    average_ranks : array-like of shape (n_methods,)
        Mean ranks, 1 is best.
    names : sequence of str
        Names of the methods.
    difference : float
        Critical difference; methods joined by a bar differ by less.
    title : str, default=None
        Title of the figure.

    Returns
    -------
    figure : matplotlib Figure
        Best methods on the left.

    References
    ----------
    Demsar: Statistical comparisons of classifiers over multiple data sets, Journal of
    Machine Learning Research 7, 2006.

    Examples
    --------
    >>> from demurk.benchmark.report import plot_critical_difference
    >>> figure = plot_critical_difference([1.4, 2.1, 2.5], ["a", "b", "c"], 0.9)
    >>> [text.get_text() for text in figure.axes[0].texts if text.get_text() in "abc"]
    ['a', 'b', 'c']
    """
    ranks = np.asarray(average_ranks, dtype=float)
    order = np.argsort(ranks, kind="stable")
    k = len(ranks)
    low, high = 1.0, float(max(k, 1 + difference))
    groups = similar_groups(ranks, difference)
    left = (k + 1) // 2
    depth = 0.5 + 0.28 * len(groups)
    height = depth + 0.42 * max(left, k - left) + 1.3
    with figure_style():
        figure = new_figure(8.6, 0.55 + 0.42 * height)
        ax = figure.add_axes((0.22, 0, 0.56, 1))
        ax.set(xlim=(low, high), ylim=(-height + 1.1, 1.15))
        ax.axis("off")
        if title:
            figure.text(0.01, 0.99, title, va="top", fontsize="large")
        ax.plot([low, high], [0, 0], color=INK, lw=1, clip_on=False)
        for tick in range(1, int(np.floor(high)) + 1, -(-k // 20)):
            ax.plot([tick, tick], [0, 0.1], color=INK, lw=1, clip_on=False)
            ax.text(tick, 0.16, str(tick), ha="center", va="bottom", color=INK)
        ax.plot([low, low + difference], [0.85, 0.85], color=INK, lw=1.5, marker="|")
        text = f"critical difference {difference:.2f}"
        look = {"ha": "center", "va": "bottom", "fontsize": "small"}
        ax.text(low + difference / 2, 0.9, text, **look)
        for number, group in enumerate(groups):
            y = -0.3 - 0.28 * number
            ends = ranks[group[0]] - 0.04, ranks[group[-1]] + 0.04
            ax.plot(ends, [y, y], color=COLORS[0], lw=4, solid_capstyle="round")
        margin = 0.04 * (high - low)
        for place, method in enumerate(order):
            x, level, end = ranks[method], place, low - margin
            # The name is outside the end of its line, and the rank inside, above it.
            outside, inside, step = "right", "left", -0.3 * margin
            if place >= left:
                level, end = k - 1 - place, high + margin
                outside, inside, step = "left", "right", 0.3 * margin
            y = -depth - 0.42 * level
            ax.plot([x, x, end], [0, y, y], color=SOFT, lw=0.9, clip_on=False)
            ax.plot([x], [0], "o", color=INK, ms=3.5, clip_on=False)
            ax.text(end + step, y, names[method], ha=outside, va="center")
            look = {"ha": inside, "va": "bottom", "fontsize": "x-small", "color": SOFT}
            ax.text(end - step, y + 0.02, f"{x:.2f}", **look)
    return figure


def plot_mean_scores(
    means, methods, measures, *, printed=None, highlight=None, title=None
):
    """Draw mean scores over data sets, one panel for each measure.

    Parameters
    ----------
    means : array-like of shape (n_methods, n_measures)
        Mean scores, NaN where there is none.
    methods, measures : sequence of str
        Their names.
    printed : array-like of shape (n_methods, n_measures), default=None
        The paper's means, drawn as open diamonds.
    highlight : str, default=None
        Method in another colour.
    title : str, default=None
        Title of the figure.

    Returns
    -------
    figure : matplotlib Figure
        Methods from top to bottom in each panel.

    Examples
    --------
    >>> from demurk.benchmark.report import plot_mean_scores
    >>> figure = plot_mean_scores([[0.5, 0.6], [0.7, 0.9]], ["a", "b"], ["AP", "MiF1"])
    >>> [ax.get_title(loc="left") for ax in figure.axes]
    ['AP', 'MiF1']
    """
    means = np.asarray(means, dtype=float)
    other = np.full_like(means, np.nan) if printed is None else np.asarray(printed)
    places = np.arange(len(methods))
    with figure_style():
        width = max(1.25, 4 / len(measures))
        size = (1.4 + width * len(measures), 0.9 + 0.24 * len(methods))
        figure = new_figure(*size, layout="constrained")
        # A remark in brackets goes below the name.
        names = [measure.replace(" (", "\n(") for measure in measures]
        axes = panel_axes(figure, names, len(names), title, sharey=True)
        for ax, own, paper in zip(axes, means.T, other.T):
            both = np.concatenate([own, paper])
            known = both[np.isfinite(both)]
            low, high = (known.min(), known.max()) if known.size else (0, 1)
            margin = 0.14 * (high - low) or 0.05
            ax.set_xlim(low - margin, high + margin)
            ax.hlines(places, low - margin, own, color=SOFT, lw=0.8, alpha=0.5)
            colors = [COLORS[3] if m == highlight else COLORS[0] for m in methods]
            ax.scatter(own, places, c=colors, s=26, zorder=3, linewidths=0)
            ax.scatter(paper, places, c="none", edgecolors=SOFT, marker="D", s=20)
            ax.locator_params(axis="x", nbins=3)
            ax.tick_params(axis="x", labelsize="x-small")
            ax.tick_params(axis="y", length=0)
            ax.spines["left"].set_visible(False)
        axes[0].set_yticks(places, methods)
        axes[0].set_ylim(len(methods) - 0.4, -0.6)
    return figure


def plot_heat_maps(panels, rows, columns, *, x_label="", y_label="", title=None):
    """Draw scores over a grid of two parameters.

    Parameters
    ----------
    panels : dict of str to array-like of shape (n_rows, n_columns)
        Scores by title of the panel, NaN where there is none.
    rows, columns : sequence
        Values of the two parameters.
    x_label, y_label : str, default=""
        Names of the parameters along columns and rows.
    title : str, default=None
        Title of the figure.

    Returns
    -------
    figure : matplotlib Figure
        Every field has its number; lighter is larger.

    Examples
    --------
    >>> from demurk.benchmark.report import plot_heat_maps
    >>> figure = plot_heat_maps({"toy": [[0.1, 0.2]]}, [1], [10, 100])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['0.100', '0.200']
    """
    across = min(3, len(panels))
    down = -(-len(panels) // across)
    with figure_style():
        width, height = 0.9 + 0.48 * len(columns), 0.6 + 0.32 * len(rows)
        size = (max(4.0, across * width), 0.5 + down * max(height, 1.2))
        figure = new_figure(*size, layout="constrained")
        axes = panel_axes(figure, panels, across, title)
        for ax, panel in zip(axes, panels.values()):
            values = np.ma.masked_invalid(np.asarray(panel, dtype=float))
            # Separate rectangles stay sharp in a page; a picture would not.
            ax.pcolormesh(values, cmap="cividis", edgecolors="none")
            _numbers(ax, values)
            ax.set_xticks(np.arange(len(columns)) + 0.5, map(str, columns))
            ax.set_yticks(np.arange(len(rows)) + 0.5, map(str, rows))
            ax.tick_params(length=0, labelsize="small")
            ax.spines[:].set_visible(False)
        figure.supxlabel(x_label, fontsize="medium")
        figure.supylabel(y_label, fontsize="medium")
    return figure


def _numbers(ax, values):
    low, high = values.min(), values.max()
    digits = 3 if abs(high) < 2 else 1
    for (i, j), value in np.ndenumerate(values):
        text, look = "–", {}
        if not np.ma.is_masked(values[i, j]):
            dark = value < low + 0.55 * (high - low)
            text = f"{value:.{digits}f}"
            look = {"fontsize": "x-small", "color": "#ffffff" if dark else "#000000"}
        ax.text(j + 0.5, i + 0.5, text, ha="center", va="center", **look)
