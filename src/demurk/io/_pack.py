"""Packing what skops wrote so that it is small, and passes the checks of `load`."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import zipfile
from io import BytesIO

from demurk.io._archive import ENTRY, FACTOR, FREE, json_cost

__all__ = ["pack"]

SCHEMA = "schema.json"


def pack(source, target):
    """Compress the archive `source` (a file) into `target` (a path).

    What compresses to less than a tenth is stored as it is where the whole would
    otherwise unpack to more than `load` believes of a file of that size.
    """
    with zipfile.ZipFile(source) as raw:
        cost = _write(raw, target, {})
        if cost > FACTOR * target.stat().st_size + FREE:
            with zipfile.ZipFile(target) as packed:
                stored = {
                    info.filename: zipfile.ZIP_STORED
                    for info in packed.infolist()
                    if info.file_size > FACTOR * info.compress_size
                }
            _write(raw, target, stored | {SCHEMA: zipfile.ZIP_STORED})


def _write(raw, target, methods):
    """Write all members and return the memory that `load` will count."""
    cost = 0
    with zipfile.ZipFile(target, "w") as packed:
        for name in raw.namelist():
            content = raw.read(name)
            if name == SCHEMA:
                # skops indents; without, the text is a third as long.
                content = json.dumps(json.loads(content), separators=(",", ":"))
                content = content.encode()
            elif name.endswith(".npz"):
                # Compressed once, not twice.
                content = _unpacked(content)
            packed.writestr(name, content, methods.get(name, zipfile.ZIP_DEFLATED))
            cost += ENTRY + (json_cost(content) if name == SCHEMA else len(content))
    return cost


def _unpacked(content):
    buffer = BytesIO()
    with (
        zipfile.ZipFile(BytesIO(content)) as inner,
        zipfile.ZipFile(buffer, "w") as outer,
    ):
        for name in inner.namelist():
            outer.writestr(name, inner.read(name))
    return buffer.getvalue()
