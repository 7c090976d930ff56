"""Making model files that nobody saved."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import io
import json
import zipfile

import numpy as np

__all__ = [
    "forge",
    "nodes",
    "npy",
    "plain",
    "read_npy",
    "state_of",
    "write_schema",
]


def forge(path, edit):
    """Rewrite a model file after `edit(schema, members)` changed its content."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(members.pop("schema.json"))
    edit(schema, members)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        archive.writestr("schema.json", json.dumps(schema))
    return path


def write_schema(path, schema):
    """Write a model file that consists of a schema alone."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", json.dumps({**schema, "protocol": 2}))
    return path


def nodes(schema, loader):
    """All nodes of a kind, from the root on."""
    found, stack = [], [schema]
    while stack:
        item = stack.pop(0)
        if isinstance(item, dict):
            if item.get("__loader__") == loader:
                found.append(item)
            stack += item.values()
        elif isinstance(item, list):
            stack += item
    return found


def plain(value):
    """The node of a number or a text."""
    return {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": json.dumps(value),
        "is_json": True,
    }


def npy(array):
    """The content of an npy file."""
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def read_npy(members, name):
    """The array in a member of a model file."""
    return np.load(io.BytesIO(members[name]))


def state_of(schema, loader, index=0):
    """The attributes of an object of a kind."""
    return nodes(schema, loader)[index]["content"]["content"]
