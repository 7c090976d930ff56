"""How good each person is, beyond chance, and how sure that is."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import numpy as np

from demurk.utils._optional import import_optional

__all__ = ["label_rates", "person_quality", "quality_frames"]

N_DRAWS = 200
ENDS = (0.025, 0.975)


def label_rates(confusion, shares):
    """How often each person gives a label where it does not hold, and the reverse.

    Parameters
    ----------
    confusion : ndarray of shape (n_people, n_classes, n_classes) or \
            (n_people, n_labels, 2, 2)
        What people say where each class holds, or where each label does not and does.
    shares : ndarray of shape (n_labels,)
        How frequent the classes or labels are.

    Returns
    -------
    extra, missing : ndarray of shape (n_people, n_labels)
        The rates; of a class against all others.
    """
    if confusion.ndim == 4:
        return confusion[:, :, 0, 1], confusion[:, :, 1, 0]
    kept = np.diagonal(confusion, axis1=1, axis2=2)
    others = np.maximum(1 - shares, 1e-12)
    extra = (np.einsum("k,jkl->jl", shares, confusion) - shares * kept) / others
    return np.clip(extra, 0, 1), 1 - kept


def person_quality(extra, missing, shares, single):
    """Accuracy, and Cohen's kappa with the truth.

    Parameters
    ----------
    extra, missing : ndarray of shape (n_people, n_labels)
        From `label_rates`.
    shares : ndarray of shape (n_labels,)
        How frequent the classes or labels are.
    single : bool
        Whether a row has one class: an error then counts at two of them.

    Returns
    -------
    accuracy, quality : ndarray of shape (n_people,)
        Share of right answers (of right entries of several labels), and what it is
        beyond chance: 1 is always right, 0 a guess. Errors and what chance would make
        are summed over the labels, which for classes gives the usual kappa.
    by_label : ndarray of shape (n_people, n_labels)
        The quality for each label; NaN where chance would not err either.
    """
    wrong = shares * missing + (1 - shares) * extra
    said = shares * (1 - missing) + (1 - shares) * extra
    by_chance = shares * (1 - said) + (1 - shares) * said
    total = np.maximum(by_chance.sum(axis=1), 1e-12)
    quality = 1 - wrong.sum(axis=1) / total
    accuracy = 1 - wrong.sum(axis=1) / (2 if single else len(shares))
    with np.errstate(divide="ignore", invalid="ignore"):
        by_label = np.where(by_chance > 1e-12, 1 - wrong / by_chance, np.nan)
    return accuracy, quality, by_label


def quality_frames(said, concentration, shares, rng):
    """Tables of people, and of people and labels.

    Parameters
    ----------
    said : Annotations
        What people said.
    concentration : ndarray, of the shape of a confusion
        Counts behind each row of it, the prior's among them: the parameters of its
        Dirichlet distribution where the consensus holds.
    shares : ndarray of shape (n_labels,)
        How frequent the classes or labels are.
    rng : RandomState
        Draws the intervals.

    Returns
    -------
    people, labels : pandas.DataFrame
        As in :class:`Consensus`.
    """
    pandas = import_optional("pandas", "tables")
    mean = concentration / concentration.sum(axis=-1, keepdims=True)
    extra, missing = label_rates(mean, shares)
    accuracy, quality, by_label = person_quality(extra, missing, shares, said.single)
    drawn = []
    for _ in range(N_DRAWS):
        one = np.maximum(rng.standard_gamma(concentration), 1e-300)
        one /= one.sum(axis=-1, keepdims=True)
        drawn.append(person_quality(*label_rates(one, shares), shares, said.single)[1:])
    low, high = np.quantile([whole for whole, _ in drawn], ENDS, axis=0)
    label_low, label_high = np.quantile([each for _, each in drawn], ENDS, axis=0)
    people = {
        "person": said.names,
        "rows": said.answers_per_person,
        "accuracy": accuracy,
        "quality": quality,
        "low": low,
        "high": high,
    }
    labels = {
        "person": np.repeat(said.names, said.n_labels),
        "label": np.tile(said.classes, said.n_people),
        "given": said.counts().to_numpy().ravel(),
        "extra": extra.ravel(),
        "missing": missing.ravel(),
        "quality": by_label.ravel(),
        "low": label_low.ravel(),
        "high": label_high.ravel(),
    }
    return pandas.DataFrame(people), pandas.DataFrame(labels)
