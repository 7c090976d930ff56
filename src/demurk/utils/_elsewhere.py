"""Rows that live elsewhere than in memory are handed to the room that works there."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Any

__all__ = ["METHODS", "anywhere", "room_of"]

# Package of an array, and the room that computes with its arrays. A room has a function
# `run(function, *args, **kwargs)` that does what the function would do, where the rows
# are. Rooms are named, not imported: nothing that runs in memory depends on them.
ROOMS = {"torch": "demurk.device", "cupy": "demurk.device", "dask": "demurk.cluster"}

# Methods of estimators whose first argument are rows.
METHODS = (
    *("fit", "partial_fit", "fit_transform", "fit_predict", "transform"),
    *("predict", "predict_proba", "decision_function", "score"),
)


def room_of(X: Any) -> Any:
    """The room that computes with this kind of array; None for those in memory."""
    name = ROOMS.get(type(X).__module__.partition(".")[0])
    return None if name is None else import_module(name)


def anywhere(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function or a method of rows take them wherever they live."""

    @wraps(function)
    def somewhere(*args: Any, **kwargs: Any) -> Any:
        # The rows are the first argument, of a method the one after itself.
        for X in (*args[:2], kwargs.get("X")):
            room = room_of(X)
            if room is not None:
                return room.run(function, *args, **kwargs)
        return function(*args, **kwargs)

    return somewhere
