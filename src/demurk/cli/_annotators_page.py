"""The page of ``demurk annotators``: quality, confusion, agreement, disagreements."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import html

import numpy as np

from demurk.cli._annotators_story import agreement_line, annotators_story
from demurk.cli._clean_page import STYLE, row_title
from demurk.viz._report import (
    Markup,
    boxed,
    bullets,
    filled,
    folded,
    report_table,
    sections,
    story,
)

__all__ = ["annotators_page"]

# What the page has room for.
SHOWN_PEOPLE = 50
SHOWN_DISAGREEMENTS, SHOWN_AT_LEAST = 100, 10
# Where the consensus is surer than this, there is little to discuss.
UNSURE = 0.05
SHOWN_PAIRS = 20
SHOWN_FURTHER = 10
LONGEST_TITLE = 300
WIDEST_TABLE = 12
# Of the others more is shown on demand.
OPEN_PEOPLE = 3
SHOWN_ERRORS = 8
# Opacity, in per cent, at which figures can still be read on it.
HEAT = 40

OWN_STYLE = """
.report { border-top: 0; }
.report .scale { position: relative; display: inline-block; width: 190px; height: 12px;
  border-radius: 3px; background: var(--wash); vertical-align: -1px; }
.report .scale i { position: absolute; top: 0; bottom: 0; left: 0; border-radius: 3px;
  background: var(--accent); opacity: 0.55; }
.report .scale b { position: absolute; top: 5px; height: 2px; min-width: 2px;
  background: var(--ink); }
.report .note { min-width: 160px; }
.report details { margin: 8px 0; border-top: 1px solid var(--line); padding-top: 6px; }
.report summary { cursor: pointer; overflow-wrap: anywhere; }
.report .heat { font-variant-numeric: tabular-nums; font-size: 13px; }
.report .heat th, .report .heat td { padding: 3px 9px; text-align: right; border: 0; }
.report .heat th { position: static; max-width: 120px; overflow: hidden;
  text-overflow: ellipsis; }
.report .heat td { min-width: 38px; border: 1px solid var(--paper); }
.report .heat .right { box-shadow: inset 0 0 0 1px var(--added); }
.report .list { overscroll-behavior-x: contain; }
@media (max-width: 600px) {
  .report .scale { width: 72px; }
  .report th, .report td { padding-right: 10px; }
  .report th { white-space: normal; }
  .report .name { min-width: 72px; }
  .report .why { min-width: 200px; }
}
"""


# The page


def annotators_page(found, facts, samples):
    """Quality, confusion, agreement and disagreements.

    Parameters
    ----------
    found : Weighed
        What was found.
    facts : dict
        The same in numbers.
    samples : list of str
        What each row is.

    Returns
    -------
    page : str
        The text of the HTML file.
    """
    known = _confusions(found, facts) if facts["one_class"] else _errors(found, facts)
    parts = {
        "What they say together": story(annotators_story(facts)),
        "How good each person is": _people(facts),
        "What is taken for what": known,
    }
    if facts["with_several"]:
        parts["Where they agree"] = _labels(facts)
        parts["Who agrees with whom"] = _pairs(found)
    parts |= {
        "Disagreements worth discussing": _disagreements(found, samples),
        "Where one more answer would help most": _further(found, samples),
        "What to do with it": bullets(_advice(facts)),
    }
    return filled(
        "report.html",
        f"{facts['data']}: several people",
        STYLE + OWN_STYLE,
        facts=f"{facts['n_people']:,} people · {facts['n_samples']:,} rows",
        report=sections(parts),
    )


def _advice(facts):
    yield (
        "Talk about the disagreements with those who disagree: some are slips, others "
        "show a rule that everybody reads in another way. disagreements.csv has all."
    )
    if any("".join(_remarks(line)) for line in facts["people"]):
        yield (
            "Who guesses, or only ever says one thing, did not understand the task or "
            "did not try; his answers hardly count here, so nothing has to be deleted."
        )
    yield (
        "The file consensus is the table with one answer for all; demurk clean and "
        "demurk predict read the table of several people itself and weigh them."
    )


def _people(facts):
    """A bar with its interval for each person."""
    people = facts["people"]
    shown = people
    if len(people) > SHOWN_PEOPLE:
        half = SHOWN_PEOPLE // 2
        shown = [*people[:half], *people[-half:]]
    columns = [
        ("person", "name", "{person}"),
        ("quality", "", lambda line: _scale(line["quality"])),
        ("95 % interval", "number", lambda line: _interval(line["quality"])),
        ("answers", "number", "{answers:,}"),
        ("others say the same", "number", lambda line: _share(line["agrees"])),
        ("remark", "note", lambda line: "; ".join(_remarks(line))),
    ]
    more = len(people) - len(shown)
    middle = f" {more:,} people in the middle are in quality.csv." if more else ""
    return report_table("How good each person is", shown, columns) + (
        "<p>Quality is the share of right answers beyond chance: 1 is always right, 0 "
        "is a guess. Right is what the consensus says, as far as it is sure."
        f"{middle}</p>"
    )


def _remarks(line):
    """What stands beside a person's bar."""
    if line["only"] is not None:
        yield f"never says anything but {line['only']!r}"
    value, low, _ = line["quality"]
    if value is not None and low is not None and low <= 0:
        yield "may be guessing"
    if not line["shared"]:
        yield "nobody else answered these rows"


def _scale(quality):
    value, low, high = (None if v is None else min(max(v, 0), 1) for v in quality)
    if value is None:
        return ""
    line = ""
    if low is not None:
        line = (
            f'<b style="left: {100 * low:.1f}%; width: {100 * (high - low):.1f}%"></b>'
        )
    bar = f'<i style="width: {100 * value:.1f}%"></i>'
    return Markup(f'<span class="scale">{bar}{line}</span>')


def _interval(numbers):
    if numbers[0] is None:
        return "not known"
    # No minus before what rounds to zero.
    value, low, high = (v if v is None else round(v, 2) + 0.0 for v in numbers)
    ends = "" if low is None else f" ({low:.2f} to {high:.2f})"
    return f"{value:.2f}{ends}"


def _share(value):
    return "" if value is None else f"{100 * value:.0f} %"


# Confusion


def _worst_first(facts):
    known = [line["person"] for line in facts["people"]]
    return known[::-1][:SHOWN_PEOPLE]


def _confusions(found, facts):
    """For each person what he answers where a class is true, the worst first."""
    model, names = found.model, [str(name) for name in found.said.classes]
    places = {str(name): k for k, name in enumerate(found.said.names)}
    counts = found.said.answers_per_person
    parts = []
    for number, person in enumerate(_worst_first(facts)):
        if not counts[places[person]]:
            parts.append(f"<p>{html.escape(person)} answered nothing.</p>")
            continue
        confusion = model.confusion_[places[person]]
        wide = len(names) <= WIDEST_TABLE
        body = _heat(confusion, names, person) if wide else ""
        title = f"{person}: {_told_errors(confusion, names)}"
        parts.append(folded(title, body, number < OPEN_PEOPLE))
    return "".join(parts) + (
        "<p>A line says what a person answers where the class at its left is true, in "
        "per cent; confusion.csv has all.</p>"
    )


def _told_errors(confusion, names):
    """The most frequent error in words."""
    errors = np.where(np.eye(len(names), dtype=bool), 0.0, confusion)
    true, given = np.unravel_index(errors.argmax(), errors.shape)
    if errors[true, given] < 0.01:
        return "takes no class for another."
    share = 100 * errors[true, given]
    return f"says '{names[given]}' in {share:.0f} % of the cases of '{names[true]}'."


def _heat(confusion, names, person):
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in names)
    lines, right = [], ' class="right"'
    for j, (name, row) in enumerate(zip(names, confusion)):
        cells = "".join(
            f'<td{right if j == k else ""} style="background: rgb(230 120 40 / '
            f'{0 if j == k else HEAT * share:.0f}%)">{100 * share:.0f}</td>'
            for k, share in enumerate(row)
        )
        lines.append(f'<tr><th scope="row">{html.escape(name)}</th>{cells}</tr>')
    content = f"<tr><td></td>{head}</tr>{''.join(lines)}"
    return boxed(f"What {person} answers", f'<table class="heat">{content}</table>')


def _errors(found, facts):
    """For each person the labels that he adds or leaves out most."""
    lines = found.model.label_quality_
    columns = [
        ("label", "name", "{label}"),
        ("given", "number", "{given:,.0f}"),
        (
            "given though it does not hold",
            "number",
            lambda line: _share(line["extra"]),
        ),
        ("left out though it holds", "number", lambda line: _share(line["missing"])),
        ("quality", "number", lambda line: _ends(line, "quality")),
    ]
    parts = []
    for number, person in enumerate(_worst_first(facts)):
        own = lines[lines["person"].astype(str) == person]
        worst = own.assign(both=own["extra"] + own["missing"])
        worst = worst.sort_values("both", ascending=False).head(SHOWN_ERRORS)
        body = report_table(f"Errors of {person}", worst.to_dict("records"), columns)
        parts.append(folded(person, body, number < OPEN_PEOPLE))
    return "".join(parts) + "<p>confusion.csv has all people and labels.</p>"


def _ends(line, name):
    """A number of a line with its interval."""
    values = (line[name], line["low"], line["high"])
    return _interval([float(v) if np.isfinite(v) else None for v in values])


# Agreement


def _labels(facts):
    """Alpha of each class or label, the lowest first."""
    known = [line for line in facts["labels"] if line["alpha"][0] is not None]
    if not known:
        return f"<p>{html.escape(agreement_line(None, None, None, 1))}</p>"
    lowest = sorted(known, key=lambda line: line["alpha"][0])[:SHOWN_PAIRS]
    columns = [
        ("label", "name", "{label}"),
        ("alpha", "", lambda line: _scale(line["alpha"])),
        ("95 % interval", "number", lambda line: _interval(line["alpha"])),
    ]
    more = len(known) - len(lowest)
    rest = f" {more:,} more are in summary.json." if more else ""
    return report_table("Where they agree", lowest, columns) + (
        f"<p>1 is always, 0 as by chance; the least agreed first.{rest}</p>"
    )


def _pairs(found):
    """Cohen's kappa of two people each, the lowest first."""
    pairs = found.agreement.pairs
    pairs = pairs[np.isfinite(pairs["kappa"])].sort_values("kappa", kind="stable")
    if pairs.empty:
        return "<p>No two people can be compared.</p>"
    columns = [
        ("one", "name", "{first}"),
        ("another", "name", "{second}"),
        ("rows of both", "number", "{both:,}"),
        ("Cohen’s kappa", "number", lambda line: _ends(line, "kappa")),
    ]
    lines, more = pairs.to_dict("records"), "pairs agree better."
    return report_table("Who agrees with whom", lines, columns, SHOWN_PAIRS, more)


# Disagreements


def _disagreements(found, samples):
    """What people disagree about, the least certain first."""
    lines = found.disagreements
    if lines.empty:
        return "<p>None: whoever answered the same row said the same.</p>"
    count = int((lines["wrong_proba"] >= UNSURE).sum())
    count = min(max(count, SHOWN_AT_LEAST), SHOWN_DISAGREEMENTS)
    columns = [
        ("P(wrong)", "number", "{wrong_proba:.2f}"),
        ("sample", "name", lambda line: _title(line["row"], samples)),
        ("consensus", "name", _consensus),
        ("who says what", "why", "{said}"),
    ]
    lines, more = lines.to_dict("records"), "surer ones are in disagreements.csv."
    title = "Disagreements worth discussing"
    return report_table(title, lines, columns, count, more)


def _consensus(line):
    if "label" in line:
        return f"{line['label']}: {'yes' if line['consensus'] else 'no'}"
    return str(line["consensus"])


def _title(number, samples):
    return row_title(number, samples[number - 1])[:LONGEST_TITLE]


def _further(found, samples):
    """Rows that somebody else should look at."""
    columns = [
        ("probably wrong", "number", "{expected_wrong:.2f}"),
        ("sample", "name", lambda line: _title(line["row"], samples)),
        ("answers so far", "number", "{answers}"),
    ]
    lines = found.further.head(SHOWN_FURTHER).to_dict("records")
    return report_table("Where one more answer would help most", lines, columns) + (
        "<p>Where the consensus is least certain, also if nobody disagrees yet; "
        "further.csv has all rows in this order. Where a row fools everybody, ask "
        "somebody who knows.</p>"
    )
