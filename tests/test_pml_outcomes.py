"""Wins, ties and losses over several committed runs."""

import pandas as pd
import pytest
from doc import claim_values, pml_outcomes


def rows(data_set, setting, **methods):
    """Rows of all measures, given losses of the methods by seed."""
    values = [
        {"data_set": data_set, "setting": setting, "method": m.replace("_", "-")}
        | {"seed": seed, "average precision": 1 - loss}
        | dict.fromkeys(pml_outcomes.MEASURES[:4], loss)
        for m, losses in methods.items()
        for seed, loss in enumerate(losses)
    ]
    return pd.DataFrame(values)


@pytest.fixture
def runs(monkeypatch, tmp_path):
    low, high = [0.1, 0.11, 0.12], [0.2, 0.22, 0.21]
    found = {
        "pml-lcom-large": rows("bibtex", "a=1", PML_LCom=high, REML=low),
        "pml-lcom-tables": pd.concat(
            [
                rows("bibtex", "a=1", PML_LCom=low, REML=high, DRAMA=high),
                rows("medical", "a=1", PML_LCom=low, REML=high),
                rows("medical", "a=2", PML_LCom=low, REML=low[::-1]),
                rows("slashdot", "a=1", PML_LCom=low[:2], REML=high[:2]),
            ]
        ),
    }
    for name in found:
        (tmp_path / f"{name}.csv").touch()
    monkeypatch.setattr(claim_values, "BENCH", tmp_path)
    monkeypatch.setattr(claim_values, "read_rows", found.__getitem__)


def test_each_place_counts_once_and_with_three_splits(runs):
    counts = pml_outcomes.outcomes("PML-LCom")
    for measure in pml_outcomes.MEASURES:
        # Lost where settings were chosen for all splits, which is looked at first.
        assert counts[measure, "REML"] == {"win": 1, "tie": 1, "loss": 1}
        assert counts[measure, "DRAMA"] == {"win": 1, "tie": 0, "loss": 0}
        assert not any(counts[measure, "CPLST"].values())


def test_printed_counts_stand_beside_ours(runs):
    table = {line[0]: line[1:] for line in pml_outcomes.lines("PML-LCom")}
    reml = pml_outcomes.RIVALS.index("REML")
    assert table["ranking loss"][reml] == "1/1/1 (20/1/0)"
