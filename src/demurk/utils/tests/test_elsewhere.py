"""Rows that live elsewhere go to the room that works there."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import inspect
from types import SimpleNamespace

import numpy as np
import pytest

from demurk.graph import nearest_neighbors
from demurk.projection import MDDM
from demurk.utils import _elsewhere


class Rows:
    """An array of a package that has a room."""


Rows.__module__ = "torch.far.away"


@pytest.fixture
def calls(monkeypatch):
    """What the room was asked for."""
    calls = []
    room = SimpleNamespace(run=lambda *args, **kwargs: calls.append((args, kwargs)))
    monkeypatch.setattr(_elsewhere, "import_module", lambda name: room)
    return calls


@pytest.mark.parametrize("method", ["fit", "transform", "fit_transform"])
def test_methods_hand_their_rows_on(calls, method):
    rows, reducer = Rows(), MDDM(2)
    if method == "fit_transform":  # from scikit-learn: a call of each of the others
        with pytest.raises(AttributeError):
            reducer.fit_transform(rows, "labels")
        method = "fit"
    else:
        getattr(reducer, method)(rows, *(["labels"] if method == "fit" else []))
    (function, owner, X, *_), _ = calls[0]
    assert function.__name__ == method
    assert owner is reducer
    assert X is rows


def test_rows_may_be_named(calls):
    rows = Rows()
    MDDM(2).fit(X=rows, y="labels")
    nearest_neighbors(X=rows, n_neighbors=3)
    assert [kwargs["X"] is rows for _, kwargs in calls] == [True, True]


def test_rows_in_memory_stay(calls):
    X = np.arange(12.0).reshape(6, 2) ** 2
    MDDM(1).fit(X, [0, 1, 0, 1, 1, 0]).transform(X)
    nearest_neighbors(X, 2)
    assert not calls


def test_signatures_stay():
    names = list(inspect.signature(MDDM.fit).parameters)
    assert names == ["self", "X", "y", "observed", "sample_weight"]
    assert "n_neighbors" in inspect.signature(nearest_neighbors).parameters
