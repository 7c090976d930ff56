"""What ``demurk clean`` says: the facts, the story in words, and the page."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import html
from itertools import islice

import numpy as np
import pandas as pd

from demurk.audit._suspects import LISTS
from demurk.cli._audit import count_labels
from demurk.cli._input import samples_of
from demurk.review._cards import CardMaker
from demurk.review._people import WhoSaid
from demurk.review._questions import Questions
from demurk.utils._amounts import amount
from demurk.viz import embedding_page
from demurk.viz._report import Markup, bullets, report_table, sections, story, table

__all__ = [
    "audit_facts",
    "audit_page",
    "audit_story",
    "row_title",
    "size_line",
]

# Below so many labelled samples the estimated rates come out too small.
FEW_SAMPLES = 300
# What the page has room for.
SHOWN_SUSPECTS = 100
SHOWN_LABELS = 30
SHOWN_CARDS = 500
CARD_TEXT = 2000
RATES = ("extra", "missing")
EVIDENCE = {
    "extra": "extra labels",
    "none": "no noise",
    "matrix": "certain others",
}


def audit_facts(read, found, maps, noise, flip, seed):
    """Everything the page and the console say, for summary.json."""
    audit, labels = found.audit, read.labels
    given, wrong = labels.values > 0, np.nan_to_num(audit.wrong_proba_)
    on_list = found.suspects["list"]
    extra, missing = (audit.noise_rates_[key] for key in RATES)
    return {
        "data": read.name,
        "n_samples": labels.n_samples,
        "n_labeled": int(labels.labeled.sum()),
        "n_features": int(read.features.shape[1]),
        "n_labels": labels.n_labels,
        "one_class": labels.single,
        "entries": count_labels(labels.observed, labels.single),
        "not_observed": count_labels(~labels.observed, labels.single),
        "noise_asked": noise,
        "noise": audit.noise_,
        "message": audit.message_,
        "estimated": found.audit.estimated_,
        "evidence": {key: round(value, 2) for key, value in audit.evidence_.items()},
        "expected_wrong": audit.n_suspects_,
        "listed": {name: int((on_list == name).sum()) for name in LISTS.values()},
        "flip": flip,
        "corrected": count_labels(found.corrected, labels.single),
        "rates": audit.rates_,
        "labels": [
            {
                "label": str(name),
                "given": int(given[:, j].sum()),
                "expected_wrong": round(float(wrong[given[:, j], j].sum()), 2),
                "expected_missing": round(float(wrong[~given[:, j], j].sum()), 2),
                "rate_extra": round(float(extra[j]), 4),
                "rate_missing": round(float(missing[j]), 4),
                "threshold": round(float((1 + extra[j] - missing[j]) / 2), 4),
            }
            for j, name in enumerate(labels.classes)
        ],
        "columns": [str(column) for column in read.columns],
        "maps": list(maps),
        "seed": seed,
    }


def size_line(facts):
    if facts["one_class"]:
        classes = amount(facts["n_labels"], "class", "classes")
        text = f"{amount(facts['entries'], 'row')} audited ({classes})"
        if facts["not_observed"]:
            text += f"; rows without a class, which stay so: {facts['not_observed']:,}"
        return f"{text}."
    text = (
        f"{facts['entries']:,} entries audited, each one label of one sample (labels: "
        f"{facts['n_labels']:,}, samples: {facts['n_samples']:,})"
    )
    if facts["not_observed"]:
        text += f"; {facts['not_observed']:,} were not observed and stay so"
    return f"{text}."


def audit_story(source, facts):
    """The findings in sentences."""
    wrong, missing = facts["listed"].values()
    corrected, flip = facts["corrected"], facts["flip"]
    what = ("row", "rows") if facts["one_class"] else ("entry", "entries")
    yield facts["message"]
    if facts["one_class"]:
        least = "" if facts["estimated"] else ", however many of them are wrong"
        rows = amount(wrong, "row")
        yield f"Listed: {rows} whose class looks least likely{least}."
    elif facts["estimated"]:
        yield (
            f"Suspects listed: {wrong:,} given but probably wrong, {missing:,} missing "
            "but probably right."
        )
    else:
        yield (
            f"Listed: the {wrong:,} given and the {missing:,} absent labels that look "
            "least likely, however many of them are wrong."
        )
    if flip is None:
        yield f"Nothing was corrected: {facts['copy']} has the labels of {source}."
    elif not facts["estimated"]:
        yield "Nothing was corrected, for want of a noise rate."
    elif not corrected:
        yield (
            f"No {what[0]} is wrong with a probability above {flip:g}: nothing "
            "corrected."
        )
    else:
        guess = " by the best guess" if facts["noise"] == "uncertain" else ""
        yield (
            f"Corrected in {facts['copy']}: {amount(corrected, *what)}, wrong with a "
            f"probability above {flip:g}{guess}. {source} is unchanged."
        )
    if facts["n_labeled"] < FEW_SAMPLES:
        yield (
            f"Only {facts['n_labeled']:,} samples are labelled: trust the order of the "
            "lists more than their length."
        )


STYLE = """
@media (min-width: 901px) { .app { height: calc(100vh - 170px); min-height: 500px; } }
.report h2 { margin: 34px 0 8px; font-size: 17px; color: var(--ink); }
.report h2:first-of-type { margin-top: 0; }
.report p, .report li { max-width: 78ch; margin: 4px 0; }
.report ul { margin: 6px 0; padding-left: 20px; }
.report .verdict { font-size: 16px; font-weight: 600; }
.report .list { max-height: 70vh; overflow: auto; }
.report table { border-collapse: collapse; }
.report th { position: sticky; top: 0; background: var(--paper); color: var(--soft);
  font-size: 13px; font-weight: 600; text-align: left; white-space: nowrap; }
.report th, .report td { padding: 5px 18px 5px 0; vertical-align: top; }
.report td { border-top: 1px solid var(--line); overflow-wrap: anywhere; }
.report .number { text-align: right; white-space: nowrap; }
.report .name { min-width: 110px; }
.report .chart td + td { white-space: nowrap; }
.report .why { min-width: 300px; font-size: 13px; }
.report .bar { display: inline-block; width: 150px; height: 10px; margin-right: 8px;
  border-radius: 3px; background: var(--wash); }
.report .bar i { display: block; height: 100%; border-radius: 3px; }
.report .wrong i { background: var(--taken); }
.report .absent i { background: var(--added); }
.report .find { color: var(--accent); }
"""
# The page opens with the suspects marked; links in the lists find one on the map.
SCRIPT = """
new MutationObserver((_, observer) => {
  observer.disconnect();
  if (document.querySelector(".find"))
    document.querySelector("#by [data-key=change]").click();
}).observe(document.documentElement, { attributeFilter: ["data-ready"] });
"""
# What differs is suspect here and not always corrected.
WORDS = {
    "heading": "Suspect labels",
    "search": "Search suspect samples",
    "list": "Samples with suspect labels",
    "only": "only suspect",
    "count": "with suspect labels",
    "changed": "suspect",
    "kept": "not suspect",
    "change": "Suspects",
    "after": "If corrected",
}


def audit_page(read, found, maps, facts):
    """The map with the suspects marked, and the findings below it."""
    return embedding_page(
        maps,
        pd.DataFrame(found.given, columns=[str(name) for name in read.labels.classes]),
        cleaned=found.after,
        samples=samples_of(read),
        scores=np.where(found.listed, found.audit.scores_, 0.0).max(axis=1),
        title=f"{facts['data']}: label audit",
        report=_report(read.source.path, found, facts),
        words=WORDS,
        cards=_cards(read, found),
    )


def _cards(table, found):
    """The cards of the listed rows, the most suspect first."""
    maker, labels = CardMaker(table, most_text=CARD_TEXT), table.labels
    questions = Questions(labels, table.form.form)
    who = None if table.annotations is None else WhoSaid(table.annotations)
    given, after, cards = found.given, found.after, {}
    shown = islice(found.suspects.groupby("row", sort=False), SHOWN_CARDS)
    for number, own in shown:
        row = int(number) - 1
        near = maker.near(row, labels.labeled)
        lines = own.to_dict("records")
        reasons = list(_reasons(questions, found, given, row, lines, near))
        if who is not None:
            reasons.append({"sentence": who.sentence(row), "wrong": None})
        cards[row] = maker.card(row, given, near) | {
            "column": questions.columns[str(lines[0]["label"])],
            "given": np.flatnonzero(given[row] > 0).tolist(),
            "after": np.flatnonzero(after[row] > 0).tolist(),
            "labeled": True,
            "reasons": reasons,
        }
    return cards


def _reasons(questions, found, given, row, lines, near):
    """Why a row is suspect, in the words of `demurk review`."""
    audit = found.audit
    if questions.form == "candidates":
        # That one of several is wrong goes without saying.
        beliefs = audit.label_distributions_[row]
        best = int(beliefs.argmax())
        sentence = questions.sentence(row, near, given, best, beliefs[best])
        yield {"sentence": sentence, "wrong": None}
        return
    for line in lines:
        column = questions.columns[str(line["label"])]
        best = questions.columns.get(str(line.get("suggested")))
        chance = None if best is None else audit.wrong_proba_[row, best]
        question = questions.number(row, column if questions.several else None)
        wrong = float(line["wrong_proba"]) if found.audit.estimated_ else None
        sentence = questions.sentence(question, near, given, best, chance)
        yield {"sentence": sentence, "wrong": wrong}


def _report(source, found, facts):
    verdict, *notes = audit_story(source, facts)
    told = [verdict, size_line(facts), *notes]
    unused = [c for c in facts["columns"] if ": left out" in c or ": id" in c]
    if unused:
        told.append(f"No features: {'; '.join(unused[:20])}.")
    if len(facts["evidence"]) > 1:
        ranked = sorted(facts["evidence"].items(), key=lambda item: -item[1])
        words = (f"{EVIDENCE.get(key, key)} {round(v, 1) + 0:.1f}" for key, v in ranked)
        clear = "clear if 5 above all others but mixed"
        if facts["one_class"]:
            clear = "log-likelihood, each row explained by the others"
        told.append(f"Evidence ({clear}): {', '.join(words)}.")
    names = [LISTS[1]] if facts["one_class"] else LISTS.values()
    parts = {
        "What the audit found": story(told),
        "How much, label by label": _chart(facts),
        **{name.capitalize(): _list(found, name) for name in names},
        "What to do with it": bullets(_advice(facts)),
    }
    return f"<style>{STYLE}</style>\n{sections(parts)}\n<script>{SCRIPT}</script>"


def _advice(facts):
    lists = "the list" if facts["one_class"] else "both lists"
    yield (
        f"Read {lists} from the top, and stop where most turn out right; `demurk "
        "review` asks about them one by one. Rows are counted from 1, the header left "
        "out, in all files; suspects.csv has all suspects."
    )
    if facts["noise"] == "people":
        yield (
            "Given is what most people say. `demurk predict` learns from what each of "
            "them says; `demurk annotators` tells how good they are."
        )
    elif facts["one_class"]:
        yield "To train a random forest, keep the given classes: edits do not help it."
    elif facts["estimated"]:
        cuts = sorted({f"{label['threshold']:.2f}" for label in facts["labels"]})
        forest = "To train a random forest, keep the given labels: edits do not help it"
        if cuts != ["0.50"]:
            where = " to ".join(sorted({cuts[0], cuts[-1]}))
            forest += f". But let it say yes above {where}, not 0.50 (see summary.json)"
        yield f"{forest}."
    if facts["estimated"]:
        yield "To train a nearest neighbour method, use label_distributions.csv."
    if facts["noise_asked"] == "auto" and facts["noise"] != "people":
        yield "If you know what kind of errors were made, run it again with that kind."


def _chart(facts):
    """Shares of wrong and missing labels as bars."""
    if not facts["estimated"]:
        return "<p>Without a noise rate there is nothing to show here.</p>"
    labels = facts["labels"]
    worst = sorted(labels, key=lambda x: -x["expected_wrong"] - x["expected_missing"])
    shown = labels if len(labels) <= SHOWN_LABELS else worst[:SHOWN_LABELS]
    top = max(0.2, *(max(_shares(label)) for label in shown))
    columns = [
        ("label", "name", "{label}"),
        ("given to", "number", "{given:,}"),
        ("of these, probably wrong", "", lambda label: _bar(label, 0, top)),
        ("missing, of all that should have it", "", lambda label: _bar(label, 1, top)),
    ]
    notes = [_rates(facts)]
    if len(shown) < len(labels):
        notes.append(
            f"{len(labels) - len(shown):,} labels with fewer errors are not shown."
        )
    chart = table(shown, columns, "chart")
    return f'<div class="list">{chart}</div><p>{" ".join(notes)}</p>'


def _shares(label):
    """Wrong labels among those given, missing ones among those that are true."""
    wrong, missing = label["expected_wrong"], label["expected_missing"]
    totals = (label["given"], label["given"] - wrong + missing)
    return [
        n / total if total > 0 else 0.0 for n, total in zip((wrong, missing), totals)
    ]


def _rates(facts):
    if facts["rates"] != "shared":
        return "Each label has its own noise rates; they are in summary.json."
    extra, missing = (facts["labels"][0][f"rate_{key}"] for key in RATES)
    return (
        f"Noise rates, the same for all labels: {100 * extra:.1f} % of the absent "
        f"labels were given, {100 * missing:.1f} % of the present ones were left out."
    )


def _bar(label, which, top):
    """How many labels are wrong (0) or missing (1), as a bar and in figures."""
    kind = ("wrong", "absent")[which]
    count = (label["expected_wrong"], label["expected_missing"])[which]
    share = _shares(label)[which]
    return Markup(
        f'<span class="bar {kind}"><i style="width: {100 * share / top:.1f}%"></i>'
        f"</span>{100 * share:.0f} % ({count:,.0f})"
    )


def _list(found, name):
    """One list of suspects as a table."""
    rows = found.suspects[found.suspects["list"] == name]
    if rows.empty:
        return "<p>None.</p>"
    value = ("how unlikely", "number", "{score:.2f}")
    if found.audit.estimated_:
        value = ("P(wrong)", "number", "{wrong_proba:.2f}")
    columns = [
        value,
        ("sample", "name", _link),
        ("label", "name", "{label}"),
        ("corrected", "", lambda line: "yes" if line["corrected"] else "no"),
        ("why", "why", "{reason}"),
    ]
    lines, more = rows.to_dict("records"), "more are in suspects.csv."
    return report_table(name, lines, columns, SHOWN_SUSPECTS, more)


def _link(line):
    """What finds a row on the map."""
    text = html.escape(row_title(line["row"], line["sample"]))
    return Markup(f'<a class="find" href="#sample-{line["row"] - 1}">{text}</a>')


def row_title(number, sample):
    """A row by its number, and by what it is called if that says more."""
    title = f"row {number}"
    return title if sample == title else f"{title} · {sample}"
