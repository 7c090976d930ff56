"""Protocols: what is compared, on which data, how often; and the tasks they make."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import difflib
import hashlib
import json
import sys
import tomllib
from dataclasses import dataclass, field, replace
from importlib import import_module
from itertools import product
from pathlib import Path

__all__ = ["Protocol", "Task", "list_protocols", "load_protocol"]

FOLDER = Path(__file__).parents[1] / "protocols"
GROUPS = ("paper", "demurk", "alternative", "oracle")
TABLES = ("options", "data_sets", "settings", "methods", "published", "not_run")
TEXTS = ("title", "claim", "paper", "kind")
LISTS = ("measures", "lower_is_better")
# More than any comparison needs, and what can be listed.
MAX_DEPTH, MAX_BITS, MAX_SEEDS = 30, 63, 100_000
# What a key holds, if no table.
TYPES = {
    **dict.fromkeys((*TEXTS, "extends"), (str, "text")),
    **dict.fromkeys(LISTS, (list, "a list of names of measures")),
    "seeds": (int, f"a whole number from 1 to {MAX_SEEDS:,}"),
}
KEYS = ("extends", *TEXTS, *LISTS, "seeds", *TABLES, "quick")


@dataclass(frozen=True)
class Task:
    """One call of a protocol's function.

    Attributes
    ----------
    protocol : str
        Name of the protocol.
    kind : str
        Dotted path of the function.
    data_set, setting, method : str
        Names in the protocol; a protocol without settings has the setting "".
    seed : int
        Seed of everything random.
    arguments : dict
        Everything passed to the function.
    folder : str or None
        Where modules of a user's own protocol are looked for first.
    """

    protocol: str
    kind: str
    data_set: str
    setting: str
    method: str
    seed: int
    arguments: dict
    folder: str | None = None

    def key(self, code, data):
        """Fingerprint of the task, its code and its data.

        Parameters
        ----------
        code : str
            Version of the code; see :func:`code_version`.
        data : str
            Checksum of the data; see :func:`data_checksum`.

        Returns
        -------
        key : str
            Hexadecimal SHA-256. The protocol's name is no part of it, so that a
            protocol that extends another one shares its results.
        """
        facts = [self.kind, self.data_set, self.setting, self.method, self.seed]
        text = json.dumps([*facts, self.arguments, code, data], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def __str__(self):
        """The task in a few words, for progress and errors."""
        place = f"{self.data_set}, {self.setting}" if self.setting else self.data_set
        return f"{self.method} on {place}, seed {self.seed}"


@dataclass(frozen=True)
class Protocol:
    """A comparison as data: every method on every data set with every seed.

    Attributes
    ----------
    name, title, claim : str
        Name of the file, its headline, and what the paper says in one sentence.
    paper : str or None
        Key of :func:`published_results`.
    kind : str
        Dotted path of the function that does one task.
    measures, lower_is_better : tuple of str
        What is shown in tables, the headline first, and where smaller is better.
    seeds : int
        Seeds 0 to seeds - 1 are run.
    options, data_sets, settings, methods, published, not_run : dict
        The tables of the file.
    folder : str or None
        Folder of a user's own file, None for those that come with demurk.
    """

    name: str
    kind: str
    measures: tuple
    seeds: int
    data_sets: dict
    methods: dict
    title: str = ""
    claim: str = ""
    paper: str | None = None
    lower_is_better: tuple = ()
    options: dict = field(default_factory=dict)
    settings: dict = field(default_factory=dict)
    published: dict = field(default_factory=dict)
    not_run: dict = field(default_factory=dict)
    folder: str | None = None

    def tasks(self):
        """All tasks, ordered by data set, setting, seed and method.

        Returns
        -------
        tasks : list of Task
            In this order a worker can keep the data it has loaded.
        """
        settings, seeds = self.settings or [""], range(self.seeds)
        places = product(self.data_sets, settings, seeds, self.methods)
        return [self._task(*place) for place in places]

    def _task(self, data_set, setting, seed, method):
        # The group of a method only sorts the report.
        about = {k: v for k, v in self.methods[method].items() if k != "group"}
        arguments = (
            {"data_set": data_set}
            | self.options
            | self.data_sets[data_set]
            | self.settings.get(setting, {})
            | {"method": about, "seed": seed}
        )
        names = (self.name, self.kind, data_set, setting, method, seed)
        return Task(*names, arguments, self.folder)

    def select(self, *, data_sets=None, settings=None, methods=None, seeds=None):
        """A smaller protocol, or one with another number of seeds.

        Parameters
        ----------
        data_sets, settings, methods : sequence of str, default=None
            Names to keep; None keeps all.
        seeds : int, default=None
            Number of seeds; None keeps it.

        Returns
        -------
        protocol : Protocol
            The protocol with that part of its tables, in their order.
        """
        if seeds is not None and not 1 <= seeds <= MAX_SEEDS:
            raise ValueError(f"seeds must be from 1 to {MAX_SEEDS:,}.")
        changes = {} if seeds is None else {"seeds": seeds}
        chosen = {"data_sets": data_sets, "settings": settings, "methods": methods}
        for table, names in chosen.items():
            if names is not None:
                whole = getattr(self, table)
                for name in names:
                    _check_known(name, whole, f"{self.name} has no {name!r} in {table}")
                changes[table] = {k: v for k, v in whole.items() if k in names}
        if settings is not None and not changes["settings"]:
            changes["data_sets"] = {}  # without settings there would be one for all
        return replace(self, **changes)


def list_protocols():
    """Names of the protocols that come with demurk.

    Returns
    -------
    names : list of str
        What :func:`load_protocol` knows without a file.

    Examples
    --------
    >>> from demurk.benchmark import list_protocols
    >>> "nmlsdr-tables" in list_protocols()
    True
    """
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def load_protocol(name_or_path, *, quick=False):
    """Read and check a protocol.

    Parameters
    ----------
    name_or_path : str or path
        A name that :func:`list_protocols` gives, or a TOML file. Modules beside the
        file can be named in it.
    quick : bool, default=False
        Whether the table ``quick`` replaces what it names: small built-in data and one
        seed, to see that everything runs.

    Returns
    -------
    protocol : Protocol
        The comparison.

    Examples
    --------
    >>> from demurk.benchmark import load_protocol
    >>> protocol = load_protocol("nmlsdr-tables", quick=True)
    >>> len(protocol.tasks()) == len(protocol.methods) * len(protocol.data_sets)
    True
    """
    path = _find(name_or_path)
    content = _read(path)
    fast = content.pop("quick", {})
    if quick:
        content = _quick(path, content, fast)
    _check(path, content)
    for key in LISTS:
        content[key] = tuple(content.get(key, ()))
    folder = None if path.parent == FOLDER else str(path.resolve().parent)
    protocol = Protocol(**{"title": path.stem} | content, name=path.stem, folder=folder)
    try:
        kind_function(protocol.kind, folder)
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        right = "give the dotted path of a function, as 'package.module.function'"
        _fail(path, "kind", f"is {protocol.kind!r}, which gives '{problem}'; {right}")
    return protocol


def protocol_title(name):
    """Headline of a protocol, without importing what it needs."""
    return _read(_find(name)).get("title", name)


def _find(name, beside=None):
    if str(name) in list_protocols():
        return FOLDER / f"{name}.toml"
    path = (beside or Path()) / Path(name).expanduser()
    if path.is_file():
        return path
    if path.suffix == ".toml":
        raise FileNotFoundError(f"There is no protocol file {path}.")
    text = f"There is no protocol {str(name)!r}"
    _check_known(str(name), list_protocols(), text, "; or give a .toml file")


def _read(path, above=()):
    """Content of a file, merged into what it extends."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply to be read.") from None
    except ValueError as error:
        raise ValueError(f"{path} is no valid TOML file: {error}.") from None
    _check_size(path, content)
    for key, value in content.items():
        _check_known(key, KEYS, f"{path}: unknown key {key!r}")
        _check_type(path, key, value)
    for key in content.get("quick", {}):
        known = [k for k in KEYS if k not in ("extends", "quick")]
        _check_known(key, known, f"{path}: unknown key {f'quick.{key}'!r}")
    name = content.pop("extends", None)
    if name is None:
        return content
    base_path = _find(name, path.parent)
    if base_path.resolve() in above:
        _fail(path, "extends", f"is {name!r}, which extends this file; break the ring")
    return _merge(_read(base_path, (*above, path.resolve())), content)


def _merge(base, content):
    """Tables are joined, other keys replaced; the quick run keeps added methods."""
    merged = base | content
    for key in (*TABLES, "quick"):
        if key in base and key in content:
            merged[key] = base[key] | content[key]
    kept = base.get("quick", {}).get("methods")
    if kept is not None and "methods" not in content.get("quick", {}):
        added = [name for name in content.get("methods", {}) if name not in kept]
        merged["quick"] = merged["quick"] | {"methods": kept + added}
    return merged


def _quick(path, content, fast):
    fast = dict(fast)
    names = fast.pop("methods", list(content.get("methods", {})))
    if not isinstance(names, list):
        _fail(path, "quick.methods", "must be a list of names of methods")
    for name in map(str, names):
        text = f"{path}: 'quick.methods' names {name!r}, which is no method"
        _check_known(name, content.get("methods", {}), text)
    for key, value in fast.items():
        _check_type(path, key, value, shown=f"quick.{key}")
    kept = {k: v for k, v in content.get("methods", {}).items() if k in names}
    return content | fast | {"methods": kept}


def _check_size(path, content):
    """Refuse tables within tables without end, and numbers that fit no machine."""
    left = [("", content, 0)]
    while left:
        place, value, depth = left.pop()
        if depth > MAX_DEPTH:
            _fail(path, place.partition(".")[0], f"is nested over {MAX_DEPTH} levels")
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            _fail(path, place, f"is a number of more than {MAX_BITS} bits; give less")
        if isinstance(value, dict):
            for key, part in value.items():
                left.append((f"{place}.{key}" if place else key, part, depth + 1))
        elif isinstance(value, list):
            left += [(place, part, depth + 1) for part in value]


def _check_type(path, key, value, shown=None):
    wanted, text = TYPES.get(key, (dict, "a table"))
    right = isinstance(value, wanted) and not isinstance(value, bool)
    if wanted is list and right:
        right = all(isinstance(name, str) for name in value)
    if not right or (wanted is int and not 1 <= value <= MAX_SEEDS):
        _fail(path, shown or key, f"is {value!r}, but must be {text}")


def _check(path, content):
    """What must be there, and what the tables must hold."""
    for key in ("kind", "measures", "seeds", "data_sets", "methods"):
        if not content.get(key):
            _fail(path, key, "is missing or empty; every protocol needs it")
    for name in content.get("lower_is_better", ()):
        text = f"{path}: 'lower_is_better' names {name!r}, which is no measure"
        _check_known(name, content["measures"], text)
    for table in ("data_sets", "settings", "methods"):
        for name, value in content.get(table, {}).items():
            if not isinstance(value, dict):
                _fail(path, f"{table}.{name}", "must be a table, as {} or {a = 1}")
            if table != "methods":
                _check_arguments(path, f"{table}.{name}", value)
    _check_arguments(path, "options", content.get("options", {}))
    for name, value in content["methods"].items():
        text = f"{path}: 'methods.{name}.group' is {value.get('group')!r}"
        _check_known(value.get("group", "paper"), GROUPS, text)
    for table in ("options", "data_sets", "settings", "methods"):
        try:
            json.dumps(content.get(table))
        except TypeError:
            _fail(path, table, "holds a date or time; write it as text")


def _check_arguments(path, key, value):
    for name in ("method", "seed"):
        if name in value:
            _fail(path, key, f"must not set '{name}', which differs between tasks")


def _check_known(name, known, text, more=""):
    if name not in known:
        close = difflib.get_close_matches(str(name), known, n=3)
        raise ValueError(f"{text}; choose {', '.join(close or known)}{more}.")


def _fail(path, key, problem):
    raise ValueError(f"{path}: '{key}' {problem}.")


def kind_function(kind, folder=None):
    """The function that a dotted path names, whose module may be in a folder too."""
    module, _, name = kind.rpartition(".")
    if folder is not None:
        sys.path.insert(0, folder)
    try:
        function = getattr(import_module(module), name)
    finally:
        if folder is not None:
            sys.path.remove(folder)
    if not callable(function):
        raise ValueError(f"{kind} is no function")
    return function
