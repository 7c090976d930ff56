"""One task of the SLE-ML figures: draw a map and measure what it shows."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import lru_cache
from itertools import combinations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from demurk.benchmark.tasks._common import (
    file_checksum,
    make_estimator,
    quiet,
    reason_to_skip,
)
from demurk.benchmark.tasks._data import dense
from demurk.datasets import load_dataset, make_clusdat, make_torus
from demurk.graph import nearest_neighbors

__all__ = ["embedding", "label_agreement"]

GENERATORS = {"torus": make_torus, "clusdat": make_clusdat}
# Neighbours on the map that tell what a sample is, and in the features to be kept.
N_LOOK, N_KEPT = 5, 15
# The paper's number of neighbours, in mean class sizes.
CLASS_SIZES = 1.5
# Pairs of labels with fewer samples say nothing about where they lie.
SMALLEST_PAIR = 5


def embedding(
    data_set,
    method,
    seed,
    *,
    split="all",
    share=1.0,
    n_samples=None,
    max_neighbors=None,
):
    """Draw a map with all labels and measure what a reader sees on it.

    Parameters
    ----------
    data_set : str
        "torus" or "clusdat", generated with the seed, or a known data set.
    method : dict
        ``estimator`` and its ``params``. ``n_neighbors = "paper"`` stands for 1.5 times
        the mean class size, classes being the distinct label sets.
    seed : int
        Seed of the generated data, of the part of other data, and of random methods.
    split : str, default="all"
        Part of a known data set.
    share : float, default=1.0
        Random share of the rows of a known data set. Maps hardly know chance: how far
        they depend on the sample is seen in this way.
    n_samples : int, default=None
        Number of samples; None takes the paper's.
    max_neighbors : int, default=None
        Largest number of neighbours that "paper" may stand for.

    Returns
    -------
    report : dict of str to float
        - "label agreement": how far the five nearest samples on the map share the
          labels of a sample, the mean Jaccard similarity of label sets;
        - "agreement in features": the same before any map was drawn. What the map
          shows beyond this is not in the data;
        - "kept neighbours": share of the 15 nearest in the features that are among the
          15 nearest on the map;
        - "connectedness": share of the samples in the largest piece of the map, where
          each sample holds on to its five nearest;
        - "between", for several labels per sample: share of the samples with two labels
          that lie between the middles of those with one of the two, in the direction
          from the one to the other.

    Examples
    --------
    >>> from demurk.benchmark.tasks import embedding
    >>> method = {"estimator": "demurk.manifold.SLEML"}
    >>> report = embedding("torus", method, 0, n_samples=200)
    >>> bool(report["label agreement"] > 0.9)
    True
    """
    X, Y = _data(data_set, seed, split, share, n_samples)
    reason = reason_to_skip(method, *Y.shape)
    if reason is not None:
        return {"skipped": reason}
    if method.get("params", {}).get("n_neighbors") == "paper":
        n_classes = len(np.unique(Y, axis=0))
        number = min(int(CLASS_SIZES * len(Y) / n_classes), max_neighbors or len(Y))
        method = method | {"params": method["params"] | {"n_neighbors": number}}
    model = make_estimator(method, n_labels=Y.shape[1], seed=seed)
    with quiet():
        # One label per sample is handed over as a class, as a user would.
        single = (Y.sum(axis=1) == 1).all()
        Z = model.fit_transform(X, Y.argmax(axis=1) if single else Y)
    report = {
        "label agreement": label_agreement(Z, Y),
        "agreement in features": label_agreement(X, Y),
        "kept neighbours": _kept(X, Z),
        "connectedness": _connectedness(Z),
    }
    between = None if single else _between(Z, Y)
    return report if between is None else report | {"between": between}


def _checksum(data_set, options):
    return file_checksum("toy" if data_set in GENERATORS else data_set, options)


embedding.checksum = _checksum


@lru_cache(maxsize=1)
def _data(name, seed, split, share, n_samples):
    """Features and 0/1 labels."""
    if name in GENERATORS:
        size = {} if n_samples is None else {"n_samples": n_samples}
        found = GENERATORS[name](**size, random_state=seed)
    else:
        found = load_dataset(name, split=split)
    X, Y = dense(found.data), np.asarray(found.target)
    if Y.ndim == 1:
        Y = np.eye(Y.max() + 1, dtype=np.int8)[Y]
    if name not in GENERATORS:
        rows = np.random.RandomState(seed).permutation(len(X))
        rows = rows[: n_samples or round(share * len(X))]
        X, Y = X[rows], Y[rows]
    return X, Y


def _neighbors(Z, k):
    return nearest_neighbors(Z, k).distances.indices.reshape(len(Z), -1)


def label_agreement(Z, Y):
    """Mean Jaccard similarity of the label sets of a sample and its nearest five."""
    nearest = Y[_neighbors(Z, N_LOOK)] > 0
    own = Y[:, None] > 0
    both, either = (own & nearest).sum(axis=2), (own | nearest).sum(axis=2)
    return float(np.mean(np.where(either > 0, both / np.maximum(either, 1), 1)))


def _kept(X, Z):
    before, after = _neighbors(X, N_KEPT), _neighbors(Z, N_KEPT)
    return float(np.mean([np.isin(a, b).mean() for a, b in zip(before, after)]))


def _connectedness(Z):
    nearest = _neighbors(Z, N_LOOK)
    rows = np.repeat(np.arange(len(Z)), nearest.shape[1])
    entries = np.ones(rows.size), (rows, nearest.ravel())
    graph = csr_array(entries, shape=(len(Z), len(Z)))
    _, piece = connected_components(graph, directed=False)
    return float(np.bincount(piece).max() / len(Z))


def _between(Z, Y):
    """Share of the samples with two labels that lie between those with one, or None."""
    size, found = Y.sum(axis=1), []
    for a, b in combinations(range(Y.shape[1]), 2):
        both = (size == 2) & (Y[:, a] > 0) & (Y[:, b] > 0)
        ends = [Z[(size == 1) & (Y[:, label] > 0)] for label in (a, b)]
        if both.sum() < SMALLEST_PAIR or not all(map(len, ends)):
            continue
        start, end = (np.median(end, axis=0) for end in ends)
        line = end - start
        found.append((Z[both] - start) @ line / (line @ line))
    if not found:
        return None
    where = np.concatenate(found)
    return float(np.mean((where >= 0) & (where <= 1)))
