"""Rows that pass a search or lie inside an outline on the map."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import cached_property, lru_cache
from hashlib import blake2b

import numpy as np

from demurk.datasets._table_cells import as_words

__all__ = ["RowFilter"]

MOST_LASSOS = 20


class RowFilter:
    """Searches in the cells of a table, and remembers outlines on its map.

    Parameters
    ----------
    table : Table
        The table.
    """

    def __init__(self, table):
        self._table = table
        self._lassos = {}
        self._find = lru_cache(8)(self._search)

    def lasso(self, rows):
        """Remember an outline by the rows inside it; returns its name."""
        n_rows = len(self._table)
        rows = np.asarray(rows)
        whole = rows.dtype.kind in "iu" or not rows.size
        if not whole or rows.ndim != 1 or ((rows < 0) | (rows >= n_rows)).any():
            raise ValueError(f"A lasso holds rows from 0 to {n_rows - 1}.")
        inside = np.zeros(n_rows, dtype=bool)
        inside[rows.astype(np.intp)] = True
        name = blake2b(inside.tobytes(), digest_size=8).hexdigest()
        self._lassos[name] = inside
        while len(self._lassos) > MOST_LASSOS:
            self._lassos.pop(next(iter(self._lassos)))
        return name

    def passing(self, chosen):
        """Rows that pass a filter as an array of bool, or None for all."""
        rows = None
        if chosen.lasso:
            nothing = np.zeros(len(self._table), dtype=bool)
            rows = self._lassos.get(chosen.lasso, nothing)
        if chosen.search.strip():
            found = self._find(chosen.search.strip().lower())
            rows = found if rows is None else rows & found
        return rows

    def _search(self, wanted):
        return np.array([wanted in text for text in self._texts], dtype=bool)

    @cached_property
    def _texts(self):
        """All text of each row in small letters."""
        frame = self._table.frame
        cells = [as_words(frame[column]) for column in frame.columns]
        return [" ".join(map(str, row)).lower() for row in zip(*cells)]
