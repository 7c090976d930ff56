"""JSON lines and lists of records, doccano's among them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json

from demurk.datasets._label_studio import is_tasks, tasks_frame
from demurk.datasets._table_cells import as_pandas, plain_cells
from demurk.utils._nesting import parse_text
from demurk.utils._optional import import_optional
from demurk.utils._text import one_line


def read_json(data, path):
    """A frame, what wrote it, and its records."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not utf-8 text, as JSON must be.") from error
    if text.lstrip()[:1] == "[":
        records = _parsed(text, path, None, "get the file again")
    else:
        lines = enumerate(text.split("\n"), 1)
        each = "each line is one object"
        records = [_parsed(line, path, n, each) for n, line in lines if line.strip()]
    for row, record in enumerate(records):
        if not isinstance(record, dict):
            raise ValueError(
                f"{path}, row {row + 1}: this is no JSON object; each row is one, such "
                'as {"text": "...", "label": ["a"]}.'
            )
    if not records:
        raise ValueError(f"{path} has no rows; the file may be empty or cut off.")
    if is_tasks(records):
        try:
            frame = tasks_frame(records, path)
        except (AttributeError, LookupError, TypeError) as error:
            raise ValueError(
                f"{path} is no export of Label Studio, though its rows have 'data' "
                f"({type(error).__name__}: {one_line(error, 60)}); export it again."
            ) from error
        return frame, "label studio", records
    pd = import_optional("pandas", "tables")
    frame = as_pandas(pd.DataFrame(records))
    return frame, "doccano" if _is_doccano(frame) else "json", records


def _parsed(text, path, line, remedy):
    """What a text says, be it a whole file or one line of it."""
    try:
        return parse_text(text, "json")
    except ValueError as error:
        line = line or getattr(error, "lineno", 1)
        raise ValueError(
            f"{path}, line {line}: this is no JSON ({one_line(error)}); {remedy}."
        ) from error


def _is_doccano(frame):
    """Text and a list of labels each, as doccano exports them."""
    if not {"text", "label"} <= set(frame.columns):
        return False
    return all(isinstance(cell, list) for cell in frame["label"])


def write_json(table, path, lines=True):
    """Rows as JSON objects: as they were but for labels, or without what is missing."""
    if table.source.format in ("json", "doccano"):
        rows = _corrected(table)
    else:
        names = list(table.frame.columns)
        cells = zip(*(plain_cells(table.frame[name]) for name in names))
        rows = [{n: v for n, v in zip(names, row) if v is not None} for row in cells]
    texts = [json.dumps(row, ensure_ascii=False, default=str) for row in rows]
    text = "\n".join(texts) if lines else "[\n" + ",\n".join(texts) + "\n]"
    path.write_text(text + "\n", encoding="utf-8", newline="")


def _corrected(table):
    """The records that were read, with the cells changed that say something else."""
    frame, records = table.frame, table.source.extra
    if table.source.rows is not None:
        records = [records[line] for line in table.source.rows]
    kept = set(frame.columns)
    rows = [{n: v for n, v in record.items() if n in kept} for record in records]
    known = {name for record in records for name in record}
    empty = [] if table.source.format == "doccano" else None
    for name in frame.columns:
        if name not in known or name in table.form.columns:
            _correct(rows, name, plain_cells(frame[name]), empty)
    return rows


def _correct(rows, name, cells, empty):
    """Put the cells of a column into the rows that say something else there."""
    said = [row[name] for row in rows if name in row]
    whole = any(type(v) is int for v in said) and not any(map(_is_float, said))
    empty = "" if "" in said else empty
    for row, cell in zip(rows, cells):
        if cell is None or cell == "":
            if row.get(name, "") not in (None, ""):
                row[name] = empty
        elif row.get(name) != cell:
            # Beside a gap, pandas turns 2 into 2.0.
            back = whole and _is_float(cell) and cell.is_integer()
            row[name] = int(cell) if back else cell


def _is_float(value):
    return isinstance(value, float)
