"""Probabilities that do not know the label they judge."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from demurk.audit import _probabilities
from demurk.audit._probabilities import out_of_sample_proba, scaled_features


@pytest.mark.parametrize("single", [False, True])
def test_kernel_ridge_would_read_the_own_label_without_the_mirror(monkeypatch, single):
    # Features say nothing about the labels, so that the kernel gives up: its score of a
    # row is the mean of the others, which is lower where the own label is a one.
    X = np.random.RandomState(0).normal(size=(200, 300))
    first = np.arange(200) % 2
    Y = np.column_stack([first, 1 - first] if single else [first]).astype(float)
    monkeypatch.setattr(_probabilities, "MEMBERS", {single: ("kernel ridge",)})

    def told_apart():
        params = {"n_estimators": 1, "n_jobs": 1, "random_state": 0}
        seen = np.ones(Y.shape, bool)
        scaled = scaled_features(X)
        proba = out_of_sample_proba(
            X, scaled, Y, seen, single, params, lambda name: nullcontext()
        )
        return abs(roc_auc_score(Y[:, 0], proba[:, 0]) - 0.5)

    honest = told_apart()
    monkeypatch.setattr(_probabilities, "mirror", lambda Y, means, n_rows: 0.0)
    leak = told_apart()
    assert leak > 0.45 and honest < 0.1


def test_the_member_that_predicts_better_counts_more(rng, monkeypatch):
    # Stripes along two features: steps for a forest, too narrow for the kernel.
    X = rng.uniform(size=(300, 6))
    Y = np.floor(4 * X[:, :2]) % 2
    params = {"n_estimators": 30, "n_jobs": 1, "random_state": 0}

    def error():
        seen = np.ones(Y.shape, bool)
        proba = out_of_sample_proba(X, scaled_features(X), Y, seen, False, params)
        return np.mean((Y - proba) ** 2)

    weighed = error()
    monkeypatch.setattr(_probabilities, "stack_weights", lambda *_: [0.5, 0.5])
    assert weighed < 0.95 * error()
