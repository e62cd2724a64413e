"""Opening the file, whatever is found there.

::

    newer, foreign      refused, untouched
    missing, empty      made
    older               a copy beside it, then brought up to date
    damaged             what can be read goes into a new file; the old one is set aside, never
                        overwritten (`porthole.db.damaged-1`), and the user is told
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.errors import StoreCorrupt, StoreNewer, StoreReadOnly, StoreUnusable
from engine.paths import folder_lock, make_private
from engine.store import migrations, searching
from engine.store.database import Database, beside, connect, connect_to_look
from engine.store.faults import damaged, translated
from engine.store.files import (
    finish_replacement,
    has_content,
    is_in_use,
    make_private_file,
    replace_store,
    replacement,
    set_aside,
)
from engine.store.migrations import Step

CHECKED_BYTES = 8 * 1024 * 1024
"""A file up to this size is checked whole at every opening; a larger one when it is suspect."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A database ready for use, and sentences the user must be told.

    `rescued`: a damaged file was set aside, and this one begun in its place.
    """

    database: Database
    notices: tuple[str, ...] = ()
    rescued: bool = False


def open_to_write(path: Path, busy_timeout_ms: int, steps: Sequence[Step]) -> Opened:
    """Open or make the store, one process at a time. Raises StoreUnusable and below."""
    make_private(path.parent, fault=StoreReadOnly)
    with translated(path), folder_lock(path.parent):
        return _open_alone(path, busy_timeout_ms, steps)


def open_to_look(path: Path, busy_timeout_ms: int, steps: Sequence[Step]) -> Opened:
    """Open an existing store without writing a byte. Raises StoreUnusable and below."""
    with translated(path):
        exists = path.exists()
    if not exists:
        raise StoreUnusable(
            f"There are no conversations yet: {path} does not exist.",
            "It is made by the first conversation.",
        )
    database = connect_to_look(path, busy_timeout_ms=busy_timeout_ms)
    try:
        _refuse(database, steps)
        if migrations.applied(database) != {step.name for step in steps}:
            raise StoreUnusable(
                f"The conversation file {path} was written by an older version.",
                "Start a conversation once; the file is brought up to date then.",
            )
    except BaseException:
        database.close()
        raise
    return Opened(database)


def _open_alone(path: Path, busy_timeout_ms: int, steps: Sequence[Step]) -> Opened:
    notices: tuple[str, ...] = ()
    finish_replacement(path)
    if _log_without_file(path):
        notices = (_told_of_log(set_aside(path)),)
    elif has_content(path):
        _refuse_other_versions(path, busy_timeout_ms, steps)
    make_private_file(path)
    try:
        opened = _open_sound(path, busy_timeout_ms, steps)
    except StoreCorrupt:
        notices += (_replace_damaged(path, steps),)
        opened = _open_sound(path, busy_timeout_ms, steps)
    return replace(opened, notices=(*notices, *opened.notices), rescued=bool(notices))


def _open_sound(path: Path, busy_timeout_ms: int, steps: Sequence[Step]) -> Opened:
    """Open a file that is new or sound. Raises StoreCorrupt if it turns out to be neither."""
    notices: tuple[str, ...] = ()
    mark = beside(path, ".suspect")
    database = connect(path, busy_timeout_ms=busy_timeout_ms)
    try:
        with translated(path):
            suspect = mark.exists()
        _check(database, whole=suspect)
        database.settle()
        with database.transaction():
            pass  # a store that cannot be written is refused now, not at the first word
        if copy := migrations.upgrade(database, steps):
            notices = (_told_of_copy(copy),)
        if suspect:
            searching.mend(database)
            with translated(path):
                mark.unlink(missing_ok=True)
    except BaseException:
        database.close()
        raise
    return Opened(database, notices)


def _check(database: Database, *, whole: bool) -> None:
    """Raise StoreCorrupt unless the file is sound; `whole` also if that takes long."""
    database.run("PRAGMA schema_version")
    pages = database.value("PRAGMA page_count") * database.value("PRAGMA page_size")
    with translated(database.path):
        size = database.path.stat().st_size
        cut_off = size < pages and not has_content(beside(database.path, "-wal"))
    if cut_off:
        raise damaged(database.path)
    if (whole or size <= CHECKED_BYTES) and database.value("PRAGMA quick_check(1)") != "ok":
        raise damaged(database.path)


def _refuse_other_versions(path: Path, busy_timeout_ms: int, steps: Sequence[Step]) -> None:
    """Refuse before anything could change; damage is judged later, under the file's locks."""
    if beside(path, "-journal").exists():
        return  # never finished its first second: ours, and SQLite has to roll it back
    database = connect_to_look(path, busy_timeout_ms=busy_timeout_ms)
    try:
        _refuse(database, steps)
    except StoreCorrupt:
        return
    finally:
        database.close()


def _refuse(database: Database, steps: Sequence[Step]) -> None:
    if migrations.is_foreign(database):
        raise StoreUnusable(
            f"{database.path} is a database of another program.",
            "Move it away, or choose another data folder.",
        )
    if migrations.is_newer(database, steps):
        raise StoreNewer(
            f"The conversation file {database.path} was written by a newer version of Porthole.",
            "Use that version, or choose another data folder; the file was not touched.",
        )


def _log_without_file(path: Path) -> bool:
    """Whether there is a log and nothing it belongs to: SQLite would delete it."""
    return has_content(beside(path, "-wal")) and not has_content(path) and not path.is_dir()


def _replace_damaged(path: Path, steps: Sequence[Step]) -> str:
    """Put a new store with all that can be read in the place of a damaged one."""
    if is_in_use(path):  # what that program writes from now on would miss the new file
        raise StoreCorrupt(
            f"The conversation file {path} is damaged and in use by another program.",
            "Close every other Porthole and start again: what can be read of the file is kept.",
        )
    from engine.store.salvage import salvage  # hardly ever needed

    saved = salvage(path, replacement(path), steps)
    aside = replace_store(path, replacement(path))
    beside(path, ".suspect").unlink(missing_ok=True)
    return _told_of_damage(aside, saved.sessions, saved.entries)


def _told_of_damage(aside: Path, sessions: int, entries: int) -> str:
    kept = (
        f"what could be read of it is here (conversations: {sessions}, entries: {entries})"
        if sessions
        else "nothing of it could be read, and a new one was begun"
    )
    return f"The conversation file was damaged and is kept as {aside}; {kept}."


def _told_of_log(aside: Path) -> str:
    return (
        f"The conversation file was gone or empty and only its log was left;"
        f" that is kept as {beside(aside, '-wal')}, and a new file was begun."
    )


def _told_of_copy(copy: Path) -> str:
    return f"The conversation file was brought up to date; the old one is kept as {copy}."
