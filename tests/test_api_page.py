"""Every public name has its place on the API page, and the page names no ghosts."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import pkgutil
import re
from importlib import import_module
from pathlib import Path

import pytest

import demurk

API_PAGE = Path(__file__).parents[1] / "doc" / "api.rst"
# `cli` is the command; the others are for those who write methods.
NOT_FOR_IMPORT = {"base", "cli", "out_of_sample", "tests", "utils"}
ROOMS = sorted(
    module.name
    for module in pkgutil.iter_modules(demurk.__path__)
    if not module.name.startswith("_") and module.name not in NOT_FOR_IMPORT
)
INNER = ("benchmark.report", "benchmark.statistics", "benchmark.tasks")


def listed_names():
    """Room -> names below its ``currentmodule``, in tables or as data."""
    listed, room, in_table = {}, None, False
    for line in API_PAGE.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"\.\. currentmodule:: demurk\.([\w.]+)$", line):
            room = match[1]
        elif match := re.match(r"\.\. data:: (\w+)$", line):
            listed.setdefault(room, []).append(match[1])
        elif line.startswith(".. autosummary::"):
            in_table = True
        elif line and not line.startswith(" "):
            in_table = False
        elif in_table and (match := re.match(r" {3}(\w+)$", line)):
            listed.setdefault(room, []).append(match[1])
    return listed


@pytest.mark.parametrize("room", ROOMS)
def test_public_names_are_listed_once(room):
    listed = listed_names().get(room, [])
    assert sorted(listed) == sorted(import_module(f"demurk.{room}").__all__)


@pytest.mark.parametrize("room", INNER)
def test_names_of_inner_rooms_exist_and_are_listed_once(room):
    """What protocols name, and what the outer room offers, is not listed here."""
    listed = listed_names()[room]
    assert len(set(listed)) == len(listed)
    assert set(listed) <= set(import_module(f"demurk.{room}").__all__)


def test_no_unknown_room_is_listed():
    assert set(listed_names()) <= {*ROOMS, *INNER}
