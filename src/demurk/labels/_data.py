"""What every method of the library sees instead of a raw ``y``."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

KINDS = ("labels", "noisy", "candidates", "extra")


# Arrays have no single truth value, so a generated __eq__ would raise: eq=False.
@dataclass(frozen=True, eq=False)
class LabelData:
    """Checked labels of n samples over c classes, as :func:`check_labels` gives them.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_labels), float64
        1 where the sample has the label, 0 where it has not or where nothing is known.
    observed : ndarray of shape (n_samples, n_labels), bool
        Where `values` says something.
    classes : ndarray of shape (n_labels,)
        Sorted classes of a 1-D `y` or of label sets, column names of a data frame, else
        the column numbers.
    kind : {"labels", "noisy", "candidates", "extra"}
        What a 1 means: a trusted label; a label that may be wrong; one of several
        candidates of which exactly one is true; one of several candidates of which any
        number is true.
    single : bool
        Whether `y` was 1-D: one class per sample.

    See Also
    --------
    check_labels : Makes it from anything that holds labels.

    Examples
    --------
    >>> from demurk.labels import check_labels
    >>> data = check_labels(["cat", None, "dog"])
    >>> data.classes.tolist(), data.labeled.tolist(), data.single
    (['cat', 'dog'], [True, False, True], True)
    """

    values: NDArray[np.float64]
    observed: Mask
    classes: NDArray[Any]
    kind: str
    single: bool

    @property
    def n_samples(self) -> int:
        """Number of samples (rows)."""
        return int(self.values.shape[0])

    @property
    def n_labels(self) -> int:
        """Number of labels or classes (columns)."""
        return int(self.values.shape[1])

    @property
    def labeled(self) -> Mask:
        """Rows with at least one observed entry, shape (n_samples,)."""
        return np.any(self.observed, axis=1)


@dataclass
class LabelTags:
    """What an estimator says about the labels it understands.

    Every estimator takes labels of which some are not observed.

    Parameters
    ----------
    kind : {"labels", "noisy", "candidates", "extra"}, default="labels"
        What a 1 means to the estimator, see :class:`LabelData`.

    Examples
    --------
    >>> from demurk.labels import LabelTags
    >>> LabelTags("candidates")
    LabelTags(kind='candidates')
    """

    kind: str = "labels"
