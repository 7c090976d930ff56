"""Settings that are chosen once: on the first splits, by candidates, for all splits."""

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from demurk.benchmark.tasks import (
    _fixed_choice,
    partial_multilabel,
    partial_multilabel_fixed,
    pml_split,
)
from demurk.benchmark.tasks._fixed_choice import _chosen
from demurk.benchmark.tasks._partial_multilabel import _data
from demurk.metrics import ranking_loss
from demurk.multilabel import MLkNN

GRID = {"n_neighbors": [1, 20]}
METHOD = {"estimator": "demurk.multilabel.MLkNN", "grid": GRID}
PLACE = {"amount": 1.0, "max_samples": 400}


@pytest.fixture(autouse=True)
def fresh():
    _chosen.cache_clear()


def without_seconds(report):
    return {k: v for k, v in report.items() if k != "seconds"}


def test_scores_are_those_of_the_same_settings_for_all_splits():
    chosen = []
    for seed in (0, 5):
        found = partial_multilabel_fixed("synthetic", METHOD, seed, **PLACE)
        for k in GRID["n_neighbors"]:
            fixed = {"estimator": METHOD["estimator"], "params": {"n_neighbors": k}}
            expected = partial_multilabel("synthetic", fixed, seed, **PLACE)
            if without_seconds(found) == without_seconds(expected):
                chosen.append(k)
    assert len(chosen) == 2 and len(set(chosen)) == 1


def test_settings_have_the_least_loss_over_the_first_splits(monkeypatch):
    losses = {1: 0.0, 20: 0.0}
    for seed in range(3):
        split = pml_split(_data("synthetic", False, 400), seed, 1.0)
        rows = np.random.RandomState(seed).permutation(len(split.given))[:100]
        train, held = train_test_split(rows, test_size=0.2, random_state=seed)
        for k in losses:
            model = MLkNN(k).fit(split.X_train[train], split.given[train])
            scores = model.predict_proba(split.X_train[held])
            losses[k] += ranking_loss(split.given[held], scores)
    best = min(losses, key=losses.get)
    seen = []
    monkeypatch.setattr(
        _fixed_choice, "partial_multilabel", lambda *a, **k: seen.append(a[1]) or {}
    )
    partial_multilabel_fixed("synthetic", METHOD, 7, choosing_rows=100, **PLACE)
    assert seen == [{"estimator": METHOD["estimator"], "params": {"n_neighbors": best}}]


def test_the_choice_is_made_once(monkeypatch):
    fitted = []
    monkeypatch.setattr(
        _fixed_choice, "ranking_loss", lambda *a: fitted.append(1) or 0.0
    )
    for seed in range(3):
        partial_multilabel_fixed("synthetic", METHOD, seed, **PLACE)
    assert len(fitted) == 2 * 3


def test_without_a_grid_it_is_the_plain_task_and_large_data_are_skipped():
    plain = {"estimator": "demurk.multilabel.MLkNN"}
    found = partial_multilabel_fixed("synthetic", plain, 1, **PLACE)
    expected = partial_multilabel("synthetic", plain, 1, **PLACE)
    assert without_seconds(found) == without_seconds(expected)
    small = METHOD | {"max_labels": 3}
    skipped = partial_multilabel_fixed("synthetic", small, 0, **PLACE)
    assert skipped == {"skipped": "too large: 4 labels, at most 3"}
