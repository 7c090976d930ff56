"""What is published about a person who decides, from the committed rows."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import partial

from doc.claim_values import ahead, cells, mean, read_rows, used

REVIEW = "review"
RERANKED = "LabelAudit, re-ranked"
PAGE = "LabelAudit, re-ranked, every tenth at random"
ORDERS = {
    "random": "Random order",
    "cleanlab": "Random forest + cleanlab",
    "once": "LabelAudit, once",
    "again": RERANKED,
    "page": PAGE,
}
ERRS = ", the person errs"
STOPS = ("W/4", "W/2", "W")


def gap(stop, method):
    """Share of the gap to clean labels that is closed on the median set."""
    found = cells(REVIEW, f"gap {stop}", method=method, setting="few")
    return 100 * found.median()


def covered(method, labeled=("all", "few"), data_set=None):
    """How often the interval holds what remains, over all runs and stops."""
    rows = read_rows(REVIEW)
    if data_set is not None:
        rows = rows[rows["data_set"] == data_set]
    chosen = rows["setting"].str.split(",").str[0].isin(labeled)
    chosen &= rows["method"] == method
    held = rows.loc[chosen, [f"covered {stop}" for stop in STOPS]]
    used.add(f"{REVIEW}.csv, {held.notna().to_numpy().sum()} intervals")
    return 100 * held.stack().mean()


def table():
    """Errors that are gone, and what it brings, by order."""
    rows = []
    for method in dict.fromkeys(read_rows(REVIEW)["method"]):
        fixed = [mean(REVIEW, f"fixed {stop}", method, setting="all") for stop in STOPS]
        errs = mean(REVIEW, "fixed W", method, setting=f"all{ERRS}")
        gaps = [gap(stop, method) for stop in ("0", *STOPS)]
        texts = [f"{value:.2f}" for value in (*fixed, errs)]
        rows.append([method, *texts, *(f"{value:.0f}" for value in gaps)])
    head = ["order", "fixed, W/4", "W/2", "W", "W, 5 % of decisions wrong"]
    head += ["gap closed, %, none", "W/4", "W/2", "W"]
    title = (
        "Share of the W errors that are gone after W/4, W/2 and W decisions, all rows "
        "labelled, mean over ten sets; and the share of the gap to clean and complete "
        "labels that MurkyClassifier closes with 30 % of the rows labelled, median set "
        f"(five seeds, ``demurk bench {REVIEW}``)"
    )
    return head, rows, title


CLAIMS = {
    "review.ahead": (
        "word",
        lambda: ahead(REVIEW, "fixed W", RERANKED, ORDERS["cleanlab"], setting="all"),
    ),
    "review.covered": (".0f", partial(covered, PAGE)),
    "review.covered.all": (".0f", partial(covered, PAGE, ["all"])),
    "review.covered.few": (".0f", partial(covered, PAGE, ["few"])),
    "review.covered.again": (".0f", partial(covered, RERANKED)),
    "review.covered.corel": (".0f", partial(covered, PAGE, data_set="corel5k")),
    "review.gap.before": (".0f", lambda: gap("0", RERANKED)),
    "review.gap.clean": (".0f", lambda: gap("clean", RERANKED)),
}
for short, method in ORDERS.items():
    CLAIMS[f"review.fixed.{short}"] = (
        ".2f",
        partial(mean, REVIEW, "fixed W", method, setting="all"),
    )
    if short != "page":
        CLAIMS[f"review.gap.{short}"] = (".0f", partial(gap, "W", method))
for short in ("again", "cleanlab"):
    CLAIMS[f"review.fixed.{short}.errs"] = (
        ".2f",
        partial(mean, REVIEW, "fixed W", ORDERS[short], setting=f"all{ERRS}"),
    )
