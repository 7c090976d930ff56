"""Tables of the documentation, written from the committed result files."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
from itertools import product
from pathlib import Path

import numpy as np
from doc import class_claims, pml_outcomes, review_claims
from doc.claim_values import AUDIT_DESIGN, CLEAN, TUNED
from doc.device_tables import device_tables
from doc.scale_tables import cluster, cluster_plan, growth_figure, out_of_core

from demurk.benchmark import (
    load_protocol,
    published_results,
    published_value,
    read_results,
    write_report,
)
from demurk.benchmark.report import plot_curves, plot_mean_scores
from demurk.benchmark.report._tables import summarize
from demurk.benchmark.statistics import wilcoxon_scores, win_tie_loss

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results"


def load(name):
    """A result file as data."""
    return json.loads((RESULTS / name).read_text(encoding="utf-8"))


def list_table(header, rows, title):
    """A reStructuredText table; the title names its source."""
    lines = [f".. list-table:: {title}", "   :header-rows: 1", ""]
    for row in [header, *rows]:
        cells = [str(cell) for cell in row]
        lines.append(f"   * - {cells[0]}")
        lines.extend(f"     - {cell}" for cell in cells[1:])
    return "\n".join(lines) + "\n"


def lost_cells():
    """Accuracies on Lost by setting and method, and the directions that were kept."""
    protocol, rows = committed_run("cenda-real")
    cells = summarize(protocol, rows, published=published_value).cells
    kept = {}
    for row in rows:
        if row["data_set"] == "lost" and row["status"] == "done":
            place = row["setting"], row["method"]
            kept.setdefault(place, []).append(row["values"]["n_components"])
    return {place[1:3]: c for place, c in cells.items() if place[0] == "lost"}, kept


def cenda_lost():
    """PL-kNN on Lost after reduction of all rows, and inside the folds."""
    cells, kept = lost_cells()
    rows = []
    for method, threshold in product(("CENDA", "DELIN"), ("0.999", "0.99", "0.9")):
        name, everything = f"PL-kNN + {method}", f"{threshold}, all rows"
        whole, fold = cells[everything, name], cells[threshold, name]
        numbers = [f"{value:.3f}" for value in (whole.mean, fold.mean, whole.paper)]
        rows.append([method, threshold, f"{kept[everything, name][0]:.0f}", *numbers])
    header = ["method", "threshold", "kept", "on all data", "inside folds", "paper"]
    return list_table(header, rows, "PL-kNN on Lost (``demurk bench cenda-real``)")


def partial_label_lost():
    """Every learner on Lost, as it is and after reduction inside the folds."""
    cells, _ = lost_cells()
    names = [m for s, m in cells if s == "0.999" and "+" not in m]
    rows = []
    for learner in names:
        row = [learner]
        for method in (learner, f"{learner} + DELIN", f"{learner} + CENDA"):
            cell = cells.get(("0.999", method))
            row.append(f"{cell.mean:.3f} ± {cell.sd:.3f}" if cell else "")
        printed = cell.paper if cell else None
        rows.append([*row, "not in the paper" if printed is None else f"{printed:.3f}"])
    header = ["learner", "as it is", "after DELIN", "after CENDA", "paper, CENDA"]
    return list_table(header, rows, "Accuracy (``demurk bench cenda-real``)")


def partial_label_controlled():
    """Wins, ties and losses of reduction on sets with known classes."""
    rows = read_results(RESULTS / "bench" / "cenda-controlled.csv")
    folds = {}
    for row in rows:
        if row["status"] == "done":
            place = (row["method"], row["data_set"], row["setting"])
            folds.setdefault(place, {})[row["seed"]] = row["values"]["accuracy"]
    problems = list(dict.fromkeys(place[1:] for place in folds))
    learners = [name for name in dict.fromkeys(m for m, *_ in folds) if "+" not in name]
    learners = [name for name in learners if (f"{name} + DELIN", *problems[0]) in folds]
    lines = []
    for first, second in (("CENDA", ""), ("CENDA", "DELIN"), ("DELIN", "")):
        line = [f"{first} against {second or 'none'}"]
        for learner in learners:
            counts = dict.fromkeys(("win", "tie", "loss"), 0)
            other = f"{learner} + {second}" if second else learner
            for problem in problems:
                pair = [
                    folds.get((m, *problem)) for m in (f"{learner} + {first}", other)
                ]
                if all(pair):
                    scores = [[found[seed] for seed in sorted(found)] for found in pair]
                    counts[win_tie_loss(*scores)] += 1
            line.append("/".join(map(str, counts.values())))
        lines.append(line)
    title = "Win/tie/loss, paired t-test at 5 % (``demurk bench cenda-controlled``)"
    return list_table(["comparison", *learners], lines, title)


def gain(first, second):
    """Mean difference of two cells over seeds, with its standard error."""
    gains = [first.values[seed] - second.values[seed] for seed in first.values]
    error = np.std(gains, ddof=1) / len(gains) ** 0.5
    return f"{np.mean(gains):+.3f} ± {error:.3f}"


RECIPE_SETTINGS = {
    "A": "A: 30 % of the rows labelled, each label flipped with 10 %",
    "B": "B: 10 % labelled, 20 % flipped",
    "C": "C: 30 % labelled, each absent label given with 20 %",
    "label": "As A, with rates of its own for every label, up to 20 %",
    "instance": "As A, with flips where a forest on clean labels is unsure",
}


SAME_CUT = "Random forest, cut by MurkyClassifier"
RECIPE_METHODS = ("MurkyClassifier", "Random forest", TUNED, SAME_CUT, CLEAN)


def recipe_a():
    """MurkyClassifier beside the forest in the main setting."""
    return recipe(["A"])


def recipe_others():
    """The same under other kinds of noise."""
    return recipe([setting for setting in RECIPE_SETTINGS if setting != "A"])


def closed(low, mid, high):
    """Share of the gap between two means that a third closes."""
    return f"{(mid - low) / (high - low):.0%}" if high > low else ""


def recipe(settings):
    """One table for each kind of noise."""
    protocol, rows = committed_run("few-labels")
    cells = summarize(protocol, rows).cells
    header = ["set", "forest", "tuned forest", "ours", "clean labels", "difference"]
    header += ["gap closed", "beside forest", "RL'", "OE'", "MiF1", "MiF1, same cut"]
    parts = []
    for setting in settings:
        lines = []
        for name in protocol.data_sets:
            ours, forest, tuned, same, ceiling = (
                {m: cells[name, setting, method, m] for m in protocol.measures}
                for method in RECIPE_METHODS
            )
            if not ours["AP"].values:
                continue
            four = (forest, tuned, ours, ceiling)
            means = [part["AP"].mean if part["AP"].values else np.nan for part in four]
            # Where no forest was tuned, the difference is from the other.
            rival = tuned if tuned["AP"].values else forest
            lines.append(
                [
                    name,
                    *("" if np.isnan(value) else f"{value:.3f}" for value in means),
                    gain(ours["AP"], rival["AP"]),
                    *(closed(low, *means[2:]) for low in (means[1], means[0])),
                    *(gain(ours[m], rival[m]) for m in ("RL'", "OE'", "MiF1")),
                    gain(ours["MiF1"], same["MiF1"]),
                ]
            )
        parts.append(list_table(header, lines, RECIPE_SETTINGS[setting]))
    return "\n".join(parts)


# What the page calls the methods of the protocol.
AUDITS = {
    "Random forest + cleanlab": "cleanlab, forest",
    "LabelAudit": "LabelAudit, auto",
}
OPTIONS = {
    "Random forest + cleanlab, adjusted": "cleanlab, adjusted",
    "LabelAudit's probabilities + cleanlab": "cleanlab, our probabilities",
    "LabelAudit's probabilities + cleanlab, adjusted": "the same, adjusted",
}


def audit():
    """Average precision of the list of suspects, mean over sets."""
    protocol, rows = committed_run("wrong-labels")
    cells = summarize(protocol, rows).cells
    fresh = [name for name in protocol.data_sets if name not in AUDIT_DESIGN]

    def mean(setting, method, measure, names=tuple(protocol.data_sets)):
        found = [cells.get((name, setting, method, measure)) for name in names]
        whole = all(cell is not None and cell.values for cell in found)
        return np.mean([cell.mean for cell in found]) if whole else np.nan

    def seconds(setting, method):
        wanted = (setting, method)
        own = [r for r in rows if (r["setting"], r["method"]) == wanted]
        return np.mean([row["values"]["seconds"] for row in own])

    lines = []
    for setting in protocol.settings:
        numbers = [mean(setting, method, "AP") for method in (*AUDITS, *OPTIONS)]
        numbers += [mean(setting, method, "AP", fresh) for method in AUDITS]
        flagged = mean(setting, "LabelAudit", "share flagged")
        both = [seconds(setting, m) for m in ("LabelAudit", "Random forest + cleanlab")]
        texts = ["" if np.isnan(number) else f"{number:.3f}" for number in numbers]
        lines.append([setting, *texts, f"{flagged:.2%}", f"{both[0] / both[1]:.2f}"])
    header = ["noise", *AUDITS.values(), *OPTIONS.values()]
    header += [f"{method}; fresh sets" for method in AUDITS.values()]
    header += ["entries flagged", "CPU, cleanlab = 1"]
    return list_table(header, lines, "Ten sets (``demurk bench wrong-labels``)")


def audit_sets():
    """The same by set, where cleanlab wins too."""
    protocol, rows = committed_run("wrong-labels")
    cells = summarize(protocol, rows).cells
    parts = []
    for setting in ("sym10", "extra10", "missing30", "label", "instance"):
        lines = [
            [name, *(f"{cells[name, setting, m, 'AP'].mean:.3f}" for m in AUDITS)]
            for name in protocol.data_sets
        ]
        parts.append(list_table(["set", *AUDITS.values()], lines, setting))
    return "\n".join(parts)


def speed():
    """Ratios of CPU time."""
    document = load("speed.json")
    rows = [
        [
            # After a comma stands what the figure was measured on.
            ", ".join([module.removeprefix("bench_"), *label.split(", ")[1:]]),
            figure["what"],
            f"{figure['value']:.3g}",
        ]
        for module, figures in document["figures"].items()
        for label, figure in figures.items()
    ]
    title = f"One thread, one run (``{document['command']}``)"
    return list_table(["benchmark", "what", "value"], rows, title)


def committed_run(name):
    """Protocol of a committed run, cut to what was run, and the rows."""
    rows = read_results(RESULTS / "bench" / f"{name}.csv")
    keys = ("data_set", "setting", "method")
    ran = {key: {row[key] for row in rows} for key in keys}
    seeds = 1 + max(row["seed"] for row in rows)
    protocol = load_protocol(name)
    part = {"data_sets": ran["data_set"], "methods": ran["method"], "seeds": seeds}
    if protocol.settings:
        part["settings"] = ran["setting"] & set(protocol.settings)
    return protocol.select(**part), rows


def seeds_of(cells):
    """How many seeds the cells have, in words."""
    counts = {len(cell.values) for cell in cells if cell.values}
    low, high = min(counts), max(counts)
    words = f"{low} to {high}" if low < high else str(high)
    return f"{words} seeds" if high > 1 else "1 seed"


def bench(name, measure=None):
    """Means of one measure from a committed run of a protocol, a row per method."""
    protocol, rows = committed_run(name)
    summary = summarize(protocol, rows, published=published_value)
    measure = measure or protocol.measures[0]
    problems = summary.problems
    header = ["method", *(", ".join(filter(None, problem)) for problem in problems)]
    lines = [
        [
            method.replace("*", r"\*"),
            *(_cell(summary.cells[(*p, method, measure)]) for p in problems),
        ]
        for method in summary.methods
    ]
    seeds = seeds_of([c for place, c in summary.cells.items() if place[3] == measure])
    return list_table(header, lines, f"{measure}, {seeds} (``demurk bench {name}``)")


def reports(folder):
    """Write the report of every committed run; return a table with links to them."""
    lines = []
    for path in sorted((RESULTS / "bench").glob("*.csv")):
        name = path.stem
        protocol, rows = committed_run(name)
        command = f"demurk bench {name} --seeds {protocol.seeds}"
        write_report(protocol, rows, folder, command=command)
        cells = summarize(protocol, rows).cells.values()
        link = f"`{name} <../bench/{name}.html>`__"
        lines.append([link, protocol.title, seeds_of(cells), f"{len(rows):,}"])
    header = ["report", "what", "seeds", "tasks"]
    return list_table(header, lines, "Reports of all committed runs")


def _cell(cell):
    """Mean, with the printed value in brackets, and the best in bold."""
    if not cell.values:
        return cell.note
    text = f"{cell.mean:.3f}"
    text = f"**{text}**" if cell.mark == "best" else text
    return text if cell.paper is None else f"{text} ({cell.paper:.3f})"


def ssdrmc_figure(path):
    """Micro-F1 by the share of labelled rows, as figure 4 of the SSDR-MC paper."""
    protocol, rows = committed_run("ssdrmc-figure4")
    cells = summarize(protocol, rows).cells
    settings = list(protocol.settings)
    panels = {}
    for data_set, method in product(protocol.data_sets, protocol.methods):
        line = [cells[data_set, setting, method, "micro F1"] for setting in settings]
        if not all(cell.comparable for cell in line):
            continue  # fewer trials than the others
        curve = [cell.mean for cell in line], [cell.sd for cell in line]
        panels.setdefault(data_set, {})[method] = curve
    shares = [100 * options["share"] for options in protocol.settings.values()]
    labels = {"x_label": "% of rows labelled", "y_label": "micro-F1"}
    figure = plot_curves(shares, panels, **labels)
    figure.savefig(path)


def nmlsdr_figure(path):
    """Wilcoxon scores of each method, as figure 2 of the NMLSDR paper."""
    protocol, rows = committed_run("nmlsdr-tables")
    paper = published_results("nmlsdr")
    summary = summarize(protocol.select(methods=paper["methods"]), rows)
    scores = {
        "ours": [wilcoxon_scores(summary.matrix(m)) for m in summary.measures],
        "printed": list(paper["wilcoxon"].values()),
    }
    table = {who: np.vstack([np.mean(s, axis=0), s]).T for who, s in scores.items()}
    names = ["mean", *summary.measures]
    figure = plot_mean_scores(
        table["ours"],
        summary.methods,
        names,
        printed=table["printed"],
        highlight="NMLSDR",
    )
    figure.savefig(path)


BENCH = {
    "bench_nmlsdr_table1": ("nmlsdr-table1", "HL'"),
    "bench_nmlsdr_tables": ("nmlsdr-tables", "AP"),
    "bench_nmlsdr_tables_hl": ("nmlsdr-tables", "HL'"),
    "bench_nmlsdr_tables_rl": ("nmlsdr-tables", "RL'"),
    "bench_case_study": ("nmlsdr-case-study", "HL'"),
    "bench_cenda_controlled": ("cenda-controlled", "accuracy"),
    "bench_pml_lcom": ("pml-lcom-tables", "ranking loss"),
    "bench_pml_lcom_own": ("pml-lcom-own", "ranking loss"),
    "bench_ssdrmc": ("ssdrmc-figure4", "micro F1"),
    "bench_ssdrmc_digits": ("ssdrmc-digits", "micro F1"),
}

TABLES = {
    "cenda_lost": cenda_lost,
    "speed": speed,
    "out_of_core": lambda: list_table(*out_of_core(load("out_of_core.json"))),
    "cluster": lambda: list_table(*cluster(load("cluster.json"))),
    "cluster_plan": lambda: list_table(*cluster_plan(load("cluster.json"))),
    "partial_label_lost": partial_label_lost,
    "partial_label_controlled": partial_label_controlled,
    "pml_table_4": lambda: list_table(*pml_outcomes.table()),
    "recipe_a": recipe_a,
    "recipe_others": recipe_others,
    "audit": audit,
    "class_audit": lambda: list_table(*class_claims.table()),
    "class_learners": lambda: list_table(*class_claims.learners_table()),
    "review": lambda: list_table(*review_claims.table()),
    "audit_sets": audit_sets,
}


def measured(make):
    """A table, or a sentence where its results have not been committed yet."""
    try:
        return make()
    except FileNotFoundError as missing:
        return f"*Not measured yet: there is no {Path(missing.filename).name}.*\n"


def write_tables():
    """Write every table to ``doc/_tables``, from where the pages include them.

    The reports go to ``doc/_reports``, which is copied beside the pages.
    """
    folder = HERE / "_tables"
    folder.mkdir(exist_ok=True)
    texts = {name: measured(make) for name, make in TABLES.items()}
    texts |= {name: bench(*chosen) for name, chosen in BENCH.items()}
    texts |= device_tables(load("device.json"), list_table)
    for name, text in texts.items():
        (folder / f"{name}.rst").write_text(text, encoding="utf-8")
    ssdrmc_figure(folder / "ssdrmc_figure4.svg")
    nmlsdr_figure(folder / "nmlsdr_figure2.svg")
    growth_figure(load("growth.json")).savefig(folder / "growth.svg")
    table = reports(HERE / "_reports" / "bench")
    (folder / "reports.rst").write_text(table, encoding="utf-8")


if __name__ == "__main__":
    write_tables()
