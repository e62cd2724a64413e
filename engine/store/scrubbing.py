"""What was deleted is gone from the file, not only from the tables.

SQLite's `secure_delete` overwrites what is deleted, but not the copies that rearranging leaves in
the gaps of pages, and the full-text index keeps the letters of deleted texts until its parts are
merged. So after a deletion the index is merged, the file is rewritten, and its log is emptied.
"""

from engine.store.database import Database

_KEY = "traces of deleted conversations"


def note_traces(database: Database) -> None:
    """Remember that traces are left; inside the transaction that deletes."""
    database.run("INSERT OR REPLACE INTO meta (key, value) VALUES (?, '')", (_KEY,))


def scrub(database: Database) -> None:
    """Remove traces that are left, if there are any.

    While another program reads the old pages they stay in the log, which is emptied later.
    """
    if not database.run("SELECT 1 FROM meta WHERE key = ?", (_KEY,)):
        return
    database.run("INSERT INTO entry_index (entry_index) VALUES ('optimize')")
    database.run("VACUUM")
    database.run("DELETE FROM meta WHERE key = ?", (_KEY,))
    database.run("PRAGMA wal_checkpoint(TRUNCATE)")
