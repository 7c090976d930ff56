"""Labels on a device."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from demurk.labels import LabelData

__all__ = ["DeviceLabels"]


@dataclass(frozen=True, eq=False)
class DeviceLabels:
    """Checked labels as tensors; see :class:`demurk.labels.LabelData`.

    Attributes
    ----------
    values : Tensor of shape (n_samples, n_labels), float64
        1 where the sample has the label, else 0.
    observed : Tensor of bool of shape (n_samples, n_labels)
        Where `values` says something.
    classes : ndarray of shape (n_labels,)
        Classes or numbers of columns.
    single : bool
        Whether there is one class per sample.
    """

    values: torch.Tensor
    observed: torch.Tensor
    classes: Any
    single: bool

    @classmethod
    def of(cls, labels: LabelData, device: Any) -> "DeviceLabels":
        """Labels that were checked in memory."""
        return cls(
            torch.as_tensor(labels.values, device=device),
            torch.as_tensor(labels.observed, device=device),
            labels.classes,
            labels.single,
        )

    @classmethod
    def read(cls, y: Any, n_samples: int) -> "DeviceLabels | None":
        """An indicator matrix there; None for whatever the door should look at."""
        plain = isinstance(y, torch.Tensor) and not y.dtype.is_floating_point
        if not plain or y.ndim != 2 or y.shape[1] < 2 or len(y) != n_samples:
            return None
        observed, ones = y >= 0, y == 1
        low, high = (value.item() for value in y.aminmax())
        # Nothing observed, or no zero: the door has something to say.
        dull = not bool(observed.any()) or bool((ones == observed).all())
        if low < -1 or high > 1 or (low < 0 and dull):
            return None
        return cls(ones.double(), observed, np.arange(y.shape[1]), False)
