"""Spoil clean labels on purpose: flip, hide, add candidates, add noise."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from demurk.labels._check import check_labels, read_table
from demurk.labels._data import Mask
from demurk.labels._load import load_labels
from demurk.labels._sets import labels_from_sets, short


@dataclass(frozen=True, eq=False)
class Corruption:
    """Labels after a corruption, and what it changed.

    Parameters
    ----------
    labels : ndarray of shape (n_samples, n_labels), int8
        1, 0, and -1 for not observed.
    changed : ndarray of shape (n_samples, n_labels), bool
        The entries that differ from the labels given.

    Examples
    --------
    >>> from demurk.labels import flip_labels
    >>> noisy = flip_labels([[1, 0], [0, -1]], rate=1.0)
    >>> noisy.labels.tolist(), noisy.changed.tolist()
    ([[0, 1], [1, -1]], [[True, True], [True, False]])
    """

    labels: NDArray[np.int8]
    changed: Mask


# Which entries each kind of noise may change.
NOISES = {"symmetric": (0, 1), "extra": (0,), "missing": (1,)}


def flip_labels(
    Y: Any, rate: float = 0.1, *, noise: str = "symmetric", random_state: Any = None
) -> Corruption:
    """Flip each observed entry with the same probability, independently.

    Parameters
    ----------
    Y : array-like, sparse or data frame of shape (n_samples, n_labels)
        1, 0, and -1 for not observed. It is not modified.
    rate : float, default=0.1
        Probability of a flip, 0 to 1.
    noise : {"symmetric", "extra", "missing"}, default="symmetric"
        Which entries may be flipped: all, only absent labels (0), only present ones
        (1).
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    Corruption
        The new labels and the mask of flipped entries.

    Notes
    -----
    Time and memory are O(n q) for n samples and q labels.

    Examples
    --------
    >>> import numpy as np
    >>> from demurk.labels import flip_labels
    >>> noisy = flip_labels(np.zeros((100, 10)), rate=0.1, random_state=0)
    >>> bool(0.05 < noisy.changed.mean() < 0.15)
    True
    """
    _check_share("rate", rate)
    if noise not in NOISES:
        raise ValueError(f"noise is {short(noise)}; give one of {', '.join(NOISES)}.")
    clean = _table(Y)
    draw = check_random_state(random_state).random_sample(clean.shape)
    changed = (draw < rate) & np.isin(clean, NOISES[noise])
    return Corruption(np.where(changed, 1 - clean, clean), changed)


def hide_rows(Y: Any, fraction: float = 0.7, *, random_state: Any = None) -> Corruption:
    """Make a fixed share of the labelled rows unlabelled.

    Parameters
    ----------
    Y : array-like, sparse or data frame of shape (n_samples, n_labels)
        1, 0, and -1 for not observed. It is not modified.
    fraction : float, default=0.7
        Share of the rows with an observed entry, 0 to 1; exactly
        ``round(fraction * n_rows)`` of them are hidden.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    Corruption
        The new labels and the mask of entries hidden.

    Notes
    -----
    Time and memory are O(n q) for n samples and q labels.

    Examples
    --------
    >>> from demurk.labels import hide_rows
    >>> hidden = hide_rows([[1, 0], [0, 1], [1, 1], [0, 0]], 0.5, random_state=0)
    >>> int((hidden.labels == -1).all(axis=1).sum())
    2
    """
    _check_share("fraction", fraction)
    clean = _table(Y)
    rows = np.flatnonzero((clean >= 0).any(axis=1))
    chosen = np.zeros(len(clean), dtype=bool)
    chosen[_exact_share(rows, fraction, check_random_state(random_state))] = True
    changed = chosen[:, np.newaxis] & (clean >= 0)
    return Corruption(np.where(changed, np.int8(-1), clean), changed)


def hide_entries(
    Y: Any, fraction: float = 0.5, *, random_state: Any = None
) -> Corruption:
    """Hide a fixed share of the observed entries, wherever they stand.

    Parameters
    ----------
    Y : array-like, sparse or data frame of shape (n_samples, n_labels)
        1, 0, and -1 for not observed. It is not modified.
    fraction : float, default=0.5
        Share of the observed entries, 0 to 1; exactly
        ``round(fraction * n_entries)`` of them are hidden.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    Corruption
        The new labels and the mask of entries hidden.

    Notes
    -----
    Time and memory are O(n q) for n samples and q labels.

    Examples
    --------
    >>> from demurk.labels import hide_entries
    >>> hidden = hide_entries([[1, 0], [0, -1]], 0.67, random_state=0)
    >>> int(hidden.changed.sum())
    2
    """
    _check_share("fraction", fraction)
    clean = _table(Y)
    changed = np.zeros(clean.shape, dtype=bool)
    entries = np.flatnonzero(clean >= 0)
    chosen = _exact_share(entries, fraction, check_random_state(random_state))
    changed.flat[chosen] = True
    return Corruption(np.where(changed, np.int8(-1), clean), changed)


def add_candidates(
    y: Any,
    n_extra: int = 1,
    *,
    classes: Iterable[Any] | None = None,
    fraction: float = 1.0,
    coupling: float | None = None,
    random_state: Any = None,
) -> Corruption:
    """Hide the one true class of each sample in a set of candidates.

    Parameters
    ----------
    y : array-like of shape (n_samples,) or (n_samples, n_classes)
        The true class of each sample, or rows with a single 1. Unlabelled samples stay
        as they are and are not counted. It is not modified.
    n_extra : int, default=1
        Number r of wrong classes added to a set, drawn without replacement from the
        q - 1 wrong ones.
    classes : iterable, default=None
        All classes, in the order of the columns, for a 1-D `y`; by default those that
        occur, sorted.
    fraction : float, default=1.0
        Share p of the labelled samples that get extra candidates: exactly
        ``round(fraction * n_labelled)`` of them.
    coupling : float, default=None
        Probability eps that the extra class is the partner of the true one, else it is
        one of the other q - 2 wrong classes; needs ``n_extra=1`` and three classes.
        The partners are a random permutation of the classes without fixed point.
        ``1 / (q - 1)`` is the same as None.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    Corruption
        Candidate sets as rows of 0 and 1, and the mask of the classes added.

    Notes
    -----
    Time and memory are O(n q) for n samples and q classes.

    Examples
    --------
    >>> from demurk.labels import add_candidates
    >>> sets = add_candidates(["a", "b", "c", None], n_extra=1, random_state=0)
    >>> sets.labels.sum(axis=1).tolist()
    [2, 2, 2, -3]
    """
    _check_share("fraction", fraction)
    clean = _one_hot(y, classes)
    n_classes = clean.shape[1]
    whole = isinstance(n_extra, Integral) and not isinstance(n_extra, bool)
    if not whole or not 0 <= n_extra <= n_classes - 1:
        raise ValueError(
            f"n_extra is {short(n_extra)}; give a whole number from 0 to "
            f"{n_classes - 1}, the number of wrong classes of a sample."
        )
    if coupling is not None:
        _check_share("coupling", coupling)
        if n_extra != 1 or n_classes < 3:
            raise ValueError(
                f"coupling came with n_extra={n_extra} and {n_classes} classes; give "
                "n_extra=1 and at least three classes."
            )
    rng = check_random_state(random_state)
    changed = np.zeros(clean.shape, dtype=bool)
    labelled = np.flatnonzero((clean == 1).any(axis=1))
    rows = _exact_share(labelled, fraction, rng)
    if rows.size and n_extra:
        true = clean[rows].argmax(axis=1)
        keys = rng.random_sample((rows.size, n_classes))
        if coupling is not None:
            # The partner comes first or, of the wrong classes, last.
            takes_partner = rng.random_sample(rows.size) < coupling
            partner = _derangement(n_classes, rng)[true]
            keys[np.arange(rows.size), partner] = np.where(takes_partner, -1.0, 1.0)
        keys[np.arange(rows.size), true] = np.inf
        extra = np.argpartition(keys, n_extra - 1, axis=1)[:, :n_extra]
        changed[rows[:, np.newaxis], extra] = True
    return Corruption(np.where(changed, np.int8(1), clean), changed)


def add_extra_labels(
    Y: Any, amount: float = 1.0, *, random_state: Any = None
) -> Corruption:
    """Add wrong labels to each row, in proportion to the labels it has.

    Parameters
    ----------
    Y : array-like, sparse or data frame of shape (n_samples, n_labels)
        1, 0, and -1 for not observed. It is not modified.
    amount : float, default=1.0
        Row i with ``n_i`` labels gets ``floor(amount * n_i)`` more, drawn without
        replacement from its zeros, or all of its zeros where there are fewer. Below 1,
        rows with a single label get none: look at `changed` for the noise realised.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw.

    Returns
    -------
    Corruption
        The new labels and the mask of labels added.

    Notes
    -----
    Time is O(n q log q), memory O(n q) for n samples and q labels.

    Examples
    --------
    >>> from demurk.labels import add_extra_labels
    >>> add_extra_labels([[1, 0, 0, 0], [1, 1, 1, 0]]).labels.sum(axis=1).tolist()
    [2, 4]
    """
    if not _is_number(amount) or not 0 <= amount < np.inf:
        raise ValueError(f"amount is {short(amount)}; give a finite number from 0 up.")
    clean = _table(Y)
    is_zero = clean == 0
    # 0.29 * 100 is 28.999..., which must count as 29.
    wanted = np.floor(amount * (clean == 1).sum(axis=1) + 1e-9)
    n_added = np.minimum(wanted, is_zero.sum(axis=1))
    keys = check_random_state(random_state).random_sample(clean.shape)
    order = np.where(is_zero, keys, np.inf).argsort(axis=1)
    changed = np.zeros(clean.shape, dtype=bool)
    first = np.arange(clean.shape[1]) < n_added[:, np.newaxis]
    np.put_along_axis(changed, order, first, axis=1)
    return Corruption(np.where(changed, np.int8(1), clean), changed)


def _table(Y: Any) -> NDArray[np.int8]:
    """Y as a new int8 matrix of 1, 0 and -1."""
    raw = load_labels(Y)
    if raw.array.ndim != 2:
        raise ValueError(
            f"Y has shape {raw.array.shape}; give a matrix with one row per sample and "
            "one column per label."
        )
    values, observed = read_table(raw)
    return _with_marks(values, observed)


def _with_marks(values: NDArray[np.float64], observed: Mask) -> NDArray[np.int8]:
    return np.where(observed, values, -1).astype(np.int8)


def _one_hot(y: Any, classes: Iterable[Any] | None) -> NDArray[np.int8]:
    """True classes as an int8 matrix with one 1 in each labelled row."""
    data = check_labels(y)
    if data.single and classes is not None:
        names = data.classes[data.values.argmax(axis=1)].tolist()
        sets = [[name] if known else None for name, known in zip(names, data.labeled)]
        return labels_from_sets(sets, classes)[0]
    if classes is not None:
        raise ValueError("y is a matrix; leave `classes` out, or give a 1-D y.")
    pure = data.observed.all(axis=1) & (data.values.sum(axis=1) == 1)
    unclear = np.flatnonzero(data.labeled & ~pure)
    if unclear.size:
        raise ValueError(
            f"Row {unclear[0]} of y does not have a single 1 among zeros; give one "
            "true class per sample, or a row of -1."
        )
    return _with_marks(data.values, data.observed)


def _exact_share(
    items: NDArray[np.intp], fraction: float, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw round(fraction * len(items)) of the items."""
    return rng.permutation(items)[: round(float(fraction) * len(items))]


def _derangement(n: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Permutation without fixed point; about e tries."""
    while True:
        order: NDArray[np.intp] = rng.permutation(n)
        if not (order == np.arange(n)).any():
            return order


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, (bool, np.bool_))


def _check_share(name: str, value: float) -> None:
    if not _is_number(value) or not 0 <= value <= 1:
        raise ValueError(f"{name} is {short(value)}; give a number from 0 to 1.")
