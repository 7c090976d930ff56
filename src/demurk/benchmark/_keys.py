"""What a result depends on: the code, the data, and the task itself."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import ast
import hashlib
import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import demurk
from demurk.benchmark._protocol import kind_function, modules_of

__all__ = ["code_version", "data_checksum", "keyed_tasks"]

# What can have a docstring.
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# Where a method names code.
NAMES = ("estimator", "reducer", "like")
# What no result depends on: tests, pictures, the command, and the benchmark's engine
# and report.
NO_RESULT = ("tests", "viz", "cli")
NO_RESULT_FILES = (
    *("__init__", "_protocol", "_keys", "_store", "_runner"),
    *("_report", "_report_page", "_results", "_tables", "_grids", "_markup"),
    *("_ranking", "_report_figures"),
    *("_figures", "_figure_curves", "_figure_style", "_significance", "_published"),
)


@cache
def code_version():
    """Version of demurk together with a digest of its source files.

    Returns
    -------
    version : str
        Changes with every file on which a result may depend, but not with comments
        and docstrings. Tests, pictures, the command, and the engine and report of the
        benchmark are left out.

    Examples
    --------
    >>> import demurk
    >>> from demurk.benchmark import code_version
    >>> code_version().startswith(demurk.__version__ + "+")
    True
    """
    root = Path(demurk.__file__).parent
    parts = []
    for path in sorted(root.rglob("*.py")):
        place = path.relative_to(root)
        engine = place.parent == Path("benchmark") and place.stem in NO_RESULT_FILES
        if not engine and not set(NO_RESULT) & set(place.parts):
            parts.append(f"{place.as_posix()} {_digest(_program(path))}")
    return f"{demurk.__version__}+{_digest(' '.join(parts))[:12]}"


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
        Digest of the files that the catalogue names, "missing" if none is here, and
        "builtin" for data that need no file.

    Examples
    --------
    >>> from demurk.benchmark import data_checksum
    >>> data_checksum(print, "digits")
    'builtin'
    """
    own = getattr(kind, "checksum", None)
    if own is not None:
        return str(own(data_set, options or {}))
    from demurk.datasets import _catalogue as known

    try:
        name = known.known_name(data_set)
    except ValueError:
        return "builtin"
    entry = known.catalogue()[name]
    if entry.get("builtin"):
        return "builtin"
    folders = known.data_folders((options or {}).get("data_home"))
    wanted = {f for split in entry["splits"] for f in known.needed_files(entry, split)}
    # A task may need only some of the files: those that are here decide.
    paths = [known.find_file(name, file, folders) for file in sorted(wanted)]
    paths = [path for path in paths if path is not None]
    if not paths:
        return "missing"
    return _digest(" ".join(_file_digest(p, p.stat().st_mtime_ns) for p in paths))


def _program(path):
    """What a source file does: its syntax tree, without comments and docstrings."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


@cache
def _file_digest(path, _changed):
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _digest(content):
    content = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(content).hexdigest()


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
    sums, sources, keyed = {}, {}, {}
    for task in protocol.tasks():
        arguments = dict(task.arguments)
        about, _ = arguments.pop("method"), arguments.pop("seed")
        name = arguments.pop("data_set")
        place = json.dumps([name, arguments], sort_keys=True)
        if place not in sums:
            sums[place] = data_checksum(function, name, arguments)
        named = (task.kind, *(str(about[key]) for key in NAMES if key in about))
        if named not in sources:
            sources[named] = code_version() + _own_source(named, protocol.folder)
        code, data = sources[named], sums[place]
        keyed[task.key(code, data)] = (task, code, data)
    return keyed


def _own_source(dotted_paths, folder):
    """Digest of a user's own modules, so that a changed method is run again."""
    found = b""
    for dotted in dotted_paths:
        module = dotted.rpartition(".")[0]
        if module and module.partition(".")[0] != "demurk":
            try:
                with modules_of(folder):
                    found += Path(find_spec(module).origin).read_bytes()
            except (ImportError, AttributeError, TypeError, ValueError, OSError):
                pass  # the task will say what is wrong
    return "+" + _digest(found)[:12] if found else ""
