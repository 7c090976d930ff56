"""How much memory a file may ask for: what it can hold, not what it claims."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import gzip
import io
import os

__all__ = [
    "bounded",
    "check_columns",
    "check_room",
    "open_gzip",
    "refuse_expansion",
    "room",
]

# Compressed and sparse files may expand to this, whatever their size.
ROOM = 2**30
# An expanded file may be so many times larger than the file.
FACTOR = 10
# Columns cost a name each, also where they are only declared.
MOST_COLUMNS = 2_000_000


def room(path):
    """Bytes that the content of a file may take in memory."""
    return ROOM + FACTOR * os.path.getsize(path)


def check_room(n_values, path, what):
    """Refuse to make `n_values` numbers out of a file that is too small for them."""
    if 8 * n_values > room(path):
        raise ValueError(
            f"The {what} in {path} would be {_written(n_values)} numbers, too many to "
            f"believe of a file of {os.path.getsize(path)} bytes; check it, and if it "
            "is right save it uncompressed or split it."
        )


def check_columns(n_columns, path, what="features", remedy="check that index"):
    """The same for columns that are declared but hold nothing."""
    if n_columns > MOST_COLUMNS + os.path.getsize(path):
        raise ValueError(
            f"{path} has {_written(n_columns)} {what} by its highest index; {remedy}."
        )


def bounded(stream, path, packed=None):
    """Everything a stream that expands gives, in a writable buffer, up to the limit.

    `packed` is the size of what it expands, if that is not a file.
    """
    content = bytearray()
    most = room(path) if packed is None else ROOM + FACTOR * packed
    while chunk := stream.read(2**20):
        content += chunk
        if len(content) > most:
            refuse_expansion(path, most)
    return content


def refuse_expansion(path, most):
    """Raise the error for compressed content that has no end."""
    raise ValueError(
        f"{path} expands to more than {most} bytes, too many to believe of a file of "
        "its size; if it is right, save it uncompressed."
    )


def _written(number):
    """A number of any size; Python refuses to write those of many digits."""
    return f"{min(number, 1e300):.3g}"


class _Counted(io.RawIOBase):
    """Bytes of a compressed text, up to a quarter of what numbers may take."""

    def __init__(self, path):
        self.path, self.left = path, room(path) // 4
        self.stream = gzip.open(path)

    def readable(self):
        return True

    def readinto(self, buffer):
        n = self.stream.readinto(buffer)
        self.left -= n
        if self.left < 0:
            raise ValueError(
                f"{self.path} expands to more text than a file of its size is believed "
                "to hold; if it is right, unpack it first."
            )
        return n

    def close(self):
        self.stream.close()
        super().close()


def open_gzip(path):
    """A gzip file as a stream of bytes that ends in a ValueError if it is a bomb."""
    return io.BufferedReader(_Counted(path), 2**16)
