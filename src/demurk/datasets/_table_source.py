"""Where a table came from, and where its rows stand there."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from dataclasses import dataclass, field
from typing import Any

from demurk.datasets._table_text import Dialect, line_of, read_bytes


@dataclass(frozen=True, eq=False)
class Source:
    """Where a table came from and how it was written there."""

    path: str = "table"
    format: str = "frame"
    dialect: Dialect = field(default_factory=Dialect)
    data: bytes | None = None  # of the standard input, or of a workbook
    extra: Any = None  # what a format holds beside the cells
    rows: Any = None  # in a table with several lines per row, the first of each

    def place(self, row):
        """Where a row stands, in words."""
        row = row if self.rows is None else int(self.rows[row])
        if self.format != "text":
            return f"{self.path}, row {row + 1}"
        data = read_bytes(self.path) if self.data is None else self.data
        line = line_of(row, data, self.dialect, self.path)
        return f"{self.path}, line {line}"
