"""What ``demurk annotators`` says in words."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from demurk.utils._amounts import amount

__all__ = ["agreement_line", "annotators_story"]

# Customary limits of Krippendorff's alpha for firm and for tentative conclusions.
FIRM, TENTATIVE = 0.8, 0.667
# Below this a person's labels say hardly more than chance.
GUESSING = 0.1


def agreement_line(alpha, low, high, with_several):
    """How far people agree, in a sentence.

    Parameters
    ----------
    alpha, low, high : float or None
        Krippendorff's alpha and the ends of its interval; None or NaN if not known.
    with_several : int
        Rows that several people answered.

    Returns
    -------
    sentence : str
        In words.
    """
    if not with_several:
        return "No row has the answers of two people, so their agreement is not known."
    if alpha is None or np.isnan(alpha):
        return "Everybody always gives the same answer, which is no measure of quality."
    words = "well" if alpha >= FIRM else "fairly" if alpha >= TENTATIVE else "poorly"
    if alpha < GUESSING:
        words = "hardly more than by chance"
    known = low is not None and np.isfinite([low, high]).all()
    interval = f" ({low:.2f} to {high:.2f})" if known else ""
    return f"They agree {words}: Krippendorff's alpha is {alpha:.2f}{interval}."


def size_line(facts):
    """How much there is, in a sentence."""
    what = "classes" if facts["one_class"] else "labels"
    text = (
        f"{facts['n_people']:,} people gave {facts['n_answers']:,} answers about "
        f"{facts['n_samples']:,} rows ({facts['n_labels']:,} {what}); "
        f"{facts['with_several']:,} rows have several answers"
    )
    if facts["without_answer"]:
        text += f", rows that have none and stay blank: {facts['without_answer']:,}"
    return f"{text}."


def annotators_story(facts):
    """The findings in sentences."""
    yield agreement_line(*facts["alpha"], facts["with_several"])
    yield size_line(facts)
    what = ("row", "rows") if facts["one_class"] else ("entry", "entries")
    by = "their answers and the features" if facts["with_features"] else "their answers"
    wrong = amount(round(facts["expected_wrong"]), *what)
    yield (
        f"They disagree about {amount(facts['disagreements'], *what)}; to judge by "
        f"{by}, the consensus will be wrong about {wrong}."
    )
    known = [line for line in facts["people"] if line["quality"][0] is not None]
    if len(known) > 1:
        best, worst = known[0], known[-1]
        yield (
            f"Quality beyond chance goes from {worst['quality'][0]:.2f} "
            f"({worst['person']}) to {best['quality'][0]:.2f} ({best['person']})."
        )
    for line in facts["people"]:
        if line["only"] is not None:
            yield f"{line['person']} only ever says {line['only']!r}."
