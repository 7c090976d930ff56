"""Reading a zip archive that may be forged, within the memory its size allows."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import zipfile
from io import BytesIO

__all__ = ["FACTOR", "FREE", "Allowance", "Archive", "Damaged", "json_cost"]

# Reading a file may take this many times its size, and this much besides. Deflated
# forests take 5 to 7 times their size (600 x 72 to 5,000 x 50 tables); what would take
# more is stored without compression by `save`.
FACTOR = 10
FREE = 64_000_000
# Bytes that Python needs for an entry of an archive, and for an object, a list and a
# value of JSON, at most.
ENTRY, OBJECT, LIST, VALUE = 700, 250, 100, 60
CHUNK = 1 << 20


class Damaged(ValueError):
    """What is wrong with a model file, in words that end a sentence."""


class Allowance:
    """How much memory a file may still take."""

    def __init__(self, n_bytes):
        self.total = self.left = FACTOR * n_bytes + FREE

    def take(self, n_bytes):
        """Count memory before it is used."""
        if n_bytes > self.left:
            raise Damaged("it claims more data than a file of its size can hold")
        self.left -= n_bytes


def json_cost(text):
    """Memory of a text, as bytes and decoded, and of the objects in it, at most."""
    return (
        2 * len(text)
        + OBJECT * text.count(b"{")
        + LIST * text.count(b"[")
        + VALUE * text.count(b",")
    )


class Archive:
    """The members of a zip archive in memory.

    Parameters
    ----------
    data : bytes
        The archive.
    allowance : Allowance
        What its content may take.
    """

    def __init__(self, data, allowance):
        allowance.take(ENTRY * data.count(b"PK\x01\x02"))
        self.allowance = allowance
        self._archive = zipfile.ZipFile(BytesIO(data))
        self._members = {info.filename: info for info in self._archive.infolist()}

    def read(self, name, copies=1):
        """Content of a member; its memory is for the caller to count."""
        info = self._members.get(name) if isinstance(name, str) else None
        if info is None:
            raise Damaged("a part of it is missing")
        # Other methods unpack without a limit.
        if info.flag_bits & 1 or info.compress_type not in (
            zipfile.ZIP_STORED,
            zipfile.ZIP_DEFLATED,
        ):
            raise Damaged("a part of it is packed in a way that demurk does not use")
        if copies * info.file_size > self.allowance.left:
            raise Damaged("it claims more data than a file of its size can hold")
        content, position = bytearray(info.file_size), 0
        with self._archive.open(info) as member:
            # In chunks: otherwise all is unpacked, whatever size is claimed, and twice.
            while position < len(content):
                chunk = member.read(min(CHUNK, len(content) - position))
                if not chunk:
                    raise Damaged("a part of it is cut short")
                content[position : position + len(chunk)] = chunk
                position += len(chunk)
        return content

    def read_json(self, name):
        """The structure in a member."""
        text = self.read(name, copies=2)
        self.allowance.take(json_cost(text))
        return json.loads(text.decode("utf-8"))
