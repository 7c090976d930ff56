"""JSON lines and lists of records, doccano's among them."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json

import numpy as np

from demurk.datasets._label_studio import is_tasks, tasks_frame
from demurk.utils._nesting import parse_text
from demurk.utils._optional import import_optional
from demurk.utils._text import one_line


def read_json(data, path):
    """A frame, what wrote it, and its records."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not utf-8 text, as JSON must be.") from error
    records = _array(text, path) if text.lstrip()[:1] == "[" else _lines(text, path)
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
    frame = pd.DataFrame(records)
    frame.columns = [str(name) for name in frame.columns]
    return frame, "doccano" if _is_doccano(frame) else "json", None


def _array(text, path):
    try:
        return parse_text(text, "json")
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        raise ValueError(
            f"{path}, line {line}: this is no JSON ({one_line(error)}); get the file "
            "again."
        ) from error


def _lines(text, path):
    records = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                records.append(parse_text(line, "json"))
            except ValueError as error:
                raise ValueError(
                    f"{path}, line {number}: this is no JSON ({one_line(error)}); each "
                    "line is one object."
                ) from error
    return records


def _is_doccano(frame):
    """Text and a list of labels each, as doccano exports them."""
    if not {"text", "label"} <= set(frame.columns):
        return False
    return all(isinstance(cell, list) for cell in frame["label"])


def write_json(frame, path, lines=True):
    """Rows as JSON objects; what is missing is left out."""
    names = list(frame.columns)
    rows = zip(*(frame[name].astype(object) for name in names))
    records = [
        json.dumps(
            {n: _plain(v) for n, v in zip(names, row) if not _is_gap(v)},
            ensure_ascii=False,
        )
        for row in rows
    ]
    text = "\n".join(records) if lines else "[\n" + ",\n".join(records) + "\n]"
    path.write_text(text + "\n", encoding="utf-8", newline="")


def _is_gap(value):
    return (
        value is None
        or (not isinstance(value, (list, str)) and value is not value)
        or (isinstance(value, float) and value != value)
    )


def _plain(value):
    """A value as JSON knows it."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return (
        value if isinstance(value, (str, int, float, bool, list, dict)) else str(value)
    )
