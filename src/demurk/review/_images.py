"""Pictures named in the table, from below one folder and from nowhere else."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

from pathlib import Path

__all__ = ["TYPES", "find_image"]

# No SVG: it may hold scripts.
TYPES = {
    ".avif": "image/avif",
    ".bmp": "image/bmp",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".webp": "image/webp",
}


def find_image(name, root):
    """The file of a picture, or None if it is no picture below the folder.

    Parameters
    ----------
    name : str
        What the table says: a path below the folder, or an absolute one.
    root : path-like
        The folder.

    Returns
    -------
    path : Path or None
        The file, with all links followed.
    """
    try:
        root = Path(root).resolve(strict=True)
        path = (root / name).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        return None
    if not path.is_relative_to(root) or not path.is_file():
        return None
    return path if path.suffix.lower() in TYPES else None
