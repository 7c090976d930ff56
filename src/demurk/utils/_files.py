"""Writing files so that nothing is half written and nothing is lost."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

from demurk.utils._staging import (
    NEW,
    keep_rights,
    link_rest,
    put_in_place,
    swap,
    sync,
    workshop,
)

__all__ = [
    "OutputFolder",
    "atomic_path",
    "check_outputs",
    "refuse_overwrite",
    "write_text",
]

# What every command needs at least: a picture, a page or a model.
ROOM = 16_000_000


def refuse_overwrite(paths, force):
    """Raise before any work is done if a file that will be written exists."""
    existing = [str(path) for path in map(Path, paths) if path.exists()]
    if existing and not force:
        raise FileExistsError(
            f"{existing[0]} exists already: choose another place or allow overwriting "
            "(--force on the command line)."
        )


def check_outputs(files, *, read=(), force=False, room=0):
    """Raise before any work is done if these files must not or cannot be written.

    Parameters
    ----------
    files : sequence of path-like
        What will be written.
    read : sequence of path-like, default=()
        What the command reads. It is never replaced, not even by force and not under
        another name.
    force : bool, default=False
        Whether other existing files may be replaced.
    room : int, default=0
        Bytes that will be needed beyond `ROOM`.
    """
    read = [path for path in map(Path, read) if path.exists()]
    for path in map(Path, files):
        for source in read:
            if path.exists() and path.samefile(source):
                raise ValueError(
                    f"{source} is the data itself and would be replaced by the output: "
                    "choose another folder or name."
                )
        _refuse_other(path)
    refuse_overwrite(files, force)
    for folder in {_existing(path) for path in files}:
        _check_folder(folder, room)


def _refuse_other(path):
    """Refuse folders and devices as files that will be written."""
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is no file: choose another name for the output.")


def _existing(path):
    """The folder that a file goes to, or the nearest one that exists."""
    folder = Path(os.path.realpath(path)).parent
    while not folder.exists():
        folder = folder.parent
    return folder


def _refuse_file(folder):
    """Refuse files as folders that something will be put in."""
    if Path(folder).exists() and not Path(folder).is_dir():
        raise ValueError(
            f"{folder} is a file, so no output can be put in it: choose another folder."
        )


def _check_folder(folder, room):
    _refuse_file(folder)
    try:
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise ValueError(
            f"Nothing can be written to {folder} ({error.strerror}): choose another "
            "folder."
        ) from error
    free, needed = shutil.disk_usage(folder).free, ROOM + room
    if free < needed:
        raise ValueError(
            f"{folder} has {free / 1e6:,.0f} MB left and about {needed / 1e6:,.0f} MB "
            "are needed: make room or choose another folder."
        )


def write_text(path, text):
    """Write UTF-8; what a file name may hold and a text may not is spelled out."""
    path.write_bytes(text.encode("utf-8", "backslashreplace"))


@contextmanager
def atomic_path(path, *, force=False):
    """Give a temporary path that becomes `path` only if the block succeeds.

    Parameters
    ----------
    path : path-like
        Final place; its folder is made if needed. A link stays, and what it points to
        is replaced.
    force : bool, default=False
        Whether an existing file may be replaced; it hands down its rights.

    Yields
    ------
    temporary : Path
        Where to write; same name and file system as `path`.
    """
    refuse_overwrite([path], force)
    path = Path(os.path.realpath(path))
    _refuse_other(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with workshop(path.parent) as place:
        temporary = place / NEW / path.name
        yield temporary
        keep_rights(path, temporary)
        sync(temporary)
        os.replace(temporary, path)
        sync(path.parent)


class OutputFolder:
    """Several files that belong together: a reader finds all old ones or all new ones.

    The folder is made anew beside the old one and swapped for it in one step. Files of
    other names are in the new one too, as they were. A folder that cannot be swapped
    (the one we are in, a mount point, one whose files cannot be linked) stays, and its
    files are replaced one by one: the last one of `names` goes first and comes last.

    Parameters
    ----------
    path : path-like
        The folder; made if needed. A link to a folder stays one.
    names : sequence of str
        Files that will be written, all of them.
    read, force, room
        As in `check_outputs`, which is called at once.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from demurk.utils._files import OutputFolder
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     output = OutputFolder(Path(parent) / "out", ["a.txt", "b.txt"])
    ...     with output.writing() as folder:
    ...         for name in output.names:
    ...             _ = (folder / name).write_text("new")
    ...     sorted(path.name for path in output.path.iterdir())
    ['a.txt', 'b.txt']
    """

    def __init__(self, path, names, *, read=(), force=False, room=0):
        self.path, self.names, self.force = Path(path), tuple(names), force
        _refuse_file(path)
        check_outputs(self.files, read=read, force=force, room=room)

    @property
    def files(self):
        """Where the files will be."""
        return [self.path / name for name in self.names]

    @contextmanager
    def writing(self):
        """Give a folder to write to; its files appear if the block succeeds."""
        # Another run may have come first.
        refuse_overwrite(self.files, self.force)
        target = Path(os.path.realpath(self.path))
        target.parent.mkdir(parents=True, exist_ok=True)
        stays = target.exists() and _must_stay(target)
        with workshop(
            target if stays else target.parent, None if stays else target, self.names
        ) as place:
            new = place / NEW
            yield new
            for name in self.names:
                keep_rights(target / name, new / name)
                sync(new / name)
            self._take_place(place, target, stays)

    def _take_place(self, place, target, stays):
        refuse_overwrite(self.files, self.force)
        if not stays:
            keep_rights(target, place / NEW)
            if not target.exists() or link_rest(target, place / NEW, self.names):
                sync(place / NEW)
                try:
                    swap(place, target)
                    return
                except OSError:
                    pass
        put_in_place(place / NEW, target, self.names)


def _must_stay(folder):
    """Whether a folder cannot be swapped, or someone would be left in the old one."""
    return (
        os.path.ismount(folder)
        or Path(os.path.realpath(".")).is_relative_to(folder)
        or not os.access(folder.parent, os.W_OK | os.X_OK)
    )
