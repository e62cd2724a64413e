"""The schema, in numbered steps.

A step and the record of it commit in one transaction: a step that fails or is interrupted leaves
no trace, stays pending and runs next time. Before the first step on a file that holds
conversations, a copy of it is put beside it. Steps are only ever added; a released one is never
edited. What is applied is read with plain SQL, so that a store that is up to date never pays for
importing sqlite_utils.

Tables::

    sessions  1 ──< entries  1 ── 0..1 texts ──> entry_index (full text)
       1 ──< replies (running, one row each)             meta
"""

import os
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.store.database import Database, beside
from engine.store.faults import translated
from engine.store.files import make_private_file

if TYPE_CHECKING:
    import sqlite_utils

APPLICATION_ID = int.from_bytes(b"Port", "big")
"""Says in the file's header whose database it is."""

_SET = "porthole"


@dataclass(frozen=True, slots=True)
class Step:
    """One numbered change of the schema; `apply` runs inside its transaction."""

    name: str
    apply: "Callable[[sqlite_utils.Database], None]"


def m001_conversations(db: "sqlite_utils.Database") -> None:
    """Conversations, their entries, running replies, full-text index."""
    for statement in _FIRST_SCHEMA:
        db.execute(statement)


STEPS = (Step("m001_conversations", m001_conversations),)
"""Every step there is, in order."""


def applied(database: Database) -> frozenset[str]:
    """Names of the steps this file has; empty for a new one."""
    if not database.run("SELECT 1 FROM sqlite_master WHERE name = '_sqlite_migrations'"):
        return frozenset()
    rows = database.run("SELECT name FROM _sqlite_migrations WHERE migration_set = ?", (_SET,))
    return frozenset(name for (name,) in rows)


def is_newer(database: Database, steps: Sequence[Step] = STEPS) -> bool:
    """Whether a later version of this program has changed the file."""
    return not applied(database) <= {step.name for step in steps}


def is_foreign(database: Database) -> bool:
    """Whether the file is some other program's database."""
    return (
        database.value("PRAGMA application_id") != APPLICATION_ID
        and database.value("SELECT 1 FROM sqlite_master LIMIT 1") is not None
    )


def upgrade(database: Database, steps: Sequence[Step] = STEPS) -> Path | None:
    """Apply the steps that are pending.

    Returns the copy made before the first of them, None when there was nothing to copy or to do.
    Raises what a step raises, translated; steps before it stay applied.
    """
    done = applied(database)
    pending = [step for step in steps if step.name not in done]
    if not pending:
        return None
    copy = _back_up(database, pending[0]) if done else None
    for count, _ in enumerate(steps, start=1):
        _apply_through(database, steps[:count])
    return copy


def _apply_through(database: Database, steps: Sequence[Step]) -> None:
    """Apply the last of `steps`, unless another process did while we waited for the lock."""
    if steps[-1].name in applied(database):
        return
    import sqlite_utils  # slow to import, and hardly ever needed
    from sqlite_utils.migrations import Migrations

    migrations = Migrations(_SET)
    for step in steps:
        migrations(name=step.name)(step.apply)
    with database.transaction(durable=True):
        tables = sqlite_utils.Database(database.connection, execute_plugins=False)
        migrations.apply(tables)


def _back_up(database: Database, before: Step) -> Path:
    """Copy the whole store beside itself; an unfinished copy never has the final name."""
    copy = beside(database.path, f".before-{before.name}")
    unfinished = beside(copy, ".part")
    with translated(copy):
        unfinished.unlink(missing_ok=True)
        make_private_file(unfinished)
        target = sqlite3.connect(unfinished)
        try:
            database.connection.backup(target)
        finally:
            target.close()
        os.replace(unfinished, copy)
    return copy


_FIRST_SCHEMA = (
    f"PRAGMA application_id = {APPLICATION_ID}",
    """
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY NOT NULL,
        title TEXT NOT NULL,
        model TEXT NOT NULL,          -- as the user writes it; empty: none chosen yet
        created_at INTEGER NOT NULL,  -- all times: milliseconds since 1970, UTC
        updated_at INTEGER NOT NULL,
        leaf TEXT,                    -- entry the next one hangs on; NULL: before the first
        compaction_count INTEGER NOT NULL DEFAULT 0,
        memory_flush_at INTEGER,      -- NULL: never
        memory_flush_compaction_count INTEGER,  -- compaction_count at that flush
        context_tokens INTEGER NOT NULL DEFAULT 0,
        input_tokens INTEGER NOT NULL DEFAULT 0,
        output_tokens INTEGER NOT NULL DEFAULT 0,
        total_tokens INTEGER NOT NULL DEFAULT 0,
        parent_session TEXT,          -- what it continues; may be gone or a file's name
        archived INTEGER NOT NULL DEFAULT 0
    )
    """,
    """
    CREATE TABLE entries (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,  -- order of arrival: below its children's; not reused
        id TEXT NOT NULL,             -- unique in its session, so that imports keep theirs
        session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        parent TEXT,                  -- NULL: a root
        type TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        payload TEXT NOT NULL,        -- JSON, see engine.transcript
        UNIQUE (session, id),
        FOREIGN KEY (session, parent) REFERENCES entries (session, id)
            DEFERRABLE INITIALLY DEFERRED
    )
    """,
    # Without it every deleted entry would search the table for children.
    "CREATE INDEX entries_children ON entries (session, parent)",
    """
    CREATE TRIGGER entries_never_change BEFORE UPDATE ON entries
    BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END
    """,
    """
    CREATE TRIGGER entries_go_with_their_session BEFORE DELETE ON entries
    WHEN EXISTS (SELECT 1 FROM sessions WHERE id = OLD.session)
    BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END
    """,
    """
    CREATE TABLE replies (
        id TEXT PRIMARY KEY NOT NULL,
        session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
        parent TEXT NOT NULL,
        updated_at INTEGER NOT NULL,
        owner_pid INTEGER NOT NULL,   -- the process that writes it, and when that started
        owner_started REAL NOT NULL,  -- (seconds): a pid alone may have been given again
        payload TEXT NOT NULL         -- the message so far, JSON
    )
    """,
    """
    CREATE TABLE texts (
        seq INTEGER PRIMARY KEY REFERENCES entries (seq) ON DELETE CASCADE,
        text TEXT NOT NULL            -- the words of an entry, for searching
    )
    """,
    """
    CREATE VIRTUAL TABLE entry_index USING fts5(
        text, content = 'texts', content_rowid = 'seq', tokenize = 'trigram'
    )
    """,
    """
    CREATE TRIGGER texts_indexed AFTER INSERT ON texts
    BEGIN INSERT INTO entry_index (rowid, text) VALUES (NEW.seq, NEW.text); END
    """,
    """
    CREATE TRIGGER texts_forgotten AFTER DELETE ON texts
    BEGIN
        INSERT INTO entry_index (entry_index, rowid, text) VALUES ('delete', OLD.seq, OLD.text);
    END
    """,
    "CREATE TABLE meta (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL)",
)
