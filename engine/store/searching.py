"""Full text: every entry's words, found by any three letters in a row.

The index is made of trigrams, so that languages without spaces work. A word of one or two
characters is looked for in the texts themselves.
"""

from typing import Any

from engine.errors import StoreUnusable
from engine.store.database import Database
from engine.store.rows import Found, storable

_SHORTEST_INDEXED = 3


def search(database: Database, text: str, limit: int) -> tuple[Found, ...]:
    """Entries that contain every word of `text`, ignoring case; best first."""
    words = storable(text.replace("\0", " ")).split()
    if not words:
        return ()
    indexed = [word for word in words if len(word) >= _SHORTEST_INDEXED]
    wheres = ["texts.text LIKE ? ESCAPE '\\'" for word in words if word not in indexed]
    values: list[Any] = [f"%{_escaped(word)}%" for word in words if word not in indexed]
    source, order = "texts", "texts.seq DESC"
    if indexed:
        source = "entry_index JOIN texts ON texts.seq = entry_index.rowid"
        order = "entry_index.rank"
        wheres.append("entry_index MATCH ?")
        values.append(" ".join('"' + word.replace('"', '""') + '"' for word in indexed))
    rows = database.run(
        f"SELECT entries.session, entries.id, texts.text FROM {source}"
        f" JOIN entries ON entries.seq = texts.seq WHERE {' AND '.join(wheres)}"
        f" ORDER BY {order} LIMIT ?",
        (*values, limit),
    )
    return tuple(Found(*row) for row in rows)


def mend(database: Database) -> None:
    """Make the index anew if it is damaged; the texts are all there."""
    if check(database):
        with database.transaction(durable=True):
            database.run("INSERT INTO entry_index (entry_index) VALUES ('rebuild')")


def check(database: Database) -> tuple[str, ...]:
    """Compare the index with the texts; a complaint, or nothing."""
    try:
        database.run("INSERT INTO entry_index (entry_index, rank) VALUES ('integrity-check', 1)")
    except StoreUnusable as error:
        return (f"entry_index: {error.__cause__ or error}",)
    return ()


def _escaped(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
