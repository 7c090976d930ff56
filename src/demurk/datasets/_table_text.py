"""Delimited text to a frame of cells as they stand, and back to lines in errors."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import codecs
import csv
import gzip
import io
import re
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from demurk.datasets._files import existing_file, gzip_unpacked, open_bytes
from demurk.datasets._room import bounded
from demurk.utils._optional import import_optional

SEPARATORS = (",", ";", "\t", "|")
# Enough of a file to see how it is written.
SAMPLE = 1 << 16
# No text has more of these than one sign in twenty.
CONTROLS, MOST_CONTROLS = re.compile(r"[\0-\x08\x0e-\x1f\x7f]"), 0.05
# A feature of libsvm text, and a line that has none.
PAIR, LABELS = re.compile(r"(^|\s)\d+:\S"), re.compile(r"[-+.,\deE\s]*")
# A row must fit into a block of pyarrow.
BLOCK = 4 << 20
MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
# Fields of a row may be longer than the csv module's cautious default.
csv.field_size_limit(min(sys.maxsize, 2**31 - 1))


@dataclass(frozen=True)
class Dialect:
    """How a text file is written."""

    sep: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    newline: str = "\n"
    quote_all: bool = False
    header: bool = True


def read_bytes(path):
    """Content of a file or, for "-", of the standard input; gzip is unpacked."""
    data = sys.stdin.buffer.read() if path == "-" else existing_file(path).read_bytes()
    if data[:2] != b"\x1f\x8b":
        return data
    with gzip_unpacked(path), gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
        return bytes(bounded(stream, path, len(data)))


def sniff(data, name, *, sep=None, decimal=None, encoding=None, header=True):
    """How the text in `data` is written, as far as it is not said."""
    encoding = _encoding(data) if encoding is None else _told_encoding(encoding, data)
    text = _sample(data, encoding)
    _check_is_text(text, name)
    if sep is None:
        sep = "\t" if _plain_name(name).endswith(".tsv") else _separator(text)
    elif len(sep := sep.replace("\\t", "\t")) != 1:
        raise ValueError(f"--sep is '{sep}'; give one character, such as ';'.")
    if decimal not in (None, ".", ","):
        raise ValueError(f"--decimal is '{decimal}'; give '.' or ','.")
    newline = next((mark for mark in ("\r\n", "\n", "\r") if mark in text), "\n")
    first = text.splitlines()[:1] or [""]
    quote_all = all(
        len(cell) > 1 and cell[0] == cell[-1] == '"' for cell in first[0].split(sep)
    )
    decimal = decimal or _decimal(text, sep)
    return Dialect(sep, decimal, encoding, newline, quote_all, header)


def looks_like_libsvm(path):
    """Whether the first lines are labels and pairs like 5:0.2, and no names of columns.

    What cannot be unpacked is left to the reader of the format, who says so.
    """
    try:
        with open_bytes(Path(path)) as stream:
            data = stream.read(SAMPLE)
    except (EOFError, OSError, zlib.error):
        return True
    lines = _sample(data, _encoding(data)).splitlines()
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    if not lines or PAIR.search(lines[0]):
        return True
    # A sample may lack features, but the names of columns are no numbers.
    return LABELS.fullmatch(lines[0]) is not None and any(map(PAIR.search, lines))


def has_column(data, dialect, name):
    """Whether the header, cut as said, has a column of this name."""
    rows = _rows(_sample(data, dialect.encoding), dialect.sep)
    return bool(rows) and name in [cell.strip() for cell in rows[0]]


def _plain_name(name):
    return Path(name).name.lower().removesuffix(".gz")


def _told_encoding(encoding, data):
    try:
        known = codecs.lookup(encoding).name
    except LookupError as error:
        raise ValueError(
            f"--encoding is '{encoding}', which is unknown; give utf-8, latin-1 or "
            "another that Python knows."
        ) from error
    # The mark that programs put before the first name is no part of it.
    marked = known == "utf-8" and data.startswith(codecs.BOM_UTF8)
    return MARKS[codecs.BOM_UTF8] if marked else known


def _encoding(data):
    for mark, encoding in MARKS.items():
        if data.startswith(mark):
            return encoding
    if data.isascii():
        return "utf-8"
    for encoding in ("utf-8", "cp1252"):
        try:
            data.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return "latin-1"


def decoded(data, dialect, name):
    """The text, or an error that names the remedy."""
    try:
        text = data.decode(dialect.encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{name}, line {line}: this is not {dialect.encoding} text; leave out "
            "--encoding, or give the one it was written in."
        ) from error
    # A mark at the begin is no part of the first name, whatever the encoding.
    return text.removeprefix("\ufeff")


def _sample(data, encoding):
    """The first whole lines as text."""
    text = data[:SAMPLE].decode(encoding, errors="ignore").removeprefix("\ufeff")
    if len(data) > SAMPLE and "\n" in text:
        text = text[: text.rindex("\n") + 1]
    return text


def _check_is_text(text, name):
    """Refuse what no person wrote: pictures, archives, UTF-16 without its mark."""
    if len(CONTROLS.findall(text)) > MOST_CONTROLS * len(text):
        raise ValueError(
            f"{name} is no text, for it is full of control characters; give a table, "
            "or the --encoding of this one, such as utf-16."
        )


def _rows(text, sep):
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=sep)
    try:
        return [row for row in reader if row]
    except csv.Error:
        return []


def _separator(text):
    """The separator that cuts all rows into equally many cells, the more the better."""
    best, most = ",", 1
    for sep in SEPARATORS:
        widths = [len(row) for row in _rows(text, sep)[:50]]
        if widths and widths[0] > most and len(set(widths)) == 1:
            best, most = sep, widths[0]
    if most > 1 or not text:
        return best
    first = text.splitlines()[0]
    return max(SEPARATORS, key=first.count)


def _decimal(text, sep):
    """A comma where numbers have one and none has a point."""
    if sep == ",":
        return "."
    cells = [cell.strip() for row in _rows(text, sep)[1:] for cell in row]
    comma = any(re.fullmatch(r"[-+]?\d+,\d+([eE][-+]?\d+)?", cell) for cell in cells)
    point = any(re.fullmatch(r"[-+]?\d*\.\d+([eE][-+]?\d+)?", cell) for cell in cells)
    return "," if comma and not point else "."


def read_text(data, dialect, name):
    """A frame with the cells as they stand: all text, nothing missing."""
    raw = data
    if dialect.encoding != "utf-8":
        raw = decoded(data, dialect, name).encode()
    elif not data.isascii():
        decoded(data, dialect, name)  # an error names the line
    columns = None
    if not _needs_care(raw, dialect.sep):
        columns = _fast(raw, dialect)
    if columns is None:
        columns = _careful(raw.decode(), dialect, name)
    return _frame(*columns, name)


def _needs_care(raw, sep):
    """Whether quotes stand where only the csv module judges them rightly."""
    if b'"' not in raw:
        return False
    mark = re.escape(sep.encode())
    odd = rb'[^"\r\n' + mark + rb']"[^"\r\n' + mark + rb"]"
    spaced = mark + rb' +"'
    return raw.count(b'"') % 2 == 1 or re.search(odd + b"|" + spaced, raw) is not None


def _fast(raw, dialect):
    """Names and arrow columns of text, or None if the careful reader must look."""
    pa = import_optional("pyarrow", "tables")
    arrow_csv = import_optional("pyarrow.csv", "tables")
    line = raw[: _first_line(raw)].decode()
    first = _rows(line, dialect.sep)
    if not first or line.count('"') % 2:  # a name goes on in the next line
        return None
    width = len(first[0])
    # Numbers for names: two columns of one name would hide each other.
    codes = [str(j) for j in range(width)]
    try:
        table = arrow_csv.read_csv(
            pa.py_buffer(raw),
            arrow_csv.ReadOptions(
                column_names=codes, block_size=BLOCK, use_threads=False
            ),
            arrow_csv.ParseOptions(
                delimiter=dialect.sep, newlines_in_values=b'"' in raw
            ),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(codes, pa.large_string()),
                strings_can_be_null=False,
                check_utf8=False,
            ),
        )
    except pa.ArrowInvalid:
        return None
    names = first[0] if dialect.header else None
    return names, table.slice(1 if dialect.header else 0).columns


def _first_line(raw):
    """Where the first line that holds something ends."""
    begin = len(raw) - len(raw.lstrip(b"\r\n"))
    ends = [raw.find(mark, begin) for mark in (b"\n", b"\r")]
    return min((end for end in ends if end >= 0), default=len(raw))


def numbered_rows(text, dialect, name):
    """Cells and line number of each row, the header first; strict about defects."""
    # Quotes may follow spaces; everywhere else spaces are part of the cell.
    spaced = re.search(re.escape(dialect.sep) + ' +"', text) is not None
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=dialect.sep,
        skipinitialspace=spaced,
        strict=True,
    )
    width, line = None, 1
    try:
        for cells in reader:
            begun, line = line, reader.line_num + 1
            if len(cells) < 2 and not any(cells) and width != 1:
                continue
            width = len(cells) if width is None else width
            if len(cells) != width:
                values = "1 value" if len(cells) == 1 else f"{len(cells)} values"
                columns = "is 1 column" if width == 1 else f"are {width} columns"
                raise ValueError(
                    f"{name}, line {begun}: the row has {values} but there {columns}; "
                    "leave cells empty rather than out, quote values that hold the "
                    "separator, or give it with --sep."
                )
            yield cells, begun
    except csv.Error as error:
        raise ValueError(f"{name}, line {line}: {error}; check the quotes.") from error


def _careful(text, dialect, name):
    """As the fast reader, by the csv module: it says what is wrong in which line."""
    pa = import_optional("pyarrow", "tables")
    rows = [cells for cells, _ in numbered_rows(text, dialect, name)]
    names = rows.pop(0) if dialect.header and rows else None
    return names, [pa.array(column, pa.large_string()) for column in zip(*rows)]


def _frame(names, columns, name):
    """The frame of arrow columns, sharing their memory."""
    pd = import_optional("pandas", "tables")
    if not columns or not len(columns[0]):
        raise ValueError(f"{name} has no rows; the file may be empty or cut off.")
    if names is None:
        names = [f"x{j}" for j in range(len(columns))]
    names = [cell.strip() for cell in names]
    kind = pd.StringDtype(storage="pyarrow", na_value=np.nan)
    cells = [kind.__from_arrow__(column) for column in columns]
    # Numbers for names here too, until they are known to differ.
    frame = pd.DataFrame(dict(enumerate(cells)), copy=False)
    frame.columns = names
    return frame


def line_of(row, data, dialect, name):
    """The line in which a row begins; only asked when something is wrong with it."""
    rows = numbered_rows(decoded(data, dialect, name), dialect, name)
    for number, (_, line) in enumerate(rows):
        if number == row + dialect.header:
            return line
    return row + 1 + dialect.header
