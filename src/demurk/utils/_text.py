"""Text of others inside our sentences and tables."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

__all__ = ["FORMULA", "one_line"]

# A spreadsheet takes a cell that begins so for a formula and runs it.
FORMULA = tuple("=+-@\t\r\n＝＋－＠")


def one_line(thing: object, most: int = 120) -> str:
    """An error or a text on one line, cut where it gets long."""
    text = " ".join(str(thing).split())
    return text if len(text) <= most else text[: most - 3] + "..."
