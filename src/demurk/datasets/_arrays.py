"""Readers for libsvm text and NumPy archives."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import io
import math
import zipfile
from operator import index
from pathlib import Path

import numpy as np
from scipy import sparse

from demurk.datasets._files import (
    check_data,
    check_indicator,
    check_truth,
    class_codes,
    existing_file,
    indicator_of_positions,
    make_bunch,
    number_name,
    open_bytes,
    stem,
)
from demurk.datasets._room import bounded, check_columns, check_room
from demurk.utils._text import one_line

# Bytes of libsvm text that are read at once.
_BLOCK = 2**20
_PAIRS = (("X", "Y"), ("X", "y"), ("data", "target"))
_MORE = ("candidates", "feature_names", "target_names")


def read_libsvm(path, *, multilabel=True, n_features=None, zero_based="auto"):
    """Read a libsvm text file, `1,3 5:0.2 9:1` on each line.

    Parameters
    ----------
    path : str or path
        The file, compressed with gzip or not.
    multilabel : bool, default=True
        Whether a line may hold several labels or none. If False, `target` is 1-D.
    n_features : int, default=None
        Number of features; None takes the highest index that occurs.
    zero_based : bool or "auto", default="auto"
        Whether feature indices start at 0; "auto" says so if a 0 occurs.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        `data` (n, D) `csr_array` float64, `target` int8 (n, q) or 1-D codes into
        `target_names`, `feature_names`, `target_names`, `name`. The labels are the
        numbers that occur, in increasing order.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from demurk.datasets import read_libsvm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "toy.svm")
    ...     _ = file.write_text("2,7 1:0.5 3:1\\n7 2:4\\n")
    ...     toy = read_libsvm(file)
    >>> toy.target_names, toy.target.tolist()
    (['2', '7'], [[1, 1], [0, 1]])
    """
    path = existing_file(path)
    try:
        X, y = _read_blocks(path, multilabel)
        X = _shifted(X, n_features, zero_based)
    except Exception as error:  # overflow and decoding errors come up as they are
        raise ValueError(
            f"{path} cannot be read as libsvm text ({one_line(error)}); each line must "
            "be like '1,3 5:0.2 9:1' with increasing indices."
        ) from error
    if X.shape[0] == 0:
        raise ValueError(f"{path} has no rows; the file may be empty or cut off.")
    if n_features is None:
        remedy = "pass n_features if that is meant"
        check_columns(X.shape[1], path, remedy=remedy)
    X = check_data(X, path)
    if np.isnan(X.data).any():
        raise ValueError(f"{path} has a feature that is not a number; leave it out.")
    y, names = _label_sets(*y, path) if multilabel else class_codes(y)
    features = [f"x{j}" for j in range(X.shape[1])]
    return make_bunch(X, y, features, names, stem(path))


def _read_blocks(path, multilabel):
    """Features with the indices of the file, and labels, read in blocks of lines.

    In blocks, because the labels of a line come as Python objects, which take 80 times
    the space of the text. Several labels per line come as sizes of the sets and as one
    list of all labels.
    """
    from sklearn.datasets import load_svmlight_file

    blocks, labels, sizes = [], [np.zeros(0)], [np.zeros(0, dtype=np.int32)]
    with open_bytes(path) as stream:
        while lines := stream.readlines(_BLOCK):
            text = io.BytesIO(b"".join(lines))
            X, y = load_svmlight_file(text, multilabel=multilabel, zero_based=True)
            blocks.append((X.data, X.indices, np.diff(X.indptr)))
            if multilabel:
                sizes.append(np.array([len(row) for row in y], dtype=np.int32))
                y = np.array([label for row in y for label in row], dtype=np.float64)
            labels.append(y)
    if not blocks:
        return sparse.csr_array((0, 0)), (sizes[0], labels[0])
    data, indices, counts = (np.concatenate(part) for part in zip(*blocks))
    starts = np.concatenate([[0], np.cumsum(counts)])
    shape = (len(counts), int(indices.max(initial=-1)) + 1)
    X = sparse.csr_array((data, indices, starts), shape=shape)
    y = np.concatenate(labels)
    return X, ((np.concatenate(sizes), y) if multilabel else y)


def _shifted(X, n_features, zero_based):
    """Features counted from 0."""
    n_found = X.shape[1]
    if zero_based is False or (zero_based == "auto" and X.indices.min(initial=1) > 0):
        X.indices -= 1
        n_found -= 1
    if n_features is None:
        n_features = max(1, n_found)
    elif n_features < n_found:
        raise ValueError(f"n_features is {n_features}, but the file has {n_found}")
    return sparse.csr_array((X.data, X.indices, X.indptr), (X.shape[0], n_features))


def _label_sets(sizes, flat, path):
    """Sets of label numbers, given one after the other, as an indicator matrix."""
    rows = np.repeat(np.arange(len(sizes)), sizes)
    bad = np.flatnonzero(~np.isfinite(flat))
    if len(bad):
        raise ValueError(
            f"{path}, sample {rows[bad[0]]}: a label is not a finite number."
        )
    numbers, columns = np.unique(flat, return_inverse=True)
    if not len(numbers):
        raise ValueError(f"{path} has no labels; each line must start with them.")
    check_room(len(sizes) * len(numbers) // 8, path, "label matrix")
    y = np.zeros((len(sizes), len(numbers)), dtype=np.int8)
    y[rows, columns] = 1
    return y, [number_name(float(number)) for number in numbers]


def read_npz(path):
    """Read a NumPy archive with the arrays `X` and `Y`, or `data` and `target`.

    Parameters
    ----------
    path : str or path
        The file. Optional arrays are `candidates`, `feature_names` and `target_names`.
        Archives that hold Python objects are refused. Beside candidates, a 1-D target
        holds positions of labels, counted from 0, likewise beside `target_names`;
        otherwise it holds class values.

    Returns
    -------
    bunch : :class:`~sklearn.utils.Bunch`
        `data` (n, D) float64, `target` int8 (n, q), or 1-D codes into `target_names` if
        the array is 1-D, `feature_names`, `target_names`, `name`, and `candidates` int8
        (n, q) where given.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import numpy as np
    >>> from demurk.datasets import read_npz
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "toy.npz")
    ...     np.savez(file, X=[[1.0, 2.0], [3.0, 4.0]], Y=[[1, 0], [1, -1]])
    ...     toy = read_npz(file)
    >>> toy.target.tolist()
    [[1, 0], [1, -1]]
    """
    path = existing_file(path)
    found = load_arrays(path, {*_MORE, *(name for pair in _PAIRS for name in pair)})
    pair = next((pair for pair in _PAIRS if set(pair) <= set(found)), None)
    if pair is None:
        raise ValueError(
            f"{path} must hold the arrays X and Y, or data and target; it has "
            f"{one_line(', '.join(found)) or 'none of them'}."
        )
    data, y = check_data(found[pair[0]], path), found[pair[1]]
    candidates = found.get("candidates")
    for name, array in ((pair[1], y), ("candidates", candidates)):
        if array is not None and (array.ndim == 0 or len(array) != len(data)):
            raise ValueError(
                f"{name} in {path} has shape {array.shape} but the data have "
                f"{len(data)} rows; they must agree."
            )
    if candidates is not None:
        candidates = check_indicator(candidates, path, what="candidates")
        names = [str(j) for j in range(candidates.shape[1])]
        if y.ndim == 1:
            y = indicator_of_positions(y, len(names), path, first=0)
        y = check_truth(check_indicator(y, path), candidates, path)
    elif y.ndim == 1 and "target_names" in found:
        names = [str(name) for name in found["target_names"].ravel()]
        if y.dtype.kind not in "iu" or y.min() < -1 or y.max() >= len(names):
            raise ValueError(
                f"{pair[1]} in {path} must hold positions in target_names, or -1."
            )
        y = y.astype(np.int64)
    elif y.ndim == 1:
        y, names = class_codes(y if y.dtype.kind in "iuf" else y.tolist())
    else:
        y = check_indicator(y, path)
        names = [str(j) for j in range(y.shape[1])]
    features = [f"x{j}" for j in range(data.shape[1])]
    features = _names(found.get("feature_names"), features, path)
    names = _names(found.get("target_names"), names, path)
    return make_bunch(data, y, features, names, stem(path), candidates=candidates)


def load_arrays(path, wanted=None):
    """Arrays of an archive by name, those `wanted` or all; of a .npy file under ""."""
    try:
        if Path(path).suffix.lower() == ".npy":
            return {"": _array(bytearray(Path(path).read_bytes()))}
        with zipfile.ZipFile(path) as archive:
            members = {file.removesuffix(".npy"): file for file in archive.namelist()}
            return {
                name: _member(archive, file, path)
                for name, file in members.items()
                if wanted is None or name in wanted
            }
    except Exception as error:  # damaged archives raise zip, zlib and value errors
        raise ValueError(
            f"{path} cannot be read as a NumPy archive ({one_line(error)}); write it "
            "with numpy.savez."
        ) from error


def _member(archive, file, path):
    packing = archive.getinfo(file).compress_type
    if packing not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError("it is packed in a way that NumPy does not use")
    with archive.open(file) as stream:
        return _array(bounded(stream, path))


def _array(content):
    """The array in the bytes of a .npy file; its shape is checked before it is used."""
    head = io.BytesIO(content[: 2**16])
    version = np.lib.format.read_magic(head)
    readers = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }
    if version not in readers:
        raise ValueError(f"version {version} of the array format is not known")
    shape, fortran, dtype = readers[version](head)
    if dtype.kind not in "biufUS" or dtype.itemsize == 0:
        raise ValueError(f"an array holds {dtype}; numbers and text can be read")
    n_values, start = math.prod(map(index, shape)), head.tell()
    if min(shape, default=0) < 0 or n_values * dtype.itemsize != len(content) - start:
        raise ValueError("an array has another size than it declares")
    array = np.frombuffer(content, dtype, offset=start)
    if dtype.kind == "U" and (array.view(f"{dtype.byteorder}u4") > 0x10FFFF).any():
        raise ValueError("an array of text holds numbers that are no characters")
    return array.reshape(shape, order="F" if fortran else "C")


def _names(given, default, path):
    """Stored names, if there are as many as needed."""
    if given is None:
        return default
    if given.shape != (len(default),):
        raise ValueError(
            f"{path} holds names of shape {given.shape} for {len(default)} columns."
        )
    return [str(name) for name in given]
