"""Where the errors of sqlite3 and of the disk become ours: the only such place.

Whose fault it is decides the type: a locked, full, unwritable or damaged file is the
environment's (`StoreUnusable` and below); a broken constraint or a wrong statement is a `Bug`.
"""

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import (
    Bug,
    PortholeError,
    StoreCorrupt,
    StoreReadOnly,
    StoreUnusable,
)

FOREIGN_ERRORS = (sqlite3.Error, sqlite3.Warning, OSError)
"""What may be raised beneath the store."""


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Run a block on the store at `path`; foreign errors leave it as ours, chained."""
    try:
        yield
    except FOREIGN_ERRORS as error:
        raise translate(error, path) from error


def translate(error: Exception, path: Path) -> PortholeError:
    """Our error for a foreign one raised while the store at `path` was used.

    Returns a `StoreUnusable` (or below) for what the user can mend, a `Bug` for the rest.
    """
    if isinstance(error, OSError):
        return _from_system(error, path)
    return _from_sqlite(error, path)


def damaged(path: Path) -> StoreCorrupt:
    """The file's content cannot be trusted; it is set aside when it is opened next."""
    return StoreCorrupt(
        f"The conversation file {path} is damaged.",
        "Start Porthole again: the file is then set aside, and what can be read of it is kept.",
    )


def unwritable(path: Path) -> StoreReadOnly:
    """No permission, or a read-only place."""
    return StoreReadOnly(
        f"The conversation file {path} cannot be written.",
        "Give yourself permission to write the file and its folder, or choose another data folder.",
    )


def _full(path: Path) -> StoreReadOnly:
    return StoreReadOnly(
        f"The conversation could not be saved because the disk of {path} is full.",
        "Free some space and try again; what was saved before is safe.",
    )


def _busy(path: Path) -> StoreUnusable:
    return StoreUnusable(
        f"The conversation file {path} is in use by another program that does not let go of it.",
        "Wait for the other program or close it, and try again.",
    )


def _broken_disk(path: Path) -> StoreUnusable:
    return StoreUnusable(
        f"The disk reported an error while the conversation file {path} was read or written.",
        "Check the disk and its free space, and try again.",
    )


def _not_opened(path: Path) -> StoreUnusable:
    """SQLite only says that it cannot open; the file system knows more."""
    if path.is_dir():
        reason = "is a folder, not a file"
    elif path.exists() and not _may(path, os.R_OK):
        reason = "may not be read by you"
    else:
        reason = "cannot be opened"
    if path.parent.is_dir() and not _may(path.parent, os.W_OK | os.X_OK):
        return unwritable(path)
    return StoreUnusable(
        f"The conversation file {path} {reason}.", "Move it away, or choose another data folder."
    )


def _may(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _no_memory(path: Path) -> StoreUnusable:
    return StoreUnusable(
        f"There was too little memory to use the conversation file {path}.",
        "Close other programs and try again.",
    )


def _too_big(path: Path) -> StoreUnusable:
    return StoreUnusable(
        f"The text is too long to be stored in {path}.", "Split it into smaller pieces."
    )


_BY_CODE = {
    sqlite3.SQLITE_BUSY: _busy,
    sqlite3.SQLITE_LOCKED: _busy,
    sqlite3.SQLITE_PROTOCOL: _busy,
    sqlite3.SQLITE_FULL: _full,
    sqlite3.SQLITE_READONLY: unwritable,
    sqlite3.SQLITE_PERM: unwritable,
    sqlite3.SQLITE_AUTH: unwritable,
    sqlite3.SQLITE_CANTOPEN: _not_opened,
    sqlite3.SQLITE_IOERR: _broken_disk,
    sqlite3.SQLITE_NOLFS: _broken_disk,
    sqlite3.SQLITE_NOMEM: _no_memory,
    sqlite3.SQLITE_TOOBIG: _too_big,
    sqlite3.SQLITE_CORRUPT: damaged,
    sqlite3.SQLITE_NOTADB: damaged,
    sqlite3.SQLITE_FORMAT: damaged,
}
_OURS = (
    sqlite3.IntegrityError,
    sqlite3.ProgrammingError,
    sqlite3.InterfaceError,
    sqlite3.NotSupportedError,
)


def _from_sqlite(error: Exception, path: Path) -> PortholeError:
    code = getattr(error, "sqlite_errorcode", None)
    if code is not None and (make := _BY_CODE.get(code & 0xFF)):
        return make(path)
    if "fts5" in str(error) or "tokenizer" in str(error):
        return StoreUnusable(
            f"This Python's SQLite ({sqlite3.sqlite_version}) has no full-text search.",
            "Install a Python whose SQLite is 3.34 or newer with FTS5.",
        )
    if isinstance(error, sqlite3.DataError):
        return _too_big(path)
    if code is None and not isinstance(error, _OURS):
        return damaged(path)  # the driver itself could not understand what it read
    return Bug(f"the store's SQL failed: {type(error).__name__}: {error}")


def _from_system(error: OSError, path: Path) -> PortholeError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _full(path)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return unwritable(path)
    return StoreUnusable(
        f"The conversation file {path} cannot be used ({error.strerror or error}).",
        "Check the data folder, or choose another one.",
    )
