"""The page of ``demurk annotators``: quality, confusion, agreement, disagreements."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import html

import numpy as np

from demurk.cli._annotators_story import agreement_line, annotators_story
from demurk.cli._clean_page import STYLE, _bullets
from demurk.viz._report import report_page

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
    verdict, *story = annotators_story(facts)
    parts = [
        "<h2>What they say together</h2>",
        f'<p class="verdict">{html.escape(verdict)}</p>',
        _bullets(story),
        "<h2>How good each person is</h2>",
        _people(facts),
        "<h2>What is taken for what</h2>",
        _confusions(found, facts) if facts["one_class"] else _errors(found, facts),
    ]
    if facts["with_several"]:
        parts += ["<h2>Where they agree</h2>", _labels(facts)]
        parts += ["<h2>Who agrees with whom</h2>", _pairs(found)]
    parts += [
        "<h2>Disagreements worth discussing</h2>",
        _disagreements(found, samples),
        "<h2>Where one more answer would help most</h2>",
        _further(found, samples),
        "<h2>What to do with it</h2>",
        _bullets(_advice(facts)),
    ]
    return report_page(
        f"{facts['data']}: several people",
        f"{facts['n_people']:,} people · {facts['n_samples']:,} rows",
        "\n".join(parts),
        STYLE + OWN_STYLE,
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
    rows = [
        f'<tr><td class="name">{html.escape(line["person"])}</td>'
        f"<td>{_scale(line['quality'])}</td>"
        f'<td class="number">{_interval(line["quality"])}</td>'
        f'<td class="number">{line["answers"]:,}</td>'
        f'<td class="number">{_share(line["agrees"])}</td>'
        f'<td class="note">{html.escape("; ".join(_remarks(line)))}</td></tr>'
        for line in shown
    ]
    more = len(people) - len(shown)
    middle = f" {more:,} people in the middle are in quality.csv." if more else ""
    return (
        f"{_region('How good each person is')}<table><tr><th>person</th>"
        '<th>quality</th><th class="number">95 % interval</th><th class="number">'
        'answers</th><th class="number">others say the same</th><th>remark</th></tr>'
        f"{''.join(rows)}</table></div><p>Quality is the share of right answers beyond "
        "chance: 1 is always right, 0 is a guess. Right is what the consensus says, as "
        f"far as it is sure.{middle}</p>"
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
    return f'<span class="scale"><i style="width: {100 * value:.1f}%"></i>{line}</span>'


def _interval(numbers):
    if numbers[0] is None:
        return "not known"
    # No minus before what rounds to zero.
    value, low, high = (v if v is None else round(v, 2) + 0.0 for v in numbers)
    ends = "" if low is None else f" ({low:.2f} to {high:.2f})"
    return f"{value:.2f}{ends}"


def _share(value):
    return "" if value is None else f"{100 * value:.0f} %"


def _region(name):
    return f'<div class="list" tabindex="0" role="region" aria-label="{name}">'


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
        confusion = model.confusion_[places[person]]
        told = _told_errors(confusion, names)
        wide = len(names) <= WIDEST_TABLE
        body = _heat(confusion, names, person) if wide else ""
        opened = " open" if number < OPEN_PEOPLE else ""
        parts.append(
            f"<details{opened}><summary>{html.escape(person)}: "
            f"{html.escape(told)}</summary>{body}</details>"
            if counts[places[person]]
            else f"<p>{html.escape(person)} answered nothing.</p>"
        )
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
    lines = []
    for j, (name, row) in enumerate(zip(names, confusion)):
        cells = "".join(
            f'<td{_mark(j == k)} style="background: rgb(230 120 40 / '
            f'{0 if j == k else HEAT * share:.0f}%)">{100 * share:.0f}</td>'
            for k, share in enumerate(row)
        )
        lines.append(f'<tr><th scope="row">{html.escape(name)}</th>{cells}</tr>')
    label = html.escape(f"What {person} answers", quote=True)
    return (
        f'{_region(label)}<table class="heat"><tr><td></td>{head}</tr>'
        f"{''.join(lines)}</table></div>"
    )


def _mark(right):
    return ' class="right"' if right else ""


def _errors(found, facts):
    """For each person the labels that he adds or leaves out most."""
    lines = found.model.label_quality_
    parts = []
    for number, person in enumerate(_worst_first(facts)):
        own = lines[lines["person"].astype(str) == person]
        worst = own.assign(both=own["extra"] + own["missing"])
        worst = worst.sort_values("both", ascending=False).head(SHOWN_ERRORS)
        rows = "".join(
            f'<tr><td class="name">{html.escape(str(line["label"]))}</td>'
            f'<td class="number">{line["given"]:,.0f}</td>'
            f'<td class="number">{100 * line["extra"]:.0f} %</td>'
            f'<td class="number">{100 * line["missing"]:.0f} %</td>'
            f'<td class="number">{_ends(line, "quality")}</td></tr>'
            for line in worst.to_dict("records")
        )
        opened = " open" if number < OPEN_PEOPLE else ""
        label = html.escape(f"Errors of {person}", quote=True)
        parts.append(
            f"<details{opened}><summary>{html.escape(person)}</summary>"
            f'{_region(label)}<table><tr><th>label</th><th class="number">given</th>'
            '<th class="number">given though it does not hold</th><th class="number">'
            'left out though it holds</th><th class="number">quality</th></tr>'
            f"{rows}</table></div></details>"
        )
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
    rows = "".join(
        f'<tr><td class="name">{html.escape(line["label"])}</td>'
        f"<td>{_scale(line['alpha'])}</td>"
        f'<td class="number">{_interval(line["alpha"])}</td></tr>'
        for line in lowest
    )
    more = len(known) - len(lowest)
    rest = f" {more:,} more are in summary.json." if more else ""
    return (
        f"{_region('Where they agree')}<table><tr><th>label</th><th>alpha</th>"
        f'<th class="number">95 % interval</th></tr>{rows}</table></div>'
        f"<p>1 is always, 0 as by chance; the least agreed first.{rest}</p>"
    )


def _pairs(found):
    """Cohen's kappa of two people each, the lowest first."""
    pairs = found.agreement.pairs
    pairs = pairs[np.isfinite(pairs["kappa"])].sort_values("kappa", kind="stable")
    if pairs.empty:
        return "<p>No two people can be compared.</p>"
    rows = "".join(
        f'<tr><td class="name">{html.escape(str(line["first"]))}</td>'
        f'<td class="name">{html.escape(str(line["second"]))}</td>'
        f'<td class="number">{line["both"]:,}</td>'
        f'<td class="number">{_ends(line, "kappa")}</td></tr>'
        for line in pairs.head(SHOWN_PAIRS).to_dict("records")
    )
    more = len(pairs) - SHOWN_PAIRS
    rest = f"<p>{more:,} pairs agree better.</p>" if more > 0 else ""
    return (
        f"{_region('Who agrees with whom')}<table><tr><th>one</th><th>another</th>"
        '<th class="number">rows of both</th><th class="number">Cohen’s kappa</th></tr>'
        f"{rows}</table></div>{rest}"
    )


# Disagreements


def _disagreements(found, samples):
    """What people disagree about, the least certain first."""
    lines = found.disagreements
    if lines.empty:
        return "<p>None: whoever answered the same row said the same.</p>"
    rows = []
    count = int((lines["wrong_proba"] >= UNSURE).sum())
    count = min(max(count, SHOWN_AT_LEAST), SHOWN_DISAGREEMENTS)
    for line in lines.head(count).to_dict("records"):
        given = str(line["consensus"])
        if "label" in line:
            given = f"{line['label']}: {'yes' if line['consensus'] else 'no'}"
        rows.append(
            f'<tr><td class="number">{line["wrong_proba"]:.2f}</td>'
            f'<td class="name">{_title(line["row"], samples)}</td>'
            f'<td class="name">{html.escape(given)}</td>'
            f'<td class="why">{html.escape(line["said"])}</td></tr>'
        )
    more = len(lines) - len(rows)
    rest = f"<p>{more:,} surer ones are in disagreements.csv.</p>" if more else ""
    return (
        f"{_region('Disagreements worth discussing')}<table><tr>"
        '<th class="number">P(wrong)</th><th>sample</th><th>consensus</th>'
        f"<th>who says what</th></tr>{''.join(rows)}</table></div>{rest}"
    )


def _title(number, samples):
    title, sample = f"row {number}", samples[number - 1]
    title = title if sample == title else f"{title} · {sample}"
    return html.escape(title[:LONGEST_TITLE])


def _further(found, samples):
    """Rows that somebody else should look at."""
    lines = found.further.head(SHOWN_FURTHER).to_dict("records")
    rows = "".join(
        f'<tr><td class="number">{line["expected_wrong"]:.2f}</td>'
        f'<td class="name">{_title(line["row"], samples)}</td>'
        f'<td class="number">{line["answers"]}</td></tr>'
        for line in lines
    )
    return (
        f"{_region('Where one more answer would help most')}<table><tr>"
        '<th class="number">probably wrong</th><th>sample</th><th class="number">'
        f"answers so far</th></tr>{rows}</table></div><p>Where the consensus is least "
        "certain, also if nobody disagrees yet; further.csv has all rows in this "
        "order. Where a row fools everybody, ask somebody who knows.</p>"
    )
