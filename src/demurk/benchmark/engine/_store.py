"""The results of a benchmark, kept safe while it runs."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import sqlite3
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

__all__ = ["Outcome", "ResultStore"]

SCHEMA = 1
BUSY_SECONDS = 60
NAMES = ("protocol", "data_set", "setting", "method", "seed")
COLUMNS = (
    *("key", *NAMES, "status", "values", "error", "cpu_s", "wall_s", "peak_mb"),
    *("code", "data", "versions", "finished"),
)
# Columns of tables, which the file has as JSON.
TABLES = ("values", "versions")
QUOTED = ", ".join(f'"{name}"' for name in COLUMNS)
NEW = ", ".join(f'excluded."{name}"' for name in COLUMNS)
# A result is never replaced; a failure is, by what a later attempt gives.
ADD = (
    f"INSERT INTO results ({QUOTED}) VALUES ({', '.join('?' * len(COLUMNS))}) "
    f"ON CONFLICT (key) DO UPDATE SET ({QUOTED}) = ({NEW}) "
    "WHERE results.status NOT IN ('done', 'skipped')"
)


IN_USE = "wait until no other run uses it, or give another folder"
FULL_DISK = "see that its disk has room; the same run then goes on where it was"
NO_FILES = "give a folder in which files can be made"
# What may be wrong with a file, and what helps; nothing else is wrong with a store.
ADVICE = {
    **dict.fromkeys((sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED), IN_USE),
    **dict.fromkeys((sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR), FULL_DISK),
    **dict.fromkeys((sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY), NO_FILES),
}
UNREADABLE = (json.JSONDecodeError, UnicodeDecodeError, TypeError)
DAMAGED = "it is damaged or no store; give another folder, or move the file away"


@contextmanager
def _explained(path):
    """Say in one sentence what is wrong with the file of a store."""
    try:
        yield
    except (*UNREADABLE, sqlite3.Error) as error:
        # The lowest byte tells what, the others where.
        code = getattr(error, "sqlite_errorcode", None)
        advice = DAMAGED if code is None else ADVICE.get(code & 0xFF, DAMAGED)
        raise ValueError(
            f"{path} cannot be used as a store of results ({error}): {advice}."
        ) from error


def _record(row):
    """What the file has of a row."""
    return [json.dumps(row[c]) if c in TABLES else row[c] for c in COLUMNS]


def _table(text):
    found = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError(f"{text} is no table")
    return found


@dataclass(frozen=True)
class Outcome:
    """What came of a task.

    Attributes
    ----------
    status : str
        "done", "skipped", "failed", "timeout" or "memory".
    values : dict of str to float
        The measures and other numbers; empty unless done.
    error : str or None
        Traceback of a failure, or why a task was skipped.
    cpu_s, wall_s, peak_mb : float or None
        Processor time, elapsed time and largest resident memory, where known.
    versions : dict of str to str
        Python and the packages that were loaded.
    """

    status: str
    values: dict = field(default_factory=dict)
    error: str | None = None
    cpu_s: float | None = None
    wall_s: float | None = None
    peak_mb: float | None = None
    versions: dict = field(default_factory=dict)


class ResultStore:
    """Results in one SQLite file, written one by one as they finish.

    Several processes may write to the same file. It should lie on a local disk: the
    write-ahead log does not work over network file systems.

    Parameters
    ----------
    path : path-like
        The file; it and its folder are made if needed.

    Examples
    --------
    >>> import tempfile
    >>> from demurk.benchmark import Outcome, ResultStore, Task
    >>> task = Task("mine", "module.kind", "digits", "", "MDDM", 0, {})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ResultStore(f"{folder}/results.sqlite") as store:
    ...         key = task.key("code", "data")
    ...         added = store.add(task, key, Outcome("done", {"AP": 0.5}))
    ...         added, key in store.keys(), store.rows("mine")[0]["values"]
    (True, True, {'AP': 0.5})
    """

    def __init__(self, path):
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _explained(self.path):
            self._file = sqlite3.connect(
                self.path, timeout=BUSY_SECONDS, isolation_level=None
            )
            self._open()

    def _open(self):
        self._file.execute("PRAGMA journal_mode = WAL")
        # FULL waits for the disk at every commit, so that even a power cut loses no
        # finished task; a task takes much longer than the few milliseconds that costs.
        self._file.execute("PRAGMA synchronous = FULL")
        self._file.execute("BEGIN IMMEDIATE")
        (found,) = self._file.execute("PRAGMA user_version").fetchone()
        if found > SCHEMA:
            self._file.execute("ROLLBACK")
            raise ValueError(
                f"{self.path} was written by a newer demurk (schema {found}, here "
                f"{SCHEMA}): update demurk or give another file."
            )
        rest = ", ".join(f'"{name}"' for name in COLUMNS[1:])
        self._file.execute(
            f"CREATE TABLE IF NOT EXISTS results (key PRIMARY KEY, {rest})"
        )
        self._file.execute(f"PRAGMA user_version = {SCHEMA}")
        self._file.execute("COMMIT")

    def add(self, task, key, outcome, *, code="", data=""):
        """Record a result, in one transaction.

        Parameters
        ----------
        task : Task
            What was run.
        key : str
            Its key.
        outcome : Outcome
            What came of it.
        code, data : str, default=""
            Versions that the key was made of.

        Returns
        -------
        added : bool
            False if the store has a result for this key already, which stays.
        """
        facts = asdict(outcome) | {name: getattr(task, name) for name in NAMES}
        facts |= {"key": key, "code": code, "data": data}
        facts["finished"] = datetime.now(UTC).isoformat(timespec="seconds")
        record = _record(facts)
        with _explained(self.path):
            return self._file.execute(ADD, record).rowcount > 0

    def adopt(self, rows):
        """Record results that were read from a report.

        Parameters
        ----------
        rows : sequence of dict
            As :meth:`rows` gives them. Those whose keys are known change nothing.
        """
        records = [_record(row) for row in rows]
        with _explained(self.path):
            self._file.execute("BEGIN IMMEDIATE")
            try:
                self._file.executemany(ADD, records)
                self._file.execute("COMMIT")
            finally:
                self._file.rollback()  # nothing is left of it if it failed

    def keys(self):
        """Keys of all tasks in the store.

        Returns
        -------
        status : dict of str to str
            Status by key.
        """
        with _explained(self.path):
            return dict(self._file.execute("SELECT key, status FROM results"))

    def rows(self, protocol=None):
        """Results as records.

        Parameters
        ----------
        protocol : str, default=None
            Name of a protocol; None gives all.

        Returns
        -------
        rows : list of dict
            One per task in the order they finished, with the key, the names of the
            task, its outcome, the versions of code and data, and the time. Results of
            older code are among them; :func:`protocol_rows` leaves them out.
        """
        where = "" if protocol is None else " WHERE protocol = ?"
        with _explained(self.path):
            found = self._file.execute(
                f"SELECT {QUOTED} FROM results{where} ORDER BY rowid",
                () if protocol is None else (protocol,),
            )
            rows = [dict(zip(COLUMNS, record)) for record in found]
            for row in rows:
                row |= {name: _table(row[name]) for name in TABLES}
        return rows

    def close(self):
        """Close the file."""
        self._file.close()

    def __enter__(self):
        """Use as a context manager."""
        return self

    def __exit__(self, *_):
        """Close the file."""
        self.close()
