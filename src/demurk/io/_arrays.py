"""Arrays out of a file: the declared sizes must be those of the data."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import math
import re
import struct

import numpy as np

from demurk.io._archive import Archive, Damaged
from demurk.utils._trees import node_dtype

__all__ = ["read_array", "read_csr"]

MAGIC = b"\x93NUMPY\x01\x00"
# What numpy writes for an array of numbers or text, and for the nodes of a tree.
HEADER = re.compile(
    r"\{'descr': (?P<descr>'[<>|][biufcmMUS]\d{1,9}(?:\[\w{1,4}\])?'|\[[^\]]*\]), "
    r"'fortran_order': (?P<fortran>True|False), "
    r"'shape': \((?P<shape>[\d, ]*)\), \} *\n?"
)
ALIGNMENT = 64
MAX_CODE_POINT = 0x10FFFF


def read_array(content, allowance):
    """Read the content of an npy file, a bytearray that the array goes on using.

    Nothing in the header is evaluated, and a size is believed only if the data have it.
    """
    if content[:8] != MAGIC or len(content) < 10:
        raise Damaged("an array has an unknown format")
    start = 10 + struct.unpack_from("<H", content, 8)[0]
    header = HEADER.fullmatch(content[10:start].decode("latin1"))
    # numpy pads the header, so that the data are aligned.
    if header is None or start % ALIGNMENT:
        raise Damaged("an array has an unknown format")
    dtype = _dtype(header["descr"])
    shape = tuple(int(n) for n in header["shape"].split(",") if n.strip())
    if (
        dtype.itemsize == 0
        or len(shape) > 8
        or max(shape, default=0) > allowance.total
        or math.prod(shape) * dtype.itemsize != len(content) - start
    ):
        raise Damaged("an array has another size than its data")
    allowance.take(len(content) - start)
    flat = np.frombuffer(content, dtype=dtype, offset=start)
    _check_values(flat)
    return flat.reshape(shape, order="F" if header["fortran"] == "True" else "C")


def _dtype(descr):
    if descr.startswith("["):
        if descr != repr(np.lib.format.dtype_to_descr(node_dtype())):
            raise Damaged("an array has an unknown format")
        return node_dtype()
    return np.dtype(descr.strip("'"))


def _check_values(flat):
    """Refuse bytes that numpy takes on trust."""
    if flat.dtype.kind == "b" and (flat.view(np.uint8) > 1).any():
        raise Damaged("an array has values that are neither true nor false")
    if flat.dtype.kind == "U" and flat.size:
        codes = flat.view(flat.dtype.byteorder.replace("|", "=") + "u4")
        if codes.max() > MAX_CODE_POINT:
            raise Damaged("an array has characters that do not exist")


def read_csr(content, allowance, kind):
    """Read a compressed sparse row matrix out of an npz file, and check its indices."""
    archive = Archive(content, allowance)
    parts = {
        name: read_array(archive.read(f"{name}.npy"), allowance)
        for name in ("format", "shape", "data", "indices", "indptr")
    }
    shape = tuple(parts["shape"].tolist())
    data, indices, indptr = parts["data"], parts["indices"], parts["indptr"]
    if (
        parts["format"].tolist() not in (b"csr", "csr")
        or len(shape) != 2
        or not all(type(n) is int and 0 <= n <= allowance.total for n in shape)
        or not data.ndim == indices.ndim == indptr.ndim == 1
        or data.dtype.kind not in "biufc"
        or any(a.dtype not in (np.int32, np.int64) for a in (indices, indptr))
        # scipy does not look at the pointers of a matrix without entries.
        or indptr.size != shape[0] + 1
        or indptr[0] != 0
        or bool((indptr[1:] < indptr[:-1]).any())
        or indptr[-1] != indices.size
    ):
        raise Damaged("a sparse matrix does not fit together")
    matrix = kind((data, indices, indptr), shape=shape)
    matrix.check_format(full_check=True)
    return matrix
