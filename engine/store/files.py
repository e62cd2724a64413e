"""The store's files on the disk: private, and set aside instead of overwritten."""

import os
import sys
from pathlib import Path

from engine.store.database import beside

_COMPANIONS = ("-wal", "-shm", "-journal")
_SHARED_FIRST, _SHARED_SIZE = 0x40000002, 510  # the readers' lock in SQLite's file format


def make_private_file(path: Path) -> None:
    """Make an empty file that only the user may read.

    SQLite gives its log the same permissions. An existing file that others may read is closed
    to them. Raises OSError.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        if os.name == "posix" and path.stat().st_mode & 0o077 and path.is_file():
            path.chmod(0o600)


def has_content(path: Path) -> bool:
    """Whether there is a file with at least one byte. Raises OSError."""
    return path.is_file() and path.stat().st_size > 0


def is_in_use(path: Path) -> bool:
    """Whether another process has the store open: SQLite then holds a lock on certain bytes.

    Always false on Windows, where an open file cannot be renamed anyway. Raises OSError.
    """
    if sys.platform == "win32":
        return False
    import fcntl

    with path.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_SIZE, _SHARED_FIRST)
        except BlockingIOError:
            return True
    return False


def remove_store(path: Path) -> None:
    """Delete a working copy and its log. Raises OSError."""
    for tail in ("", *_COMPANIONS):
        beside(path, tail).unlink(missing_ok=True)


def set_aside(path: Path) -> Path:
    """Rename a store and its log to the first free `….damaged-N`; returns the new name.

    Raises OSError; then nothing, or only the log's name, has changed.
    """
    number = 1
    while any(beside(path, f".damaged-{number}{tail}").exists() for tail in ("", *_COMPANIONS)):
        number += 1
    aside = beside(path, f".damaged-{number}")
    for tail in (*_COMPANIONS, ""):
        part = beside(path, tail)
        if part.exists():
            os.rename(part, beside(aside, tail))
    return aside


def replace_store(path: Path, new: Path) -> Path:
    """Set the store at `path` aside and put the finished one at `new` in its place.

    Returns where the old one is. Raises OSError. A crash between the two renames leaves `new`
    alone, which the next opening completes.
    """
    aside = set_aside(path)
    os.rename(new, path)
    return aside


def replacement(path: Path) -> Path:
    """Where the new store is made before it takes the place of `path`."""
    return beside(path, ".new")


def finish_replacement(path: Path) -> None:
    """Complete a replacement that was interrupted between its two renames. Raises OSError."""
    new = replacement(path)
    if new.exists() and not path.exists() and not beside(path, "-wal").exists():
        os.replace(new, path)
