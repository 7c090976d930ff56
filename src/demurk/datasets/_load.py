"""Known data sets by name."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import hashlib
from http.client import HTTPException

import numpy as np
from scipy import sparse

from demurk.datasets._catalogue import (
    catalogue,
    data_folders,
    find_file,
    known_name,
    needed_files,
)
from demurk.datasets._files import make_bunch
from demurk.datasets._generators import make_multilabel_blocks
from demurk.datasets._read import read_dataset
from demurk.datasets._table import Table
from demurk.datasets._table_source import Source


def load_dataset(
    name, *, split="all", data_home=None, download=True, verify=True, **options
):
    """Load a known data set by name.

    The files are looked for in `data_home`, in the folder named by the environment
    variable `DEMURK_DATA`, and in the cache folder (`$XDG_CACHE_HOME/demurk`, usually
    `~/.cache/demurk`). A few data sets are on OpenML and are fetched from there, whole
    only, if no file is found.

    Parameters
    ----------
    name : str
        A name that :func:`list_datasets` gives; case does not matter.
    split : {"all", "train", "test"}, default="all"
        The part to load. "train" and "test" are those of the authors, where they exist.
    data_home : str or path, default=None
        A folder to look in first.
    download : bool, default=True
        Whether OpenML may be asked.
    verify : bool, default=True
        Whether the checksums of the files and the shape of the data are compared with
        the known ones.
    **options
        Passed to the reader of the file, over the options that the data set needs; for
        instance `samples="columns"` for YeastCC. The number of features is then not
        verified.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        `data` (n, D) float64 or `csr_array`; `target` int8 (n, q) for several labels,
        1-D codes into `target_names` for one; `feature_names`, `target_names`, `name`;
        `candidates` int8 (n, q) for candidate-label data, whose `target` is the truth.

    Notes
    -----
    Identifier columns are left out (genbase, zoo), likewise the three columns of vowel
    that tell speaker and split. `location` of birds becomes one column per value, 271
    features in all; `as_number=["location"]` gives the 260 that papers count. YeastCC
    and YeastMF have a square data matrix whose orientation is not known; rows are the
    samples here. The training part of corel16k001 is inferred from the published sizes.

    Examples
    --------
    >>> from demurk.datasets import load_dataset
    >>> toy = load_dataset("synthetic", split="test")
    >>> toy.data.shape, toy.target.shape
    ((2000, 320), (2000, 4))
    """
    name = known_name(name)
    entry = catalogue()[name]
    if "unreadable" in entry:
        raise ValueError(f"Data set {name!r} cannot be loaded: {entry['unreadable']}.")
    if split not in entry["splits"]:
        raise ValueError(
            f"Data set {name!r} has no split {split!r}; it has "
            f"{', '.join(entry['splits'])}."
        )
    part = entry["splits"][split]
    if entry.get("builtin"):
        if options:
            raise TypeError(f"Data set {name!r} takes no options, got {list(options)}.")
        bunch = _built_in(name)
    else:
        bunch = _from_files(name, split, data_home, download, verify, options)
    if "rows" in part:
        bunch = _take(bunch, slice(*part["rows"]))
    bunch.name = name
    if verify:
        _check_shape(bunch, part["n_samples"], entry, options)
    return bunch


def _built_in(name):
    """Data that need no file."""
    if name == "synthetic":
        return make_multilabel_blocks(random_state=0)
    from sklearn.datasets import load_digits

    digits = load_digits()
    names = [str(value) for value in digits.target_names]
    return make_bunch(digits.data, digits.target, digits.feature_names, names, name)


def _from_files(name, split, data_home, download, verify, options):
    """Read the files of a split, or fetch the data set."""
    entry, folders = catalogue()[name], data_folders(data_home)
    wanted = needed_files(entry, split)
    paths = {file: find_file(name, file, folders) for file in wanted}
    if None in paths.values():
        missing = [file for file, path in paths.items() if path is None]
        whole = download and split == "all" and not options
        return _from_openml(name, whole, missing, folders)
    if verify:
        for file, path in paths.items():
            if path.name == file:
                _check_sum(path, entry["sha256"][file])
    options = entry.get("options", {}) | options
    if isinstance(options.get("label_names"), str):
        names = options["label_names"]
        options["label_names"] = paths.get(names, names)
    files = entry["splits"][split]["files"]
    return _concatenate([read_dataset(paths[file], **options) for file in files])


def _check_sum(path, expected):
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != expected:
        raise ValueError(
            f"{path} is not the known file: its SHA-256 is {found[:12]}... instead of "
            f"{expected[:12]}...; replace it, or pass verify=False."
        )


def _from_openml(name, allowed, missing, folders):
    """Fetch from OpenML, or explain what is missing."""
    entry, reason = catalogue()[name], ""
    if "openml" in entry and allowed:
        try:
            return _fetch_openml(name, **entry["openml"])
        except (OSError, HTTPException) as error:
            reason = f" (the download from OpenML failed: {error})"
    elif "openml" in entry:
        reason = " (OpenML has the whole of it, without options)"
    raise FileNotFoundError(
        f"Data set {name!r} needs {' and '.join(missing)}, which is in none of the "
        f"folders {', '.join(map(str, folders))}{reason}; get it from "
        f"{entry['source']} and put it there, or pass its folder as data_home."
    )


def _fetch_openml(name, data_id, drop=(), categorical=()):
    """A multi-label data set of OpenML, whose labels are TRUE and FALSE."""
    from sklearn.datasets import fetch_openml

    found = fetch_openml(data_id=data_id, as_frame=True, parser="auto")
    table = Table(
        found.frame,
        labels=[str(column) for column in found.target.columns],
        options={"drop": drop, "categorical": categorical},
        source=Source(f"OpenML data set {data_id} ({name})"),
    )
    return table.bunch()


def _take(bunch, rows):
    """The same data set with some of its rows."""
    for key in ("data", "target", "candidates"):
        if bunch.get(key) is not None:
            bunch[key] = bunch[key][rows]
    return bunch


def _concatenate(bunches):
    """One data set below the other."""
    first = bunches[0]
    for other in bunches[1:]:
        for key in ("feature_names", "target_names"):
            if other[key] != first[key]:
                raise ValueError(
                    f"{first.name} and {other.name} differ in their {key}, so they "
                    "cannot be joined; load the splits one by one."
                )
    if len(bunches) > 1:
        blocks = [bunch.data for bunch in bunches]
        is_sparse = sparse.issparse(first.data)
        first.data = sparse.vstack(blocks) if is_sparse else np.vstack(blocks)
        first.target = np.concatenate([bunch.target for bunch in bunches])
    return first


def _check_shape(bunch, n_samples, entry, options):
    """Compare with the catalogue; options may change the columns."""
    found = {
        "n_samples": bunch.data.shape[0],
        "n_features": bunch.data.shape[1],
        "n_labels": len(bunch.target_names),
    }
    expected = {key: entry[key] for key in found} | {"n_samples": n_samples}
    for key in ["n_samples"] if options else found:
        if found[key] != expected[key]:
            raise ValueError(
                f"Data set {bunch.name!r} has {key} = {found[key]} instead of "
                f"{expected[key]}, so it is another version; replace its files or pass "
                "verify=False."
            )
