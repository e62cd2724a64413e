"""One connection to the file: statements, transactions, the settings that make them safe.

What a transaction wrote survives the death of the process the moment it returns (write-ahead
log); with `durable=True` it also survives a power cut (`synchronous=FULL`). Every error leaves as
one of ours. One thread: the one that opened it.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.errors import StoreCorrupt
from engine.store.faults import FOREIGN_ERRORS, translate, translated

BUSY_TIMEOUT_MS = 5000
"""How long another program may hold the file before we give up, milliseconds."""

_WAL_LEFT_BYTES = 4 * 1024 * 1024
_SETTINGS = (
    "PRAGMA page_size = 8192",  # of a new file: the whole schema fits into the first page
    "PRAGMA foreign_keys = ON",
    "PRAGMA recursive_triggers = ON",  # a REPLACE may not slip past the append-only trigger
    "PRAGMA secure_delete = ON",
    "PRAGMA cell_size_check = ON",  # notice a damaged page when it is read, not later
    "PRAGMA fullfsync = ON",  # macOS: fsync alone does not reach the disk
    f"PRAGMA journal_size_limit = {_WAL_LEFT_BYTES}",
)

Row = tuple[Any, ...]
Parameters = Sequence[Any] | Mapping[str, Any]


class Database:
    """A connection whose errors are ours. Owned by the thread that made it.

    Args:
        connection: in autocommit mode (`isolation_level=None`).
        path: the file, for messages; also where a suspicion of damage is left.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self.connection = connection
        self.path = path
        self._logged = False
        connection.text_factory = _tolerant_text

    def run(self, sql: str, parameters: Parameters = ()) -> list[Row]:
        """Run one statement and return all its rows."""
        try:
            return self.connection.execute(sql, parameters).fetchall()
        except FOREIGN_ERRORS as error:
            raise self._ours(error) from error

    def value(self, sql: str, parameters: Parameters = ()) -> Any:
        """The first column of the first row, None when there is none."""
        rows = self.run(sql, parameters)
        return rows[0][0] if rows else None

    @contextmanager
    def transaction(self, *, durable: bool = False) -> Iterator[None]:
        """All of the block or nothing; holds the write lock from its first moment.

        `durable` waits until the disk has it. Whatever is raised inside rolls back.
        """
        if durable and self._logged:
            self.run("PRAGMA synchronous = FULL")
        try:
            self.run("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise
        except FOREIGN_ERRORS as error:
            raise self._ours(error) from error
        finally:
            if durable and self._logged:
                self.run("PRAGMA synchronous = NORMAL")

    def settle(self) -> None:
        """Switch to the write-ahead log and to the settings of a store that is written.

        Where the log is not possible (some network disks) every commit stays FULL.
        """
        for setting in _SETTINGS:
            self.run(setting)
        self._logged = self.value("PRAGMA journal_mode = WAL") == "wal"
        if self._logged:
            self.run("PRAGMA synchronous = NORMAL")

    def close(self) -> None:
        """Close; the last one to leave folds the log into the file. Safe to call twice."""
        with translated(self.path):
            self.connection.close()

    def _ours(self, error: Exception) -> Exception:
        ours = translate(error, self.path)
        if isinstance(ours, StoreCorrupt):
            note_suspicion(self.path)
        return ours


def connect(path: Path, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> Database:
    """Open the file at `path` (made when missing) for reading and writing. Milliseconds."""
    with translated(path):
        connection = sqlite3.connect(path, timeout=busy_timeout_ms / 1000, isolation_level=None)
    return Database(connection, path)


def connect_in_memory() -> Database:
    """A database that lives as long as its connection."""
    return Database(sqlite3.connect(":memory:", isolation_level=None), Path(":memory:"))


def connect_to_look(path: Path, *, busy_timeout_ms: int = BUSY_TIMEOUT_MS) -> Database:
    """Open the file at `path` without changing a byte of it or of its log.

    Without a log beside it nobody else has it open, and it is read as it lies there (which works
    in a read-only folder too); with one, through the log.
    """
    way = "mode=ro" if beside(path, "-wal").exists() else "immutable=1"
    with translated(path):
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?{way}",
            uri=True,
            timeout=busy_timeout_ms / 1000,
            isolation_level=None,
        )
    return Database(connection, path)


def beside(path: Path, suffix: str) -> Path:
    """A file that belongs to the store: its name with a suffix (`-wal`, `.damaged-1`)."""
    return path.with_name(path.name + suffix)


def note_suspicion(path: Path) -> None:
    """Leave a mark, so that the next opening checks the whole file, however large."""
    if path.exists():
        try:
            beside(path, ".suspect").touch(mode=0o600)
        except OSError:
            return  # a read-only place: the next opening only checks what it always checks


def _tolerant_text(raw: bytes) -> str:
    """Text of a damaged row costs its characters, not the row."""
    return raw.decode("utf-8", "replace")
