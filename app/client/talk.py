"""One conversation in use: what it shows, what waits, what runs. Values only; no I/O."""

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from app.client.live import LiveReply
from app.client.values import ItemsChanged
from app.items import LIVE, Item, PathPlan, ReplyItem, UserItem, ask_card, unfolded_card
from engine.transcript import Entry, Image

if TYPE_CHECKING:
    from app.client.models import WindowFacts
    from engine.events import CompactionDue
    from engine.session import Session
    from engine.settings import Settings

WorkKind = Literal["send", "edit", "answer", "compact", "model"]


@dataclass
class Work:
    """Something a conversation is to do, one after the other.

    `text` is what is said, a compaction's focus, or a model's name; `images` go along. `entry` is the message that is
    edited, the reply that is asked for again, or the compaction that is made anew, `model` by whom
    ("" for the usual one). `id` names it while it waits; `when_ms` is when it
    was asked for. `is_started`: its message is stored. `is_idle`: nobody asked for it, and it gives
    way to whatever is asked for.
    """

    kind: WorkKind
    text: str = ""
    entry: str = ""
    model: str = ""
    id: str = ""
    when_ms: int = 0
    is_started: bool = False
    is_idle: bool = False
    images: tuple[Image, ...] = ()

    @property
    def says(self) -> bool:
        """Whether it has a message to show while it waits."""
        return self.kind in ("send", "edit") and not self.is_started

    @property
    def wants_reply(self) -> bool:
        """Whether the model is to answer."""
        return self.kind in ("send", "edit", "answer")


@dataclass
class Talk:
    """A conversation's state in this run of the program.

    Attributes:
        session: made for its first turn, and kept.
        model: what it runs, as the user writes it; "" is the default.
        queue: what is to be done; `work` is being done, shown by `live`.
        task: does it; None while there is nothing to do.
        preparing: brings the model to where the turn can begin; cancelled by a stop.
        is_streaming: the session runs, and stops by itself.
        is_odd: the last turn may have left something beside the path.
        plan: what is stored, as items; None while only the end of a long conversation was read, or
            nothing. `tail` is that end.
        base: the items of what is stored. `told_base`, `told_tail`: what the window was told last.
        known: what is known of replies beyond what is stored.
        undo: leaves to go back to after removals: (entry removed, leaf before).
        noticed: what was told about the model already.
        window: what the loaded model has, as it was told last.
        settings: those its session goes by.
        due: what folding would do, while the user is asked.
        unfolded: why the last compaction failed, until the conversation goes on.
        opened: cards of compactions whose originals are shown.
        asked: the entry a running turn answers; what is stored after it is shown by `live`.
    """

    id: str
    model: str = ""
    session: "Session | None" = None
    queue: deque[Work] = field(default_factory=deque)
    work: Work | None = None
    live: LiveReply | None = None
    task: "asyncio.Task[None] | None" = None
    preparing: "asyncio.Task[None] | None" = None
    is_streaming: bool = False
    stop_asked: bool = False
    is_odd: bool = False
    plan: PathPlan | None = None
    tail: tuple[Entry, ...] = ()
    base: tuple[Item, ...] = ()
    told_base: tuple[Item, ...] = ()
    told_tail: tuple[Item, ...] = ()
    known: dict[str, ReplyItem] = field(default_factory=dict)
    undo: list[tuple[str, str | None]] = field(default_factory=list)
    noticed: set[str] = field(default_factory=set)
    window: "WindowFacts | None" = None
    settings: "Settings | None" = None
    due: "CompactionDue | None" = None
    unfolded: str = ""
    opened: set[str] = field(default_factory=set)
    asked: str = ""
    count: int = 0

    @property
    def is_running(self) -> bool:
        """Whether a turn runs or waits to."""
        return self.task is not None

    @property
    def wants_reply(self) -> bool:
        """Whether something is being done, or is to be: a last message is no loose end then."""
        return self.work is not None or bool(self.queue)

    @property
    def is_answered(self) -> bool:
        """Whether the reply is there, and its turn is only being brought to an end."""
        return self.live is not None and self.live.is_answered and not self.queue

    def new_id(self) -> str:
        """A name for a turn or a waiting message, never used before in this run."""
        self.count += 1
        return f"{self.id}:{self.count}"

    @property
    def path(self) -> tuple[Entry, ...]:
        """The stored path, as far as it was read."""
        return self.tail if self.plan is None else tuple(self.plan.path)

    def go_on(self) -> None:
        """The conversation goes on from here: what was offered about it is past."""
        self.undo.clear()
        self.due, self.unfolded = None, ""

    def let_go(self) -> None:
        """It is not shown any more: what was read of it is read again when it is needed."""
        self.plan = None
        self.opened.clear()
        self.tail = self.base = self.told_base = self.told_tail = ()

    @property
    def waiting_texts(self) -> list[str]:
        """What was said and is not stored yet, in order."""
        return [work.text for work in self._waiting if work.says]

    @property
    def waiting_images(self) -> list[Image]:
        """The pictures that go along with it."""
        return [image for work in self._waiting if work.says for image in work.images]

    @property
    def _waiting(self) -> list[Work]:
        return ([self.work] if self.work is not None else []) + list(self.queue)

    def items(self) -> tuple[Item, ...]:
        """Everything it shows now."""
        return (*self.base, *self._tail())

    def _tail(self) -> tuple[Item, ...]:
        tail: list[Item] = []
        if self.work is not None and self.work.says:
            tail.append(_said(self.work, queued=False))
        if self.live is not None:
            tail += self.live.items()
        for index, work in enumerate(self.queue):
            if work.says:
                tail.append(_said(work, queued=self.work is not None or index > 0))
        if self.due is not None and self.work is None:
            tail.append(ask_card(f"{LIVE}ask:{self.id}", self.due))
        if self.unfolded and self.work is None:
            tail.append(unfolded_card(f"{LIVE}unfolded:{self.id}", self.unfolded))
        return tuple(tail)

    def change(self) -> ItemsChanged | None:
        """What the window must be told, seen from what it was told last; None for nothing."""
        first, items = len(self.base), self._tail()
        if self.told_base is not self.base:
            items = (*self.base, *items)
            told = (*self.told_base, *self.told_tail)
            first = _same(told, items)
            is_news = first < len(items) or first < len(told)
            items = items[first:]
        else:
            is_news = items != self.told_tail
        self.note_told()
        return ItemsChanged(self.id, items, first) if is_news else None

    def note_told(self) -> None:
        """The window has everything now."""
        self.told_base, self.told_tail = self.base, self._tail()


def _said(work: Work, *, queued: bool) -> UserItem:
    id_ = f"{LIVE}said:{work.id}"
    return UserItem(id_, work.text, work.when_ms, queued=queued, images=work.images)


def _same(old: tuple[Item, ...], new: tuple[Item, ...]) -> int:
    """How many items two sequences begin with alike."""
    for index, (mine, other) in enumerate(zip(old, new, strict=False)):
        if mine is not other and mine != other:
            return index
    return min(len(old), len(new))
