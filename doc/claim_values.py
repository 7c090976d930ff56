"""What published numbers are made of: means, counts and spans of committed rows."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
from functools import cache
from pathlib import Path

import pandas as pd
from scipy.stats import ttest_rel

from demurk.benchmark import load_protocol, published_value

BENCH = Path(__file__).resolve().parent.parent / "results" / "bench"
LOSSES = ("ranking loss", "Hamming loss", "log-loss", "seconds")
# The sets that served the design of MurkyClassifier, and that of LabelAudit.
DESIGN = ("emotions", "scene", "yeast", "medical")
AUDIT_DESIGN = (*DESIGN, "enron")
PLACE = ["data_set", "setting", "method"]
# The rows that were read since it was emptied, in words.
used = set()
CLEAN = "Random forest, clean and complete labels"
TUNED = "Random forest, tuned"
LEARNERS = ("PL-kNN", "PL-SVM", "PL-ECOC", "IPAL", "SURE")
PAPER = ("CCA", "MDDMf", "MDDMp", "MVMD", "NMLSDR", "SSMLDR")
PAPER += ("wMLDAb", "wMLDAc", "wMLDAd", "wMLDAe")
PAPER_PML = ("PML-LCom", "PML-LCom, as printed", "PML-LRS", "PML-fp", "PML-lc", "DRAMA")
PAPER_PML += ("CPLST", "ML-KNN", "REML", "PML-NI", "fPML", "PARTICLE", "PLST")
REGION = [
    f"alpha={a}, H={h}" for a in (0.05, 0.1, 0.25) for h in (0.2, 0.3, 0.4, 0.5, 0.6)
]
SEVEN = ("HL'", "RL'", "AP", "OE'", "MaF1", "MiF1")
COVERAGE = (("Cov'", "Cov'/C"),)
AUDITED = ("emotions", "scene", "yeast", "medical", "birds", "genbase", "enron")
AUDITED += ("slashdot", "cal500", "toy")
FRESH_AUDITED = tuple(name for name in AUDITED if name not in AUDIT_DESIGN)
FRESH = ("birds", "genbase", "enron", "slashdot", "cal500", "corel5k")
COMPRESSED = ("medical", "bibtex", "Corel5k", "YeastCC", "YeastMF")
FIGURE4 = ("ssdrmc-figure4", "micro F1")
WEIGHTS = ("0", "0.05", "0.1", "0.25", "0.5", "0.75", "0.99")
GOOD = [f"alpha={a}, H={h}" for a in WEIGHTS for h in (0.3, 0.4, 0.5)]
OTHERS = ("B", "C", "label", "instance")
PEOPLE = {
    "classes": ("digits", "segment", "vowel", "satimage", "letter"),
    "labels": ("emotions", "yeast", "scene", "birds"),
}
CROWDLAB = "CROWDLAB, the same models"
PEOPLE_RIVALS = ("Majority", "Dawid-Skene, crowd-kit", CROWDLAB)
PEOPLE_RIVALS += ("Random forest on the majority",)


@cache
def read_rows(name):
    """Committed rows of a protocol that were done."""
    types = {"setting": str}
    rows = pd.read_csv(BENCH / f"{name}.csv", low_memory=False, dtype=types)
    return rows[rows["status"] == "done"].fillna({"setting": ""})


def cells(name, measure, **where):
    """Means over seeds by data set, setting and method, of the places asked for.

    A place is a name, several, or a function of it.
    """
    rows = read_rows(name)
    for key, wanted in where.items():
        if callable(wanted):
            rows = rows[rows[key].map(wanted)]
        else:
            rows = rows[rows[key].isin([wanted] if isinstance(wanted, str) else wanted)]
    rows = rows[rows[measure].notna()]
    used.add(f"{name}.csv, {len(rows)} rows, {measure}")
    return rows.groupby(PLACE)[measure].mean()


def mean(name, measure, method, data_set=None, setting=None):
    """Mean of one method over seeds, and over what is not said."""
    where = {"method": method, "data_set": data_set, "setting": setting}
    found = cells(name, measure, **{k: v for k, v in where.items() if v is not None})
    if found.empty:
        raise ValueError(f"{name} has no rows of {method!r} in {data_set}, {setting}.")
    return found.mean()


def ahead(name, measure, first, others, **where):
    """In how many settings of data sets a method is better than all others."""
    others = [others] if isinstance(others, str) else list(others)
    found = cells(name, measure, method=[first, *others], **where).unstack("method")
    found = found[found[first].notna()]
    best = found[others].min(axis=1) if measure in LOSSES else found[others].max(axis=1)
    better = found[first] < best if measure in LOSSES else found[first] > best
    return int(better.sum())


def printed(name, measures, limit, also=()):
    """How many cells are within a limit of what the paper prints.

    `also` are pairs of one of our measures and the measure it is printed as.
    """
    distances = []
    for ours, theirs in (*zip(measures, measures), *also):
        distances += off_paper(name, ours, theirs)
    return sum(distance <= limit for distance in distances)


def off_paper(name, measure, theirs=None, **where):
    """Distances of our means from what the paper prints."""
    protocol, out = load_protocol(name), []
    for place, value in cells(name, measure, **where).items():
        paper = published_value(protocol, *place, theirs or measure)
        if paper is not None:
            out.append(abs(value - paper))
    return out


def moves(setting):
    """By how much accuracy moves with a parameter of CENDA, at most."""
    found = cells("cenda-sensitivity", "accuracy", setting=lambda s: setting in s)
    spread = found.groupby(["data_set", "method"]).agg(lambda x: x.max() - x.min())
    return spread.max()


def extreme(which, name, measure, **where):
    """Smallest or largest mean."""
    return getattr(cells(name, measure, **where), which)()


def gap(forest, data_sets=None):
    """Share of the gap to clean labels that MurkyClassifier closes, median set."""
    where = {"setting": "A"} | ({"data_set": data_sets} if data_sets else {})
    low, mid, high = (
        cells("few-labels", "AP", method=m, **where).droplevel("method")
        for m in (forest, "MurkyClassifier", CLEAN)
    )
    return 100 * ((mid - low) / (high - low)).median()


def clear(name, measure, first, second, setting, only=None):
    """On how many sets the first is better, by a paired t-test over seeds at 5 %."""
    count, rows = 0, read_rows(name)
    if only is not None:
        rows = rows[rows["data_set"] == only]
    for _, part in rows[rows["setting"] == setting].groupby("data_set"):
        pair = part.pivot_table(measure, "seed", "method")[[first, second]]
        gain = (pair[first] - pair[second]).mean()
        count += gain > 0 and ttest_rel(pair[first], pair[second]).pvalue < 0.05
    used.add(f"{name}.csv, {setting}, {measure} by seed")
    return count


def options(kind, probabilities="Random forest"):
    """Means of cleanlab's options for one kind of noise."""
    names = [
        f"{probabilities} + cleanlab{end}" for end in ("", ", adjusted", ", entropy")
    ]
    return [mean("wrong-labels", "AP", name, setting=kind) for name in names]


def cost(first, second, data_sets, pick):
    """Ratio of the seconds of two methods on PML data, by set."""
    ratios = []
    for name in ("pml-lcom-tables", "pml-lcom-own"):
        found = cells(name, "seconds", method=[first, second]).unstack("method")
        total = found.groupby("data_set").sum()
        ratios += [
            row[first] / row[second] for d, row in total.iterrows() if d in data_sets
        ]
    return pick(ratios)


def pml_ahead(method, others, data_set=None):
    """In how many settings of the PML tables a method ranks better than others."""
    where = {"data_set": data_set} if data_set else {}
    return sum(
        ahead(name, "ranking loss", method, others, **where)
        for name in ("pml-lcom-tables", "pml-lcom-own")
        if data_set is None or data_set in set(read_rows(name)["data_set"])
    )


def pml_settings(method):
    """In how many settings of the PML tables a method was run."""
    names = ("pml-lcom-tables", "pml-lcom-own")
    return sum(len(cells(name, "ranking loss", method=method)) for name in names)


def murky_rivals(method):
    return method.endswith("murky labels") and not method.startswith("MurkyClassifier")


def variants(data_set, learner):
    """In how many settings CENDA helps a learner."""
    return ahead(
        "cenda-variants", "accuracy", f"{learner} + CENDA", learner, data_set=data_set
    )


def few(measure, setting, rival="Random forest"):
    """On how many sets MurkyClassifier is ahead."""
    return ahead("few-labels", measure, "MurkyClassifier", rival, setting=setting)


def audit(method, setting, data_sets=AUDITED):
    """Average precision of a list of suspects."""
    return mean("wrong-labels", "AP", method, data_sets, setting)


def cpu_ratio():
    """CPU time of LabelAudit, cleanlab's being one."""
    ours, theirs = (
        mean(
            "wrong-labels", "seconds", method, setting=("sym10", "extra10", "missing30")
        )
        for method in ("LabelAudit", "Random forest + cleanlab")
    )
    return ours / theirs


def cost_of_murky(pick, name="MurkyClassifier"):
    """CPU time of MurkyClassifier, that of a forest being one, by set."""
    found = cells("few-labels", "seconds", setting="A").unstack("method")
    return pick(found[name] / found["Random forest"])


def nmlsdr(method, data_set):
    return mean("nmlsdr-tables", "AP", method, data_set)


def most_lost(data_set):
    """Average precision that CCA and the discriminants lose against MDDM, at most."""
    fragile = ("CCA", "wMLDAb", "wMLDAc", "wMLDAd", "wMLDAe")
    found = cells("nmlsdr-tables", "AP", method=fragile, data_set=data_set)
    return nmlsdr("MDDMp", data_set) - found.min()


def trials_below(limit):
    """Share of the trials on digits in which SSDR-MC stays below."""
    rows = read_rows("ssdrmc-digits")
    rows = rows[rows["method"] == "SSDR-MC"]
    used.add(f"ssdrmc-digits.csv, {len(rows)} rows, micro F1 by seed")
    return 100 * (rows["micro F1"] < limit).mean()


def slashdot(method, setting):
    return mean("cenda-slashdot", "accuracy", method, "slashdot", setting)


def real(method, data_set, setting="0.999"):
    return mean("cenda-real", "accuracy", method, data_set, setting)


def figure3(which, method, data_set, setting):
    return extreme(
        which,
        "ssdrmc-figure3",
        "micro F1",
        method=method,
        data_set=data_set,
        setting=setting,
    )


def lcom(method, data_set, setting):
    return mean("pml-lcom-sensitivity", "ranking loss", method, data_set, setting)


def noise_auc(method, data_set):
    return mean("pml-lcom-transductive", "noise AUC", method, data_set)


def digits(method):
    return mean("ssdrmc-digits", "micro F1", method)


def murky_best(measure):
    """On how many sets MurkyClassifier is the best that sees murky labels only."""
    rivals = {m for m in read_rows("nmlsdr-tables")["method"] if murky_rivals(m)}
    return ahead("nmlsdr-tables", measure, "MurkyClassifier, murky labels", rivals)


def parameter_moves():
    """By how much the average precision of NMLSDR moves with alpha or k, at most."""
    found = cells("nmlsdr-parameters", "AP", setting=lambda s: s[:2] in ("al", "k="))
    found = found.groupby(["data_set", lambda place: place[1][:2]])
    return (found.max() - found.min()).max()


def few_labelled():
    """Lead of NMLSDR over MDDMp with one row in twenty labelled, by set."""
    found = cells("nmlsdr-parameters", "AP", setting="labelled 0.05").unstack("method")
    return found["NMLSDR"] - found["MDDMp"]


def off_print(reducer):
    """How far accuracies with all rows seen are from print, at most."""
    methods = [f"{learner} + {reducer}" for learner in LEARNERS]
    where = {"setting": lambda s: "all rows" in s, "method": methods}
    return max(off_paper("cenda-real", "accuracy", **where))


def gains_on(data_set):
    """How many learners CENDA helps inside the folds, by paired t-tests."""
    part = {"name": "cenda-real", "measure": "accuracy", "setting": "0.999"}
    return sum(
        clear(first=f"{m} + CENDA", second=m, only=data_set, **part) for m in LEARNERS
    )


def lcom_off(*data_sets, names=("pml-lcom-tables", "pml-lcom-own")):
    """How far PML-LCom is from its printed ranking loss, at most."""
    where = {"method": "PML-LCom", "data_set": data_sets}
    return max(max(off_paper(n, "ranking loss", **where), default=0) for n in names)


def level_sets():
    """On how many sets NMLSDR is within a standard deviation over seeds of MDDMp."""
    rows, level = read_rows("nmlsdr-tables"), []
    for measure in ("HL'", "AP", "MiF1"):
        wide = rows.pivot_table(measure, ["data_set", "seed"], "method")
        gains = (wide["NMLSDR"] - wide["MDDMp"]).groupby("data_set")
        level.append(gains.mean().abs() < gains.std())
        used.add(f"nmlsdr-tables.csv, {measure} of NMLSDR and MDDMp")
    return int((level[0] & level[1] & level[2]).sum())


def forest_variant(which, setting):
    """Accuracy of a forest under other false candidates."""
    where = {"method": "Random forest", "setting": setting}
    return extreme(which, "cenda-variants", "accuracy", **where)


def tables(method, data_set):
    """Ranking loss with the smallest noise."""
    return mean("pml-lcom-tables", "ranking loss", method, data_set, "a=0.5")


def large(method, data_set):
    """Ranking loss with the least noise, ten splits, settings chosen once."""
    if data_set in ("bibtex", "Corel5k", "delicious"):
        return mean("pml-lcom-large", "ranking loss", method, data_set, "a=0.5")
    return mean("pml-lcom-large-own", "ranking loss", method, data_set)


def best_from(method, measure, data_set, sign=1):
    """From which share of labels on a method is best in figure 4, in percent."""
    others = ("SSDR-MC", "SSDR-MC, paper", "ML-GFHF", "RankSVM", "PCA + RankSVM")
    where = {"method": [*others, method], "data_set": data_set}
    found = sign * cells(FIGURE4[0], measure, **where).unstack("method")
    found.index = [int(place[-1].split()[0]) for place in found.index]
    behind = found[found.idxmax(axis=1) != method].index
    return min(share for share in found.index if share > max(behind, default=0))


def pooled(method):
    """One-sided p-values of a paired t-test over all trials, against each rival."""
    rows, out = read_rows("ssdrmc-figure4"), []
    wide = rows.pivot_table("micro F1", ["data_set", "setting", "seed"], "method")
    for rival in ("RankSVM", "PCA + RankSVM", "ML-GFHF"):
        pair = wide[[method, rival]].dropna()
        test = ttest_rel(pair[method], pair[rival], alternative="greater")
        out.append(test.pvalue)
        used.add(f"ssdrmc-figure4.csv, {len(pair)} trials, micro F1 by seed")
    return out


def most_iterations(data_sets, method="SSDR-MC, paper"):
    """Most iterations of a form of SSDR-MC in a trial of figure 3, in the region."""
    rows = read_rows("ssdrmc-figure3")
    rows = rows[rows["method"] == method]
    rows = rows[rows["data_set"].isin(data_sets) & rows["setting"].isin(REGION)]
    used.add(f"ssdrmc-figure3.csv, {len(rows)} rows, iterations")
    return int(rows["iterations"].max())


def people(measure, method, kind, setting="10 people, 3 a row"):
    """Mean over the sets with classes or with labels."""
    return mean("annotators", measure, method, PEOPLE[kind], setting)


def people_ahead(measure):
    """In how many of twelve settings Consensus is at least as good as all rivals."""
    found = cells("annotators", measure)
    kinds = found.index.get_level_values("data_set").isin(PEOPLE["classes"])
    wide = found.groupby([kinds, "setting", "method"]).mean().unstack("method")
    rivals = wide[list(PEOPLE_RIVALS)]
    if measure in LOSSES:
        return int((wide["Consensus"] <= rivals.min(axis=1)).sum())
    return int((wide["Consensus"] >= rivals.max(axis=1)).sum())


def spammers_last():
    """Share of the runs in which those who guess have the least quality."""
    rows = read_rows("annotators")
    found = rows[rows["method"] == "Consensus"]["spammers last"].dropna()
    used.add(f"annotators.csv, {len(found)} rows, spammers last")
    return 100 * found.mean()


def on_device(what):
    """Figures of the first search, or of the fit, on a GPU."""
    document = json.loads((BENCH.parent / "device.json").read_text(encoding="utf-8"))
    used.add(f"device.json, {what}")
    line = document["searches"][0]
    products = line["parts"]["products"]
    return {
        "search": line["seconds"],
        "products": 100 * products / sum(line["parts"].values()),
        "rate": 2 * line["rows"] ** 2 * line["features"] / products / 1e12,
        "fit": document["fit"]["seconds"],
    }[what]
