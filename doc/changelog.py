"""The page of changes, from the notes in ``doc/changes``."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path

__all__ = ["write_changes"]

HERE = Path(__file__).parent
# Headings of the notes in doc/changes, in this order.
CHANGES = {
    "feature": "New",
    "enhancement": "Better",
    "efficiency": "Faster or smaller",
    "fix": "Mended",
    "api": "To be changed in your code",
    "other": "Other",
}


def write_changes():
    """Write the notes on changes, by type, to ``doc/_tables/changes.rst``."""
    lines = []
    for kind, heading in CHANGES.items():
        notes = sorted((HERE / "changes").glob(f"*.{kind}.rst"))
        if notes:
            lines += [heading, "-" * len(heading), ""]
        for note in notes:
            # A note may hold several, each a paragraph.
            for text in note.read_text("utf-8").strip().split("\n\n"):
                lines += ["- " + text.replace("\n", "\n  "), ""]
    path = HERE / "_tables" / "changes.rst"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(lines), encoding="utf-8")
