"""Reading entries: each is decoded once, for it never changes.

The entries of the conversation read last are kept, so that asking for its path again costs a walk
over numbers, not the reading of thousands of messages.
"""

from collections.abc import Sequence

from engine.store.database import Database
from engine.store.rows import ENTRY_COLUMNS, entry_from_row, storable
from engine.transcript import Entry

_AT_ONCE = 500  # numbers in one statement


class Reader:
    """Reads entries of conversations; remembers those of one."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._session = ""
        self._decoded: dict[int, Entry] = {}

    def every(self, session: str) -> tuple[Entry, ...]:
        """All entries of a conversation in the order they were added."""
        return self._read(session, self._numbers(_EVERY, {"session": session}))

    def path(self, session: str, leaf: str) -> tuple[Entry, ...]:
        """The entries from the root to `leaf`; for a leaf that is nowhere, to the last entry."""
        leaf = self.standing_leaf(session, leaf) or ""
        return self._read(session, self._numbers(_PATH, {"session": session, "leaf": leaf}))

    def standing_leaf(self, session: str, leaf: str) -> str | None:
        """The leaf if there is such an entry, else the last entry; None without entries."""
        wanted = {"session": session, "leaf": storable(leaf)}
        if self._db.run("SELECT 1 FROM entries WHERE session = :session AND id = :leaf", wanted):
            return leaf
        last: str | None = self._db.value(_LAST, {"session": session})
        return last

    def _numbers(self, sql: str, parameters: dict[str, str]) -> list[int]:
        return [number for (number,) in self._db.run(sql, parameters)]

    def _read(self, session: str, numbers: Sequence[int]) -> tuple[Entry, ...]:
        if session != self._session:
            self._session, self._decoded = session, {}
        missing = [number for number in numbers if number not in self._decoded]
        for start in range(0, len(missing), _AT_ONCE):
            some = missing[start : start + _AT_ONCE]
            rows = self._db.run(
                f"SELECT seq, {ENTRY_COLUMNS} FROM entries"
                f" WHERE seq IN ({', '.join('?' * len(some))})",
                some,
            )
            self._decoded |= {row[0]: entry_from_row(row[1:]) for row in rows}
        return tuple([self._decoded[number] for number in numbers])


_EVERY = "SELECT seq FROM entries WHERE session = :session ORDER BY seq"
_LAST = "SELECT id FROM entries WHERE session = :session ORDER BY seq DESC LIMIT 1"
_PATH = """
    WITH RECURSIVE up (seq, parent) AS (
        SELECT seq, parent FROM entries WHERE session = :session AND id = :leaf
        UNION ALL
        SELECT above.seq, above.parent FROM up
        JOIN entries AS above ON above.session = :session AND above.id = up.parent
        WHERE above.seq < up.seq  -- always so; a damaged store may not send us in circles
    )
    SELECT seq FROM up ORDER BY seq
"""
