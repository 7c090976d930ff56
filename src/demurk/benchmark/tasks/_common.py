"""What the tasks share: estimators by name, and reasons not to run one."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import warnings
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec

__all__ = [
    "file_checksum",
    "make_estimator",
    "quiet",
    "reason_to_skip",
    "seeded",
    "unknown_parameter",
]


def make_estimator(method, *, key="estimator", extra=None, n_labels=None, seed=0):
    """Make the estimator that a protocol names.

    Parameters
    ----------
    method : dict
        Table of the protocol. ``method[key]`` is a dotted path, ``method["params"]``
        (``method[key + "_params"]`` for another key) the keyword arguments. Among them
        "n_labels" and "n_labels - 1" stand for numbers and "None" for None.
    key : str, default="estimator"
        What to make.
    extra : dict, default=None
        Further parameters, over those of the method.
    n_labels : int, default=None
        Number of labels of the data.
    seed : int, default=0
        Given to everything that has a ``random_state`` and no seed of its own.

    Returns
    -------
    estimator : estimator
        A fresh one, not fitted.
    """
    module, _, name = method[key].rpartition(".")
    params = method.get("params" if key == "estimator" else f"{key}_params", {})
    words = {"None": None}
    if n_labels is not None:
        words |= {"n_labels": n_labels, "n_labels - 1": n_labels - 1}
    values = {
        name: words.get(value, value) if isinstance(value, str) else value
        for name, value in {**params, **(extra or {})}.items()
    }
    return seeded(getattr(import_module(module), name)(**values), seed)


def seeded(estimator, seed):
    """The estimator, with this seed wherever it has none."""
    for name, value in estimator.get_params().items():
        if name.rpartition("__")[2] == "random_state" and value is None:
            estimator.set_params(**{name: seed})
    return estimator


def reason_to_skip(method, n_samples, n_labels):
    """Why a method cannot run on such data, or None.

    Parameters
    ----------
    method : dict
        Table of the protocol, in which ``needs`` names an optional package, and
        ``max_samples`` and ``max_labels`` say beyond which size a method takes hours.
    n_samples, n_labels : int
        Size of the data.

    Returns
    -------
    reason : str or None
        The first reason found.
    """
    if "needs" in method and find_spec(method["needs"]) is None:
        return f"needs {method['needs']}"
    for size, name in ((n_samples, "samples"), (n_labels, "labels")):
        limit = method.get(f"max_{name}")
        if limit is not None and size > limit:
            return f"too large: {size} {name}, at most {limit}"
    return None


def unknown_parameter(method, extra, key="estimator"):
    """Why a setting does not apply to a method, or None."""
    if not extra:
        return None
    if key not in method:
        return f"has no {key}"
    known = make_estimator(method, key=key, n_labels=2).get_params()
    for parameter in extra:
        if parameter not in known:
            return f"has no parameter {parameter}"
    return None


@contextmanager
def quiet():
    """Let estimators be silent: that turns do not settle is part of the results."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def file_checksum(data_set, options):
    """Checksum of the files of a data set that the catalogue knows."""
    from demurk.benchmark.engine._keys import data_checksum

    return data_checksum(None, data_set, options)
