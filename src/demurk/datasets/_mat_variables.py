"""The variables of MATLAB files of version 4 to 7.2, checked before they are believed.

Only what is asked for is unpacked, and only numeric and sparse matrices are: nothing
in a file is followed, called or built by its own word.
"""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import math
import struct
import zlib

import numpy as np
from scipy import sparse

from demurk.datasets._room import check_columns, check_room, refuse_expansion, room
from demurk.utils._text import one_line

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15
# Types of stored numbers, by their code.
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8"}
_STORED |= {12: "i8", 13: "u8"}
_CLASSES = {1: "cell", 2: "struct", 3: "object", 4: "char", 5: "sparse", 6: "double"}
_CLASSES |= {7: "single", 8: "int8", 9: "uint8", 10: "int16", 11: "uint16"}
_CLASSES |= {12: "int32", 13: "uint32", 14: "int64", 15: "uint64"}
_CLASSES |= {16: "function", 17: "opaque"}
_NOT_NUMERIC = {"cell", "struct", "object", "char", "function", "opaque", "complex"}
_COMPLEX = 0x0800
# Enough for the flags, the sizes and the name of a variable.
_START = 4096
_V4_TYPES = ("f8", "f4", "i4", "i2", "u2", "u1")


class Damage(ValueError):
    """A file does not follow the format."""


class Variable:
    """A matrix that has not been read yet: its kind, its shape and how to read it."""

    def __init__(self, kind, shape, read=None):
        self.kind = kind
        self.shape = shape
        self.read = read  # None if it is no numeric matrix


def mat_variables(path):
    """Variables of a file by name; None for version 7.3, which is another format."""
    content = memoryview(np.fromfile(path, dtype=np.uint8))
    return guarded(lambda: _variables(content, path), path)()


def guarded(read, path):
    """A function that reads, with one sentence if the file is damaged there."""

    def read_guarded():
        try:
            return read()
        except (Damage, zlib.error) as error:
            raise ValueError(
                f"{path} cannot be read as a MATLAB file ({one_line(error)}); get the "
                "file again or save it anew with version 7."
            ) from error

    return read_guarded


def _variables(content, path):
    if len(content) >= 4 and 0 in bytes(content[:4]):
        return _variables_4(content, path)
    if len(content) < _HEADER or bytes(content[126:128]) not in (b"IM", b"MI"):
        raise Damage("it has no MATLAB header")
    order = "<" if content[126] == ord("I") else ">"
    (version,) = struct.unpack_from(order + "H", content, 124)
    if version >> 8 == 2:
        return None
    if version >> 8 != 1:
        raise Damage(f"its version {version:#x} is not known")
    return _variables_5(content, order, path)


# Version 5 to 7.2: a list of elements, each with its type and its length


def _element(content, place, order, *, whole=True):
    """Type and bytes of the element at a place, and the place after it.

    If not `whole`, the content may end before the element does.
    """
    if place + 8 > len(content):
        raise Damage("it ends inside an element")
    kind, size = struct.unpack_from(order + "II", content, place)
    if kind >> 16:  # up to four bytes fit into the head itself
        kind, size = kind & 0xFFFF, kind >> 16
        if size > 4:
            raise Damage("a small element is too long")
        return kind, content[place + 4 : place + 4 + size], place + 8
    place += 8
    if whole and place + size > len(content):
        raise Damage("an element is longer than the file")
    padding = 0 if kind == _COMPRESSED else -size % 8
    return kind, content[place : place + size], place + size + padding


def _numbers(content, place, order, n_values=None):
    """The numbers stored in an element, and the place after it."""
    kind, data, place = _element(content, place, order)
    if kind not in _STORED:
        raise Damage(f"it holds numbers of the unknown type {kind}")
    dtype = np.dtype(order + _STORED[kind])
    n_found, rest = divmod(len(data), dtype.itemsize)
    if rest or n_values not in (None, n_found):
        raise Damage("a matrix has another size than it declares")
    return np.frombuffer(data, dtype), place


def _variables_5(content, order, path):
    found, place = {}, _HEADER
    while place < len(content):
        kind, data, place = _element(content, place, order)
        if kind not in (_MATRIX, _COMPRESSED):
            raise Damage(f"it holds an element of the unknown type {kind}")
        start = data
        if kind == _COMPRESSED:
            start = memoryview(zlib.decompressobj().decompress(data, _START))
            matrix, start, _ = _element(start, 0, order, whole=False)
            if matrix != _MATRIX:
                raise Damage("it holds a compressed element that is no matrix")
        name, variable = _describe(start, order)
        if variable.kind not in _NOT_NUMERIC and len(variable.shape) == 2:
            packed = data if kind == _COMPRESSED else None
            variable.read = _reader_5(data, packed, order, variable, path)
        if name in found:
            raise Damage(f"it has two variables {name!r}")
        if name:  # MATLAB keeps its own notes without a name
            found[name] = variable
    return found


def _describe(start, order):
    """Name and variable from the flags, the sizes and the name in front."""
    flags, place = _numbers(start, 0, order)
    if len(flags) != 2 or flags.dtype.kind != "u":
        raise Damage("a variable has no flags")
    kind = _CLASSES.get(int(flags[0]) & 0xFF)
    if kind is None:
        raise Damage("it has a variable of an unknown class")
    shape = ()
    if kind != "opaque":
        sizes, place = _numbers(start, place, order)
        if sizes.dtype.kind not in "iu":
            raise Damage("the sizes of a variable are no integers")
        shape = tuple(int(size) for size in sizes)
        if not 2 <= len(shape) <= 32 or min(shape) < 0:
            raise Damage(f"a variable has the sizes {str(shape)[:60]}")
    _, name, _ = _element(start, place, order)
    name = bytes(name).decode("latin-1")
    if int(flags[0]) & _COMPLEX:
        kind = "complex"
    return name, Variable(kind, shape)


def _reader_5(content, packed, order, variable, path):
    def read():
        matrix = content
        if packed is not None:
            _, matrix, _ = _element(memoryview(_inflated(packed, path)), 0, order)
        place = 0
        for _ in range(3):  # flags, sizes and name
            _, _, place = _element(matrix, place, order)
        if variable.kind == "sparse":
            rows, place = _numbers(matrix, place, order)
            starts, place = _numbers(matrix, place, order)
            values, _ = _numbers(matrix, place, order)
            return checked_sparse(rows, starts, values, variable.shape, path)
        n_values = math.prod(variable.shape)
        check_room(n_values, path, "matrix")
        values, _ = _numbers(matrix, place, order, n_values)
        return values.reshape(variable.shape, order="F")

    return guarded(read, path)


def _inflated(packed, path):
    """Unpacked bytes, as many as the file may hold."""
    machine, content, most = zlib.decompressobj(), bytearray(), room(path)
    for place in range(0, len(packed), 2**14):
        content += machine.decompress(packed[place : place + 2**14])
        if len(content) > most:
            refuse_expansion(path, most)
    if not machine.eof:
        raise Damage("compressed data are cut off")
    return content


def checked_sparse(rows, starts, values, shape, path):
    """A sparse matrix by columns, its indices checked before they are used."""
    n_rows, n_columns = shape
    check_columns(n_rows + n_columns, path, "rows and columns")
    rows, starts = np.asarray(rows), np.asarray(starts)
    if rows.dtype.kind not in "iu" or starts.dtype.kind not in "iu":
        raise Damage("the indices of a sparse matrix are no integers")
    rows, starts = rows.astype(np.int64), starts.astype(np.int64)
    if len(starts) != n_columns + 1 or starts[0] != 0 or (np.diff(starts) < 0).any():
        raise Damage("the columns of a sparse matrix are not where it says")
    n_values = int(starts[-1])
    if n_values > min(len(rows), len(values)):
        raise Damage("a sparse matrix has fewer values than it declares")
    rows, values = rows[:n_values], np.asarray(values)[:n_values]
    if n_values and (rows.min() < 0 or rows.max() >= n_rows):
        raise Damage(f"a row index of a sparse matrix is not from 0 to {n_rows - 1}")
    values = values.astype(values.dtype.newbyteorder("="))
    return sparse.csc_array((values, rows, starts), shape=shape)


# Version 4: heads of five numbers, names and plain matrices


def _variables_4(content, path):
    found, place = {}, 0
    while place < len(content):
        if place + 20 > len(content):
            raise Damage("it ends inside the head of a variable")
        order = "<" if 0 <= struct.unpack_from("<i", content, place)[0] < 5000 else ">"
        code, *shape, imaginary, length = struct.unpack_from(
            order + "5i", content, place
        )
        precision, kind = code // 10 % 10, code % 10
        if not 0 <= code < 5000 or code // 100 % 10 or precision > 5 or kind > 2:
            raise Damage("a variable has an unknown type")
        shape = tuple(shape)
        if min(shape) < 0 or length < 1 or imaginary not in (0, 1):
            raise Damage(f"a variable has the sizes {shape}")
        start = place + 20 + length
        dtype = np.dtype(order + _V4_TYPES[precision])
        n_bytes = math.prod(shape) * dtype.itemsize
        place, name = start + n_bytes * (1 + imaginary), content[place + 20 : start]
        if place > len(content):
            raise Damage("a matrix is longer than the file")
        name = bytes(name).rstrip(b"\0").decode("latin-1")
        values = np.frombuffer(content[start : start + n_bytes], dtype)
        values = values.reshape(shape, order="F")
        if kind == 1 or imaginary:
            found[name] = Variable("complex" if imaginary else "char", shape)
        elif kind == 2:
            found[name] = Variable("sparse", (), _sparse_4(values, path))
        else:
            found[name] = Variable(dtype.name, shape, lambda values=values: values)
    return found


def _sparse_4(triples, path):
    """Rows of row number, column number and value; the last row holds the shape."""

    def read():
        if triples.shape[1] != 3 or not len(triples):
            raise Damage("a sparse matrix does not have three columns")
        places, values = triples[:, :2].astype(np.float64), triples[:-1, 2]
        if not (np.isfinite(places).all() and (places == np.floor(places)).all()):
            raise Damage("the indices of a sparse matrix are no integers")
        if places.min() < 0 or places.max() > 2**31:
            raise Damage("an index of a sparse matrix is out of range")
        shape = tuple(int(size) for size in places[-1])
        check_columns(sum(shape), path, "rows and columns")
        places = places[:-1].astype(np.int64) - 1
        if len(places) and (places.min() < 0 or (places.max(axis=0) >= shape).any()):
            raise Damage("an index of a sparse matrix is out of range")
        values = values.astype(values.dtype.newbyteorder("="))
        return sparse.csc_array((values, tuple(places.T)), shape=shape)

    return guarded(read, path)
