"""The figures of a report, made from the cells of a run."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import math

import numpy as np

from demurk.benchmark.report._figure_curves import plot_curves
from demurk.benchmark.report._figures import (
    plot_critical_difference,
    plot_heat_maps,
    plot_mean_scores,
)
from demurk.benchmark.report._grids import measure_title

__all__ = ["mean_figure", "rank_figures", "setting_figures"]

# More heat maps than this say less.
MOST_MAPS = 12


def rank_figures(rankings):
    """Critical-difference diagrams.

    Parameters
    ----------
    rankings : dict of str to Ranking
        By measure.

    Returns
    -------
    figures : list of (str, str, Figure)
        Measure, caption and figure.
    """
    figures = []
    for measure, ranking in rankings.items():
        figure = plot_critical_difference(
            ranking.friedman.average_ranks, ranking.methods, ranking.difference
        )
        caption = (
            f"{measure}: average ranks over {ranking.friedman.n_data_sets} data sets, "
            "best on the left. Methods joined by a bar do not differ significantly "
            "(Nemenyi's test, 5 %)."
        )
        figures.append((measure, caption, figure))
    return figures


def mean_figure(summary, reference):
    """Mean scores over the problems that all drawn methods finished.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize`.
    reference : str
        Method in another colour.

    Returns
    -------
    figures : list of (str, str, Figure)
        One or none.
    """
    if len(summary.protocol.data_sets) < 2:
        return []
    measures, means, printed = [], [], []
    for measure in summary.measures:
        own = summary.sign(measure) * summary.over_settings(measure)
        drawn = np.isfinite(own).mean(axis=0) >= 0.5
        rows = np.isfinite(own[:, drawn]).all(axis=1)
        if not drawn.any() or not rows.any():
            continue
        measures.append(measure_title(summary, measure))
        means.append(np.where(drawn, own[rows].mean(axis=0), np.nan))
        printed.append(summary.printed_over_settings(measure)[rows].mean(axis=0))
    if not measures:
        return []
    figure = plot_mean_scores(
        np.transpose(means),
        summary.methods,
        measures,
        printed=np.transpose(printed),
        highlight=reference,
    )
    caption = "Mean scores over the data sets that all drawn methods finished."
    if np.isfinite(printed).any():
        caption += " Open diamonds: the same means of the printed values."
    return [("", caption, figure)]


def setting_figures(summary, reference):
    """Curves over every factor that settings vary, heat maps over two at once.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize`.
    reference : str
        Method whose heat maps come first.

    Returns
    -------
    figures : list of (str, str, Figure)
        Measure, caption and figure.
    """
    figures = []
    for measure in summary.measures:
        title = measure_title(summary, measure)
        for settings, factors in sweeps(summary.protocol.settings):
            if len(factors) == 2:
                found = _heat_maps(summary, measure, settings, factors, reference)
            else:
                found = _curves(summary, measure, settings, factors)
            if found is not None:
                over = " and ".join(map(_words, factors)) or "settings"
                figure, more = found
                figures.append((title, f"{title} by {over}. {more}".strip(), figure))
    return figures


def sweeps(settings):
    """Groups of settings that vary the same arguments.

    Parameters
    ----------
    settings : dict of str to dict
        Arguments by setting; those inside tables count by their own names.

    Returns
    -------
    groups : list of (list of str, dict of str to list)
        Settings of a group, and the arguments that vary in it with the value in each
        setting: one argument, or two that form a grid. Where no such group has two
        settings, one group of all settings without arguments.
    """
    families = {}
    for name, table in settings.items():
        flat = _flat(table)
        families.setdefault(tuple(sorted(flat)), {})[name] = flat
    groups = []
    for family in families.values():
        tables = list(family.values())
        columns = {key: [table[key] for table in tables] for key in tables[0]}
        factors = {k: v for k, v in columns.items() if len(_distinct(v)) > 1}
        whole = math.prod(len(_distinct(values)) for values in factors.values())
        if 1 <= len(factors) <= 2 and whole == len(family):
            groups.append((list(family), factors))
    if not groups and len(settings) > 1:
        groups.append((list(settings), {}))
    return groups


def _flat(table):
    """The innermost arguments of nested tables."""
    found = {}
    for key, value in table.items():
        found |= _flat(value) if isinstance(value, dict) else {key: value}
    return found


def _distinct(values):
    """Different values, in order if they are numbers."""
    found = [v for i, v in enumerate(values) if v not in values[:i]]
    return sorted(found) if _numeric(found) else found


def _numeric(values):
    return all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in values)


def _words(name):
    return name.replace("_", " ")


def _curves(summary, measure, settings, factors):
    x, label = settings, ""
    for name, values in factors.items():
        if _numeric(values):
            label = _words(name)
            settings = [settings[i] for i in np.argsort(values)]
            x = sorted(values)
    panels = {}
    for data_set in summary.protocol.data_sets:
        panel = {}
        for method in summary.methods:
            cells = [summary.cells[data_set, s, method, measure] for s in settings]
            if any(cell.values for cell in cells):
                panel[method] = ([c.mean for c in cells], [c.sd for c in cells])
        if panel:
            panels[data_set] = panel
    if not panels:
        return None
    bars = "Bars: standard deviation over seeds." if summary.protocol.seeds > 1 else ""
    y_label = measure_title(summary, measure)
    return plot_curves(x, panels, x_label=label, y_label=y_label), bars


def _heat_maps(summary, measure, settings, factors, reference):
    (down, first), (across, second) = factors.items()
    rows, columns = _distinct(first), _distinct(second)
    panels = {}
    # The method that the paper is about comes first.
    for method in sorted(summary.methods, key=lambda m: m != reference):
        for data_set in summary.protocol.data_sets:
            values = np.full((len(rows), len(columns)), np.nan)
            for setting, a, b in zip(settings, first, second):
                cell = summary.cells[data_set, setting, method, measure]
                values[rows.index(a), columns.index(b)] = cell.mean
            several = len(summary.protocol.data_sets) > 1
            if np.isfinite(values).any():
                panels[f"{method} on {data_set}" if several else method] = values
    if not panels:
        return None
    shown = dict(list(panels.items())[:MOST_MAPS])
    caption = "Every map has its own colours; lighter is larger."
    if len(shown) < len(panels):
        caption += f" Shown are {len(shown)} of {len(panels)}; the tables have all."
    labels = {"x_label": _words(across), "y_label": _words(down)}
    return plot_heat_maps(shown, rows, columns, **labels), caption
