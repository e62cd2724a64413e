"""Rows and values: what the tables hold, as the rest of the program sees it.

Reading is tolerant: a value of the wrong kind becomes its default, a payload that is not JSON
becomes an `Unknown` entry; neither costs the conversation.
"""

import enum
import json
import os
from collections.abc import Container, Iterable
from dataclasses import dataclass
from typing import Any

from engine.errors import Bug, ConversationMissing
from engine.store.database import Database, Row
from engine.transcript import (
    Body,
    BranchSummary,
    Compaction,
    CustomMessage,
    Entry,
    Message,
    from_payload,
    to_payload,
    type_of,
)


class Place(enum.Enum):
    """Where an entry is hung when no entry is named."""

    LEAF = "leaf"


LEAF = Place.LEAF
"""On the conversation's leaf, wherever that is."""


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A conversation without its entries. Times in milliseconds since 1970, UTC; sizes in tokens.

    `leaf` None: the next entry is a root. `memory_flush_at` None: never flushed.
    """

    id: str
    title: str
    model: str
    created_at: int
    updated_at: int
    leaf: str | None
    compaction_count: int
    memory_flush_at: int | None
    memory_flush_compaction_count: int | None
    context_tokens: int
    input_tokens: int
    output_tokens: int
    total_tokens: int
    parent_session: str | None
    archived: bool


@dataclass(frozen=True, slots=True)
class Found:
    """A search hit: the entry, its conversation, and the whole text that was searched."""

    session: str
    entry: str
    text: str


@dataclass(frozen=True, slots=True)
class Imported:
    """The conversation made, its number of entries, and how many lines were not understood."""

    session: SessionRow
    entries: int
    skipped: int


SESSION_COLUMNS = ", ".join(SessionRow.__dataclass_fields__)
ENTRY_COLUMNS = "id, session, parent, created_at, type, payload"


def session_from_row(row: Row) -> SessionRow:
    """A conversation out of a row of SESSION_COLUMNS, whatever the row holds."""
    known = dict(zip(SessionRow.__dataclass_fields__, row, strict=True))
    for name in ("id", "title", "model"):
        known[name] = _text(known[name]) or ""
    for name in ("leaf", "parent_session"):
        known[name] = _text(known[name])
    for name in ("memory_flush_at", "memory_flush_compaction_count"):
        known[name] = _integer(known[name])
    for name in _COUNTS:
        known[name] = _integer(known[name]) or 0
    known["archived"] = bool(known["archived"])
    return SessionRow(**known)


def blank_session(id_: str, now: int) -> SessionRow:
    """A conversation without anything in it, begun at `now` (milliseconds)."""
    blank = dict.fromkeys(SessionRow.__dataclass_fields__)
    blank |= {"id": id_, "title": "", "model": "", "created_at": now, "updated_at": now}
    return session_from_row(tuple(blank.values()))


def entry_from_row(row: Row) -> Entry:
    """An entry out of a row of ENTRY_COLUMNS, whatever the row holds."""
    id_, session, parent, created_at, type_name, payload = row
    return Entry(
        id=_text(id_) or "",
        session=_text(session) or "",
        parent=_text(parent),
        created_at=_integer(created_at) or 0,
        body=from_payload(_text(type_name) or "", parsed(payload)),
    )


def find_session_row(database: Database, session: str) -> SessionRow:
    """The conversation with exactly this id. Raises ConversationMissing when there is none."""
    rows = database.run(
        f"SELECT {SESSION_COLUMNS} FROM sessions WHERE id = ?", (storable(session),)
    )
    if not rows:
        raise ConversationMissing(
            f"There is no conversation {storable(session)!r}.",
            "It may have been deleted; porthole sessions lists what there is.",
        )
    return session_from_row(rows[0])


def write_session(database: Database, row: SessionRow) -> None:
    """Insert a conversation; inside a transaction."""
    marks = ", ".join("?" for _ in SessionRow.__dataclass_fields__)
    values = [getattr(row, name) for name in SessionRow.__dataclass_fields__]
    database.run(
        f"INSERT INTO sessions ({SESSION_COLUMNS}) VALUES ({marks})",
        [storable(value) if isinstance(value, str) else value for value in values],
    )


def write_entries(database: Database, entries: Iterable[Entry]) -> None:
    """Insert entries and index their words; inside a transaction, parents first."""
    for entry in entries:
        database.run(
            f"INSERT INTO entries ({ENTRY_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)",
            (
                storable(entry.id),
                storable(entry.session),
                None if entry.parent is None else storable(entry.parent),
                entry.created_at,
                storable(type_of(entry.body)),
                dumped(to_payload(entry.body)),
            ),
        )
        if words := words_of(entry.body):
            database.run(
                "INSERT INTO texts (seq, text) VALUES (last_insert_rowid(), ?)",
                (storable(words),),
            )


def set_leaf(
    database: Database, session: str, leaf: str | None, *, changed_at: int | None = None
) -> None:
    """The conversation continues from `leaf`; inside a transaction.

    `changed_at` (milliseconds) also makes it the last changed one.
    """
    database.run(
        "UPDATE sessions SET leaf = ?, updated_at = coalesce(?, updated_at) WHERE id = ?",
        (leaf, changed_at, session),
    )


def require_entry(database: Database, session: str, entry: str) -> str:
    """The id itself if the conversation has such an entry; a `Bug` otherwise."""
    if database.value("SELECT 1 FROM entries WHERE session = ? AND id = ?", (session, entry)):
        return entry
    raise Bug(f"no entry {entry!r} in conversation {session!r}")


def new_entry_id(database: Database, session: str, taken: Container[str] = ()) -> str:
    """Eight hexadecimal digits that no entry of the conversation has."""
    while True:
        id_ = os.urandom(4).hex()
        known = database.value(
            "SELECT 1 FROM entries WHERE session = ? AND id = ?", (session, id_)
        )
        if known is None and id_ not in taken:
            return id_


def words_of(body: Body) -> str:
    """What of an entry can be searched: the words said and the summaries, not the thinking."""
    match body:
        case Message():
            return body.text
        case CustomMessage(content=content):
            return content
        case Compaction(summary=summary) | BranchSummary(summary=summary):
            return summary
        case _:
            return ""


def dumped(value: Any) -> str:
    """JSON without spaces. Readable characters stay themselves, half a surrogate pair is escaped."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return text


def parsed(text: Any) -> Any:
    """The JSON value of a stored text; the text itself when it is not JSON."""
    if not isinstance(text, str | bytes):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text if isinstance(text, str) else text.decode("utf-8", "replace")


def storable(text: str) -> str:
    """Text as SQLite can hold it: half a surrogate pair becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


_COUNTS = (
    "created_at",
    "updated_at",
    "compaction_count",
    "context_tokens",
    "input_tokens",
    "output_tokens",
    "total_tokens",
)


def _text(value: Any) -> str | None:
    """A text column's value; None for NULL."""
    if value is None or isinstance(value, str):
        return value
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _integer(value: Any) -> int | None:
    """A whole number that a column can hold; None for anything else."""
    return value if type(value) is int and abs(value) < 2**63 else None
