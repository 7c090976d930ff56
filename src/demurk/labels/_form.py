"""How labels were handed over, so that others can be handed back alike."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from demurk.labels._data import LabelData

__all__ = ["LabelForm", "frame_index"]

# Whose frames are built again; a saved form names no other.
LIBRARIES = ("pandas", "polars")


@dataclass(frozen=True, eq=False)
class LabelForm:
    """The container of some labels: its library, names and index.

    Attributes
    ----------
    library : str or None
        Where a frame or series comes from; None for arrays.
    columns : list or None
        Names of the columns of a frame; None for a series.
    name : object
        Name of a series.
    index : ndarray or None
        Index of the rows, where it is not 0, 1, ...
    """

    library: Any = None
    columns: list[Any] | None = None
    name: Any = None
    index: NDArray[Any] | None = None

    @classmethod
    def of(cls, y: Any) -> "LabelForm":
        """The form of some labels."""
        native = nw.from_native(
            y, eager_only=True, allow_series=True, pass_through=True
        )
        if isinstance(native, nw.DataFrame):
            library = native.implementation.value
            return cls(library, list(native.columns), None, frame_index(y))
        if isinstance(native, nw.Series):
            return cls(native.implementation.value, None, native.name, frame_index(y))
        return cls()

    def restore(self, labels: LabelData) -> Any:
        """Labels in this form; -1 where nothing was observed, None among words.

        One class per sample gives one dimension, else 1, 0 and -1 in int8.
        """
        array = _classes(labels) if labels.single else _entries(labels)
        if self.library not in LIBRARIES:
            return array
        if self.columns is None:
            made = nw.new_series(self.name, array, backend=self.library).to_native()
        else:
            columns = array.T if array.ndim == 2 else [array]
            data = dict(zip(self.columns, columns))
            made = nw.from_dict(data, backend=self.library).to_native()
        if self.index is not None:
            made.index = self.index
        return made


def frame_index(table: Any) -> NDArray[Any] | None:
    """Index of a pandas object as an array, where it is not just 0, 1, ..."""
    index = getattr(table, "index", None)
    if not hasattr(table, "iloc") or index is None:
        return None
    values = index.to_numpy()
    same = values.dtype.kind in "iu" and np.array_equal(values, np.arange(len(values)))
    return None if same else np.asarray(values)


def _classes(labels: LabelData) -> NDArray[Any]:
    """The class of each sample, -1 or None where it is not known."""
    found = labels.classes[labels.values.argmax(axis=1)]
    if labels.labeled.all():
        return found
    if found.dtype.kind in "iuf":
        return np.where(labels.labeled, found, -1)
    found = found.astype(object)
    found[~labels.labeled] = None
    return found


def _entries(labels: LabelData) -> NDArray[np.int8]:
    return np.where(labels.observed, labels.values, -1).astype(np.int8)
