"""What a result depends on: the code, the data, and the task itself."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import hashlib
import json
import re
from functools import cache
from pathlib import Path

import demurk
from demurk.benchmark.engine._protocol import kind_function
from demurk.benchmark.engine._sources import Sources, digest

__all__ = ["code_version", "data_checksum", "keyed_tasks"]

# How arguments name code.
DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")


def code_version():
    """Version of demurk together with a digest of all its modules.

    Returns
    -------
    version : str
        What two machines must share to work on the same run. A result depends on less:
        on the modules that its task imports, directly or not.
    """
    root = Path(demurk.__file__).parent
    places = [path.relative_to(root.parent) for path in sorted(root.rglob("*.py"))]
    names = [
        ".".join(place.with_suffix("").parts).removesuffix(".__init__")
        for place in places
        if "tests" not in place.parts
    ]
    # A package hands on names; as a module of its own it would be asked for by path.
    return f"{demurk.__version__}+{Sources().version([f'{n}.*' for n in names])}"


def data_checksum(kind, data_set, options=None):
    """Checksum of the data of a task.

    Parameters
    ----------
    kind : callable
        Function that does a task. If it has an attribute ``checksum``, that function is
        called with the same arguments `data_set` and `options` and decides.
    data_set : str
        Name of the data set.
    options : dict, default=None
        The other keyword arguments of the task.

    Returns
    -------
    checksum : str
        Digest of the files that the catalogue names and of what is read from them,
        "missing" if none is here, and "builtin" for data that need no file.

    Examples
    --------
    >>> from demurk.benchmark.engine._keys import data_checksum
    >>> data_checksum(print, "digits")
    'builtin'
    """
    own = getattr(kind, "checksum", None)
    if own is not None:
        return str(own(data_set, options or {}))
    from demurk.datasets._catalogue import catalogue, known_name
    from demurk.datasets._read import files_here

    try:
        name = known_name(data_set)
    except ValueError:
        return "builtin"
    entry = catalogue()[name]
    if entry.get("builtin"):
        return "builtin"
    # A task may need only some of the files: those that are here decide.
    paths = files_here(name, (options or {}).get("data_home"))
    if not paths:
        return "missing"
    files = [_file_digest(path, path.stat().st_mtime_ns) for path in paths]
    return digest(" ".join([*files, entry.get("arrays", "")]))


@cache
def _file_digest(path, _changed):
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def keyed_tasks(protocol):
    """Every task by its key, with the versions of its code and its data.

    Parameters
    ----------
    protocol : Protocol
        The comparison.

    Returns
    -------
    tasks : dict of str to (Task, str, str)
        Task, code and data by key, in the order of the tasks.
    """
    function = kind_function(protocol.kind, protocol.folder)
    sources = Sources(folder=protocol.folder)
    sums, codes, keyed = {}, {}, {}
    for task in protocol.tasks():
        arguments = dict(task.arguments)
        about, _ = arguments.pop("method"), arguments.pop("seed")
        name = arguments.pop("data_set")
        place = json.dumps([name, arguments], sort_keys=True)
        if place not in sums:
            sums[place] = data_checksum(function, name, arguments)
        named = (task.kind, *_dotted([about, arguments]))
        if named not in codes:
            codes[named] = f"{demurk.__version__}+{sources.version(named)}"
        code, data = codes[named], sums[place]
        keyed[task.key(code, data)] = (task, code, data)
    return keyed


def _dotted(value):
    """Texts among some arguments that may name code."""
    if isinstance(value, str):
        return [value] if DOTTED.fullmatch(value) else []
    parts = value.values() if isinstance(value, dict) else value
    inner = parts if isinstance(value, dict | list | tuple) else ()
    return [found for part in inner for found in _dotted(part)]
