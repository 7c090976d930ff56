"""What the readers share: opening files, checking values, the returned Bunch."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import codecs
import gzip
import io
import math
import zlib
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch

from demurk.datasets._room import check_room, open_gzip
from demurk.labels._sets import short
from demurk.utils._text import one_line

MISSING = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "<na>"})


def existing_file(path):
    """The path as a Path, or FileNotFoundError."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}; check the path.")
    return path


def stem(path):
    """File name without its suffixes: 'a/scene-train.arff.gz' -> 'scene-train'."""
    return Path(Path(path).name.removesuffix(".gz")).stem


@contextmanager
def gzip_unpacked(path):
    """Turn what is raised for damaged gzip data into a ValueError."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(
            f"{path} is damaged gzip data ({error}); get the file again."
        ) from error


@contextmanager
def open_text(path, encoding):
    """Open a text file, compressed or not; damage becomes a ValueError."""
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        encoding = "utf-8-sig"  # Windows programs put a byte order mark first.
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise ValueError(f"encoding {short(encoding)} is not known.") from None
    with gzip_unpacked(path), io.TextIOWrapper(open_bytes(path), encoding) as stream:
        try:
            yield stream
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{path} is not {error.encoding} text; pass encoding='latin-1' or "
                "the encoding it was written in."
            ) from error


def open_bytes(path):
    """Open a file, compressed or not, whatever its name."""
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    return open_gzip(path) if packed else path.open("rb")


def parse_number(text):
    """A finite float; ValueError also for 'nan', 'inf' and Python's '1_000'."""
    value = float(text)
    if "_" in text or not math.isfinite(value):
        raise ValueError(f"{short(text)} is not a finite number")
    return value


def as_strings(names, option):
    """A list of names given as one option; a lone string is a mistake."""
    if isinstance(names, str):
        raise TypeError(f"{option} must be a list of names, got the string {names!r}.")
    return [str(name) for name in names]


def check_known(names, known, option, path):
    """Every name of an option must occur in the file."""
    members = set(known)
    for name in names:
        if name not in members:
            raise ValueError(
                f"{path} has no column {short(name)} named in {option}; its columns "
                f"are {one_line(', '.join(map(repr, list(known)[:8])))}"
                f"{' ...' * (len(known) > 8)}."
            )


def check_data(data, path):
    """Features as float64, dense or csr_array; NaN marks a missing value."""
    kind = data.dtype.kind
    if data.ndim != 2 or 0 in data.shape or kind not in "biuf":
        raise ValueError(
            f"The features in {path} have shape {data.shape} and type {data.dtype}; "
            "they must be a non-empty numeric matrix with one row per sample."
        )
    if sparse.issparse(data):
        data = sparse.csr_array(data, dtype=np.float64)
        data.sum_duplicates()
        data.eliminate_zeros()
        values = data.data
    else:
        data = np.ascontiguousarray(data, dtype=np.float64)
        values = data.ravel()
    bad = np.flatnonzero(np.isinf(values))
    if len(bad):
        if sparse.issparse(data):
            row = int(np.searchsorted(data.indptr, bad[0], side="right")) - 1
            column = int(data.indices[bad[0]])
        else:
            row, column = divmod(int(bad[0]), data.shape[1])
        raise ValueError(
            f"The features in {path} are infinite at row {row}, column {column}; they "
            "must be finite, or NaN where missing."
        )
    return data


def check_indicator(values, path, *, signed=False, what="labels"):
    """A label matrix as int8: 1, 0, and -1 or NaN for "not observed" (-1).

    With `signed`, a matrix of -1 and 1 without any 0 uses -1 for "absent".
    """
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise ValueError(
            f"The {what} in {path} have shape {values.shape} and type {values.dtype}; "
            "they must be a numeric matrix."
        )
    if sparse.issparse(values):
        check_room(math.prod(values.shape), path, what)
        values = values.toarray()
    missing, absent = np.isnan(values), values == -1
    good = (values == 0) | (values == 1) | missing | absent
    if not good.all():
        row, column = divmod(int(np.argmin(good)), values.shape[1])
        raise ValueError(
            f"The {what} in {path} hold {values[row, column]:g} at row {row}, column "
            f"{column}; they must be 0, 1 or -1."
        )
    result = (values == 1).astype(np.int8)
    if not signed or (values == 0).any():
        result[absent] = -1
    result[missing] = -1
    return result


def check_truth(truth, candidates, path):
    """Compare true labels with candidates; 1-D if each row has one true label."""
    if truth.shape != candidates.shape:
        raise ValueError(
            f"The target in {path} has {truth.shape[1]} labels and the candidates "
            f"{candidates.shape[1]}; they must agree."
        )
    outside = np.argwhere((truth == 1) & (candidates != 1))
    if len(outside):
        raise ValueError(
            f"In {path}, label {outside[0][1]} of row {outside[0][0]} is true but no "
            "candidate; check that the two matrices belong together."
        )
    single = (truth == 1).sum(axis=1) == 1
    return truth.argmax(axis=1) if single.all() else truth


def indicator_of_positions(numbers, n_labels, path, *, first):
    """One-hot rows for label numbers that count from `first`."""
    numeric = numbers.dtype.kind in "biuf"
    if not numeric or not np.isin(numbers, np.arange(first, n_labels + first)).all():
        raise ValueError(
            f"The target in {path} must hold label numbers from {first} to "
            f"{n_labels + first - 1}, one of the {n_labels} candidate labels."
        )
    rows = np.zeros((len(numbers), n_labels), dtype=np.int8)
    rows[np.arange(len(numbers)), numbers.astype(np.intp) - first] = 1
    return rows


def class_codes(values):
    """Turn class values into codes 0, 1, ... and names; missing values become -1.

    Numbers are sorted as numbers. The number -1 means "not labelled" unless the
    values are just -1 and 1, the usual two classes.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        values = values.astype(np.float64)
        if not np.isinf(values).any():
            return _number_codes(values)
    missing = np.array(
        [v is None or v != v or str(v).strip().lower() in MISSING for v in values],
        dtype=bool,
    )
    known = [v for v, gone in zip(values, missing) if not gone]
    try:
        numbers = np.full(len(values), np.nan)
        numbers[~missing] = [parse_number(str(v)) for v in known]
        return _number_codes(numbers)
    except ValueError:
        words = np.array([str(v).strip() for v in known], dtype=object)
    names, codes = np.unique(words, return_inverse=True)
    target = np.full(len(values), -1, dtype=np.int64)
    target[~missing] = codes
    return target, names.tolist()


def _number_codes(values):
    """Codes and names of classes that are numbers, NaN where missing."""
    missing = np.isnan(values)
    numbers = np.unique(values[~missing] if missing.any() else values)
    if numbers.tolist() != [-1.0, 1.0]:
        missing |= values == -1.0
        numbers = numbers[numbers != -1.0]
    target = np.searchsorted(numbers, values)
    target[missing] = -1
    return target, [number_name(number) for number in numbers.tolist()]


def number_name(value):
    """A number as text: '3' rather than '3.0'."""
    return str(int(value)) if value == int(value) else repr(float(value))


def one_hot(codes, n_values):
    """Columns of zeros and ones; a NaN code gives NaN in every column."""
    block = (codes[:, None] == np.arange(n_values)).astype(np.float64)
    block[np.isnan(codes)] = np.nan
    return block


def make_bunch(data, target, feature_names, target_names, name, candidates=None):
    """The object every reader returns."""
    bunch = Bunch(
        data=data,
        target=target,
        feature_names=list(feature_names),
        target_names=list(target_names),
        name=name,
    )
    if candidates is not None:
        bunch.candidates = candidates
    return bunch
