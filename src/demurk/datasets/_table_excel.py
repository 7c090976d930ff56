"""Excel workbooks: read as they are typed, and written with only labels changed."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import io
import re
import zipfile
from functools import partial
from xml.sax.saxutils import escape

from demurk.datasets._room import bounded
from demurk.datasets._table_cells import plain_cells
from demurk.utils._optional import import_optional

__all__ = ["EXCEL", "read_book", "write_book"]

EXCEL = (".xlsx", ".xlsm")
SHEET_ROWS = 1_048_576
ROW_NUMBER = re.compile(rb"""\br\s*=\s*["'][A-Za-z]{0,3}(\d{1,300})""")
# How openpyxl writes a sheet, and a formula without its value.
SHEET = re.compile(r"xl/worksheets/sheet(\d+)\.xml")
FORMULA = re.compile(
    rb'<c r="([A-Z]+\d+)"([^>]*)>(<f[^<]*(?:</f>)?)<v ?(?:/>|></v>)</c>'
)


def read_book(data, path):
    """The first sheet; text stays text, also where it could be a number."""
    pd = import_optional("pandas", "tables")
    _check_sheets(data, path)
    frame = pd.read_excel(
        io.BytesIO(data), dtype=object, keep_default_na=False, na_values=[""]
    )
    return frame.infer_objects()


def _check_sheets(data, path):
    """Refuse row numbers that no spreadsheet has: the gaps before them are filled."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            if not info.filename.startswith("xl/worksheets/"):
                continue
            with archive.open(info) as stream:
                content = bytes(bounded(stream, path))
            for number in ROW_NUMBER.findall(content):
                if len(number) > 7 or int(number) > SHEET_ROWS:
                    raise ValueError(f"a cell says that it is in row {int(number):.3g}")


def write_book(table, path):
    """The workbook that was read with other labels; a new one for other tables."""
    openpyxl = import_optional("openpyxl", "tables")
    frame, source = table.frame, table.source
    before = source.extra if source.format == "excel" else None
    n_before = 0 if before is None else before.shape[1]
    same_rows = before is not None and len(before) == len(frame)
    if not same_rows or list(frame.columns[:n_before]) != list(before.columns):
        frame.to_excel(path, index=False)
        return
    book = openpyxl.load_workbook(io.BytesIO(source.data), rich_text=True)
    sheet = book.worksheets[0]
    for number, name in enumerate(frame.columns, 1):
        if number > n_before:
            _put(sheet, 1, number, name)
            old = [None] * len(frame)
        elif name in table.form.columns:
            old = plain_cells(before[name])
        else:
            continue
        for row, (value, known) in enumerate(zip(plain_cells(frame[name]), old), 2):
            if value != known:
                _put(sheet, row, number, value)
    _save(book, path, source.data)


def _put(sheet, row, column, value):
    """Set a cell; text stays text, also where it begins like a formula."""
    cell = sheet.cell(row, column)
    for area in list(sheet.merged_cells.ranges):
        if cell.coordinate in area and (row, column) != (area.min_row, area.min_col):
            sheet.unmerge_cells(str(area))
            cell = sheet.cell(row, column)
    cell.value = value
    if isinstance(value, str):
        cell.data_type = "s"


def _save(book, path, data):
    """Save a workbook with the values of its formulas, which openpyxl leaves out.

    Without them, only a spreadsheet could tell what stands in these cells.
    """
    openpyxl = import_optional("openpyxl", "tables")
    known = openpyxl.load_workbook(io.BytesIO(data), data_only=True).worksheets
    saved = io.BytesIO()
    book.save(saved)
    with (
        zipfile.ZipFile(saved) as old,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for info in old.infolist():
            content, sheet = old.read(info), SHEET.fullmatch(info.filename)
            if sheet:
                values = known[int(sheet[1]) - 1]
                content = FORMULA.sub(partial(_with_value, values), content)
            new.writestr(info, content)


def _with_value(values, match):
    """A cell with a formula and the number or text that it gave."""
    place, looks, formula = match.groups()
    cell = values[place.decode()]
    value = cell.value
    if value is None or cell.data_type == "e":
        return match[0]
    if cell.data_type == "d":
        times = import_optional("openpyxl.utils.datetime", "tables")
        value = times.to_excel(value, values.parent.epoch)
    kind = {str: b"str", bool: b"b"}.get(type(value), b"n")
    text = escape(str(int(value) if kind == b"b" else value)).encode()
    begin = b'<c r="%b"%b t="%b">%b' % (place, looks, kind, formula)
    return b"%b<v>%b</v></c>" % (begin, text)
