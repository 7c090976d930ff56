"""What was measured on a GPU is right, and its tables are those of the pages."""

import json
from pathlib import Path

import pytest
from doc.device_tables import device_tables, share
from doc.tables import list_table

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = json.loads((ROOT / "results" / "device.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("line", DOCUMENT["searches"], ids=lambda line: line["data"])
def test_searches_are_exact(line):
    assert line["checked_rows"] == line["equal_rows"] == 2_000
    if line["certified_at_once"] < 1:  # the others were searched again
        assert line["parts"].keys() & {"second search", "last search"}


def test_what_was_promised_holds():
    times = {(s["data"], s["features"]): s["seconds"] for s in DOCUMENT["searches"]}
    assert times["normal", 320] <= 2.1
    assert times["normal", 128] <= 15
    assert DOCUMENT["fit"]["seconds"] <= 2.6
    assert DOCUMENT["fit"]["labels"] == 20


@pytest.mark.parametrize("line", DOCUMENT["agreement"], ids=lambda li: li["estimator"])
def test_estimators_agree_with_memory(line):
    assert "angle" in line or "equal_predictions" in line
    assert line.get("angle", 0) < 1e-6
    assert line.get("equal_predictions", 1) == 1


def test_every_table_is_on_the_page():
    page = (ROOT / "doc/user_guide/scale.rst").read_text(encoding="utf-8")
    for name, text in device_tables(DOCUMENT, list_table).items():
        assert f".. include:: ../_tables/{name}.rst" in page
        assert text.startswith(".. list-table:: ")


def test_shares_are_all_only_where_they_are():
    assert [share(x) for x in (1.0, 0.0, 0.5)] == ["100 %", "0 %", "50.0000 %"]
    assert share(1 - 1e-9) == "99.9999 %"
