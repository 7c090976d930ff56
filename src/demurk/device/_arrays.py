"""Arrays that come in, and how their kind goes out again."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from typing import Any

import numpy as np

from demurk.utils._optional import import_optional
from demurk.utils._rows import LARGEST

__all__ = ["Place", "check_rows", "is_elsewhere", "place_of", "to_numpy"]


def kind_of(value: Any) -> str:
    """The package an array is of."""
    return type(value).__module__.partition(".")[0]


def is_elsewhere(value: Any) -> bool:
    """Whether this is a tensor of torch or an array of CuPy."""
    name = kind_of(value)
    if name == "torch":
        return hasattr(value, "detach")
    return name == "cupy" and hasattr(value, "__dlpack__")


@dataclass(frozen=True)
class Place:
    """Where rows live: the kind of their arrays and the device.

    Attributes
    ----------
    kind : {"torch", "cupy"}
        Package of the arrays.
    device : torch.device
        The device.
    """

    kind: str
    device: Any

    def give(self, value: Any) -> Any:
        """An array of this kind, there; anything else as it is."""
        torch = import_optional("torch", "gpu")
        if isinstance(value, tuple | list):
            return type(value)(self.give(item) for item in value)
        if isinstance(value, np.ndarray):
            if value.dtype.kind not in "biuf":
                return value  # names of classes
            value = torch.from_numpy(np.ascontiguousarray(value)).to(self.device)
        if isinstance(value, torch.Tensor) and self.kind == "cupy":
            return import_optional("cupy", "gpu").from_dlpack(value.contiguous())
        return value

    def take(self, value: Any, name: str) -> Any:
        """A tensor there of an array that was given; no other device will do."""
        torch = import_optional("torch", "gpu")
        tensor = as_tensor(value)
        if tensor is None:
            return torch.as_tensor(np.asarray(value), device=self.device)
        if tensor.device != self.device:
            raise ValueError(
                f"X is on {self.device} and {name} on {tensor.device}; move them to "
                f"one device, for instance with {name}.to('{self.device}')."
            )
        return tensor


def as_tensor(value: Any) -> Any:
    """An array of either kind as a tensor that shares its memory; None for others."""
    if not is_elsewhere(value):
        return None
    torch = import_optional("torch", "gpu")
    return value.detach() if kind_of(value) == "torch" else torch.from_dlpack(value)


def place_of(X: Any) -> Place:
    """Where X lives; refuses what nothing here can compute with."""
    tensor = as_tensor(X)
    if tensor.device.type not in ("cpu", "cuda"):
        raise TypeError(
            f"X is a tensor on {tensor.device}, where demurk cannot compute; hand over "
            "a tensor in memory or on a CUDA device, for instance X.cpu()."
        )
    return Place(kind_of(X), tensor.device)


def to_numpy(value: Any) -> Any:
    """The same in memory, as a numpy array; anything else as it is."""
    tensor = as_tensor(value)
    if tensor is None:
        return value
    tensor = _dense(tensor, "The tensor").cpu()
    if tensor.dtype == import_optional("torch", "gpu").bfloat16:
        tensor = tensor.float()  # numpy has no such type
    return tensor.numpy()


def _dense(tensor: Any, name: str) -> Any:
    torch = import_optional("torch", "gpu")
    if tensor.layout is not torch.strided:
        raise TypeError(
            f"{name} is sparse, which is not supported here; hand over a dense one, "
            "X.to_dense(), or a scipy matrix."
        )
    return tensor


def check_rows(X: Any, place: Place, name: str = "X", min_samples: int = 1) -> Any:
    """Rows as a contiguous tensor of float32 or float64, every number finite.

    Parameters
    ----------
    X : Tensor or cupy.ndarray of shape (n_samples, n_features)
        Rows. Integers and numbers of other precisions become float64, as in numpy.
    place : Place
        Where they should be.
    name : str, default="X"
        What to call them.
    min_samples : int, default=1
        Rows that are needed.

    Returns
    -------
    rows : Tensor of shape (n_samples, n_features)
        The same memory where nothing had to change.
    """
    torch = import_optional("torch", "gpu")
    rows = _dense(place.take(X, name), name)
    if rows.is_complex():
        raise ValueError(f"Complex data not supported: {name} is of {rows.dtype}.")
    if rows.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {rows.ndim}D array instead: {name} has shape "
            f"{tuple(rows.shape)}; give one row per sample."
        )
    for count, least, what in zip(rows.shape, (min_samples, 1), ("sample", "feature")):
        if count < least:
            raise ValueError(
                f"Found array with {count} {what}(s) (shape={tuple(rows.shape)}) while "
                f"a minimum of {least} is required."
            )
    if rows.dtype not in (torch.float32, torch.float64):
        rows = rows.to(torch.float64)
    _check_values(rows, name)
    return rows.contiguous()


def _check_values(rows: Any, name: str) -> None:
    low, high = (value.item() for value in rows.aminmax())
    if not (np.isfinite(low) and np.isfinite(high)):  # NaN hides from neither
        what = "NaN" if bool(rows.isnan().any()) else "infinity"
        raise ValueError(f"Input {name} contains {what}.")
    limit = LARGEST[rows.element_size()]
    if max(-low, high) > limit:
        raise ValueError(
            f"{name} holds {max(-low, high):.3g}, too large to be squared safely in "
            f"{rows.dtype}: divide it so that no magnitude is above {limit:.0e}."
        )
