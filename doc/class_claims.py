"""What is published about wrong classes, one class per sample."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
from functools import partial

from doc.claim_values import BENCH, cells, mean, read_rows, used

AUDITS, LEARNERS = "wrong-classes", "wrong-classes-prediction"
NOISES = {
    "any10": ("sym10", "10 % to any other class"),
    "any30": ("sym30", "30 % to any other class"),
    "next": ("next20", "20 % to the next class"),
    "own": ("own", "own rates and targets"),
    "ambiguous": ("ambiguous", "10 % on ambiguous rows"),
}
FOREST = "Random forest + cleanlab"
OWN = "Probabilities of LabelAudit + cleanlab"


def best(measure, method, setting):
    """Mean over sets of the option of a method that has the largest."""
    rows = read_rows(AUDITS)
    options = rows[rows["method"] == method].dropna(axis="columns", how="all")
    where = {"method": method, "setting": setting}
    names = [name for name in options if name.startswith(measure)]
    return max(cells(AUDITS, name, **where).mean() for name in names)


def kinds_ahead(measure):
    """Under how many kinds of noise LabelAudit is ahead of every other method."""
    others = [
        m for m in dict.fromkeys(read_rows(AUDITS)["method"]) if m != "LabelAudit"
    ]
    return sum(
        best(measure, "LabelAudit", name) > max(best(measure, m, name) for m in others)
        for name, _ in NOISES.values()
    )


def cpu(pick):
    """CPU time of LabelAudit in units of one option of cleanlab, by set."""
    used.add("speed.json, bench_audit.Classes.times_cleanlab")
    document = json.loads((BENCH.parent / "speed.json").read_text(encoding="utf-8"))
    figures = document["figures"]["bench_audit"].items()
    return pick(found["value"] for name, found in figures if name.startswith("Classes"))


def right_forms():
    """Share of the runs in which the kind of noise was found."""
    wanted = {"clean": "none", "sym10": "symmetric", "sym30": "symmetric"}
    wanted |= {"next20": "matrix", "own": "matrix", "ambiguous": "ambiguous"}
    rows = read_rows(AUDITS)
    rows = rows[rows["method"] == "LabelAudit"]
    hits = [
        row.get(f"noise {wanted[row['setting']]}") == 1 for _, row in rows.iterrows()
    ]
    used.add(f"{AUDITS}.csv, {len(hits)} rows, noise")
    return 100 * sum(hits) / len(hits)


def table():
    """Average precision and F1 of every method, options of cleanlab at their best."""
    methods = dict.fromkeys(read_rows(AUDITS)["method"])
    rows = []
    for method in methods:
        found = [
            f"{best('AP', method, name):.3f} / {best('flag F1', method, name):.3f}"
            for name, _ in NOISES.values()
        ]
        flagged = mean(AUDITS, "share flagged", method, setting="clean")
        rows.append([method, *found, f"{100 * flagged:.2f}"])
    head = ["", *(words for _, words in NOISES.values()), "clean, % listed"]
    title = (
        "Average precision of the order / F1 of what is listed, means over nine sets, "
        "ten seeds; of cleanlab the option that is best after the fact, for each cell "
        f"(``demurk bench {AUDITS}``)"
    )
    return head, rows, title


def differences(setting):
    """Accuracy of MurkyClassifier less that of a forest, by data set."""
    ours, theirs = (
        cells(LEARNERS, "accuracy", method=method, setting=setting).droplevel("method")
        for method in ("MurkyClassifier", "Random forest")
    )
    return ours - theirs


def kinds_learned(measure):
    """Under how many kinds of noise, of five, MurkyClassifier is the best of all."""
    sign = -1 if measure == "log-loss" else 1
    count = 0
    for name, _ in NOISES.values():
        found = cells(LEARNERS, measure, setting=name).groupby("method").mean()
        count += (sign * found).idxmax() == "MurkyClassifier"
    return count


def learners_table():
    """Accuracy and log-loss of every method."""
    settings = ["clean", *(name for name, _ in NOISES.values())]
    rows = []
    for method in dict.fromkeys(read_rows(LEARNERS)["method"]):
        found = [
            " / ".join(
                f"{mean(LEARNERS, measure, method, setting=name):.3f}"
                for measure in ("accuracy", "log-loss")
            )
            for name in settings
        ]
        rows.append([method, *found])
    head = ["", "clean", *(words for _, words in NOISES.values())]
    title = (
        "Accuracy / log-loss on the true classes of a third of the rows, means over "
        f"nine sets, ten seeds (``demurk bench {LEARNERS}``)"
    )
    return head, rows, title


CLASSES = {
    "learn.ahead.accuracy": ("word", lambda: kinds_learned("accuracy")),
    "learn.ahead.log-loss": ("word", lambda: kinds_learned("log-loss")),
    "learn.worst": (
        ".3f",
        lambda: -min(differences(name).min() for name, _ in NOISES.values()),
    ),
    "learn.gain.low": (
        ".3f",
        lambda: min(differences(name).mean() for name, _ in NOISES.values()),
    ),
    "learn.gain.high": (
        ".3f",
        lambda: max(differences(name).mean() for name, _ in NOISES.values()),
    ),
    "learn.clean": (".3f", lambda: differences("clean").mean()),
    "classes.clean": (
        ".1f",
        lambda: 100 * mean(AUDITS, "share flagged", "LabelAudit", setting="clean"),
    ),
    "classes.cpu.low": (".1f", lambda: cpu(min)),
    "classes.cpu.high": (".1f", lambda: cpu(max)),
    "classes.right": (".0f", right_forms),
    "classes.ahead.ap": ("word", lambda: kinds_ahead("AP")),
    "classes.ahead.f1": ("word", lambda: kinds_ahead("flag F1")),
}
for kind, (setting, _) in NOISES.items():
    CLASSES[f"learn.rate.{kind}"] = (
        ".3f",
        partial(
            mean, LEARNERS, "error of the rate", "MurkyClassifier", setting=setting
        ),
    )
    for short, measure in (("ap", "AP"), ("f1", "flag F1")):
        CLASSES |= {
            f"classes.{short}.{kind}{end}": (
                ".2f",
                partial(best, measure, method, setting),
            )
            for end, method in (
                ("", "LabelAudit"),
                (".cleanlab", FOREST),
                (".own", OWN),
            )
        }
