"""The text of ARFF files: comments, quotes, header, dense and sparse rows."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import re
from array import array
from collections import Counter
from math import nan

import numpy as np
from scipy import sparse

from demurk.datasets._files import parse_number
from demurk.labels._sets import short
from demurk.utils._text import one_line

_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_WHOLE_QUOTED = re.compile(_QUOTED)
_CODE = re.compile(rf"((?:[^'\"%]|{_QUOTED})*)%")
# A sparse row writes `index value`, so a number may stand before the quote.
# Spaces once taken are not given back (`*+`), or a long run of them takes ages.
_PIECE = re.compile(rf"\s*+((?:\d+\s+)?(?:{_QUOTED})|[^\s,'\"][^,]*|)\s*+(,|\Z)")
_ATTRIBUTE = re.compile(rf"@attribute\s+({_QUOTED}|[^\s'\"]\S*)\s+(.+)", re.IGNORECASE)
_NUMERIC = re.compile(r"(numeric|real|integer)\s*(\[.*\])?\Z", re.IGNORECASE)
_TEXT = re.compile(r"(string|date)\b", re.IGNORECASE)
_BINARY = ({"0": 0.0, "1": 1.0}, {"no": 0.0, "yes": 1.0}, {"false": 0.0, "true": 1.0})


class Source:
    """The lines of the file without comments, and the place for messages."""

    def __init__(self, path):
        self.path = path
        self.line = 0

    def lines(self, stream):
        for text in stream:
            self.line += 1
            if "%" in text and (match := _CODE.match(text)):
                text = match[1]
            text = text.strip()
            if text:
                yield text

    def error(self, message, line=None):
        place = self.line if line is None else line
        return ValueError(f"{self.path}, line {place}: {one_line(message, 300)}.")

    def pieces(self, text):
        """Split at the commas that are not inside quotes."""
        if "'" not in text and '"' not in text:
            return [piece.strip() for piece in text.split(",")]
        found, position = [], 0
        while match := _PIECE.match(text, position):
            found.append(match[1].rstrip())
            if not match[2]:
                return found
            position = match.end()
        raise self.error(
            "a quote is not closed, or text follows it; put one quote at each end of "
            "the value and a backslash before quotes inside it"
        )

    def unquote(self, piece):
        if piece[:1] not in ("'", '"'):
            return piece
        if not _WHOLE_QUOTED.fullmatch(piece):
            raise self.error(f"the quote in {piece[:40]} is not closed; add it")
        return unescape(piece[1:-1])


def unescape(text):
    return re.sub(r"\\(.)", r"\1", text)


class Attribute:
    """One column: `values` lists the nominal values, None stands for numbers."""

    def __init__(self, name, line, values=None, text=False):
        self.name = name
        self.line = line
        self.values = values
        self.text = text
        self.code = _number
        if values is not None:
            codes = {value: float(i) for i, value in enumerate(values)}
            self.code = (codes | {"?": nan}).__getitem__

    def yes_no(self):
        """The numbers 0 and 1 that the values stand for, or None."""
        lowered = [value.lower() for value in self.values or ["not nominal"]]
        for table in _BINARY:
            if set(lowered) <= set(table):
                return np.array([table[value] for value in lowered])
        return None


def _number(token):
    return nan if token == "?" else parse_number(token)


def read_header(lines, source):
    """Relation name and attributes, up to and with the line `@data`."""
    relation, attributes = "", {}
    for line in lines:
        keyword = line.split(None, 1)[0].lower()
        if keyword == "@relation":
            relation = source.unquote(line[len(keyword) :].strip())
        elif keyword == "@attribute":
            attribute = _read_attribute(line, source)
            if attribute.name in attributes:
                raise source.error(
                    f"attribute {short(attribute.name)} was declared before, in line "
                    f"{attributes[attribute.name].line}; rename one of them"
                )
            attributes[attribute.name] = attribute
        elif line.lower() == "@data":
            if not attributes:
                raise source.error("@data comes before any @attribute; declare them")
            return relation, list(attributes.values())
        else:
            raise source.error(
                f"the header holds {line[:40]!r}; expected @relation, @attribute, "
                "@data or a comment that starts with %"
            )
    raise source.error("the file ends without a line @data; add it before the rows")


def _read_attribute(line, source):
    match = _ATTRIBUTE.match(line)
    if match is None:
        raise source.error(
            f"cannot read {line[:60]!r}; write @attribute, a name (quoted if it holds "
            "spaces) and a type"
        )
    name, kind = source.unquote(match[1]), match[2].strip()
    if _NUMERIC.match(kind):
        return Attribute(name, source.line)
    if _TEXT.match(kind):
        return Attribute(name, source.line, text=True)
    if not (kind.startswith("{") and kind.endswith("}")):
        raise source.error(
            f"attribute {short(name)} has the unknown type {short(kind)}; expected "
            "numeric, real, integer, string, date or a list {a, b}"
        )
    values = [source.unquote(piece) for piece in source.pieces(kind[1:-1])]
    if len(set(values)) < len(values) or not set(values).isdisjoint(("", "?")):
        raise source.error(
            f"the values of attribute {short(name)} hold a duplicate, an empty one or "
            "'?'; list each value once"
        )
    return Attribute(name, source.line, values)


def read_rows(lines, attributes, source):
    """Values as numbers, nominal ones as positions in their list; and line numbers.

    In this coding an entry absent from a sparse row is 0 for every type.
    """
    values, columns = array("d"), array("i")
    starts, row_lines = array("q", [0]), array("L")
    is_sparse = None
    for line in lines:
        if is_sparse is None:
            is_sparse = line.startswith("{")
        if is_sparse != line.startswith("{"):
            raise source.error("dense and sparse rows are mixed; write all one way")
        if is_sparse:
            row_columns, tokens = _split_sparse(line, len(attributes), source)
            owners = [attributes[j] for j in row_columns]
            columns.extend(row_columns)
        else:
            tokens, owners = _split_dense(line, len(attributes), source), attributes
        try:
            values.extend([a.code(token) for a, token in zip(owners, tokens)])
        except (KeyError, ValueError):
            raise _bad_value(owners, tokens, source) from None
        if is_sparse:
            starts.append(len(values))
        row_lines.append(source.line)
    if not row_lines:
        raise source.error("there is no row after @data; the file may be cut off")
    shape = (len(row_lines), len(attributes))
    if not is_sparse:
        return np.frombuffer(values).reshape(shape), row_lines
    codes = sparse.csr_array((values, columns, starts), shape=shape)
    return codes.tocsc(), row_lines


def _split_dense(line, n_attributes, source):
    """Tokens of a row `1, 0.5, 'a b'`."""
    tokens = [source.unquote(piece) for piece in source.pieces(line)]
    if len(tokens) != n_attributes:
        raise source.error(
            f"the row has {len(tokens)} values but {n_attributes} attributes are "
            "declared; separate values by commas and write ? for a missing one"
        )
    return tokens


def _split_sparse(line, n_attributes, source):
    """Columns and tokens of a row `{3 1, 7 'a b'}`."""
    if not line.endswith("}"):
        raise source.error("the sparse row has no } at its end; it may be cut off")
    inside = line[1:-1].strip()
    items = [item.split(None, 1) for item in source.pieces(inside)] if inside else []
    for item in items:
        # Python refuses to read thousands of digits.
        known = len(item) == 2 and len(item[0]) < 20 and item[0].isdecimal()
        if not known or int(item[0]) >= n_attributes:
            raise source.error(
                f"the entry {' '.join(item)[:40]!r} of the sparse row is wrong; write "
                f"an attribute number from 0 to {n_attributes - 1}, a space and a value"
            )
    columns = [int(item[0]) for item in items]
    if len(set(columns)) < len(columns):
        twice = Counter(columns).most_common(1)[0][0]
        raise source.error(f"attribute number {twice} occurs twice; keep one entry")
    return columns, [source.unquote(item[1]) for item in items]


def _bad_value(owners, tokens, source):
    """The error for the first value of a row that its attribute refuses."""
    for attribute, token in zip(owners, tokens):
        try:
            attribute.code(token)
        except (KeyError, ValueError):
            expected = "a finite number"
            if attribute.values is not None:
                shown = one_line(", ".join(attribute.values[:6]))
                expected = f"one of {shown}{', ...' * (len(attribute.values) > 6)}"
            break
    return source.error(
        f"attribute {short(attribute.name)} holds {short(token)}; expected {expected}, "
        "or ? if it is missing"
    )
