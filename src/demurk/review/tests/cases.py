"""Small tables for the tests of this room."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import pandas as pd

from demurk.datasets import read_table
from demurk.review._ranking import Ranking, rank_labels
from demurk.review._session import Session
from demurk.review._store import Store, store_path

NAMES = ("calm", "happy", "sad")


def emotions_file(folder, n_rows=120, unlabelled=4, text=None):
    """A table with three labels; returns the file and the entries that are wrong."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 5))
    truth = (X[:, :3] > 0.2).astype(int)
    wrong = rng.random(truth.shape) < 0.06
    labels = np.where(wrong, 1 - truth, truth).astype(object)
    labels[n_rows - unlabelled :] = ""
    wrong[n_rows - unlabelled :] = False
    frame = pd.DataFrame(X.round(4), columns=[f"x{j}" for j in range(5)])
    frame.insert(0, "id", [f"song {k}" for k in range(n_rows)])
    if text is not None:
        frame["words"] = text
    for j, name in enumerate(NAMES):
        frame[f"label:{name}"] = labels[:, j]
    path = folder / "songs.csv"
    frame.to_csv(path, index=False)
    return path, wrong


def flowers_file(folder, n_rows=90, unlabelled=3):
    """A table with one class of three per row; returns the file and the true ones."""
    rng = np.random.default_rng(1)
    kind = np.arange(n_rows) % 3
    X = rng.normal(size=(n_rows, 4)) * 0.5 + 3 * np.eye(3, 4)[kind]
    names = np.array(["iris", "lily", "rose"])
    given = names[np.where(np.arange(n_rows) % 11 == 5, (kind + 1) % 3, kind)]
    given = given.astype(object)
    given[n_rows - unlabelled :] = ""
    frame = pd.DataFrame(X.round(4), columns=[f"x{j}" for j in range(4)])
    path = folder / "flowers.csv"
    frame.assign(species=given).to_csv(path, index=False)
    return path, names[kind]


def pets_file(folder, n_rows=60):
    """A table of candidates; returns the file and the true classes."""
    rng = np.random.default_rng(2)
    kind = np.arange(n_rows) % 3
    X = rng.normal(size=(n_rows, 3)) * 0.4 + 3 * np.eye(3)[kind]
    names = np.array(["cat", "dog", "lynx"])
    sets = [
        names[k] if row % 2 else "|".join(sorted({names[k], names[(k + 1) % 3]}))
        for row, k in enumerate(kind)
    ]
    sets[0], sets[-1] = "cat|dog|lynx", ""
    path = folder / "pets.csv"
    frame = pd.DataFrame(X.round(3), columns=list("abc")).assign(pet=sets)
    frame.insert(0, "id", [f"pet {k}" for k in range(n_rows)])
    frame.to_csv(path, index=False)
    return path, names[kind]


def known_ranking(table, wrong):
    """Errors first, each with probability 0.9; a test waits for no forest."""
    labels = table.labels
    if labels.single:
        given = labels.classes[labels.values.argmax(axis=1)]
        score = np.where(given != wrong, 0.9, 0.02)
        score = np.where(labels.labeled, score, np.nan)
        index = {name: j for j, name in enumerate(labels.classes)}
        suggested = np.array([index[name] for name in wrong])
        same = score < 0.5
        suggested[same] = (suggested[same] + 1) % len(index)
        known = np.flatnonzero(labels.labeled)
        order = known[np.argsort(-score[known], kind="stable")]
        return Ranking(order, score, suggested, np.nan_to_num(score))
    score = np.where(wrong, 0.9, 0.02)
    score = np.where(labels.observed, score, np.nan).ravel()
    known = np.flatnonzero(np.isfinite(score))
    return Ranking(known[np.argsort(-score[known], kind="stable")], score)


def open_session(path, wrong, *, reading=None, **options):
    """A session on a file, with its own store; without errors, ranked in earnest."""
    table = read_table(path, **(reading or {}))
    store = Store(store_path(path))
    if wrong is None:
        ranking = rank_labels(table.features, table.labels)
    else:
        ranking = known_ranking(table, wrong)
    return Session(table, store, ranking, **options)
