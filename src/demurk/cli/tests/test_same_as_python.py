"""The commands say what Python says about the same features, to the last digit."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

from demurk.audit import LabelAudit
from demurk.audit._words import UnknownRateWarning
from demurk.cli.tests.test_tables import (
    as_candidates,
    as_class,
    as_digits,
    as_found_class,
    as_tags,
    as_text,
    run,
)
from demurk.datasets import read_table
from demurk.multilabel import MurkyClassifier
from demurk.partial_label import IPAL
from demurk.projection import NMLSDR

pytest.importorskip("skrub")

NAMES = {"--class": "class_", "--tags": "tags", "--text": "text"}


def digits_of(values):
    """Numbers as the commands write them."""
    return [[f"{value:.6g}" for value in row] for row in np.asarray(values, float)]


def cells(path, **pattern):
    """The cells of a file as they stand there, of the columns that fit."""
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    return frame.filter(**pattern).to_numpy().tolist()


@pytest.mark.parametrize(
    "form",
    [as_class, as_found_class, as_digits, as_tags, as_text],
    ids=["iris", "wine", "digits", "emotions", "text"],
)
def test_every_command_says_what_python_says(form, data_home, tmp_path):
    path, *options = form(tmp_path, data_home)
    words = dict(zip(options[::2], options[1::2]))
    table = read_table(path, **{NAMES[key]: word for key, word in words.items()})
    X, y = table.features, table.y
    model = MurkyClassifier(members="fast", random_state=0, n_jobs=-1).fit(X, y)
    out = run("predict", [path, *options], tmp_path)
    blank = np.flatnonzero(~table.labels.labeled)
    found = cells(out / "predictions.csv", like=": probability")
    expected = digits_of(model.predict_proba(X[blank]))
    assert [found[row] for row in blank] == expected
    audit = LabelAudit(random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownRateWarning)
        audit.fit(X, y)
    out = run("clean", [path, *options], tmp_path)
    suspects = pd.read_csv(out / "suspects.csv")
    scores = audit.scores_[suspects["row"] - 1]
    if scores.ndim == 2:
        place = {str(name): j for j, name in enumerate(audit.classes_)}
        columns = [place[str(name)] for name in suspects["label"]]
        scores = scores[np.arange(len(scores)), columns]
    assert len(suspects)
    assert cells(out / "suspects.csv", items=["score"]) == digits_of(scores[:, None])
    Z = StandardScaler().fit_transform(X)
    expected = NMLSDR(n_jobs=-1).fit(Z, y).transform(Z)
    out = run("reduce", [path, *options], tmp_path)
    assert cells(out / "embedding.csv", like="component_") == digits_of(expected)


def test_candidates_say_what_python_says(data_home, tmp_path):
    path, _, column = as_candidates(tmp_path, data_home)
    table = read_table(path, candidates=column)
    X = StandardScaler().fit_transform(table.features)
    model = IPAL().fit(X, table.y.to_numpy())
    out = run("predict", [path, "--candidates", column], tmp_path)
    written = pd.read_csv(out / "predictions.csv", dtype={"predicted": str})
    expected = table.labels.classes[model.predict(X).astype(int)]
    assert written["predicted"].tolist() == expected.tolist()
    out = run("clean", [path, "--candidates", column], tmp_path)
    suspects = pd.read_csv(out / "suspects.csv")
    sizes = table.labels.values.sum(axis=1)
    assert len(suspects) == (sizes[sizes > 0] - 1).sum()
    cleaned = read_table(out / "cleaned.csv", candidates=column)
    assert (cleaned.labels.values.sum(axis=1) >= (sizes > 0)).all()
