"""The running reply: safe on the disk while it is written, an entry when it ends.

One row per running reply, overwritten at every checkpoint. It becomes an entry in the same
transaction that removes the row, whatever ends it: its writer (`finish`), or the next start after
its writer died (`recover`), which marks it as interrupted. A row belongs to the process that
started it, told by pid and start time, and is left alone while that process lives.
"""

import os
from dataclasses import dataclass, replace

from engine.store.database import Database, Row
from engine.store.rows import (
    dumped,
    find_session_row,
    new_entry_id,
    parsed,
    set_leaf,
    storable,
    write_entries,
)
from engine.transcript import Entry, Message, from_payload, to_payload

_SAME_START_SECONDS = 2.0
"""Two start times closer than this are one (the boot time they are derived from is rounded)."""


REPLY_COLUMNS = "id, session, parent, updated_at, owner_pid, owner_started, payload"


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply that `model` is writing under entry `parent`; what `start_reply` hands out."""

    id: str
    session: str
    parent: str
    model: str = ""


def start(database: Database, reply: Reply, message: Message, now: int) -> None:
    """Note that this process writes the reply. Raises EnvironmentFault without the conversation."""
    with database.transaction():
        find_session_row(database, reply.session)
        _write(database, reply, message, now)


def checkpoint(database: Database, reply: Reply, message: Message, now: int) -> None:
    """Keep what the reply is so far; does nothing once the conversation is deleted."""
    with database.transaction():
        _write(database, reply, message, now)


def finish(database: Database, reply: Reply, message: Message, now: int) -> Entry:
    """Turn the reply into an entry, count its usage, forget the row: all or nothing, durable.

    The leaf follows if it is still where the reply hangs. Raises EnvironmentFault if the
    conversation was deleted.
    """
    with database.transaction(durable=True):
        entry = _settle(database, reply, message, now)
        if usage := message.usage:
            count_usage(
                database,
                reply.session,
                input_tokens=usage.prompt_tokens,
                output_tokens=usage.written_tokens,
                context_tokens=usage.prompt_tokens + usage.written_tokens,
            )
    return entry


def discard(database: Database, reply: Reply) -> None:
    """Forget a reply of which nothing was written."""
    with database.transaction():
        _forget(database, reply.id)


def running(database: Database) -> list[Message]:
    """The running replies as of their last checkpoint."""
    rows = database.run("SELECT payload FROM replies ORDER BY rowid")
    bodies = [from_payload("message", parsed(payload)) for (payload,) in rows]
    return [body for body in bodies if isinstance(body, Message)]


def recover(database: Database) -> tuple[Entry, ...]:
    """Turn the replies of dead processes into entries marked "interrupted".

    A reply without a word is forgotten: its question stands unanswered. Returns the new entries.
    """
    if not database.run("SELECT 1 FROM replies LIMIT 1"):
        return ()
    recovered: list[Entry] = []
    with database.transaction(durable=True):
        for row in database.run(f"SELECT {REPLY_COLUMNS} FROM replies ORDER BY rowid"):
            if _lives(row):
                continue
            if entry := _recover_one(database, row):
                recovered.append(entry)
    return tuple(recovered)


def count_usage(
    database: Database,
    session: str,
    *,
    input_tokens: int = 0,
    output_tokens: int = 0,
    context_tokens: int | None = None,
) -> None:
    """Add to a conversation's token counters; inside a transaction."""
    database.run(
        "UPDATE sessions SET input_tokens = input_tokens + :read,"
        " output_tokens = output_tokens + :written,"
        " total_tokens = total_tokens + :read + :written,"
        " context_tokens = coalesce(:context, context_tokens) WHERE id = :id",
        {
            "read": input_tokens,
            "written": output_tokens,
            "context": context_tokens,
            "id": session,
        },
    )


def copy_reply(database: Database, row: Row) -> None:
    """Insert a running reply's row (REPLY_COLUMNS) if its conversation and parent are here."""
    database.run(
        f"INSERT OR IGNORE INTO replies ({REPLY_COLUMNS}) SELECT ?, ?, ?, ?, ?, ?, ?"
        " WHERE EXISTS (SELECT 1 FROM entries WHERE session = ? AND id = ?)",
        (*row, row[1], row[2]),
    )


def _write(database: Database, reply: Reply, message: Message, now: int) -> None:
    database.run(
        f"INSERT INTO replies ({REPLY_COLUMNS})"
        " SELECT :id, :session, :parent, :now, :pid, :started, :payload"
        " WHERE EXISTS (SELECT 1 FROM sessions WHERE id = :session)"
        " ON CONFLICT (id) DO UPDATE"
        " SET payload = excluded.payload, updated_at = excluded.updated_at",
        {
            "id": reply.id,
            "session": reply.session,
            "parent": reply.parent,
            "now": now,
            "pid": os.getpid(),
            "started": _started(os.getpid()),
            "payload": dumped(to_payload(message)),
        },
    )


def _settle(database: Database, reply: Reply, message: Message, now: int) -> Entry:
    session = find_session_row(database, reply.session)
    id_ = new_entry_id(database, session.id)
    entry = Entry(id_, session.id, reply.parent, now, message)
    write_entries(database, (entry,))
    _forget(database, reply.id)
    leaf = id_ if session.leaf == reply.parent else session.leaf
    set_leaf(database, session.id, leaf, changed_at=now)
    return entry


def _recover_one(database: Database, row: Row) -> Entry | None:
    id_, session, parent, updated_at, _, _, payload = row
    reply = Reply(id_, session, parent)
    message = from_payload("message", parsed(payload))
    if not isinstance(message, Message) or not message.parts:
        _forget(database, reply.id)
        return None
    return _settle(database, reply, replace(message, stop_reason="interrupted"), updated_at)


def _forget(database: Database, reply: str) -> None:
    database.run("DELETE FROM replies WHERE id = ?", (storable(reply),))


def _lives(row: Row) -> bool:
    """Whether the process that writes this reply still runs."""
    pid, noted = row[4], row[5]
    if not isinstance(pid, int) or pid <= 0 or not isinstance(noted, int | float):
        return False
    started = _started(pid)
    return started is not None and abs(started - noted) < _SAME_START_SECONDS


def _started(pid: int) -> float | None:
    """When a running process started, seconds; None when there is none (a zombie is none)."""
    import psutil  # only paid for by those who write or recover a reply

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return float(process.create_time())
    except psutil.Error:
        return None
