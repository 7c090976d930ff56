"""Table IV of the PML-LCom paper from the committed rows: wins, ties and losses."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from doc import claim_values

from demurk.benchmark import published_results
from demurk.benchmark.statistics import win_tie_loss

# Where splits are looked for, first those with settings chosen for all ten.
SOURCES = ("pml-lcom-large", "pml-lcom-large-own", "pml-lcom-tables", "pml-lcom-own")
MEASURES = (
    *("hamming loss", "ranking loss", "one error", "coverage"),
    "average precision",
)
RIVALS = ("ML-KNN", "CPLST", "REML", "PML-LRS", "DRAMA", "PML-fp")
LEAST_SPLITS = 3


def splits():
    """Tables of seeds by method, for each data set, setting and measure."""
    for name in SOURCES:
        if not (claim_values.BENCH / f"{name}.csv").is_file():
            continue
        rows = claim_values.read_rows(name)
        for place, part in rows.groupby(["data_set", "setting"]):
            for measure in MEASURES:
                yield place, measure, part.pivot_table(measure, "seed", "method")


def outcomes(ours):
    """Wins, ties and losses of a method against each rival, by measure.

    A place is a data set with a setting. It counts once, from the first source in
    which both methods have three splits, by a paired t-test at the level of 5 %.
    """
    counts = {
        (m, r): dict.fromkeys(("win", "tie", "loss"), 0)
        for m in MEASURES
        for r in RIVALS
    }
    counted = set()
    for place, measure, table in splits():
        for rival in RIVALS:
            if (place, measure, rival) in counted or not {ours, rival} <= set(table):
                continue
            pair = table[[ours, rival]].dropna()
            if len(pair) < LEAST_SPLITS:
                continue
            counted.add((place, measure, rival))
            sign = 1 if measure == "average precision" else -1
            found = win_tie_loss(sign * pair[ours], sign * pair[rival])
            counts[measure, rival][found] += 1
    return counts


def lines(ours):
    """Rows of a table: a measure, and for each rival ours and the printed counts."""
    counts, paper = outcomes(ours), published_results("pml_lcom")["table_4"]
    return [
        [
            measure,
            *(
                "/".join(map(str, counts[measure, rival].values()))
                + " ("
                + "/".join(map(str, paper[measure][rival]))
                + ")"
                for rival in RIVALS
            ),
        ]
        for measure in MEASURES
    ]


def table(ours="PML-LCom"):
    """Header, rows and title of the table."""
    title = f"Wins/ties/losses of {ours}, and those of the paper over 21 settings"
    return ["measure", *RIVALS], lines(ours), title
