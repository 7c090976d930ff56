"""Numbers of things, in words."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

__all__ = ["amount"]


def amount(number: int, one: str, many: str | None = None) -> str:
    """How many there are: "1 row", "2,000 rows"; the plural has an s if not given."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
