"""How methods rank over data sets, and the tables of it."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections import Counter
from dataclasses import dataclass

import numpy as np

from demurk.benchmark.report._grids import Entry, Grid, measure_title, methods_grid
from demurk.benchmark.report._tables import LEVEL, common_scores
from demurk.benchmark.statistics._significance import (
    FriedmanResult,
    count_best,
    friedman_test,
    nemenyi_difference,
    wilcoxon_scores,
    win_tie_loss,
)

__all__ = [
    "Ranking",
    "friedman_grid",
    "pairs_grid",
    "rank_methods",
    "ranking_grids",
    "reference_method",
    "win_tie_loss_counts",
    "wins_grid",
]


@dataclass(frozen=True)
class Ranking:
    """How methods rank over data sets by one measure.

    Parameters
    ----------
    methods : list of str
        Methods that take part.
    left_out : list of str
        Methods without a comparable value on at least half of the data sets.
    friedman : FriedmanResult
        Average ranks and the test.
    difference : float
        Nemenyi's critical difference.
    best : ndarray of shape (n_methods,)
        On how many data sets each method is best.
    one_sided, two_sided : ndarray of shape (n_methods,)
        Scores of pairwise Wilcoxon tests.
    """

    methods: list
    left_out: list
    friedman: FriedmanResult
    difference: float
    best: np.ndarray
    one_sided: np.ndarray
    two_sided: np.ndarray


def rank_methods(summary, measure):
    """Rank the methods over the data sets that all of them finished.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize`.
    measure : str
        Which measure.

    Returns
    -------
    ranking : Ranking or None
        None unless two methods share two data sets.
    """
    values = summary.over_settings(measure)
    finished = ~np.isnan(values)
    keep = finished.mean(axis=0) >= 0.5
    part = values[:, keep]
    complete = part[~np.isnan(part).any(axis=1)]
    if keep.sum() < 2 or len(complete) < 2:
        return None
    friedman = friedman_test(part)
    rounded = np.round(complete, 12)
    return Ranking(
        methods=[m for m, kept in zip(summary.methods, keep) if kept],
        left_out=[m for m, kept in zip(summary.methods, keep) if not kept],
        friedman=friedman,
        difference=nemenyi_difference(part.shape[1], friedman.n_data_sets),
        best=count_best(rounded),
        one_sided=wilcoxon_scores(rounded),
        two_sided=wilcoxon_scores(rounded, alternative="two-sided"),
    )


def reference_method(summary, rankings=None):
    """The method that the others are compared with.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize`.
    rankings : dict of str to Ranking or None, default=None
        By measure.

    Returns
    -------
    method : str
        The one named like the paper; else the first of demurk's own, else the best by
        the first measure, else the first.
    """
    wanted = _bare(summary.protocol.paper or "")
    names = [m for m in summary.methods if _bare(m) == wanted]
    names += [m for m in summary.methods if wanted and wanted in _bare(m)]
    about = summary.protocol.methods
    names += [m for m in summary.methods if about[m].get("group") == "demurk"]
    ranking = (rankings or {}).get(summary.measures[0])
    if ranking is not None:
        names.append(ranking.methods[int(ranking.friedman.average_ranks.argmin())])
    return (names or summary.methods)[0]


def _bare(name):
    return "".join(letter for letter in name.lower() if letter.isalnum())


def win_tie_loss_counts(summary, method, *, corrected=False):
    """On how many problems a method wins, ties and loses against each other one.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize`.
    method : str
        The method to judge.
    corrected : bool or float, default=False
        See :func:`fold_t_test`.

    Returns
    -------
    counts : dict of str to dict of str to tuple of int
        Wins, ties and losses by other method and measure, over all pairs of data set
        and setting where both have at least two common seeds.
    """
    measures = summary.measures
    return {
        other: {m: _outcomes(summary, method, other, m, corrected) for m in measures}
        for other in summary.methods
        if other != method
    }


def _outcomes(summary, method, other, measure, corrected=False):
    found, sign = Counter(), summary.sign(measure)
    for problem in summary.problems:
        cells = [summary.cells[(*problem, m, measure)] for m in (method, other)]
        scores = sign * np.array(common_scores(*(cell.values for cell in cells)))
        if scores.shape[1] > 1:
            found[win_tie_loss(*scores, level=LEVEL, corrected=corrected)] += 1
    return found["win"], found["tie"], found["loss"]


def ranking_grids(summary, rankings):
    """Average ranks, best values and Wilcoxon scores.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize`.
    rankings : dict of str to Ranking or None
        By measure.

    Returns
    -------
    grids : list of Grid
        Methods down, measures across; empty if nothing can be ranked.
    """
    known = {measure: r for measure, r in rankings.items() if r is not None}
    if not known:
        return []
    columns = [measure_title(summary, measure) for measure in known]

    def entry(method, ranking, number, text, better):
        if method not in ranking.methods:
            return Entry("left out", blank=True)
        place, numbers = ranking.methods.index(method), number(ranking)
        best = np.isclose(numbers[place], better(numbers))
        return Entry(text(ranking, place), mark="best" if best else "")

    def grid(title, note, *how):
        lines = {
            m: [entry(m, r, *how) for r in known.values()] for m in summary.methods
        }
        return methods_grid(summary, title, columns, lines, note=note)

    return [
        grid(
            "Average ranks",
            "1 is best; tied methods share their mean rank.",
            lambda r: r.friedman.average_ranks,
            lambda r, i: f"{r.friedman.average_ranks[i]:.2f}",
            np.min,
        ),
        grid(
            "Data sets on which a method is best",
            "Ties are credited to all.",
            lambda r: r.best,
            lambda r, i: str(r.best[i]),
            np.max,
        ),
        grid(
            "Wilcoxon scores",
            "1 for each method beaten in a signed-rank test over data sets at the 5 % "
            "level, 0.5 for each tie: one-sided tests, then two-sided ones.",
            lambda r: r.one_sided,
            lambda r, i: f"{r.one_sided[i]:.1f} / {r.two_sided[i]:.1f}",
            np.max,
        ),
    ]


def friedman_grid(summary, rankings):
    """Whether the methods differ at all, and which do.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize`.
    rankings : dict of str to Ranking
        By measure.

    Returns
    -------
    grid : Grid
        One row for each measure.
    """
    rows = []
    for measure, ranking in rankings.items():
        test = ranking.friedman
        best, behind = best_and_behind(ranking)
        numbers = [
            f"{test.n_data_sets} of {test.n_data_sets + test.n_left_out}",
            f"{test.chi_square:.2f}",
            p_value(test.chi_square_p),
            f"{test.f_statistic:.2f}",
            p_value(test.f_p),
            f"{ranking.difference:.2f}",
        ]
        words = [", ".join(best), ", ".join(behind) or "none"]
        entries = [*map(Entry, numbers), *(Entry(text, words=True) for text in words)]
        rows.append(((measure_title(summary, measure),), entries))
    columns = ["data sets", "chi-square", "p", "F", "p", "critical difference"]
    columns += ["best rank", "significantly behind it"]
    note = (
        "Friedman's test, Iman and Davenport's F, and Nemenyi's test at the 5 % level."
    )
    return Grid("Do the methods differ?", ("measure",), columns, rows, note=note)


def best_and_behind(ranking):
    """Names of the methods of best rank, and of those significantly behind them."""
    ranks = ranking.friedman.average_ranks
    behind = np.round(ranks - ranks.min(), 12) >= ranking.difference
    best = np.isclose(ranks, ranks.min())
    names = np.array(ranking.methods, dtype=object)
    return list(names[best]), list(names[behind])


def p_value(p):
    """A p-value in as many digits as it deserves."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def wins_grid(summary, method):
    """Wins, ties and losses of one method against the others.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize`.
    method : str
        The method to judge.

    Returns
    -------
    grid : Grid or None
        None if no two methods have two common seeds anywhere.
    """
    plain = win_tie_loss_counts(summary, method)
    strict = win_tie_loss_counts(summary, method, corrected=True)
    if not any(sum(c) for line in plain.values() for c in line.values()):
        return None
    lines = {}
    for other, counts in plain.items():
        pairs = [(found, strict[other][measure]) for measure, found in counts.items()]
        lines[other] = [_counts_entry(*pair, none="no common seeds") for pair in pairs]
    columns = [measure_title(summary, measure) for measure in summary.measures]
    note = (
        "Wins/ties/losses over data sets and settings in paired t-tests over seeds at "
        f"the {100 * LEVEL:g} % level: first the plain test, as in the papers, then "
        "the one corrected for overlapping training sets."
    )
    title = f"{method} against each other method"
    return methods_grid(summary, title, columns, lines, corner="against", note=note)


def _counts_entry(*counts, none):
    """Wins, ties and losses, of several tests; or that there are none."""
    if not sum(counts[0]):
        return Entry(none, blank=True)
    return Entry(" · ".join("/".join(map(str, found)) for found in counts))


def pairs_grid(summary, measure):
    """Wins, ties and losses of every method against every other.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize`.
    measure : str
        Which measure.

    Returns
    -------
    grid : Grid or None
        None with less than three methods, or if no two of them have two common seeds.
    """
    if len(summary.methods) < 3:
        return None
    rows = []
    for method in summary.methods:
        found = [
            () if other == method else _outcomes(summary, method, other, measure)
            for other in summary.methods
        ]
        rows.append(((method,), [_counts_entry(counts, none="–") for counts in found]))
    if all(entry.blank for _, entries in rows for entry in entries):
        return None
    note = (
        "Wins/ties/losses of the method of the row against that of the column, over "
        "data sets and settings in plain paired t-tests over seeds."
    )
    title = f"Every method against every other by {measure}"
    return Grid(title, ("method",), summary.methods, rows, note=note)
