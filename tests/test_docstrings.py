"""Public names are documented in numpydoc form, down to their methods."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import dataclasses
import inspect
import pkgutil
from importlib import import_module

import pytest
from numpydoc.docscrape import ClassDoc, get_doc_object
from numpydoc.validate import validate

import demurk

# `cli` documents itself with --help; the others are for those who write methods.
NOT_FOR_IMPORT = {"base", "cli", "out_of_sample", "tests", "utils"}

# Rooms within a room whose names are imported from there.
INNER = ("benchmark.report", "benchmark.statistics", "benchmark.tasks")

# Checks of numpydoc that we do not ask for.
IGNORED = {
    "GL01": "the summary stands on the line of the quotes",
    "SS05": "takes a plural noun for a verb, as in 'Labels of samples'",
    "ES01": "a good summary may say all there is to say",
    "RT02": "a return value has a name, as in scikit-learn",
    "SA01": "not everything has a sibling",
    "EX01": "asked for below, but not for methods",
}


def public_things():
    """Full name and object of all public functions and classes."""
    names = [module.name for module in pkgutil.iter_modules(demurk.__path__)]
    for room_name in [*names, *INNER]:
        if room_name.startswith("_") or room_name in NOT_FOR_IMPORT:
            continue
        room = import_module(f"demurk.{room_name}")
        for name in room.__all__:
            if callable(thing := getattr(room, name)):
                yield f"{room.__name__}.{name}", thing


def own_methods(cls):
    """Public methods and properties written in this library."""
    for name, member in inspect.getmembers_static(cls):
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            member = member.fget
        elif isinstance(member, (classmethod, staticmethod)):
            member = member.__func__
        if inspect.isfunction(member) and member.__module__.startswith("demurk."):
            yield name


THINGS = dict(sorted(public_things()))
METHODS = [
    f"{name}.{method}"
    for name, thing in THINGS.items()
    if inspect.isclass(thing)
    for method in own_methods(thing)
]


def errors_of(name):
    """What numpydoc has to say, without what we do not ask for."""
    errors = dict(validate(name)["errors"])
    thing = THINGS.get(name)
    if dataclasses.is_dataclass(thing):
        # Nobody builds a result by hand: its fields are attributes, not parameters.
        documented = {p.name for p in ClassDoc(thing)["Attributes"]}
        listed = {n for names in documented for n in names.split(", ")}
        if {field.name for field in dataclasses.fields(thing)} <= listed:
            errors.pop("PR01", None)
    return {code: text for code, text in errors.items() if code not in IGNORED}


@pytest.mark.parametrize("name", [*THINGS, *METHODS])
def test_docstring_is_valid(name):
    assert not errors_of(name)


@pytest.mark.parametrize("name", THINGS)
def test_docstring_has_an_example(name):
    if dataclasses.is_dataclass(THINGS[name]):
        pytest.skip("the function that returns it has the example")
    assert get_doc_object(THINGS[name])["Examples"]
