"""Reading JSON and TOML that a stranger may have written."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import tomllib
from typing import Any

__all__ = ["MOST_LEVELS", "check_depth", "parse_text"]

# Far more than people write, far less than Python's recursion bears.
MOST_LEVELS = 100


def parse_text(text: str, kind: str) -> Any:
    """Content of JSON or TOML text; ValueError for all that is wrong with it.

    Parameters
    ----------
    text : str
        The text.
    kind : {"json", "toml"}
        Its language.

    Returns
    -------
    content : dict, list, str, number, bool or None
        What it says, nested at most `MOST_LEVELS` deep.
    """
    # The parser keeps every prefix of a dotted key: quadratic in memory.
    if kind == "toml" and any(
        part.count(".") > MOST_LEVELS
        for line in text.splitlines()
        for part in line.split(",")
    ):
        raise ValueError(_too_deep())
    try:
        content = {"json": json.loads, "toml": tomllib.loads}[kind](text)
    except RecursionError:
        raise ValueError(_too_deep()) from None
    check_depth(content)
    return content


def check_depth(content: Any, most: int = MOST_LEVELS) -> None:
    """Refuse dicts and lists nested too deeply, level by level and not by recursion."""
    level = [content]
    for _ in range(most):
        level = [
            part
            for parent in level
            if isinstance(parent, (dict, list, tuple))
            for part in (parent.values() if isinstance(parent, dict) else parent)
        ]
        if not level:
            return
    raise ValueError(_too_deep(most))


def _too_deep(most: int = MOST_LEVELS) -> str:
    return f"it is nested more than {most} levels deep"
