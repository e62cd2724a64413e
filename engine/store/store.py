"""The store: append and ask. See the package for what it promises."""

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

from engine.errors import EnvironmentFault, StoreCorrupt
from engine.store import migrations, replies, scrubbing, searching
from engine.store.database import BUSY_TIMEOUT_MS, Database, connect_in_memory, note_suspicion
from engine.store.migrations import STEPS, Step
from engine.store.opening import Opened, open_to_look, open_to_write
from engine.store.reading import Reader
from engine.store.replies import Reply
from engine.store.rows import (
    ENTRY_COLUMNS,
    LEAF,
    SESSION_COLUMNS,
    Found,
    Imported,
    Place,
    SessionRow,
    blank_session,
    entry_from_row,
    find_session_row,
    new_entry_id,
    require_entry,
    session_from_row,
    set_leaf,
    storable,
    write_entries,
    write_session,
)
from engine.transcript import Body, Entry, Message, Text, Thinking, TokenIds

Clock = Callable[[], int]
"""Says the time: milliseconds since 1970, UTC."""


def system_clock() -> int:
    """The computer's time in milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000


class Store:
    """Conversations on the disk; made by `Store.open`, closed by `close` or a `with` block.

    What a writing method did survives the death of the process as soon as it returns. Every
    method raises `StoreUnusable` (or below) when the file cannot be used, and `EnvironmentFault`
    when the conversation named does not exist. One thread: the one that opened it.

    Attributes:
        file: where it is.
        recovered: replies that a dead process left unfinished, now entries marked "interrupted".
        notices: sentences the user must be told (a damaged file set aside, an upgrade).
        rescued: the file was damaged, is set aside, and this one was begun in its place.
    """

    def __init__(self, opened: Opened, clock: Clock, *, read_only: bool = False) -> None:
        self._db: Database = opened.database
        self._clock = clock
        self._reader = Reader(self._db)
        self.file = opened.database.path
        self.notices = opened.notices
        self.rescued = opened.rescued
        self.recovered: tuple[Entry, ...] = ()
        if not read_only:
            self.recovered = replies.recover(self._db)
            scrubbing.scrub(self._db)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        clock: Clock = system_clock,
        read_only: bool = False,
        busy_timeout_ms: int = BUSY_TIMEOUT_MS,
        steps: Sequence[Step] = STEPS,
    ) -> Self:
        """Open the store at `path`; make it, upgrade it or rescue it as needed.

        A damaged file is set aside, never overwritten: what can be read of it is in the new one,
        and `notices` says so. `read_only` changes nothing and needs an existing, current store.

        Raises:
            StoreNewer: written by a newer version; untouched.
            StoreReadOnly: it may not be written, or the disk is full.
            StoreCorrupt: damaged, and it could not be replaced (or `read_only`).
            StoreUnusable: locked, not a database of ours, missing (`read_only`), a broken disk.
        """
        opening = open_to_look if read_only else open_to_write
        opened = opening(path, busy_timeout_ms, steps)
        try:
            return cls(opened, clock, read_only=read_only)
        except BaseException:
            opened.database.close()
            raise

    @classmethod
    def in_memory(cls, *, clock: Clock = system_clock) -> Self:
        """A store that is gone when it is closed."""
        database = connect_in_memory()
        database.settle()
        migrations.upgrade(database)
        return cls(Opened(database), clock)

    def close(self) -> None:
        """Close the file. Safe to call twice."""
        self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # ---- conversations ----------------------------------------------------------------------

    def create_session(
        self, title: str = "", model: str = "", parent_session: str | None = None
    ) -> SessionRow:
        """Begin a conversation."""
        now = self._clock()
        row = blank_session(_new_session_id(), now)
        row = replace(row, title=title, model=model, parent_session=parent_session)
        with self._db.transaction():
            write_session(self._db, row)
        return self.session(row.id)

    def sessions(self, limit: int | None = None) -> tuple[SessionRow, ...]:
        """The conversations, the last changed first; at most `limit`."""
        rows = self._db.run(
            f"SELECT {SESSION_COLUMNS} FROM sessions ORDER BY updated_at DESC, rowid DESC LIMIT ?",
            (-1 if limit is None else limit,),
        )
        return tuple(session_from_row(row) for row in rows)

    def session(self, session: str) -> SessionRow:
        """The conversation with exactly this id."""
        return find_session_row(self._db, session)

    def find_session(self, text: str) -> SessionRow:
        """The conversation with this id, or the only one whose id begins so."""
        wanted = storable(text.strip())
        rows = self._db.run(
            f"SELECT {SESSION_COLUMNS} FROM sessions WHERE id = :id"
            " OR (:id != '' AND substr(id, 1, length(:id)) = :id) ORDER BY id != :id LIMIT 3",
            {"id": wanted},
        )
        if len(rows) == 1 or (rows and rows[0][0] == wanted):
            return session_from_row(rows[0])
        if rows:
            raise EnvironmentFault(
                f"Several conversations begin with {wanted!r}.", "Give more of the id."
            )
        return self.session(wanted)

    def rename(self, session: str, title: str) -> None:
        """Give a conversation another title."""
        self._change(session, "title", storable(title))

    def set_model(self, session: str, model: str) -> None:
        """Note the model a conversation uses, as the user writes it."""
        self._change(session, "model", storable(model))

    def archive(self, session: str, *, archived: bool = True) -> None:
        """Put a conversation away, or back."""
        self._change(session, "archived", int(archived))

    def delete_session(self, session: str) -> None:
        """Delete a conversation: entries, index, running reply; its words leave the file.

        Takes about a second per ten thousand entries in the whole store. If it is interrupted the
        conversation is gone, and its last traces go when the store is opened next.
        """
        with self._db.transaction(durable=True):
            find_session_row(self._db, session)
            self._db.run("DELETE FROM sessions WHERE id = ?", (session,))
            scrubbing.note_traces(self._db)
        scrubbing.scrub(self._db)

    def add_usage(
        self,
        session: str,
        *,
        input_tokens: int = 0,
        output_tokens: int = 0,
        context_tokens: int | None = None,
    ) -> None:
        """Add a request's tokens to the counters; `context_tokens` replaces the size last seen.

        `finish_reply` does it by itself for the reply's usage.
        """
        with self._db.transaction():
            find_session_row(self._db, session)
            replies.count_usage(
                self._db,
                session,
                input_tokens=input_tokens,
                output_tokens=output_tokens,
                context_tokens=context_tokens,
            )

    def count_compaction(self, session: str) -> None:
        """One more compaction was completed in this conversation."""
        with self._db.transaction():
            count = find_session_row(self._db, session).compaction_count + 1
            self._db.run("UPDATE sessions SET compaction_count = ? WHERE id = ?", (count, session))

    def note_memory_flush(self, session: str) -> None:
        """The memory was flushed now, in the present compaction cycle (SPEC2 5)."""
        with self._db.transaction():
            find_session_row(self._db, session)
            self._db.run(
                "UPDATE sessions SET memory_flush_at = ?,"
                " memory_flush_compaction_count = compaction_count WHERE id = ?",
                (self._clock(), session),
            )

    # ---- entries ----------------------------------------------------------------------------

    def append(
        self,
        session: str,
        body: Body,
        parent: str | Place | None = LEAF,
        *,
        move_leaf: bool = True,
        durable: bool = False,
    ) -> Entry:
        """Add an entry under `parent` (None: a root), and move the leaf to it.

        `durable` waits until the disk has it: for what the user typed.
        """
        return self.append_all(session, (body,), parent, move_leaf=move_leaf, durable=durable)[0]

    def append_all(
        self,
        session: str,
        bodies: Iterable[Body],
        parent: str | Place | None = LEAF,
        *,
        move_leaf: bool = True,
        durable: bool = False,
    ) -> tuple[Entry, ...]:
        """Add entries, each under the one before it: all of them or none."""
        with self._db.transaction(durable=durable):
            row = self.session(session)
            entries = self._chain(row, bodies, parent)
            write_entries(self._db, entries)
            if entries:
                leaf = entries[-1].id if move_leaf else row.leaf
                set_leaf(self._db, session, leaf, changed_at=self._clock())
        return entries

    def set_leaf(self, session: str, entry: str | None) -> None:
        """Continue from another entry: a branch (None: from the beginning)."""
        with self._db.transaction():
            self.session(session)
            if entry is not None:
                require_entry(self._db, session, entry)
            set_leaf(self._db, session, entry)

    def entry(self, session: str, entry: str) -> Entry:
        """One entry; a `Bug` if there is none."""
        require_entry(self._db, session, entry)
        rows = self._db.run(
            f"SELECT {ENTRY_COLUMNS} FROM entries WHERE session = ? AND id = ?", (session, entry)
        )
        return entry_from_row(rows[0])

    def entries(self, session: str) -> tuple[Entry, ...]:
        """All entries of a conversation, every branch, in the order they were added."""
        self.session(session)
        return self._reader.every(session)

    def path(self, session: str, leaf: str | Place | None = LEAF) -> tuple[Entry, ...]:
        """The entries from the root to the leaf (the conversation's, or the one given).

        A leaf that no entry has (a damaged store) means the last entry. Asking again is cheap.
        """
        row = self.session(session)
        wanted = row.leaf if isinstance(leaf, Place) else leaf
        if wanted is None:
            return ()
        return self._reader.path(session, wanted)

    # ---- the running reply ------------------------------------------------------------------

    def start_reply(self, session: str, parent: str, model: str = "") -> Reply:
        """Note that a reply to entry `parent` is being written by this process."""
        reply = Reply(os.urandom(8).hex(), session, parent, model)
        require_entry(self._db, session, parent)
        replies.start(self._db, reply, Message("assistant", model=model), self._clock())
        return reply

    def checkpoint_reply(
        self,
        reply: Reply,
        text: str,
        thinking: str = "",
        token_ids: TokenIds | None = None,
    ) -> None:
        """Keep what has been written so far (the whole of it, not what is new)."""
        parts = (*((Thinking(thinking),) if thinking else ()), *((Text(text),) if text else ()))
        message = Message("assistant", parts, model=reply.model, token_ids=token_ids)
        replies.checkpoint(self._db, reply, message, self._clock())

    def finish_reply(self, reply: Reply, message: Message) -> Entry:
        """Turn the reply into an entry; its `usage` is added to the conversation's counters.

        The entry appears, the leaf moves (unless the user went to another branch meanwhile) and
        the checkpoint goes in one durable transaction.
        """
        return replies.finish(self._db, reply, message, self._clock())

    def running_replies(self) -> list[Message]:
        """What the replies being written, by any process, were at their last checkpoint."""
        return replies.running(self._db)

    def discard_reply(self, reply: Reply) -> None:
        """Nothing was written: forget the reply."""
        replies.discard(self._db, reply)

    # ---- search, exchange, checks -----------------------------------------------------------

    def search(self, text: str, limit: int = 50) -> tuple[Found, ...]:
        """Entries that contain every word of `text` (ignoring case), best first.

        Words are found inside words too; nothing is found for a blank text.
        """
        return searching.search(self._db, text, limit)

    def export_jsonl(self, session: str, file: TextIO) -> None:
        """Write a conversation in the specification's entry types, one JSON object a line."""
        from engine.store import jsonl  # no start has to wait for it

        row = self.session(session)
        for line in jsonl.lines_of(row, self.entries(session)):
            file.write(line + "\n")

    def import_jsonl(self, lines: Iterable[str | bytes]) -> Imported:
        """Read such a file (an open one, or its lines) as a new conversation: all or nothing.

        Lines that cannot be understood are skipped and counted. Raises EnvironmentFault when
        there is no conversation in it.
        """
        from engine.store import jsonl

        read = jsonl.read_lines(lines, self._clock())
        if read.session is None:
            raise EnvironmentFault(
                "There is no conversation in this file.",
                'Its first line must be an object of type "session".',
            )
        with self._db.transaction(durable=True):
            row = read.session
            if self._db.value("SELECT 1 FROM sessions WHERE id = ?", (storable(row.id),)):
                row = replace(row, id=_new_session_id())
            write_session(self._db, row)
            write_entries(self._db, (replace(entry, session=row.id) for entry in read.entries))
        return Imported(self.session(row.id), len(read.entries), read.skipped)

    def check(self) -> tuple[str, ...]:
        """Check the whole file and the index, whatever the time it takes; complaints, or nothing.

        After a complaint the next opening mends what can be mended.
        """
        complaints = list(searching.check(self._db))
        for question in ("PRAGMA integrity_check", "PRAGMA foreign_key_check"):
            try:
                answers = self._db.run(question)
            except StoreCorrupt as error:
                complaints.append(f"{question}: {error.__cause__}")
            else:
                complaints += [str(answer) for answer in answers if answer != ("ok",)]
        if complaints:
            note_suspicion(self.file)
        return tuple(complaints)

    # ---- inside -----------------------------------------------------------------------------

    def _change(self, session: str, column: str, value: str | int) -> None:
        with self._db.transaction():
            find_session_row(self._db, session)
            self._db.run(
                f"UPDATE sessions SET {column} = ?, updated_at = ? WHERE id = ?",
                (value, self._clock(), session),
            )

    def _chain(
        self, row: SessionRow, bodies: Iterable[Body], parent: str | Place | None
    ) -> tuple[Entry, ...]:
        """New entries for the bodies, each the parent of the next."""
        if isinstance(parent, Place):
            above = None if row.leaf is None else self._reader.standing_leaf(row.id, row.leaf)
        else:
            above = parent and require_entry(self._db, row.id, parent)
        entries: dict[str, Entry] = {}
        for body in bodies:
            id_ = new_entry_id(self._db, row.id, entries)
            entries[id_] = Entry(id_, row.id, above, self._clock(), body)
            above = id_
        return tuple(entries.values())


def _new_session_id() -> str:
    """Twelve hexadecimal digits; the table refuses one it has."""
    return os.urandom(6).hex()
