"""Clean labels spoiled in several ways, for the protocols of demurk's own methods."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import lru_cache

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from demurk.benchmark.tasks._data import dense
from demurk.datasets import load_dataset, make_multilabel_blocks
from demurk.out_of_sample import out_of_bag_scores

__all__ = ["NOISES", "dense_data", "wrong_entries"]

NOISES = ("symmetric", "extra", "missing", "label", "label missing", "instance")


@lru_cache(maxsize=1)
def dense_data(name, seed):
    """Features as a dense array and clean labels; "toy" depends on the seed."""
    if name == "toy":
        data = make_multilabel_blocks(2000, random_state=seed)
    else:
        data = load_dataset(name)
    return dense(data.data), data.target.astype(int)


def wrong_entries(noise, rate, X, Y, rng):
    """Draw the entries of clean labels that are turned round.

    Parameters
    ----------
    noise : str
        - "symmetric": each entry with probability `rate`;
        - "extra": each absent label; "missing": each present label;
        - "label": every label has a rate for its present and one for its absent
          entries, both drawn from 0 to `rate`; "label missing": only the former;
        - "instance": a share `rate` of the entries, where a forest is unsure.
    rate : float
        How many.
    X : ndarray of shape (n, d)
        Features.
    Y : ndarray of shape (n, q)
        Clean labels.
    rng : RandomState
        Draws them.

    Returns
    -------
    wrong : ndarray of shape (n, q), bool
        The entries.
    """
    if noise not in NOISES:
        raise ValueError(f"There is no noise {noise!r}; choose {', '.join(NOISES)}.")
    draw = rng.random_sample(Y.shape)
    if noise == "symmetric":
        return draw < rate
    if noise == "extra":
        return (draw < rate) & (Y == 0)
    if noise == "missing":
        return (draw < rate) & (Y == 1)
    if noise == "instance":
        return _unsure_entries(X, Y, rate, rng)
    missing, extra = rate * rng.random_sample((2, Y.shape[1]))
    return draw < np.where(Y == 1, missing, extra if noise == "label" else 0.0)


def _unsure_entries(X, Y, rate, rng):
    """Entries drawn where a forest on clean labels is unsure, out of bag."""
    forest = RandomForestRegressor(
        100, max_features="sqrt", min_samples_leaf=3, random_state=0
    ).fit(X, Y)
    p = out_of_bag_scores(forest, X.astype(np.float32), Y.astype(float))
    weight = np.maximum(p * (1 - p), 1e-6).ravel()
    n_wrong = int(rate * Y.size)
    chosen = rng.choice(Y.size, n_wrong, replace=False, p=weight / weight.sum())
    wrong = np.zeros(Y.size, dtype=bool)
    wrong[chosen] = True
    return wrong.reshape(Y.shape)
