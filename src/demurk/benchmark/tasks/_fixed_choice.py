"""The PML-LCom protocol on larger data: settings are chosen once, for all splits."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
from functools import lru_cache

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid, train_test_split

from demurk.benchmark.tasks._common import make_estimator, quiet, reason_to_skip
from demurk.benchmark.tasks._partial_multilabel import (
    _data,
    _split,
    partial_multilabel,
)
from demurk.benchmark.tasks._pml import label_scores
from demurk.metrics import ranking_loss

__all__ = ["partial_multilabel_fixed"]


def partial_multilabel_fixed(
    data_set,
    method,
    seed,
    *,
    amount=None,
    max_samples=None,
    n_choosing=3,
    choosing_rows=1500,
):
    """Score a split with settings that were chosen on the first splits.

    Parameters
    ----------
    data_set : str
        Name in the PML-LCom paper, or any known multi-label data set.
    method : dict
        As for :func:`~demurk.benchmark.tasks.partial_multilabel`.
    seed : int
        Seed of split, noise and random methods.
    amount : float, default=None
        Noise a; None for data with candidates of their own.
    max_samples : int, default=None
        Larger data are cut to a random part of this size, the same for all methods.
    n_choosing : int, default=3
        Splits, from seed 0 on, whose training rows choose the settings for all.
    choosing_rows : int, default=1500
        So many rows of each of them take part: four fifths to learn from, the rest to
        compare the ranking loss against their candidates.

    Returns
    -------
    report : dict of str to float
        As of :func:`~demurk.benchmark.tasks.partial_multilabel`.

    Examples
    --------
    >>> from demurk.benchmark.tasks import partial_multilabel_fixed
    >>> method = {"estimator": "demurk.partial_multilabel.FPML",
    ...           "grid": {"reg": [1.0, 10.0]}}
    >>> options = {"amount": 1, "max_samples": 300, "n_choosing": 1}
    >>> report = partial_multilabel_fixed("synthetic", method, 0, **options)
    >>> bool(report["ranking loss"] < 0.4)
    True
    """
    reason = reason_to_skip(method, *_data(data_set, False, max_samples).Y.shape)
    if reason is not None:
        return {"skipped": reason}
    fixed = {name: value for name, value in method.items() if name != "grid"}
    if "grid" in method:
        words = json.dumps(method, sort_keys=True)
        place = (data_set, amount, max_samples, n_choosing, choosing_rows)
        fixed["params"] = method.get("params", {}) | _chosen(words, *place)
    return partial_multilabel(
        data_set, fixed, seed, amount=amount, max_samples=max_samples
    )


partial_multilabel_fixed.checksum = partial_multilabel.checksum


@lru_cache(maxsize=64)
def _chosen(words, data_set, amount, max_samples, n_splits, n_rows):
    """The point of a method's grid with the least loss over the first splits."""
    method = json.loads(words)
    points = list(ParameterGrid(method["grid"]))
    standardize = method.get("features", "standardized") != "raw"
    losses = np.zeros(len(points))
    for seed in range(n_splits):
        split = _split(data_set, False, max_samples, seed, amount, standardize)
        n_labels = split.given.shape[1]
        model = make_estimator(method, n_labels=n_labels, seed=seed)
        rows = np.random.RandomState(seed).permutation(len(split.given))[:n_rows]
        train, held = train_test_split(rows, test_size=0.2, random_state=seed)
        for place, point in enumerate(points):
            fitted = clone(model).set_params(**point)
            with quiet():
                fitted.fit(split.X_train[train], split.given[train])
            scores = label_scores(fitted, split.X_train[held])
            losses[place] += ranking_loss(split.given[held], scores)
    return points[int(np.argmin(losses))]
