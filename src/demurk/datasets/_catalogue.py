"""The known data sets: facts about them, and where their files may lie."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import difflib
import json
import os
from functools import cache
from importlib import resources
from pathlib import Path


@cache
def catalogue():
    """Facts by name, from `catalogue.json`.

    Each entry has `task`, `n_samples`, `n_features` and `n_labels` as loaded, `splits`
    (files, perhaps a range of rows, number of samples), and as far as they apply
    `options` of the reader, `arrays` (a digest of the numbers read), `sha256` of the
    files, their usual `folder` and `source`, an `openml` id, `builtin`, or a reason why
    it is `unreadable`.
    """
    file = resources.files("demurk.datasets").joinpath("catalogue.json")
    return json.loads(file.read_text(encoding="utf-8"))


def known_name(name):
    """The name as the catalogue spells it."""
    plain = {_plain(known): known for known in catalogue()}
    if _plain(str(name)) in plain:
        return plain[_plain(str(name))]
    close = difflib.get_close_matches(_plain(str(name)), plain, n=3, cutoff=0.5)
    hint = ", ".join(plain[match] for match in close) or ", ".join(catalogue())
    raise ValueError(
        f"There is no data set {name!r}; did you mean {hint}? For a file of your own, "
        "use read_dataset."
    )


def _plain(name):
    return name.lower().replace("-", "_")


def data_folders(data_home=None):
    """Folders to look in, the first one first."""
    cache_home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folders = [data_home, os.environ.get("DEMURK_DATA"), Path(cache_home) / "demurk"]
    return [Path(folder).expanduser() for folder in folders if folder]


def find_file(name, file, folders):
    """Path of a file of a data set, also if it is not compressed, or None."""
    entry = catalogue()[name]
    for folder in folders:
        for place in (folder / entry["folder"], folder / name, folder):
            for spelling in (file, file.removesuffix(".gz")):
                if (place / spelling).is_file():
                    return place / spelling
    return None


def needed_files(entry, split):
    """Files of a split, with those that its options name."""
    files = list(entry["splits"][split].get("files", ()))
    names = entry.get("options", {}).get("label_names")
    return files + [names] * isinstance(names, str)


def list_datasets(data_home=None):
    """List the data sets that `load_dataset` knows.

    Parameters
    ----------
    data_home : str or path, default=None
        A folder to look in first, as in :func:`load_dataset`.

    Returns
    -------
    records : list of dict
        Per data set `name`; `task`, one of "multilabel", "partial_label",
        "partial_multilabel" and "multiclass"; `n_samples`, `n_features`, `n_labels`;
        `splits`; `available`, whether it can be loaded without a download; `where`, the
        folder it lies in, "built in", "OpenML" if it can be downloaded, or None.

    Examples
    --------
    >>> from demurk.datasets import list_datasets
    >>> [r["name"] for r in list_datasets() if r["where"] == "built in"]
    ['digits', 'synthetic']
    """
    folders = data_folders(data_home)
    facts = ("task", "n_samples", "n_features", "n_labels")
    records = []
    for name, entry in catalogue().items():
        where = _where(name, entry, folders)
        records.append(
            {"name": name}
            | {fact: entry[fact] for fact in facts}
            | {
                "splits": list(entry["splits"]),
                "available": where not in (None, "OpenML"),
                "where": where,
            }
        )
    return records


def _where(name, entry, folders):
    """Where the whole data set would come from."""
    if entry.get("builtin"):
        return "built in"
    if not entry["splits"]:
        return None
    files = [find_file(name, file, folders) for file in needed_files(entry, "all")]
    if None not in files:
        return str(files[0].parent)
    return "OpenML" if "openml" in entry else None
