"""Labels on a device."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np
import torch

from demurk.labels import LabelData

__all__ = ["read_indicator"]


def read_indicator(y, n_samples, kind):
    """Labels of an indicator matrix that is there, which never leave the device.

    Parameters
    ----------
    y : object
        Labels as they were given.
    n_samples : int
        Rows of X.
    kind : str
        What a 1 means; see :class:`demurk.labels.LabelData`.

    Returns
    -------
    labels : LabelData or None
        Its `values` and `observed` are tensors; None for whatever the door should
        look at.
    """
    plain = isinstance(y, torch.Tensor) and not y.dtype.is_floating_point
    if not plain or y.ndim != 2 or y.shape[1] < 2 or len(y) != n_samples:
        return None
    observed, ones = y >= 0, y == 1
    low, high = (value.item() for value in y.aminmax())
    # Nothing observed, or no zero: the door has something to say.
    dull = not bool(observed.any()) or bool((ones == observed).all())
    if low < -1 or high > 1 or (low < 0 and dull):
        return None
    return LabelData(ones.double(), observed, np.arange(y.shape[1]), kind, False)
