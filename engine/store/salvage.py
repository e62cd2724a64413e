"""Reading what can be read out of a damaged store, into a new one.

Row by row, stepping over what raises. The new file is complete before the old one is renamed, so
a crash at any point leaves either the old state or the new one.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from engine.store.database import Database, Row, beside, connect
from engine.store.files import make_private_file, remove_store
from engine.store.grafting import grafted
from engine.store.migrations import Step, upgrade
from engine.store.replies import REPLY_COLUMNS, copy_reply
from engine.store.rows import (
    ENTRY_COLUMNS,
    SESSION_COLUMNS,
    SessionRow,
    blank_session,
    entry_from_row,
    session_from_row,
    write_entries,
    write_session,
)
from engine.transcript import Entry

_ONE_BY_ONE = 2_000
"""So many unreadable row numbers are stepped over one by one, then in steps that double."""

_LAST_ROW = 2**62
_LARGEST = 2**36  # bytes; a header that asks for more is damaged itself


@dataclass(frozen=True, slots=True)
class Saved:
    """How much was read out of the damaged file."""

    sessions: int
    entries: int


def salvage(path: Path, target: Path, steps: Sequence[Step]) -> Saved:
    """Make a new store at `target` with all that can be read at `path`.

    `path` is not changed. Raises OSError and StoreUnusable when `target` cannot be made.
    """
    remove_store(target)
    make_private_file(target)
    scratch = beside(target, ".scratch")
    try:
        _copy_patched(path, scratch)
        with closing(connect(target)) as new:
            new.settle()
            upgrade(new, steps)
            with new.transaction(durable=True), closing(connect(scratch)) as old:
                saved = _copy_rows(old.connection, new)
    finally:
        remove_store(scratch)
    return saved


def _copy_patched(path: Path, scratch: Path) -> None:
    """Copy a store and its log; a file that was cut off gets empty pages for those it lost.

    Without them SQLite would read none of its pages.
    """
    remove_store(scratch)
    for tail in ("-wal", ""):
        if beside(path, tail).exists():
            make_private_file(beside(scratch, tail))
            shutil.copyfile(beside(path, tail), beside(scratch, tail))
    with scratch.open("r+b") as file:
        header = file.read(100)
        page_size, pages = (
            int.from_bytes(header[16:18], "big"),
            int.from_bytes(header[28:32], "big"),
        )
        size = file.seek(0, os.SEEK_END)
        if header.startswith(b"SQLite format 3\0") and size < page_size * pages < _LARGEST:
            file.truncate(page_size * pages)


def _copy_rows(old: sqlite3.Connection, new: Database) -> Saved:
    known: set[str] = set()
    for row in _readable(old, "sessions", SESSION_COLUMNS):
        session = session_from_row(row)
        if session.id and session.id not in known:
            known.add(session.id)
            write_session(new, session)
    entries = (entry_from_row(row) for row in _readable(old, "entries", ENTRY_COLUMNS))
    count = 0
    for entry in grafted(entry for entry in entries if entry.id and entry.session):
        if entry.session not in known:
            known.add(entry.session)
            write_session(new, _lost_session(entry))
        write_entries(new, (entry,))
        count += 1
    for row in _readable(old, "replies", REPLY_COLUMNS):
        copy_reply(new, row)
    return Saved(len(known), count)


def _readable(old: sqlite3.Connection, table: str, columns: str) -> Iterator[Row]:
    """The rows of a table that can be read, in order."""
    number, misses, step = 0, 0, 1
    while number < _LAST_ROW:
        try:
            for row in old.execute(
                f"SELECT rowid, {columns} FROM {table} WHERE rowid > ? ORDER BY rowid", (number,)
            ):
                number, misses, step = row[0], 0, 1
                yield row[1:]
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
                return
            misses += 1
            step = 1 if misses < _ONE_BY_ONE else step * 2
            number += step
        else:
            return


def _lost_session(entry: Entry) -> SessionRow:
    """A conversation whose own row could not be read, from its first entry."""
    return blank_session(entry.session, entry.created_at)
