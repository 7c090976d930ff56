"""Decisions on disk: only ever added, and each one is there before it is answered."""

# Authors: The demurk developers
# SPDX-License-Identifier: BSD-3-Clause

import json
import sqlite3
import threading
import uuid
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path

__all__ = ["SETTLED", "Decision", "Store", "shown_text", "store_path"]

VERSION = 1
ACTIONS = ("accept", "keep", "choose", "label", "skip", "unsure", "note")
# Actions that say what a label is; skipped and unsure ones leave it open.
SETTLED = frozenset({"accept", "keep", "choose", "label"})
WAIT_SECONDS = 10.0


@dataclass(frozen=True)
class Decision:
    """One decision about one label of one row.

    Attributes
    ----------
    action : str
        "accept", "keep", "choose" (another class or label), "label" (a row that had
        none), "skip", "unsure", "note" or "undo".
    key, cells : str
        The name of the row, and a digest of its cells.
    label : str
        The label; empty where the decision is about the class or candidates of the row.
    given, decided : str
        What the table said, and what the person says.
    note, reviewer, time : str
        A remark, who, and when (UTC).
    shown : str
        What was on the card, as JSON: score, rank, and more.
    batch : str
        Shared by the decisions that one key made and one undo takes back; for "undo"
        the batch that is taken back.
    id : int
        Its number; 0 before it is written.
    """

    action: str
    key: str
    cells: str = ""
    label: str = ""
    given: str = ""
    decided: str = ""
    note: str = ""
    reviewer: str = ""
    time: str = ""
    shown: str = "{}"
    batch: str = ""
    id: int = 0


COLUMNS = tuple(field.name for field in fields(Decision))
WRITTEN = COLUMNS[:-1]
TEXTS = ", ".join(f"{name} text not null" for name in ("batch", *COLUMNS[:-2]))
SCHEMA = f"""
create table if not exists facts (name text primary key, value text not null);
create table if not exists decisions (
    id integer primary key autoincrement, {TEXTS}
);
create trigger if not exists decisions_stay before update on decisions
begin select raise(abort, 'decisions are never changed'); end;
create trigger if not exists decisions_last before delete on decisions
begin select raise(abort, 'decisions are never deleted'); end;
"""
INSERT = (
    f"insert into decisions ({', '.join(WRITTEN)}) "
    f"values ({', '.join('?' for _ in WRITTEN)})"
)


def store_path(source):
    """Where the decisions about a table are: ``table.review.sqlite`` beside it."""
    path = Path(str(source))
    return path.with_name(f"{Path(path.name.removesuffix('.gz')).stem}.review.sqlite")


class Store:
    """The decisions about one table, in a SQLite file.

    Parameters
    ----------
    path : path-like
        The file; made if needed.

    Notes
    -----
    A write-ahead log with ``synchronous=FULL``: when `add` returns, the decisions
    survive a kill and a power cut. Several processes may write at once. The file
    refuses to change or delete a decision; an undo is a row of its own.
    """

    def __init__(self, path):
        self.path = Path(path)
        self._lock = threading.Lock()
        try:
            self._open()
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"{self.path} holds no decisions that can be read ({error}); move it "
                "away, or give the file that belongs to the table."
            ) from error

    def _open(self):
        self._db = sqlite3.connect(
            self.path,
            timeout=WAIT_SECONDS,
            check_same_thread=False,
            isolation_level=None,
        )
        self._db.execute("pragma journal_mode=wal")
        self._db.execute("pragma synchronous=full")
        self._db.executescript(SCHEMA)
        known = int(self.fact("version", str(VERSION)))
        if known > VERSION:
            raise ValueError(
                f"{self.path} was written by a newer demurk (version {known} of the "
                f"file, {VERSION} is known here); update demurk."
            )

    def close(self):
        """Close the file; the log is written back into it."""
        with self._lock:
            self._db.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def fact(self, name, value):
        """What is remembered under a name; `value` is written if nothing is yet."""
        with self._lock:
            self._db.execute("insert or ignore into facts values (?, ?)", (name, value))
            found = self._db.execute("select value from facts where name = ?", (name,))
            return found.fetchone()[0]

    def add(self, decisions, *, batch=None):
        """Write decisions together, all or none; on disk when it returns.

        Parameters
        ----------
        decisions : sequence of Decision
            What was decided by one key; their `batch` and, where empty, `time` are set.
        batch : str, default=None
            Its name; None makes a new one.

        Returns
        -------
        batch : str
            The name that all of them carry.
        """
        batch = batch or uuid.uuid4().hex
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        whole = [replace(d, batch=batch, time=d.time or now) for d in decisions]
        rows = [[_text(getattr(d, name)) for name in WRITTEN] for d in whole]
        # What begins here is committed at the end, or rolled back after any error.
        with self._lock, self._db:
            self._db.execute("begin immediate")
            self._db.executemany(INSERT, rows)
        return batch

    def since(self, number=0):
        """Decisions with a number above this one, by number."""
        return self._found("id > ?", number)

    def _found(self, condition, value):
        columns = ", ".join(COLUMNS)
        query = f"select {columns} from decisions where {condition} order by id"
        with self._lock:
            found = self._db.execute(query, (value,)).fetchall()
        return [Decision(*row) for row in found]

    def undo(self, reviewer):
        """Take back the last thing that a reviewer did and that still stands.

        Parameters
        ----------
        reviewer : str
            Who.

        Returns
        -------
        undone : list of Decision
            What was taken back; empty if there is nothing left.
        """
        last = (
            "select batch from decisions where reviewer = ? and action != 'undo' "
            "and batch not in (select batch from decisions where action = 'undo') "
            "order by id desc limit 1"
        )
        undone = self._found(f"batch = ({last})", reviewer)
        if undone:
            first = undone[0]
            taken = Decision("undo", first.key, label=first.label, reviewer=reviewer)
            self.add([taken], batch=first.batch)
        return undone


def _text(value):
    # A cell may hold half a letter, which no UTF-8 has.
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def shown_text(**facts):
    """What was on a card, as `Decision.shown` keeps it."""
    return json.dumps(facts, ensure_ascii=False, sort_keys=True)
