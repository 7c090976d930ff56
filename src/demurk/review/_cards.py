"""What stands on a card: the row, its labels, its neighbours, and a sentence."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from functools import cached_property

import numpy as np
from scipy.sparse import issparse
from sklearn.preprocessing import StandardScaler, normalize

__all__ = ["CardMaker"]

N_NEIGHBORS = 10
SHOWN_NEIGHBORS = 5
SHOWN_FEATURES = 5
SHORT = 160


class CardMaker:
    """Makes the cards of a table.

    Parameters
    ----------
    table : Table
        The table as it was read.
    most_text : int, default=None
        Letters of a text that a card shows; None shows all.
    """

    def __init__(self, table, most_text=None):
        self.table, self._most_text = table, most_text
        self._ids, self._texts, self.images = (
            table.named(role) for role in ("id", "text", "image")
        )

    @cached_property
    def _scaled(self):
        """Features in which distances mean something, and their squared norms."""
        X = self.table.features
        if issparse(X):
            X = normalize(X.tocsr())
            return X, np.asarray(X.multiply(X).sum(axis=1)).ravel()
        X = StandardScaler().fit_transform(X).astype(np.float32)
        return X, np.einsum("ij,ij->i", X, X)

    @cached_property
    def _told(self):
        """Features that have a name which a person would know: no parts of a text."""
        names, columns = self.table.feature_names, set(map(str, self.table.frame))
        given = self.table._given is not None
        return [j for j, name in enumerate(names) if given or name in columns]

    def near(self, row, usable):
        """The nearest rows among those that are usable, nearest first."""
        X, norms = self._scaled
        own = X[[row]]
        product = X @ own.T
        product = product.toarray() if issparse(product) else product
        far = norms - 2 * product.ravel()
        far = np.where(usable, far, np.inf)
        far[row] = np.inf
        count = min(N_NEIGHBORS, int(np.isfinite(far).sum()))
        near = np.argpartition(far, count - 1)[:count] if count else np.arange(0)
        return near[np.argsort(far[near], kind="stable")]

    def title(self, row):
        """What a row is called in a list."""
        return short(" · ".join(_filled(self._ids, row))) or f"row {row + 1}"

    def brief(self, row):
        """What a row is, in a few words."""
        words = _filled(self._texts, row) + _filled(self.images, row)
        return " · ".join([self.title(row), *map(short, words)])

    def card(self, row, values, near):
        """The part of a card that is about its row.

        Parameters
        ----------
        row : int
            The row.
        values : ndarray of shape (n_rows, n_labels)
            Labels as they are now: 1, 0, and -1 for not observed.
        near : ndarray of int
            Its nearest rows.

        Returns
        -------
        card : dict
            Ready for JSON.
        """
        return {
            "row": row,
            "title": self.title(row),
            "texts": [
                {"name": name, "text": cells[row][: self._most_text]}
                for name, cells in self._texts.items()
                if cells[row]
            ],
            "images": self._pictures(row),
            "features": self._features(row, near),
            "labels": np.flatnonzero(values[row] > 0).tolist(),
            "unknown": np.flatnonzero(values[row] < 0).tolist(),
            "neighbors": [
                {
                    "row": int(other),
                    "title": self.title(other),
                    "text": self._excerpt(other),
                    "images": self._pictures(other),
                    "labels": np.flatnonzero(values[other] > 0).tolist(),
                }
                for other in near[:SHOWN_NEIGHBORS].tolist()
            ],
        }

    def _excerpt(self, row):
        return " · ".join(short(cells[row]) for cells in self._texts.values())

    def _pictures(self, row):
        return [
            {"column": place, "name": cells[row]}
            for place, cells in enumerate(self.images.values())
            if cells[row]
        ]

    def _features(self, row, near):
        """Features that differ most from the nearest rows."""
        X = self.table.features
        if issparse(X) or not len(near):
            return []
        scaled = self._scaled[0]
        apart = scaled[row] - scaled[near].mean(axis=0)
        names = self.table.feature_names
        told = sorted(self._told, key=lambda j: -abs(apart[j]))
        return [
            {
                "name": str(names[j]),
                "value": f"{X[row, j]:.4g}",
                "usual": f"{X[near, j].mean():.4g}",
            }
            for j in told[:SHOWN_FEATURES]
        ]


def _filled(columns, row):
    """The cells of a row in some columns, without those that are empty."""
    return [cells[row] for cells in columns.values() if cells[row]]


def short(text):
    """The beginning of a text."""
    text = str(text)
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"
