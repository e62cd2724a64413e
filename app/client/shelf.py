"""The list of conversations: searched, pinned, renamed, copied, written to files, deleted."""

import asyncio
import io
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from app.client.exporting import as_markdown
from app.client.keeping import Keeping
from app.client.talks import Talks
from app.client.turns import Turns
from app.client.values import ConversationRow, RowsChanged
from app.items import plan_items
from app.wiring import Workplace
from app.words import translate
from engine.errors import EnvironmentFault
from engine.paths import atomic_write
from engine.store import SessionRow

UNDO_SECONDS = 8.0
"""How long a deleted conversation can be had back."""
TITLE_CHARACTERS = 60
_HITS = 300
_MARKS = re.compile(r"^[ \t]*(?:#{1,6}|>|[-*+]|```.*)(?:[ \t]+|$)|[*_`~]{1,3}", re.MULTILINE)
"""Marks of Markdown, which say nothing in one line of small text."""
_BEFORE, _SNIPPET = 14, 120
"""Characters of a snippet: before the first hit, and in all."""

ExportKind = Literal["markdown", "jsonl"]


class ExportFailed(EnvironmentFault):
    """The file could not be written."""


class Shelf:
    """All conversations of the store.

    Args:
        workplace: the store.
        keeping: pins, drafts, what is being deleted.
        talks: the conversations in use.
        turns: their running turns.
        undo_seconds: how long a deletion can be undone.
    """

    def __init__(
        self,
        workplace: Workplace,
        keeping: Keeping,
        talks: Talks,
        turns: Turns,
        undo_seconds: float = UNDO_SECONDS,
    ) -> None:
        self._workplace = workplace
        self._keeping = keeping
        self._talks = talks
        self._turns = turns
        self._undo_seconds = undo_seconds
        self._going: dict[str, asyncio.TimerHandle] = {}

    # ---- the list -------------------------------------------------------------------------------

    def rows(self, search: str = "") -> tuple[ConversationRow, ...]:
        """The conversations, the last changed first; with `search`, those that hold its words.

        Titles come first, then texts, best first, each with a snippet.
        """
        stored = [
            row for row in self._workplace.store.sessions() if row.id not in self._keeping.going
        ]
        words = search.split()
        if not words:
            return tuple(self._row(row) for row in stored)
        titled = [row for row in stored if _holds(row.title, words)]
        snippets = self._snippets(search, words)
        by_id = {row.id: row for row in stored}
        first = {row.id for row in titled}
        others = [by_id[id_] for id_ in snippets if id_ in by_id and id_ not in first]
        return tuple(self._row(row, snippets.get(row.id, "")) for row in (*titled, *others))

    def _row(self, row: SessionRow, snippet: str = "") -> ConversationRow:
        return ConversationRow(
            row.id,
            row.title,
            row.model,
            row.updated_at,
            row.id in self._keeping.pinned,
            row.id in self._keeping.unread,
            self._talks.is_running(row.id),
            snippet,
        )

    def _snippets(self, search: str, words: list[str]) -> dict[str, str]:
        """Where the words stand, by conversation, the best first."""
        snippets: dict[str, str] = {}
        for found in self._workplace.store.search(search, _HITS):
            if found.session not in snippets:
                snippets[found.session] = snippet_of(found.text, words)
        return snippets

    # ---- changing -------------------------------------------------------------------------------

    def create(self, text: str, model: str) -> str:
        """A new conversation, titled after its first words; its id."""
        return self._workplace.store.create_session(title=title_of(text), model=model).id

    def rename(self, id_: str, title: str) -> None:
        """Give it another title; a blank one changes nothing."""
        if title := " ".join(title.split()):
            self._workplace.store.rename(id_, title)
            self._talks.tell(RowsChanged())

    def pin(self, id_: str, *, pinned: bool) -> None:
        """Keep it at the top, or no longer."""
        self._workplace.store.session(id_)
        (self._keeping.pinned.add if pinned else self._keeping.pinned.discard)(id_)
        self._keeping.note()
        self._keeping.save()
        self._talks.tell(RowsChanged())

    def duplicate(self, id_: str) -> str:
        """A copy with every branch; its id."""
        store = self._workplace.store
        file = io.StringIO()
        store.export_jsonl(id_, file)
        copy = store.import_jsonl(file.getvalue().splitlines()).session
        title = translate("Client", "{title} (copy)").format(title=store.session(id_).title)
        store.rename(copy.id, title)
        self._talks.tell(RowsChanged())
        return copy.id

    def export(self, id_: str, path: str, kind: ExportKind) -> None:
        """Write it to a file. Raises ExportFailed."""
        store = self._workplace.store
        if kind == "jsonl":
            file = io.StringIO()
            store.export_jsonl(id_, file)
            text = file.getvalue()
        else:
            row = store.session(id_)
            items = plan_items(store.entries(id_), row.leaf, zone=None, running=True)
            text = as_markdown(row.title, items)
        clean = text.encode("utf-8", "replace").decode("utf-8")
        atomic_write(Path(path).expanduser(), clean, fault=ExportFailed)

    # ---- deleting -------------------------------------------------------------------------------

    def delete(self, id_: str) -> None:
        """Out of sight now; gone for good when the time to undo it is over, also after a restart."""
        self._workplace.store.session(id_)
        if id_ in self._talks:
            waited = self._turns.stop(id_)
            self._keeping.keep_draft(id_, waited or self._keeping.drafts.get(id_, ""))
        self._keeping.going.add(id_)
        self._keeping.note()
        self._keeping.save()
        self._cancel(id_)
        loop = asyncio.get_running_loop()
        self._going[id_] = loop.call_later(self._undo_seconds, self._remove, id_)
        self._talks.tell(RowsChanged())

    def undelete(self, id_: str) -> None:
        """Have it back. Raises EnvironmentFault when it is gone."""
        self._cancel(id_)
        self._workplace.store.session(id_)
        self._keeping.going.discard(id_)
        self._keeping.note()
        self._keeping.save()
        self._talks.tell(RowsChanged())

    def finish_deletions(self, ids: Iterable[str]) -> None:
        """Remove what an earlier run of the program did not come to remove."""
        for id_ in tuple(ids):
            self._remove(id_)

    def close(self) -> None:
        """What is being deleted is removed at the next start."""
        for id_ in tuple(self._going):
            self._cancel(id_)

    def _cancel(self, id_: str) -> None:
        if (handle := self._going.pop(id_, None)) is not None:
            handle.cancel()

    def _remove(self, id_: str) -> None:
        """Gone for good: entries, index, draft, prefix cache."""
        self._going.pop(id_, None)
        with self._talks.guarding(id_):
            self._talks.forget(id_)
            if any(row.id == id_ for row in self._workplace.store.sessions()):
                self._workplace.store.delete_session(id_)
            with suppress(OSError):  # a cache; the folder is trimmed by and by
                self._workplace.prefixes.forget(id_)
            self._keeping.forget(id_)
            self._keeping.save()
            self._talks.tell(RowsChanged())


def title_of(text: str) -> str:
    """The first words of a message as a title: one line, without marks of headings and lists."""
    line = next((line for line in text.splitlines() if re.search(r"\w", line)), text)
    line = " ".join(re.sub(r"^[\s#>*\-`]+", "", line).split()).strip("*_`: ")
    line = line or " ".join(text.split())
    return line if len(line) <= TITLE_CHARACTERS else line[: TITLE_CHARACTERS - 1].rstrip() + "…"


def _holds(text: str, words: Iterable[str]) -> bool:
    folded = text.casefold()
    return all(word.casefold() in folded for word in words)


def snippet_of(text: str, words: Iterable[str]) -> str:
    """The part of a text around the first of the words, on one line."""
    line = " ".join(_MARKS.sub("", text).split())
    folded = line.casefold()
    places = [folded.find(word.casefold()) for word in words]
    found = min((place for place in places if place >= 0), default=0)
    begin = max(0, found - _BEFORE)
    if begin > 0 and (space := line.find(" ", begin, found)) >= 0:
        begin = space + 1
    part = line[begin : begin + _SNIPPET].rstrip()
    return f"{'…' if begin else ''}{part}{'…' if begin + _SNIPPET < len(line) else ''}"
