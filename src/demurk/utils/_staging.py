"""Making output aside, and the one step in which it takes its place."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import ctypes
import json
import os
import shutil
import stat
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: what a killed run leaves is not removed there
    fcntl = None

__all__ = [
    "keep_rights",
    "link_rest",
    "put_in_place",
    "swap",
    "sync",
    "workshop",
]

PREFIX = ".demurk-"
NEW, ASIDE, LOCK, STATE = "new", "old", "lock", "state.json"
# A folder that holds more is not linked anew; its files are replaced one by one.
MAX_LINKS = 10_000


@contextmanager
def workshop(folder, target=None, names=()):
    """A hidden place in `folder` that is gone at the end, and after a kill by the next.

    Parameters
    ----------
    folder : Path
        An existing folder.
    target : Path, default=None
        Folder beside the place that may be swapped for the place's own `NEW`.
    names : sequence of str, default=()
        What is written; old files of these names are not kept.

    Yields
    ------
    place : Path
        An empty folder `NEW` in it is where to write.
    """
    _clear_leftovers(folder)
    place, lock = _open_place(folder)
    try:
        new = place / NEW
        new.mkdir()
        if target is not None:
            state = {"target": target.name, "names": names, "inode": new.stat().st_ino}
            (place / STATE).write_text(json.dumps(state))
        yield place
    finally:
        _clear(place)
        if lock is not None:
            os.close(lock)


def _open_place(folder):
    while True:
        place = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
        if fcntl is None:
            return place, None
        with suppress(BlockingIOError, FileNotFoundError):
            return place, _lock(place)


def _lock(place):
    """Lock a place; the system opens the lock again when this process dies."""
    handle = os.open(place / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Another process may have taken the place for a leftover and removed it.
        os.stat(place / LOCK)
    except BaseException:
        os.close(handle)
        raise
    return handle


def _clear_leftovers(folder):
    """Remove what killed runs left; what a running process holds stays."""
    if fcntl is None:
        return
    with os.scandir(folder) as entries:
        found = [entry for entry in entries if entry.name.startswith(PREFIX)]
    for entry in found:
        with suppress(OSError):
            facts = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid():
                lock = _lock(Path(entry.path))
                try:
                    _clear(Path(entry.path))
                finally:
                    os.close(lock)


def _clear(place):
    """Remove a place, first bringing back what is not a copy."""
    with suppress(OSError, ValueError):
        state = json.loads((place / STATE).read_text())
        target, names = place.parent / state["target"], set(state["names"])
        if (place / ASIDE).exists() and not target.exists():
            os.rename(place / ASIDE, target)
        for old in (place / ASIDE, place / NEW):
            if old.exists() and old.stat().st_ino != state["inode"]:
                _retire(old, target, names)
                if old.exists():
                    return  # it holds something that is nowhere else
    shutil.rmtree(place, ignore_errors=True)


def _retire(old, target, names):
    """Empty a folder that was replaced; what the new one lacks is moved there."""
    with os.scandir(old) as entries:
        entries = list(entries)
    for entry in entries:
        own, there = Path(entry.path), target / entry.name
        if not os.path.lexists(there):
            os.rename(own, there)
        elif entry.is_dir(follow_symlinks=False):
            _retire(own, there, ())
        elif entry.name in names or os.path.samestat(own.lstat(), there.lstat()):
            own.unlink()
    with suppress(OSError):
        old.rmdir()


def link_rest(old, new, names):
    """Give the new folder everything of the old one but the named files.

    Returns
    -------
    linked : bool
        Whether that was possible; if not, the folder cannot be swapped.
    """
    try:
        _link_rest(old, new, set(names), MAX_LINKS)
    except OSError:
        return False
    return True


def _link_rest(old, new, names, room):
    with os.scandir(old) as entries:
        entries = [entry for entry in entries if entry.name not in names]
    room -= len(entries)
    if room < 0:
        raise OSError("too many files")
    for entry in entries:
        there = new / entry.name
        if entry.is_dir(follow_symlinks=False):
            there.mkdir()
            room = _link_rest(entry.path, there, (), room)
            keep_rights(entry.path, there)
            shutil.copystat(entry.path, there)
        else:
            os.link(entry.path, there, follow_symlinks=False)
    return room


def keep_rights(old, new):
    """Give a new file the rights, and if possible the owner, of the one it replaces."""
    if os.path.exists(old):
        facts = os.stat(old)
        with suppress(OSError, AttributeError):
            os.chown(new, facts.st_uid, facts.st_gid)
        os.chmod(new, stat.S_IMODE(facts.st_mode))


def swap(place, target):
    """Put the new folder in the place of `target`, which may not exist yet.

    In one step where the system can swap two folders. Elsewhere in two; the next run
    undoes the first one if a kill comes between them.
    """
    new = place / NEW
    try:
        # Works only where there is nothing, or an empty folder, to replace.
        os.rename(new, target)
    except OSError:
        if not target.exists():
            raise
        _change_over(place, new, target)
    sync(target.parent)


def _change_over(place, new, target):
    if not _exchange(new, target):
        os.rename(target, place / ASIDE)
        try:
            os.rename(new, target)
        except OSError:
            os.rename(place / ASIDE, target)
            raise


def _exchange(one, other):
    """Swap two folders in one step; False where the system cannot (yet)."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    text, number = ctypes.c_char_p, ctypes.c_int
    rename.argtypes = [number, text, number, text, ctypes.c_uint]
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return rename(here, os.fsencode(one), here, os.fsencode(other), exchange) == 0


def put_in_place(new, target, names):
    """Replace files one by one, where the folder itself must stay.

    The last name is taken away first and comes back last: where it is, all files are
    of its run.
    """
    with workshop(target) as place:
        for name in names:
            shutil.move(new / name, place / NEW / name)
        (target / names[-1]).unlink(missing_ok=True)
        for name in names:
            os.replace(place / NEW / name, target / name)
    sync(target)


def sync(path):
    """Wait until a file or the names in a folder are on the disk."""
    if os.name == "nt" and os.path.isdir(path):
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
