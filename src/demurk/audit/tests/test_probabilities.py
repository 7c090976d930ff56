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
