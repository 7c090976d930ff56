"""Rules as data, in Python and in files."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from demurk.labels._sets import short
from demurk.rules._conditions import plain_condition
from demurk.utils._nesting import MOST_LEVELS, check_depth, parse_text
from demurk.utils._text import one_line

# Named lists may name others: without a limit, a short file could mean billions.
MOST_ENTRIES = 100_000


@dataclass(frozen=True)
class Rule:
    """When the columns of a row satisfy a condition, some labels are set.

    Parameters
    ----------
    when : str or dict
        The condition, made of

        - the name of a column, ``"I10"``: its value is above 0. A name may be a
          pattern with ``*``, ``?`` and ``[...]``, as in ``"C09*"`` or ``"40[1-5]"``,
          and then means any of the columns that it matches;
        - a test, ``{"glucose": ">= 7"}``: ``>=``, ``<=``, ``==``, ``!=``, ``>`` or
          ``<`` and a number, ``== word`` or ``!= word`` for a column of text,
          ``>= 2024-01-31`` or ``>= 2024-01-31T12:30`` for a column of dates (in UTC
          if they have a time zone), a plain number for equality, "known" or
          "missing". Of a list of tests all must hold: ``{"age": [">= 40", "< 65"]}``;
        - ``{"all": [...]}``, ``{"any": [...]}``, ``{"none": [...]}`` of a list of
          conditions, ``{"not": condition}``, ``{"at_least": 2, "of": [...]}``.

        Of a dict with several entries all must hold.
    then : dict of str to int
        The labels it sets, each to 1 or 0. It says nothing of the others.
    name : str, default=""
        What reports and messages call it.

    See Also
    --------
    RuleLabeler : Applies rules to a table.
    rules_from_file : Reads rules from a TOML or JSON file.

    Notes
    -----
    A rule is data: ``dataclasses.asdict(rule)`` can be written as JSON, and
    ``Rule(**entry)`` makes the rule again. A column that is called like a key word
    ("any") is written as a pattern ("[a]ny").

    Examples
    --------
    >>> from demurk.rules import Rule
    >>> Rule({"any": ["I10", "C09*"], "none": ["E1*"]}, {"hypertension": 1}).then
    {'hypertension': 1}
    """

    when: Any
    then: Mapping[str, int]
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"The name of a rule is {short(self.name)}; give text.")
        where = f"Rule {short(self.name)}" if self.name else "A rule"
        # A copy in plain containers: equal after a round trip through a file, and
        # nobody can change it from outside.
        try:
            check_depth(self.when)
        except ValueError as error:
            raise ValueError(f"{where} has a condition, and {error}.") from None
        object.__setattr__(self, "when", plain_condition(self.when, where))
        then = self.then if isinstance(self.then, Mapping) else {}
        for label, value in then.items():
            if not isinstance(label, str) or value not in (0, 1):
                raise ValueError(
                    f"{where} sets {short(label)} to {short(value)}; give names of "
                    "labels, each with 1 (has the label) or 0 (has it not)."
                )
        if not then:
            raise ValueError(
                f"{where} sets no label ({short(self.then)}); give a dict such as "
                "{'hypertension': 1}."
            )
        then = {label: int(value) for label, value in then.items()}
        object.__setattr__(self, "then", then)


def as_rule(entry: Any, number: int) -> Rule:
    if isinstance(entry, Rule):
        return entry
    keys = set(entry) if isinstance(entry, Mapping) else set()
    if not {"when", "then"} <= keys <= {"when", "then", "name"}:
        raise ValueError(
            f"Rule {number} is {short(entry)}; give a Rule, or a dict with 'when', "
            "'then' and perhaps 'name'."
        )
    return Rule(**entry)


def rules_from_file(path: str | PathLike[str]) -> list[Rule]:
    """Read rules from a TOML or JSON file.

    Parameters
    ----------
    path : path-like
        A file that ends in ``.toml`` or ``.json``. It holds a list "rules", whose
        entries have a condition "when", the labels "then" and perhaps a "name", and
        perhaps a table "lists" of named lists of conditions. In a condition, "@drugs"
        stands for any entry of the list "drugs".

    Returns
    -------
    rules : list of Rule
        The rules in the order of the file.

    See Also
    --------
    Rule : What "when" and "then" may look like.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from demurk.rules import rules_from_file
    >>> text = '''
    ... [lists]
    ... drugs = ["C08*", "C09*"]
    ...
    ... [[rules]]
    ... name = "diagnosis and treatment"
    ... when = {all = ["I10", "@drugs"]}
    ... then = {hypertension = 1}
    ... '''
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "rules.toml")
    ...     _ = path.write_text(text)
    ...     rules = rules_from_file(path)
    >>> rules[0].when
    {'all': ['I10', {'any': ['C08*', 'C09*']}]}
    """
    path = Path(path)
    kind = path.suffix[1:]
    if kind not in ("toml", "json"):
        raise ValueError(f"{path} is neither .toml nor .json; give one of these.")
    try:
        content = parse_text(path.read_text(encoding="utf-8"), kind)
    except ValueError as error:  # both parsers' errors, and text that is not UTF-8
        raise ValueError(
            f"{path} is not valid {kind.upper()} ({one_line(error)}); correct it."
        ) from error
    keys = set(content) if isinstance(content, dict) else set()
    lists = content.get("lists", {}) if keys else {}
    if (
        not {"rules"} <= keys <= {"rules", "lists"}
        or not isinstance(content["rules"], list)
        or not isinstance(lists, dict)
    ):
        raise ValueError(
            f"{path} must hold a list 'rules' and perhaps a table 'lists', and nothing "
            "else at its top."
        )
    expansion = _Expansion(lists)
    rules = []
    for number, entry in enumerate(content["rules"]):
        try:
            if isinstance(entry, dict) and "when" in entry:
                entry = {**entry, "when": expansion.expand(entry["when"])}
            rules.append(as_rule(entry, number))
        except ValueError as error:
            raise ValueError(f"In {path}: {error}") from error
    return rules


class _Expansion:
    """Puts the named lists of a file in the places of their names."""

    def __init__(self, lists: Mapping[str, Any]) -> None:
        self.lists = lists
        self.n_entries = 0

    def expand(self, entry: Any, within: tuple[str, ...] = (), depth: int = 0) -> Any:
        """A condition without names of lists; `within` are the lists it stands in."""
        self.n_entries += 1
        if self.n_entries > MOST_ENTRIES or depth > MOST_LEVELS:
            raise ValueError(
                f"with the lists put in their places there are over {MOST_ENTRIES} "
                f"conditions or over {MOST_LEVELS} levels; name fewer lists in lists."
            )
        depth += 1
        if isinstance(entry, dict):
            return {k: self.expand(v, within, depth) for k, v in entry.items()}
        if isinstance(entry, list):
            return [self.expand(value, within, depth) for value in entry]
        if isinstance(entry, str) and entry.startswith("@"):
            name = entry[1:]
            # A list may name others, but not itself.
            if name not in self.lists or name in within:
                known = [known for known in self.lists if known not in within]
                raise ValueError(
                    f"a rule names the list {short(entry)}, but 'lists' has "
                    f"{one_line(', '.join(known)) or 'none'}; add it there."
                )
            return {"any": self.expand(self.lists[name], (*within, name), depth)}
        return entry
