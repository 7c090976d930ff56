"""The list of methods: one row per estimator, read by the command and the tests."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass
from importlib import import_module

__all__ = ["METHODS", "Method", "get_method"]


@dataclass(frozen=True)
class Method:
    """One estimator of the library.

    Attributes
    ----------
    name : str
        Class name.
    room : str
        Public module it is imported from, below ``demurk``.
    task : str
        "reduce", "clean" or "classify".
    labels : str
        What it makes of the labels, in a few words.
    source : str
        Where it comes from.
    """

    name: str
    room: str
    task: str
    labels: str
    source: str

    def load(self):
        """Import the class.

        Returns
        -------
        estimator_class : type
            The estimator.
        """
        return getattr(import_module(f"demurk.{self.room}"), self.name)


METHODS = (
    Method(
        "NMLSDR",
        "projection",
        "reduce",
        "noisy, mostly missing",
        "Mikalsen et al. 2019",
    ),
    Method("MDDM", "projection", "reduce", "trusted", "Zhang and Zhou 2010"),
    Method(
        "NoisyLabelPropagation",
        "propagation",
        "clean",
        "noisy, mostly missing",
        "Mikalsen et al. 2019; Nie et al. 2010",
    ),
    Method("MLkNN", "multilabel", "classify", "trusted", "Zhang and Zhou 2007"),
    Method(
        "SemiSupervisedMLkNN",
        "multilabel",
        "classify",
        "noisy, mostly missing",
        "Mikalsen et al. 2019",
    ),
)


def get_method(name, task=None):
    """Find a method by its name, whatever the case of the letters.

    Parameters
    ----------
    name : str
        Class name.
    task : str, default=None
        If given, the method must do this.

    Returns
    -------
    method : Method
        The row of the list.

    Examples
    --------
    >>> from demurk.registry import get_method
    >>> get_method("nmlsdr").room
    'projection'
    """
    fitting = [m for m in METHODS if task is None or m.task == task]
    for method in fitting:
        if method.name.lower() == name.lower():
            return method
    known = ", ".join(m.name for m in fitting)
    what = f"method for the task '{task}'" if task else "method"
    raise ValueError(f"There is no {what} called '{name}': choose one of {known}.")
