"""What a row is called, so that its decisions find it after the table was edited."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
from collections import Counter
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from demurk.datasets._table_cells import as_words

__all__ = ["RowKeys", "row_keys"]


@dataclass(frozen=True, eq=False)
class RowKeys:
    """Names of the rows of a table.

    Attributes
    ----------
    keys : list of str
        Distinct names: the cell of the id column, else the digest of the row's cells,
        with a number behind it where several rows are alike.
    cells : list of str
        Digests of the cells that are no labels.
    places : dict of str to int
        The row of each key.
    """

    keys: list
    cells: list
    places: dict

    def find(self, decision):
        """The row that a decision is about, or None if it has gone or has changed."""
        row = self.places.get(decision.key)
        if row is None or self.cells[row] != decision.cells:
            return None
        return row


def row_keys(table, store=None):
    """Name the rows of a table, in the same way as when its decisions began.

    Parameters
    ----------
    table : Table
        The table.
    store : Store, default=None
        Remembers which columns the names were made of, so that a column added later
        changes no name.

    Returns
    -------
    RowKeys
        The names.
    """
    columns = [c for c in table.frame.columns if c not in set(table.form.columns)]
    named = {"columns": columns, "id": _id_column(table)}
    if store is not None:
        known = json.loads(store.fact("row names", json.dumps(named)))
        gone = [c for c in known["columns"] if c not in table.frame.columns]
        if gone:
            raise ValueError(
                f"{table.source.path} has lost the column {gone[0]!r}, by which "
                f"{store.path.name} knows its rows; put it back, or move the decisions "
                "away to begin anew."
            )
        named = known
    features = table._given[0] if table._given is not None else None
    cells = _digests(table.frame, named["columns"], features)
    ids = _ids(table.frame, named["id"])
    keys = _numbered(cells, table) if ids is None else ids
    return RowKeys(keys, cells, {key: row for row, key in enumerate(keys)})


def _id_column(table):
    """The first id column that tells every row apart."""
    names = table.named("id")
    return next((name for name in names if _ids(table.frame, name) is not None), None)


def _ids(frame, name):
    if name is None or name not in frame.columns:
        return None
    words = as_words(frame[name]).tolist()
    return words if len(set(words)) == len(words) and all(words) else None


def _digests(frame, columns, features):
    """A digest of each row; features that were given count where there are no cells."""
    rows = [blake2b(digest_size=12) for _ in range(len(frame))]
    for column in columns:
        for made, word in zip(rows, as_words(frame[column])):
            # Lengths keep "a", "bc" apart from "ab", "c".
            text = word.encode("utf-8", "surrogatepass")
            made.update(b"%d:%b" % (len(text), text))
    if features is not None and not columns:
        dense = features.toarray() if hasattr(features, "toarray") else features
        for made, row in zip(rows, np.ascontiguousarray(dense, dtype=np.float64)):
            made.update(row.tobytes())
    return [made.hexdigest() for made in rows]


def _numbered(cells, table):
    """Digests, with a number where rows are alike; their labels settle who is first."""
    counts = Counter(cells)
    keys = list(cells)
    labels = [as_words(table.frame[c]).astype(str) for c in table.form.columns]
    alike = [row for row, digest in enumerate(cells) if counts[digest] > 1]
    alike.sort(key=lambda row: tuple(words[row] for words in labels))
    seen = Counter()
    for row in alike:
        seen[cells[row]] += 1
        keys[row] = f"{cells[row]}#{seen[cells[row]]}"
    return keys
