"""Every number that the documentation publishes is that of the committed rows."""

import pandas as pd
import pytest
from doc import claim_values, claims

README = "README.md"


@pytest.mark.parametrize("page", claims.PAGES)
def test_numbers_hold(page):
    assert claims.problems(page, claims.read(page)) == []


def test_every_claim_is_published():
    texts = map(claims.read, claims.PAGES)
    used = {name for text in texts for *_, name in claims.claims_of(text)}
    assert used == set(claims.CLAIMS)


def test_a_number_changed_by_hand_is_found():
    text = claims.read(README)
    match, shown, name = next(claims.claims_of(text))
    start = match.start()
    changed = text[:start] + text[start:].replace(shown, "0.99", 1)
    (found,) = claims.problems(README, changed)
    assert f"{name} is {shown} by the committed rows, not 0.99" in found
    assert claims.rewritten(changed) == text


def test_a_row_changed_by_hand_is_found(monkeypatch):
    name, (_, make) = "digits.forest", claims.CLAIMS["digits.forest"]
    rows = claim_values.read_rows("ssdrmc-digits")
    assert f"{make():.3f}" == claims.text_of(name)
    forest = rows["method"] == "Random forest"
    changed = rows.assign(**{"micro F1": rows["micro F1"].where(~forest, 0.5)})
    monkeypatch.setattr(claim_values, "read_rows", lambda _: changed)
    monkeypatch.setattr(claims, "evaluated", claims.evaluated.__wrapped__)
    found = claims.problems(page := f"{claims.GUIDE}/benchmark.rst", claims.read(page))
    assert [f for f in found if name in f and "is 0.500 by" in f]


@pytest.mark.parametrize(
    "sentence, number",
    [
        ("It has 0.93 there.", "'0.93"),
        ("It wins on nine of ten sets.", "'nine of ten'"),
        ("It wins on 30 % of the sets.", "'30'"),
    ],
)
def test_a_number_for_itself_is_found(sentence, number):
    text = claims.read(README).replace("## Install", f"{sentence}\n\n## Install")
    (found,) = claims.problems(README, text)
    assert number in found and "is no claim" in found


def test_what_is_no_result_may_stand():
    page = f"{claims.GUIDE}/speed.rst"
    cost = f":claim:`{claims.text_of('few.cost.low')} <few.cost.low>`"
    text = f"In table 3, ``k=7``, *Claim: 0.9 is best.*, {cost}."
    assert claims.problems(page, text + "\n\n::\n\n    run 12\n\n") == []


def test_unknown_names_and_missing_rows_are_told(monkeypatch):
    page = f"{claims.GUIDE}/speed.rst"
    (found,) = claims.problems(page, ":claim:`1 <nobody.knows>`")
    assert found == f"{page}: there is no claim 'nobody.knows'."
    rows = pd.DataFrame(columns=["data_set", "setting", "method", "AP"])
    monkeypatch.setattr(claim_values, "read_rows", lambda _: rows)
    with pytest.raises(ValueError, match="x has no rows of 'm'"):
        claim_values.mean("x", "AP", "m")
