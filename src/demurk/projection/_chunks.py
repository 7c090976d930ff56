"""Fitting a reducer to rows that never are in memory together."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import replace

import numpy as np

from demurk.labels import LabelData
from demurk.labels._check import read_table
from demurk.labels._load import load_labels
from demurk.linalg import Sums
from demurk.linalg._problem import solve_sums
from demurk.projection._base import keep_labeled

__all__ = ["STREAMING", "fit_chunks"]

STREAMING = "MDDM, MVMD, LabelCCA and WMLDA with binary, entropy or correlation weights"


def fit_chunks(reducer, chunks):
    """Fit a reducer to rows that arrive in chunks.

    The directions are those of ``reducer.fit`` on all rows together, up to round-off.
    Only sums over the rows are kept, so that the data may be larger than memory.

    Parameters
    ----------
    reducer : MDDM, MVMD, LabelCCA or WMLDA
        The reducer; it is fitted in place. WMLDA streams with binary, entropy and
        correlation weights.
    chunks : iterable of (X, y), or callable that returns one
        Features and labels of some rows at a time, in any sizes: X of shape
        (n_rows, n_features), dense or sparse, and y of shape (n_rows, n_labels) with
        the same columns in every chunk; -1 marks what was not observed. Correlation
        weights need two passes, and thus a list or a callable, not a generator.

    Returns
    -------
    reducer : object
        The fitted reducer.

    Raises
    ------
    TypeError
        If the method is not a sum over rows.

    Notes
    -----
    Time as for `fit`; memory O(D q) for MDDM without decorrelation, else
    O(D^2 + D q), besides one chunk. There is no dual form here: with more features
    than rows, `fit` is the better choice.

    A y of one dimension is refused, because a chunk does not tell which classes the
    others hold: write classes as an indicator matrix.

    Examples
    --------
    >>> from demurk.datasets import make_multilabel_blocks
    >>> from demurk.projection import MDDM, fit_chunks
    >>> toy = make_multilabel_blocks(400, random_state=0)
    >>> parts = ((toy.data[i::4], toy.target[i::4]) for i in range(4))
    >>> fit_chunks(MDDM(3), parts).transform(toy.data).shape
    (400, 3)
    """
    if not reducer._streams:
        given = getattr(reducer, "weights", None)
        detail = "" if given is None else f" with weights={given!r}"
        raise TypeError(
            f"{type(reducer).__name__}{detail} cannot be fitted in chunks; those that "
            f"can are {STREAMING}."
        )
    reducer._validate_params()
    parts = _Chunks(reducer, chunks)
    reducer._look_ahead(labels for _, labels in parts)
    sums = None
    for X, labels in parts:
        problem = reducer._problem(X, labels)
        centered = problem.targets is labels
        if centered:  # by the means of all chunks, known at the end
            both = np.hstack([labels.values, labels.observed])
            problem = replace(problem, targets=both)
        sums = Sums(scatter=problem.needs_scatter) if sums is None else sums
        sums.add(X, problem)
    if centered:
        _center(sums.joint)
    found = solve_sums(problem, sums, parts.dtype, reducer.n_components)
    reducer._set_projection(*found, parts.dtype)
    return reducer


def _center(parts):
    """Make moments of (values, observed) those of the centred labels."""
    q = parts.mean_t.size // 2
    seen = parts.mean_t[q:]
    means = parts.mean_t[:q] / np.where(seen > 0, seen, 1)
    parts.cross = parts.cross[:, :q] - parts.cross[:, q:] * means
    both = parts.target_scatter[:, :q] - parts.target_scatter[:, q:] * means
    parts.target_scatter = both[:q] - both[q:] * means[:, None]
    parts.mean_t = np.zeros(q)


class _Chunks:
    """Validated labelled rows; each loop over it is one pass over the data."""

    def __init__(self, reducer, chunks):
        self.reducer = reducer
        self.chunks = chunks
        self.n_passes = 0
        self.dtype = None  # of all rows together, after a pass

    def __iter__(self):
        chunks = self.chunks() if callable(self.chunks) else iter(self.chunks)
        if self.n_passes and chunks is self.chunks:
            raise ValueError(
                f"{type(self.reducer).__name__} reads the chunks twice with these "
                "parameters, and an iterator is empty after once; give a list, or a "
                "function that returns a new iterator."
            )
        self.n_passes += 1
        width, any_label = None, False
        for number, (X, y) in enumerate(chunks):
            X = self.reducer._validate_features(X, reset=number == 0)
            labels = _read_labels(y, X.shape[0], width, number)
            width = labels.n_labels
            self.dtype = X.dtype if number == 0 else np.result_type(self.dtype, X)
            if labels.labeled.any():
                any_label = True
                yield keep_labeled(X, labels)
        if not any_label:
            raise ValueError(
                "The chunks hold no observed label; give the label of at least one "
                "sample."
            )


def _read_labels(y, n_rows, width, number):
    """Labels of one chunk, which may all be missing."""
    raw = load_labels(y)
    shape = raw.array.shape
    if raw.from_sets or len(shape) != 2 or shape[1] < 2:
        raise ValueError(
            f"y of chunk {number} has shape {shape}; give an indicator matrix with one "
            "column per label, at least two."
        )
    if shape[0] != n_rows or (width is not None and shape[1] != width):
        expected = (n_rows, shape[1] if width is None else width)
        raise ValueError(
            f"y of chunk {number} has shape {shape}; it should be {expected}."
        )
    values, observed = read_table(raw)
    return LabelData(values, observed, np.arange(shape[1]), "labels", False)
