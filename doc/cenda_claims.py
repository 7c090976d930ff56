"""What is published about CENDA as its authors' program has it."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import partial

from doc.claim_values import LEARNERS, ahead, cells, mean, read_rows, used

from demurk.benchmark import load_protocol, published_value
from demurk.benchmark.statistics import win_tie_loss

REAL = "cenda-real"
# Features to unit variance after the reduction; PL-kNN misses its nearest neighbour.
CODED = {
    "PL-kNN": "PL-kNN + CENDA, as coded, without nearest",
    "IPAL": "IPAL + CENDA, as coded, standardised",
    "SURE": "SURE + CENDA, as coded, standardised",
}


def off():
    """Distances from print of 18 cells of table 7, all rows seen by the reduction."""
    protocol, out = load_protocol(REAL), []
    for learner, method in CODED.items():
        found = cells(REAL, "accuracy", method=method, setting=lambda s: "all" in s)
        for (data, setting, _), value in found.items():
            place = (data, setting, f"{learner} + CENDA", "accuracy")
            out.append(abs(value - published_value(protocol, *place)))
    return out


def wins(setting):
    """With how many learners CENDA wins against DELIN on Lost, both as coded."""
    rows = read_rows(REAL)
    part = rows[(rows["data_set"] == "lost") & (rows["setting"] == setting)]
    wide = part.pivot_table("accuracy", "seed", "method")
    pairs = [
        (wide[f"{name} + CENDA, as coded"], wide[f"{name} + DELIN, as coded"])
        for name in LEARNERS
    ]
    used.add(f"{REAL}.csv, {2 * len(pairs) * len(wide)} rows, accuracy by fold")
    return sum(win_tie_loss(*pair) == "win" for pair in pairs)


def slashdot_ahead(first, second, setting, end=""):
    """With how many learners one reduction is ahead of the other on slashdot."""
    return sum(
        ahead(
            *("cenda-slashdot", "accuracy"),
            f"{name} + {first}{end}",
            f"{name} + {second}{end}",
            setting=setting,
        )
        for name in LEARNERS
    )


PLKNN = ("cenda-slashdot", "accuracy")
WITH_TEST = {"setting": "r=1, all rows"}
AS_CODED = ("CENDA", "DELIN")
CLAIMS = {
    "slashdot.delin.ahead": ("word", partial(slashdot_ahead, "DELIN", "CENDA", "r=1")),
    "slashdot.coded.cenda": (
        ".2f",
        partial(mean, *PLKNN, "PL-kNN + CENDA, as coded", **WITH_TEST),
    ),
    "slashdot.coded.delin": (
        ".2f",
        partial(mean, *PLKNN, "PL-kNN + DELIN, as coded", **WITH_TEST),
    ),
    "slashdot.coded.ahead.1": (
        "word",
        partial(slashdot_ahead, *AS_CODED, "r=1, all rows", ", as coded"),
    ),
    "slashdot.coded.ahead.3": (
        "word",
        partial(slashdot_ahead, *AS_CODED, "r=3, all rows", ", as coded"),
    ),
    "coded.cells": ("d", lambda: len(off())),
    "coded.near": ("d", lambda: sum(value <= 0.005 for value in off())),
    "coded.off": (".3f", lambda: max(off())),
    "coded.wins": ("word", partial(wins, "0.999, all rows")),
    "coded.wins.folds": ("word", partial(wins, "0.999")),
    "coded.wins.few": ("word", partial(wins, "0.9, all rows")),
}
