"""Writing files so that nothing is half written and nothing is lost."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

__all__ = ["atomic_path", "refuse_overwrite"]


def refuse_overwrite(paths, force):
    """Raise before any work is done if a file that will be written exists."""
    existing = [str(path) for path in map(Path, paths) if path.exists()]
    if existing and not force:
        raise FileExistsError(
            f"{existing[0]} exists already: choose another place or allow overwriting "
            "(--force on the command line)."
        )


@contextmanager
def atomic_path(path, *, force=False):
    """Give a temporary path that becomes `path` only if the block succeeds.

    Parameters
    ----------
    path : path-like
        Final place; its folder is made if needed.
    force : bool, default=False
        Whether an existing file may be replaced.

    Yields
    ------
    temporary : Path
        Where to write; same folder and suffix as `path`.
    """
    path = Path(path)
    refuse_overwrite([path], force)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix
    )
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes private files; give this one the usual rights.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
