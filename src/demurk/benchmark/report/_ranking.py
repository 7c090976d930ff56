"""How methods rank over data sets, and the tables of it."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections import Counter
from dataclasses import dataclass

import numpy as np

from demurk.benchmark.report._grids import Entry, Grid, measure_title, method_groups
from demurk.benchmark.statistics._significance import (
    FriedmanResult,
    count_best,
    friedman_test,
    nemenyi_difference,
    similar_groups,
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
    groups : list of list of int
        Numbers of methods that do not differ significantly.
    best : ndarray of shape (n_methods,)
        On how many data sets each method is best.
    one_sided, two_sided : ndarray of shape (n_methods,)
        Scores of pairwise Wilcoxon tests.
    """

    methods: list
    left_out: list
    friedman: FriedmanResult
    difference: float
    groups: list
    best: np.ndarray
    one_sided: np.ndarray
    two_sided: np.ndarray


def rank_methods(summary, measure, *, alpha=0.05):
    """Rank the methods over the data sets that all of them finished.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize`.
    measure : str
        Which measure.
    alpha : float, default=0.05
        Level of Nemenyi's and Wilcoxon's tests.

    Returns
    -------
    ranking : Ranking or None
        None unless two methods share two data sets.
    """
    values = summary.over_settings(measure)
    finished = ~np.isnan(values)
    keep = (finished.mean(axis=0) >= 0.5) & finished.any(axis=0)
    part = values[:, keep]
    complete = part[~np.isnan(part).any(axis=1)]
    if keep.sum() < 2 or len(complete) < 2:
        return None
    friedman = friedman_test(part)
    difference = nemenyi_difference(part.shape[1], friedman.n_data_sets, alpha=alpha)
    rounded = np.round(complete, 12)
    return Ranking(
        methods=[m for m, kept in zip(summary.methods, keep) if kept],
        left_out=[m for m, kept in zip(summary.methods, keep) if not kept],
        friedman=friedman,
        difference=difference,
        groups=similar_groups(friedman.average_ranks, difference),
        best=count_best(rounded),
        one_sided=wilcoxon_scores(rounded, alpha=alpha),
        two_sided=wilcoxon_scores(rounded, alpha=alpha, alternative="two-sided"),
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


def win_tie_loss_counts(summary, method, *, measures=None, corrected=False):
    """On how many problems a method wins, ties and loses against each other one.

    Parameters
    ----------
    summary : Summary
        From :func:`summarize`.
    method : str
        The method to judge.
    measures : sequence of str, default=None
        Which measures; None takes all.
    corrected : bool or float, default=False
        See :func:`fold_t_test`.

    Returns
    -------
    counts : dict of str to dict of str to tuple of int
        Wins, ties and losses by other method and measure, over all pairs of data set
        and setting where both have at least two common seeds.
    """
    measures = summary.measures if measures is None else measures
    return {
        other: {
            measure: _outcomes(summary, method, other, measure, corrected)
            for measure in measures
        }
        for other in summary.methods
        if other != method
    }


def _outcomes(summary, method, other, measure, corrected):
    found, sign = Counter(), summary.sign(measure)
    for problem in summary.problems:
        mine = summary.cells[(*problem, method, measure)].values
        theirs = summary.cells[(*problem, other, measure)].values
        seeds = sorted(mine.keys() & theirs.keys())
        if len(seeds) > 1:
            scores = [[sign * values[s] for s in seeds] for values in (mine, theirs)]
            level = summary.level
            found[win_tie_loss(*scores, level=level, corrected=corrected)] += 1
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

    def grid(title, note, number, text, better):
        chosen = {m: better(number(r)) for m, r in known.items()}
        rows = []
        for method in summary.methods:
            line = []
            for measure, r in known.items():
                if method not in r.methods:
                    line.append(Entry("left out", blank=True))
                    continue
                place = r.methods.index(method)
                best = bool(np.isclose(number(r)[place], chosen[measure]))
                line.append(Entry(text(r, place), mark="best" if best else ""))
            rows.append(((method,), line))
        return Grid(
            title,
            ("method",),
            columns,
            rows,
            row_groups=method_groups(summary),
            note=note,
        )

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
    rankings : dict of str to Ranking or None
        By measure.

    Returns
    -------
    grid : Grid
        One row for each measure that can be ranked.
    """
    rows = []
    for measure, ranking in rankings.items():
        if ranking is None:
            continue
        test = ranking.friedman
        best, behind = best_and_behind(ranking)
        sets = f"{test.n_data_sets} of {test.n_data_sets + test.n_left_out}"
        numbers = [
            sets,
            f"{test.chi_square:.2f}",
            p_value(test.chi_square_p),
            f"{test.f_statistic:.2f}",
            p_value(test.f_p),
            f"{ranking.difference:.2f}",
        ]
        words = [", ".join(best), ", ".join(behind) or "none"]
        entries = [Entry(text) for text in numbers]
        entries += [Entry(text, words=True) for text in words]
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
    groups = dict(zip(summary.methods, method_groups(summary)))
    rows = []
    for other, line in plain.items():
        entries = [
            Entry("/".join(map(str, c)) + " · " + "/".join(map(str, strict[other][m])))
            if sum(c)
            else Entry("no common seeds", blank=True)
            for m, c in line.items()
        ]
        rows.append(((other,), entries))
    columns = [measure_title(summary, measure) for measure in summary.measures]
    note = (
        "Wins/ties/losses over data sets and settings in paired t-tests over seeds at "
        f"the {100 * summary.level:g} % level: first the plain test, as in the papers, "
        "then the one corrected for overlapping training sets."
    )
    title = f"{method} against each other method"
    return Grid(
        title,
        ("against",),
        columns,
        rows,
        row_groups=[groups[other] for other in plain] if groups else [],
        note=note,
    )


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
    rows, any_seeds = [], False
    for method in summary.methods:
        counts = win_tie_loss_counts(summary, method, measures=[measure])
        entries = []
        for other in summary.methods:
            found = counts[other][measure] if other != method else ()
            any_seeds = any_seeds or sum(found) > 0
            text = "/".join(map(str, found)) if sum(found) else "–"
            entries.append(Entry(text, blank=not sum(found)))
        rows.append(((method,), entries))
    note = (
        "Wins/ties/losses of the method of the row against that of the column, over "
        "data sets and settings in plain paired t-tests over seeds."
    )
    title = f"Every method against every other by {measure}"
    if not any_seeds or len(summary.methods) < 3:
        return None
    return Grid(title, ("method",), summary.methods, rows, note=note)
