"""Reading what the user names: a file, or a data set known by name."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path

from scipy.sparse import issparse

from demurk.datasets import list_datasets, load_dataset, read_dataset
from demurk.utils._optional import import_optional

__all__ = ["as_frame", "read_input"]

TABLES = (".csv", ".tsv", ".parquet", ".pq")


def _is_table(path):
    return path.name.lower().removesuffix(".gz").endswith(TABLES)


def _label_option(labels):
    """`--labels` on the command line: a number of columns, names, or a prefix."""
    if labels is None:
        return None
    if labels.isdigit():
        return int(labels)
    return labels.split(",") if "," in labels else labels


def read_input(source, *, labels=None, drop=(), categorical=(), data_home=None):
    """Read a labelled data set from a file or by name."""
    path = Path(source)
    if path.is_file():
        return read_dataset(path, **_options(path, labels, drop, categorical))
    if source not in [entry["name"] for entry in list_datasets()]:
        raise FileNotFoundError(
            f"'{source}' is neither a file nor a known data set: check the path, or "
            "see `demurk datasets`."
        )
    return load_dataset(source, data_home=data_home)


def _options(path, labels, drop, categorical):
    if _is_table(path):
        options = {"drop": list(drop), "categorical": list(categorical)}
        return options | ({} if labels is None else {"labels": _label_option(labels)})
    if labels is None:
        return {}
    if not labels.isdigit():
        raise ValueError(
            f"--labels is '{labels}', but for {path.name} it must be the number of "
            "label columns."
        )
    return {"n_labels": int(labels)}


def as_frame(data):
    """Features with their names, so that a model remembers them; sparse as it is."""
    if issparse(data.data):
        return data.data
    pandas = import_optional("pandas", "cli")
    return pandas.DataFrame(data.data, columns=data.feature_names)
