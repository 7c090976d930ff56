"""Results of a benchmark run as a CSV file, one line for each task."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import csv
import io
import json
import re
from pathlib import Path

from demurk.benchmark.engine._store import COLUMNS, NAMES

__all__ = ["read_results", "results_csv"]

TEXTS = (*NAMES[:-1], "status", "error", "code", "data", "key")
FIELDS = (*(name for name in COLUMNS[1:] if name != "values"), "key")
# A path from the root, but neither part of an address nor of a fraction.
ABSOLUTE = re.compile(
    r"(?<![\w/:.\\])(?:(?:/[\w.+@-]+){2,}|[A-Za-z]:(?:\\[\w.+@ -]+){2,})"
)
# What a package's own path begins after.
ANCHORS = ("site-packages", "src")


def results_csv(rows):
    """The text of the CSV file of some rows.

    Parameters
    ----------
    rows : sequence of dict
        Rows of a :class:`ResultStore`.

    Returns
    -------
    text : str
        The fields of :data:`FIELDS`, then one column for every value that any task
        returned, empty where a task did not return it. Errors are on one line, and
        folders of the machine are cut from them.
    """
    names = list(dict.fromkeys(name for row in rows for name in row["values"]))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*FIELDS, *map(_one_line, names)])
    for row in rows:
        fields = [_encode(name, row.get(name)) for name in FIELDS]
        values = row["values"]
        cells = [_json(values[name]) if name in values else "" for name in names]
        writer.writerow([*fields, *cells])
    return out.getvalue()


def read_results(path):
    """Read the rows of a benchmark run from the CSV file of its report.

    Parameters
    ----------
    path : path-like
        File written by :func:`write_report`.

    Returns
    -------
    rows : list of dict
        One for each task, as :meth:`ResultStore.rows` returns them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from demurk.benchmark import read_results
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "mine.csv"
    ...     _ = path.write_text("protocol,data_set,setting,method,seed,status,error,"
    ...                         "cpu_s,wall_s,peak_mb,code,data,versions,finished,AP\\n"
    ...                         "mine,toy,,kNN,0,done,,0.5,0.6,90,1.0,,,,0.75\\n")
    ...     row, = read_results(path)
    >>> row["method"], row["seed"], row["values"]
    ('kNN', 0, {'AP': 0.75})
    """
    with Path(path).open(encoding="utf-8", newline="") as file:
        reader = csv.reader(file)
        header = next(reader, [])
        # Older files have no keys.
        known = FIELDS if FIELDS[-1] in header else FIELDS[:-1]
        n = len(known)
        if tuple(header[:n]) != known:
            raise ValueError(
                f"Line 1 of {path} does not begin with the columns "
                f"{', '.join(known)}: give the CSV file of a report."
            )
        rows = []
        for cells in reader:
            if len(cells) != len(header):
                raise ValueError(
                    f"Line {reader.line_num} of {path} has {len(cells)} cells, but "
                    f"there are {len(header)} columns: give an unchanged file."
                )
            row = {name: _decode(name, cell) for name, cell in zip(known, cells)}
            values = zip(map(_lines, header[n:]), cells[n:])
            row["values"] = {name: json.loads(cell) for name, cell in values if cell}
            rows.append(row)
    return rows


def short_paths(text):
    """A text in which paths of this machine begin at the package or file they name."""
    return ABSOLUTE.sub(_short_path, text)


def _short_path(match):
    parts = re.split(r"[/\\]", match[0])
    for anchor in ANCHORS:
        if anchor in parts[:-1]:
            last = len(parts) - 1 - parts[::-1].index(anchor)
            return "/".join(parts[last + 1 :])
    return parts[-1]


def _encode(name, value):
    if value is None:
        return ""
    if not isinstance(value, str):
        return _json(value)
    return _one_line(short_paths(value) if name == "error" else value)


def _one_line(text):
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")


def _lines(text):
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "r": "\r"}.get(m[1], m[1]), text)


def _decode(name, cell):
    if name in TEXTS:
        return _lines(cell) or (None if name == "error" else "")
    if not cell:
        return None
    try:
        return json.loads(cell)
    except ValueError:
        # Dates are texts.
        return cell


def _json(value):
    # The scalars of numpy know their Python equals.
    return json.dumps(value, ensure_ascii=False, default=lambda scalar: scalar.item())
