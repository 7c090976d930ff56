"""Artificial data with a known answer."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state

from demurk.datasets._files import make_bunch

N_LABELS = 4
N_NOISE_BLOCKS = 12
BLOCK_SIZE = 20
# Share of each main class that also carries a neighbouring class.
_SHARED = {(0, 1): 0.30, (1, 0): 0.30, (1, 2): 0.20, (2, 1): 0.20}
_SHARED |= {(2, 3): 0.25, (3, 2): 0.25}


def make_multilabel_blocks(n_samples=8000, *, random_state=None):
    """Make multi-label data in which each label lights up its own features.

    The 320 features form 16 blocks of 20. Blocks 1 to 4 belong to the four labels:
    in a sample with label c, each feature of block c is switched on with
    probability 0.1. Blocks 5 to 16 are noise: for each of them a random half of the
    samples is chosen, whatever their labels, and each feature is switched on with
    probability 0.2. A feature that is on holds a random integer from 1 to 10, the
    others hold 0.

    Each sample has a main class, the four classes being equally frequent. Of classes
    1 and 2, 30 % also carry the other's label; of 2 and 3, 20 %; of 3 and 4, 25 %. No
    sample has more than two labels, and the mean number of labels is 1.375.

    Parameters
    ----------
    n_samples : int, default=8000
        Number of samples, at least 4. The shares above are exact up to rounding.
    random_state : int, RandomState instance or None, default=None
        Seed or generator.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        `data` (n_samples, 320) float64, `target` (n_samples, 4) int8, `feature_names`,
        `target_names`, `name`. The rows are in random order.

    Notes
    -----
    Time and memory are O(n_samples * 320). The source [1]_ says that "10 % of the
    features" of a block take a value; reading this as exactly two of twenty makes the
    task far too easy, while the independent draws used here reproduce its numbers.
    With them, 12 % of the samples show no trace of a given label.

    References
    ----------
    .. [1] Mikalsen, Soguero-Ruiz, Bianchi, Jenssen, "Noisy multi-label semi-supervised
       dimensionality reduction", Pattern Recognition 90, 2019,
       :doi:`10.1016/j.patcog.2019.01.033`.

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> toy.data.shape, toy.target.shape
    ((400, 320), (400, 4))
    >>> float(toy.target.sum(axis=1).mean())
    1.375
    """
    if not isinstance(n_samples, Integral) or n_samples < N_LABELS:
        raise ValueError(
            f"n_samples must be an integer of at least 4, got {n_samples}."
        )
    rng = check_random_state(random_state)
    main = rng.permutation(np.arange(n_samples) % N_LABELS)
    target = _shared_labels(main, rng)
    blocks = [_active_block(target[:, c] == 1, 0.1, rng) for c in range(N_LABELS)]
    for _ in range(N_NOISE_BLOCKS):
        active = np.zeros(n_samples, dtype=bool)
        active[rng.permutation(n_samples)[: n_samples // 2]] = True
        blocks.append(_active_block(active, 0.2, rng))
    return make_bunch(
        np.hstack(blocks),
        target,
        [
            f"block{b + 1}_{j + 1}"
            for b in range(len(blocks))
            for j in range(BLOCK_SIZE)
        ],
        [f"class{c + 1}" for c in range(N_LABELS)],
        "synthetic",
    )


def _shared_labels(main, rng):
    """One label per sample, and a second one for a share of each class."""
    target = np.zeros((len(main), N_LABELS), dtype=np.int8)
    target[np.arange(len(main)), main] = 1
    for label in range(N_LABELS):
        rows = rng.permutation(np.flatnonzero(main == label))
        start = 0
        for (first, second), share in _SHARED.items():
            if first == label:
                stop = start + round(share * len(rows))
                target[rows[start:stop], second] = 1
                start = stop
    return target


def _active_block(active, probability, rng):
    """Random integers 1 to 10 in the active rows, each kept with a probability."""
    shape = (len(active), BLOCK_SIZE)
    kept = active[:, None] & (rng.uniform(size=shape) < probability)
    return np.where(kept, rng.randint(1, 11, size=shape), 0).astype(np.float64)
