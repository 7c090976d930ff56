"""Labels that are known to be right, and what had been given in their place."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass

import numpy as np

from demurk.labels import check_labels

__all__ = ["Trusted", "check_trusted"]


@dataclass(frozen=True, eq=False)
class Trusted:
    """What is known to be right.

    Attributes
    ----------
    mask : ndarray of bool of shape (n_samples, n_labels)
        The entries.
    given : ndarray of shape (n_samples, n_labels)
        What had been given there, 0 or 1, before somebody looked; -1 where that is not
        known. Other entries are not read.
    """

    mask: np.ndarray
    given: np.ndarray

    def rows(self, chosen):
        """The same for some rows."""
        return Trusted(self.mask[chosen], self.given[chosen])

    def wrong(self, Y):
        """Entries that had been given wrongly."""
        return self.mask & (self.given >= 0) & (self.given != Y)

    def counts(self, Y):
        """Per label, the errors among the entries looked at, and how many these are.

        Parameters
        ----------
        Y : ndarray of shape (n_samples, n_labels)
            The labels as they are now.

        Returns
        -------
        errors, checked : ndarray of shape (2, n_labels)
            First of the labels that hold, then of those that do not.
        """
        known, wrong = self.mask & (self.given >= 0), self.wrong(Y)
        holds = (Y > 0, Y <= 0)
        errors = np.array([(wrong & part).sum(axis=0) for part in holds], float)
        checked = np.array([(known & part).sum(axis=0) for part in holds], float)
        return errors, checked

    def classes(self, Y):
        """True and given classes, as :func:`choose_class_noise` takes them.

        Parameters
        ----------
        Y : ndarray of shape (n_samples, n_labels)
            One class per sample, as they are now.

        Returns
        -------
        given, known : ndarray of int of shape (n_samples,)
            What was given, -1 where that is not known; the true class where it is, -1
            elsewhere.
        """
        now, rows = Y.argmax(axis=1), self.mask.any(axis=1)
        before = np.where((self.given > 0).any(axis=1), self.given.argmax(axis=1), -1)
        return np.where(rows, before, now), np.where(rows, now, -1)


def check_trusted(trusted, given, labels):
    """Read what is known to be right.

    Parameters
    ----------
    trusted : array-like of bool of shape (n_samples,) or (n_samples, n_labels) or None
        Rows or entries.
    given : labels or None
        Labels as they had been given, in a form that `check_labels` takes.
    labels : LabelData
        The labels as they are now.

    Returns
    -------
    Trusted or None
        None if nothing is.
    """
    if trusted is None:
        if given is not None:
            raise ValueError(
                "given is what stood where labels are trusted now, but trusted is "
                "None: say which labels were looked at."
            )
        return None
    mask, shape = np.asarray(trusted), labels.values.shape
    if mask.dtype != bool or mask.shape not in (shape[:1], shape):
        raise ValueError(
            f"trusted has shape {mask.shape} and type {mask.dtype}: give True or False "
            f"for each of the {shape[0]} rows, or for each entry of shape {shape}."
        )
    mask = np.broadcast_to(mask.reshape(shape[0], -1), shape) & labels.observed
    if labels.single:
        mask = np.broadcast_to(mask.any(axis=1)[:, np.newaxis], shape)
    return Trusted(mask, _values_before(given, labels))


def _values_before(given, labels):
    """What had been given, in the columns of the labels as they are now."""
    before = np.full(labels.values.shape, -1.0)
    if given is None:
        return before
    old = check_labels(given, n_samples=len(before), kind="noisy")
    values = np.where(old.observed, old.values, -1.0)
    if not labels.single:
        if old.single or values.shape != before.shape:
            raise ValueError(
                f"given has shape {np.shape(given)}, but y has shape {before.shape}: "
                "give the same labels as they were before."
            )
        return values
    # A class that no row has now says nothing about those that are left.
    places = {name: j for j, name in enumerate(labels.classes.tolist())}
    for j, name in enumerate(old.classes.tolist()):
        if name in places:
            before[:, places[name]] = values[:, j]
    return before
