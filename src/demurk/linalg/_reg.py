"""The size of a penalty: a number, or a share of what it is added to."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["positive_ridge_of", "ridge_of"]


def ridge_of(reg: float | str, size: int, total: Any | Callable[[], Any]) -> Any:
    """The number that `reg` stands for.

    Parameters
    ----------
    reg : float or str
        The number itself, or "rel:x" for x times the mean of the diagonal that it is
        added to.
    size : int
        Length of that diagonal.
    total : float, ndarray or callable
        Its sum, for one matrix or for many, or a function that gives it.

    Returns
    -------
    ridge : float or ndarray
        What is added to the diagonal.
    """
    if not isinstance(reg, str):
        return float(reg)
    kind, _, number = reg.partition(":")
    try:
        share = float(number)
    except ValueError:
        share = -1.0
    if kind != "rel" or not 0 <= share < np.inf:
        raise ValueError(
            f"reg is {reg!r}; give a number, or 'rel:' followed by one, such as "
            "'rel:1e-3'."
        )
    return share * (total() if callable(total) else total) / max(size, 1)


def positive_ridge_of(reg: float | str, size: int, total: Any) -> float:
    """The same for a penalty that must not be zero."""
    ridge = ridge_of(reg, size, total)
    if ridge > 0:
        return float(ridge)
    if ridge_of(reg, 1, 1.0) > 0:
        return 1.0  # constant features: under any penalty their coefficients are zero
    raise ValueError(f"reg is {reg!r}; it should be positive.")
