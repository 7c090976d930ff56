"""Which source files a name depends on, told from the imports alone."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import ast
import hashlib
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import demurk

__all__ = ["Sources", "digest"]

# What can have a docstring.
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
# What no result depends on, though tasks may import it: names begin like this. Known
# data sets come in other formats than tables, and what is read from their files counts
# as data: the catalogue has a digest of it.
NO_RESULT = (
    *("demurk.cli", "demurk.viz", "demurk.registry"),
    *("demurk.benchmark.engine", "demurk.benchmark.report"),
    *("demurk.datasets._table", "demurk.datasets._label_studio"),
    *("demurk.datasets._anndata", "demurk.datasets._arff", "demurk.datasets._arrays"),
    *("demurk.datasets._files", "demurk.datasets._hdf5", "demurk.datasets._mat"),
    *("demurk.datasets._read", "demurk.datasets._room"),
)


def digest(content):
    """SHA-256 of a text."""
    return hashlib.sha256(content.encode()).hexdigest()


@dataclass(frozen=True)
class Facts:
    """What a source file does, what it imports, and names it hands on.

    An import is a pair of a module and a name, None for the module itself.
    """

    program: str
    imports: tuple
    names: dict


class Sources:
    """The source files of demurk and of whoever uses it, but of no other package.

    Parameters
    ----------
    package : path-like, default=None
        Folder of the package demurk; None is the one that runs.
    folder : path-like, default=None
        Where modules of a user's own protocol are looked for first.
    """

    def __init__(self, package=None, folder=None):
        self._package = Path(package or Path(demurk.__file__).parent)
        self._places = ([Path(folder)] if folder else []) + _own_places()
        self._facts, self._homes = {}, {}

    def version(self, dotted_paths):
        """Digest of all that the named functions and classes import, or "".

        A package that hands on a name counts by the module that defines it only, so
        that a new neighbour changes nothing. Comments and docstrings do not count.
        """
        modules = self.closure(dotted_paths)
        parts = [f"{name} {self.facts(name).program}" for name in sorted(modules)]
        return digest("\n".join(parts))[:12] if parts else ""

    def closure(self, dotted_paths):
        """Names of the modules that some dotted paths depend on."""
        found = set()
        left = [self._home(*path.rpartition(".")[::2]) for path in dotted_paths]
        while left:
            module = left.pop()
            if module in found or _no_result(module) or self.facts(module) is None:
                continue
            found.add(module)
            left += [self._home(*pair) for pair in self.facts(module).imports]
        return found

    def facts(self, module):
        """Facts about a module, None if its source is not among ours."""
        if module not in self._facts:
            path = self._path(module)
            stamp = path and path.stat().st_mtime_ns
            self._facts[module] = path and _facts(path, stamp, module)
        return self._facts[module]

    def _path(self, module):
        first, *rest = module.split(".")
        places = [place / first for place in self._places]
        for place in [self._package] if first == "demurk" else places:
            path = place.joinpath(*rest)
            for file in (path / "__init__.py", path.parent / f"{path.name}.py"):
                if module and file.is_file():
                    return file
        return None

    def _home(self, module, name):
        """The module that defines a name, which packages may hand on."""
        if (module, name) not in self._homes:
            self._homes[module, name] = module  # two packages may ask each other
            facts = self.facts(module)
            found = module
            if facts is not None and name is not None:
                if name in facts.names:
                    found = self._home(*facts.names[name])
                elif self.facts(f"{module}.{name}") is not None:
                    found = f"{module}.{name}"
            self._homes[module, name] = found
        return self._homes[module, name]


@cache
def _facts(path, _changed, module):
    tree = ast.parse(path.read_bytes())
    is_package = path.name == "__init__.py"
    imports, names = [], {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports += [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = _source(node, module, is_package)
            for alias in node.names:
                name = None if alias.name == "*" else alias.name
                imports.append((source, name))
                if is_package and name and node in tree.body:
                    names[alias.asname or name] = (source, name)
    return Facts(digest(_program(tree)), tuple(dict.fromkeys(imports)), names)


def _source(node, module, is_package):
    """Full name of the module that something is imported from."""
    if not node.level:
        return node.module
    above = module.split(".")[: None if is_package else -1]
    above = above[: len(above) - node.level + 1]
    return ".".join([*above, *([node.module] if node.module else [])])


def _program(tree):
    """What a source file does: its syntax tree, without comments and docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def _no_result(module):
    # The package itself holds its version, on which nothing else depends.
    return module == "demurk" or module.startswith(NO_RESULT)


def _own_places():
    """Folders with modules that were not installed."""
    standard = Path(sysconfig.get_path("stdlib"))
    return [
        path
        for path in map(Path, sys.path)
        if path.is_dir()
        and not {"site-packages", "dist-packages"} & set(path.parts)
        and not path.is_relative_to(standard)
    ]
