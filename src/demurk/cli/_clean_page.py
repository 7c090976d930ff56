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

__all__ = [
    "audit_facts",
    "audit_page",
    "audit_story",
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
        "estimated": found.estimated,
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
        what = "row" if facts["one_class"] else "entry"
        yield (
            f"No {what} is wrong with a probability above {flip:g}: nothing corrected."
        )
    else:
        what = ("row", "rows") if facts["one_class"] else ("entry", "entries")
        yield (
            f"Corrected in {facts['copy']}: {amount(corrected, *what)}, wrong with a "
            f"probability above {flip:g}{_guess(facts)}. {source} is unchanged."
        )
    if facts["n_labeled"] < FEW_SAMPLES:
        yield (
            f"Only {facts['n_labeled']:,} samples are labelled: trust the order of the "
            "lists more than their length."
        )


def _guess(facts):
    return " by the best guess" if facts["noise"] == "uncertain" else ""


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
    labels = read.labels
    given = np.where(labels.observed, labels.values, -1)
    return embedding_page(
        maps,
        pd.DataFrame(given, columns=[str(name) for name in labels.classes]),
        cleaned=np.where(found.listed, 1 - given, given),
        samples=samples_of(read),
        scores=np.where(found.listed, found.audit.scores_, 0.0).max(axis=1),
        title=f"{facts['data']}: label audit",
        report=_report(read.source.path, found, facts),
        words=WORDS,
        cards=_cards(read, found, given),
    )


def _cards(table, found, given):
    """The cards of the listed rows, the most suspect first."""
    maker, labels = CardMaker(table, most_text=CARD_TEXT), table.labels
    questions = Questions(labels, table.form.form)
    who = None if table.annotations is None else WhoSaid(table.annotations)
    after = np.where(found.listed, 1 - given, given)
    cards, usable = {}, labels.labeled
    shown = islice(found.suspects.groupby("row", sort=False), SHOWN_CARDS)
    for number, own in shown:
        row = int(number) - 1
        near = maker.near(row, usable)
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
        wrong = float(line["wrong_proba"]) if found.estimated else None
        sentence = questions.sentence(question, near, given, best, chance)
        yield {"sentence": sentence, "wrong": wrong}


def _report(source, found, facts):
    verdict, *story = audit_story(source, facts)
    notes = [size_line(facts), *story]
    unused = [c for c in facts["columns"] if ": left out" in c or ": id" in c]
    if unused:
        notes.append(f"No features: {'; '.join(unused[:20])}.")
    if len(facts["evidence"]) > 1:
        ranked = sorted(facts["evidence"].items(), key=lambda item: -item[1])
        words = (f"{EVIDENCE.get(key, key)} {round(v, 1) + 0:.1f}" for key, v in ranked)
        clear = "clear if 5 above all others but mixed"
        if facts["one_class"]:
            clear = "log-likelihood, each row explained by the others"
        notes.append(f"Evidence ({clear}): {', '.join(words)}.")
    parts = [
        f"<style>{STYLE}</style>",
        "<h2>What the audit found</h2>",
        f'<p class="verdict">{html.escape(verdict)}</p>',
        _bullets(notes),
        "<h2>How much, label by label</h2>",
        _chart(facts),
    ]
    for name in [LISTS[1]] if facts["one_class"] else LISTS.values():
        parts += [f"<h2>{name.capitalize()}</h2>", _list(found, name)]
    parts += ["<h2>What to do with it</h2>", _bullets(_advice(facts))]
    return "\n".join([*parts, f"<script>{SCRIPT}</script>"])


def _bullets(lines):
    return f"<ul>{''.join(f'<li>{html.escape(line)}</li>' for line in lines)}</ul>"


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
    shares = [_shares(label) for label in shown]
    top = max(0.2, *map(max, shares))
    rows = [
        f'<tr><td class="name">{html.escape(label["label"])}</td>'
        f'<td class="number">{label["given"]:,}</td>'
        f"<td>{_bar('wrong', label['expected_wrong'], wrong, top)}</td>"
        f"<td>{_bar('absent', label['expected_missing'], missing, top)}</td></tr>"
        for label, (wrong, missing) in zip(shown, shares)
    ]
    notes = [_rates(facts)]
    if len(shown) < len(labels):
        notes.append(
            f"{len(labels) - len(shown):,} labels with fewer errors are not shown."
        )
    return (
        '<div class="list"><table class="chart"><tr><th>label</th><th class="number">'
        "given to</th><th>of these, probably wrong</th><th>missing, of all that should "
        f"have it</th></tr>{''.join(rows)}</table></div><p>{' '.join(notes)}</p>"
    )


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


def _bar(kind, count, share, top):
    return (
        f'<span class="bar {kind}"><i style="width: {100 * share / top:.1f}%"></i>'
        f"</span>{100 * share:.0f} % ({count:,.0f})"
    )


def _list(found, name):
    """One list of suspects as a table."""
    rows = found.suspects[found.suspects["list"] == name]
    if rows.empty:
        return "<p>None.</p>"
    value = "wrong_proba" if found.estimated else "score"
    lines = []
    for row in rows.head(SHOWN_SUSPECTS).to_dict("records"):
        named = row["sample"] != f"row {row['row']}"
        sample = f"row {row['row']}" + (f" · {row['sample']}" if named else "")
        lines.append(
            f'<tr><td class="number">{row[value]:.2f}</td>'
            f'<td class="name"><a class="find" href="#sample-{row["row"] - 1}">'
            f"{html.escape(str(sample))}</a></td>"
            f'<td class="name">{html.escape(str(row["label"]))}</td>'
            f"<td>{'yes' if row['corrected'] else 'no'}</td>"
            f'<td class="why">{html.escape(row["reason"])}</td></tr>'
        )
    more = f"<p>{len(rows) - len(lines):,} more are in suspects.csv.</p>"
    return (
        f'<div class="list" tabindex="0" role="region" aria-label="{name}"><table><tr>'
        f'<th class="number">{"P(wrong)" if found.estimated else "how unlikely"}</th>'
        "<th>sample</th><th>label</th><th>corrected</th><th>why</th></tr>"
        f"{''.join(lines)}</table></div>{more if len(rows) > len(lines) else ''}"
    )
