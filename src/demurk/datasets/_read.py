"""One function for all file formats."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path

from demurk.datasets._arff import read_arff
from demurk.datasets._arrays import read_libsvm, read_npz
from demurk.datasets._catalogue import catalogue, data_folders, find_file, needed_files
from demurk.datasets._mat import read_mat
from demurk.datasets._table_read import LIBSVM, TABLES, is_table, read_table

_READERS = {
    ".arff": read_arff,
    ".mat": read_mat,
    **dict.fromkeys(LIBSVM, read_libsvm),
    ".npz": read_npz,
}


def read_dataset(path, **options):
    """Read a data file in the format that its name announces.

    Parameters
    ----------
    path : str or path
        The file: `.arff` (:func:`read_arff`), `.mat` (:func:`read_mat`), `.svm`,
        `.libsvm`, `.svmlight` or `.txt` (:func:`read_libsvm`), `.npz`
        (:func:`read_npz`), or a table (:func:`read_table`), as which `.txt` and the
        names of libsvm count too where the content is one. Text formats may be
        compressed, with `.gz` added to the name.
    **options
        Passed to the reader. A column of classes is called `target` for all formats.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        `data`, `target`, `feature_names`, `target_names`, `name`, and `candidates`
        where the file has candidate labels.

    See Also
    --------
    load_dataset : Known data sets by name.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from demurk.datasets import read_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "toy.csv")
    ...     _ = file.write_text("a,b,good\\n1,2,0\\n3,4,1\\n")
    ...     toy = read_dataset(file, labels=["good"])
    >>> toy.data.shape, toy.target.shape
    ((2, 2), (2, 1))
    """
    if is_table(path, options):
        if "target" in options:
            options["class_"] = options.pop("target")
        return read_table(path, **options).bunch()
    suffix = Path(Path(path).name.lower().removesuffix(".gz")).suffix
    if suffix not in _READERS:
        raise ValueError(
            f"{path} has no known format; its name must end in one of "
            f"{', '.join([*_READERS, *TABLES])}, or call the reader you want."
        )
    return _READERS[suffix](path, **options)


def files_here(name, data_home=None):
    """Those files of a known data set that are here."""
    entry, folders = catalogue()[name], data_folders(data_home)
    needed = {file for split in entry["splits"] for file in needed_files(entry, split)}
    return [*filter(None, (find_file(name, file, folders) for file in sorted(needed)))]
