"""Packing samples, labels and maps into few bytes for the interactive page."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import base64
import gzip
import json
from dataclasses import dataclass

import numpy as np
from sklearn.preprocessing import normalize

from demurk.labels import check_labels

__all__ = [
    "PageLabels",
    "align_embeddings",
    "pack_positions",
    "panel_name",
    "read_embeddings",
    "read_page_labels",
    "zipped",
]


@dataclass(frozen=True, eq=False)
class PageLabels:
    """Given and cleaned labels over the same columns."""

    given: np.ndarray  # bool (n, q)
    observed: np.ndarray  # bool (n, q)
    cleaned: np.ndarray | None  # bool (n, q), equal to `given` where undecided
    names: list


def panel_name(key):
    """A map's name; the numbers of `embed_weights` become words."""
    return key if isinstance(key, str) else f"feature weight {key:g}"


def read_embeddings(embeddings):
    """Names and two columns for each map, checked."""
    if not hasattr(embeddings, "items"):
        embeddings = {"map": embeddings}
    if not embeddings:
        raise ValueError("embeddings is empty; give at least one map.")
    maps = {panel_name(key): np.asarray(Z) for key, Z in embeddings.items()}
    n_samples = len(next(iter(maps.values())))
    for name, Z in maps.items():
        if Z.ndim != 2 or Z.shape[1] < 1 or Z.shape[0] != n_samples or not n_samples:
            raise ValueError(
                f"The map '{name}' has shape {Z.shape}; every map needs the same "
                "number of rows, one per sample, and at least one column."
            )
        Z = Z[:, :2].astype(np.float64)
        if not np.isfinite(Z).all():
            row = int(np.flatnonzero(~np.isfinite(Z).all(axis=1))[0])
            raise ValueError(
                f"The map '{name}' holds NaN or infinity in row {row}; leave the "
                "sample out or give it a place."
            )
        # A single coordinate becomes a line.
        maps[name] = Z if Z.shape[1] == 2 else np.column_stack([Z, np.zeros(len(Z))])
    return maps


def align_embeddings(maps):
    """Mirror and swap the axes of each map to resemble the one before it.

    Axes of a map mean nothing by themselves, and without this, points would fly
    across the page where an eigenvector merely changed its sign.

    Parameters
    ----------
    maps : dict of str to ndarray of shape (n_samples, 2)
        Maps of the same samples.

    Returns
    -------
    aligned : dict of str to ndarray of shape (n_samples, 2)
        The same maps; the first one as it was.
    """
    aligned, before = {}, None
    for name, Z in maps.items():
        scaled = normalize(Z - Z.mean(axis=0), axis=0)
        if before is not None:
            likeness = before.T @ scaled
            straight = abs(likeness[0, 0]) + abs(likeness[1, 1])
            crossed = abs(likeness[0, 1]) + abs(likeness[1, 0])
            order = [1, 0] if crossed > straight else [0, 1]
            signs = np.where(likeness[[0, 1], order] < 0, -1.0, 1.0)
            Z, scaled = Z[:, order] * signs, scaled[:, order] * signs
        aligned[name], before = Z, scaled
    return aligned


def read_page_labels(labels, cleaned, names, n_samples):
    """Bring given and cleaned labels to the same columns."""
    before = _read(labels, n_samples)
    given, observed, classes = before.values > 0, before.observed, before.classes
    if cleaned is not None:
        after = _read(cleaned, n_samples)
        if before.single != after.single or not (
            before.single or before.n_labels == after.n_labels
        ):
            raise ValueError(
                f"labels have {before.n_labels} columns and cleaned has "
                f"{after.n_labels}; give both in the same form and order."
            )
        corrected, decided = after.values > 0, after.observed
        if before.single:
            # A class may occur only before or only after cleaning.
            classes = np.union1d(classes, after.classes)
            given, observed = _spread(before, classes)
            corrected, decided = _spread(after, classes)
        cleaned = np.where(decided, corrected, given)
    names = [str(name) for name in (classes if names is None else names)]
    if len(names) != given.shape[1]:
        raise ValueError(
            f"names has {len(names)} entries, but there are {given.shape[1]} labels; "
            "give one name per label."
        )
    return PageLabels(given, observed, cleaned, names)


def _read(labels, n_samples):
    one = getattr(labels, "shape", ())[1:] == (1,)
    return check_labels(labels, n_samples, columns="labels" if one else None)


def _spread(labels, classes):
    """What is given and what is observed, over more classes than occur."""
    given = np.zeros((labels.n_samples, len(classes)), dtype=bool)
    given[:, np.searchsorted(classes, labels.classes)] = labels.values > 0
    return given, np.repeat(labels.labeled[:, None], len(classes), axis=1)


def pack_positions(Z):
    """Coordinates as uint16 over the range of each axis, all of the first, then the
    second."""
    low = Z.min(axis=0)
    span = Z.max(axis=0) - low
    unit = np.where(span > 0, (Z - low) / np.where(span > 0, span, 1.0), 0.5)
    return np.rint(unit.T * 65535).astype("<u2")


def pack_bits(table):
    """One bit per label, each row padded to whole bytes, zipped."""
    return zipped(np.packbits(table, axis=1, bitorder="little"))


def zipped(content):
    """Bytes, an array or anything JSON can hold, as gzip in base64."""
    if isinstance(content, np.ndarray):
        content = np.ascontiguousarray(content).tobytes()
    elif not isinstance(content, bytes):
        # JSON knows half a letter by the name that Python gives it.
        text = json.dumps(content, ensure_ascii=False)
        content = text.encode("utf-8", "backslashreplace")
    # Without a time stamp, the same input gives the same text.
    return base64.b64encode(gzip.compress(content, 6, mtime=0)).decode("ascii")
